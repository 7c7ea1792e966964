# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Findings about what rigid bodies hold: constraints of their particles, particles on a line, other bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from openmmconstraints.health.checker import Diagnosis, Group
from openmmconstraints.health.findings import Finding
from openmmconstraints.inspection.kinds import BODY, LENGTHS, RECOGNIZED, RIGID
from openmmconstraints.inspection.listing import Listing

#: Differences from a shape that are worth a number: relative, or rad.
SMALL = 1e-6


def find_held(listing: Listing, diagnosis: Diagnosis) -> list[Finding]:
    """Findings about constraints inside rigid bodies, particles moved onto a line, and bodies that are one."""
    return [*_absorbed(listing, diagnosis), *_straightened(listing, diagnosis), *_merged(listing, diagnosis)]


def count_held(listing: Listing, groups: Sequence[Group]) -> int:
    """How many of the System's constraints one rigid body holds, at most."""
    held = (list(group.constraints) for group in groups if group.kind in (*RECOGNIZED, RIGID))
    return max((int(np.count_nonzero(listing.force[constraints] < 0)) for constraints in held), default=0)


def _absorbed(listing: Listing, diagnosis: Diagnosis) -> Iterator[Finding]:
    is_told = diagnosis.held_twice.issuperset(diagnosis.absorbed) and diagnosis.absorbed_deviation <= SMALL
    if not diagnosis.absorbed or is_told:
        return
    k, deviation, count = diagnosis.absorbed_constraint, diagnosis.absorbed_deviation, len(diagnosis.absorbed)
    others = f" So are {count - 1:,} others." if count > 2 else " So is 1 other." if count == 2 else ""
    message = f"{listing.describe(k)} is held by a rigid body: it is not solved, and its multiplier is 0.{others}"
    values = {"deviation": deviation}
    if deviation > SMALL:
        is_length = listing.kind[k] in LENGTHS
        by = f"{100 * deviation:.2g} %" if is_length else f"{np.degrees(deviation):.2g} degrees"
        message += (
            f" It differs from the body's shape, which is kept, by {by}{', the most of these' if others else ''}."
        )
    particles = listing.of(k)
    yield Finding(
        "note", "absorbed", message, "", diagnosis.absorbed, particles, listing.names(particles), values, count
    )


def _straightened(listing: Listing, diagnosis: Diagnosis) -> Iterator[Finding]:
    bodies = [group for group in diagnosis.groups if group.kind == RIGID and group.number > 0]
    if not bodies:
        return
    worst = max(bodies, key=lambda group: group.number)
    message = (
        f"The rigid body of {listing.particles_text(worst.particles)} has particles on a line, because it is linear or "
        f"on a hinge: the shape given to addRigidBody() is moved by up to {worst.number:.2g} nm onto it."
    )
    values = {"shift": worst.number}
    names = listing.names(worst.particles)
    yield Finding("note", "linear", message, "", worst.constraints, worst.particles, names, values, len(bodies))


def _merged(listing: Listing, diagnosis: Diagnosis) -> Iterator[Finding]:
    """Declared bodies that are parts of one; a part that several bodies have is one of the first."""
    groups = [group for group in diagnosis.groups if group.kind == RIGID]
    declared = np.flatnonzero((listing.kind == BODY) & listing.valid).tolist()
    if len(groups) >= len(declared):
        return
    wholes: dict[int, list[int]] = {}
    for g, group in enumerate(groups):
        for p in group.particles:
            wholes.setdefault(p, []).append(g)
    parts: dict[int, list[int]] = {}
    for k in declared:
        particles = listing.of(k)
        for g in wholes.get(particles[0], ()) if particles else ():
            if set(particles) <= set(groups[g].particles):
                parts.setdefault(g, []).append(k)
                break
    merged = [(g, bodies) for g, bodies in parts.items() if len(bodies) > 1]
    if not merged:
        return
    largest, bodies = max(merged, key=lambda item: len(item[1]))
    particles, number = groups[largest].particles, len(bodies)
    message = (
        f"{listing.describe(bodies[0])} is one with {number - 1:,} other{'s' if number > 2 else ''}: "
        "particles that they share fix them to each other."
    )
    values = {"bodies": float(number)}
    yield Finding("note", "merged", message, "", (), particles, listing.names(particles), values, len(merged))
