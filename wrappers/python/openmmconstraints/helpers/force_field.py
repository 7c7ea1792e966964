# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints of a force field's own bond lengths and angles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import openmm as mm
from openmm import app, unit

from openmmconstraints.helpers.pairs import Pair, describe, holds_angle, pair_of, third_side
from openmmconstraints.wrapper import ConstraintForce

Which = Literal["all", "hydrogens"] | None

_NM = unit.nanometer
_GIVE_LENGTHS = 'Give them: lengths="positions", positions=..., or a table of lengths.'


def hold_terms(system: mm.System, topology: app.Topology, bonds: Which, angles: Which, rigid_water: bool) -> None:
    """Add constraints to a System that hold its harmonic terms, which they replace."""
    terms = Terms(system, topology)
    if bonds is not None and not terms.bonds and terms.bond_terms:
        raise ValueError(
            f"constrain: the topology has no bonds, the System has {len(terms.bond_terms)}. Give the topology that the "
            "System was made from, or add bonds with topology.addBond(atom1, atom2)."
        )
    for pair in _chosen_bonds(terms, bonds, rigid_water):
        terms.hold(pair, terms.length(pair))
    for ends, centre in _chosen_angles(terms, angles, rigid_water):
        terms.hold(ends, terms.distance(ends, centre))
        terms.replaced_angles.append((ends, centre))
    terms.replace()


class Terms:
    """Harmonic terms and constraints of a System, by atoms, and the new constraints that replace terms."""

    def __init__(self, system: mm.System, topology: app.Topology) -> None:
        self.system = system
        self.atoms = list(topology.atoms())
        self.bonds = [pair_of(bond[0].index, bond[1].index) for bond in topology.bonds()]
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
                    self.bond_terms.setdefault(pair_of(i, j), []).append((force, n, length.value_in_unit(_NM)))
            elif isinstance(force, mm.HarmonicAngleForce):
                for n in range(force.getNumAngles()):
                    i, centre, j, angle, _ = force.getAngleParameters(n)
                    entry = (force, n, angle.value_in_unit(unit.radian))
                    self.angle_terms.setdefault((pair_of(i, j), centre), []).append(entry)
        self.held = dict(_distances(system))
        self.new: dict[Pair, float] = {}
        self.replaced_angles: list[tuple[Pair, int]] = []

    def _water_of(self, residue: app.topology.Residue) -> tuple[int, Pair] | None:
        """Oxygen and hydrogens of a residue that is a water molecule, with or without sites that have no element."""
        atoms = [atom for atom in residue.atoms() if atom.element is not None]
        oxygen = [atom.index for atom in atoms if self.is_oxygen[atom.index]]
        hydrogens = [atom.index for atom in atoms if self.is_hydrogen[atom.index]]
        if len(atoms) == 3 and len(oxygen) == 1 and len(hydrogens) == 2:
            return oxygen[0], pair_of(*hydrogens)
        return None

    def length(self, pair: Pair) -> float:
        """The constrained length (nm) of a pair, or that of its harmonic bond."""
        if pair in self.held:
            return self.held[pair]
        lengths = {length for _, _, length in self.bond_terms.get(pair, [])}
        if len(lengths) != 1:
            found = "no HarmonicBondForce term" if not lengths else f"several lengths ({sorted(lengths)} nm)"
            raise ValueError(f"constrain: {found} for the bond {describe(self.atoms, *pair)}. {_GIVE_LENGTHS}")
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
            angle = describe(self.atoms, ends[0], centre, ends[1])
            raise ValueError(f"constrain: {found} for the angle {angle}. {_GIVE_LENGTHS}")
        a, b = (self.length(pair_of(end, centre)) for end in ends)
        return third_side(a, b, angles.pop())

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


def _distances(system: mm.System) -> Iterator[tuple[Pair, float]]:
    """Pairs that a System constrains already, with their lengths (nm)."""
    for n in range(system.getNumConstraints()):
        i, j, length = system.getConstraintParameters(n)
        yield pair_of(i, j), length.value_in_unit(_NM)
    for force in system.getForces():
        if ConstraintForce.isinstance(force):
            force = ConstraintForce.cast(force)
            for n in range(force.getNumDistances()):
                i, j, length = force.getDistanceParameters(n)[:3]
                yield pair_of(i, j), length.value_in_unit(_NM)


def _chosen_bonds(terms: Terms, which: Which, rigid_water: bool) -> Iterator[Pair]:
    for i, j in terms.bonds:
        if which == "all" or (which == "hydrogens" and (terms.is_hydrogen[i] or terms.is_hydrogen[j])):
            yield i, j
    if rigid_water:
        for oxygen, hydrogens in terms.waters:
            yield from (pair_of(oxygen, hydrogen) for hydrogen in hydrogens)


def _chosen_angles(terms: Terms, which: Which, rigid_water: bool) -> Iterator[tuple[Pair, int]]:
    for ends, centre in terms.angle_terms:
        hydrogens = sum(terms.is_hydrogen[end] for end in ends)
        if which is not None and holds_angle(which, hydrogens, terms.is_oxygen[centre]):
            yield ends, centre
    if rigid_water:
        yield from ((hydrogens, oxygen) for oxygen, hydrogens in terms.waters)
