# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Times the steps of one Context."""

from __future__ import annotations

import math
from statistics import median
from time import perf_counter

import openmm as mm

from openmmconstraints.benchmark.candidates import make_context, set_state
from openmmconstraints.benchmark.timing import Clock, run_steps
from openmmconstraints.benchmark.villin import StartState

MAX_FREE_STEPS = 5  # without forces, then from the start again: without forces angles change, on which CCMA relies


class Runner:
    """A Context that starts from the same state whenever it is timed.

    :param longest: steps after which it starts again within a measurement; None: never
    :param clock:   by which all is timed
    """

    def __init__(
        self,
        system: mm.System,
        integrator: mm.Integrator,
        start: StartState,
        platform: mm.Platform,
        properties: dict[str, str],
        longest: int | None,
        clock: Clock = perf_counter,
    ) -> None:
        begin = clock()
        self.context = make_context(system, integrator, start, platform, properties)
        self.setup_s = clock() - begin
        self.first_step_s = run_steps(self.context, 1, clock)
        self.start, self.longest, self.clock = start, longest, clock
        self.blocks, self.steps = 1, 2

    def choose_steps(self, seconds: float) -> None:
        """Choose the number of steps that take about so long."""
        self.blocks, self.steps = 1, 2
        wanted = max(2, round(seconds / max(self.time(), 1e-9)))
        self.blocks = math.ceil(wanted / self.longest) if self.longest else 1
        self.steps = math.ceil(wanted / self.blocks)

    def time(self) -> float:
        """Seconds a step: the median of the blocks."""
        seconds = []
        for _ in range(self.blocks):
            set_state(self.context, self.start)
            run_steps(self.context, 1)  # an integrator checks a new state in its first step
            seconds.append(run_steps(self.context, self.steps, self.clock))
        return median(seconds) / self.steps

    def set_tolerance(self, tolerance: float) -> None:
        self.context.getIntegrator().setConstraintTolerance(tolerance)
