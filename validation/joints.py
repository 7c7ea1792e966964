# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rigid bodies on hinges: degrees of freedom, the distribution of the hinge's angle, and constant pressure.

No force acts. Let T = q'M(phi)q'/2 be the kinetic energy of a molecule of two bodies, in terms of its velocity, its
angular velocity and the rate of the angle phi of its hinge. Integrating out the momenta leaves the density
|M(phi)|^(1/2) of phi, since M does not depend on place and orientation. Stiff springs in place of the bodies would
sample phi uniformly.
Source: Frenkel, Smit, Understanding Molecular Simulation, 2nd ed. (2002), section 11.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import integrate, stats

from validation import kinetic, physical, systems, volume
from validation.checks import Check, compare, of_series
from validation.dynamics import METHODS, langevin, make_context, positions, sampled
from validation.plots import Panels, legend_below, outline

NUMBER = 20
PRESSURE = 100.0  # bar
GRID = np.linspace(-np.pi, np.pi, 721)


def angle(r: np.ndarray) -> np.ndarray:
    """The angle [...] about the hinge from particle 2 to particle 4. @param r  of molecules, [..., 6, 3]"""
    axis = r[..., 1, :] - r[..., 0, :]
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    first, second = r[..., 2, :] - r[..., 0, :], r[..., 4, :] - r[..., 0, :]
    across = np.cross(axis, first)
    along = first - (first * axis).sum(axis=-1, keepdims=True) * axis
    return np.arctan2((second * across).sum(axis=-1), (second * along).sum(axis=-1))


def _determinant(phi: float) -> float:
    """|M(phi)| of the molecule with its hinge at this angle."""
    r, m = np.array(systems.HINGED_SHAPE), np.array(systems.HINGED_MASSES)
    turned = [i for i in systems.HINGED_BODIES[1] if i not in systems.HINGED_BODIES[0]]
    by = phi - angle(r)
    cosine, sine = np.cos(by), np.sin(by)
    r[turned] = r[turned] @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    motions = [np.tile(e, (len(r), 1)) for e in np.eye(3)] + [np.cross(e, r) for e in np.eye(3)]
    motions.append(np.zeros_like(r))
    motions[-1][turned] = np.cross([0, 0, 1], r[turned])
    rows = np.array([(np.sqrt(m)[:, None] * motion).ravel() for motion in motions])
    return float(np.linalg.det(rows @ rows.T))


def density() -> np.ndarray:
    """Probability density of the angle on GRID."""
    weight = np.sqrt([_determinant(phi) for phi in GRID])
    return weight / integrate.trapezoid(weight, GRID)


def cumulative(phi: np.ndarray) -> np.ndarray:
    """Probability of a smaller angle."""
    return np.interp(phi, GRID, integrate.cumulative_trapezoid(density(), GRID, initial=0))


def sample(method: str, count: int) -> np.ndarray:
    """Angles [count, NUMBER], 0.4 ps apart."""
    case = systems.hinged(NUMBER)
    context = make_context(case, langevin(case, method))
    interval = round(0.4 / case.step_size)
    frames = sampled(context, f"{case.name}, {method}", count, interval, 20 * interval)
    return np.array([angle(positions(context).reshape(NUMBER, -1, 3)) for _ in frames])


def check(method: str, angles: np.ndarray) -> list[Check]:
    """The distribution, and the mean cosine, which is 0 of a uniform angle."""
    name = systems.hinged(1).name
    cosine = np.cos(angles).mean(axis=1)
    independent = physical.thinned(angles, cosine).ravel()
    p = float(stats.kstest(independent, cumulative).pvalue)
    expected = float(integrate.trapezoid(np.cos(GRID) * density(), GRID))
    return [
        Check("joints", name, method, "angle: |M|^(1/2) (Kolmogorov-Smirnov)", p),
        compare("joints", name, method, "<cos(angle)>", of_series(cosine), expected),
    ]


def run(size: float, output: Path) -> list[Check]:
    """Hinged molecules and rings of hinges, by both methods."""
    checks = []
    panels = Panels(1, 2)
    for case in (systems.hinged(NUMBER), systems.ring_of_hinges(NUMBER)):
        checks += kinetic.draw(panels, f"{NUMBER} {case.name}", case, max(100, round(800 * size)))
    panels.save(output / "joints.png")
    panels = Panels(1, 1)
    axes = panels.next("Two bodies on a hinge", "angle about the hinge (degrees)", "probability density (1/degree)")
    for method in METHODS:
        angles = sample(method, max(300, round(1000 * size)))
        checks += check(method, angles)
        outline(axes, np.degrees(angles.ravel()), method, bins=36, range=(-180, 180))
        volumes = volume.sample(method, PRESSURE, max(600, round(2000 * size)), systems.hinged)
        checks += volume.check(method, PRESSURE, volumes, kind="molecules of two bodies on a hinge")
    axes.plot(np.degrees(GRID), np.radians(density()), color="black", label="|M|^(1/2), exact")
    axes.axhline(1 / 360, color="black", linestyle=":", label="stiff springs, exact")
    axes.set_ylim(0, 1.6 / 360)
    axes.set_xticks(range(-180, 181, 90))
    legend_below(axes)
    panels.save(output / "hinge.png")
    return checks
