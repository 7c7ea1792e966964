# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the integrators refuse, one after the other: what was refused is left out, and they are asked again."""

from __future__ import annotations

import re
from dataclasses import dataclass

import openmm as mm

from openmmconstraints.health.candidate import Candidate, is_other
from openmmconstraints.health.findings import Finding
from openmmconstraints.health.listing import Listing, is_ours
from openmmconstraints.wrapper import (
    ClusterInfo,
    ConstraintIntegrator,
    RattleIntegrator,
)

#: After so many, the rest is left for the next time: each costs a look at the whole System.
MOST_REFUSALS = 20

# What a refusal is about, by words of its message; the first that fits.
_KINDS = (
    ("singular", r"set that is singular:"),
    ("too-large", r"\bGB\b"),
    ("contradictory", r"contradict|different distances"),
    ("box", r"half the shortest width"),
    ("particles", r"out of range|virtual site|to itself|twice in a group|the mass of|no particle with mass"),
    ("target", r"not a positive number|has to be pi|start from pi|is not a number"),
)


@dataclass(frozen=True)
class Accepted:
    """What is left of a System's constraints; `listing.valid` says which. No clusters: nothing is."""

    clusters: tuple[ClusterInfo, ...] | None
    dropped_forces: frozenset[int]
    findings: tuple[Finding, ...]


def make_integrator(solver: int, tolerance: float) -> RattleIntegrator:
    """One to ask; the step size is that of the step that tries the positions, without forces and velocities."""
    integrator = RattleIntegrator(0.001)
    integrator.setSolver(solver)
    integrator.setConstraintTolerance(tolerance)
    return integrator


def find_refusals(system: mm.System, listing: Listing, solver: int, tolerance: float) -> Accepted:
    """Collect what getClusters() refuses, and mark it in `listing.valid`."""
    findings: list[Finding] = []
    dropped_forces: frozenset[int] = frozenset()
    integrator = make_integrator(solver, tolerance)
    for _ in range(MOST_REFUSALS):
        candidate = Candidate(system, listing, dropped_forces)
        try:
            return Accepted(integrator.getClusters(candidate.system), dropped_forces, tuple(findings))
        except mm.OpenMMException as error:
            message, named = str(error), candidate.find_named(str(error))
            finding = refusal(error, candidate, listing, "refused")
        findings.append(finding)
        if finding.kind == "too-large" and integrator.getSolver() != ConstraintIntegrator.Automatic:
            integrator.setSolver(ConstraintIntegrator.Automatic)
        elif named:
            # Of what contradicts each other, the longest is named last.
            listing.valid[named[-1] if finding.kind == "contradictory" else named[0]] = False
        elif (force := _find_guilty(system, listing, dropped_forces, integrator, message)) is not None:
            dropped_forces |= {force}
            listing.valid[listing.force == force] = False
        else:
            break
    findings.append(Finding("note", "unfinished", "There may be more: the check cannot go on before this is cured."))
    listing.valid[:] = False
    return Accepted(None, dropped_forces, tuple(findings))


def find_combinations(
    system: mm.System, listing: Listing, accepted: Accepted, integrator: mm.Integrator | None
) -> list[Finding]:
    """Forces and integrators that do not go together with constraints in Forces."""
    findings = []
    declaring = [f for f in set(listing.force[listing.valid].tolist()) if f >= 0]
    if declaring and any(is_other(force) for force in system.getForces()):
        candidate = Candidate(system, listing, accepted.dropped_forces, "left out", with_others=True)
        try:
            mm.Context(candidate.system, RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
        except mm.OpenMMException as error:
            findings.append(refusal(error, candidate, listing, "combination"))
    for child in [] if integrator is None else _steppers(integrator):
        if declaring and not ConstraintIntegrator.isinstance(child):
            message = f"{type(child).__name__} does not solve the constraints of a ConstraintForce."
            remedy = "Use RattleIntegrator, ShakeIntegrator, RattleLangevinIntegrator or ConstraintForceIntegrator."
            findings.append(Finding("error", "integrator", message, remedy))
    return findings


def _steppers(integrator: mm.Integrator) -> list[mm.Integrator]:
    if isinstance(integrator, mm.CompoundIntegrator):
        return [integrator.getIntegrator(i) for i in range(integrator.getNumIntegrators())]
    return [integrator]


def refusal(error: mm.OpenMMException, candidate: Candidate, listing: Listing, kind: str) -> Finding:
    """What an exception about a Candidate says of the original; `kind` is its kind where its words do not tell."""
    text, _, remedy = candidate.translate(str(error)).partition("\nRemedy: ")
    found = next((found for found, words in _KINDS if re.search(words, text)), kind)
    named = candidate.find_named(str(error))
    particles = tuple(dict.fromkeys(p for k in named for p in listing.of(k)))
    constraints = tuple(k for k in dict.fromkeys(named) if k < listing.count)
    text, remedy = " ".join(text.split()), " ".join(remedy.split())
    return Finding("error", found, text, remedy, constraints, particles, listing.names(particles))


def _find_guilty(
    system: mm.System, listing: Listing, dropped: frozenset[int], integrator: ConstraintIntegrator, message: str
) -> int | None:
    """The Force that says the same even by itself, where an error names no constraint."""
    declaring = [f for f, force in enumerate(system.getForces()) if f not in dropped and is_ours(force)]
    for f in declaring:
        alone = Candidate(system, listing, dropped | set(declaring) - {f}, "left out")
        try:
            integrator.getClusters(alone.system)
        except mm.OpenMMException as error:
            if str(error) == message:
                return f
    return None
