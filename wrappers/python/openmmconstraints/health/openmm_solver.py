# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Who solves the System's constraints, where OpenMM's own solver would fail, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np
import openmm as mm

from openmmconstraints.health.findings import Finding
from openmmconstraints.inspection.integrators import children_of
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.system import replacing_force, temperature_factor
from openmmconstraints.wrapper import ConstraintIntegrator


class Solver(Enum):
    """Of a step."""

    OURS = "an integrator of this package"
    REPLACED = "another integrator, with this package's solver"
    OPENMM = "another integrator, with SETTLE, SHAKE and CCMA"


def solver_of(system: mm.System, integrator: mm.Integrator) -> Solver:
    """Who solves the constraints of a System; of a CompoundIntegrator, unless all its children are ours."""
    if all(ConstraintIntegrator.isinstance(one) for one in children_of(integrator)):
        return Solver.OURS
    return Solver.OPENMM if replacing_force(system) is None else Solver.REPLACED


def find_unequal_waters(listing: Listing) -> Iterator[Finding]:
    """Triangles that OpenMM gives to SETTLE, which takes the two ends to have the same mass, as HDO has not.

    It chooses by lengths in single precision and by the number of constraints of each particle.
    """
    partners: dict[int, dict[int, np.float32]] = {}
    for k in listing.own[listing.valid[listing.own]].tolist():
        first, second = listing.of(k)
        partners.setdefault(first, {})[second] = np.float32(listing.target[k])
        partners.setdefault(second, {})[first] = np.float32(listing.target[k])
    found: list[tuple[int, ...]] = []
    for p, others in partners.items():
        if len(others) != 2 or p > min(others):
            continue
        q, r = others
        if len(partners[q]) != 2 or len(partners[r]) != 2 or r not in partners[q]:
            continue
        for middle, ends in ((p, (q, r)), (q, (p, r)), (r, (p, q))):
            if partners[middle][ends[0]] == partners[middle][ends[1]]:
                if listing.masses[ends[0]] != listing.masses[ends[1]]:
                    found.append((middle, *ends))
                break
    if found:
        message = (
            f"OpenMM's SETTLE takes {listing.particles_text(found[0][1:])} to have the same mass, and moves them "
            "wrongly, or to NaN."
        )
        remedy = "Call openmmconstraints.replaceSolver(system) before creating the Context."
        names = listing.names(found[0])
        yield Finding("warning", "settle", message, remedy, (), found[0], names, {}, len(found))


def find_uncounted(
    listing: Listing, independent: int | None, degrees: int | None, needs_positions: bool
) -> Iterator[Finding]:
    """Degrees of freedom that OpenMM does not count, where it reports temperatures.

    needs_positions: whether positions decide how many constraints are independent
    """
    counted = len(listing.counted)
    if needs_positions:
        message = (
            f"OpenMM counts {counted:,} constraints of the System, and how many are independent depends on positions: "
            "temperatures that StateDataReporter writes may be wrong."
        )
        remedy = (
            "Replace the solver by replaceSolver(system, positions=...), with positions at which the constraints hold. "
            "Health(system, positions) says whether the number is right."
        )
        yield Finding("warning", "temperature", message, remedy, (), (), (), {"counted": counted})
        return
    if independent is None or not degrees or degrees < 0:
        return
    if counted == independent:
        return
    factor = temperature_factor(degrees, independent, counted)
    message = (
        f"Constraints take {independent:,} degrees of freedom, and OpenMM counts {counted:,} constraints of the "
        f"System: temperatures that StateDataReporter writes have to be multiplied by {factor:.6g}."
    )
    remedy = (
        "replaceSolver(system), called last, declares distances and rigid bodies for OpenMM to count. Other kinds, and "
        "linear bodies, cannot be declared. Nose-Hoover thermostats are corrected, and Langevin integrators count "
        "nothing."
    )
    values = {"factor": factor, "independent": independent, "counted": counted}
    yield Finding("warning", "temperature", message, remedy, (), (), (), values)
