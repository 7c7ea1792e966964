# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints that depend on each other: redundant ones, distances that form a rigid body, and ill-conditioned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import acos, degrees, pi

import numpy as np

from openmmconstraints.health.checker import Group
from openmmconstraints.health.findings import Finding
from openmmconstraints.health.openmm_solver import Solver
from openmmconstraints.inspection.kinds import (
    ANGLE,
    DISTANCE,
    FLAT,
    ILL_CONDITIONED,
    RECOGNIZED,
    REDUNDANT,
    SPATIAL,
    STRAIGHT,
)
from openmmconstraints.inspection.listing import Listing

#: Above it, or as near to 0, gradients of constraints are nearly parallel, and solvers need many iterations.
NEARLY_STRAIGHT = 170.0  # degrees
#: Angles this close to pi are taken as pi, as the integrators do (rad).
ROUNDING = 1e-4
#: Condition numbers above it are rounding errors.
SINGULAR = 1e9
#: What is recognized as a rigid body, and what OpenMM's own solver does to it.
SHAPES = {STRAIGHT: ("a linear rigid body", "returns NaN"), FLAT: ("a planar rigid body", "returns NaN")}
SHAPES[SPATIAL] = ("a rigid body", "may fail")


def find_dependence(
    listing: Listing, groups: Sequence[Group], solver: Solver, held_twice: frozenset[int] = frozenset()
) -> list[Finding]:
    """Findings about the groups that C++ found, and about angles that are nearly straight.

    :param held_twice: constraints that a warning is about already
    """
    return [
        *_recognized(listing, [group for group in groups if group.kind in RECOGNIZED], solver),
        *_redundant(listing, [group for group in groups if group.kind == REDUNDANT], held_twice),
        *_ill_conditioned(listing, [group for group in groups if group.kind == ILL_CONDITIONED]),
        *_narrow_triangles(listing, {k for group in groups if group.kind in RECOGNIZED for k in group.constraints}),
        *_narrow_angles(listing),
    ]


def _finding(listing: Listing, group: Group, severity, kind, message, remedy, count=1, **values) -> Finding:
    names = listing.names(group.particles)
    return Finding(severity, kind, message, remedy, group.constraints, group.particles, names, values, count)


def _recognized(listing: Listing, groups: Iterable[Group], solver: Solver) -> Iterator[Finding]:
    """Distances and angles that form a rigid body; bodies of the same kind and size are one finding."""
    alike: dict[tuple, list[Group]] = defaultdict(list)
    for group in groups:
        constraints = list(group.constraints)
        in_system = bool(np.all(listing.force[constraints] < 0))
        has_angles = bool(np.any(listing.kind[constraints] == ANGLE))
        alike[group.kind, len(group.particles), group.number, has_angles, in_system].append(group)
    for (kind, _, freedom, has_angles, in_system), bodies in alike.items():
        shape, outcome = SHAPES[kind]
        message = (
            f"The distances {'and angles ' if has_angles else ''}of {listing.particles_text(bodies[0].particles)} form "
            f"{shape}, and are solved as one. By itself it has {freedom:.0f} degree{'s' if freedom != 1 else ''} of "
            "freedom."
        )
        values = {"degrees_of_freedom": freedom}
        if not in_system or solver is not Solver.OPENMM:
            yield _finding(listing, bodies[0], "note", "rigid", message, "", len(bodies), **values)
            continue
        message += f" This integrator applies OpenMM's own solver to System constraints, which {outcome} for it."
        remedy = "Call openmmconstraints.replaceSolver(system) before creating the Context."
        yield _finding(listing, bodies[0], "warning", "rigid", message, remedy, len(bodies), **values)


def _redundant(listing: Listing, groups: Sequence[Group], held_twice: frozenset[int]) -> Iterator[Finding]:
    groups = [without for group in groups if (without := _without(group, held_twice)).count > 0]
    if not groups:
        return
    dependent = tuple(sorted(k for group in groups for k in group.constraints))
    count = sum(group.count for group in groups)
    first = next((group for group in groups if group.constraints), groups[0])
    of = listing.particles_text(first.particles)
    if first.constraints:
        what = listing.describe(first.constraints[0])
        others = count - 1
        more = f" {others:,} more are redundant." if others > 1 else " 1 more is redundant." if others else ""
        message = f"{what} follows from the other constraints of {of}. It is redundant: checked, but not counted.{more}"
    else:
        message = f"Rigid bodies constrain {of} more than once. What is redundant is checked, but not counted."
    remedy = "Nothing has to be done while their values agree within the tolerance."
    names = listing.names(first.particles)
    yield Finding("note", "redundant", message, remedy, dependent, first.particles, names, {}, count)


def _without(group: Group, constraints: frozenset[int]) -> Group:
    left = tuple(k for k in group.constraints if k not in constraints)
    return replace(group, constraints=left, count=group.count - (len(group.constraints) - len(left)))


def _ill_conditioned(listing: Listing, groups: Sequence[Group]) -> Iterator[Finding]:
    if not groups:
        return
    worst = max(groups, key=lambda group: group.number)
    singular = "singular" if worst.number > SINGULAR else "nearly singular"
    message = (
        f"The constraints of {listing.particles_text(worst.particles)} are {singular} at these positions (condition "
        f"number {worst.number:.1e})."
    )
    remedy = "Look for angles near 180 degrees and flat groups; use addRigidBody() for what is rigid."
    yield _finding(
        listing, worst, "warning", "ill-conditioned", message, remedy, len(groups), condition=float(worst.number)
    )


def _is_in_a_ring(nodes: int, pairs: np.ndarray) -> np.ndarray:
    """[edges] whether each belongs to a connected part of the graph with a ring. Large Systems are mostly trees."""
    label = np.arange(nodes)
    while np.any(apart := label[pairs[:, 0]] != label[pairs[:, 1]]):
        ends = label[pairs[apart]]
        np.minimum.at(label, np.max(ends, axis=1), np.min(ends, axis=1))
        while np.any((root := label[label]) != label):
            label = root
    of = label[pairs[:, 0]]
    return (np.bincount(of, minlength=nodes) >= np.bincount(label, minlength=nodes))[of]


def _narrow_triangles(listing: Listing, straight: set[int]) -> Iterator[Finding]:
    """Three distances with an angle of nearly 180 or 0 degrees that do not belong to a rigid body."""
    which, pairs = listing.of_kind(DISTANCE)
    rings = _is_in_a_ring(len(listing.masses), pairs)
    which, pairs = which[rings], pairs[rings]
    edge = {frozenset(pair): k for k, pair in zip(which.tolist(), pairs.tolist(), strict=True)}
    neighbours: dict[int, set[int]] = defaultdict(set)
    for i, j in pairs.tolist():
        neighbours[i].add(j)
        neighbours[j].add(i)
    found: list[tuple[float, tuple[int, int, int], tuple[int, ...]]] = []
    for (i, j), k in ((tuple(pair), k) for pair, k in edge.items() if len(pair) == 2):
        c = listing.target[k]  # the longest side faces the widest angle
        few, many = sorted((neighbours[i], neighbours[j]), key=len)
        for vertex in few & many if len(few) > 1 else ():
            one, other = edge[frozenset((i, vertex))], edge[frozenset((vertex, j))]
            a, b = listing.target[one], listing.target[other]
            if c < max(a, b):
                continue
            angle = degrees(acos(np.clip((a * a + b * b - c * c) / (2 * a * b), -1, 1)))
            if angle > NEARLY_STRAIGHT and not straight.issuperset((one, other, k)):
                found.append((angle, (i, vertex, j), (one, other, k)))
    if found:
        angle, particles, constraints = max(found)
        message = (
            f"{listing.particles_text(particles)}: their three distances make an angle of {angle:.4g} degrees, which "
            "is nearly straight. They hardly resist bending there, and multipliers become large."
        )
        remedy = "Make it 180 degrees, which is solved exactly, or leave out the longest distance."
        names, values = listing.names(particles), {"degrees": angle}
        yield Finding("warning", "nearly-straight", message, remedy, constraints, particles, names, values, len(found))


def _narrow_angles(listing: Listing) -> list[Finding]:
    """Angle constraints near 0 or 180 degrees, or on their way there."""
    findings = []
    which, particles = listing.of_kind(ANGLE)
    angles = np.degrees(listing.target[which])
    bend = np.minimum(angles, 180 - angles)
    narrow = (bend < 180 - NEARLY_STRAIGHT) & (np.abs(listing.target[which] - pi) > ROUNDING)
    if np.any(narrow):
        n = int(np.argmin(np.where(narrow, bend, np.inf)))
        k, three = int(which[n]), tuple(particles[n].tolist())
        message = f"{listing.describe(k)}: {angles[n]:.4g} degrees has a gradient that nearly vanishes or diverges."
        remedy = "An angle of exactly 180 degrees has no such gradient: use pi if the angle is meant to be straight."
        values = {"degrees": float(angles[n])}
        count = int(np.count_nonzero(narrow))
        names = listing.names(three)
        findings.append(Finding("warning", "nearly-straight", message, remedy, (k,), three, names, values, count))
    for k in which[listing.rate[which] != 0].tolist():
        rate, target = listing.rate[k], listing.target[k]
        time = listing.start_time[k] + ((pi if rate > 0 else 0) - target) / rate
        message = (
            f"{listing.describe(k)} moves and reaches {180 if rate > 0 else 0} degrees, where it has no gradient, at "
            f"t = {time:.4g} ps."
        )
        three = listing.of(k)
        values = {"time_ps": float(time)}
        remedy = f"Stop before, or call setAngleRate({listing.index[k]}, rate, startTime) with others."
        findings.append(Finding("note", "moving", message, remedy, (k,), three, listing.names(three), values))
    return findings
