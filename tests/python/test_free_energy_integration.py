# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Free energies from mean forces that are made up: integration, its errors, plots and tables."""

import numpy as np
import pytest
from chains import TEMPERATURE, made_up

from openmmconstraints import freeenergy as fe
from openmmconstraints.freeenergy.profile import integration_matrix
from openmmconstraints.inspection.energy import BOLTZMANN


def test_integration_is_exact_for_parabolas_on_any_grid():
    x = np.array([-1.0, -0.7, 0.1, 0.4, 1.5])
    for power in range(3):
        exact = (x ** (power + 1) - x[0] ** (power + 1)) / (power + 1)
        assert integration_matrix(x) @ x**power == pytest.approx(exact, abs=1e-13)
        assert integration_matrix(x[::-1]) @ x[::-1] ** power == pytest.approx(exact[::-1] - exact[-1], abs=1e-13)
    assert integration_matrix(x[:2]) @ [1, 2] == pytest.approx([0, 0.45])


def test_integration_converges_at_fourth_order():
    errors = []
    for n in (25, 49):
        x = np.linspace(-np.pi, np.pi, n)
        errors.append(np.abs(integration_matrix(x) @ (3 * np.sin(3 * x)) + np.cos(3 * x) - np.cos(3 * x[0])).max())
    assert errors[0] < 0.02
    assert errors[0] / errors[1] > 7


@pytest.mark.parametrize("count", [9, 12, 25, 48])
@pytest.mark.parametrize("waves", [1, 2, 3])
def test_the_integration_error_is_above_the_true_one_and_not_far(count, waves):
    """A few values for a wave each, odd and even numbers of them, and of uneven spacing."""
    x = np.linspace(-np.pi, np.pi, count)
    x[1:-1] += 0.1 * np.diff(x)[0] * np.sin(np.arange(1, count - 1))
    profile = made_up(x, waves * np.sin(waves * x), 0 * x).integrate()
    exact = -np.cos(waves * x)
    true = np.abs(profile.free_energy - (exact - exact[profile.reference]))
    assert true.max() <= profile.integration_error.max() <= max(40 * true.max(), 1e-6)


@pytest.mark.parametrize("count", [5, 7, 9, 13])
def test_no_value_of_a_contact_has_an_integration_error_that_is_too_small(count):
    """A steep wall within the first stretch, and the minimum beside it: Lennard-Jones, 32 kJ/mol deep."""
    r = np.linspace(0.25, 0.37, count)
    exact = 128 * ((0.25 / r) ** 12 - (0.25 / r) ** 6)
    profile = made_up(r, 128 * (6 * (0.25 / r) ** 6 - 12 * (0.25 / r) ** 12) / r, 0 * r, fe.Distance(0, 1)).integrate()
    true = np.abs(profile.free_energy - (exact - exact[profile.reference]))
    assert np.all(true <= profile.integration_error)
    assert profile.integration_error.max() <= 10 * true.max()


def test_too_few_values_have_no_integration_error():
    profile = made_up(np.linspace(0, 1, 4), np.ones(4), 0.1 * np.ones(4)).integrate()
    assert np.isnan(profile.integration_error).all()
    assert len(profile.plot().collections) == 1  # the band of standard errors alone


def test_errors_propagate():
    rng = np.random.default_rng(5)
    values, errors = np.linspace(0, 2, 9), rng.uniform(0.1, 0.3, 9)
    forces = values**2 - values
    profile = made_up(values, forces, errors).integrate()
    assert profile.reference == 4
    assert profile.free_energy[4] == profile.error[4] == 0
    for other in (profile, profile.relative_to(-1)):
        repeated = []
        for _ in range(4000):
            energy = integration_matrix(values) @ (forces + errors * rng.normal(size=9))
            repeated.append(energy - energy[other.reference])
        assert other.error == pytest.approx(np.std(repeated, axis=0), rel=0.08)  # 1.1 % is one standard error
        assert other.free_energy == pytest.approx(np.mean(repeated, axis=0), abs=0.05)


def test_radial_profile_of_free_particles_is_flat():
    r = np.linspace(0.3, 1.0, 30)
    forces = -2 * BOLTZMANN * TEMPERATURE / r
    profile = made_up(r, forces, 0 * r + 0.1, fe.Distance(0, 1)).integrate().radial()
    assert profile.free_energy == pytest.approx(0 * r, abs=0.01)
    assert profile.error[-1] == 0


def test_radial_profile_is_of_a_distance():
    angles = np.array([1.0, 2.0])
    profile = made_up(angles, angles, angles, fe.Angle(0, 1, 2)).integrate()
    with pytest.raises(ValueError, match="radial: angle 0-1-2 is no distance"):
        profile.radial()


def test_plots_and_tables(tmp_path):
    values = np.linspace(0, np.pi, 5)
    forces = made_up(values, np.sin(values), 0 * values + 0.1)
    pmf = forces.integrate()
    axes = pmf.plot(label="this one", color="black")
    assert axes.get_xlabel() == "dihedral 0-1-2-3 (degrees)"
    assert axes.get_ylabel() == "free energy (kJ/mol)"
    assert axes.lines[0].get_xdata()[-1] == pytest.approx(180)
    assert axes.lines[0].get_label() == "this one"
    band, wider = (area.get_paths()[0].get_extents() for area in axes.collections)
    assert band.y1 == pytest.approx((pmf.free_energy + 2 * pmf.error).max())
    assert wider.y1 == pytest.approx((pmf.free_energy + 2 * pmf.error + pmf.integration_error).max())
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["this one", "and the error of integration"]
    legend = axes.get_legend().get_window_extent(axes.figure.canvas.get_renderer())
    points = axes.transData.transform(np.vstack([area.get_paths()[0].vertices for area in axes.collections]))
    assert not any(legend.contains(*point) for point in points)
    assert forces.plot(axes) is axes
    axes.figure.savefig(tmp_path / "pmf.png")
    assert (tmp_path / "pmf.png").stat().st_size > 5000

    pmf.save(tmp_path / "pmf.csv")
    assert np.loadtxt(tmp_path / "pmf.csv", delimiter=",") == pytest.approx(
        np.column_stack([values, pmf.free_energy, pmf.error, pmf.integration_error])
    )
    forces.save(tmp_path / "forces.csv")
    table = np.genfromtxt(tmp_path / "forces.csv", delimiter=",", skip_header=1, names=True)
    assert table["mean_force"] == pytest.approx(np.sin(values))
    assert table["inefficiency"][0] == 2


def test_a_plot_without_standard_errors_says_so_and_shows_that_of_integration():
    values = np.linspace(0, np.pi, 5)
    forces = made_up(values, np.sin(values), np.full(5, np.nan))
    pmf = forces.integrate()
    axes = pmf.plot()
    short = "constrained runs, too short for standard errors"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [short, "error of integration"]
    assert axes.collections[-1].get_paths()[0].get_extents().y1 == pytest.approx(
        (pmf.free_energy + pmf.integration_error).max()
    )
    for profile in (pmf, forces):
        assert repr(profile).endswith(", too short for standard errors)")
    (line,) = forces.plot().lines
    assert line.get_label() == short
