# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Times that can be compared: runs alternate, and medians are reported."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np
import openmm as mm

from openmmconstraints.inspection.listing import is_ours

Item = TypeVar("Item")
Clock = Callable[[], float]  #: perf_counter; or process_time, which does not count other programs, for one thread
_NO_FORCES, _UNUSED_GROUP = {0}, 31


@dataclass(frozen=True)
class Spread:
    """A number that was measured several times: median and quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """Of no values, None."""
        if not len(values):
            return None
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        return cls(float(median), float(low), float(high))


def in_turn(items: Sequence[Item], turn: int) -> list[Item]:
    """The same items, starting with another one in every turn."""
    first = turn % len(items) if items else 0
    return [*items[first:], *items[:first]]


def run_steps(context: mm.Context, steps: int, clock: Clock = perf_counter) -> float:
    """Seconds that some steps take, until the device has done them."""
    start = clock()
    context.getIntegrator().step(steps)
    context.getState(positions=True)
    return clock() - start


def without_forces(system: mm.System) -> mm.System:
    """A copy for timing motion and constraints alone: see ignore_forces().

    Angles stay, in a force group of their own: OpenMM's CCMA algorithm takes the coupling of constraints from them,
    and hardly converges without.
    """
    bare = copy.deepcopy(system)
    for i in reversed(range(bare.getNumForces())):
        force = bare.getForce(i)
        if isinstance(force, mm.HarmonicAngleForce):
            force.setForceGroup(_UNUSED_GROUP)
        elif not is_ours(force):
            bare.removeForce(i)
    return bare


def ignore_forces(integrator: mm.Integrator) -> mm.Integrator:
    """Let an integrator ignore the angles that without_forces() keeps."""
    integrator.setIntegrationForceGroups(_NO_FORCES)
    return integrator
