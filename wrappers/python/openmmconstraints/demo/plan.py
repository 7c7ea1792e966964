# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How long the demonstration's runs may be, from a few steps that are timed."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import openmm as mm

from openmmconstraints.benchmark.villin import MINIMIZER_ITERATIONS, Villin
from openmmconstraints.demo.comparison import CANDIDATES
from openmmconstraints.terminal.compiling import saying_if_compiling

STEPS = 200  # 0.4 ps
EQUILIBRATION_STEPS = 200
SAMPLES = 20  # of a run
TRIAL_STEPS = 5
OTHER_PARTS = 25.0  # s, on a quiet machine
PLANNED_SHARE = 0.85  # of the time that is left
LONGEST_OVERRUN = 1.1  # times the budget; then runs end early


@dataclass(frozen=True)
class Plan:
    """Lengths of the runs of villin, and an estimate of the time."""

    steps: int
    equilibration: int
    seconds: float  # estimate of the whole command

    @property
    def interval(self) -> int:
        """Steps between two samples."""
        return max(min(4, self.steps), self.steps // SAMPLES)


def time_steps(
    villin: Villin, platform: mm.Platform, properties: dict[str, str], tolerance: float
) -> tuple[float, float]:
    """Seconds to create a Context, and per step: the mean over the integrators."""
    create, step = 0.0, 0.0
    for candidate in CANDIDATES:
        start = perf_counter()
        integrator = candidate.make(tolerance)
        with saying_if_compiling(platform.getName()):
            context = mm.Context(villin.system, integrator, platform, properties)
            context.setPositions(villin.positions)
            context.applyConstraints(tolerance)
            integrator.setStepSize(1e-5)  # the positions are not minimized yet
            integrator.step(1)
            context.getState(energy=True)
        create += perf_counter() - start
        start = perf_counter()
        integrator.step(TRIAL_STEPS)
        context.getState(energy=True)
        step += (perf_counter() - start) / (TRIAL_STEPS + 1)
    return create / len(CANDIDATES), step / len(CANDIDATES)


def make_plan(sets: int, wanted: int | None, budget: float, build: float, create: float, step: float) -> Plan:
    """0.4 ps where the budget allows, or the number of steps that was asked for.

    :param sets:   sets of constraints
    :param wanted: steps; None: as planned here
    :param build:  seconds to build a System, and so on
    """
    runs = sets * len(CANDIDATES)
    some = 10 * wanted if wanted else int(0.1 * budget / sets / step)
    equilibration = max(1, min(EQUILIBRATION_STEPS, some))
    fixed = OTHER_PARTS + build * sets + create * len(CANDIDATES)
    fixed += sets * step * (equilibration + 3 * MINIMIZER_ITERATIONS) + runs * create
    affordable = max(0.0, PLANNED_SHARE * (budget - fixed) / (runs * step))
    # Steps and samples cost the same.
    steps = wanted or max(1, min(STEPS, int(max(affordable - SAMPLES, 0.8 * affordable))))
    return Plan(steps, equilibration, fixed + runs * (steps + min(SAMPLES, steps / 4)) * step)
