# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Values and gradients of constraints at positions, many at once. Expressions and centroids are left to the
integrators."""

from __future__ import annotations

import numpy as np

from openmmconstraints.bonds import minimum_image
from openmmconstraints.health.blocks import Pattern
from openmmconstraints.health.listing import ANGLE, DIHEDRAL, DISTANCE, Listing

#: Angles this close to pi are taken as pi, as the integrators do (rad).
STRAIGHT = 1e-4
#: Eigenvalues of the matrix of unit diagonal, up to which rows depend on each other.
ZERO = 1e-9


def bonds(listing: Listing, which: np.ndarray, particles: np.ndarray, x: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Vectors [n, number of particles - 1, 3] from each particle of a constraint to the next (nm)."""
    d = x[particles[:, 1:]] - x[particles[:, :-1]]
    periodic = listing.periodic[which]
    d[periodic] = minimum_image(d[periodic], box)
    return d


def measure(kind: int, d: np.ndarray) -> np.ndarray:
    """Values [n] of distances (nm), angles or dihedrals (rad) from bond vectors [n, ., 3]."""
    if kind == DISTANCE:
        return np.linalg.norm(d[:, 0], axis=-1)
    if kind == ANGLE:
        return angle_between(-d[:, 0], d[:, 1])
    normal1, normal2 = np.cross(d[:, 0], d[:, 1]), np.cross(d[:, 1], d[:, 2])
    length = np.linalg.norm(d[:, 1], axis=-1)
    return np.arctan2(
        np.sum(np.cross(normal1, normal2) * d[:, 1], axis=-1), length * np.sum(normal1 * normal2, axis=-1)
    )


def angle_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles (rad) of vectors [..., 3]; atan2 is exact near 0 and pi too."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1))


def is_measurable(pattern: Pattern) -> bool:
    """Whether jacobian() knows all of its constraints."""
    return all(kind in (DISTANCE, ANGLE, DIHEDRAL) for kind in pattern.kinds)


def jacobian(pattern: Pattern, x: np.ndarray, box: np.ndarray | None) -> np.ndarray:
    """Rows of unit length: gradients over the square roots of the masses.

    :param x:   [blocks, n, 3] nm
    :param box: for the minimum image; None: without
    :return:    [blocks, rows, 3n]; an angle of pi has two rows, the components of its bend
    """
    rows = []
    for kind, members, target in zip(pattern.kinds, pattern.members, pattern.targets, strict=True):
        places = x[:, list(members)]
        d = places[:, 1:] - places[:, :-1]
        if box is not None:
            d = minimum_image(d, box)
        with np.errstate(all="ignore"):  # particles at one place have no gradient; the integrators refuse them
            gradients = _gradients(kind, d, target)
        for gradient in gradients:
            row = np.zeros(x.shape)
            for s, member in enumerate(members):
                row[:, member] += np.nan_to_num(gradient[:, s])
            rows.append(row)
    J = np.stack(rows, axis=1)
    inverse = np.divide(1, np.sqrt(pattern.masses), out=np.zeros(len(pattern.masses)), where=pattern.masses > 0)
    J = (J * inverse[:, None]).reshape(len(x), len(rows), -1)
    norms = np.linalg.norm(J, axis=-1, keepdims=True)
    return np.divide(J, norms, out=np.zeros_like(J), where=norms > 0)


def _gradients(kind: int, d: np.ndarray, target: float) -> list[np.ndarray]:
    """Gradients [blocks, particles, 3], one or two, up to a factor, from bond vectors [blocks, ., 3]."""
    if kind == DISTANCE:
        return [np.stack([-d[:, 0], d[:, 0]], axis=1)]
    if kind == ANGLE:
        return _angle_gradients(-d[:, 0], d[:, 1], abs(target - np.pi) <= STRAIGHT)
    # Blondel, Karplus, J. Comput. Chem. 17, 1132 (1996).
    F, G, H = -d[:, 0], -d[:, 1], d[:, 2]
    A, B = np.cross(F, G), np.cross(H, G)
    length = np.linalg.norm(G, axis=-1, keepdims=True)
    A2, B2 = (np.sum(v * v, axis=-1, keepdims=True) for v in (A, B))
    FG, HG = (np.sum(v * G, axis=-1, keepdims=True) for v in (F, H))
    one, four = -length * A / A2, length * B / B2
    shared = (FG * A / A2 - HG * B / B2) / length
    return [np.stack([one, -one + shared, -shared - four, four], axis=1)]


def _angle_gradients(a: np.ndarray, b: np.ndarray, is_straight: bool) -> list[np.ndarray]:
    """Of the angle between a and b, which start at its vertex."""
    la, lb = (np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    ua, ub = a / la, b / lb
    normal = np.cross(ua, ub)
    size = np.linalg.norm(normal, axis=-1, keepdims=True)
    any_normal = np.cross(ua, np.eye(3)[np.argmin(np.abs(ua), axis=-1)])
    normal = np.where(size > 1e-6, normal, any_normal)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)

    def turning(axis: np.ndarray) -> np.ndarray:
        one, three = np.cross(ua, axis) / la, np.cross(axis, ub) / lb
        return np.stack([one, -one - three, three], axis=1)

    return [turning(normal), turning(np.cross(ua, normal))] if is_straight else [turning(normal)]


def eigenvalues(J: np.ndarray) -> np.ndarray:
    """Of J J^T, rows of unit length, ascending: [blocks, rows]."""
    return np.linalg.eigvalsh(J @ J.transpose(0, 2, 1))


def dependent_rows(J: np.ndarray) -> np.ndarray:
    """Rows of one J [rows, 3n] that depend on those before them."""
    R = np.linalg.qr(J.T).R
    diagonal = np.zeros(len(J))
    diagonal[: len(R)] = np.abs(np.diagonal(R))
    return np.flatnonzero(diagonal <= np.sqrt(ZERO))
