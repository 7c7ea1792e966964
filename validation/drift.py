# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The total energy does not drift at constant energy: benchmarks/drift.py at several tolerances, with errors that
account for correlation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.drift import INTERVAL, sample

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.inspection.energy import EnergySeries
from validation.checks import BATCHES, Check, Estimate, compare
from validation.plots import Panels, legend_below

LENGTH = 12  # CH2 groups in the chain
TOLERANCES = (1e-6, 1e-8, 1e-10)


def slope(series: EnergySeries) -> Estimate:
    """Drift in kT/ns/dof by least squares. Its error comes from batches of the sum in the slope.

    Batches count as independent. Samples do not, since energies follow the slow motion of the molecule's shape.
    """
    drift = series.drift()
    size = len(series.time) // BATCHES
    if drift is None or size == 0:
        raise ValueError(f"{len(series.time)} samples are too few for a drift; take at least {BATCHES}")
    time = np.array(series.time)
    residual = series.total - np.polyval(np.polyfit(time, series.total, 1), time)
    terms = (time - time.mean()) * residual
    batches = terms[: size * BATCHES].reshape(BATCHES, size).sum(axis=1)
    error = np.sqrt(batches @ batches) / (terms.size * time.var())  # kJ/mol/ps
    scale = 1000 / (2 * float(np.mean(series.kinetic)))
    return Estimate(drift.kt_per_ns_dof, scale * float(error), BATCHES - 2)


def run(size: float, output: Path) -> list[Check]:
    """Shake and Rattle at three tolerances."""
    checks = []
    panels = Panels(1, 2)
    steps = max(200 * INTERVAL, round(300 * size / STEP_SIZE))
    for name in ("Shake", "Rattle"):
        axes = panels.next(f"{name}Integrator, {1000 * STEP_SIZE:g} fs", "time, ps", "energy - its mean, kJ/mol")
        for tolerance in TOLERANCES:
            series, _ = sample(Candidate(name, "MatrixInversion"), tolerance, LENGTH, steps)
            quantity = f"drift at {tolerance:g}, kT/ns/dof"
            method = f"{name}Integrator"
            system = f"polyethylene of {LENGTH} CH2, all bonds"
            checks.append(compare("energy drift", system, method, quantity, slope(series), 0.0))
            axes.plot(series.time, series.total - series.total.mean(), linewidth=0.5, label=f"tolerance {tolerance:g}")
        legend_below(axes)
    panels.save(output / "drift.png")
    return checks
