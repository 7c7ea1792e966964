# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How averages depend on the time step: LangevinMiddle beside g-BAOAB with K = 1, 2, 4 geodesic steps.

Two averages are known exactly: the mean height of a heavy ball, a particle on a sphere in a uniform field, is given by
the Langevin function; dimers with one end in a harmonic well have a mean potential energy of 3/2 kT. Errors vanish as
the step goes to zero: the averages are extrapolated to it, and a plot shows the errors at every step size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from validation import systems
from validation.checks import Check, Estimate, compare, of_series, p_of_sigmas
from validation.dynamics import (
    KT,
    TEMPERATURE,
    Case,
    energies,
    geodesic_steps,
    langevin,
    make_context,
    positions,
    sampled,
)
from validation.plots import DASHES, Panels, legend_below

METHODS = ("LangevinMiddle", "g-BAOAB, K=1", "g-BAOAB, K=2", "g-BAOAB, K=4")
COPIES = 500
FIELD = 2.0  # kT per radius, on the ball


@dataclass(frozen=True)
class Experiment:
    """A system, what is averaged over its copies, and at which step sizes."""

    name: str
    quantity: str
    make: Callable[[int], Case]
    observe: Callable[[np.ndarray, float], float]  #: of positions and potential energy
    expected: float
    friction: float  #: 1/ps
    relaxation: float  #: ps
    step_sizes: tuple[float, ...]  #: ps
    longest_drift: float  #: ps; after a longer drift the constraint of the fastest particle may have no solution

    def steps_of(self, method: str) -> list[float]:
        """The step sizes (ps) that a method can take: g-BAOAB divides a step into 2K drifts."""
        drifts = max(1, 2 * geodesic_steps(method))
        return [dt for dt in self.step_sizes if dt / drifts <= self.longest_drift]


BALL = Experiment(
    "heavy ball on a sphere",
    "<cos>",
    lambda n: systems.on_sphere(n, FIELD),
    lambda r, _: float(r[:, 2].mean() / systems.SPHERE_RADIUS),
    1 / float(np.tanh(FIELD)) - 1 / FIELD,
    3.0,
    0.4,
    (0.02, 0.03, 0.045, 0.06, 0.09, 0.12, 0.18, 0.24),
    0.06,
)
DIMERS = Experiment(
    "dimers, one end in a well",
    "<U>/(3/2 kT)",
    systems.tethered_dimers,
    lambda r, energy: energy / (1.5 * KT * (len(r) // 2)),
    1.0,
    5.0,
    0.2,
    (0.004, 0.006, 0.008, 0.01, 0.012, 0.016, 0.02),
    0.012,
)


def measure(experiment: Experiment, method: str, step_size: float, samples: int):
    """The average over all copies and their kinetic temperature (K), from samples half a relaxation time apart."""
    case = experiment.make(COPIES)
    case.friction = experiment.friction
    context = make_context(case, langevin(case, method, step_size=step_size))
    interval = max(1, round(experiment.relaxation / 2 / step_size))
    observed, temperatures = [], []
    label = f"{experiment.name}, {method}, {1000 * step_size:g} fs"
    for _ in sampled(context, label, samples, interval, 20 * interval):
        potential, kinetic = energies(context)
        observed.append(experiment.observe(positions(context), potential))
        temperatures.append(2 * kinetic / (case.degrees_of_freedom * KT) * TEMPERATURE)
    return of_series(np.array(observed)), of_series(np.array(temperatures))


def extrapolate(step_sizes: list[float], estimates: list[Estimate], points: int = 4) -> tuple[float, float]:
    """The value at a step of zero, and its error: least squares with dt^2 and dt^4 over the smallest steps."""
    dt = np.array(step_sizes[:points])
    columns = np.stack([np.ones_like(dt), dt**2, dt**4], axis=1)
    weights = np.array([estimate.error for estimate in estimates[:points]]) ** -2
    covariance = np.linalg.inv(columns.T @ (columns * weights[:, None]))
    values = np.array([estimate.mean for estimate in estimates[:points]])
    solution = covariance @ columns.T @ (values * weights)
    return float(solution[0]), float(np.sqrt(covariance[0, 0]))


def _draw(axes: Axes, experiment: Experiment, means: dict[str, list[Estimate]], expected: float) -> None:
    for index, (method, estimates) in enumerate(means.items()):
        dt = 1000 * np.array(experiment.steps_of(method))
        error = np.array([estimate.error for estimate in estimates]) / abs(expected)
        deviation = np.abs([estimate.mean / expected - 1 for estimate in estimates])
        style = {"marker": "osD^"[index], "markersize": 4, "linestyle": DASHES[index], "capsize": 2}
        axes.errorbar(dt * (1 + 0.02 * index), deviation, error, label=method, **style)
    all_steps = 1000 * np.array(experiment.step_sizes)
    axes.plot(all_steps, 0.02 * (all_steps / all_steps[-1]) ** 2, color="0.8", linewidth=3, label="second order")
    axes.set(xscale="log", yscale="log", ylim=(3e-4, None))
    axes.set_xticks(all_steps, [f"{dt:g}" for dt in all_steps])
    axes.set_xticks([], minor=True)
    legend_below(axes, 3)


def draw(
    panels: Panels, experiment: Experiment, means: dict[str, list[Estimate]], temperatures: dict[str, list[Estimate]]
) -> None:
    """Two panels: deviations of the average and of the kinetic temperature."""
    for quantity, found, expected in (
        (experiment.quantity, means, experiment.expected),
        ("the kinetic temperature", temperatures, TEMPERATURE),
    ):
        axes = panels.next(experiment.name, "time step (fs)", f"relative error of {quantity}")
        _draw(axes, experiment, found, expected)


def run(size: float, output: Path) -> list[Check]:
    """Both systems by all methods at all step sizes."""
    checks = []
    panels = Panels(2, 2)
    for experiment in (BALL, DIMERS):
        means: dict[str, list[Estimate]] = {}
        temperatures: dict[str, list[Estimate]] = {}
        for method in METHODS:
            steps = experiment.steps_of(method)
            pairs = [measure(experiment, method, dt, max(60, round(600 * size))) for dt in steps]
            means[method], temperatures[method] = map(list, zip(*pairs, strict=True))

            def line(quantity, estimate, method=method, system=experiment.name):
                return compare("time step", system, method, quantity, estimate, None)

            for dt, mean, temperature in zip(steps, means[method], temperatures[method], strict=True):
                checks.append(line(f"{experiment.quantity} at {1000 * dt:g} fs", mean))
                checks.append(line(f"kinetic temperature at {1000 * dt:g} fs, K", temperature))
            value, error = extrapolate(steps, means[method])
            p = p_of_sigmas((value - experiment.expected) / error)
            quantity = f"{experiment.quantity}, extrapolated"
            checks.append(Check("time step", experiment.name, method, quantity, p, value, error, experiment.expected))
        draw(panels, experiment, means, temperatures)
    panels.save(output / "time-step.png")
    return checks
