# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Helpers that work on a System before a Context is made."""

from __future__ import annotations

import openmm as mm
from openmm import app

from openmmconstraints.wrapper import ConstraintForce, _moveConstraints


def moveConstraints(system: mm.System, topology: app.Topology | None = None) -> ConstraintForce | None:
    """Move all constraints of a System into a ConstraintForce of that System.

    OpenMM builds its own constraint solver for everything in System.addConstraint(), whatever the integrator: that
    takes seconds to hours for large coupled sets, and cannot represent singular ones. What lies in a ConstraintForce is
    seen by this package's integrators only.

    Call it when all other Forces have been added and before a Context is created. The constraints keep their order and
    their meaning. In a periodic System they use the minimum image, as System constraints do with this package's
    integrators, except those longer than half the shortest width of the default box, which have no minimum image: they
    go to a second ConstraintForce, without it. A ConstraintForce that the System has already is used if its
    periodic setting is the right one. Constraints between massless particles count for nothing in a System, and stay
    there: in a Force they would be checked. OpenMM's minimizer sees System constraints only; minimize() sees all.

    Parameters
    ----------
    system : openmm.System
        changed in place
    topology : openmm.app.Topology, optional
        of the System: errors then name atoms, as after setTopology()

    Returns
    -------
    ConstraintForce or None
        the Force that took the constraints (the periodic one, if there were two), owned by the System; None if there
        was nothing to move, which leaves the System as it was

    Raises
    ------
    ValueError
        if the topology has another number of atoms than the System has particles; nothing is changed
    """
    if topology is not None:
        require_same_size(system, topology, "moveConstraints")
    force = _moveConstraints(system)
    if force is not None and topology is not None:
        _keep(system, topology)
    return force


def setTopology(system: mm.System, topology: app.Topology) -> None:
    """Let errors of this package's integrators name atoms: "particles 11 and 12: A:LEU3:CA and A:LEU3:HA", and let
    ConstraintIntegrator.applyConstraints() know which atoms are bonded, whatever the Forces.

    Names (chain, residue with its number and insertion code, atom) and bonds are kept in the System's first
    ConstraintForce, travel with it (XML, copies), and serve all constraints, wherever they are listed. A System without
    a ConstraintForce gets one that constrains nothing; any integrator accepts that. A Context takes notice when it is
    created. Particles that are added to the System afterwards have no name.

    Parameters
    ----------
    system : openmm.System
        changed in place
    topology : openmm.app.Topology
        of the System

    Raises
    ------
    ValueError
        if the topology has another number of atoms than the System has particles; nothing is changed
    """
    require_same_size(system, topology, "setTopology")
    _keep(system, topology)


def atom_name(atom: app.topology.Atom) -> str:
    """A:LEU3:CA, or LEU3:CA where the chain has no name."""
    residue = atom.residue
    names = (residue.chain.id, f"{residue.name}{residue.id}{residue.insertionCode}", atom.name)
    return ":".join(name for name in (str(part or "").strip() for part in names) if name)


def require_same_size(system: mm.System, topology: app.Topology, function: str) -> None:
    """:raises ValueError: unless there are as many atoms as particles"""
    if topology.getNumAtoms() != system.getNumParticles():
        sizes = f"the topology has {topology.getNumAtoms()} atoms, the System {system.getNumParticles()} particles"
        raise ValueError(f"{function}: {sizes}. Give the topology that the System was made from.")


def _keep(system: mm.System, topology: app.Topology) -> None:
    """The System's first ConstraintForce gets names and bonds, and no other keeps any."""
    names = [atom_name(atom) for atom in topology.atoms()]
    bonds = [(bond[0].index, bond[1].index) for bond in topology.bonds()]
    forces = [ConstraintForce.cast(force) for force in system.getForces() if ConstraintForce.isinstance(force)]
    if not forces:
        forces.append(ConstraintForce())
        system.addForce(forces[0])
    for force in forces:
        force.setParticleNames(names if force is forces[0] else [])
        force.setBonds(bonds if force is forces[0] else [])
