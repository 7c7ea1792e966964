# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators side by side: runs from a common state, a few steps of each in turn, sampled on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.energy import EnergySeries

BUILT_IN = Candidate("Verlet", None)
OURS = (Candidate("Shake", "MatrixInversion"), Candidate("Rattle", "MatrixInversion"))
CANDIDATES = (BUILT_IN, *OURS)


def short_name(candidate: Candidate) -> str:
    """For columns and legends."""
    return "OpenMM" if candidate.solver is None else candidate.integrator.upper()


@dataclass
class Outcome:
    """The results of a run; lists have one entry per sample."""

    system: str  # or the set of constraints
    candidate: Candidate
    step: list[int] = field(default_factory=list)
    energies: EnergySeries = field(default_factory=EnergySeries)
    bond_error: list[float] = field(default_factory=list)
    iterations: list[int | None] = field(default_factory=list)
    step_seconds: list[float] = field(default_factory=list)  # a step's, of each stretch that was timed
    summary: str | None = None
    failure: str | None = None
    failed_at: int | None = None  # the number of steps after which that was noticed

    @property
    def steps(self) -> int:
        """How many were taken."""
        return self.step[-1] if self.step else 0

    @property
    def is_nan(self) -> bool:
        """Whether it failed because positions are not numbers."""
        return self.failure is not None and "NaN" in self.failure

    @property
    def largest_error(self) -> float | None:
        """The largest |d - d0|/d0 of all samples but the start."""
        return max(self.bond_error[1:], default=None)

    @property
    def ns_per_day(self) -> float | None:
        """Simulated time per real time, without the sampling."""
        return STEP_SIZE / 1000 / median(self.step_seconds) * 86400 if self.step_seconds else None

    @property
    def largest_iterations(self) -> int | None:
        """The largest number of iterations; None for an integrator that does not report it."""
        return max((n for n in self.iterations if n is not None), default=None)

    def time_ratio(self, partner: Outcome) -> Spread | None:
        """A step's time over that of a partner of the same comparison, stretch by stretch."""
        pairs = zip(self.step_seconds, partner.step_seconds, strict=False)  # a run that failed has fewer
        return Spread.of([own / other for own, other in pairs])


def compare(
    outcomes: Sequence[Outcome],
    contexts: Sequence[mm.Context],
    meter: BondMeter,
    steps: int,
    interval: int,
    deadline: float,
    advance: Callable[[int], None],
) -> None:
    """Take steps, a stretch of each run in turn, and fill in the outcomes.

    An exception of OpenMM or the plugin ends its run and is kept, word for word.

    :param contexts: one a run, at the same state
    :param interval: steps between two samples
    :param deadline: value of perf_counter() after which all runs end early
    :param advance:  called with the number of steps that were taken
    """
    for outcome, context in zip(outcomes, contexts, strict=True):
        _sample(outcome, context, meter, 0)
    done, turn = 0, 0
    while done < steps and (done == 0 or perf_counter() < deadline):
        stretch = min(interval, steps - done)
        done += stretch
        for outcome, context in in_turn(list(zip(outcomes, contexts, strict=True)), turn):
            if outcome.failure is None:
                _continue(outcome, context, meter, stretch, done)
        turn += 1
        advance(stretch)
    for outcome, context in zip(outcomes, contexts, strict=True):
        if outcome.candidate.solver is not None:
            outcome.summary = context.getIntegrator().getSolverSummary().str()


def _continue(outcome: Outcome, context: mm.Context, meter: BondMeter, stretch: int, step: int) -> None:
    """Take a stretch and time it, but for its first step: only some integrators can use the forces of the sample."""
    taken = step - stretch + 1
    try:
        run_steps(context, 1)
        if not np.isfinite(context.getState(positions=True).getPositions(asNumpy=True)).all():
            outcome.failure, outcome.failed_at = "Positions are NaN.", taken
            return
        taken = step
        if stretch > 1:
            outcome.step_seconds.append(run_steps(context, stretch - 1) / (stretch - 1))
        _sample(outcome, context, meter, step)
    except mm.OpenMMException as error:
        outcome.failure, outcome.failed_at = str(error), taken


def _sample(outcome: Outcome, context: mm.Context, meter: BondMeter, step: int) -> None:
    state = context.getState(energy=True, positions=True)
    potential, kinetic = (
        energy.value_in_unit(unit.kilojoule_per_mole)
        for energy in (state.getPotentialEnergy(), state.getKineticEnergy())
    )
    if not np.isfinite(potential + kinetic):
        # At the start, OpenMM's algorithm may make NaN of the kinetic energy alone: see what a step does.
        if step > 0:
            outcome.failure, outcome.failed_at = "Energies are NaN.", step
        return
    outcome.step.append(step)
    outcome.energies.add(step * STEP_SIZE, potential, kinetic)
    outcome.bond_error.append(meter.largest_error(state))
    own = outcome.candidate.solver is not None and step > 0
    outcome.iterations.append(context.getIntegrator().getSolverSummary().iterations if own else None)
