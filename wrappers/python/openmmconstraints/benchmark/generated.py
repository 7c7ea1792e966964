# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Systems that are made from their geometry: polymers, sheets, tubes and liquids of small molecules.

Lengths and angles are those of the geometry, masses those of the elements, the rest (harmonic angles, Lennard-Jones
with a cutoff) of a usual size. What matters is the graph of the constraints, and that the system is at a temperature.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import openmm as mm

MASSES = {"C": 12.011, "H": 1.008, "O": 15.999, "CH2": 14.027}
SIZES = {"C": (0.34, 0.36), "H": (0.24, 0.08), "O": (0.30, 0.66), "CH2": (0.39, 0.40)}  # sigma (nm), epsilon (kJ/mol)
BOND_STIFFNESS = 3e5  # kJ/mol/nm^2, where a bond is not constrained
ANGLE_STIFFNESS = 400.0  # kJ/mol/rad^2
CUTOFF = 0.9  # nm


@dataclass
class Molecules:
    """Atoms, bonds and molecules by their geometry; a Model."""

    elements: list[str]
    positions: np.ndarray  # [numParticles, 3] nm
    bonds: list[tuple[int, int]]
    rigid: list[tuple[int, int]] = field(default_factory=list)  # pairs that the set "Rigid" holds
    box: float | None = None  # nm, of a periodic cube
    charges: list[float] | None = None  # e
    is_relaxed: bool = False

    def angles(self) -> list[tuple[int, int, int]]:
        """Every pair of bonds that share an atom, as (end, centre, end)."""
        neighbours: list[list[int]] = [[] for _ in self.elements]
        for i, j in self.bonds:
            neighbours[i].append(j)
            neighbours[j].append(i)
        return [(a, centre, b) for centre, around in enumerate(neighbours) for a, b in combinations(sorted(around), 2)]

    def pairs(self, constraints: str | None) -> list[tuple[int, int]]:
        """Which pairs a set holds."""

        def is_hydrogen(i: int) -> bool:
            return self.elements[i] == "H"

        if constraints is None:
            return []
        if constraints == "HBonds":
            return [(i, j) for i, j in self.bonds if is_hydrogen(i) or is_hydrogen(j)]
        if constraints == "HAngles":
            return self.bonds + [(a, b) for a, _, b in self.angles() if is_hydrogen(a) and is_hydrogen(b)]
        if constraints == "AllAngles":
            return self.bonds + [(a, b) for a, _, b in self.angles()]
        return self.rigid if constraints == "Rigid" else self.bonds

    def create(self, constraints: str | None) -> mm.System:
        """See Model."""
        system = mm.System()
        for element in self.elements:
            system.addParticle(MASSES[element])
        held = set(self.pairs(constraints))
        for i, j in self.pairs(constraints):
            system.addConstraint(i, j, self._distance(i, j))
        bonds, angles = mm.HarmonicBondForce(), mm.HarmonicAngleForce()
        for i, j in self.bonds:
            if (i, j) not in held:
                bonds.addBond(i, j, self._distance(i, j), BOND_STIFFNESS)
        for a, centre, b in self.angles():
            if (a, b) not in held:
                angles.addAngle(a, centre, b, self._angle(a, centre, b), ANGLE_STIFFNESS)
        for force in (bonds, angles):
            force.setUsesPeriodicBoundaryConditions(self.box is not None)
            system.addForce(force)
        system.addForce(self._nonbonded())
        if self.box is not None:
            system.setDefaultPeriodicBoxVectors(*(self.box * np.eye(3)))
        return system

    def _nonbonded(self) -> mm.NonbondedForce:
        force = mm.NonbondedForce()
        charges = self.charges or [0.0] * len(self.elements)
        for element, charge in zip(self.elements, charges, strict=True):
            force.addParticle(charge, *SIZES[element])
        force.createExceptionsFromBonds(self.bonds or self.rigid, 0.0, 0.0)
        force.setNonbondedMethod(force.CutoffNonPeriodic if self.box is None else force.CutoffPeriodic)
        force.setCutoffDistance(CUTOFF)
        return force

    def _distance(self, i: int, j: int) -> float:
        return float(np.linalg.norm(self.positions[i] - self.positions[j]))

    def _angle(self, a: int, centre: int, b: int) -> float:
        u, v = self.positions[a] - self.positions[centre], self.positions[b] - self.positions[centre]
        return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))


# ---- polymers --------------------------------------------------------------------------------------------------------


def _backbone(n: int) -> np.ndarray:
    """Carbons of an all-trans chain along x."""
    bond, half_angle = 0.153, np.radians(112.0) / 2
    k = np.arange(n)
    return bond * np.stack([k * np.sin(half_angle), (k % 2) * np.cos(half_angle), np.zeros(n)], axis=1)


def _helix(n: int) -> np.ndarray:
    """Carbons of a helix: where angles are constrained too, a planar chain can hardly move."""
    bond, angle, torsion = 0.153, np.radians(112.0), np.radians(150.0)
    c, s = -np.cos(angle), np.sin(angle)
    bend = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    c, s = np.cos(torsion), np.sin(torsion)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) @ bend
    directions, frame = np.empty((n, 3)), np.eye(3)
    for k in range(n):
        directions[k] = frame[:, 0]
        frame = frame @ turn
    return bond * np.cumsum(directions, axis=0)


def chain(n: int) -> Molecules:
    """n beads in a row."""
    return Molecules(["CH2"] * n, _helix(n), [(i, i + 1) for i in range(n - 1)], is_relaxed=True)


def polyethylene(n: int) -> Molecules:
    """n CH2 in a row, without ends."""
    carbons = _backbone(n)
    up = np.where(np.arange(n) % 2 == 1, 1.0, -1.0)
    length, half_angle = 0.109, np.radians(107.0) / 2
    sideways = length * np.sin(half_angle) * np.array([0.0, 0.0, 1.0])
    outwards = length * np.cos(half_angle) * up[:, None] * np.array([0.0, 1.0, 0.0])
    atoms = np.stack([carbons, carbons + outwards + sideways, carbons + outwards - sideways], axis=1).reshape(-1, 3)
    # In the order of a topology: OpenMM's set-up takes much longer if all C-C come first.
    bonds = [(3 * i, 3 * i + other) for i in range(n) for other in (1, 2, 3)][:-1]
    return Molecules(["C", "H", "H"] * n, atoms, bonds, is_relaxed=True)


# ---- carbon, two-dimensional -----------------------------------------------------------------------------------------

CARBON_BOND = 0.142  # nm


def _honeycomb(columns: int, rows: int, closed: bool) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Two atoms a cell: places (u, v) in bonds' lengths, u around the tube where that is closed, and bonds."""

    def atom(i: int, j: int, which: int) -> int:
        return 2 * ((i % columns) * rows + j) + which

    places, bonds = [], []
    for i in range(columns):
        for j in range(rows):
            u = np.sqrt(3) * (i + 0.5 * (j % 2))
            places += [(u, 1.5 * j), (u, 1.5 * j + 1.0)]
            bonds.append((atom(i, j, 0), atom(i, j, 1)))
            if j + 1 < rows:
                for side in (0, 1) if j % 2 else (-1, 0):
                    if closed or 0 <= i + side < columns:
                        bonds.append((atom(i, j, 1), atom(i + side, j + 1, 0)))
    return np.array(places), [(min(b), max(b)) for b in bonds]


def graphene(n: int) -> Molecules:
    """A flat patch of n x n cells of two carbons."""
    places, bonds = _honeycomb(n, n, closed=False)
    positions = CARBON_BOND * np.column_stack([places, np.zeros(len(places))])
    return Molecules(["C"] * len(places), positions, bonds)


def nanotube(n: int, around: int = 20) -> Molecules:
    """A zigzag tube (20, 0), n cells of 40 carbons long."""
    places, bonds = _honeycomb(around, n, closed=True)
    angle = 2 * np.pi * places[:, 0] / (np.sqrt(3) * around)
    radius = CARBON_BOND * np.sqrt(3) * around / (2 * np.pi)
    positions = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), CARBON_BOND * places[:, 1]])
    return Molecules(["C"] * len(places), positions, bonds)


def mesh(n: int) -> Molecules:
    """A crumpled square lattice of n x n beads, which loops everywhere make hard to cut."""
    places = 0.15 * np.array([(i, j, 0) for i in range(n) for j in range(n)])
    directions = np.random.default_rng(1).normal(size=places.shape)
    crumpled = places + 0.03 * directions / np.linalg.norm(directions, axis=1)[:, None]
    along = [(n * i + j, n * i + j + 1) for i in range(n) for j in range(n - 1)]
    across = [(n * i + j, n * (i + 1) + j) for i in range(n - 1) for j in range(n)]
    return Molecules(["C"] * n**2, crumpled, along + across, is_relaxed=True)


# ---- liquids ---------------------------------------------------------------------------------------------------------


def _liquid(one: Molecules, n: int, spacing: float) -> Molecules:
    """n copies of a molecule on a cubic lattice."""
    edge = int(np.ceil(n ** (1 / 3) - 1e-9))
    sites = spacing * np.array([(x, y, z) for x in range(edge) for y in range(edge) for z in range(edge)][:n])
    size = len(one.elements)

    def repeat(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        pairs = list(pairs)
        return [(i + k * size, j + k * size) for k in range(n) for i, j in pairs]

    positions = (sites[:, None] + one.positions[None]).reshape(-1, 3)
    charges = None if one.charges is None else one.charges * n
    box = max(edge * spacing, 2.2 * CUTOFF)
    return Molecules(one.elements * n, positions, repeat(one.bonds), repeat(one.rigid), box, charges)


def _all_pairs(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def water(n: int) -> Molecules:
    """n rigid waters (TIP3P's geometry and charges)."""
    half = np.radians(104.52) / 2
    hydrogens = 0.09572 * np.array([[np.sin(half), np.cos(half), 0], [-np.sin(half), np.cos(half), 0]])
    one = Molecules(["O", "H", "H"], np.vstack([np.zeros(3), hydrogens]), [(0, 1), (0, 2)], _all_pairs(3))
    one.charges = [-0.834, 0.417, 0.417]
    return _liquid(one, n, 0.311)


def carbon_dioxide(n: int) -> Molecules:
    """n linear molecules of three atoms."""
    one = Molecules(["O", "C", "O"], 0.1149 * np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]]), [(0, 1), (1, 2)])
    one.rigid, one.charges = _all_pairs(3), [-0.3256, 0.6512, -0.3256]
    return _liquid(one, n, 0.55)


def needles(n: int) -> Molecules:
    """n linear molecules of five carbons."""
    line = 0.13 * np.arange(-2.0, 3.0)[:, None] * np.array([1.0, 0.0, 0.0])
    one = Molecules(["C"] * 5, line, [(i, i + 1) for i in range(4)], _all_pairs(5))
    return _liquid(one, n, 0.9)


def benzene(n: int) -> Molecules:
    """n rings of twelve bonds."""
    angle = np.pi / 3 * np.arange(6)
    directions = np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)
    positions = np.vstack([0.1395 * directions, 0.2475 * directions])
    bonds = [(min(i, (i + 1) % 6), max(i, (i + 1) % 6)) for i in range(6)] + [(i, i + 6) for i in range(6)]
    one = Molecules(["C"] * 6 + ["H"] * 6, positions, bonds, _all_pairs(12), charges=[-0.115] * 6 + [0.115] * 6)
    return _liquid(one, n, 0.75)
