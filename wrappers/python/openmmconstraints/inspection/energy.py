# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Energies sampled along a trajectory, and their drift."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, log10

import numpy as np

BOLTZMANN = 0.00831446261815324  # kJ/mol/K


def with_error(value: float, error: float, sign: str = "") -> str:
    """A value with as many digits as its error leaves, and two of the error; very small and large ones with exponents.

    :param sign: "+" to write that, too
    """
    if not 1e-3 <= error < 1e4 or abs(value) >= 1e4:
        return f"{value:{sign}.4g} ± {error:.2g}"
    digits = max(0, 1 - floor(log10(error)))
    return f"{value:{sign}.{digits}f} ± {error:.{digits}f}"


@dataclass(frozen=True)
class Drift:
    """Slope of the total energy, by least squares."""

    kt_per_ns_dof: float  # kT/ns per degree of freedom, T from the mean kinetic energy
    error: float  # standard error of the fit, same unit, samples taken as independent
    percent_of_kinetic: float  # change over the sampled time, in % of the mean kinetic energy

    def __str__(self) -> str:
        return with_error(self.kt_per_ns_dof, self.error, "+")


@dataclass
class EnergySeries:
    """Samples in stretches. Between two stretches the state was changed, so energies may jump there."""

    stretch: list[int] = field(default_factory=list)
    time: list[float] = field(default_factory=list)  # ps
    potential: list[float] = field(default_factory=list)  # kJ/mol
    kinetic: list[float] = field(default_factory=list)  # kJ/mol
    bath: list[float] = field(default_factory=list)  # of a heat bath, kJ/mol
    current: int = 0

    def start_stretch(self) -> None:
        """Begin a new stretch: the next sample does not continue the trajectory of the last one."""
        self.current += 1

    def add(self, time: float, potential: float, kinetic: float, bath: float = 0.0) -> None:
        """Add a sample: time (ps), energies (kJ/mol), the last of a heat bath, with which the sum is conserved."""
        self.stretch.append(self.current)
        self.time.append(time)
        self.potential.append(potential)
        self.kinetic.append(kinetic)
        self.bath.append(bath)

    @property
    def total(self) -> np.ndarray:
        """Total energies (kJ/mol), with that of a heat bath."""
        return np.add(np.add(self.potential, self.kinetic), self.bath)

    def mean_temperature(self, degrees_of_freedom: int) -> float | None:
        """Mean temperature (K) of the samples."""
        if not self.kinetic or degrees_of_freedom <= 0:
            return None
        return 2 * float(np.mean(self.kinetic)) / (degrees_of_freedom * BOLTZMANN)

    def drift(self) -> Drift | None:
        """One slope for all stretches, each with its own offset; None where there are too few samples for an error.

        A line goes through any two samples.
        kT per degree of freedom is twice the mean kinetic energy per degree of freedom, so that their number cancels.
        """
        if not self.time:
            return None
        stretch = np.array(self.stretch)
        time, total = np.array(self.time, dtype=float), self.total
        sampled = 0.0
        for index in np.unique(stretch):
            here = stretch == index
            sampled += float(np.ptp(time[here]))
            time[here] -= time[here].mean()
            total[here] -= total[here].mean()
        freedom = len(time) - len(np.unique(stretch)) - 1
        spread = float(time @ time)
        kinetic = float(np.mean(self.kinetic))
        if spread == 0.0 or kinetic == 0.0 or freedom < 1:
            return None
        slope = float(time @ total) / spread  # kJ/mol/ps
        residual = total - slope * time
        per_ns_and_kt = 1000 / (2 * kinetic)
        error = per_ns_and_kt * float(np.sqrt(residual @ residual / freedom / spread))
        return Drift(slope * per_ns_and_kt, error, 100 * slope * sampled / kinetic)
