# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Coordination numbers of groups at given positions, as ConstraintForce.addCoordinationNumber() defines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openmmconstraints._quantities import to_number
from openmmconstraints.inspection.bonds import minimum_image

_MOST = 2**20  # pairs at a time


def coordination_number(
    positions: np.ndarray,
    particles1: Sequence[int],
    particles2: Sequence[int],
    r0: Any,
    n: int,
    m: int,
    cutoff: Any,
    box: np.ndarray | None = None,
) -> float:
    """The sum of f(r) over pairs of a particle of one group and another one of the other group.

    :param positions: [particles, 3] nm
    :param r0:        a number (nm) or a Quantity; cutoff likewise, 0: where f is 1e-5
    :param box:       three vectors (nm) if pairs take the minimum image
    """
    scale = to_number(r0, "nanometer", "coordination_number", "r0")
    end = to_number(cutoff, "nanometer", "coordination_number", "cutoff") or scale * 1e5 ** (1 / (m - n))
    second = np.array(particles2, dtype=int)
    total = 0.0
    step = max(1, _MOST // max(1, len(second)))
    for begin in range(0, len(particles1), step):
        first = np.array(particles1[begin : begin + step], dtype=int)
        between = positions[first][:, None] - positions[second]
        squares = np.sum((between if box is None else minimum_image(between, box)) ** 2, axis=-1)
        counts = (squares < end**2) & (first[:, None] != second)
        total += float(np.sum(_pair_numbers(squares[counts], scale, n, m, end)))
    return total


def _pair_numbers(squares: np.ndarray, r0: float, n: int, m: int, cutoff: float) -> np.ndarray:
    """f of pairs within the cutoff, by the squares of their distances."""

    def quotient(u: Any) -> Any:  # (1 - u^(n/2))/(1 - u^(m/2)), which has no singularity at 1
        return np.polyval(np.ones(n // 2), u) / np.polyval(np.ones(m // 2), u)

    at_cutoff = quotient(cutoff**2 / r0**2)
    values = (quotient(squares / r0**2) - at_cutoff) / (1 - at_cutoff)
    begin = (0.9 * cutoff) ** 2  # from there to the cutoff a polynomial takes it to 0
    x = np.clip((squares - begin) / (cutoff**2 - begin), 0, 1)
    return values * (1 - x) ** 3 * (1 + 3 * x + 6 * x**2)
