# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How far positions are off the constraints, and whether a run started from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from openmmconstraints.health.checker import Diagnosis, Start, Trial
from openmmconstraints.health.dependence import NEARLY_STRAIGHT
from openmmconstraints.health.findings import Finding
from openmmconstraints.inspection.bonds import minimum_image
from openmmconstraints.inspection.kinds import DIHEDRAL
from openmmconstraints.inspection.listing import Listing

WORST = 5
#: A constraint whose error at the start is larger (relative, rad or nm) is a finding.
FAR = 0.1


@dataclass(frozen=True)
class Violation:
    """How far one constraint is off."""

    constraint: int  #: in the order of getMultipliers()
    particles: tuple[int, ...]
    names: tuple[str, ...]
    value: float  #: nm or rad; of an expression
    target: float  #: nm or rad
    error: float  #: relative for a distance, in rad for an angle or dihedral, in nm for an expression

    def as_dict(self) -> dict[str, object]:
        """JSON-able."""
        return {**vars(self), "particles": list(self.particles), "names": list(self.names)}


@dataclass(frozen=True)
class Placement:
    """Errors of the constraints at the start, and the trial run from there."""

    worst: tuple[Violation, ...]  #: the largest errors
    shift: float | None  #: nm, the largest move of a particle in the projection; None: it failed, or was not tried
    steps: int  #: that were taken from here; 0: one failed, or none was tried
    findings: tuple[Finding, ...]


def lost_positions(listing: Listing, start: Start) -> Placement:
    """The placement for positions that are NaN or infinite."""
    lost = np.flatnonzero(~np.all(np.isfinite(start.x), axis=1))
    particles = tuple(lost[:WORST].tolist())
    message = f"The coordinates of {listing.particles_text(particles)} are NaN or infinite."
    remedy = "Take positions from before the run failed, and look for its cause there."
    found = Finding("error", "not-finite", message, remedy, (), particles, listing.names(particles), {}, len(lost))
    return Placement((), None, 0, (found,))


def place(listing: Listing, diagnosis: Diagnosis, start: Start, trial: Trial | None, is_ours: bool) -> Placement:
    """The largest errors at the start, and the result of the trial run.

    :param is_ours: whether the integrator is of this package
    """
    findings = [] if trial is None else list(trial.findings)
    worst = tuple(_worst(listing, diagnosis))
    if not findings:
        findings.extend(_far(listing, diagnosis, worst, is_ours))
    findings.extend(_straight_dihedrals(listing, start))
    shift, steps = (None, 0) if trial is None else (trial.shift, trial.steps)
    return Placement(worst, shift, steps, tuple(findings))


def _worst(listing: Listing, diagnosis: Diagnosis) -> Iterator[Violation]:
    errors = np.nan_to_num(diagnosis.errors, nan=0.0)
    for k in np.argsort(-errors, kind="stable")[:WORST].tolist():
        if errors[k] > 0:
            particles = listing.of(k)
            measured = (float(a[k]) for a in (diagnosis.values, diagnosis.targets, errors))
            yield Violation(k, particles, listing.names(particles), *measured)


def _far(listing: Listing, diagnosis: Diagnosis, violations: tuple[Violation, ...], is_ours: bool) -> Iterator[Finding]:
    for worst in violations[:1]:
        if worst.error > FAR:
            count = int(np.count_nonzero(diagnosis.errors > FAR))
            message = (
                f"{listing.describe(worst.constraint)} is {worst.value:.4g} instead of {worst.target:.4g}: the first "
                f"step will project the positions onto it."
            )
            only = ", or integrator.applyConstraints(), which only projects" if is_ours else ""
            remedy = f"Call openmmconstraints.minimize(context) first{only}. Are these the right positions?"
            where = (worst.constraint,), worst.particles, worst.names
            yield Finding("warning", "off", message, remedy, *where, {"error": worst.error}, count)


def _straight_dihedrals(listing: Listing, start: Start) -> Iterator[Finding]:
    """Dihedrals one of whose angles is nearly straight at the positions."""
    which, particles = listing.of_kind(DIHEDRAL)
    if len(which) == 0:
        return
    d = np.diff(start.x[particles], axis=1)
    periodic = listing.periodic[which]
    d[periodic] = minimum_image(d[periodic], start.box)
    sine = np.linalg.norm(np.cross(d[:, :-1], d[:, 1:]), axis=-1)
    bend = np.min(np.degrees(np.arctan2(sine, np.abs(np.sum(d[:, :-1] * d[:, 1:], axis=-1)))), axis=1)
    if np.min(bend) < 180 - NEARLY_STRAIGHT:
        n = int(np.argmin(bend))
        k, four = int(which[n]), tuple(particles[n].tolist())
        message = f"{listing.describe(k)}: one of its angles is within {bend[n]:.2g} degrees of a straight line."
        remedy = "A dihedral has no gradient there. Constrain one whose atoms do not lie on a line."
        values, count = {"degrees": float(bend[n])}, int(np.count_nonzero(bend < 180 - NEARLY_STRAIGHT))
        yield Finding("warning", "nearly-straight", message, remedy, (k,), four, listing.names(four), values, count)
