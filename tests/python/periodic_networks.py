# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Networks of distances that are bonded to their own periodic images, and the rank of their gradients by numpy."""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

import numpy as np

SHEAR = np.array([[1, 0, 0], [0.1, 1, 0], [0.12, -0.08, 1]])


class Network(NamedTuple):
    x: np.ndarray  #: [particles, 3] nm
    pairs: np.ndarray  #: [distances, 2]
    box: np.ndarray  #: [3, 3] nm, OpenMM's reduced form

    def bonds(self) -> np.ndarray:
        """Vectors between nearest images, as OpenMM takes them."""
        return nearest_image(self.x[self.pairs[:, 0]] - self.x[self.pairs[:, 1]], self.box)


def nearest_image(r: np.ndarray, box: np.ndarray) -> np.ndarray:
    for axis in (2, 1, 0):
        r = r - np.floor(r[:, axis : axis + 1] / box[axis, axis] + 0.5) * box[axis]
    return r


def rank_of(network: Network, displacement: float = 0.02) -> tuple[int, float]:
    """Rank at random displacements, during which bonds keep their images, and the gap of singular values that tells."""
    u = np.random.default_rng(1).normal(scale=displacement, size=network.x.shape) if displacement else 0 * network.x
    i, j = network.pairs.T
    bonds = network.bonds() + u[i] - u[j]
    bonds /= np.linalg.norm(bonds, axis=1)[:, None]
    gradients = np.zeros((len(i), *network.x.shape))
    rows = np.arange(len(i))
    gradients[rows, i], gradients[rows, j] = bonds, -bonds
    values = np.append(np.linalg.svd(gradients.reshape(len(i), -1), compute_uv=False), 0)
    values = np.maximum(values, 1e-15 * values[0])
    gaps = values[:-1] / values[1:]
    return int(np.argmax(gaps)) + 1, float(gaps.max())


def closer_than(distance: float, x: np.ndarray, box: np.ndarray) -> Network:
    pairs = np.array(list(combinations(range(len(x)), 2)))
    lengths = np.linalg.norm(nearest_image(x[pairs[:, 0]] - x[pairs[:, 1]], box), axis=1)
    return Network(x, pairs[lengths < distance], box)


def _in_box(fractions: np.ndarray, box: np.ndarray, is_triclinic: bool) -> tuple[np.ndarray, np.ndarray]:
    box = box @ SHEAR if is_triclinic else box
    return fractions @ box, box


def helix(is_triclinic: bool, beads: int = 10, neighbours: tuple[int, ...] = (1, 2, 3)) -> Network:
    i = np.arange(beads)
    box = np.diag([2, 2, 0.15 * beads])
    fractions = np.transpose([0.06 * np.cos(0.6 * np.pi * i), 0.06 * np.sin(0.6 * np.pi * i), i / beads])
    pairs = sorted({tuple(sorted((k, (k + n) % beads))) for k in range(beads) for n in neighbours})
    x, box = _in_box(fractions, box, is_triclinic)
    return Network(x, np.array(pairs), box)


def silicene(is_triclinic: bool) -> Network:
    """A buckled sheet of 4 x 3 cells: bonds and distances of second neighbours."""
    a, b, height = 0.387, 0.387 * 3**0.5, 0.046
    cell = np.array([[0, 0, height], [a / 2, b / 6, 0], [a / 2, b / 2, height], [0, 2 * b / 3, 0]])
    x = np.concatenate([cell + np.array([i * a, j * b, 1]) for i, j in product(range(4), range(3))])
    box = np.diag([4 * a, 3 * b, 2])
    return closer_than(1.05 * a, x, box + np.array([[0, 0, 0], [0, 0, 0], [0.2, -0.1, 0]]) * is_triclinic)


def diamond(is_triclinic: bool) -> Network:
    """Eight cells with the distances of first and second neighbours; in the sheared lattice some of the third."""
    face = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    cell = np.concatenate([face, face + 0.25])
    fractions = np.concatenate([cell + shift for shift in product(range(2), repeat=3)]) / 2
    return closer_than(0.283, *_in_box(fractions, np.diag([0.714] * 3), is_triclinic))


def tube(is_triclinic: bool) -> Network:
    """Along z: six rings of six, each turned by half a step."""
    layer, k = np.divmod(np.arange(36), 6)
    angle = np.pi / 3 * (k + 0.5 * (layer % 2))
    box = np.diag([2.5, 2.5, 1.2])
    fractions = np.transpose([0.5 + 0.12 * np.cos(angle), 0.5 + 0.12 * np.sin(angle), layer / 6])
    return closer_than(0.45, *_in_box(fractions, box, is_triclinic))


def random_network(rng: np.random.Generator) -> Network:
    """5-50 particles in a chain, a sheet or everywhere, wrapped into any image; few distances or many."""
    n, dimensions = int(rng.integers(6, 50)), int(rng.integers(1, 4))
    box = np.diag(rng.uniform(1, 1.4, 3))
    if rng.uniform() < 0.5:
        box[1, 0], box[2, 0], box[2, 1] = rng.uniform(-0.4, 0.4, 3) * [box[0, 0], box[0, 0], box[1, 1]]
    fractions = rng.uniform(size=(n, 3))
    fractions[:, dimensions:] = 0.4 + 0.2 * fractions[:, dimensions:]
    x = fractions[:, rng.permutation(3)] @ box
    pairs = np.array(list(combinations(range(n), 2)))
    lengths = np.linalg.norm(nearest_image(x[pairs[:, 0]] - x[pairs[:, 1]], box), axis=1)
    possible = np.flatnonzero((lengths < 0.495 * box.diagonal().min()) & (lengths > 0.02))
    wanted = int(n * rng.uniform(*[(1, 3), (2.7, 3.4), (3, 6)][rng.integers(3)]))
    nearest = possible[np.argsort(lengths[possible])] if rng.uniform() < 0.7 else rng.permutation(possible)
    return Network(x + rng.integers(-1, 2, size=(n, 3)) @ box, pairs[nearest[:wanted]], box)
