# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run --solver-only`: the script keeps its integrators, and this package solves the constraints."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.positions import positions_of
from openmmconstraints.inspection.system import degrees_left, replacing_force
from openmmconstraints.run.observer import Observation
from openmmconstraints.run.session import Session
from openmmconstraints.wrapper import RattleIntegrator, _diagnose

_PLATFORMS = ("Reference", "CPU", "OpenCL", "CUDA")
#: Integrators that conserve an energy; a NoseHooverIntegrator conserves it with that of its chains.
_CONSERVING = (mm.VerletIntegrator, mm.VariableVerletIntegrator, mm.MTSIntegrator, mm.NoseHooverIntegrator)


class Kept:
    """An integrator of the script, with what an Observation reads of its Context."""

    def __init__(
        self, integrator: Any, context: mm.Context, force: mc.ConstraintForce, replaced: mc.ReplacedSolver | None
    ) -> None:
        self.integrator = integrator
        self._context = weakref.ref(context)
        self._force = force
        self._replaced = replaced
        self._degrees = None if replaced is None else replaced.degrees  # None: positions may tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self.integrator, name)

    def getSolverSummary(self) -> mc.SolverSummary:
        """Of the last call of the solver."""
        return self._force.getSolverSummary(self._context())

    def getNumDegreesOfFreedom(self) -> int:
        """How many all constraints leave; 0 where that is not known, or where velocities tell no temperature."""
        if isinstance(self.integrator, mm.BrownianIntegrator):
            return 0
        if self._degrees is None:
            self._degrees = _count_degrees(self._context())
        return self._degrees


def _count_degrees(context: mm.Context) -> int:
    """How many degrees of freedom the constraints leave at the present positions; 0 where these do not tell."""
    system, state = context.getSystem(), context.getState(positions=True)
    x, box = positions_of(system, state, "run")
    found = _diagnose(system, RattleIntegrator(0.001), x, box, state.getTime().value_in_unit(unit.picosecond))
    is_known = found["isComplete"] and found["isRankKnown"]
    return degrees_left(system, found["independent"]) if is_known else 0


def kept_hooks(session: Session) -> list[tuple[object, str, object]]:
    """Replacements of OpenMM's methods that replace the solver of a new Context, and observe its integrator."""
    create = mm.Context.__init__

    @wraps(create)
    def created(self, *args):
        session.finish()
        if len(args) < 2 or isinstance(args[1], mc.ConstraintIntegrator):
            create(self, *args)  # OpenMM raises an error, or the integrator has this package's solver on any platform
            return
        system, integrator, platform, *properties = args if len(args) > 2 else (*args, _choose_platform(create))
        if platform.getName() not in _PLATFORMS:
            raise UserError(
                f"a Context on the {platform.getName()} platform: --solver-only works on "
                f'{", ".join(_PLATFORMS[:-1])} and {_PLATFORMS[-1]}. Type Platform.getPlatform("CPU") in the script.'
            )
        force, replaced = _replace(session, system)
        if session.tolerance is not None:
            integrator.setConstraintTolerance(session.tolerance)
        create(self, system, integrator, platform, *properties)
        _observe(session, Kept(integrator, self, force, replaced), self)

    kinds: list[Any] = [
        kind for kind in vars(mm.openmm).values() if isinstance(kind, type) and issubclass(kind, mm.Integrator)
    ]
    hooks: list[tuple[object, str, object]] = [(mm.Context, "__init__", created)]
    for kind in kinds:
        if "step" in vars(kind):
            hooks.append((kind, "step", _observed_step(session, kind.step)))
        if "stepTo" in vars(kind):
            hooks.append((kind, "stepTo", _observed_step_to(session, kind.stepTo)))
        if "setConstraintTolerance" in vars(kind):
            hooks.append((kind, "setConstraintTolerance", _overridden(session, kind.setConstraintTolerance)))
    return hooks


def _choose_platform(create: Callable) -> mm.Platform:
    """Where the script names none: that which OpenMM takes (OPENMM_DEFAULT_PLATFORM, or the fastest one that works), or
    CPU if that is none of ours."""
    probe = mm.System()
    probe.addParticle(1)
    context = mm.Context.__new__(mm.Context)
    create(context, probe, mm.VerletIntegrator(0.001))
    chosen = context.getPlatform()
    if chosen.getName() in _PLATFORMS or "OPENMM_DEFAULT_PLATFORM" in os.environ:
        return chosen
    return mm.Platform.getPlatform("CPU")


def _replace(session: Session, system: mm.System) -> tuple[mc.ConstraintForce, mc.ReplacedSolver | None]:
    """The Force of the System that replaces the solver, and the summary, where the script has not added it."""
    for earlier, replaced in session.replaced:
        if earlier is system:
            return replaced.force, replaced
    if (by_script := replacing_force(system)) is not None:
        return by_script[1], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the summary says so, too
        replaced = mc.replaceSolver(system)
    session.replaced.append((system, replaced))
    return replaced.force, replaced


def _observe(session: Session, kept: Kept, context: mm.Context) -> None:
    name = type(kept.integrator).__name__
    observation = session.observe(Observation(name, "kept"), kept)
    observation.replaced = "by the script" if kept._replaced is None else str(kept._replaced)
    if not isinstance(kept.integrator, _CONSERVING):
        observation.disturbed_by = name
    observation.attach(context)
    session.latest = context
    session.say_once(
        f"{name} is kept, on the {observation.platform} platform; solver replaced: {observation.replaced}."
    )


def _find(session: Session, integrator: mm.Integrator) -> tuple[Observation, Any] | None:
    """Its latest observation, also where the script has another proxy of it (context.getIntegrator())."""
    return next((seen for seen in reversed(session.observed) if seen[1].this == integrator.this), None)


def _observed_step(session: Session, original: Callable) -> Callable:
    @wraps(original)
    def step(self, steps):
        seen = _find(session, self)
        if seen is None:
            original(self, steps)  # it has no Context
        else:
            seen[0].step(lambda chunk: original(self, chunk), seen[1], steps)

    return step


def _observed_step_to(session: Session, original: Callable) -> Callable:
    @wraps(original)
    def step_to(self, time):
        seen = _find(session, self)
        if seen is None:
            original(self, time)
        else:
            seen[0].step(lambda _: original(self, time), seen[1], 1)

    return step_to


def _overridden(session: Session, original: Callable) -> Callable:
    @wraps(original)
    def set_tolerance(self, tolerance):
        if session.tolerance is None or session.is_minimizing:
            original(self, tolerance)
            return
        if tolerance != session.tolerance:
            session.warn_once(f"the script's setConstraintTolerance() is overridden by {session.tolerance:g}.")
        original(self, session.tolerance)

    return set_tolerance
