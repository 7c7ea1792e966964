# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Small molecules whose bonds are nearly collinear, in water: for OpenMM's CCMA they are hard."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import openmm as mm

from openmmconstraints.benchmark.force_fields import Biomolecule, dhfr
from openmmconstraints.benchmark.generated import Molecules, water

WATERS = 700  # of a ligand's box
CLOSEST = 0.26  # nm, of a water to a ligand
NITROGEN_MASS = 14.007  # Da


@dataclass
class Ligand(Molecules):
    """A molecule and its water, which is always rigid."""

    size: int = 0  # of the molecule, whose atoms are first; 0: there is no water
    apart: tuple[int, int] | None = None  # atoms of the two ends of a free energy: no angle has both
    are_angles_custom: bool = False  # in a CustomAngleForce
    nitrogen: int | None = None  # an atom that is no oxygen, as which it is listed

    def __post_init__(self) -> None:
        self.size = self.size or len(self.elements)

    def angles(self) -> list[tuple[int, int, int]]:
        """See Molecules."""
        return [angle for angle in super().angles() if self.apart is None or not {*self.apart} <= {*angle}]

    def pairs(self, constraints: str | None) -> list[tuple[int, int]]:
        """See Molecules."""
        held = super().pairs(constraints)
        if constraints is None:
            return held
        of_water = [(i, j) for i, j in self.bonds if min(i, j) >= self.size]
        rigid = [*of_water, *((o + 1, o + 2) for o in range(self.size, len(self.elements), 3))]
        return [pair for pair in held if max(pair) < self.size] + rigid

    def create(self, constraints: str | None) -> mm.System:
        """See Model."""
        system = super().create(constraints)
        if self.nitrogen is not None:
            system.setParticleMass(self.nitrogen, NITROGEN_MASS)
        if self.are_angles_custom:
            index = next(i for i, f in enumerate(system.getForces()) if isinstance(f, mm.HarmonicAngleForce))
            given, custom = system.getForce(index), mm.CustomAngleForce("k / 2 * (theta - theta0)^2")
            custom.addPerAngleParameter("theta0")
            custom.addPerAngleParameter("k")
            custom.setUsesPeriodicBoundaryConditions(given.usesPeriodicBoundaryConditions())
            for n in range(given.getNumAngles()):
                *particles, angle, stiffness = given.getAngleParameters(n)
                custom.addAngle(*particles, [angle._value, stiffness._value])
            system.removeForce(index)
            system.addForce(custom)
        return system


def in_water(ligand: Ligand, waters: int = WATERS) -> Ligand:
    """The same with water around it, as a lattice that is to be relaxed."""
    solvent = water(waters)
    assert solvent.box is not None
    assert solvent.charges is not None
    sites = solvent.positions.reshape(-1, 3, 3)
    centred = ligand.positions - ligand.positions.mean(axis=0) + 0.5 * solvent.box
    distances = np.linalg.norm(sites[:, :1] - centred[None], axis=-1)
    kept = sites[distances.min(axis=1) > CLOSEST]
    size, count = len(ligand.elements), len(kept)
    bonds = [(size + 3 * k, size + 3 * k + h) for k in range(count) for h in (1, 2)]
    return replace(
        ligand,
        elements=ligand.elements + ["O", "H", "H"] * count,
        positions=np.concatenate([centred, kept.reshape(-1, 3)]),
        bonds=ligand.bonds + bonds,
        charges=[0.0] * size + solvent.charges[: 3 * count],
        box=solvent.box,
        size=size,
    )


def hybrid_molecule() -> Ligand:
    """Phenol and aniline in one: ring, its five hydrogens, O, N, the hydrogen of both, the other one of N."""
    turns = np.pi / 3 * np.arange(6)
    directions = np.stack([np.cos(turns), np.sin(turns), np.zeros(6)], axis=1)
    ring, hydrogens = 0.1395 * directions, 0.2475 * directions[1:]

    def towards(degrees: float, length: float) -> np.ndarray:
        return length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])

    oxygen, nitrogen = ring[0] + towards(0, 0.136), ring[0] + towards(-2, 0.140)
    shared, other = oxygen + towards(71.5, 0.0973), nitrogen + towards(-61, 0.101)
    bonds = [(min(i, (i + 1) % 6), max(i, (i + 1) % 6)) for i in range(6)] + [(i, i + 5) for i in range(1, 6)]
    o, n, h = 11, 12, 13
    bonds += [(0, o), (0, n), (o, h), (n, h), (n, 14)]
    elements = ["C"] * 6 + ["H"] * 5 + ["O", "O", "H", "H"]
    positions = np.vstack([ring, hydrogens, oxygen, nitrogen, shared, other])
    return Ligand(elements, positions, bonds, apart=(o, n), nitrogen=n)


def octatriyne_molecule() -> Ligand:
    """Eight carbons in a row, bent by 2 degrees at each, and a methyl's three hydrogens at both ends."""
    lengths = [0.146, 0.121, 0.137, 0.121, 0.137, 0.121, 0.146]
    bend = np.radians(1.0) * np.array([1, -1, 1, -1, 1, -1, 1])
    steps = np.array(lengths)[:, None] * np.stack([np.cos(bend), np.sin(bend), np.zeros(7)], axis=1)
    carbons = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
    around = 2 * np.pi / 3 * np.arange(3)
    cone = 0.109 * np.stack(
        [np.full(3, np.cos(np.radians(109.5))), *(np.sin(np.radians(109.5)) * f(around) for f in (np.cos, np.sin))],
        axis=1,
    )
    hydrogens = np.vstack([carbons[0] + cone, carbons[-1] - cone])
    bonds = [(i, i + 1) for i in range(7)] + [(0, 8 + i) for i in range(3)] + [(7, 11 + i) for i in range(3)]
    return Ligand(["C"] * 8 + ["H"] * 6, np.vstack([carbons, hydrogens]), bonds, are_angles_custom=True)


class WithHybrid:
    """DHFR in water, and a hybrid in the same System that interacts with nothing; a Model."""

    is_relaxed = False

    def __init__(self) -> None:
        self.protein: Biomolecule = dhfr()
        self.ligand = hybrid_molecule()
        self.positions = np.concatenate([self.protein.positions, self.ligand.positions])

    def create(self, constraints: str | None) -> mm.System:
        """See Model."""
        system, added = self.protein.create(constraints), self.ligand.create(constraints)
        first = system.getNumParticles()
        for i in range(added.getNumParticles()):
            system.addParticle(added.getParticleMass(i))
        for n in range(added.getNumConstraints()):
            i, j, length = added.getConstraintParameters(n)
            system.addConstraint(first + i, first + j, length)
        for force in added.getForces():
            there = next(other for other in system.getForces() if type(other) is type(force))
            if isinstance(force, mm.HarmonicBondForce):
                for n in range(force.getNumBonds()):
                    i, j, *rest = force.getBondParameters(n)
                    there.addBond(first + i, first + j, *rest)
            elif isinstance(force, mm.HarmonicAngleForce):
                for n in range(force.getNumAngles()):
                    i, j, k, *rest = force.getAngleParameters(n)
                    there.addAngle(first + i, first + j, first + k, *rest)
            else:
                for _ in range(added.getNumParticles()):
                    there.addParticle(0, 0.1, 0)
        return system
