# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Names of the particles and constraints of a System."""

from __future__ import annotations

from collections.abc import Sequence

import openmm as mm
from openmm import app

from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.numbering import block_of, blocks_of
from openmmconstraints.wrapper import ConstraintForce

MAX_NAMED = 6  # particles of a constraint


def atom_name(atom: app.topology.Atom) -> str:
    """A:LEU3:CA, or LEU3:CA where the chain has no name."""
    residue = atom.residue
    names = (residue.chain.id, f"{residue.name}{residue.id}{residue.insertionCode}", atom.name)
    return ":".join(name for name in (str(part or "").strip() for part in names) if name)


def require_same_size(system: mm.System, topology: app.Topology, function: str) -> None:
    """:raises TypeError, ValueError: unless these are a System and a Topology with as many atoms as particles"""
    require(mm.System, system, function)
    require(app.Topology, topology, function)
    if topology.getNumAtoms() != system.getNumParticles():
        sizes = f"the topology has {topology.getNumAtoms()} atoms, the System {system.getNumParticles()} particles"
        raise ValueError(f"{function}: {sizes}. Give the topology that the System was made from.")


def particle_names(system: mm.System) -> Sequence[str]:
    """The names that setTopology() has kept; empty without it. Particles that were added later have none."""
    for force in system.getForces():
        if ConstraintForce.isinstance(force) and (names := ConstraintForce.cast(force).getParticleNames()):
            return names
    return ()


def particle_label(names: Sequence[str], particle: int) -> str:
    """A:LEU3:CA, or the index of a particle without a name."""
    return (names[particle] if particle < len(names) else "") or str(particle)


def constraint_label(system: mm.System, names: Sequence[str], constraint: int) -> str:
    """A:LEU3:CA-A:LEU3:HA, or 11-12 without names; of a long list the beginning."""
    particles = constraint_particles(system, constraint)
    label = "-".join(particle_label(names, particle) for particle in particles[:MAX_NAMED])
    return label if len(particles) <= MAX_NAMED else label + "-..."


def constraint_particles(system: mm.System, constraint: int) -> list[int]:
    """The particles of a constraint.

    :param constraint: its index in the order of ConstraintIntegrator.getMultipliers()
    :raises IndexError: if there is no such constraint
    """
    block, index = block_of(blocks_of(system), constraint)
    return block.particles(system, index)
