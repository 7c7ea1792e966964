# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Averages with errors that account for correlation, and checks that fail by chance with a known probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

#: A check fails if the probability of a deviation as large as the measured one, by chance, is below this.
SIGNIFICANCE = 1e-6
BATCHES = 30


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error."""

    mean: float
    error: float
    degrees_of_freedom: float  #: of the error, for Student's t distribution

    def p_value(self, expected: float) -> float:
        """Probability that the mean is by chance as far from the expected value as it is, or farther."""
        return float(2 * stats.t.sf(abs(self.mean - expected) / self.error, self.degrees_of_freedom))


def of_independent(values: np.ndarray) -> Estimate:
    """The mean of independent values."""
    return Estimate(float(np.mean(values)), float(stats.sem(values)), len(values) - 1)


def of_series(values: np.ndarray, batches: int = BATCHES) -> Estimate:
    """The mean of a time series whose correlation time is much shorter than a batch: batches count as independent."""
    size = len(values) // batches
    if size == 0:
        raise ValueError(f"{len(values)} samples cannot be divided into {batches} batches; take more of them")
    return of_independent(np.asarray(values)[: size * batches].reshape(batches, size).mean(axis=1))


def of_weighted_series(values: np.ndarray, log_weights: np.ndarray, batches: int = BATCHES) -> Estimate:
    """The ratio <w x>/<w> of two time series: the error is that of its linearized residuals."""
    weights = np.exp(log_weights - np.max(log_weights))
    mean = float(np.average(values, weights=weights))
    residual = of_series(weights * (values - mean) / weights.mean(), batches)
    return Estimate(mean, residual.error, residual.degrees_of_freedom)


def p_of_sigmas(sigmas: float) -> float:
    """The p-value of a deviation in units of its standard error, which counts as exact."""
    return float(2 * stats.norm.sf(abs(sigmas)))


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    experiment: str
    system: str
    method: str
    quantity: str
    p: float | None = None  #: probability of as large a deviation by chance; None: measured, not compared
    value: float | None = None
    error: float | None = None
    expected: float | None = None

    @property
    def passed(self) -> bool:
        """Whether chance explains the deviation. A p of NaN fails."""
        return self.p is None or self.p >= SIGNIFICANCE


def compare(
    experiment: str, system: str, method: str, quantity: str, estimate: Estimate, expected: float | None
) -> Check:
    """The check of a mean against its expected value; without one, the mean is measured and not compared."""
    p = None if expected is None else estimate.p_value(expected)
    return Check(experiment, system, method, quantity, p, estimate.mean, estimate.error, expected)
