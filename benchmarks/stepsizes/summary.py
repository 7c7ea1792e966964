# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the samples of a run amount to, with errors, and against other runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot, isnan
from typing import Any

import numpy as np

from openmmconstraints.blocking import WeightedAverage
from openmmconstraints.energy import BOLTZMANN, Drift, EnergySeries

from .models import TERMS, Configuration
from .observables import jensen_shannon


@dataclass(frozen=True)
class Value:
    """A mean with its standard error, by blocking; nan where there are too few samples."""

    mean: float
    error: float

    def __sub__(self, other: Value) -> Value:
        return Value(self.mean - other.mean, hypot(self.error, other.error))

    def text(self, digits: int) -> str:
        """1.23 ± 0.04"""
        error = "" if isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.mean:.{digits}f}{error}"


@dataclass(frozen=True)
class Summary:
    """Of one run."""

    configuration: Configuration
    time: float = 0.0  # ps, without what is left out at the start
    reached: float = 0.0  # ps, in all
    failure: str | None = None
    temperature: dict[str, Value] = field(default_factory=dict)  # K, by class of atoms
    potential: dict[str, Value] = field(default_factory=dict)  # kJ/mol, by term
    rmsd: Value | None = None  # nm
    gyration: Value | None = None  # nm
    iterations: float = 0.0  # of the solver, mean
    cost: float = 0.0  # s of processor time a step, median
    drift: Drift | None = None  # at constant energy
    dihedrals: np.ndarray | None = None  # [samples, angles] degrees


def summarize(configuration: Configuration, samples: list[dict[str, Any]], failure: str | None, skip: float) -> Summary:
    """:param skip: ps at the start that are left out"""
    reached = samples[-1]["time"] if samples else 0.0
    kept = [sample for sample in samples if sample["time"] > skip]
    if len(kept) < 3:
        return Summary(configuration, reached=reached, failure=failure)
    classes = kept[0]["kinetic"]
    temperatures = {
        name: _average([2 * s["kinetic"][name] / (s["freedom"][name] * BOLTZMANN) for s in kept]) for name in classes
    }
    return Summary(
        configuration,
        time=reached - skip,
        reached=reached,
        failure=failure,
        temperature=temperatures,
        potential={term: _average([s["potential"][n] for s in kept]) for n, term in enumerate(TERMS)},
        rmsd=_average([s["rmsd"] for s in kept]),
        gyration=_average([s["gyration"] for s in kept]),
        iterations=float(np.mean([s["iterations"] for s in kept])),
        cost=float(np.median([s["cost"] for s in kept])),
        drift=_drift(kept) if configuration.integrator == "Rattle" else None,
        dihedrals=np.array([s["dihedrals"] for s in kept]),
    )


def divergence(first: Summary, second: Summary) -> float | None:
    """Jensen-Shannon divergence (bits) of phi and psi, from as many samples of either run."""
    if first.dihedrals is None or second.dihedrals is None:
        return None
    count = min(len(first.dihedrals), len(second.dihedrals))
    return jensen_shannon(first.dihedrals[:count], second.dihedrals[:count])


def _average(values: list[float]) -> Value:
    average = WeightedAverage(1)
    for value in values:
        average.add(0.0, np.array([value]))
    estimate = average.estimate()
    return Value(estimate.mean, estimate.error)


def _drift(samples: list[dict[str, Any]]) -> Drift | None:
    series = EnergySeries()
    for sample in samples:
        series.add(sample["time"], sum(sample["potential"]), sum(sample["kinetic"].values()))
    return series.drift()
