# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints demo`: OpenMM's own integrator against SHAKE and RATTLE, on a protein in water."""

from __future__ import annotations

import os
import platform as machine
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import openmm as mm
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import make_context
from openmmconstraints.benchmark.villin import MINIMIZER_ITERATIONS, STEP_SIZE, Villin, build_villin, equilibrate
from openmmconstraints.demo.comparison import CANDIDATES, Outcome, compare
from openmmconstraints.demo.results import print_results, write_results, write_samples
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.inspection.system import count_degrees_of_freedom
from openmmconstraints.inspection.versions import openmm_version, plugin_version
from openmmconstraints.terminal.options import check_tolerance
from openmmconstraints.terminal.table import make_console

MAX_STEPS = 20_000
EQUILIBRATION_STEPS = 200
SAMPLES = 40  # per run
SHORTEST_INTERVAL = 4  # steps between samples, where there are as many: the first one after a sample is not timed
TRIAL_STEPS = 5
PLANNED_SHARE = 0.85  # of the time that is left
LONGEST_OVERRUN = 1.1  # times the budget; then runs end early


@dataclass(frozen=True)
class Settings:
    """What the user asked for."""

    output: Path
    platform: str | None
    threads: int | None
    constraints: tuple[str, ...]
    tolerance: float
    steps: int | None
    time_budget: float  # s, where steps is None


@dataclass(frozen=True)
class Plan:
    """Lengths of the runs, and an estimate of the time."""

    steps: int
    equilibration: int
    seconds: float  # estimate of the whole command

    @property
    def interval(self) -> int:
        """Steps between two samples."""
        return max(min(SHORTEST_INTERVAL, self.steps), self.steps // SAMPLES)


def demo(settings: Settings) -> int:
    """Run everything; returns 1 if a run failed."""
    begin = perf_counter()
    console = make_console()
    check_tolerance(mc.RattleIntegrator, settings.tolerance)
    platform = choose_platform(settings.platform)
    properties = _properties(platform, settings.threads)
    _make_folder(settings.output)
    console.print("openmm-constraints demo: measuring a few steps to estimate the time ...")
    first = build_villin(settings.constraints[0])
    build_seconds = perf_counter() - begin
    plan = _plan(settings, build_seconds, *_time_steps(first, platform, properties, settings.tolerance))
    console.print(
        f"estimated total time: {plan.seconds:.0f} s ({len(settings.constraints) * len(CANDIDATES)} runs of "
        f"{plan.steps:,} steps = {plan.steps * STEP_SIZE:.3g} ps)"
    )
    title = (
        f"villin in water, {first.system.getNumParticles():,} atoms, {1000 * STEP_SIZE:g} fs, "
        f"tolerance {settings.tolerance:g}\n{_describe(platform, properties)}"
    )
    console.print(title)
    deadline = begin + LONGEST_OVERRUN * settings.time_budget if settings.steps is None else float("inf")
    outcomes, freedom = _run_all(console, settings, plan, first, platform, properties, deadline)
    print_results(console, outcomes, freedom)
    if any(outcome.steps < plan.steps and not outcome.failure for outcome in outcomes):
        console.print("Some runs were ended early to keep the budget, because the machine has become slower.")
    described = {
        "platform": platform.getName(),
        "properties": properties,
        "constraint_tolerance": settings.tolerance,
        "step_size_ps": STEP_SIZE,
        "degrees_of_freedom": freedom,
        "openmm": openmm_version(),
        "openmm_constraints": plugin_version(),
    }
    write_samples(outcomes, settings.output / "samples.csv")
    write_results(outcomes, described, freedom, settings.output / "results.json")
    from openmmconstraints.demo.plot import plot

    plot(outcomes, title, settings.tolerance, settings.output / "demo.png")
    names = ", ".join(("demo.png", "samples.csv", "results.json"))
    console.print(f"wrote {names} to {settings.output.resolve()}", soft_wrap=True)
    console.print(f"took {perf_counter() - begin:.0f} s (estimated: {plan.seconds:.0f} s)")
    return 1 if any(outcome.failure for outcome in outcomes) else 0


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to '{folder}': {error.strerror}.") from error


def _properties(platform: mm.Platform, threads: int | None) -> dict[str, str]:
    """Two threads by default; mixed precision, where there is a choice."""
    names = platform.getPropertyNames()
    if threads is not None and "Threads" not in names:
        raise UserError(f"--threads is for the CPU platform, and this is {platform.getName()}.")
    properties = {}
    if "Threads" in names:
        properties["Threads"] = str(threads or min(2, os.cpu_count() or 1))
    if "Precision" in names:
        properties["Precision"] = "mixed"
    return properties


def _describe(platform: mm.Platform, properties: dict[str, str]) -> str:
    details = ", ".join(f"{name} {value}" for name, value in properties.items())
    where = f"{machine.system()} {machine.machine()}, OpenMM {openmm_version()}"
    return f"{platform.getName()} platform{f' ({details})' if details else ''} on {where}"


def _time_steps(villin: Villin, platform: mm.Platform, properties: dict[str, str], tolerance: float):
    """Seconds to create a Context, and per step: the mean over the integrators."""
    create, step = 0.0, 0.0
    for candidate in CANDIDATES:
        start = perf_counter()
        integrator = candidate.make(tolerance)
        context = mm.Context(villin.system, integrator, platform, properties)
        context.setPositions(villin.positions)
        context.applyConstraints(tolerance)
        integrator.setStepSize(1e-5)  # the positions are not minimized yet
        integrator.step(1)
        context.getState(energy=True)
        create += perf_counter() - start
        start = perf_counter()
        integrator.step(TRIAL_STEPS)
        context.getState(energy=True)
        step += (perf_counter() - start) / (TRIAL_STEPS + 1)
    return create / len(CANDIDATES), step / len(CANDIDATES)


def _plan(settings: Settings, build: float, create: float, step: float) -> Plan:
    """As many steps as the budget allows, or the estimate for the number that was asked for."""
    sets, runs = len(settings.constraints), len(settings.constraints) * len(CANDIDATES)
    some = 10 * settings.steps if settings.steps else int(0.1 * settings.time_budget / sets / step)
    equilibration = max(1, min(EQUILIBRATION_STEPS, some))
    prepare = build * sets + create * len(CANDIDATES) + sets * step * (equilibration + 3 * MINIMIZER_ITERATIONS)
    finish = 3.0  # figure and files
    fixed = prepare + runs * create + finish
    # Steps and samples cost the same.
    affordable = max(0.0, PLANNED_SHARE * (settings.time_budget - fixed) / (runs * step))
    steps = settings.steps or max(1, min(MAX_STEPS, int(max(affordable - SAMPLES, 0.8 * affordable))))
    return Plan(steps, equilibration, fixed + runs * (steps + min(SAMPLES, steps / SHORTEST_INTERVAL)) * step)


def _run_all(
    console: Console,
    settings: Settings,
    plan: Plan,
    first: Villin,
    platform: mm.Platform,
    properties: dict[str, str],
    deadline: float,
) -> tuple[list[Outcome], dict[str, int]]:
    """All runs, with a progress bar; returns what they gave and the degrees of freedom of each set of constraints."""
    outcomes: list[Outcome] = []
    freedom: dict[str, int] = {}
    runs_left = len(settings.constraints) * len(CANDIDATES)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("steps"))
    with Progress(*columns, TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("preparing", total=runs_left * plan.steps)
        for constraints in settings.constraints:
            progress.update(task, description=f"{constraints}: equilibrating")
            villin = first if constraints == settings.constraints[0] else build_villin(constraints)
            start = equilibrate(villin, platform, properties, plan.equilibration)
            freedom[constraints] = count_degrees_of_freedom(
                villin.system, mc.RattleIntegrator(STEP_SIZE).getClusters(villin.system)
            )
            meter = BondMeter(villin.system)
            for candidate in CANDIDATES:
                progress.update(task, description=f"{constraints}: {candidate.label}")
                outcome = Outcome(constraints, candidate)
                context = make_context(villin.system, candidate.make(settings.tolerance), start, platform, properties)
                # Where the estimate was too low, every run gets its share of the time that is left.
                limit = perf_counter() + max(0.0, deadline - perf_counter()) / runs_left
                compare(outcome, context, meter, plan.steps, plan.interval, limit, lambda n: progress.advance(task, n))
                outcomes.append(outcome)
                runs_left -= 1
                progress.update(task, completed=len(outcomes) * plan.steps)
                if outcome.failure is not None:
                    progress.console.print(f"{constraints}, {candidate.label}: {outcome.failure}", style="red")
    return outcomes, freedom
