# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Equipartition: every part of a system has its share of the kinetic energy.

Rigid molecules are tested by translation and rotation (physical_validation), all systems by classes of atoms. With
constraints, the share of a class depends on the positions. It is compared with that of Maxwell-Boltzmann velocities,
drawn at the same positions and projected onto the constraints, so that no formula is needed.
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


class MaxwellVelocities:
    """Draws Maxwell-Boltzmann velocities at given positions and projects them onto the constraints."""

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
    samples = [
        (positions(context), velocities(context))
        for _ in sampled(context, label, count, 2 * relaxation, 20 * relaxation)
    ]
    return np.array([r for r, _ in samples]), np.array([v for _, v in samples])


def class_shares(case: Case, r: np.ndarray, v: np.ndarray) -> dict[str, tuple[Estimate, float]]:
    """Measured and expected kinetic energy of each class of atoms, in kT per degree of freedom of the system."""
    maxwell = MaxwellVelocities(case)
    drawn = np.array([maxwell.draw(x) for x in r])
    found = {}
    for name, members in case.classes.items():
        masses = case.masses[members][:, None]
        sampled_share, drawn_share = (
            0.5 * (masses * x[:, members] ** 2).sum(axis=(1, 2)) / (KT * case.degrees_of_freedom) for x in (v, drawn)
        )
        difference = of_series(sampled_share - drawn_share)
        expected = float(drawn_share.mean())
        found[name] = Estimate(expected + difference.mean, difference.error, difference.degrees_of_freedom), expected
    return found


def check_classes(case: Case, method: str, r: np.ndarray, v: np.ndarray) -> list[Check]:
    """A check for each class."""
    return [
        compare("equipartition", case.name, method, f"share of {name}, kT/dof", estimate, expected)
        for name, (estimate, expected) in class_shares(case, r, v).items()
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
    for make, count in ((systems.water, 300), (systems.liquid_carbon_dioxide, 1000), (systems.peptide, 8000)):
        case = make()
        for method in METHODS:
            r, v = frames(case, method, max(60, round(count * size)))
            checks += check_classes(case, method, r, v)
            if case.name == "rigid water":
                checks += check_molecules(case, method, r, v)
    return checks
