# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints that depend on each other: redundant ones, straight and flat sets, and how near others come to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import acos, degrees, pi

import numpy as np
import openmm as mm

from openmmconstraints.health.blocks import Pattern
from openmmconstraints.health.findings import Finding
from openmmconstraints.health.gradients import (
    STRAIGHT,
    ZERO,
    dependent_rows,
    eigenvalues,
    is_measurable,
    jacobian,
)
from openmmconstraints.health.listing import ANGLE, DIHEDRAL, DISTANCE, Listing
from openmmconstraints.health.refusals import make_integrator
from openmmconstraints.wrapper import ConstraintForce

#: Blocks of more constraints are not looked at here: their matrix is dense.
LARGEST_BLOCK = 400
#: Angles beyond it, or as near to 0: gradients become parallel, and iterations many.
NEARLY_STRAIGHT = 170.0  # degrees
#: Of the matrix of unit diagonal: rounding and tolerance are multiplied by it on their way into multipliers.
ILL_CONDITIONED = 1e4
_MOST_NUMBERS = 20_000_000  # of Jacobians at a time


def find_dependence(
    listing: Listing, patterns: list[Pattern], positions: np.ndarray | None, box: np.ndarray | None
) -> tuple[list[Finding], int | None]:
    """Findings, and the number of redundant constraints; None if a block was too large to tell."""
    findings: list[Finding] = []
    redundant, unseen = 0, False
    for pattern in patterns:
        if len(pattern.kinds) > LARGEST_BLOCK:
            unseen = True
            findings.append(_unseen(listing, pattern))
        elif is_measurable(pattern):
            x = np.random.default_rng(1).uniform(size=(1, len(pattern.masses), 3))  # positions in general
            J = jacobian(pattern, x, None)[0]
            rank = int(np.count_nonzero(eigenvalues(J[None])[0] > ZERO))
            independent = rank if pattern.moving else _count_independent(pattern)
            if independent != rank:
                findings.append(_recognized(listing, pattern, independent))
                continue
            if len(J) > rank:
                redundant += (len(J) - rank) * len(pattern.constraints)
                findings.append(_redundant(listing, pattern, J))
            findings.extend(_narrow_triangles(listing, pattern))
            if positions is not None:
                findings.extend(_ill_conditioned(listing, pattern, rank, positions, box))
    return findings + _narrow_angles(listing), None if unseen else redundant


def _count_independent(pattern: Pattern) -> int:
    """What the integrators make of one block."""
    system, force = mm.System(), ConstraintForce()
    for mass in pattern.masses:
        system.addParticle(mass)
    add: dict[int, Callable[..., int]] = {
        DISTANCE: force.addDistance,
        ANGLE: force.addAngle,
        DIHEDRAL: force.addDihedral,
    }
    for kind, members, target in zip(pattern.kinds, pattern.members, pattern.targets, strict=True):
        add[kind](*members, target)
    system.addForce(force)
    return sum(info.count * info.constraints for info in make_integrator(0, 1e-5).getClusters(system))


def _finding(listing: Listing, pattern: Pattern, severity, kind, message, remedy, block=0, **values) -> Finding:
    particles = tuple(pattern.particles[block].tolist())
    constraints = tuple(k for k in pattern.constraints[block].tolist() if k < listing.count)
    count = len(pattern.constraints)
    return Finding(severity, kind, message, remedy, constraints, particles, listing.names(particles), values, count)


def _unseen(listing: Listing, pattern: Pattern) -> Finding:
    message = (
        f"{len(pattern.kinds):,} constraints form one mesh of rings, too large to be looked at here. The integrators "
        f"check its rank all the same."
    )
    return _finding(listing, pattern, "note", "large", message, "")


def _recognized(listing: Listing, pattern: Pattern, independent: int) -> Finding:
    massive = int(np.count_nonzero(pattern.masses))
    shape = {3 * massive - 5: "a straight", 3 * massive - 6: "a flat"}.get(independent, "a partly straight or flat")
    particles = listing.particles_text(pattern.particles[0].tolist())
    message = f"{particles} form {shape} set that its lengths make rigid. It is held as one."
    if not pattern.in_system:
        return _finding(listing, pattern, "note", "rigid", message, "")
    message += " OpenMM's own solver, which setVelocitiesToTemperature() uses on System constraints, makes NaN of it."
    remedy = "Call openmmconstraints.moveConstraints(system) before creating the Context."
    return _finding(listing, pattern, "warning", "rigid", message, remedy)


def _redundant(listing: Listing, pattern: Pattern, J: np.ndarray) -> Finding:
    rows = dependent_rows(J)
    owners = [i for i, kind in enumerate(pattern.kinds) for _ in range(_rows_of(kind, pattern.targets[i]))]
    dependent = sorted({owners[row] for row in rows})
    named = [listing.describe(int(pattern.constraints[0, i])) for i in dependent[:3]]
    more = f" and {len(dependent) - 3} more" if len(dependent) > 3 else ""
    of = listing.particles_text(pattern.particles[0].tolist())
    verb = "depends" if len(dependent) == 1 else "depend"
    message = f"{', '.join(named)}{more} {verb} on the other constraints of {of}: counted once, and checked."
    remedy = "Nothing has to be done while their values agree within the tolerance."
    finding = _finding(listing, pattern, "note", "redundant", message, remedy)
    constraints = tuple(int(pattern.constraints[0, i]) for i in dependent)
    return Finding(**{**vars(finding), "constraints": constraints})


def _rows_of(kind: int, target: float) -> int:
    return 2 if kind == ANGLE and abs(target - pi) <= STRAIGHT else 1


def _narrow_triangles(listing: Listing, pattern: Pattern) -> Iterator[Finding]:
    """Three distances whose angle is nearly 180 degrees, or nearly 0."""
    length = {
        frozenset(members): target
        for kind, members, target in zip(pattern.kinds, pattern.members, pattern.targets, strict=True)
        if kind == DISTANCE
    }
    neighbours: dict[int, list[int]] = {}
    for i, j in map(tuple, length):
        neighbours.setdefault(i, []).append(j)
        neighbours.setdefault(j, []).append(i)
    widest = None
    for vertex, ends in neighbours.items():
        for i, j in combinations(ends, 2):
            if (opposite := length.get(frozenset((i, j)))) is None:
                continue
            a, b = length[frozenset((i, vertex))], length[frozenset((vertex, j))]
            angle = degrees(acos(np.clip((a * a + b * b - opposite * opposite) / (2 * a * b), -1, 1)))
            if angle > NEARLY_STRAIGHT and (widest is None or angle > widest[0]):
                widest = angle, (i, vertex, j)
    if widest is not None:
        angle, members = widest
        particles = tuple(pattern.particles[0, list(members)].tolist())
        message = (
            f"{listing.particles_text(particles)}: their three distances make an angle of {angle:.4g} degrees, nearly "
            f"straight: the constraints hardly hold its bend, and multipliers become large."
        )
        remedy = "Make it straight (one of 180 degrees is held exactly), or leave out the longest distance."
        found = _finding(listing, pattern, "warning", "nearly-straight", message, remedy, degrees=angle)
        yield Finding(**{**vars(found), "particles": particles, "names": listing.names(particles)})


def _narrow_angles(listing: Listing) -> list[Finding]:
    """Angle constraints near 0 or 180 degrees, or on their way there."""
    findings = []
    which, particles = listing.of_kind(ANGLE)
    angles = np.degrees(listing.target[which])
    bend = np.minimum(angles, 180 - angles)
    narrow = (bend < 180 - NEARLY_STRAIGHT) & (np.abs(listing.target[which] - pi) > STRAIGHT)
    if np.any(narrow):
        n = int(np.argmin(np.where(narrow, bend, np.inf)))
        k, three = int(which[n]), tuple(particles[n].tolist())
        message = f"{listing.describe(k)}: {angles[n]:.4g} degrees has a gradient that nearly vanishes or diverges."
        remedy = "An angle of exactly 180 degrees is held without that: use pi if that is what is meant."
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


def _ill_conditioned(
    listing: Listing, pattern: Pattern, rank: int, positions: np.ndarray, box: np.ndarray | None
) -> Iterator[Finding]:
    """The matrix J M^-1 J^T, scaled to a unit diagonal, at the positions."""
    blocks, rows = pattern.constraints.shape
    size = max(1, _MOST_NUMBERS // (2 * rows * 3 * len(pattern.masses)))
    lowest, highest = np.empty(blocks), np.empty(blocks)
    for begin in range(0, blocks, size):
        part = slice(begin, begin + size)
        J = jacobian(pattern, positions[pattern.particles[part]], box if pattern.periodic else None)
        values = eigenvalues(J)
        lowest[part], highest[part] = values[:, -rank], values[:, -1]
    condition = highest / np.maximum(lowest, np.finfo(float).eps)
    worst = int(np.argmax(condition))
    if condition[worst] > ILL_CONDITIONED:
        bad = int(np.count_nonzero(condition > ILL_CONDITIONED))
        particles = listing.particles_text(pattern.particles[worst].tolist())
        singular = "singular" if lowest[worst] <= ZERO else "nearly singular"
        message = (
            f"The constraints of {particles} are {singular} at these positions (condition number "
            f"{condition[worst]:.1e})."
        )
        remedy = "Look for angles near 180 degrees and flat groups; declare what is rigid with addRigidBody()."
        found = _finding(
            listing, pattern, "warning", "ill-conditioned", message, remedy, worst, condition=float(condition[worst])
        )
        yield Finding(**{**vars(found), "count": bad})
