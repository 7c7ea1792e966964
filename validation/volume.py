# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""At constant pressure the volume has its exact distribution, where only this plugin's constraints join the molecules.

Rigid dimers without any interaction are an ideal gas of N molecules. MonteCarloBarostat proposes volumes uniformly and
accepts with V^N exp(-PV/kT), so V has a Gamma distribution of shape N + 1 and scale kT/P: mean (N + 1) kT/P. If the
barostat scaled the atoms of a dimer as two molecules, the shape would be 2N + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openmm as mm
from scipy import stats

from validation import physical, systems
from validation.checks import Check, compare, of_series
from validation.dynamics import KT, METHODS, TEMPERATURE, Case, langevin, make_context, sampled, seed_of
from validation.plots import Panels, legend_below, outline

MOLECULES = 20
PRESSURES = (100.0, 130.0)  # bar
BAR = 0.0602214076  # kJ/mol/nm^3
MOVES = 20  # of the barostat, between samples


def scale(pressure: float) -> float:
    """kT/P in nm^3. @param pressure  bar"""
    return KT / (pressure * BAR)


def sample(
    method: str, pressure: float, count: int, make: Callable[[int, float], Case] = systems.dimer_gas
) -> np.ndarray:
    """Volumes [count], nm^3. @param make  molecules without interaction, by their number and volume"""
    case = make(MOLECULES, MOLECULES * scale(pressure))
    barostat = mm.MonteCarloBarostat(pressure, TEMPERATURE, 1)
    barostat.setRandomNumberSeed(seed_of(method, pressure))  # a rare sequence proposes a negative volume
    case.system.addForce(barostat)
    integrator = langevin(case, method)
    integrator.setRandomNumberSeed(seed_of(method, pressure))
    context = make_context(case, integrator)
    label = f"{case.name}, {method}, {pressure:g} bar"
    return np.array(
        [context.getState().getPeriodicBoxVolume()._value for _ in sampled(context, label, count, MOVES, 100 * MOVES)]
    )


def check(
    method: str, pressure: float, volumes: np.ndarray, molecules: int = MOLECULES, kind: str = "rigid dimers"
) -> list[Check]:
    """Distribution, mean and variance."""
    expected = stats.gamma(molecules + 1, scale=scale(pressure))
    system = f"{MOLECULES} {kind}, ideal, {pressure:g} bar"
    p = float(stats.kstest(physical.thinned(volumes), expected.cdf).pvalue)
    squares = of_series((volumes - expected.mean()) ** 2)
    return [
        Check("volume", system, method, "distribution (Kolmogorov-Smirnov)", p),
        compare("volume", system, method, "mean, nm^3", of_series(volumes), float(expected.mean())),
        compare("volume", system, method, "variance, nm^6", squares, float(expected.var())),
    ]


def run(size: float, output: Path) -> list[Check]:
    """Two pressures by both methods, each on its own and against each other."""
    checks = []
    panels = Panels(1, 1)
    axes = panels.next(f"{MOLECULES} rigid dimers without interaction", "volume, nm^3", "probability density")
    for method in METHODS:
        series = [sample(method, pressure, max(600, round(10000 * size))) for pressure in PRESSURES]
        for pressure, volumes in zip(PRESSURES, series, strict=True):
            checks += check(method, pressure, volumes)
            outline(axes, volumes, f"{method}, {pressure:g} bar", bins=40)
        p = physical.ensemble_ratio(series, list(PRESSURES), pressures=True)
        checks.append(Check("volume", f"{MOLECULES} rigid dimers, ideal", method, "ratio at two pressures", p))
    for pressure in PRESSURES:
        expected = stats.gamma(MOLECULES + 1, scale=scale(pressure))
        x = np.linspace(*expected.ppf([1e-4, 1 - 1e-4]), 200)
        axes.plot(x, expected.pdf(x), color="black", linewidth=1, label="exact" if pressure == PRESSURES[0] else None)
    legend_below(axes)
    panels.save(output / "volume.png")
    return checks
