# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Close pairs of many atoms, in a time proportional to their number."""

from __future__ import annotations

from itertools import product

import numpy as np

#: More atoms than that in a cell, which is as wide as the longest bond may be, are no matter.
MOST = 64

#: Cells are numbered along x, y and z. Beyond two million in a row numbers repeat, which costs time only.
STRIDES = np.array([1, 1 << 21, 1 << 42], dtype=np.int64)

#: A cell itself, and one of each two opposite neighbours.
OFFSETS = [offset for offset in product((-1, 0, 1), repeat=3) if offset >= (0, 0, 0)]


class Crowd(Exception):
    """Two of too many atoms in a place."""

    def __init__(self, first: int, second: int, distance: float) -> None:
        super().__init__(first, second, distance)
        self.first, self.second, self.distance = first, second, distance


def close_pairs(
    x: np.ndarray, radius: np.ndarray, factor: float, vectors: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs closer than `factor` times the sum of their radii: two arrays of indices, and distances.

    In a periodic box, given by its vectors in reduced form, the nearest images count.

    Raises
    ------
    Crowd
        if there are more atoms in a place than there is space for
    ValueError
        if the box is too narrow to tell an atom from its images
    """
    reach = 2 * factor * float(radius.max())
    origin = np.arange(len(x))
    if vectors is not None:
        x, origin = _with_images(x, vectors, reach)
    with np.errstate(invalid="ignore"):  # beyond integers any cell will do
        cell = np.floor(x / reach).astype(np.int64) @ STRIDES
    order = np.argsort(cell, kind="stable")
    x, origin, cell = x[order], origin[order], cell[order]
    _require_space(x, origin, cell)
    parts = []
    for offset in OFFSETS:
        wanted = cell + np.dot(offset, STRIDES)
        start, stop = (np.searchsorted(cell, wanted, side) for side in ("left", "right"))
        counts = stop - start
        first = np.repeat(np.arange(len(x)), counts)
        second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts - start, counts)
        if not any(offset):
            first, second = first[first < second], second[first < second]
        distance = np.linalg.norm(x[second] - x[first], axis=1)
        first, second = origin[first], origin[second]
        near = (distance < factor * (radius[first] + radius[second])) & (first != second)
        parts.append((np.minimum(first, second)[near], np.maximum(first, second)[near], distance[near]))
    first, second, distance = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((distance, second, first))  # of the same pair, the nearest images first
    first, second, distance = first[order], second[order], distance[order]
    new = np.ones(len(first), dtype=bool)
    new[1:] = (np.diff(first) != 0) | (np.diff(second) != 0)
    return first[new], second[new], distance[new]


def _with_images(x: np.ndarray, vectors: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions in the box, and images of them beyond its faces, up to `reach`, and whose they are.

    Vectors in reduced form are lower triangular, so the box may be taken as a brick.
    """
    if np.diag(vectors).min() <= reach:
        raise ValueError(
            f"constrain: the periodic box is {np.diag(vectors).min():.3g} nm wide, and bonds of these elements may be "
            f"{reach:.3g} nm long: an atom cannot be told from its images. Use a larger box."
        )
    origin = np.arange(len(x))
    for axis in (2, 1, 0):
        vector, width = vectors[axis], vectors[axis][axis]
        x = x - np.floor(x[:, axis] / width)[:, None] * vector
        low, high = np.flatnonzero(x[:, axis] < reach), np.flatnonzero(x[:, axis] >= width - reach)
        copied = np.concatenate([low, high])
        origin = np.concatenate([origin, origin[copied]])
        x = np.concatenate([x, x[low] + vector, x[high] - vector])
    return x, origin


def _require_space(x: np.ndarray, origin: np.ndarray, cell: np.ndarray) -> None:
    """Nearly all pairs of atoms that lie in one place, as where all positions are zero, would exhaust the memory."""
    counts = np.searchsorted(cell, cell, "right") - np.searchsorted(cell, cell, "left")
    if counts.max() > MOST:
        crowd = np.flatnonzero(cell == cell[np.argmax(counts)])[: 10 * MOST]
        distance = np.linalg.norm(x[crowd][:, None] - x[crowd], axis=-1)
        np.fill_diagonal(distance, np.inf)
        a, b = np.unravel_index(np.argmin(distance), distance.shape)
        first, second = sorted((int(origin[crowd[a]]), int(origin[crowd[b]])))
        raise Crowd(first, second, float(distance[a, b]))
