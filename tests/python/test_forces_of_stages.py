# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraint forces and virial of integrators with several stages in a step: against r-RESPA with RATTLE in numpy, the
sum over the stages of multiplier times the gradient at that stage, divided by the step."""

import itertools
from dataclasses import dataclass

import numpy as np
import openmm as mm
import pytest
from platforms import IS_REFERENCE, NAME, bound, under_test

import openmmconstraints as mc

pytestmark = pytest.mark.platform

BOX = np.array([[2.0, 0, 0], [0.5, 2.1, 0], [-0.4, 0.7, 1.9]])
GROUPS = [(2, 1), (1, 2), (0, 4)]
STEP, FRICTION = 0.004, 20
SQUARE = np.array([[0, 0, 0], [0.1, 0.02, 0], [0.13, 0.11, 0.03], [0.02, 0.09, 0.11]])  # nm
PLATFORMS = ["Reference", "CPU"] if IS_REFERENCE else [NAME]
RELATIVE = bound(1e-9, double=1e-8, mixed=2e-5, single=3e-3)


def nearest(d: np.ndarray) -> np.ndarray:
    """The shortest of a vector's images."""
    images = d + np.array(list(itertools.product([-1, 0, 1], repeat=3))) @ BOX
    return images[np.linalg.norm(images, axis=1).argmin()]


@dataclass
class Molecules:
    """Molecules with distances, of which some are a rigid body for the package; springs between them by group."""

    masses: np.ndarray
    positions: np.ndarray  # whole molecules, in nm
    pairs: list[tuple[int, int]]
    bodies: list[list[int]]
    springs: list[tuple[int, int, float, float]]  # particles, length, constant; the group is the index modulo 3

    def __post_init__(self):
        self.lengths = np.array([np.linalg.norm(self.positions[i] - self.positions[j]) for i, j in self.pairs])

    def system(self) -> mm.System:
        system = mm.System()
        system.setDefaultPeriodicBoxVectors(*BOX)
        for mass in self.masses:
            system.addParticle(mass)
        force = mc.ConstraintForce()
        force.setUsesPeriodicBoundaryConditions(True)
        of_bodies = {pair for body in self.bodies for pair in itertools.combinations(body, 2)}
        for pair, length in zip(self.pairs, self.lengths, strict=True):
            if pair not in of_bodies:
                force.addDistance(*pair, length)
        for body in self.bodies:
            force.addRigidBody(body, self.positions[body])
        system.addForce(force)
        for group in range(3):
            bonds = mm.HarmonicBondForce()
            bonds.setUsesPeriodicBoundaryConditions(True)
            bonds.setForceGroup(group)
            for i, j, length, k in self.springs[group::3]:
                bonds.addBond(i, j, length, k)
            system.addForce(bonds)
        return system

    def forces(self, x: np.ndarray, group: int) -> np.ndarray:
        f = np.zeros_like(x)
        for i, j, length, k in self.springs[group::3]:
            d = nearest(x[i] - x[j])
            pull = -k * (1 - length / np.linalg.norm(d)) * d
            f[i] += pull
            f[j] -= pull
        return f

    # ---- constraints

    def gradients(self, x: np.ndarray) -> np.ndarray:
        """[constraints, particles, 3]"""
        J = np.zeros((len(self.pairs), len(x), 3))
        for row, (i, j) in enumerate(self.pairs):
            e = (x[i] - x[j]) / np.linalg.norm(x[i] - x[j])
            J[row, i], J[row, j] = e, -e
        return J

    def response(self, J: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        return np.einsum("k,kia->ia", multipliers, J) / self.masses[:, None]

    def solve(self, J: np.ndarray, other: np.ndarray, right: np.ndarray) -> np.ndarray:
        A = np.einsum("kia,lia,i->kl", J, other, 1 / self.masses)
        return np.linalg.solve(A, right)

    def solve_positions(self, x: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers and M^-1 J^T lambda of RATTLE's position stage."""
        J, multipliers = self.gradients(x), np.zeros(len(self.pairs))
        for _ in range(20):
            y = x + delta + self.response(J, multipliers)
            sigma = [np.linalg.norm(y[i] - y[j]) for i, j in self.pairs] - self.lengths
            multipliers -= self.solve(self.gradients(y), J, sigma)
        return multipliers, self.response(J, multipliers)

    def solve_velocities(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        J = self.gradients(x)
        multipliers = -self.solve(J, J, np.einsum("kia,ia->k", J, v))
        return multipliers, self.response(J, multipliers)

    def solve_spread(self, x: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Multipliers of the centripetal force that half of a change of velocities in the middle of a drift adds."""
        J = self.gradients(x)
        curvature = []
        for k, (i, j) in enumerate(self.pairs):
            w = 0.5 * (change[i] - change[j])
            curvature.append((w @ w - (J[k, i] @ w) ** 2) / self.lengths[k])
        return -self.solve(J, J, np.array(curvature))


class Sums:
    """Of multipliers, forces and virial over the stages of a step."""

    def __init__(self, molecules: Molecules):
        self.molecules = molecules
        self.multipliers = np.zeros(len(molecules.pairs))
        self.forces = np.zeros_like(molecules.positions)
        self.virial = np.zeros((3, 3))

    def add(self, x: np.ndarray, multipliers: np.ndarray):
        """@param multipliers  forces over the whole step"""
        self.multipliers += multipliers
        J = self.molecules.gradients(x)
        self.forces += np.einsum("k,kia->ia", multipliers, J)
        for k, (i, j) in enumerate(self.molecules.pairs):
            self.virial += multipliers[k] * np.outer(x[i] - x[j], J[k, i])


def respa(molecules: Molecules, x: np.ndarray, v: np.ndarray, groups, friction: float | None):
    """A step of r-RESPA with RATTLE, by Tuckerman, Berne and Martyna (1992). friction: of a bath at 0 K in the middle
    of the innermost steps, or None where there is none."""
    substeps = max(n for _, n in groups)
    h = STEP / substeps
    sums = Sums(molecules)

    def kick(moment: int, v: np.ndarray) -> np.ndarray:
        for group, n in groups:
            if moment % (substeps // n) == 0:
                v = v + 0.5 * h * (substeps // n) * molecules.forces(x, group) / molecules.masses[:, None]
        return v

    def project(v: np.ndarray) -> np.ndarray:
        multipliers, change = molecules.solve_velocities(x, v)
        sums.add(x, multipliers / STEP)
        return v + change

    for moment in range(substeps):
        v = kick(moment, v)
        if friction is None:
            delta = h * v
        else:
            v = project(v)
            before = v
            v = np.exp(-friction * h) * v
            v = v + molecules.solve_velocities(x, v)[1]
            delta = 0.5 * h * (before + v)
            sums.add(x, molecules.solve_spread(x, before - v) / substeps)
        multipliers, change = molecules.solve_positions(x, delta)
        sums.add(x, multipliers / (h * STEP))
        x, v = x + delta + change, v + change / h
        v = kick(moment + 1, v)
        if friction is None or moment + 1 == substeps:
            v = project(v)
    return x, v, sums


def geodesic(molecules: Molecules, x: np.ndarray, v: np.ndarray, steps: int):
    """A step of g-BAOAB without friction, by Leimkuhler and Matthews (2016), with all forces in one group."""
    h = 0.5 * STEP / steps
    sums = Sums(molecules)

    def project(v: np.ndarray) -> np.ndarray:
        multipliers, change = molecules.solve_velocities(x, v)
        sums.add(x, multipliers / STEP)
        return v + change

    def half_kick(v: np.ndarray) -> np.ndarray:
        force = sum(molecules.forces(x, group) for group in range(3))
        return project(v + 0.5 * STEP * force / molecules.masses[:, None])

    v = half_kick(v)
    for _ in range(2 * steps):
        multipliers, change = molecules.solve_positions(x, h * v)
        sums.add(x, multipliers / (h * STEP))
        x, v = x + h * v + change, v + change / h
        v = project(v)
    v = half_kick(v)
    return x, v, sums


def make_molecules(rigid: bool) -> Molecules:
    """A chain, a triangle and a tetrahedron that turn fast; the last two are rigid bodies if asked for."""
    shapes = [np.array([[0, 0, 0], [0.1, 0, 0.03], [0.15, 0.1, 0], [0.25, 0.1, 0.05]]), SQUARE[:3], SQUARE]
    at = np.array([[0.0, 1.0, 1.85], [0.3, 0.7, 1.6], [-0.1, 1.3, 1.9]])
    positions = np.concatenate([shape + place for shape, place in zip(shapes, at, strict=True)])
    pairs = [(0, 1), (1, 2), (2, 3), (0, 2), (4, 5), (4, 6), (5, 6), *itertools.combinations(range(7, 11), 2)]
    springs = [(0, 4, 300), (3, 7, 500), (6, 10, 900), (1, 8, 200), (2, 5, 400), (5, 9, 700)]
    springs = [(i, j, np.linalg.norm(nearest(positions[i] - positions[j])) - 0.1, k) for i, j, k in springs]
    masses = np.array([12, 1, 14, 3, 16, 1, 2, 12, 5, 7, 1.0])
    return Molecules(masses, positions, pairs, [[4, 5, 6], [7, 8, 9, 10]] if rigid else [], springs)


def start_velocities(molecules: Molecules) -> np.ndarray:
    v = np.random.default_rng(5).normal(size=molecules.positions.shape)
    for group, turn in ((slice(0, 4), (20, 5, -10)), (slice(4, 7), (-15, 20, 8)), (slice(7, 11), (10, -12, 18))):
        x = molecules.positions[group]
        v[group] += np.cross(turn, x - x.mean(axis=0))
    return v + molecules.solve_velocities(molecules.positions, v)[1]


def wrapped(x: np.ndarray) -> np.ndarray:
    """Each particle by itself."""
    return x - np.floor(x @ np.linalg.inv(BOX)) @ BOX


def compare(molecules: Molecules, integrator, step, platform: str):
    """Three steps: what is read after each."""
    integrator.setConstraintTolerance(1e-13)
    of_platform = mm.Platform.getPlatform(platform) if IS_REFERENCE else under_test()
    context = mm.Context(molecules.system(), integrator, of_platform)
    x, v = molecules.positions, start_velocities(molecules)
    context.setPositions(wrapped(x))
    context.setVelocities(v)
    for _ in range(3):
        integrator.step(1)
        x, v, sums = step(x, v)
        size = np.abs(sums.forces).max()
        assert size > 100
        np.testing.assert_allclose(
            integrator.getConstraintForces(asNumpy=True)._value, sums.forces, atol=RELATIVE * size
        )
        size = np.abs(sums.virial).max()
        np.testing.assert_allclose(
            [list(row) for row in integrator.getConstraintVirial()], sums.virial, atol=3 * RELATIVE * size
        )
        if not molecules.bodies:  # otherwise not all of them have multipliers
            size = np.abs(sums.multipliers).max()
            np.testing.assert_allclose(integrator.getMultipliers(), sums.multipliers, atol=RELATIVE * size)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("rigid", [False, True] if IS_REFERENCE else [True], ids=lambda rigid: f"rigid_{rigid}")
@pytest.mark.parametrize("friction", [None, 0, FRICTION] if IS_REFERENCE else [None, FRICTION])
@pytest.mark.parametrize("groups", [[(2, 2), (1, 2), (0, 2)], GROUPS] if IS_REFERENCE else [GROUPS], ids=str)
def test_several_time_steps(platform, rigid, friction, groups):
    molecules = make_molecules(rigid)
    if friction is None:
        integrator = mc.RattleMTSIntegrator(STEP, groups)
    else:
        integrator = mc.RattleMTSLangevinIntegrator(0, friction, STEP, groups)
    compare(molecules, integrator, lambda x, v: respa(molecules, x, v, groups, friction), platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("rigid", [False, True] if IS_REFERENCE else [True], ids=lambda rigid: f"rigid_{rigid}")
def test_geodesic_steps(platform, rigid):
    molecules = make_molecules(rigid)
    integrator = mc.RattleLangevinIntegrator(300, 0, STEP)
    integrator.setNumGeodesicSteps(3)
    compare(molecules, integrator, lambda x, v: geodesic(molecules, x, v, 3), platform)
