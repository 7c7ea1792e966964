# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Names of the particles and constraints of a System."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import openmm as mm
from openmm import app

from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.kinds import CENTROIDS, EXPRESSION, NOUNS, NUMBER, symbol_of
from openmmconstraints.inspection.numbering import block_of, blocks_of
from openmmconstraints.wrapper import ConstraintForce, CustomCentroidConstraintForce, CustomConstraintForce

MAX_NAMED = 6  # particles of a constraint
MOST_QUOTED = 40  # characters of an expression in a label


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


def names_of_simulation(simulation: app.Simulation) -> Sequence[str]:
    """The names that the System has, or those of the Simulation's Topology, if it is the System's."""
    atoms = list(simulation.topology.atoms())
    is_whole = len(atoms) == simulation.system.getNumParticles()
    return particle_names(simulation.system) or ([atom_name(atom) for atom in atoms] if is_whole else ())


def particle_label(names: Sequence[str], particle: int) -> str:
    """A:LEU3:CA, or the index of a particle without a name."""
    return (names[particle] if particle < len(names) else "") or str(particle)


def constraint_label(system: mm.System, names: Sequence[str], constraint: int) -> str:
    """A:LEU3:CA-A:LEU3:HA, or 11-12 without names; of a long list the beginning."""
    particles = constraint_particles(system, constraint)
    label = "-".join(particle_label(names, particle) for particle in particles[:MAX_NAMED])
    return label if len(particles) <= MAX_NAMED else label + "-..."


def coordinate_label(system: mm.System, names: Sequence[str], constraint: int) -> tuple[str, str]:
    """What a constraint holds, and the unit of a mean force along it: dihedral 6-8-14-16 (ALA2 N-CA-C, ALA3 N).

    :param constraint: its index in the order of ConstraintIntegrator.getMultipliers()
    """
    block, index = block_of(blocks_of(system), constraint)
    particles = block.particles(system, index)
    if block.kind in (CENTROIDS, NUMBER):
        sizes = " and ".join(str(len(group)) for group in block.entries(system, index))
        of = "distance of the centres" if block.kind == CENTROIDS else NOUNS[NUMBER]
        what, shown = f"{of} of {sizes} particles", []
    else:
        shown = particles[:MAX_NAMED]
        what = "-".join(map(str, shown)) + ("-..." if len(particles) > MAX_NAMED else "")
        noun = f"{quoted(block.force, MOST_QUOTED)} of" if block.kind == EXPRESSION else NOUNS[block.kind]
        what = f"{noun} {what}"
    symbol = symbol_of(block.kind)
    unit = "kJ/mol per unit of it" if block.kind == EXPRESSION else f"kJ/mol/{symbol}" if symbol else "kJ/mol"
    known = by_residue(names, shown)
    return (f"{what} ({known})" if known else what), unit


def by_residue(names: Sequence[str], particles: Sequence[int]) -> str:
    """ALA2 N-CA-C, ALA3 N: names of particles in their order. The chain is left out where it is the same for all."""
    labels = [particle_label(names, p).rsplit(":", 1) for p in particles]
    if not any(len(label) == 2 for label in labels):
        return ""
    residues = [label[0] if len(label) == 2 else "" for label in labels]
    chains = {residue.rpartition(":")[0] for residue in residues}
    if len(chains) == 1:
        residues = [residue.rpartition(":")[2] for residue in residues]
    groups = groupby(zip(residues, labels, strict=True), key=lambda pair: pair[0])
    return ", ".join(f"{residue} {'-'.join(label[-1] for _, label in group)}".strip() for residue, group in groups)


def quoted(force: CustomConstraintForce | CustomCentroidConstraintForce, most: int) -> str:
    """A Force's expression, of a longer one so many characters from its beginning."""
    text = force.getExpression()
    return text if len(text) <= most else f"{text[:most]}..."


def constraint_particles(system: mm.System, constraint: int) -> list[int]:
    """The particles of a constraint.

    :param constraint: its index in the order of ConstraintIntegrator.getMultipliers()
    :raises IndexError: if there is no such constraint
    """
    block, index = block_of(blocks_of(system), constraint)
    return block.particles(system, index)
