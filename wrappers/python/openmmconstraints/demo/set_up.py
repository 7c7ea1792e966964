# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How long creating a Context takes where bonds and angles of hydrogens are held: OpenMM and this package."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.generated import polyethylene
from openmmconstraints.benchmark.runner import Runner
from openmmconstraints.benchmark.timing import ignore_forces, without_forces
from openmmconstraints.benchmark.villin import StartState
from openmmconstraints.demo.comparison import CANDIDATES

SET = "HAngles"
LENGTHS = (50, 100, 200, 400)  # CH2 groups
REPEATS = 3  # of this package's, which takes milliseconds
TOLERANCE = 1e-5


@dataclass(frozen=True)
class SetUp:
    """Seconds of a processor to create a Context without forces and take its first step."""

    constraints: int
    seconds: dict[Candidate, float]


def measure_set_up(advance: Callable[[int], None], lengths: Sequence[int] = LENGTHS) -> list[SetUp]:
    """Of polyethylene, on one thread of the CPU platform, so that times of a processor are those of a quiet machine.

    This package's integrators have the constraints in a ConstraintForce: in a System, OpenMM sets them up too.
    """
    found = []
    for length in lengths:
        model = polyethylene(length)
        system = without_forces(model.create(SET))
        moved = copy.deepcopy(system)
        mc.moveConstraints(moved)
        rest = np.zeros_like(model.positions)
        start = StartState(model.positions, rest, rest)
        seconds = {
            candidate: median(
                _seconds(candidate, system if candidate.solver is None else moved, start)
                for _ in range(1 if candidate.solver is None else REPEATS)
            )
            for candidate in CANDIDATES
        }
        found.append(SetUp(system.getNumConstraints(), seconds))
        advance(1)
    return found


def _seconds(candidate: Candidate, system: mm.System, start: StartState) -> float:
    integrator = ignore_forces(candidate.make(TOLERANCE))
    runner = Runner(system, integrator, start, mm.Platform.getPlatform("CPU"), {"Threads": "1"}, None, process_time)
    return runner.setup_s + runner.first_step_s
