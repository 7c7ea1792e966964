# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The checks of scripts/validate.sh with few samples: fixed seeds on the Reference platform, where runs repeat.

With another seed a check would fail in fewer than one of a million runs (SIGNIFICANCE). The same samples have to fail
against a wrong expected value.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import plot_checks
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation import (
    __main__,
    bodies,
    drift,
    equipartition,
    every_integrator,
    joints,
    kinetic,
    rounding,
    surface,
    systems,
    temperature,
    time_step,
    trimer,
    volume,
)
from validation.checks import SIGNIFICANCE, Check, of_series, of_weighted_series
from validation.dynamics import METHODS, langevin, make_context
from validation.plots import Panels, legend_below, outline


def test_histograms_differ_on_a_grey_printer_and_legends_cover_nothing():
    panels = Panels(1, 2)
    for _ in range(2):
        axes = panels.next("kinetic energies", "kinetic energy / kT", "probability density")
        for method in METHODS:
            outline(axes, np.arange(10) ** 0.5, method, bins=5)
        axes.plot([0, 3], [0, 1], color="black", label="Maxwell, 140 degrees of freedom")
        legend_below(axes, 3)
        assert len({str(patch.get_linestyle()) for patch in axes.patches}) == len(METHODS)
    figure = axes.figure
    assert plot_checks.problems_of(figure) == []
    for axes in figure.axes:
        box = axes.get_legend().get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1


both_methods = pytest.mark.parametrize("method", METHODS)


def failures(checks):
    return [check for check in checks if not check.passed]


@pytest.mark.statistics
@both_methods
@pytest.mark.parametrize(
    "make", [systems.trimer, systems.carbon_dioxide_molecule, systems.peptide, lambda: systems.on_sphere(3)]
)
def test_kinetic_energy_has_the_distribution_of_its_degrees_of_freedom(make, method):
    case = make()
    context = make_context(case, langevin(case, method))
    counted = context.getIntegrator().getNumDegreesOfFreedom()
    assert counted == case.degrees_of_freedom
    energies = kinetic.sample(case, method, 1000)
    assert not failures(kinetic.check(case, method, energies, counted))
    # one in three too many or too few
    for wrong in (counted + counted // 3, counted - counted // 3):
        assert failures(kinetic.check(case, method, energies, wrong))


@pytest.mark.statistics
@both_methods
@pytest.mark.parametrize(("make", "hot"), [(systems.peptide, "H"), (systems.carbon_dioxide_molecule, "C")])
def test_every_class_of_atoms_has_its_share_of_the_kinetic_energy(make, hot, method):
    case = make()
    r, v = equipartition.frames(case, method, 600)
    assert not failures(equipartition.check_classes(case, method, r, v))
    v[:, case.classes[hot]] *= 1.3
    assert [check.quantity.split()[2] for check in failures(equipartition.check_classes(case, method, r, v))] == [
        f"{hot},"
    ]


@pytest.mark.statistics
@both_methods
def test_particles_on_a_sphere_are_uniform_in_area(method):
    case = systems.on_sphere(200)
    r = surface.snapshots(case, method, 3)
    assert not failures(surface.check_sphere(case, method, r))
    polar = np.arccos(r[:, :, 2] / systems.SPHERE_RADIUS)
    r[:, :, 2] = systems.SPHERE_RADIUS * np.cos(np.pi / 2 * (1 - np.cos(polar)))  # uniform in the polar angle instead
    assert failures(surface.check_sphere(case, method, r))


@pytest.mark.statistics
@both_methods
def test_volume_of_an_ideal_gas_of_rigid_dimers_fluctuates_as_that_of_its_molecules(method):
    volumes = volume.sample(method, 100.0, 3000)
    assert not failures(volume.check(method, 100.0, volumes))
    for wrong in (volume.MOLECULES - 2, 2 * volume.MOLECULES):
        assert failures(volume.check(method, 100.0, volumes, wrong))


@pytest.mark.statistics
@both_methods
@pytest.mark.parametrize(("kind", "rotations"), [("any shape", 3), ("linear", 2)])
def test_translation_and_rotation_of_bodies_have_the_temperature_of_the_bath(kind, rotations, method):
    energies = bodies.sample(kind, method, 400)
    assert not failures(bodies.check(kind, method, energies, rotations))
    assert failures(bodies.check(kind, method, energies, 5 - rotations))


@pytest.mark.statistics
@both_methods
@pytest.mark.parametrize("make", [systems.hinged, systems.ring_of_hinges])
def test_kinetic_energy_of_hinged_bodies_has_the_distribution_of_their_degrees_of_freedom(make, method):
    case = make(5)
    assert kinetic.check_freedom(case, method).passed
    energies = kinetic.sample(case, method, 1000)
    assert not failures(kinetic.check(case, method, energies, case.degrees_of_freedom))
    for wrong in (6, 8):  # of a molecule
        assert failures(kinetic.check(case, method, energies, 5 * wrong))


@pytest.mark.statistics
@both_methods
def test_angle_of_a_hinge_has_the_density_of_its_kinetic_energy(method):
    angles = joints.sample(method, 400)
    assert not failures(joints.check(method, angles))
    rng = np.random.default_rng(4)
    assert failures(joints.check(method, rng.uniform(-np.pi, np.pi, angles.shape)))  # as stiff springs would have


@pytest.mark.statistics
@both_methods
def test_energies_at_two_temperatures_have_the_weights_of_their_difference(method):
    case = systems.bent_trimers(20)
    cold, hot = (temperature.sample(case, method, kelvin, 600) for kelvin in temperature.TEMPERATURES)
    assert temperature.check(case, method, [cold, hot]).passed
    assert not temperature.check(case, method, [cold, cold + 1]).passed


@pytest.mark.statistics
@both_methods
def test_rigid_bonds_sample_the_root_of_the_determinant_and_its_weight_takes_it_out(method):
    found = trimer.sample(method, 8000)
    assert not failures(trimer.check(method, found))
    assert of_series(found.cosine**2).p_value(1 / 3) < SIGNIFICANCE
    weighted = of_weighted_series(found.cosine**2, -0.5 * found.log_z)
    assert weighted.p_value(trimer.mean_square()) < SIGNIFICANCE


@pytest.mark.statistics
@pytest.mark.parametrize("platform", ["Reference", "OpenCL"])
def test_free_dimers_pull_with_the_centripetal_force_of_two_rotations(platform):
    case = rounding.free_dimers(platform)
    found = rounding.tensions(case, 1e-5, 300)
    assert rounding.check_tensions(case, 1e-5, found).passed
    for wrong in (1, 3):
        assert not rounding.check_tensions(case, 1e-5, found, wrong).passed


@pytest.fixture(scope="module")
def peptide_in_water():
    return every_integrator.equilibrated(every_integrator.peptide_in_water(), 1000)


@pytest.mark.statistics
@pytest.mark.parametrize("method", every_integrator.CONSERVING)
def test_energies_drift_no_more_with_the_replaced_solver(peptide_in_water, method):
    series = {
        solver: [every_integrator.energies_of(peptide_in_water, method, solver, run, 30) for run in range(6)]
        for solver in every_integrator.SOLVERS
    }
    checks = every_integrator.check_drifts(peptide_in_water, method, series)
    assert not failures(checks)
    error = checks[-1].error  # kT/ns/dof
    for solver, sign in zip(every_integrator.SOLVERS, (-1, 1), strict=True):
        for run in series[solver]:
            per_ps = sign * 40 * error * 2 * np.mean(run.kinetic) / 1000
            run.potential = list(run.potential + per_ps * np.array(run.time))
    assert failures(every_integrator.check_drifts(peptide_in_water, method, series))


@pytest.mark.statistics
@pytest.mark.parametrize("method", every_integrator.THERMOSTATS)
def test_thermostats_reach_their_temperature_with_the_replaced_solver(peptide_in_water, method):
    kinetic = every_integrator.kinetic_energies(peptide_in_water, method, "replaced", 300)
    assert every_integrator.check_temperature(peptide_in_water, method, "replaced", kinetic).passed
    for wrong in (0.9, 1.1):
        freedom = round(wrong * peptide_in_water.degrees_of_freedom)
        case = dataclasses.replace(peptide_in_water, degrees_of_freedom=freedom)
        assert not every_integrator.check_temperature(case, method, "replaced", kinetic).passed


def test_geodesic_steps_halve_the_drift_that_a_step_has_to_solve():
    assert time_step.BALL.steps_of("LangevinMiddle") == [0.02, 0.03, 0.045, 0.06]
    assert time_step.BALL.steps_of("g-BAOAB, K=1") == [0.02, 0.03, 0.045, 0.06, 0.09, 0.12]


def test_error_of_a_drift_accounts_for_correlation():
    rng = np.random.default_rng(3)
    n, memory, ratios = 4000, 0.9, []
    for _ in range(40):
        noise = rng.standard_normal(n)
        for i in range(1, n):
            noise[i] = memory * noise[i - 1] + np.sqrt(1 - memory**2) * noise[i]
        series = drift.EnergySeries()
        for i in range(n):
            series.add(0.1 * i, 0.002 * 0.1 * i + noise[i], 5.0)
        found = drift.slope(series)
        ratios.append((found.mean - 1000 * 0.002 / 10) / found.error)  # 2 K = 10 kJ/mol: kT of all degrees of freedom
    assert 0.6 < np.std(ratios) < 1.6  # would be 4 if samples counted as independent
    with pytest.raises(ValueError, match="too few"):
        drift.slope(drift.EnergySeries())


def test_error_of_a_correlated_series_has_the_right_size():
    rng = np.random.default_rng(7)
    noise = rng.standard_normal((400, 3000))
    for i in range(1, 3000):
        noise[:, i] = 0.8 * noise[:, i - 1] + 0.6 * noise[:, i]
    p = np.array([of_series(series).p_value(0.0) for series in noise])
    assert abs(np.mean(p < 0.1) - 0.1) < 6 * np.sqrt(0.09 / 400)
    with pytest.raises(ValueError, match="29 samples"):
        of_series(np.zeros(29))


class FakeExperiment:
    def __init__(self, p):
        self._p = p

    def run(self, size, output):
        (output / f"{size:g}").touch()
        return [
            Check("e", "s", "m", "<|x|>", self._p, 1.25, 0.5, 1.0),
            Check("e", "s", "m", "y", None, 3.0, 0.1),
        ]


@pytest.mark.parametrize(("p", "status"), [(0.5, 0), (SIGNIFICANCE / 2, 1), (float("nan"), 1)])
def test_command_writes_a_table_and_fails_with_its_checks(p, status, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"fake": FakeExperiment(p)})
    minutes = str(2 * __main__.FULL_MINUTES)
    assert __main__.main(["--output", str(tmp_path / "new"), "--time-budget", minutes]) == status
    assert (tmp_path / "new" / "2").exists()
    table = (tmp_path / "new" / "validation.md").read_text()
    assert r"| <\|x\|> | 1.25 ± 0.5 | 1 |" in table
    assert f"1 comparisons, {status} failed" in table
    passed = [entry["passed"] for entry in json.loads((tmp_path / "new" / "validation.json").read_text())]
    assert passed == [status == 0, True]
    with pytest.raises(SystemExit):
        __main__.main(["--time-budget", "0"])
    assert "positive" in capsys.readouterr().err
