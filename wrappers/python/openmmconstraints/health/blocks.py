# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which constraints can depend on each other: blocks of closed rings, equal ones taken together.

Constraints that depend on each other are a self-stress: multipliers whose forces cancel on every movable particle.
Where two parts share one particle only, the forces of each part cancel there by themselves, since they sum to zero over
the part. So the rank is that of the biconnected components of the graph of particles, one by one; bonds in no ring are
independent. Immovable particles, and the space that an expression refers to, are one node: the ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from openmmconstraints.health.listing import EXPRESSION, Listing

#: Blocks of so few constraints are looked at whole, with what is attached to their ring.
_SMALL = 4


@dataclass(frozen=True)
class Pattern:
    """Blocks that are equal but for their place."""

    kinds: tuple[int, ...]  #: of each constraint
    members: tuple[tuple[int, ...], ...]  #: its particles, 0 ... n-1
    targets: np.ndarray  #: [K]
    masses: np.ndarray  #: [n]
    periodic: bool
    in_system: bool  #: whether all are System constraints
    moving: bool  #: whether any has a rate
    constraints: np.ndarray  #: [number of blocks, K]
    particles: np.ndarray  #: [number of blocks, n]


def find_patterns(listing: Listing) -> list[Pattern]:
    """All blocks of more than one constraint, largest first."""
    found: dict[tuple, tuple[list[list[int]], list[list[int]]]] = {}
    kind, target, is_periodic = listing.kind.tolist(), np.round(listing.target, 7).tolist(), listing.periodic.tolist()
    start, particle, is_of_system = listing.start.tolist(), listing.particle.tolist(), (listing.force < 0).tolist()
    masses, rate = listing.masses.tolist(), listing.rate.tolist()
    for block in _blocks(listing):
        place: dict[int, int] = {}
        members = []
        for k in block:
            members.append(tuple([place.setdefault(p, len(place)) for p in particle[start[k] : start[k + 1]]]))
        key = (
            tuple([kind[k] for k in block]),
            tuple(members),
            tuple([target[k] for k in block]),
            tuple([masses[p] for p in place]),
            any(is_periodic[k] for k in block),
            all(is_of_system[k] for k in block),
            any(rate[k] != 0 for k in block),
        )
        constraints, particles = found.setdefault(key, ([], []))
        constraints.append(block)
        particles.append(list(place))
    patterns = [
        Pattern(
            kinds, members, listing.target[ks[0]], np.array(m), periodic, in_system, moving, np.array(ks), np.array(ps)
        )
        for (kinds, members, _, m, periodic, in_system, moving), (ks, ps) in found.items()
    ]
    return sorted(patterns, key=lambda pattern: -len(pattern.kinds))


def _blocks(listing: Listing) -> Iterator[list[int]]:
    """Constraint indices of each block, ascending."""
    ground = len(listing.masses)
    first, second, owner = _edges(listing, ground)
    component = _components(ground + 1, first, second)
    edges = np.bincount(component[first], minlength=ground + 1)
    nodes = np.bincount(component, minlength=ground + 1)
    closed = edges >= nodes  # trees have one edge less, and edges of components without any do not matter
    keep = np.flatnonzero(closed[component[first]])
    keep = keep[np.argsort(component[first[keep]], kind="stable")]
    first, second, owner = first[keep], second[keep], owner[keep]
    ends = np.flatnonzero(np.diff(component[first], append=-1)) + 1
    first, second, owner = first.tolist(), second.tolist(), owner.tolist()
    begin = 0
    for end in ends.tolist():
        constraints = sorted(set(owner[begin:end]))
        if len(constraints) > _SMALL:
            for block in _biconnected(first[begin:end], second[begin:end], owner[begin:end]):
                if len(block) > 1:
                    yield sorted(block)
        elif len(constraints) > 1:
            yield constraints
        begin = end


def _edges(listing: Listing, ground: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends of edges and the constraint of each: a distance is one, anything else a ring through its particles."""
    node = np.arange(ground + 1)
    node[:-1][listing.masses == 0] = ground
    sizes = np.diff(listing.start)
    pairs = np.flatnonzero(listing.valid & (sizes == 2) & (listing.kind != EXPRESSION))
    begin = listing.start[pairs]
    first, second, owner = [listing.particle[begin]], [listing.particle[begin + 1]], [pairs]
    for k in np.flatnonzero(listing.valid & ((sizes != 2) | (listing.kind == EXPRESSION))).tolist():
        ring = list(listing.of(k))
        if listing.kind[k] == EXPRESSION:
            ring.append(ground)
        first.append(np.array(ring))
        second.append(np.roll(ring, 1))
        owner.append(np.full(len(ring), k))
    a, b, k = node[np.concatenate(first)], node[np.concatenate(second)], np.concatenate(owner)
    joins = a != b
    return a[joins], b[joins], k[joins]


def _components(nodes: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[nodes] the smallest node that each is connected to."""
    label = np.arange(nodes)
    while True:
        a, b = label[first], label[second]
        apart = a != b
        if not np.any(apart):
            return label
        low, high = np.minimum(a, b)[apart], np.maximum(a, b)[apart]
        np.minimum.at(label, high, low)
        while np.any((root := label[label]) != label):
            label = root


def _biconnected(first: list[int], second: list[int], owner: list[int]) -> Iterator[set[int]]:
    """Constraints of each biconnected component. Tarjan, SIAM J. Comput. 1, 146 (1972), without recursion."""
    edges_of: dict[int, list[int]] = {}
    for e, (a, b) in enumerate(zip(first, second, strict=True)):
        edges_of.setdefault(a, []).append(e)
        edges_of.setdefault(b, []).append(e)
    order: dict[int, int] = {first[0]: 0}  # in which nodes were reached
    low: dict[int, int] = {first[0]: 0}  # the first one reached by a way back
    taken = bytearray(len(first))
    pending: list[int] = []  # edges whose component is open
    path = [(first[0], iter(edges_of[first[0]]), 0)]  # node, its edges, pending edges before the one that led here
    while path:
        node, rest, _ = path[-1]
        for e in rest:
            if taken[e]:
                continue
            taken[e] = 1
            other = second[e] if first[e] == node else first[e]
            if other in order:
                pending.append(e)
                low[node] = min(low[node], order[other])
                continue
            order[other] = low[other] = len(order)
            path.append((other, iter(edges_of[other]), len(pending)))
            pending.append(e)
            break
        else:
            _, _, begin = path.pop()
            if path:
                parent = path[-1][0]
                low[parent] = min(low[parent], low[node])
                if low[node] >= order[parent]:
                    yield {owner[e] for e in pending[begin:]}
                    del pending[begin:]
