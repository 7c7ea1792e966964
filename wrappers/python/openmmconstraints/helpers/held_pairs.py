# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Pairs of particles whose distance something else than the System's own constraints holds, and what no pair counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.helpers.counts import count_of
from openmmconstraints.helpers.pairs import Pair, pair_of
from openmmconstraints.inspection.kinds import ANGLE, BODY, DISTANCE, NOUNS, STRAIGHT
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.wrapper import ConstraintForce


def pairs_of(listing: Listing, constraints: Sequence[int] | np.ndarray) -> list[Pair]:
    """Of constraints with two particles each."""
    which = np.array(constraints, dtype=np.int64)
    pairs = np.sort(listing.particle[listing.start[which][:, None] + np.arange(2)], axis=1)
    return [(first, second) for first, second in pairs.tolist()]


def held_pairs(system: mm.System, listing: Listing, among: np.ndarray) -> Iterator[tuple[Pair, float]]:
    """Distances (nm) that constraints hold other than the System's own, each of which takes a degree of freedom.

    among: [constraints and bodies] whether to look at it
    """
    still = among & listing.valid & ~listing.is_changing
    lengths = _lengths(listing, still)
    of_forces = np.flatnonzero(still & (listing.kind == DISTANCE) & (listing.force >= 0))
    yield from zip(pairs_of(listing, of_forces), listing.target[of_forces].tolist(), strict=True)
    for b in np.flatnonzero(among & listing.valid & (listing.kind == BODY)).tolist():
        yield from _pairs_of_body(system, listing, b)
    for k in np.flatnonzero(still & (listing.kind == ANGLE)).tolist():
        sides = _sides(listing, lengths, k)
        if sides is not None:
            a, b = sides
            yield _ends(listing, k), math.sqrt(a * a + b * b - 2 * a * b * math.cos(listing.target[k]))


def massive_shape(system: mm.System, listing: Listing, b: int) -> tuple[list[int], np.ndarray]:
    """Particles with mass of a body, and their positions in its shape (nm)."""
    force = ConstraintForce.cast(system.getForce(int(listing.force[b])))
    particles, shape = force.getRigidBodyParameters(int(listing.index[b]))
    heavy = [n for n, p in enumerate(particles) if listing.masses[p] > 0]
    return [particles[n] for n in heavy], np.array(shape.value_in_unit(unit.nanometer))[heavy].reshape(-1, 3)


def name_uncounted(
    system: mm.System, listing: Listing, found: Mapping[str, Any], counted: set[Pair]
) -> tuple[str, ...]:
    """What the pairs that OpenMM counts do not count, or not all of: "2 angles".

    found: what the diagnosis of the System has found
    """
    which = np.flatnonzero(listing.valid & ~listing.is_ignored)
    which = which[~np.isin(which, np.array(found["absorbed"], dtype=np.int64))]  # a body holds those
    is_distance = listing.kind[which] == DISTANCE
    number: Counter[int] = Counter()
    number[DISTANCE] = sum(pair not in counted for pair in pairs_of(listing, which[is_distance]))
    lengths = _lengths(listing, listing.valid & ~listing.is_changing)
    for k in which[~is_distance].tolist():
        kind = int(listing.kind[k])
        if kind == BODY:
            is_counted = all(pair in counted for pair, _ in _pairs_of_body(system, listing, k))
            number[kind] += not is_counted or _is_linear(massive_shape(system, listing, k)[1])
        elif kind == ANGLE:  # if its sides are not held, its ends are counted for something else
            number[kind] += _sides(listing, lengths, k) is None or _ends(listing, k) not in counted
        else:
            number[kind] += 1
    nouns = {BODY: "rigid bodies"}
    named = [count_of(number[kind], NOUNS[kind], nouns.get(kind)) for kind in sorted(number) if number[kind]]
    if not number[ANGLE] and (lines := sum(_is_short_of_pairs(listing, group, counted) for group in found["groups"])):
        named.append(count_of(lines, "linear rigid body", "linear rigid bodies"))
    return tuple(named)


def _lengths(listing: Listing, among: np.ndarray) -> dict[Pair, float]:
    """Distances (nm) of some constraints."""
    which = np.flatnonzero(among & (listing.kind == DISTANCE))
    return dict(zip(pairs_of(listing, which), listing.target[which].tolist(), strict=True))


def _ends(listing: Listing, k: int) -> Pair:
    """The first and the last particle of an angle."""
    particles = listing.of(k)
    return pair_of(particles[0], particles[-1])


def _sides(listing: Listing, lengths: Mapping[Pair, float], k: int) -> tuple[float, float] | None:
    """The lengths (nm) that are held beside an angle, with which it holds the distance of its ends; None: it holds it
    not, or is straight."""
    first, middle, last = listing.of(k)
    a, b = lengths.get(pair_of(first, middle)), lengths.get(pair_of(middle, last))
    return None if a is None or b is None or listing.target[k] >= math.pi else (a, b)


def _pairs_of_body(system: mm.System, listing: Listing, b: int) -> Iterator[tuple[Pair, float]]:
    """Distances that hold a body: of each particle to three before it. They are near in its order, not to the same
    three, because OpenMM sets its own algorithm up for them, too: with many to one particle that takes minutes."""
    particles, x = massive_shape(system, listing, b)
    for n in range(len(particles)):
        for m in range(max(0, n - 3), n):
            yield pair_of(particles[m], particles[n]), float(np.linalg.norm(x[n] - x[m]))


def _is_linear(x: np.ndarray) -> bool:
    """Whether three points or more are on a line: distances alone do not hold them there."""
    return len(x) > 2 and np.linalg.matrix_rank(x - x[0], tol=1e-4) < 2


def _is_short_of_pairs(listing: Listing, group: Mapping[str, Any], counted: set[Pair]) -> bool:
    """Whether constraints hold particles on a line, and fewer of their pairs are counted than they take degrees of
    freedom."""
    if group["kind"] != STRAIGHT:
        return False
    massive = [p for p in sorted(group["particles"]) if listing.masses[p] > 0]
    pairs = sum((p, q) in counted for i, p in enumerate(massive) for q in massive[i + 1 :])
    return pairs < 3 * len(massive) - group["number"]
