# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Groups of atoms in one piece, where bonds cross the periodic box."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import openmm as mm

from openmmconstraints.helpers.exclusions import excluded_pairs
from openmmconstraints.inspection.listing import is_periodic


def whole_shapes(
    system: mm.System, groups: list[list[int]], x: np.ndarray, vectors: np.ndarray
) -> tuple[list[np.ndarray], bool]:
    """Positions of each group in one piece, and whether bonds of any cross the box of these vectors."""
    shapes = [x[atoms] for atoms in groups]
    if not any(is_periodic(force) for force in system.getForces()):
        return shapes, False
    neighbours: dict[int, list[int]] = {}
    for i, j in _bonded_pairs(system):
        neighbours.setdefault(i, []).append(j)
        neighbours.setdefault(j, []).append(i)
    is_wrapped = False
    for atoms, shape in zip(groups, shapes, strict=True):
        shift = _shifts(atoms, x, vectors, neighbours)
        # All pieces in the image of the first: positions that are whole have no shift.
        if np.ptp(shift, axis=0).max() > 1e-6:
            shape += shift
            is_wrapped = True
    return shapes, is_wrapped


def _bonded_pairs(system: mm.System) -> list[tuple[int, int]]:
    """Bonds, constraints, and pairs that are excluded because they are bonded: these stay where bonds are removed."""
    pairs = [tuple(system.getConstraintParameters(k)[:2]) for k in range(system.getNumConstraints())]
    for force in system.getForces():
        if isinstance(force, mm.HarmonicBondForce):
            pairs += [tuple(force.getBondParameters(k)[:2]) for k in range(force.getNumBonds())]
        else:
            pairs += excluded_pairs(force) or []
    return pairs


def _shifts(atoms: list[int], x: np.ndarray, vectors: np.ndarray, neighbours: dict[int, list[int]]) -> np.ndarray:
    """What to add to positions so that bonds do not cross the box, shortest bonds first. Those longer than a quarter of
    the box may be restraints of distant atoms. Pieces without a bond to the others stay where their first atoms are,
    or, if a bond crosses the box, come next to what is nearest."""
    longest = np.diag(vectors).min() / 4
    place = {p: n for n, p in enumerate(atoms)}
    shift = np.zeros((len(atoms), 3))
    is_placed = np.zeros(len(atoms), dtype=bool)
    pieces = []
    for start in range(len(atoms)):
        if is_placed[start]:
            continue
        piece = []
        bonds: list[tuple[float, int, int]] = [(0.0, start, start)]
        while bonds:
            _, n, origin = heappop(bonds)
            if is_placed[n]:
                continue
            if n != origin:
                shift[n] = _image(x[atoms[n]] - (x[atoms[origin]] + shift[origin]), vectors)
            is_placed[n] = True
            piece.append(n)
            for other in neighbours.get(atoms[n], ()):
                m = place.get(other, -1)
                if m >= 0 and not is_placed[m]:
                    way = x[other] - x[atoms[n]]
                    length = float(np.linalg.norm(way + _image(way, vectors)))
                    if length <= longest:
                        heappush(bonds, (length, m, n))
        pieces.append(piece)
    if len(pieces) > 1 and np.any(shift != 0):
        done = x[[atoms[n] for n in pieces[0]]] + shift[pieces[0]]
        for piece in pieces[1:]:
            first = x[atoms[piece[0]]] + shift[piece[0]]
            images = np.array([_image(way, vectors) for way in first - done])
            shift[piece] += images[np.argmin(np.linalg.norm(first - done + images, axis=1))]
            done = np.concatenate([done, x[[atoms[n] for n in piece]] + shift[piece]])
    return shift


def _image(difference: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The vector of the box that takes a difference to its minimum image."""
    shift = np.zeros(3)
    for axis in (2, 1, 0):
        shift -= np.floor((difference + shift)[axis] / vectors[axis][axis] + 0.5) * vectors[axis]
    return shift
