# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How far positions are off the constraints, and whether a run could start from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.bonds import minimum_image
from openmmconstraints.health.candidate import Candidate
from openmmconstraints.health.dependence import NEARLY_STRAIGHT
from openmmconstraints.health.findings import Finding
from openmmconstraints.health.gradients import angle_between, bonds, measure
from openmmconstraints.health.listing import ANGLE, DIHEDRAL, DISTANCE, Listing
from openmmconstraints.health.refusals import Accepted, make_integrator, refusal

WORST = 5
#: A start off by more than this (relative, or rad) is worth a look before it is projected.
FAR = 0.1


@dataclass(frozen=True)
class Violation:
    """How far one constraint is off."""

    constraint: int  #: in the order of getMultipliers()
    particles: tuple[int, ...]
    names: tuple[str, ...]
    value: float  #: nm or rad
    target: float  #: nm or rad
    error: float  #: relative for a distance, in rad for an angle or dihedral

    def as_dict(self) -> dict[str, object]:
        """JSON-able."""
        return {**vars(self), "particles": list(self.particles), "names": list(self.names)}


@dataclass(frozen=True)
class Placement:
    """Positions, seen from the constraints. Expressions and centroids are only in `shift`."""

    worst: tuple[Violation, ...]  #: the largest errors of distances, angles and dihedrals
    shift: float | None  #: nm, by which projection moves the particle that it moves most; None: it fails
    findings: tuple[Finding, ...]


class Positions:
    """Positions [numParticles, 3] (nm), box (nm) and time (ps) that a System is to start from."""

    def __init__(self, x: np.ndarray, box: np.ndarray, time: float) -> None:
        self.x = x
        self.box = box
        self.time = time

    @property
    def half_width(self) -> float:
        return 0.5 * float(np.min(np.diagonal(self.box)))


def place(system: mm.System, listing: Listing, accepted: Accepted, start: Positions, tolerance: float) -> Placement:
    """Measure the constraints, then let an integrator try."""
    lost = np.flatnonzero(~np.all(np.isfinite(start.x), axis=1))
    if len(lost):
        particles = tuple(lost[:WORST].tolist())
        message = f"The coordinates of {listing.particles_text(particles)} are NaN or infinite."
        remedy = "Take the positions from before the run went wrong, and look at what it did there."
        names = listing.names(particles)
        found = Finding("error", "not-finite", message, remedy, (), particles, names, {}, len(lost))
        return Placement((), None, (found,))
    violations = _Errors(listing, start)
    unwrapped = list(_missing_image(listing, start, violations))
    trial, shift = _try(system, listing, accepted, start, tolerance)
    if unwrapped:  # says what the integrator says of the first of them
        trial = [finding for finding in trial if finding.kind != "far-off"]
    findings = [*unwrapped, *trial]
    if not any(finding.severity == "error" for finding in findings):
        findings.extend(_far(listing, violations))
    findings.extend(_straight_dihedrals(listing, start))
    return Placement(tuple(violations.worst(WORST)), shift, tuple(findings))


class _Errors:
    """Value and error of every distance, angle and dihedral."""

    def __init__(self, listing: Listing, start: Positions) -> None:
        self.listing = listing
        self.value = np.full(len(listing.kind), np.nan)
        self.target = listing.target_at(start.time)
        self.error = np.zeros(len(listing.kind))
        for kind in (DISTANCE, ANGLE, DIHEDRAL):
            which, particles = listing.of_kind(kind)
            value = self.value[which] = measure(kind, bonds(listing, which, particles, start.x, start.box))
            error = value - self.target[which]
            if kind == DIHEDRAL:
                error -= 2 * np.pi * np.rint(error / (2 * np.pi))
            self.error[which] = np.abs(error / self.target[which] if kind == DISTANCE else error)

    def worst(self, most: int) -> Iterator[Violation]:
        for k in np.argsort(-self.error, kind="stable")[:most].tolist():
            if self.error[k] > 0:
                particles = self.listing.of(k)
                names = self.listing.names(particles)
                yield Violation(k, particles, names, *(float(a[k]) for a in (self.value, self.target, self.error)))


def _far(listing: Listing, violations: _Errors) -> Iterator[Finding]:
    for worst in violations.worst(1):
        if worst.error > FAR:
            count = int(np.count_nonzero(violations.error > FAR))
            message = (
                f"{listing.describe(worst.constraint)} is {worst.value:.4g} instead of {worst.target:.4g}: the first "
                f"step will project the positions that far."
            )
            remedy = "Minimize the energy first, or see whether these are the positions that are meant."
            where = (worst.constraint,), worst.particles, worst.names
            yield Finding("warning", "off", message, remedy, *where, {"error": worst.error}, count)


def _missing_image(listing: Listing, start: Positions, violations: _Errors) -> Iterator[Finding]:
    """Bonds across the boundary of a box that their Force does not know."""
    which, particles = listing.of_kind(DISTANCE)
    plain = (listing.force[which] >= 0) & ~listing.periodic[which] & (violations.error[which] > FAR)
    which, particles = which[plain], particles[plain]
    length = np.linalg.norm(minimum_image(start.x[particles[:, 1]] - start.x[particles[:, 0]], start.box), axis=1)
    across = np.abs(length / violations.target[which] - 1) < FAR
    if np.any(across):
        n = int(np.flatnonzero(across)[0])
        k, two = int(which[n]), tuple(particles[n].tolist())
        message = (
            f"{listing.describe(k)} goes across the periodic boundary: {violations.value[k]:.4g} nm instead of "
            f"{violations.target[k]:.4g} nm without the minimum image."
        )
        remedy = "Call setUsesPeriodicBoundaryConditions(True) on the ConstraintForce, or make molecules whole."
        values = {"value_nm": float(violations.value[k]), "target_nm": float(violations.target[k])}
        count = int(np.count_nonzero(across))
        yield Finding("error", "minimum-image", message, remedy, (k,), two, listing.names(two), values, count)


def _straight_dihedrals(listing: Listing, start: Positions) -> Iterator[Finding]:
    which, particles = listing.of_kind(DIHEDRAL)
    if len(which) == 0:
        return
    d = bonds(listing, which, particles, start.x, start.box)
    angles = np.degrees(np.stack([angle_between(-d[:, 0], d[:, 1]), angle_between(-d[:, 1], d[:, 2])], axis=1))
    bend = np.min(np.minimum(angles, 180 - angles), axis=1)
    if np.min(bend) < 180 - NEARLY_STRAIGHT:
        n = int(np.argmin(bend))
        k, four = int(which[n]), tuple(particles[n].tolist())
        message = f"{listing.describe(k)}: one of its angles is within {bend[n]:.2g} degrees of a straight line."
        remedy = "There, a dihedral has no gradient: constrain one whose atoms are not in line."
        values, count = {"degrees": float(bend[n])}, int(np.count_nonzero(bend < 180 - NEARLY_STRAIGHT))
        yield Finding("warning", "nearly-straight", message, remedy, (k,), four, listing.names(four), values, count)


def _try(
    system: mm.System, listing: Listing, accepted: Accepted, start: Positions, tolerance: float
) -> tuple[list[Finding], float | None]:
    """What the first step would say, and if it refuses, whether applyConstraints() can do it."""
    candidate = Candidate(system, listing, accepted.dropped_forces, "moved")
    integrator = make_integrator(0, tolerance)
    findings, shift = [], None
    try:
        context = mm.Context(candidate.system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPeriodicBoxVectors(*start.box)
        context.setTime(start.time)
        context.setPositions(start.x)
    except mm.OpenMMException as error:
        return [refusal(error, candidate, listing, "refused")], None
    try:
        integrator.step(1)
    except mm.OpenMMException as error:
        findings.append(refusal(error, candidate, listing, "far-off"))
        context.setTime(start.time)
        context.setPositions(start.x)
    try:
        if findings:
            integrator.applyConstraints()
        x = context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)
        moved = listing.masses > 0
        shift = float(np.max(np.linalg.norm(x - start.x, axis=1)[moved], initial=0.0))
    except mm.OpenMMException as error:
        findings = [refusal(error, candidate, listing, "not-projectable")]
    return findings, shift
