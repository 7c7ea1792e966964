# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The tests of the package physical_validation, on plain arrays.

Sources: Merz, Shirts, PLoS ONE 13, e0202764 (2018), doi 10.1371/journal.pone.0202764; Shirts, J. Chem. Theory Comput.
9, 909 (2013), doi 10.1021/ct300688p.
"""

from __future__ import annotations

import logging

import numpy as np
from scipy import stats

from openmmconstraints.inspection.energy import BOLTZMANN
from validation.dynamics import TEMPERATURE, Case

for name in ("pymbar.mbar_solvers", "pymbar.timeseries"):
    logging.getLogger(name).setLevel(logging.ERROR)  # they warn that JAX is missing, which is not needed
import physical_validation as pv  # noqa: E402
from pymbar.timeseries import statistical_inefficiency  # noqa: E402

BOOTSTRAP_SEED = 20
UNITS = pv.data.UnitData(
    kb=BOLTZMANN,
    energy_conversion=1,
    length_conversion=1,
    volume_conversion=1,
    temperature_conversion=1,
    pressure_conversion=1,
    time_conversion=1,
    energy_str="kJ/mol",
    length_str="nm",
    volume_str="nm^3",
    temperature_str="K",
    pressure_str="bar",
    time_str="ps",
)


def inefficiency(series: np.ndarray) -> float:
    """The statistical inefficiency: how many successive samples count as one independent sample.

    Source: Chodera et al., J. Chem. Theory Comput. 3, 26 (2007), doi 10.1021/ct0502864.
    """
    return float(statistical_inefficiency(series))


def thinned(series: np.ndarray, slowest: np.ndarray | None = None) -> np.ndarray:
    """Samples so far apart that hardly any correlation is left.

    :param slowest: the series whose correlation is used instead
    """
    return series[:: max(1, int(np.ceil(3 * (inefficiency(series if slowest is None else slowest) - 1))))]


def _p_value(sigmas: float, samples: int) -> float:
    """The p-value of a deviation in standard errors that were estimated from so many samples.

    Errors of a width and bootstrapped errors are uncertain by a fraction of about (5/samples)^(1/2), as an error with
    samples/10 degrees of freedom is.
    """
    return float(2 * stats.t.sf(abs(sigmas), samples / 10))


def kinetic_distribution(kinetic: np.ndarray, degrees_of_freedom: int) -> tuple[float, float, float]:
    """The p-values of a series of kinetic energies (kJ/mol): of its distribution, which should be Maxwell-Boltzmann
    (Kolmogorov-Smirnov), of its mean and of its width (bootstrapped errors)."""
    kinetic = thinned(kinetic)
    # physical_validation asks for atoms and constraints: an atom with 3 - f constraints has f degrees of freedom.
    system = pv.data.SystemData(
        natoms=1, nconstraints=3 - degrees_of_freedom, ndof_reduction_tra=0, ndof_reduction_rot=0
    )
    data = pv.data.SimulationData(
        units=UNITS,
        system=system,
        ensemble=pv.data.EnsembleData("NVT", natoms=1, volume=1, temperature=TEMPERATURE),
        observables=pv.data.ObservableData(kinetic_energy=kinetic),
    )
    p = pv.kinetic_energy.distribution(data, strict=True, verbosity=0, data_is_uncorrelated=True)
    mean, width = pv.kinetic_energy.distribution(
        data, strict=False, verbosity=0, bs_repetitions=1000, bootstrap_seed=BOOTSTRAP_SEED, data_is_uncorrelated=True
    )
    return float(p), _p_value(mean, len(kinetic)), _p_value(width, len(kinetic))


def equipartition(
    case: Case, positions: np.ndarray, velocities: np.ndarray, atoms: int, constraints: int
) -> dict[str, tuple[float, float]]:
    """The p-values of mean and width of the kinetic energy of translation and of rotation of rigid molecules.

    :param positions, velocities: [frames, numParticles, 3]
    :param atoms, constraints:    of each molecule, all alike
    """
    molecules = len(case.masses) // atoms
    kinetic = 0.5 * (case.masses[:, None] * velocities**2).sum(axis=(1, 2))
    positions, velocities = thinned(positions, kinetic), thinned(velocities, kinetic)
    system = pv.data.SystemData(
        natoms=len(case.masses),
        nconstraints=molecules * constraints,
        ndof_reduction_tra=0,
        ndof_reduction_rot=0,
        mass=case.masses,
        molecule_idx=np.arange(molecules) * atoms,
        nconstraints_per_molecule=np.full(molecules, constraints),
    )
    data = pv.data.SimulationData(
        units=UNITS,
        system=system,
        ensemble=pv.data.EnsembleData("NVT", natoms=len(case.masses), volume=1, temperature=TEMPERATURE),
        trajectory=pv.data.TrajectoryData(positions, velocities),
    )
    found = pv.kinetic_energy.equipartition(
        data, strict=False, verbosity=0, bootstrap_seed=BOOTSTRAP_SEED, data_is_uncorrelated=True
    )
    parts = ("total", "translational", "rotational and internal", "rotational")  # no internal motion
    return {
        part: (_p_value(mean, len(positions)), _p_value(width, len(positions)))
        for part, (mean, width) in zip(parts, found, strict=True)
        if part in ("translational", "rotational")
    }


def ensemble_ratio(series: list[np.ndarray], points: list[float], pressures: bool, volume: float = 1.0) -> float:
    """The p-value of the slope of the logarithm of the ratio of two distributions.

    :param series:    potential energies (kJ/mol) at two temperatures, or volumes (nm^3) at two pressures
    :param points:    the temperatures (K), or the pressures (bar) at TEMPERATURE
    """
    data = []
    series = [thinned(values) for values in series]
    for values, point in zip(series, points, strict=True):
        if pressures:
            ensemble = pv.data.EnsembleData("NPT", natoms=1, pressure=point, temperature=TEMPERATURE)
            observables = pv.data.ObservableData(volume=values)
        else:
            ensemble = pv.data.EnsembleData("NVT", natoms=1, volume=volume, temperature=point)
            observables = pv.data.ObservableData(potential_energy=values)
        data.append(pv.data.SimulationData(units=UNITS, ensemble=ensemble, observables=observables))
    sigmas = pv.ensemble.check(*data, verbosity=0, data_is_uncorrelated=True)[0]
    return _p_value(sigmas, min(map(len, series)))
