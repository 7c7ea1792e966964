# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every part of a system has its share of the kinetic energy.

Rigid molecules by translation and rotation (physical_validation). Elsewhere by classes of atoms, whose share is a
fraction that depends on the shape: it is taken from velocities of Maxwell's distribution, drawn at the same positions
and projected, so that no formula is needed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc
from validation import physical, systems
from validation.checks import Check, Estimate, compare, of_series
from validation.dynamics import (
    KT,
    METHODS,
    TEMPERATURE,
    Case,
    langevin,
    make_context,
    positions,
    sampled,
    seed_of,
    velocities,
)


class Maxwell:
    """Velocities drawn at given positions, and projected."""

    def __init__(self, case: Case) -> None:
        self._integrator = mc.RattleIntegrator(case.step_size)
        self._integrator.setConstraintTolerance(1e-8)
        self._context = mm.Context(case.system, self._integrator, mm.Platform.getPlatform("Reference"))
        self._seed = seed_of(case.name)

    def draw(self, r: np.ndarray) -> np.ndarray:
        """[numParticles, 3] nm/ps"""
        self._seed += 1
        self._context.setPositions(r)
        self._context.setVelocitiesToTemperature(TEMPERATURE, self._seed)
        return velocities(self._context)


def frames(case: Case, method: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities [count, numParticles, 3], two relaxation times of the kinetic energy apart."""
    context = make_context(case, langevin(case, method))
    relaxation = max(1, round(0.5 / case.friction / case.step_size))
    label = f"{case.name}, {method}"
    taken = [
        (positions(context), velocities(context))
        for _ in sampled(context, label, count, 2 * relaxation, 20 * relaxation)
    ]
    return np.array([r for r, _ in taken]), np.array([v for _, v in taken])


def excess_of_classes(case: Case, r: np.ndarray, v: np.ndarray) -> dict[str, tuple[Estimate, float]]:
    """For each class of atoms, its kinetic energy in kT per degree of freedom of the system, and what it should be."""
    maxwell = Maxwell(case)
    drawn = np.array([maxwell.draw(x) for x in r])
    found = {}
    for name, members in case.classes.items():
        masses = case.masses[members][:, None]
        ours, fresh = (
            0.5 * (masses * x[:, members] ** 2).sum(axis=(1, 2)) / (KT * case.degrees_of_freedom) for x in (v, drawn)
        )
        difference = of_series(ours - fresh)
        expected = float(fresh.mean())
        found[name] = Estimate(expected + difference.mean, difference.error, difference.freedom), expected
    return found


def check_classes(case: Case, method: str, r: np.ndarray, v: np.ndarray) -> list[Check]:
    """One line a class."""
    return [
        compare("equipartition", case.name, method, f"share of {name}, kT/dof", estimate, expected)
        for name, (estimate, expected) in excess_of_classes(case, r, v).items()
    ]


def check_molecules(case: Case, method: str, r: np.ndarray, v: np.ndarray) -> list[Check]:
    """Translation and rotation of rigid waters."""
    parts = physical.equipartition(case, r, v, atoms=3, constraints=3)
    return [
        Check("equipartition", case.name, method, f"{part}, {what}", p)
        for part, pair in parts.items()
        for what, p in zip(("mean", "width"), pair, strict=True)
    ]


def run(size: float, output: Path) -> list[Check]:
    """All systems by all methods."""
    checks = []
    for make, count in ((systems.water, 300), (systems.rods, 1000), (systems.peptide, 8000)):
        case = make()
        for method in METHODS:
            r, v = frames(case, method, max(60, round(count * size)))
            checks += check_classes(case, method, r, v)
            if case.name == "rigid water":
                checks += check_molecules(case, method, r, v)
    return checks
