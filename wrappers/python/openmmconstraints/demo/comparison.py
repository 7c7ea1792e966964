# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""One run of the demonstration: an integrator from a common state, sampled on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import openmm as mm
from openmm import unit

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.energy import EnergySeries

CANDIDATES = (
    Candidate("Verlet", None),
    Candidate("Shake", "Iterative"),
    Candidate("Shake", "MatrixInversion"),
    Candidate("Rattle", "Iterative"),
    Candidate("Rattle", "MatrixInversion"),
)


@dataclass
class Outcome:
    """The results of a run; lists have one entry per sample."""

    constraints: str
    candidate: Candidate
    step: list[int] = field(default_factory=list)
    energies: EnergySeries = field(default_factory=EnergySeries)
    bond_error: list[float] = field(default_factory=list)
    iterations: list[int | None] = field(default_factory=list)
    seconds: float = 0.0  # spent in timed steps
    timed_steps: int = 0
    summary: str | None = None
    failure: str | None = None

    @property
    def steps(self) -> int:
        """How many were taken."""
        return self.step[-1] if self.step else 0

    @property
    def ns_per_day(self) -> float | None:
        """Simulated time per real time, without the sampling."""
        return self.timed_steps * STEP_SIZE / 1000 / self.seconds * 86400 if self.timed_steps else None

    @property
    def largest_iterations(self) -> int | None:
        """The largest number of iterations; None for an integrator that does not report it."""
        return max((n for n in self.iterations if n is not None), default=None)


def compare(
    outcome: Outcome,
    context: mm.Context,
    meter: BondMeter,
    steps: int,
    interval: int,
    deadline: float,
    advance: Callable[[int], None],
) -> None:
    """Take steps and fill in the outcome; an exception of OpenMM or the plugin is kept in it, word for word.

    :param interval: steps between two samples
    :param deadline: value of perf_counter() after which the run ends early
    :param advance:  called with the number of steps that were taken
    """
    try:
        _sample(outcome, context, meter, 0)
        done = 0
        while done < steps and (done == 0 or perf_counter() < deadline):
            chunk = min(interval, steps - done)
            _take(outcome, context, chunk)
            done += chunk
            _sample(outcome, context, meter, done)
            advance(chunk)
    except mm.OpenMMException as error:
        outcome.failure = str(error)
    if outcome.candidate.solver is not None:
        outcome.summary = context.getIntegrator().getSolverSummary().str()


def _take(outcome: Outcome, context: mm.Context, steps: int) -> None:
    """Take steps and time them, but for the first: only some integrators can use the forces of the sample."""
    context.getIntegrator().step(1)
    context.getState(positions=True)  # waits for a GPU
    start = perf_counter()
    context.getIntegrator().step(steps - 1)
    context.getState(positions=True)
    outcome.seconds += perf_counter() - start
    outcome.timed_steps += steps - 1


def _sample(outcome: Outcome, context: mm.Context, meter: BondMeter, step: int) -> None:
    state = context.getState(energy=True, positions=True)
    outcome.step.append(step)
    outcome.energies.add(
        step * STEP_SIZE,
        state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole),
        state.getKineticEnergy().value_in_unit(unit.kilojoule_per_mole),
    )
    outcome.bond_error.append(meter.largest_error(state))
    own = outcome.candidate.solver is not None and step > 0
    outcome.iterations.append(context.getIntegrator().getSolverSummary().iterations if own else None)
