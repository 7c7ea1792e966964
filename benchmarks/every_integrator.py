# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators of OpenMM with their own constraint algorithms and with this package's: what replaceSolver() gains.

    pip install --no-deps openmmtools         # for DHFR
    python benchmarks/every_integrator.py --json every-integrator.json
    python benchmarks/every_integrator.py --systems hybrid octatriyne --integrators BAOAB --rounds 5

LangevinMiddleIntegrator, and BAOAB as a CustomIntegrator, written as openmmtools does it ("V R O R V": two solves for
positions and five for velocities a step), on the CPU platform or a device (--platform). All take turns in one process,
from the same state.
Besides DHFR in water there are molecules for which OpenMM's CCMA takes many iterations, after its issues 2380 and 2814:

    hybrid         phenol that becomes aniline, in water: one hydrogen is held at both O and N, which lie side by side
    octatriyne     a straight chain, CH3-(CC)3-CH3, in water, whose angles CCMA does not know: as in hybrid systems of
                   free energies, they are in a CustomAngleForce
    dhfr-hybrid    the hybrid in one System with DHFR, without forces between them: CCMA iterates until all have
                   converged

A whole step has all forces. The time of the constraints is that of a step without forces less that of the same step
without forces and constraints, in each round. BAOAB's own arithmetic takes many times as long as its constraints, so
there each solve is repeated from the same positions or velocities, and the difference divided by the number of solves
(a repeated one takes the directions of the bonds from the solution before it, not from the step before).
A ratio is ours over the built-in's in the same round; medians of the rounds, with quartiles. With one thread the time
is that of the process.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import openmm as mm
from ligands import WithHybrid, hybrid_molecule, in_water, octatriyne_molecule
from rich.table import Table

import openmmconstraints as mc
from openmmconstraints.benchmark.model import Chosen, Model, NamedSystem
from openmmconstraints.benchmark.others import OtherPrograms, warning
from openmmconstraints.benchmark.report import machine_names, ratio
from openmmconstraints.benchmark.runner import MAX_FREE_STEPS, Runner
from openmmconstraints.benchmark.start import relax, thermalize
from openmmconstraints.benchmark.systems import choose
from openmmconstraints.benchmark.timing import Clock, Spread, ignore_forces, in_turn, without_forces
from openmmconstraints.benchmark.villin import FRICTION, SEED, STEP_SIZE, TEMPERATURE, StartState
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.terminal.table import make_console, make_table

SETS = ("HBonds", "AllBonds", "HAngles")
GOALS = {"HBonds": 1.0, "AllBonds": 0.5, "HAngles": 0.5}  # of DHFR: parts of the built-in's time of the constraints
RELAXATION, HEATING = 50, 100  # iterations, steps
BUILT_IN, OURS, FREE = "built-in", "ours", "without constraints"


# ---- integrators -----------------------------------------------------------------------------------------------------


def langevin_middle(solves: int) -> mm.Integrator:
    """OpenMM's LangevinMiddleIntegrator."""
    assert solves == 1
    return mm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, STEP_SIZE)


def baoab(solves: int) -> mm.Integrator:
    """A CustomIntegrator with the splitting V R O R V, and the expressions that openmmtools writes.

    :param solves: so many times each of its solves is done, from the same start
    """
    integrator = mm.CustomIntegrator(STEP_SIZE)
    kt = mm.unit.MOLAR_GAS_CONSTANT_R.value_in_unit(mm.unit.kilojoule_per_mole / mm.unit.kelvin) * TEMPERATURE
    damping = float(np.exp(-FRICTION * STEP_SIZE))
    for name, value in {"kT": kt, "a": damping, "b": float(np.sqrt(1 - damping**2))}.items():
        integrator.addGlobalVariable(name, value)
    for name in ("sigma", "x1", "start"):
        integrator.addPerDofVariable(name, 0)

    def solve(variable: str, solve_once: Callable[[], int]) -> None:
        if solves > 1:
            integrator.addComputePerDof("start", variable)
        solve_once()
        for _ in range(solves - 1):
            integrator.addComputePerDof(variable, "start")
            solve_once()

    integrator.addUpdateContextState()
    integrator.addComputePerDof("sigma", "sqrt(kT/m)")
    for part in "VRORV":
        if part == "V":
            integrator.addComputePerDof("v", "v + (dt / 2) * f / m")
        elif part == "R":
            integrator.addComputePerDof("x", "x + ((dt / 2) * v)")
            integrator.addComputePerDof("x1", "x")
            solve("x", integrator.addConstrainPositions)
            integrator.addComputePerDof("v", "v + ((x - x1) / (dt / 2))")
        else:
            integrator.addComputePerDof("v", "(a * v) + (b * sigma * gaussian)")
        solve("v", integrator.addConstrainVelocities)
    return integrator


INTEGRATORS = {"LangevinMiddle": langevin_middle, "BAOAB": baoab}
SOLVES = {"LangevinMiddle": 1, "BAOAB": 8}  # in steps by which the time of the constraints is measured


# ---- systems ---------------------------------------------------------------------------------------------------------


OWN = {
    entry.name: entry
    for entry in (
        NamedSystem(
            "hybrid", "phenol and aniline in one, in water", ("HBonds", "AllBonds"), lambda: in_water(hybrid_molecule())
        ),
        NamedSystem("octatriyne", "a straight chain, in water", ("AllBonds",), lambda: in_water(octatriyne_molecule())),
        NamedSystem("dhfr-hybrid", "the hybrid besides DHFR; needs openmmtools", ("HBonds",), WithHybrid),
    )
}


def system_of(word: str) -> Chosen:
    """Of that name: one above, or as in `openmm-constraints benchmark --systems`."""
    return Chosen(OWN[word], None) if word in OWN else choose([word], quick=False)[0]


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """What was measured of one integrator in one setting. None: not measured."""

    system: str
    set: str
    particles: int
    constraints: int
    integrator: str
    threads: str
    tolerance: float
    whole_ms: dict[str, Spread] = field(default_factory=dict)  # a step with all forces
    bare_us: dict[str, Spread] = field(default_factory=dict)  # without forces, with SOLVES; FREE: without constraints
    constraints_us: dict[str, Spread] = field(default_factory=dict)
    share: float | None = None  # of the built-in's constraints in a whole step
    whole_ratio: Spread | None = None
    constraints_ratio: Spread | None = None
    goal: float | None = None
    reached: bool | None = None
    errors: dict[str, float] = field(default_factory=dict)  # relative, largest of all distances after whole steps
    iterations: int | None = None  # ours, of the last solve
    solver: str | None = None
    failures: dict[str, str] = field(default_factory=dict)  # of the built-in or ours


@dataclass(frozen=True)
class Setting:
    """What all systems have in common."""

    platform: str
    threads: str
    tolerance: float
    rounds: int
    seconds: float
    steps: int | None

    @property
    def properties(self) -> dict[str, str]:
        """Of the platform."""
        if self.platform != "CPU":
            return {"Precision": "mixed"}
        return {"Threads": self.threads} if self.threads else {}

    @property
    def clock(self) -> Clock:
        """Of one thread that of the process, which does not count other programs."""
        return process_time if self.platform == "CPU" and self.threads == "1" else perf_counter


class Case:
    """A System with a set of constraints and its start."""

    def __init__(self, chosen: Chosen, constraints: str, relaxed: np.ndarray, heating: int) -> None:
        model: Model = chosen.model
        self.name, self.set, self.system = chosen.name, constraints, model.create(constraints)
        self.free = without_constraints(self.system)
        moved = mm.XmlSerializer.clone(self.system)
        mc.moveConstraints(moved)
        self.start: StartState = thermalize(moved, relaxed, heating)
        self.replaced = mm.XmlSerializer.clone(self.system)
        mc.replaceSolver(self.replaced)

    def measure(self, integrator: str, setting: Setting) -> Result:
        """One integrator, built-in and ours in turn."""
        size = (self.system.getNumParticles(), self.system.getNumConstraints())
        is_host = setting.platform == "CPU"
        threads = (setting.threads or "all") if is_host else "-"
        goal = GOALS.get(self.set) if self.name == "dhfr" and is_host else None
        result = Result(self.name, self.set, *size, integrator, threads, setting.tolerance, goal=goal)
        runners: dict[tuple[str, str], Runner] = {}
        for who, system in ((BUILT_IN, self.system), (OURS, self.replaced), (FREE, self.free)):
            with failing(result, who):
                runners[who, "bare"] = self._runner(without_forces(system), result, setting, MAX_FREE_STEPS)
                if who != FREE:
                    runners[who, "whole"] = self._runner(system, result, setting, None)
        times: dict[tuple[str, str], list[float]] = {job: [] for job in runners}
        for turn in range(setting.rounds + 1):
            for who, what in in_turn(list(runners), turn):
                if who not in result.failures:
                    with failing(result, who):
                        seconds = runners[who, what].time()
                        if turn > 0:
                            times[who, what].append(seconds)
        meter = BondMeter(self.system)
        for who in (BUILT_IN, OURS):
            if who not in result.failures:
                with failing(result, who):
                    result.errors[who] = meter.largest_error(runners[who, "whole"].context.getState(positions=True))
                    if np.isnan(result.errors[who]):
                        result.failures[who] = "NaN"
        if OURS not in result.failures:
            summary = solver_summary(self.replaced, runners[OURS, "whole"].context)
            result.iterations, result.solver = summary.iterations, summary.solver
        summarize(result, {job: each for job, each in times.items() if job[0] not in result.failures})
        return result

    def _runner(self, system: mm.System, result: Result, setting: Setting, longest: int | None) -> Runner:
        is_bare = longest is not None
        integrator = INTEGRATORS[result.integrator](SOLVES[result.integrator] if is_bare else 1)
        integrator.setRandomNumberSeed(SEED)
        integrator.setConstraintTolerance(setting.tolerance)
        if is_bare:
            ignore_forces(integrator)
        platform = mm.Platform.getPlatform(setting.platform)
        runner = Runner(system, integrator, self.start, platform, setting.properties, longest, setting.clock)
        if setting.steps is None:
            runner.choose_steps(setting.seconds)
        else:
            runner.steps = setting.steps
        return runner


@contextmanager
def failing(result: Result, who: str) -> Iterator[None]:
    """Keep what one of them cannot do, and go on."""
    try:
        yield
    except mm.OpenMMException as error:
        result.failures[who] = "NaN" if "coordinate is NaN" in str(error) else str(error)


def without_constraints(system: mm.System) -> mm.System:
    """A copy."""
    free = mm.XmlSerializer.clone(system)
    for i in reversed(range(free.getNumConstraints())):
        free.removeConstraint(i)
    return free


def solver_summary(system: mm.System, context: mm.Context) -> mc.SolverSummary:
    """Of the Force that replaces the solver."""
    ours = [mc.ConstraintForce.cast(f) for f in system.getForces() if mc.ConstraintForce.isinstance(f)]
    return next(force for force in ours if force.getReplacesSolver()).getSolverSummary(context)


def summarize(result: Result, times: dict[tuple[str, str], list[float]]) -> None:
    """Medians over the rounds of those that have not failed."""
    bare = {who: np.array(each) for (who, what), each in times.items() if what == "bare"}
    whole = {who: np.array(each) for (who, what), each in times.items() if what == "whole"}
    alone = {who: (bare[who] - bare[FREE]) / SOLVES[result.integrator] for who in whole}
    result.whole_ms = spreads(whole, 1e3)
    result.bare_us, result.constraints_us = spreads(bare, 1e6), spreads(alone, 1e6)
    if len(whole) < 2:
        return
    result.whole_ratio = Spread.of(whole[OURS] / whole[BUILT_IN])
    result.share = float(np.median(alone[BUILT_IN] / whole[BUILT_IN]))
    is_clear = alone[BUILT_IN] > 0  # not ours as well: without rounds where it is small, the median would be too large
    if 4 * np.count_nonzero(is_clear) >= 3 * len(is_clear):  # else they are lost in noise
        result.constraints_ratio = Spread.of(alone[OURS][is_clear] / alone[BUILT_IN][is_clear])
        if result.constraints_ratio is not None and result.goal is not None:
            result.reached = result.constraints_ratio.median <= result.goal


def spreads(times: dict[str, np.ndarray], scale: float) -> dict[str, Spread]:
    """Of each, in another unit."""
    found = {who: Spread.of(list(scale * each)) for who, each in times.items()}
    return {who: spread for who, spread in found.items() if spread is not None}


# ---- report ----------------------------------------------------------------------------------------------------------


def table_of(results: Sequence[Result]) -> Table:
    """Results of one System with one set of constraints."""
    first = results[0]
    table = make_table(
        f"{first.system} {first.set}: {first.constraints:,} constraints, {first.particles:,} particles",
        ["integrator", "threads"],
        ["built-in (µs)", "ours (µs)", "ratio", "goal", "whole (ms)", "share", "ratio"],
        caption="µs of constraints: a step without forces, less one without constraints; whole steps and the share of "
        "constraints in them are the built-in's",
    )
    table.columns[0].no_wrap = True
    for r in results:
        built_in = r.whole_ms.get(BUILT_IN)
        table.add_row(
            r.integrator,
            r.threads,
            *(
                f"{r.constraints_us[who].median:.4g}" if who in r.constraints_us else "failed"
                for who in (BUILT_IN, OURS)
            ),
            ratio(r.constraints_ratio),
            "-" if r.reached is None else f"{r.goal:g} {'met' if r.reached else 'missed'}",
            "-" if built_in is None else f"{built_in.median:.4g}",
            "-" if r.share is None else f"{r.share:.1%}",
            ratio(r.whole_ratio),
        )
    return table


def write(path: Path, options: argparse.Namespace, results: Sequence[Result], notes: Sequence[str]) -> None:
    """All numbers so far."""
    described = {
        **machine_names(),
        "platform": options.platform,
        "tolerance": options.tolerance,
        "step_size_ps": STEP_SIZE,
        "rounds": options.rounds,
        "seconds_of_a_measurement": options.seconds,
        "steps_of_a_measurement": options.steps,
        "notes": [*options.note, *notes],
        "results": [asdict(result) for result in results],
    }
    path.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", metavar="NAME", default=["dhfr", *OWN], help="default: %(default)s")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="sets of constraints")
    parser.add_argument("--integrators", nargs="+", choices=INTEGRATORS, default=list(INTEGRATORS))
    parser.add_argument(
        "--platform",
        choices=["CPU", "OpenCL", "CUDA"],
        default="CPU",
        help="default: %(default)s; devices: mixed precision",
    )
    parser.add_argument("--threads", nargs="+", default=["1", ""], help='of the CPU platform; "": all')
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each integrator in a round")
    parser.add_argument("--steps", type=int, metavar="N", help="of each integrator in a round, in place of --seconds")
    parser.add_argument("--heating", type=int, default=HEATING, metavar="STEPS", help="of a start")
    parser.add_argument("--minutes", type=float, default=60, help="no setting is begun after so long")
    parser.add_argument("--note", action="append", default=[], help="a text to add to the file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all numbers")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if ours failed or something was left out."""
    options = parse(arguments)
    begin, results, left_out = perf_counter(), [], []
    others = OtherPrograms()
    console = make_console()
    for word in options.systems:
        try:
            chosen = system_of(word)
            relaxed = relax(chosen.model, RELAXATION)
            for constraints in [one for one in chosen.entry.sets if one in options.sets]:
                if perf_counter() - begin > 60 * options.minutes:
                    left_out.append(f"{word} {constraints}: the {options.minutes:g} minutes were over")
                    continue
                case = Case(chosen, constraints, relaxed, options.heating)
                for threads in options.threads if options.platform == "CPU" else [""]:
                    setting = Setting(
                        options.platform, threads, options.tolerance, options.rounds, options.seconds, options.steps
                    )
                    results += [case.measure(integrator, setting) for integrator in options.integrators]
                console.print(table_of([r for r in results if (r.system, r.set) == (case.name, case.set)]))
                if options.json is not None:
                    write(options.json, options, results, left_out)  # what is there if this is ended
        except UserError as error:
            left_out.append(f"{word}: {error}")
    busy = warning(others.cores())
    notes = [*([busy] if busy else []), *(f"not measured: {line}" for line in left_out)]
    for note in notes:
        console.print(note)
    for r in results:
        for who, failure in r.failures.items():
            console.print(f"{r.system} {r.set}, {r.integrator}, {who}: {failure}", style="red")
    if options.json is not None:
        write(options.json, options, results, notes)
    return 1 if left_out or any(OURS in result.failures for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
