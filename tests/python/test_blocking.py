# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Averages of correlated samples, and their errors."""

from math import isnan

import numpy as np
import pytest

from openmmconstraints.reporters.blocking import WeightedAverage


def correlated(rng, length, correlation):
    """A Gaussian process with variance 1."""
    noise = rng.normal(size=length) * np.sqrt(1 - correlation**2)
    x = np.empty(length)
    x[0] = rng.normal()
    for i in range(1, length):
        x[i] = correlation * x[i - 1] + noise[i]
    return x


def average(log_weights, x):
    result = WeightedAverage(1)
    for log_weight, value in zip(log_weights, x, strict=True):
        result.add(log_weight, np.array([value]))
    return result.estimate()


def test_average_is_the_weighted_mean_whatever_the_size_of_the_weights():
    rng = np.random.default_rng(1)
    log_weights, x = rng.normal(size=1000), 1e6 + rng.normal(size=1000)
    expected = np.average(x, weights=np.exp(log_weights))
    results = [average(log_weights + shift, x) for shift in (0, 5000, -5000)]
    for result in results:
        assert result.mean == pytest.approx(expected, rel=1e-14)
        assert result.error == pytest.approx(results[0].error, rel=1e-9)
        assert result.samples == 1000


def test_error_is_that_of_blocks():
    rng = np.random.default_rng(4)
    x = correlated(rng, 3001, 0.8)
    weights = np.exp(0.3 * x)
    result = average(0.3 * x, x)
    errors = {}
    for size in 2 ** np.arange(10):
        blocks = weights[: len(x) // size * size].reshape(-1, size)
        residuals = (blocks * (x[: blocks.size].reshape(-1, size) - result.mean)).sum(axis=1)
        errors[size] = residuals.std(ddof=1) * np.sqrt(len(residuals)) / blocks.sum()
    enough = [size for size in errors if size**3 > 2 * len(x) * (errors[size] / errors[1]) ** 4]
    expected = max(errors[size] for size in errors if size == enough[0] or (size > enough[0] and len(x) // size >= 16))
    assert result.error == pytest.approx(expected, rel=1e-9)
    assert result.inefficiency == pytest.approx((expected / errors[1]) ** 2, rel=1e-9)


@pytest.mark.statistics
def test_a_vibration_does_not_hide_slower_motion():
    rng = np.random.default_rng(6)
    deviations = []
    for _ in range(40):
        x = correlated(rng, 4000, -0.8) + 0.3 * correlated(rng, 4000, 0.8)
        result = average(0 * x, x)
        deviations.append(result.mean / result.error)
    assert np.std(deviations) == pytest.approx(1, abs=0.3)


@pytest.mark.statistics
@pytest.mark.parametrize(("correlation", "inefficiency"), [(0, 1), (0.8, 9)])
def test_error_is_the_scatter_of_repeated_runs(correlation, inefficiency):
    rng = np.random.default_rng(2)
    deviations, inefficiencies = [], []
    for _ in range(60):
        x = correlated(rng, 2500, correlation)
        result = average(0.3 * x, x)  # the weighted mean of a Gaussian is shifted by 0.3
        deviations.append((result.mean - 0.3) / result.error)
        inefficiencies.append(result.inefficiency)
    assert abs(np.mean(deviations)) < 5 / np.sqrt(60)
    assert np.std(deviations) == pytest.approx(1, abs=0.3)
    assert np.mean(inefficiencies) == pytest.approx(inefficiency, rel=0.2)


def test_too_short_a_run_has_no_error():
    rng = np.random.default_rng(3)
    assert isnan(WeightedAverage(1).estimate().mean)
    for result in (average([0], [2.0]), average(np.zeros(50), correlated(rng, 50, 0.999))):
        assert isnan(result.error)
        assert isnan(result.inefficiency)
    assert average([0, 0], [2.0, 2.0]).error == 0


@pytest.mark.parametrize("wrong", [(np.nan, 1.0), (0.0, np.inf)])
def test_a_sample_that_is_not_finite_is_refused(wrong):
    with pytest.raises(ValueError, match="not finite"):
        average(*zip((0.0, 1.0), wrong, strict=True))
