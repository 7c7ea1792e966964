# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Observes an integrator that a script uses: errors, iterations, energies, speed."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from time import perf_counter
from typing import Any

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.energy import EnergySeries
from openmmconstraints.terminal.compiling import saying_if_compiling

CHUNK = 10  # steps between two readings of the summary
SUMMARY_SHARE = 0.01  # of the time spent in steps
ENERGY_SHARE = 0.02
_CHAINS = (mc.RattleNoseHooverIntegrator, mm.NoseHooverIntegrator)
RARER = 8  # at least a sample whenever the number of steps has grown by 1/8: short runs have some, too


class Throttle:
    """Limits the time of an action to a share of the time spent in steps."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.spent = 0.0

    def is_due(self, worked: float) -> bool:
        """Whether to do it now; worked is the time (s) spent in steps. The first time is always allowed."""
        return self.spent <= self.share * worked

    def measure(self, action: Callable[[], None]) -> float:
        """Do it, add its time (s) to what was spent, and return it."""
        start = perf_counter()
        action()
        cost = perf_counter() - start
        self.spent += cost
        return cost


class Observation:
    """What was observed of one integrator. Observing does not change the trajectory."""

    def __init__(self, script_name: str, name: str) -> None:
        self.script_name = script_name  # the integrator that the script asked for
        self.name = name  # the one that it got
        self.replaced = ""  # what the replacement of the solver has changed, where the script keeps its integrator
        self.platform = ""
        self.steps = 0
        self.seconds = 0.0  # spent in steps
        self.simulated = 0.0  # ps
        self.max_error = 0.0
        self.max_iterations = 0
        self.worst_constraint = -1
        self.worst_is_joint = False  # of rigid bodies, which has no index
        self.worst_particles: tuple[int, int] | None = None
        self.solver = ""
        self.clusters = 0
        self.degrees_of_freedom = 0
        self.energies = EnergySeries()
        self.disturbed_by: str | None = None  # a force that exchanges energy by design
        self.unread = ""  # why a reading failed
        self.is_quiet = False  # nothing is said while kernels are compiled
        self._context: weakref.ReferenceType[mm.Context] | None = None
        self._unsampled = False
        self._next_sample = 0  # number of steps at which one is due
        self._summary_throttle = Throttle(SUMMARY_SHARE)
        self._energy_throttle = Throttle(ENERGY_SHARE)

    def attach(self, context: mm.Context) -> None:
        """The integrator now belongs to this Context."""
        self._context = weakref.ref(context)
        self.platform = context.getPlatform().getName()
        self.energies.start_stretch()
        for force in context.getSystem().getForces():
            if "Barostat" in force.getName() or "Thermostat" in force.getName():
                self.disturbed_by = force.getName()

    def belongs_to(self, context: mm.Context) -> bool:
        """Whether this is the Context's integrator."""
        return self._context is not None and self._context() is context

    def step(self, take: Callable[[int], None], integrator: Any, steps: int) -> None:
        """Let the integrator take its steps in chunks, and read summary and energies in between.

        :param take: takes that many steps
        """
        context = None if self._context is None else self._context()
        if context is None or steps <= 0:
            take(steps)  # OpenMM raises the error
            return
        done = 0
        while done < steps:
            chunk = min(CHUNK, steps - done)
            self._take(take, integrator, context, chunk)
            done += chunk
            if self._summary_throttle.is_due(self.seconds) or done == steps:
                self.seconds += self._summary_throttle.measure(lambda: self._read(self._read_summary, integrator))
            if self._energy_throttle.is_due(self.seconds) or self.steps >= self._next_sample:
                self._energy_throttle.measure(lambda: self._read(self._read_energy, integrator))

    def finish(self, integrator: Any) -> None:
        """Take a last sample, if the Context is still there, and where its last step succeeded."""
        if self._unsampled:
            self._read(self._read_energy, integrator)

    def _read(self, reading: Callable[[Any, mm.Context], None], integrator: Any) -> None:
        """Read something that the script did not ask for: an error is not the script's, and must not hide one of it."""
        context = None if self._context is None else self._context()
        if context is None:
            return
        try:
            reading(integrator, context)
        except Exception as error:
            self.unread = next(iter(str(error).splitlines()), "") or type(error).__name__

    def _take(self, take: Callable[[int], None], integrator, context: mm.Context, chunk: int) -> None:
        first, start = context.getStepCount(), perf_counter()
        begin = context.getTime().value_in_unit(unit.picosecond)
        try:
            with saying_if_compiling(self.platform if self.steps == 0 and not self.is_quiet else ""):
                take(chunk)
            self._unsampled = True
        except mm.OpenMMException:
            self._unsampled = False  # an energy of a state that no step has reached
            self._read(self._read_summary, integrator)
            raise
        finally:
            self.seconds += perf_counter() - start
            self.steps += context.getStepCount() - first
            self.simulated += context.getTime().value_in_unit(unit.picosecond) - begin

    def _read_summary(self, integrator: Any, context: mm.Context) -> None:
        summary = integrator.getSolverSummary()
        self.solver, self.clusters = summary.solver, summary.clusters
        self.max_iterations = max(self.max_iterations, summary.iterations)
        if not summary.maxError <= self.max_error:
            self.max_error, self.worst_constraint = summary.maxError, summary.worstConstraint
            self.worst_is_joint = summary.converged and summary.worstConstraint < 0 and summary.joints > 0
            self.worst_particles = None
            system = context.getSystem()
            if 0 <= self.worst_constraint < system.getNumConstraints():
                self.worst_particles = tuple(system.getConstraintParameters(self.worst_constraint)[:2])

    def _read_energy(self, integrator: Any, context: mm.Context) -> None:
        self._next_sample = self.steps + self.steps // RARER  # also if this fails
        self._unsampled = False
        state = context.getState(energy=True)
        potential = state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
        kinetic = state.getKineticEnergy().value_in_unit(unit.kilojoule_per_mole)
        if math.isfinite(potential + kinetic):
            bath = integrator.computeHeatBathEnergy()._value if _has_chain(integrator) else 0.0
            self.energies.add(state.getTime().value_in_unit(unit.picosecond), potential, kinetic, bath)
        self.degrees_of_freedom = integrator.getNumDegreesOfFreedom()


def _has_chain(integrator: Any) -> bool:
    """Whether its heat bath has an energy, with which that of the System is conserved."""
    return isinstance(getattr(integrator, "integrator", integrator), _CHAINS)
