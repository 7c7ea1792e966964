# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Kinetic energies have the Maxwell-Boltzmann distribution of the number of degrees of freedom.

The plugin counts degrees of freedom by the rank of the constraints; the number is checked too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from validation import physical, systems
from validation.checks import Check, compare, of_series
from validation.dynamics import KT, METHODS, TEMPERATURE, Case, energies, langevin, make_context, sampled
from validation.plots import Panels, legend_below, outline

CASES: tuple[Callable[[], Case], ...] = (
    systems.water,
    systems.liquid_carbon_dioxide,
    systems.peptide,
    lambda: systems.on_sphere(100, field=2),
)


def sample(case: Case, method: str, count: int) -> np.ndarray:
    """Kinetic energies [count], kJ/mol, two relaxation times apart."""
    context = make_context(case, langevin(case, method))
    relaxation = max(1, round(0.5 / case.friction / case.step_size))
    label = f"{case.name}, {method}"
    return np.array([energies(context)[1] for _ in sampled(context, label, count, 2 * relaxation, 20 * relaxation)])


def check(case: Case, method: str, kinetic: np.ndarray, degrees_of_freedom: int) -> list[Check]:
    """The distribution as a whole, its mean and its width."""
    p, mean, width = physical.kinetic_distribution(kinetic, degrees_of_freedom)
    temperature = of_series(2 * kinetic / (degrees_of_freedom * KT) * TEMPERATURE)

    def line(quantity, p):
        return Check("kinetic energy", case.name, method, quantity, p)

    return [
        line("distribution (Kolmogorov-Smirnov)", p),
        line("mean (bootstrap)", mean),
        line("width (bootstrap)", width),
        compare("kinetic energy", case.name, method, "temperature, K", temperature, TEMPERATURE),
    ]


def check_freedom(case: Case, method: str) -> Check:
    """The number of degrees of freedom that the plugin counts."""
    context = make_context(case, langevin(case, method))
    counted = context.getIntegrator().getNumDegreesOfFreedom()
    right = float(counted == case.degrees_of_freedom)
    return Check(
        "kinetic energy", case.name, method, "degrees of freedom", right, counted, None, case.degrees_of_freedom
    )


def draw(panels: Panels, title: str, case: Case, count: int) -> list[Check]:
    """A panel of a case: so many kinetic energies by all methods, and what they are compared with."""
    checks = []
    axes = panels.next(title, "kinetic energy / kT", "probability density")
    for method in METHODS:
        checks.append(check_freedom(case, method))
        kinetic = sample(case, method, count)
        checks += check(case, method, kinetic, case.degrees_of_freedom)
        outline(axes, kinetic / KT, method, bins=20)
    expected = stats.gamma(case.degrees_of_freedom / 2)
    x = np.linspace(*expected.ppf([1e-4, 1 - 1e-4]), 200)
    axes.plot(x, expected.pdf(x), color="black", label=f"Maxwell, {case.degrees_of_freedom} degrees of freedom")
    axes.set_ylim(top=1.6 * float(expected.pdf(x).max()))
    legend_below(axes)
    return checks


def run(size: float, output: Path) -> list[Check]:
    """All systems by all methods."""
    checks = []
    panels = Panels(2, 2)
    for make in CASES:
        case = make()
        checks += draw(panels, case.name, case, max(100, round(1200 * size)))
    panels.save(output / "kinetic-energy.png")
    return checks
