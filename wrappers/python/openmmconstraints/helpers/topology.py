# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Keep names of atoms, for errors, and bonds, for projections, in a System."""

from __future__ import annotations

from collections.abc import Iterable

import openmm as mm
from openmm import app

from openmmconstraints.inspection.labels import atom_name, require_same_size
from openmmconstraints.wrapper import ConstraintForce


def setTopology(system: mm.System, topology: app.Topology) -> None:
    """Let errors of this package's integrators name atoms: "particles 11 and 12: A:LEU3:CA and A:LEU3:HA", and let
    ConstraintIntegrator.applyConstraints() know which atoms are bonded, whatever the Forces.

    Names (chain, residue with its number and insertion code, atom) and bonds are kept in the System's first
    ConstraintForce, travel with it (XML, copies), and serve all constraints, wherever they are listed. A System without
    a ConstraintForce gets one that constrains nothing; any integrator accepts that. A Context reads them when it is
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
    keep_topology(system, topology)


def keep_topology(system: mm.System, topology: app.Topology, bonds: Iterable[tuple[int, int]] | None = None) -> None:
    """Give names and bonds to the System's first ConstraintForce, and remove them from others."""
    names = [atom_name(atom) for atom in topology.atoms()]
    bonds = [(bond[0].index, bond[1].index) for bond in topology.bonds()] if bonds is None else list(bonds)
    forces = [ConstraintForce.cast(force) for force in system.getForces() if ConstraintForce.isinstance(force)]
    if not forces:
        forces.append(ConstraintForce())
        system.addForce(forces[0])
    for force in forces:
        force.setParticleNames(names if force is forces[0] else [])
        force.setBonds(bonds if force is forces[0] else [])
