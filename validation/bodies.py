# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rigid bodies of addRigidBody: translation and rotation have the bath's temperature, each with its degrees of freedom.

A body has three degrees of freedom of translation, and three of rotation, a linear one two. At constant pressure a gas
of them is ideal as that of the dimers in volume.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

from validation import systems, volume
from validation.checks import Check, compare, of_series
from validation.dynamics import KT, METHODS, TEMPERATURE, Case, langevin, make_context, positions, sampled, velocities
from validation.plots import Panels, legend_below, outline

NUMBER = 10
PRESSURE = 100.0  # bar


def parts(case: Case, r: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic energies [NUMBER] (kJ/mol) of translation, and of rotation from the angular momentum and inertia."""
    m = case.masses.reshape(NUMBER, -1, 1)
    r, v = (x.reshape(NUMBER, -1, 3) for x in (r, v))
    total = m.sum(axis=1)
    of_centre = (m * v).sum(axis=1) / total
    x = r - ((m * r).sum(axis=1) / total)[:, None]
    momentum = np.cross(x, m * v).sum(axis=1)
    inertia = (m[..., None] * ((x * x).sum(axis=-1)[..., None, None] * np.eye(3) - x[..., None] * x[..., None, :])).sum(
        axis=1
    )
    inverse = np.linalg.pinv(inertia, rcond=1e-6, hermitian=True)
    translation = 0.5 * total[:, 0] * (of_centre**2).sum(axis=1)
    return translation, 0.5 * np.einsum("bi,bij,bj->b", momentum, inverse, momentum)


def sample(kind: str, method: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic energies [count, NUMBER] of translation and of rotation, two relaxation times apart."""
    case = systems.bodies(kind, NUMBER)
    context = make_context(case, langevin(case, method))
    relaxation = max(1, round(0.5 / case.friction / case.step_size))
    label = f"{case.name}, {method}"
    energies = [
        parts(case, positions(context), velocities(context))
        for _ in sampled(context, label, count, 2 * relaxation, 20 * relaxation)
    ]
    return np.array([e[0] for e in energies]), np.array([e[1] for e in energies])


def check(kind: str, method: str, energies: tuple[np.ndarray, np.ndarray], rotations: int) -> list[Check]:
    """Mean and variance of both parts. @param rotations  degrees of freedom of rotation"""
    found = []
    name = systems.bodies(kind, NUMBER).name
    for part, energy, degrees in zip(("translation", "rotation"), energies, (3, rotations), strict=True):
        kelvin = of_series(2 * energy.mean(axis=1) / (degrees * KT) * TEMPERATURE)
        found.append(compare("rigid bodies", name, method, f"temperature of {part}, K", kelvin, TEMPERATURE))
        squares = of_series(((energy / KT - degrees / 2) ** 2).mean(axis=1))
        found.append(compare("rigid bodies", name, method, f"variance of {part}, kT^2", squares, degrees / 2))
    return found


def run(size: float, output: Path) -> list[Check]:
    """Both kinds by both methods, and their gas at constant pressure."""
    checks = []
    panels = Panels(2, 2)
    for kind, (_, _, degrees) in systems.BODIES.items():
        drawn = [
            panels.next(f"{part}, {kind}", "kinetic energy of a body / kT", "probability density")
            for part in ("translation", "rotation")
        ]
        for method in METHODS:
            energies = sample(kind, method, max(100, round(1500 * size)))
            checks += check(kind, method, energies, degrees - 3)
            for axes, energy in zip(drawn, energies, strict=True):
                outline(axes, energy.ravel() / KT, method, bins=np.linspace(0, 8, 41))
            volumes = volume.sample(
                method, PRESSURE, max(600, round(4000 * size)), lambda n, v, kind=kind: systems.bodies(kind, n, v)
            )
            checks += volume.check(method, PRESSURE, volumes, kind=f"rigid bodies ({kind})")
        x = np.linspace(0.01, 8, 200)
        for axes, freedom in zip(drawn, (3, degrees - 3), strict=True):
            axes.plot(x, stats.gamma(freedom / 2).pdf(x), color="black", label=f"{freedom} degrees of freedom")
            legend_below(axes)
    panels.save(output / "rigid-bodies.png")
    return checks
