# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Free particles on a surface have a uniform density over its area."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

from validation import systems
from validation.checks import Check, compare, of_independent
from validation.dynamics import METHODS, Case, langevin, make_context, positions, sampled
from validation.plots import Panels, legend_below, outline

RELAXATION = 1.6  # ps, an upper bound of the correlation time of positions on the sphere and on the torus


def snapshots(case: Case, method: str, count: int) -> np.ndarray:
    """Positions [count, n, 3] of n independent particles, three relaxation times apart, the first after ten."""
    context = make_context(case, langevin(case, method))
    interval = round(3 * RELAXATION / case.step_size)
    label = f"{case.name}, {method}"
    return np.array([positions(context) for _ in sampled(context, label, count, interval, 7 * interval // 3)])


def check_sphere(case: Case, method: str, r: np.ndarray) -> list[Check]:
    """z is uniform (Archimedes): its distribution in the last snapshot, of independent particles, and its moments."""
    heights = r[:, :, 2] / systems.SPHERE_RADIUS
    uniform = stats.kstest(heights[-1], "uniform", args=(-1, 2)).pvalue
    quantity = "height (Kolmogorov-Smirnov, uniform)"
    squares = of_independent((heights**2).mean(axis=0))
    return [
        Check("surface", case.name, method, quantity, float(uniform)),
        compare("surface", case.name, method, "<z>/r", of_independent(heights.mean(axis=0)), 0.0),
        compare("surface", case.name, method, "<z^2>/r^2", squares, 1 / 3),
    ]


def check_torus(case: Case, method: str, r: np.ndarray) -> list[Check]:
    """The outer half has the larger area: the mean cosine of the angle about the tube is r/(2R)."""
    ring, tube = systems.TORUS_RADII
    cosines = (np.hypot(r[:, :, 0], r[:, :, 1]) - ring) / tube
    mean = of_independent(cosines.mean(axis=0))
    return [compare("surface", case.name, method, "<cos> about the tube", mean, tube / (2 * ring))]


def run(size: float, output: Path) -> list[Check]:
    """Both surfaces by both methods."""
    n = max(100, round(1000 * size))
    checks = []
    panels = Panels(1, 1)
    axes = panels.next("Free particles on a sphere", "z / r", "probability density")
    for method in METHODS:
        case = systems.on_sphere(n)
        r = snapshots(case, method, 8)
        checks += check_sphere(case, method, r)
        heights = r[:, :, 2].ravel() / systems.SPHERE_RADIUS
        outline(axes, heights, method, bins=30, range=(-1, 1))
        case = systems.on_torus(n)
        checks += check_torus(case, method, snapshots(case, method, 8))
    axes.axhline(0.5, color="black", label="uniform per area")
    axes.set_ylim(0, 0.7)
    legend_below(axes)
    panels.save(output / "sphere.png")
    return checks
