# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Findings from the records of C++: what it finds wrong with a System, and what a trial run raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.health.findings import Finding, Severity
from openmmconstraints.inspection.integrators import children_of
from openmmconstraints.inspection.kinds import BODY, REDUNDANT
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.wrapper import ClusterInfo, RattleIntegrator, _diagnose, _tryStart

#: The kind of warnings about coordinates that are held twice (openmmconstraints/ConstraintProblem.h).
HELD_TWICE = "held-twice"
#: ps, of the trial's steps where no time step is given.
FIRST_STEP = 0.001


@dataclass(frozen=True)
class Start:
    """The positions, velocities, box and time that a run starts from."""

    x: np.ndarray  #: [numParticles, 3] nm
    v: np.ndarray | None  #: [numParticles, 3] nm/ps; None: at rest
    box: np.ndarray  #: [3, 3] nm
    time: float  #: ps

    @property
    def is_finite(self) -> bool:
        return bool(np.all(np.isfinite(self.x)))


@dataclass(frozen=True)
class Group:
    """Constraints that are redundant, rigid or ill-conditioned together."""

    kind: int
    constraints: tuple[int, ...]  #: listed ones
    particles: tuple[int, ...]
    count: int  #: how many, with those inside rigid bodies; of RIGID the degrees of freedom that it removes
    #: a condition number; of RIGID how far a particle was moved onto a line (nm); of recognized bodies their degrees of
    #: freedom, before anything joins them to others
    number: float


@dataclass(frozen=True)
class Diagnosis:
    """What creating a Context would refuse or warn of, and clusters, groups and errors of the other constraints."""

    findings: tuple[Finding, ...]
    clusters: tuple[ClusterInfo, ...] | None  #: None: memory did not suffice
    independent: int | None  #: None: it depends on positions, and there are none
    groups: tuple[Group, ...]
    values: np.ndarray  #: [constraints] at the start, as the two that follow; empty without one
    targets: np.ndarray
    errors: np.ndarray
    absorbed: tuple[int, ...]  #: constraints that rigid bodies hold
    absorbed_deviation: float  #: the largest difference from a body's shape, relative or in rad
    absorbed_constraint: int  #: the one with that difference; -1: there is none
    joined_bodies: int  #: rigid bodies that constraints or other bodies join
    joints: int  #: particles that these share, once for each body beyond the first

    @property
    def held_twice(self) -> frozenset[int]:
        """Constraints of coordinates that a warning is about: they, or others, are redundant."""
        return frozenset(k for finding in self.findings if finding.kind == HELD_TWICE for k in finding.constraints)

    @property
    def redundant(self) -> int:
        """How many constraints follow from the others."""
        return sum(group.count for group in self.groups if group.kind == REDUNDANT)


@dataclass(frozen=True)
class Trial:
    """The result of a projection and a few steps."""

    findings: tuple[Finding, ...]
    shift: float | None  #: nm, the largest move of a particle in the projection; None: it failed
    steps: int  #: that raised nothing


def diagnose(system: mm.System, listing: Listing, integrator: mm.Integrator, start: Start | None) -> Diagnosis:
    """Check the System, and set `listing.valid` to False for constraints that are refused."""
    x = None if start is None else start.x
    box = listing.box if start is None else start.box
    found = _diagnose(system, integrator, x, box, 0.0 if start is None else start.time)
    listing.valid[list(found["refused"])] = False
    for body in np.flatnonzero(listing.kind == BODY).tolist():
        listing.valid[body] = all(0 <= p < len(listing.masses) for p in listing.of(body))
    return Diagnosis(
        (
            *(finding_of(problem, listing) for problem in found["problems"]),
            *(finding_of(problem, listing, "warning") for problem in found["warnings"]),
        ),
        found["clusters"] if found["isComplete"] else None,
        found["independent"] if found["isRankKnown"] else None,
        tuple(Group(**group) for group in found["groups"]),
        *(found[name] for name in ("values", "targets", "errors")),
        *(found[name] for name in ("absorbed", "absorbedDeviation", "absorbedConstraint", "joinedBodies", "joints")),
    )


def try_start(
    system: mm.System, listing: Listing, integrator: mm.Integrator, start: Start, platform: mm.Platform, steps: int
) -> Trial:
    """Project the start and take a few steps, in a Context of its own."""
    tried = _tryStart(system, integrator, start.x, start.v, start.box, start.time, platform, steps)
    shift = None if np.isnan(tried["shift"]) else tried["shift"]
    return Trial(tuple(finding_of(problem, listing) for problem in tried["problems"]), shift, tried["steps"])


def without_gpu() -> mm.Platform:
    """The fastest platform that needs no GPU."""
    names = {mm.Platform.getPlatform(i).getName() for i in range(mm.Platform.getNumPlatforms())}
    return mm.Platform.getPlatform("CPU" if "CPU" in names else "Reference")


def choose_integrator(integrator: mm.Integrator | None, step: unit.Quantity | None) -> mm.Integrator:
    """The integrator that takes the steps: a copy with a short step size if that is 0."""
    short = FIRST_STEP if step is None else min(FIRST_STEP, step.value_in_unit(unit.picosecond))
    if integrator is None:
        return RattleIntegrator(short)
    if all(one.getStepSize().value_in_unit(unit.picosecond) > 0 for one in children_of(integrator)):
        return integrator
    copy = mm.XmlSerializer.clone(integrator)
    for one in children_of(copy):
        if one.getStepSize().value_in_unit(unit.picosecond) == 0:
            one.setStepSize(short)
    return copy


def finding_of(problem: Mapping[str, Any], listing: Listing, severity: Severity = "error") -> Finding:
    """A record of C++ as a finding."""
    particles = problem["particles"]
    return Finding(
        severity,
        problem["kind"],
        " ".join(problem["message"].split()),
        " ".join(problem["remedy"].split()),
        problem["constraints"],
        particles,
        listing.names(particles),
        {name: problem[name] for name in ("value", "bound") if np.isfinite(problem[name])},
    )
