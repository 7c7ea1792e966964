# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""L-BFGS on a surface; a function that the caller gives projects trial points onto it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

MEMORY = 6  # pairs of steps and changes of the gradient
FIRST_STEP = 0.01  # how far any particle moves in a trial without a history, nm
LONGEST_STEP = 0.05  # how far any particle moves in an iteration, nm: half a bond, which projection still returns
TRIALS = 20  # in a line search
SUFFICIENT_DECREASE = 1e-4  # of the energy, by the slope at the start (Armijo)
ROUNDING = 1e-6  # by which two evaluations in single precision may differ, relative to the energy
STALL = 100  # iterations without progress after which the search ends


@dataclass(frozen=True)
class Point:
    """A point on the surface."""

    positions: np.ndarray  # [numParticles, 3] nm
    energy: float  # kJ/mol; inf where there is none
    gradient: np.ndarray  # [numParticles, 3] kJ/mol/nm, of the energy along the surface; 0 for what cannot move


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Without BLAS, whose threads would fight those of OpenMM, and summed pairwise."""
    return float((a * b).sum())


def descend(start: Point, visit: Callable[[np.ndarray], Point]) -> Iterator[Point]:
    """Points of lower and lower energy, one for each iteration, until rounding hides any descent.

    The two-loop recursion of L-BFGS with ambient steps and gradients along the surface, its direction taken by `visit`
    back to the surface, and a backtracking line search. Where rounding hides differences of energies, slopes are
    compared (the approximate Wolfe condition of Hager and Zhang).
    Sources: Nocedal, Math. Comput. 35, 773 (1980), doi 10.1090/S0025-5718-1980-0572855-7; Hager, Zhang, SIAM J. Optim.
    16, 170 (2005), doi 10.1137/030601880.

    :param visit: the point that belongs to positions near the surface; its energy is inf if there is none
    """
    history: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
    point, progress = start, _Progress(start)
    while not progress.has_stalled():
        direction = _direction(point.gradient, history)
        found = _search(point, direction, bool(history), visit)
        if found is None:
            if not history:
                return
            history.clear()  # the history does not fit the surface here: start again along the gradient
            continue
        step, change = found.positions - point.positions, found.gradient - point.gradient
        curvature = dot(step, change)
        if curvature > 1e-10 * np.sqrt(dot(step, step) * dot(change, change)):
            history.append((step, change, 1 / curvature))
        point = found
        progress.note(point)
        yield point


def _direction(gradient: np.ndarray, history: deque[tuple[np.ndarray, np.ndarray, float]]) -> np.ndarray:
    """-H gradient, H the approximate inverse Hessian; downhill."""
    q = gradient.copy()
    weights = []
    for step, change, rho in reversed(history):
        weights.append(rho * dot(step, q))
        q -= weights[-1] * change
    if history:
        _, change, rho = history[-1]
        q /= rho * dot(change, change)
    for (step, change, rho), weight in zip(history, reversed(weights), strict=True):
        q += (weight - rho * dot(change, q)) * step
    if not dot(gradient, q) > 0:
        history.clear()
        return -gradient
    return -q


def _search(start: Point, direction: np.ndarray, is_scaled: bool, visit: Callable[[np.ndarray], Point]) -> Point | None:
    """A lower point along the direction; None if there is none within the precision."""
    slope = dot(start.gradient, direction)
    if slope == 0:
        return None
    farthest = np.sqrt((direction * direction).sum(axis=1).max())
    length = min(1.0, LONGEST_STEP / farthest) if is_scaled else FIRST_STEP / farthest
    for _ in range(TRIALS):
        trial = visit(start.positions + length * direction)
        if np.array_equal(trial.positions, start.positions):
            return None
        rise = trial.energy - start.energy
        if rise <= SUFFICIENT_DECREASE * length * slope:
            return trial
        if rise <= ROUNDING * abs(start.energy) and abs(dot(trial.gradient, direction)) <= 0.9 * abs(slope):
            return trial
        # the minimum of the parabola through both energies
        best = -0.5 * slope * length**2 / (rise - slope * length)
        length = min(max(best, 0.1 * length), 0.5 * length)
    return None


class _Progress:
    """Counts iterations since the lowest energy or the lowest force."""

    def __init__(self, start: Point) -> None:
        self._energy = start.energy
        self._square = dot(start.gradient, start.gradient)
        self._waited = 0

    def note(self, point: Point) -> None:
        square = dot(point.gradient, point.gradient)
        self._waited += 1
        if point.energy < self._energy - ROUNDING * abs(self._energy):
            self._energy, self._waited = point.energy, 0
        if square < 0.98 * self._square:
            self._square, self._waited = square, 0

    def has_stalled(self) -> bool:
        return self._waited >= STALL
