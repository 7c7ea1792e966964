# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Positions at which lengths were measured: they tell shapes that lengths alone leave open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import openmm as mm

from openmmconstraints.helpers.lengths import FromPositions
from openmmconstraints.helpers.pairs import Pair, Triple
from openmmconstraints.inspection.moves import project
from openmmconstraints.wrapper import ConstraintForce, RattleIntegrator


class Reference:
    """Positions of the particles of some pairs, connected ones in one piece, and the lengths measured there."""

    def __init__(self, measured: FromPositions, bonds: Collection[Pair], lengths: Mapping[Pair, float]) -> None:
        """
        Parameters
        ----------
        bonds : pairs that have nearest images
        lengths : nm, of bonds and of the ends of angles
        """
        self.lengths = lengths
        shifted = _whole(measured, bonds)
        self.particles = sorted(shifted)
        self.positions = np.array([shifted[p] for p in self.particles]).reshape(-1, 3)

    def keep(self, force: ConstraintForce) -> None:
        """Add the positions to those that a Force has."""
        particles, positions = force.getReferencePositions()
        known = dict(zip(particles, np.array(positions._value).reshape(-1, 3), strict=True))
        known.update(zip(self.particles, self.positions, strict=True))
        force.setReferencePositions(list(known), np.array(list(known.values())).reshape(-1, 3))

    def largest_move(self, masses: Sequence[float]) -> tuple[float, int]:
        """How far the lengths move the particle that they move farthest (nm), and which; 0 and -1 if they do not.

        Lengths of linear parts are fitted, whatever the positions are.
        """
        system, force = mm.System(), ConstraintForce()
        place = {p: n for n, p in enumerate(self.particles)}
        for p in self.particles:
            system.addParticle(masses[p])
        for (i, j), length in self.lengths.items():
            force.addDistance(place[i], place[j], length)
        force.setReferencePositions(range(len(place)), self.positions)
        system.addForce(force)
        integrator = RattleIntegrator(0.001)
        try:
            context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
            context.setPositions(self.positions)
            project(integrator)
        except mm.OpenMMException:  # a Context of the whole System has more to hold them, or tells what is wrong
            return 0.0, -1
        moved = context.getState(positions=True).getPositions(asNumpy=True)._value - self.positions
        distance = np.linalg.norm(moved, axis=1)
        worst = int(np.argmax(distance))
        return (float(distance[worst]), self.particles[worst]) if distance[worst] > 0 else (0.0, -1)


def has_straight(measured: FromPositions, angles: Sequence[Triple]) -> bool:
    """Whether any of these angles is close to 180 degrees, by more than what counts as straight."""
    if not angles:
        return False
    i, centre, j = np.array(angles).T
    first, second = measured.between(centre, i), measured.between(centre, j)
    ends = np.linalg.norm(first - second, axis=1)
    excess = np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1) - ends
    return bool((excess <= 1e-3 * ends).any())


def _whole(measured: FromPositions, bonds: Collection[Pair]) -> dict[int, np.ndarray]:
    """Positions of bonded particles next to each other, whatever images they are in."""
    pairs = np.array(list(bonds)).reshape(-1, 2)
    if measured.vectors is None:
        return {int(p): measured.x[p] for p in np.unique(pairs)}
    bond = measured.between(pairs[:, 0], pairs[:, 1])
    partners: dict[int, list[tuple[int, np.ndarray]]] = {}
    for (i, j), d in zip(pairs.tolist(), bond, strict=True):
        partners.setdefault(i, []).append((j, d))
        partners.setdefault(j, []).append((i, -d))
    placed: dict[int, np.ndarray] = {}
    for start in partners:
        if start in placed:
            continue
        placed[start] = measured.x[start]
        ends = [start]
        while ends:
            p = ends.pop()
            for other, d in partners[p]:
                if other not in placed:
                    placed[other] = placed[p] + d
                    ends.append(other)
    return placed
