# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints of a force field's own bond lengths and angles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import openmm as mm
from openmm import app, unit

from openmmconstraints.helpers.move_constraints import moveConstraints
from openmmconstraints.inspection.labels import atom_name, require_same_size
from openmmconstraints.wrapper import ConstraintForce

Which = Literal["all", "hydrogens"] | None

_NM = unit.nanometer


def constrain(
    system: mm.System,
    topology: app.Topology,
    bonds: Which = "all",
    angles: Which = None,
    rigidWater: bool = True,
) -> ConstraintForce | None:
    """Constrain bonds and angles of a System at the lengths and angles of its own harmonic terms.

    It does what `constraints=` of OpenMM's `ForceField.createSystem()` does, for a System that was created without. The
    constraints go into a ConstraintForce, so that OpenMM does not set up its own solver for them: that takes seconds to
    hours for large coupled sets. `bonds="hydrogens"` is the set of HBonds, `bonds="all"` that of AllBonds, and
    `bonds="all", angles="hydrogens"` that of HAngles. As in HAngles, an angle is constrained by the distance of its
    ends, which is computed from the angle and the lengths of its bonds. A Urey-Bradley term between the ends is
    replaced; its length is not used. Integrators find angles that are redundant, as some of `angles="all"` are. Where
    angles of a force field contradict each other, as in rings, the first step raises an exception. Errors name the
    atoms, as after setTopology().

    Constraints that the System has already are kept, and move into the ConstraintForce too. Terms that are replaced
    stay in their Force, with a force constant of zero, because OpenMM's Forces cannot remove terms.

    Parameters
    ----------
    system : openmm.System
        changed in place, unless an exception is thrown
    topology : openmm.app.Topology
        of the System, with its bonds
    bonds : "all", "hydrogens" or None
        which of the topology's bonds to constrain
    angles : "all", "hydrogens" or None
        which of the System's HarmonicAngleForce terms to constrain. "hydrogens": those between two hydrogens, and those
        of one hydrogen with an oxygen at the vertex
    rigidWater : bool
        whether to make all water molecules rigid, whatever `bonds` and `angles` are

    Returns
    -------
    ConstraintForce or None
        the Force with the constraints (the periodic one, if there are two), owned by the System; None if there are none

    Raises
    ------
    ValueError
        if the topology is not the System's, or it has no length or angle for some atoms, which the message names
    """
    for name, value in (("bonds", bonds), ("angles", angles)):
        if value not in ("all", "hydrogens", None):
            raise ValueError(f'constrain: {name} must be "all", "hydrogens" or None, not {value!r}')
    require_same_size(system, topology, "constrain")
    terms = _Terms(system, topology)
    for pair in _chosen_bonds(terms, bonds, rigidWater):
        terms.hold(pair, terms.length(pair))
    for ends, centre in _chosen_angles(terms, angles, rigidWater):
        terms.hold(ends, terms.distance(ends, centre))
        terms.replaced_angles.append((ends, centre))
    terms.replace()
    return moveConstraints(system, topology)


Pair = tuple[int, int]


def _pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


class _Terms:
    """Harmonic terms and constraints of a System, by atoms, and the new constraints that replace terms."""

    def __init__(self, system: mm.System, topology: app.Topology) -> None:
        self.system = system
        self.atoms = list(topology.atoms())
        self.bonds = [_pair(bond[0].index, bond[1].index) for bond in topology.bonds()]
        self.bonded = set(self.bonds)
        self.is_hydrogen = [atom.element is app.element.hydrogen for atom in self.atoms]
        self.is_oxygen = [atom.element is app.element.oxygen for atom in self.atoms]
        self.waters = [atoms for atoms in map(self._water_of, topology.residues()) if atoms]
        self.bond_terms: dict[Pair, list[tuple[mm.HarmonicBondForce, int, float]]] = {}
        self.angle_terms: dict[tuple[Pair, int], list[tuple[mm.HarmonicAngleForce, int, float]]] = {}
        for force in system.getForces():
            if isinstance(force, mm.HarmonicBondForce):
                for n in range(force.getNumBonds()):
                    i, j, length, _ = force.getBondParameters(n)
                    self.bond_terms.setdefault(_pair(i, j), []).append((force, n, length.value_in_unit(_NM)))
            elif isinstance(force, mm.HarmonicAngleForce):
                for n in range(force.getNumAngles()):
                    i, centre, j, angle, _ = force.getAngleParameters(n)
                    entry = (force, n, angle.value_in_unit(unit.radian))
                    self.angle_terms.setdefault((_pair(i, j), centre), []).append(entry)
        self.held = dict(_distances(system))
        self.new: dict[Pair, float] = {}
        self.replaced_angles: list[tuple[Pair, int]] = []

    def _water_of(self, residue: app.topology.Residue) -> tuple[int, Pair] | None:
        """Oxygen and hydrogens of a residue that is a water molecule, with or without sites that have no element."""
        atoms = [atom for atom in residue.atoms() if atom.element is not None]
        oxygen = [atom.index for atom in atoms if self.is_oxygen[atom.index]]
        hydrogens = [atom.index for atom in atoms if self.is_hydrogen[atom.index]]
        if len(atoms) == 3 and len(oxygen) == 1 and len(hydrogens) == 2:
            return oxygen[0], _pair(*hydrogens)
        return None

    def length(self, pair: Pair) -> float:
        """The constrained length (nm) of a pair, or that of its harmonic bond."""
        if pair in self.held:
            return self.held[pair]
        lengths = {length for _, _, length in self.bond_terms.get(pair, [])}
        if len(lengths) != 1:
            found = "no HarmonicBondForce term" if not lengths else f"several lengths ({sorted(lengths)} nm)"
            raise ValueError(f"constrain: {found} for the bond {self.name(*pair)}")
        return lengths.pop()

    def distance(self, ends: Pair, centre: int) -> float:
        """The distance (nm) between the ends of an angle at its angle and its bonds' lengths.

        A bond term between ends that are not bonded (Urey-Bradley) is a spring, whose length is another one.
        """
        angles = {angle for _, _, angle in self.angle_terms.get((ends, centre), [])}
        is_triangle = ends in self.bonded or (not angles and ends in self.bond_terms)
        if ends in self.held or is_triangle:
            return self.length(ends)
        if len(angles) != 1:
            found = "no HarmonicAngleForce term" if not angles else f"several angles ({sorted(angles)} rad)"
            raise ValueError(f"constrain: {found} for the angle {self.name(ends[0], centre, ends[1])}")
        a, b = (self.length(_pair(end, centre)) for end in ends)
        return math.sqrt(a * a + b * b - 2 * a * b * math.cos(angles.pop()))

    def hold(self, pair: Pair, length: float) -> None:
        if pair not in self.held:
            self.held[pair] = self.new[pair] = length

    def replace(self) -> None:
        """Change the System. Nothing was changed before, so that an exception leaves it as it was."""
        for pair, length in self.new.items():
            self.system.addConstraint(*pair, length)
            for force, n, own in self.bond_terms.get(pair, []):
                force.setBondParameters(n, *pair, own, 0)
        for ends, centre in self.replaced_angles:
            for force, n, angle in self.angle_terms.get((ends, centre), []):
                force.setAngleParameters(n, ends[0], centre, ends[1], angle, 0)

    def name(self, *indices: int) -> str:
        """A:ALA5:CA - A:ALA5:CB (particles 12-13)"""
        return f"{' - '.join(atom_name(self.atoms[i]) for i in indices)} (particles {'-'.join(map(str, indices))})"


def _distances(system: mm.System) -> Iterator[tuple[Pair, float]]:
    """Pairs that a System constrains already, with their lengths (nm)."""
    for n in range(system.getNumConstraints()):
        i, j, length = system.getConstraintParameters(n)
        yield _pair(i, j), length.value_in_unit(_NM)
    for force in system.getForces():
        if ConstraintForce.isinstance(force):
            force = ConstraintForce.cast(force)
            for n in range(force.getNumDistances()):
                i, j, length = force.getDistanceParameters(n)[:3]
                yield _pair(i, j), length.value_in_unit(_NM)


def _chosen_bonds(terms: _Terms, which: Which, rigid_water: bool) -> Iterator[Pair]:
    for i, j in terms.bonds:
        if which == "all" or (which == "hydrogens" and (terms.is_hydrogen[i] or terms.is_hydrogen[j])):
            yield i, j
    if rigid_water:
        for oxygen, hydrogens in terms.waters:
            yield from (_pair(oxygen, hydrogen) for hydrogen in hydrogens)


def _chosen_angles(terms: _Terms, which: Which, rigid_water: bool) -> Iterator[tuple[Pair, int]]:
    for ends, centre in terms.angle_terms:
        hydrogens = sum(terms.is_hydrogen[end] for end in ends)
        if which == "all" or (
            which == "hydrogens" and (hydrogens == 2 or (hydrogens == 1 and terms.is_oxygen[centre]))
        ):
            yield ends, centre
    if rigid_water:
        yield from ((hydrogens, oxygen) for oxygen, hydrogens in terms.waters)
