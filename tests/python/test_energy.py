# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The drift that the reports show."""

import numpy as np
import pytest

from openmmconstraints.inspection.energy import BOLTZMANN, EnergySeries


def test_drift_of_a_line_is_its_slope_in_kt_per_ns_and_degree_of_freedom():
    freedom, temperature = 100, 300.0
    series = EnergySeries()
    for time in np.linspace(0, 2, 21):
        series.add(time, -1000.0 + 0.5 * time, 0.5 * freedom * BOLTZMANN * temperature)
    drift = series.drift()
    assert drift.kt_per_ns_dof == pytest.approx(0.5 * 1000 / (BOLTZMANN * temperature) / freedom)
    assert drift.error == pytest.approx(0, abs=1e-9)
    assert drift.percent_of_kinetic == pytest.approx(100 * 0.5 * 2 / series.kinetic[0])
    assert series.mean_temperature(freedom) == pytest.approx(temperature)


def test_a_jump_between_stretches_is_not_a_drift():
    series = EnergySeries()
    for time in range(10):
        if time == 5:
            series.start_stretch()
        series.add(time, 0.0 if time < 5 else 1000.0, 10.0)
    assert series.drift().kt_per_ns_dof == pytest.approx(0, abs=1e-9)


def test_too_few_samples_give_no_drift():
    series = EnergySeries()
    assert series.drift() is None
    assert series.mean_temperature(3) is None
    series.add(0.0, 1.0, 1.0)
    series.start_stretch()
    series.add(1.0, 1.0, 1.0)
    assert series.drift() is None
    series.add(2.0, 1.5, 1.0)
    assert series.drift() is None  # two samples after the jump: any line goes through them
    series.add(3.0, 1.9, 1.0)
    assert series.drift().error > 0


def test_the_energy_of_a_heat_bath_belongs_to_the_conserved_one():
    series = EnergySeries()
    for time in range(10):
        series.add(time, -50.0 + 3 * time, 10.0, -3 * time)
    assert series.drift().kt_per_ns_dof == pytest.approx(0, abs=1e-9)
