# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Averages with honest errors, and checks that know how often they fail by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

#: A check fails if what was measured would differ by chance as much as it does in fewer runs than one in a million.
SIGNIFICANCE = 1e-6
BATCHES = 30


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error."""

    mean: float
    error: float
    freedom: float  #: degrees of freedom of the error: Student's t applies

    def p_value(self, expected: float) -> float:
        """Probability that a mean of this error is by chance as far from the expected one, or farther."""
        return float(2 * stats.t.sf(abs(self.mean - expected) / self.error, self.freedom))


def of_copies(values: np.ndarray) -> Estimate:
    """The mean of independent values."""
    return Estimate(float(np.mean(values)), float(stats.sem(values)), len(values) - 1)


def of_series(values: np.ndarray, batches: int = BATCHES) -> Estimate:
    """The mean of a time series, correlated over times much shorter than its batches, which count as independent."""
    size = len(values) // batches
    if size == 0:
        raise ValueError(f"{len(values)} samples cannot be divided into {batches} batches; take more of them")
    return of_copies(np.asarray(values)[: size * batches].reshape(batches, size).mean(axis=1))


def of_weighted_series(values: np.ndarray, log_weights: np.ndarray, batches: int = BATCHES) -> Estimate:
    """The ratio <w x>/<w> of two time series: the error is that of its linearized residuals."""
    weights = np.exp(log_weights - np.max(log_weights))
    mean = float(np.average(values, weights=weights))
    residual = of_series(weights * (values - mean) / weights.mean(), batches)
    return Estimate(mean, residual.error, residual.freedom)


def p_of_sigmas(sigmas: float) -> float:
    """Of a deviation in units of a standard error that is well known."""
    return float(2 * stats.norm.sf(abs(sigmas)))


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    experiment: str
    system: str
    method: str
    quantity: str
    p: float | None = None  #: probability of as large a deviation by chance; None: measured only
    value: float | None = None
    error: float | None = None
    expected: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the deviation may be chance. A p that is not a number fails."""
        return self.p is None or self.p >= SIGNIFICANCE


def compare(
    experiment: str, system: str, method: str, quantity: str, estimate: Estimate, expected: float | None
) -> Check:
    """A mean beside what it should be."""
    p = None if expected is None else estimate.p_value(expected)
    return Check(experiment, system, method, quantity, p, estimate.mean, estimate.error, expected)
