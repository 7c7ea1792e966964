# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""OpenMM's names, while a script runs: they lead to substitutes, and to methods that tell the session of changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from functools import wraps

import openmm as mm
import openmm.app  # binds OpenMM's own names for its internal use before ours are put in place

import openmmconstraints as mc
from openmmconstraints.inspection.integrators import own_integrators, stepping_integrator
from openmmconstraints.inspection.system import replacing_force
from openmmconstraints.run.copies import copy_hooks
from openmmconstraints.run.kept import kept_hooks
from openmmconstraints.run.refused import refused_classes
from openmmconstraints.run.session import Session
from openmmconstraints.run.substitute import make_substitutes

STATE_CHANGES = (
    "setState",
    "setPositions",
    "setVelocities",
    "setVelocitiesToTemperature",
    "setPeriodicBoxVectors",
    "setParameter",
    "loadCheckpoint",
    "reinitialize",
)


@contextmanager
def substituted(session: Session):
    """While it is open, OpenMM's names lead to this package's integrators, or Contexts have its solver."""
    modules = [mm, mm.openmm, mm.mtsintegrator, mm.amd]
    classes: dict[str, type] = {}
    hooks = _state_hooks(session)
    if session.is_solver_only:
        hooks += kept_hooks(session)
    else:
        classes = {**make_substitutes(session), **refused_classes(session.script)}
        hooks += _substitute_hooks(session)
    with ExitStack() as stack:
        for name, kind in classes.items():
            for module in modules:
                if name in vars(module):
                    stack.enter_context(_replaced(module, name, kind))
        for owner, name, value in hooks:
            stack.enter_context(_replaced(owner, name, value))
        yield


@contextmanager
def _replaced(owner: object, name: str, value: object):
    original = vars(owner)[name]  # not getattr: a staticmethod has to come back as one
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _state_hooks(session: Session) -> list[tuple[object, str, object]]:
    """Replacements of OpenMM's methods that notify the session of a Context's changes: (class, name, replacement)."""

    def announced(original: Callable) -> Callable:
        @wraps(original)
        def call(self, *args, **kwargs):
            session.start_stretch(self)
            return original(self, *args, **kwargs)

        return call

    minimize = _minimize_hook(session)
    hooks: list[tuple[object, str, object]] = [(mm.LocalEnergyMinimizer, "minimize", staticmethod(minimize))]
    return hooks + [(mm.Context, name, announced(getattr(mm.Context, name))) for name in STATE_CHANGES]


def _minimize_hook(session: Session) -> Callable:
    """OpenMM's minimizer knows no ConstraintForces, and makes springs of other constraints: ours stays on all."""
    original = mm.LocalEnergyMinimizer.minimize

    @wraps(original)
    def minimize(context, tolerance=10, maxIterations=0, reporter=None):
        session.start_stretch(context)
        if not _is_solved_here(context):
            original(context, tolerance, maxIterations, reporter)
            return
        session.say_once("LocalEnergyMinimizer -> minimize() of openmmconstraints: stays on all constraints.")
        with session.minimizing():
            mc.minimize(context, tolerance, maxIterations, reporter)

    return minimize


def _is_solved_here(context: mm.Context) -> bool:
    """Whether this package solves the constraints of a Context."""
    is_ours = bool(own_integrators(stepping_integrator(context.getIntegrator())))
    return is_ours or replacing_force(context.getSystem()) is not None


def _substitute_hooks(session: Session) -> list[tuple[object, str, object]]:
    """Likewise, for new Contexts, children of a CompoundIntegrator, and copies of integrators."""
    create, add, step = mm.Context.__init__, mm.CompoundIntegrator.addIntegrator, mm.CompoundIntegrator.step

    @wraps(create)
    def created(self, *args):
        session.finish()
        for part in getattr(args[1], "_parts", [args[1]]) if len(args) > 1 else []:
            if hasattr(part, "_check"):
                part._check()
        create(self, *args)
        if len(args) > 1:
            session.attach(self, args[1])

    @wraps(add)
    def added(self, integrator):
        index = add(self, integrator)
        self.__dict__.setdefault("_parts", []).append(integrator)
        return index

    @wraps(step)
    def stepped(self, steps):
        parts = self.__dict__.get("_parts")
        part = parts[self.getCurrentIntegrator()] if parts else None
        if hasattr(part, "_observation"):
            part._observation.step(lambda chunk: step(self, chunk), part, steps)
        else:
            step(self, steps)

    hooks: list[tuple[object, str, object]] = [(mm.Context, "__init__", created)]
    hooks += [(mm.CompoundIntegrator, "addIntegrator", added), (mm.CompoundIntegrator, "step", stepped)]
    return hooks + copy_hooks(session)
