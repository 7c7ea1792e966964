# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Weighted averages of correlated samples with a standard error, in memory that grows with their number's logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite, isnan, nan, sqrt

import numpy as np

from openmmconstraints.inspection.energy import with_error


@dataclass(frozen=True)
class MeanForce:
    """The derivative of a free energy, averaged over a constrained run; str() says of what, and its unit."""

    mean: float  #: dA/dxi, kJ/mol per unit of the coordinate (nm, rad)
    error: float  #: its standard error, same unit; nan while the run is too short for an estimate
    samples: int  #: how many there are
    inefficiency: float  #: how many samples are worth an independent one (1: uncorrelated, less: alternating)
    coordinate: str = ""  #: what is held: "dihedral 6-8-14-16 (ALA2 N-CA-C, ALA3 N)"; "": not known
    unit: str = ""  #: of mean and error: "kJ/mol/nm" or "kJ/mol/rad"; "": not known

    def __str__(self) -> str:
        value = " ".join(filter(None, (with_error(self.mean, self.error), self.unit)))
        return f"dA/dxi of {self.coordinate}: {value}" if self.coordinate else value


#: From five blocks on, an error is itself known to about a half,
FEWEST_BLOCKS = 5
#: and from sixteen on to about a fifth.
MANY_BLOCKS = 16


class _Level:
    """Sums over blocks of 2^level samples each."""

    def __init__(self, size: int) -> None:
        self.blocks = 0
        self.sums = np.zeros(size)
        self.products = np.zeros((size, size))
        self.pending: np.ndarray | None = None  # the first half of a block of the next level

    def add(self, block: np.ndarray) -> np.ndarray | None:
        """The block of the next level, once it is complete."""
        self.blocks += 1
        self.sums += block
        self.products += np.outer(block, block)
        if self.pending is None:
            self.pending = block
            return None
        block, self.pending = self.pending + block, None
        return block

    def scale(self, factor: float) -> None:
        self.sums *= factor
        self.products *= factor * factor
        if self.pending is not None:
            self.pending = self.pending * factor


class WeightedAverage:
    """Running <w x>/<w> of several quantities x, with errors by blocking.

    The error of a ratio of averages is that of its linearized residuals w (x - mean): they are summed over blocks of
    2, 4, 8, ... samples until blocks are as good as independent. Sums of squares and products
    for each size are enough for that, whatever the mean turns out to be. The size taken is the smallest B with
    B^3 > 2 N (error at B / error at 1)^4, if it leaves five blocks. Where samples of a vibration alternate, that rule
    stops before it sees slower motion; so a larger error of larger blocks, if there are sixteen, takes its place.
    Sources: Flyvbjerg, Petersen, J. Chem. Phys. 91, 461 (1989), doi 10.1063/1.457480; the size: Wolff, Comput. Phys.
    Commun. 156, 143 (2004), doi 10.1016/S0010-4655(03)00467-3, in the form of Lee et al., Phys. Rev. E 83, 066706
    (2011), doi 10.1103/PhysRevE.83.066706.
    """

    def __init__(self, size: int) -> None:
        self._levels: list[_Level] = []
        self._size = size + 1
        self._largest = -inf  # ln of the largest weight so far, by which all are divided: nothing overflows
        self._shift = np.zeros(size)  # the first sample: sums of deviations lose no digits to a large mean

    @property
    def samples(self) -> int:
        """How many were added."""
        return self._levels[0].blocks if self._levels else 0

    def add(self, log_weight: float, x: np.ndarray) -> None:
        """One sample.

        :param log_weight: ln w
        :param x:          [size]
        :raises ValueError: if anything is infinite or not a number: it would spoil all that was averaged before
        """
        if not (isfinite(log_weight) and np.all(np.isfinite(x))):
            raise ValueError(f"a sample is not finite: ln w = {log_weight}, x = {x}")
        if not self._levels:
            self._shift = np.array(x, dtype=float)
            self._largest = log_weight
        elif log_weight > self._largest:
            for level in self._levels:
                level.scale(exp(self._largest - log_weight))
            self._largest = log_weight
        block: np.ndarray | None = exp(log_weight - self._largest) * np.concatenate(([1.0], x - self._shift))
        depth = 0
        while block is not None:
            if depth == len(self._levels):
                self._levels.append(_Level(self._size))
            block = self._levels[depth].add(block)
            depth += 1

    def estimate(self, index: int = 0) -> MeanForce:
        """The average so far of one of the quantities; nan without samples."""
        if not self._levels:
            return MeanForce(nan, nan, 0, nan)
        total = self._levels[0].sums
        deviation = total[1 + index] / total[0]
        residual = np.zeros(self._size)
        residual[0], residual[1 + index] = -deviation, 1.0
        mean = float(self._shift[index] + deviation)
        naive = _error(self._levels[0], residual)
        if naive == 0.0:  # all samples are the same
            return MeanForce(mean, 0.0, self.samples, 1.0)
        errors = [_error(level, residual) for level in self._levels]
        error = nan
        for exponent, level in enumerate(self._levels):
            if not isnan(error) and level.blocks >= MANY_BLOCKS:
                error = max(error, errors[exponent])
            large = 8.0**exponent * naive**4 > 2 * self.samples * errors[exponent] ** 4
            if isnan(error) and large and level.blocks >= FEWEST_BLOCKS:
                error = errors[exponent]
        return MeanForce(mean, error, self.samples, (error / naive) ** 2)


def _error(level: _Level, residual: np.ndarray) -> float:
    """Standard error of the ratio if the blocks were independent; nan for a single one."""
    n = level.blocks
    if n < 2:
        return nan
    squares = residual @ level.products @ residual - (residual @ level.sums) ** 2 / n
    return sqrt(max(0.0, squares) * n / (n - 1)) / float(level.sums[0])
