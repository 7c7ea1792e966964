# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which ensemble rigid constraints sample: the angle of a trimer with two rigid bonds, against closed forms.

No force acts but that of the bonds. With very stiff springs in their place, the angle's density would be sin(theta).
Rigid bonds sample sin(theta) |Z|^(1/2), Z = J M^-1 J^T of the bonds: |Z| = (1/m1 + 1/m2)(1/m2 + 1/m3) -
(cos(theta)/m2)^2. The weight |Z|^(-1/2), of computeBlueMoon(), removes the difference.
Sources: Fixman, Proc. Natl. Acad. Sci. 71, 3050 (1974), doi 10.1073/pnas.71.8.3050; Frenkel, Smit, Understanding
Molecular Simulation, 2nd ed. (2002), section 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from validation import physical, systems
from validation.checks import Check, compare, of_series, of_weighted_series
from validation.dynamics import METHODS, langevin, make_context, positions, sampled
from validation.plots import Panels, legend_below, outline

SYSTEM = "trimer of two rigid bonds"


def _determinant() -> tuple[float, float]:
    """Z0 and k in |Z| = Z0 (1 - k^2 cos^2): Z0 is |Z| at a right angle."""
    m1, m2, m3 = systems.TRIMER_MASSES
    right = (1 / m1 + 1 / m2) * (1 / m2 + 1 / m3)
    return right, 1 / m2 / float(np.sqrt(right))


def log_determinant(cosine: np.ndarray) -> np.ndarray:
    """ln |Z|"""
    right, k = _determinant()
    return np.log(right * (1 - (k * cosine) ** 2))


def cumulative(cosine: np.ndarray) -> np.ndarray:
    """Probability that rigid bonds have a smaller cosine: the integral of sqrt(1 - k^2 c^2), normalized."""
    _, k = _determinant()

    def integral(c):
        return c * np.sqrt(1 - (k * c) ** 2) + np.arcsin(k * c) / k

    return 0.5 * (1 + integral(cosine) / integral(1.0))


def density(cosine: np.ndarray) -> np.ndarray:
    """Probability density of the cosine of rigid bonds: the derivative of cumulative()."""
    _, k = _determinant()
    return np.sqrt(1 - (k * cosine) ** 2) / (np.sqrt(1 - k**2) + np.arcsin(k) / k)


def mean_square() -> float:
    """<cos^2> of rigid bonds; that of stiff springs is 1/3."""
    node, weight = np.polynomial.legendre.leggauss(100)
    return float((weight * node**2 * density(node)).sum())


@dataclass(frozen=True)
class Angles:
    """Samples of one run."""

    cosine: np.ndarray
    log_z: np.ndarray


def sample(method: str, count: int, step_size: float = 0.002) -> Angles:
    """Samples 0.04 ps apart."""
    case = systems.trimer()
    integrator = langevin(case, method, step_size=step_size)
    context = make_context(case, integrator)
    cosines, log_z = [], []
    interval = round(0.04 / step_size)
    for _ in sampled(context, f"{SYSTEM}, {method}", count, interval, 50 * interval):
        r = positions(context)
        bonds = r[[0, 2]] - r[1]
        cosines.append(bonds[0] @ bonds[1] / np.prod(systems.TRIMER_BONDS))
        log_z.append(integrator.computeBlueMoon([0, 1])[2])
    return Angles(np.array(cosines), np.array(log_z))


def check(method: str, found: Angles) -> list[Check]:
    """The angle and its mean square cosine, with and without the weight |Z|^(-1/2)."""
    difference = np.abs(found.log_z - log_determinant(found.cosine)).max()
    independent = physical.thinned(found.cosine, found.cosine**2)
    distribution = float(stats.kstest(independent, cumulative).pvalue)
    weighted = of_weighted_series(found.cosine**2, -0.5 * found.log_z)

    def line(quantity, estimate, expected):
        return compare("configurations", SYSTEM, method, quantity, estimate, expected)

    return [
        Check("configurations", SYSTEM, method, "ln |Z|, largest error", float(difference < 1e-6), difference, None, 0),
        Check("configurations", SYSTEM, method, "angle: sin |Z|^(1/2) (Kolmogorov-Smirnov)", distribution),
        line("<cos^2>, rigid", of_series(found.cosine**2), mean_square()),
        line("<cos^2>, times |Z|^(-1/2)", weighted, 1 / 3),
    ]


def run(size: float, output: Path) -> list[Check]:
    """Both methods."""
    checks = []
    panels = Panels(1, 2)
    rigid = panels.next("Rigid bonds", "cos(angle)", "probability density")
    stiff = panels.next("Each sample times |Z|^(-1/2)", "cos(angle)", "probability density")
    for method in METHODS:
        found = sample(method, max(3000, round(60000 * size)))
        checks += check(method, found)
        outline(rigid, found.cosine, method, bins=30, range=(-1, 1))
        outline(stiff, found.cosine, method, bins=30, range=(-1, 1), weights=np.exp(-0.5 * found.log_z))
    x = np.linspace(-1, 1, 200)
    rigid.plot(x, density(x), color="black", label="|Z|^(1/2), exact")
    stiff.axhline(0.5, color="black", label="stiff springs, exact")
    for axes in (rigid, stiff):
        axes.set_ylim(0, 0.75)
        legend_below(axes, 3)
    panels.save(output / "trimer.png")
    return checks
