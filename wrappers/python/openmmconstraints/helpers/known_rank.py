# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Of a System in which positions decide how many constraints are independent: what is independent wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import openmm as mm

from openmmconstraints.helpers.held_pairs import massive_shape
from openmmconstraints.inspection.kinds import ANGLE, BODY, DISTANCE
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.wrapper import ConstraintForce, RattleIntegrator, _diagnose

T = TypeVar("T")


class Joined:
    """Sets of particles that grow by being joined."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def first_of(self, particle: int) -> int:
        """The particle that stands for a set."""
        parent = self._parent
        while (above := parent.setdefault(particle, particle)) != particle:
            parent[particle] = parent[above]
            particle = above
        return particle

    def join(self, particles: Sequence[int]) -> bool:
        """Whether any two of them were of different sets."""
        firsts = {self.first_of(p) for p in particles}
        for first in firsts:
            self._parent[first] = min(firsts)
        return len(firsts) > 1


@dataclass(frozen=True)
class KnownRank:
    """The constraints of molecules of which it is known how many are independent, and of those where it is not."""

    is_of: np.ndarray  #: [constraints and bodies of a Listing] whether it is one of them
    independent: int  #: how many of them are
    undecided: tuple[int, ...]  #: particles of the other molecules; if there are none, of other constraints

    def joined(self, listing: Listing) -> Joined:
        """What these constraints join."""
        joined = Joined()
        for k in np.flatnonzero(self.is_of).tolist():
            joined.join(listing.of(k))
        return joined


def rank_without_positions(system: mm.System, listing: Listing) -> KnownRank:
    """Look at molecules, as constraints join them, by themselves, and at many at once while all of them are known.

    Of distances, angles and rigid bodies that do not move. What else is held, and particles without mass, are left out:
    without them, fewer constraints are independent, never more. Of molecules that are constrained alike, all are taken
    as unknown if the first one is: one look at each would take long.
    """
    is_of, independent, undecided = np.zeros(len(listing.kind), dtype=bool), 0, set()
    parts = [_molecules(system, listing)]
    while parts:
        part = parts.pop()
        constraints = [k for alike in part for molecule in alike for k in molecule]
        rank = _rank_of(system, listing, constraints)
        if rank is not None:
            independent += rank
            is_of[constraints] = True
        elif len(part) > 1:
            parts += _halves(part)
        elif len(part[0]) > 1 and _rank_of(system, listing, part[0][0]) is not None:
            parts += [[alike] for alike in _halves(part[0])]
        else:
            undecided.update(p for k in constraints for p in listing.of(k))
    others = np.flatnonzero(listing.valid & ~listing.is_ignored & ~is_of).tolist()
    undecided = undecided or {p for k in others for p in listing.of(k)}
    return KnownRank(is_of, independent, tuple(sorted(undecided)))


def _molecules(system: mm.System, listing: Listing) -> list[list[list[int]]]:
    """Lists of molecules that are constrained alike, each as the indices of its constraints."""
    still = listing.valid & ~listing.is_changing & np.isin(listing.kind, (DISTANCE, ANGLE, BODY))
    massive = {k: _particles_of(system, listing, k) for k in np.flatnonzero(still).tolist()}
    massive = {k: particles for k, particles in massive.items() if len(particles) > 1}
    joined = Joined()
    for particles in massive.values():
        joined.join(particles)
    molecules: dict[int, list[int]] = {}
    for k, particles in massive.items():
        molecules.setdefault(joined.first_of(particles[0]), []).append(k)
    alike: dict[tuple[object, ...], list[list[int]]] = {}
    for first, molecule in molecules.items():
        what = tuple((int(listing.kind[k]), *(p - first for p in massive[k])) for k in molecule)
        alike.setdefault(what, []).append(molecule)
    return list(alike.values())


def _halves(things: list[T]) -> list[list[T]]:
    return [things[: len(things) // 2], things[len(things) // 2 :]]


def _particles_of(system: mm.System, listing: Listing, k: int) -> list[int]:
    """Those with mass, which a distance or an angle needs all; else none."""
    particles = list(listing.of(k))
    massive = [p for p in particles if listing.masses[p] > 0]
    return massive if listing.kind[k] == BODY or len(massive) == len(particles) else []


def _rank_of(system: mm.System, listing: Listing, constraints: list[int]) -> int | None:
    """How many of these constraints are independent in a System without others; None: positions decide."""
    alone, number = mm.System(), {}
    for p in sorted({p for k in constraints for p in _particles_of(system, listing, k)}):
        number[p] = alone.addParticle(listing.masses[p])
    alone.setDefaultPeriodicBoxVectors(*listing.box)
    for periodic in (False, True):
        force = ConstraintForce()
        force.setUsesPeriodicBoundaryConditions(periodic)
        for k in constraints:
            if listing.periodic[k] != periodic:
                continue
            if listing.kind[k] == BODY:
                particles, shape = massive_shape(system, listing, k)
                force.addRigidBody([number[p] for p in particles], shape)
            else:
                add = force.addDistance if listing.kind[k] == DISTANCE else force.addAngle
                add(*[number[p] for p in listing.of(k)], float(listing.target[k]))
        alone.addForce(force)
    found = _diagnose(alone, RattleIntegrator(0.001), None, listing.box, 0.0)
    return found["independent"] if found["isComplete"] and found["isRankKnown"] else None
