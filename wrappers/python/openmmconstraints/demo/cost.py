# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What constraints cost at tolerances from loose to tight: OpenMM's CCMA and this package, in turns in one process."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time

import openmm as mm

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.measure import Case, Record, Setting
from openmmconstraints.benchmark.model import Chosen
from openmmconstraints.benchmark.systems import choose
from openmmconstraints.benchmark.timing import Spread
from openmmconstraints.demo.comparison import BUILT_IN, OURS

SYSTEM, SET = "villin-protein", "AllBonds"
TOLERANCES = tuple(10.0**-n for n in range(4, 13))
PASSES = 7  # over all tolerances, so that another program's burst of work spoils a few values of each, not all of one
SECONDS = 0.008  # of each measurement


@dataclass(frozen=True)
class Cost:
    """Of the constraints of a step, by the median and the quartiles of the passes."""

    candidate: Candidate
    tolerance: float
    constraints: int
    microseconds: Spread
    ratio: Spread | None  # to OpenMM's, pass by pass; None: OpenMM's own


@contextmanager
def one_core() -> Iterator[None]:
    """Keep threads that are started meanwhile on one core, where the system allows it.

    OpenMM hands its work to a thread, also if it is only one. On different cores that takes a time which depends on
    what else runs there, and which lasts for as long as the thread does.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def measure_cost(
    advance: Callable[[int], None],
    system: str = SYSTEM,
    tolerances: Sequence[float] = TOLERANCES,
    passes: int = PASSES,
    seconds: float = SECONDS,
) -> list[Cost]:
    """SHAKE and RATTLE, each beside VerletIntegrator, on one core, by the time that it works for this process.

    Times are of a step without forces less one without constraints. RATTLE solves for velocities too.

    :param advance: called when tolerances are done; there are 2 * passes * len(tolerances)
    """
    chosen = choose([system], quick=True)[0]
    records: list[Record] = []
    with one_core():
        cases = [_prepare(chosen, ours, tolerances, seconds) for ours in OURS]
        for _ in range(passes):
            for tolerance in tolerances:
                for case in cases:
                    records += case.measure_at(tolerance, advance)
    found = [_summarize(candidate, t, records) for candidate in (BUILT_IN, *OURS) for t in tolerances]
    return [cost for cost in found if cost is not None]


def _prepare(chosen: Chosen, ours: Candidate, tolerances: Sequence[float], seconds: float) -> Case:
    platform, threads, solvers = mm.Platform.getPlatform("CPU"), {"Threads": "1"}, (str(ours.solver),)
    setting = Setting(
        platform, threads, ours.integrator, solvers, tuple(tolerances), 1, seconds, math.inf, True, process_time
    )
    case = Case(chosen, SET, setting)
    case.prepare(lambda _: None)
    return case


def _summarize(candidate: Candidate, tolerance: float, records: Sequence[Record]) -> Cost | None:
    """None where nothing was measured."""
    mine = [
        record
        for record in records
        if (record.integrator, record.solver, record.tolerance) == (candidate.integrator, candidate.solver, tolerance)
    ]
    microseconds = Spread.of([record.constraints_us.median for record in mine if record.constraints_us])
    if microseconds is None:
        return None
    ratio = Spread.of([record.constraints_ratio.median for record in mine if record.constraints_ratio])
    return Cost(candidate, tolerance, mine[0].constraints, microseconds, ratio)
