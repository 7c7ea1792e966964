# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators to compare, and Contexts that start them from a common state."""

from __future__ import annotations

from dataclasses import dataclass

import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.villin import FRICTION, SEED, STEP_SIZE, TEMPERATURE, StartState

#: An integrator of this package -> OpenMM's own for the same.
PARTNERS = {"Shake": "Verlet", "Rattle": "Verlet", "RattleLangevin": "LangevinMiddle"}


@dataclass(frozen=True)
class Candidate:
    """An integrator to compare."""

    integrator: str
    solver: str | None  # None: OpenMM's own

    @property
    def label(self) -> str:
        """For tables and legends."""
        return f"{self.integrator} {self.solver}" if self.solver else f"{self.integrator} (built-in)"

    def make(self, tolerance: float) -> mm.Integrator:
        """A new integrator."""
        cls = getattr(mm if self.solver is None else mc, f"{self.integrator}Integrator")
        if self.integrator in ("RattleLangevin", "LangevinMiddle"):
            integrator = cls(TEMPERATURE, FRICTION, STEP_SIZE)
            integrator.setRandomNumberSeed(SEED)
        else:
            integrator = cls(STEP_SIZE)
        if self.solver is not None:
            integrator.setSolver(getattr(mc.ConstraintIntegrator, self.solver))
        integrator.setConstraintTolerance(tolerance)
        return integrator


def make_context(
    system: mm.System, integrator: mm.Integrator, start: StartState, platform: mm.Platform, properties: dict[str, str]
) -> mm.Context:
    """A Context at the common state; leapfrog integrators get the velocities of half a step before."""
    context = mm.Context(system, integrator, platform, properties)
    set_state(context, start)
    return context


def set_state(context: mm.Context, start: StartState) -> None:
    """Put a Context into the common state."""
    context.setPositions(start.positions)
    leapfrog = isinstance(context.getIntegrator(), (mm.VerletIntegrator, mc.ShakeIntegrator))
    context.setVelocities(start.half_step_velocities if leapfrog else start.velocities)
