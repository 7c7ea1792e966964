# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""One system with one set of constraints: all solvers at all tolerances, in turns."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import PARTNERS, Candidate
from openmmconstraints.benchmark.model import Chosen
from openmmconstraints.benchmark.runner import MAX_FREE_STEPS, Runner
from openmmconstraints.benchmark.start import relax, thermalize
from openmmconstraints.benchmark.timing import Clock, Spread, ignore_forces, in_turn, without_forces
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.listing import Listing, is_ours
from openmmconstraints.inspection.system import find_clusters

FEWEST_TIMED = 500  # constraints that CCMA solves: OpenMM sets up fewer in no time
RELAXATION = 50  # iterations
HEATING = 100  # steps

HOLDS_NO_FORCES = "OpenMM's own algorithm holds no constraint of a Force (ConstraintForce, CustomConstraintForce, ...)"

_SET_UP = """
import sys, time
import openmm as mm
system = mm.XmlSerializer.deserialize(open(sys.argv[1]).read())
start = time.perf_counter()
mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Setting:
    """Settings of all systems."""

    platform: mm.Platform
    properties: dict[str, str]
    integrator: str  # ours: Shake, Rattle or RattleLangevin
    solvers: tuple[str, ...]
    tolerances: tuple[float, ...]
    rounds: int
    seconds: float  # of each measurement in a round
    setup_limit: float  # s, for OpenMM's own algorithm; infinite: it is not tried before
    quick: bool
    clock: Clock = perf_counter

    @property
    def partner(self) -> str:
        """OpenMM's own integrator for the same."""
        return PARTNERS[self.integrator]


@dataclass
class Record:
    """What was measured of one solver. Times are of a step; None: not measured."""

    system: str
    set: str
    constraints: int
    particles: int
    tolerance: float
    integrator: str
    solver: str | None  # None: OpenMM's own
    setup_s: float | None = None  # to create a Context without forces
    first_step_s: float | None = None  # in it: this package's integrators check the first positions then
    step_ms: Spread | None = None  # a whole one, with all forces
    bare_ms: Spread | None = None  # motion and constraints alone
    motion_ms: Spread | None = None  # motion alone
    constraints_us: Spread | None = None  # bare - motion, of each round
    share: Spread | None = None  # of constraints in a whole step
    step_ratio: Spread | None = None  # to the built-in's whole step, of each round
    bare_ratio: Spread | None = None  # likewise
    constraints_ratio: Spread | None = None  # likewise
    error: float | None = None  # relative, largest of all distances at the end
    iterations: int | None = None
    failure: str | None = None

    @property
    def label(self) -> str:
        """For tables and legends."""
        return "built-in" if self.solver is None else self.solver

    @property
    def case(self) -> str:
        """The system and its set of constraints."""
        return f"{self.system} {self.set}"


#: A candidate with "whole" or "bare"; or True (OpenMM's integrator) or False (this package's) with "motion".
Job = tuple[Candidate | bool, str]


class Case:
    """A system with a set of constraints, ready to be measured."""

    def __init__(self, chosen: Chosen, constraints: str, setting: Setting) -> None:
        self.chosen, self.set, self.setting = chosen, constraints, setting
        self.system = chosen.model.create(constraints)
        #: Whether it has constraints that only this package knows.
        self.has_forces = any(map(is_ours, self.system.getForces()))
        self.count = len(Listing(self.system).kind)
        self.moved = copy.deepcopy(self.system)
        mc.moveConstraints(self.moved)
        fewer = 5 if setting.quick else 1
        positions = relax(chosen.model, RELAXATION // fewer)
        try:
            self.start = thermalize(self.moved, positions, HEATING // fewer)
        except mm.OpenMMException as error:
            raise UserError(f"{chosen.name} {constraints} cannot be started: {error}") from error

    def without_built_in(self) -> str | None:
        """Why OpenMM's own algorithm is left out; None if it is not."""
        limit = self.setting.setup_limit
        if math.isinf(limit):
            return None
        clusters = find_clusters(self.moved, mc.ShakeIntegrator(0.001), self.start.positions)
        triangles = sum(c.count for c in clusters if (c.constraints, c.particles) == (3, 3))  # SETTLE's
        if self.system.getNumConstraints() - 3 * triangles < FEWEST_TIMED:
            return None
        with TemporaryDirectory() as folder:
            path = Path(folder) / "system.xml"
            path.write_text(mm.XmlSerializer.serialize(without_forces(self.system)))
            try:
                command = [sys.executable, "-c", _SET_UP, str(path)]
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
            except subprocess.TimeoutExpired:
                return f"left out: its set-up takes more than {limit:g} s (--setup-limit)"
            except subprocess.CalledProcessError as error:
                return f"left out: its set-up fails: {error.stderr.strip().splitlines()[-1]}"
        return None

    @cached_property
    def candidates(self) -> list[Candidate]:
        """OpenMM's own and those of this package; Automatic too, if it chooses otherwise than the others."""
        solvers = list(self.setting.solvers)
        if self._served_by("Automatic") not in map(self._served_by, solvers):
            solvers.append("Automatic")
        return [Candidate(self.setting.partner, None), *(Candidate(self.setting.integrator, s) for s in solvers)]

    def _served_by(self, solver: str) -> list[tuple] | None:
        """(solver, number, size) of the clusters; None if the solver cannot serve them."""
        integrator = mc.ShakeIntegrator(0.001)
        integrator.setSolver(getattr(mc.ConstraintIntegrator, solver))
        try:
            return [
                (c.solver, c.count, c.constraints) for c in find_clusters(self.moved, integrator, self.start.positions)
            ]
        except mm.OpenMMException:
            return None

    def measure(self, advance: Callable[[int], None], say: Callable[[str], None]) -> list[Record]:
        """All solvers at all tolerances; advance() is called with rounds that are done, say() with what is left out."""
        self.prepare(say)
        records = []
        for tolerance in self.setting.tolerances:
            records += self.measure_at(tolerance, advance)
        return records

    # ---- the Contexts, made once ---------------------------------------------------------------------------------

    def prepare(self, say: Callable[[str], None]) -> None:
        """Make the Contexts; say() is called with what is left out."""
        self.whole: dict[Candidate, Runner] = {}
        self.bare: dict[Candidate, Runner] = {}
        self.motion: dict[bool, Runner] = {}  # of OpenMM's integrator (True) and of ours
        self.failures: dict[Candidate, str] = {}
        self.meter = BondMeter(self.system)
        reason = None if self.has_forces else self.without_built_in()
        loosest = max(self.setting.tolerances)
        for candidate in self.candidates:
            built_in = candidate.solver is None
            if built_in and reason is not None:
                self.failures[candidate] = reason
                say(f"{self.chosen.name} {self.set}: the built-in algorithm is {reason}")
                continue
            if built_in and self.has_forces:
                self.failures[candidate] = HOLDS_NO_FORCES
                continue
            system = self.system if built_in else self.moved
            try:
                bare = ignore_forces(candidate.make(loosest))
                self.bare[candidate] = self._runner(without_forces(system), bare, MAX_FREE_STEPS)
                self.whole[candidate] = self._runner(system, candidate.make(loosest), None)
                if built_in not in self.motion:
                    free = ignore_forces(candidate.make(loosest))
                    self.motion[built_in] = self._runner(self._unconstrained(), free, MAX_FREE_STEPS)
            except mm.OpenMMException as error:
                self.failures[candidate] = str(error)

    def _runner(self, system: mm.System, integrator: mm.Integrator, longest: int | None) -> Runner:
        setting = self.setting
        return Runner(system, integrator, self.start, setting.platform, setting.properties, longest, setting.clock)

    def _unconstrained(self) -> mm.System:
        system = without_forces(self.system)
        for f in reversed(range(system.getNumForces())):
            if is_ours(system.getForce(f)):
                system.removeForce(f)
        for i in reversed(range(system.getNumConstraints())):
            system.removeConstraint(i)
        return system

    # ---- one tolerance -------------------------------------------------------------------------------------------

    def measure_at(self, tolerance: float, advance: Callable[[int], None]) -> list[Record]:
        """All solvers at one tolerance, once prepare() was called; advance() as in measure()."""
        size = (self.count, self.system.getNumParticles())
        records = {
            c: Record(
                self.chosen.name, self.set, *size, tolerance, c.integrator, c.solver, failure=self.failures.get(c)
            )
            for c in self.candidates
        }
        for candidate, record in records.items():
            self._try(candidate, record, tolerance)
        jobs: list[Job] = [(built_in, "motion") for built_in in self.motion]
        jobs += [(c, what) for c, record in records.items() if record.failure is None for what in ("whole", "bare")]
        times: dict[Job, list[float]] = {job: [] for job in jobs}
        for runner in self.motion.values():
            runner.choose_steps(self.setting.seconds)
        for turn in range(self.setting.rounds):
            for key, what in in_turn(jobs, turn):
                if isinstance(key, Candidate) and records[key].failure is not None:
                    continue
                try:
                    times[key, what].append(getattr(self, what)[key].time())
                except mm.OpenMMException as error:
                    if not isinstance(key, Candidate):
                        raise  # motion without constraints and forces cannot fail
                    _note_failure(records[key], error)
            advance(1)
        for candidate, record in records.items():
            self._summarize(candidate, record, times)
        partner = self.candidates[0]
        if records[partner].failure is None:
            for candidate, record in records.items():
                if candidate != partner and record.failure is None:
                    _compare(record, candidate, partner, times)
        return list(records.values())

    def _try(self, candidate: Candidate, record: Record, tolerance: float) -> None:
        """Take a few steps: do they work, and how many take the time of a measurement?"""
        if record.failure is not None:
            return
        try:
            for runner in (self.whole[candidate], self.bare[candidate]):
                runner.set_tolerance(tolerance)
                runner.choose_steps(self.setting.seconds)
                record.error = self._error(runner)
                if math.isnan(record.error):
                    record.failure = "NaN"
                    return
        except mm.OpenMMException as error:
            _note_failure(record, error)

    def _error(self, runner: Runner) -> float:
        """The largest of all distances, measured; of constraints of a Force that of the solver."""
        error = self.meter.largest_error(runner.context.getState(positions=True))
        if not self.has_forces:
            return error
        return float(np.maximum(error, runner.context.getIntegrator().getSolverSummary().maxError))  # NaN remains

    def _summarize(self, candidate: Candidate, record: Record, times: dict[Job, list[float]]) -> None:
        if candidate in self.bare:
            record.setup_s = self.bare[candidate].setup_s
            record.first_step_s = self.bare[candidate].first_step_s
        if record.failure is not None:
            return
        try:
            record.error = self._error(self.whole[candidate])
        except mm.OpenMMException as error:
            record.failure = str(error)
            return
        if candidate.solver is not None:
            record.iterations = self.whole[candidate].context.getIntegrator().getSolverSummary().iterations
        whole, bare = times[candidate, "whole"], times[candidate, "bare"]
        motion = times[candidate.solver is None, "motion"]
        alone = _minus(bare, motion)
        record.step_ms = Spread.of([1e3 * t for t in whole])
        record.bare_ms = Spread.of([1e3 * t for t in bare])
        record.motion_ms = Spread.of([1e3 * t for t in motion])
        record.constraints_us = Spread.of([1e6 * t for t in alone])
        record.share = Spread.of(_over(alone, whole))


def _note_failure(record: Record, error: mm.OpenMMException) -> None:
    """Keep the message. OpenMM notices NaN from its own algorithms when it computes the next forces."""
    is_nan = record.solver is None and "coordinate is NaN" in str(error)
    record.error, record.failure = (math.nan, "NaN") if is_nan else (None, str(error))


def _compare(record: Record, candidate: Candidate, partner: Candidate, times: dict[Job, list[float]]) -> None:
    """Ratios to the built-in algorithm."""
    ours, theirs = times[candidate, "bare"], times[partner, "bare"]
    alone, their_own = _minus(ours, times[False, "motion"]), _minus(theirs, times[True, "motion"])
    record.step_ratio = Spread.of(_over(times[candidate, "whole"], times[partner, "whole"]))
    record.bare_ratio = Spread.of(_over(ours, theirs))
    record.constraints_ratio = Spread.of(_over(alone, their_own))


def _minus(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _over(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Ratios; none where differences of two times are lost in their noise."""
    ratios = [x / y for x, y in zip(a, b, strict=True) if y > 0]
    return ratios if 4 * len(ratios) >= 3 * len(b) else []
