# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Averages over the samples of a run, with errors, and their comparison with other runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot, isnan, nan
from typing import Any

import numpy as np

from openmmconstraints.inspection.energy import BOLTZMANN, Drift, EnergySeries

from .models import FRICTION, TERMS, Configuration
from .observables import jensen_shannon

BLOCKS = 8


@dataclass(frozen=True)
class Value:
    """A mean with its standard error, by blocks; nan where there are too few samples."""

    mean: float
    error: float

    def __sub__(self, other: Value) -> Value:
        return Value(self.mean - other.mean, hypot(self.error, other.error))

    def text(self, digits: int) -> str:
        """For example: 1.23 ± 0.04"""
        error = "" if isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.mean:.{digits}f}{error}"


@dataclass(frozen=True)
class Summary:
    """Averages over one run."""

    configuration: Configuration
    time: float = 0.0  # ps, without what is left out at the start
    reached: float = 0.0  # ps, in all
    failure: str | None = None
    temperature: dict[str, Value] = field(default_factory=dict)  # K, of all atoms and by class of atoms
    contrast: Value | None = None  # K, temperature of the protein's hydrogens minus that of its heavy atoms
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
    time = reached - skip
    kinetic = {name: _temperatures(kept, [name]) for name in kept[0]["kinetic"]}
    everything = _temperatures(kept, list(kinetic))
    return Summary(
        configuration,
        time=time,
        reached=reached,
        failure=failure,
        temperature={name: _average(values, time) for name, values in {"all": everything, **kinetic}.items()},
        contrast=_average(kinetic["hydrogen"] - kinetic["heavy"]),
        potential={term: _average(np.array([s["potential"][n] for s in kept]), time) for n, term in enumerate(TERMS)},
        rmsd=_average(np.array([s["rmsd"] for s in kept])),
        gyration=_average(np.array([s["gyration"] for s in kept])),
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


def _temperatures(samples: list[dict[str, Any]], classes: list[str]) -> np.ndarray:
    """Of the atoms of these classes together, sample by sample (K)."""
    sums = [[sum(sample[key][name] for name in classes) for key in ("kinetic", "freedom")] for sample in samples]
    kinetic, freedom = np.array(sums).T
    return 2 * kinetic / (freedom * BOLTZMANN)


def _average(values: np.ndarray, time: float | None = None) -> Value:
    """A mean, with an error from the scatter of blocks.

    :param time: ps, the length of a run whose energy fluctuates with a correlation time of 1/friction, by exchange with
                 the heat bath: too slowly for the blocks of a short run. These fluctuations are at most half of the
                 variance (half for the kinetic energy of harmonic vibrations, less for parts of it). Their contribution
                 is added to the squared error.
    """
    mean = float(values.mean())
    if len(values) < 2 * BLOCKS:
        return Value(mean, nan)
    scatter = np.var([block.mean() for block in np.array_split(values, BLOCKS)], ddof=1) / BLOCKS
    slow = 0.0 if time is None else np.var(values, ddof=1) / 2 * 2 / (FRICTION * time)
    return Value(mean, float(np.sqrt(scatter + slow)))


def _drift(samples: list[dict[str, Any]]) -> Drift | None:
    series = EnergySeries()
    for sample in samples:
        series.add(sample["time"], sum(sample["potential"]), sum(sample["kinetic"].values()))
    return series.drift()
