# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Periods of harmonic terms that are not constrained, and the time step that they allow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import floor, isfinite, log10, tau

import numpy as np
import openmm as mm

from openmmconstraints.inspection.kinds import ANGLE, BODY, DISTANCE
from openmmconstraints.inspection.listing import Listing

_Two = tuple[int, int]
_Three = tuple[int, int, int]

STEPS_A_PERIOD = 10
FEWEST_STEPS_A_PERIOD = 5
#: Leapfrog and velocity Verlet need omega dt < 2, pi steps a period; constrained neighbours may slow a term by some
#: percent.
STEPS_OF_INSTABILITY = 3
#: fs, for a lightest particle of 1 Da: librations and collisions limit the time step where no bond or angle does.
LIBRATION_LIMIT = 4.0


@dataclass(frozen=True)
class Vibration:
    """A harmonic term that is not constrained."""

    kind: str  #: "bond" or "angle"
    particles: tuple[int, ...]
    names: tuple[str, ...]
    period: float  #: fs, 2 pi/sqrt(k G)
    count: int  #: how many terms have this period (to 1 %)

    def __str__(self) -> str:
        where = "-".join(map(str, self.particles)) + (f" ({' - '.join(self.names)})" if self.names else "")
        return f"{self.kind} {where}: {self.period:.1f} fs period"

    def as_dict(self) -> dict[str, object]:
        """JSON-able."""
        return {**vars(self), "particles": list(self.particles), "names": list(self.names)}


def find_vibrations(system: mm.System, listing: Listing) -> tuple[list[Vibration], list[str]]:
    """The fastest harmonic bonds and angles, one of each period, and names of Forces whose periods are not known.

    omega^2 = k G: G is 1/m_i + 1/m_j for a bond, and Wilson's element 1/(m_i a^2) + 1/(m_j b^2) + |1/a^2 + 1/b^2 -
    2 cos(theta)/(a b)|/m_centre for an angle between bonds of lengths a and b (Wilson, Decius, Cross, Molecular
    Vibrations, 1955, appendix VI). Each term by itself: terms that share atoms make modes somewhat faster, for a
    methyl group by a fifth. Torsions and non-bonded forces are slower.
    """
    inverse = np.divide(1, listing.masses, out=np.zeros(len(listing.masses)), where=listing.masses > 0)
    held, held_angles, body_of = _held(listing)
    lengths, angles, unseen = _terms(system)
    there = range(len(inverse))  # terms of particles that do not exist are OpenMM's to refuse
    rows: list[tuple[float, str, tuple[int, ...]]] = []
    known = {pair: length for pair, (length, _) in lengths.items()} | held

    def is_held(i: int, j: int) -> bool:
        return (
            (min(i, j), max(i, j)) in held
            or inverse[i] == inverse[j] == 0
            or not body_of.get(i, frozenset()).isdisjoint(body_of.get(j, ()))
        )

    for (i, j), (_, k) in lengths.items():
        if k > 0 and i in there and j in there and not is_held(i, j):
            rows.append((k * (inverse[i] + inverse[j]), "bond", (i, j)))
    for (i, c, j), (theta, k) in angles.items():
        if not (k > 0 and i in there and c in there and j in there) or (i, c, j) in held_angles:
            continue
        if is_held(i, j) and is_held(i, c) and is_held(c, j):
            continue
        a, b = known.get((min(i, c), max(i, c))), known.get((min(c, j), max(c, j)))
        if a and b and isfinite(theta):
            centre = 1 / a**2 + 1 / b**2 - 2 * np.cos(theta) / (a * b)
            rows.append((k * (inverse[i] / a**2 + inverse[j] / b**2 + inverse[c] * centre), "angle", (i, c, j)))
    return _fastest(rows, listing), unseen


def _held(listing: Listing) -> tuple[dict[_Two, float], set[_Three], dict[int, set[int]]]:
    """Constrained pairs with their lengths, constrained angles, and the rigid bodies of particles."""
    which, pairs = listing.of_kind(DISTANCE)
    pairs = np.sort(pairs, axis=1).tolist()
    held = {(i, j): length for (i, j), length in zip(pairs, listing.target[which].tolist(), strict=True)}
    _, triples = listing.of_kind(ANGLE)
    held_angles = {(min(i, j), c, max(i, j)) for i, c, j in triples.tolist()}
    body_of: dict[int, set[int]] = {}
    for body in np.flatnonzero((listing.kind == BODY) & listing.valid).tolist():
        for p in listing.of(body):
            body_of.setdefault(p, set()).add(body)
    return held, held_angles, body_of


def _terms(system: mm.System) -> tuple[dict[_Two, tuple[float, float]], dict[_Three, tuple[float, float]], list[str]]:
    """{(i, j): (length, k)}, {(i, centre, j): (angle, k)}; force constants of the same atoms add up."""
    lengths: dict[_Two, tuple[float, float]] = {}
    angles: dict[_Three, tuple[float, float]] = {}
    unseen = []
    for force in system.getForces():
        if isinstance(force, mm.HarmonicBondForce):
            for n in range(force.getNumBonds()):
                i, j, length, k = force.getBondParameters(n)
                pair = (min(i, j), max(i, j))
                lengths[pair] = (length._value, k._value + lengths.get(pair, (0, 0))[1])
        elif isinstance(force, mm.HarmonicAngleForce):
            for n in range(force.getNumAngles()):
                i, centre, j, angle, k = force.getAngleParameters(n)
                ends = (min(i, j), centre, max(i, j))
                angles[ends] = (angle._value, k._value + angles.get(ends, (0, 0))[1])
        elif isinstance(force, mm.CustomBondForce | mm.CustomAngleForce | mm.CustomCompoundBondForce):
            unseen.append(type(force).__name__)
    return lengths, angles, unseen


def _fastest(rows: list[tuple[float, str, tuple[int, ...]]], listing: Listing, most: int = 3) -> list[Vibration]:
    """One for each period."""

    def key(row: tuple[float, str, tuple[int, ...]]) -> tuple[str, int]:
        return row[1], round(50 * log10(row[0]))  # omega^2, so that the period is alike to some percent

    rows = sorted((row for row in rows if 0 < row[0] < np.inf), key=lambda row: (-row[0], row[2]))
    counts = Counter(map(key, rows))
    fastest: dict[tuple[str, int], Vibration] = {}
    for row in rows:
        square, kind, particles = row
        if key(row) not in fastest:
            period = 1000 * tau / square**0.5
            names = listing.names(particles)
            fastest[key(row)] = Vibration(kind, particles, names, float(period), counts[key(row)])
            if len(fastest) == most:
                break
    return list(fastest.values())


def recommend_step(vibrations: list[Vibration], lightest: float) -> tuple[float, str]:
    """A time step (fs), rounded down to two digits, and what limits it.

    Ten steps a period of the fastest harmonic term: leapfrog and velocity Verlet then have its frequency to
    (omega dt)^2/24 = 1.6 %, and GROMACS' grompp takes the same number for its note (and five for its warning). Where
    that allows more, 4 fs times the square root of the lightest particle's mass in Da: what is commonly run where
    hydrogen atoms are left with librations and collisions; this is experience, not theory.
    """
    limit = LIBRATION_LIMIT * lightest**0.5
    reason = f"librations and collisions of particles of {lightest:.3g} Da"
    if vibrations and vibrations[0].period / STEPS_A_PERIOD < limit:
        limit, reason = vibrations[0].period / STEPS_A_PERIOD, str(vibrations[0])
    digits = 1 - floor(log10(limit))
    return floor(limit * 10**digits + 1e-9) / 10**digits, reason
