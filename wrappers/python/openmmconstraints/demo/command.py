# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints demo`: this package beside OpenMM's own algorithms, in five parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import openmm as mm
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import make_context
from openmmconstraints.benchmark.others import OtherPrograms, warning
from openmmconstraints.benchmark.report import machine_names, processor
from openmmconstraints.benchmark.villin import STEP_SIZE, Villin, build_villin, equilibrate
from openmmconstraints.demo import butane, cost, rigid, set_up, words
from openmmconstraints.demo.comparison import CANDIDATES, Outcome, compare
from openmmconstraints.demo.files import write_results, write_samples
from openmmconstraints.demo.plan import LONGEST_OVERRUN, OTHER_PARTS, Plan, make_plan, time_steps
from openmmconstraints.demo.results import Results
from openmmconstraints.demo.table import print_table, write_markdown
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.inspection.system import count_degrees_of_freedom, find_clusters
from openmmconstraints.inspection.versions import openmm_version
from openmmconstraints.terminal.options import check_tolerance
from openmmconstraints.terminal.table import make_console

MAX_STEPS = 20_000
PARTS = 5


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


def demo(settings: Settings) -> int:
    """Run everything; returns 1 if a run of this package failed."""
    begin = perf_counter()
    others = OtherPrograms()
    console = make_console()
    check_tolerance(mc.RattleIntegrator, settings.tolerance)
    platform = choose_platform(settings.platform)
    properties = _properties(platform, settings.threads)
    _make_folder(settings.output)
    console.print("openmm-constraints demo: measuring a few steps to estimate the time ...")
    first = build_villin(settings.constraints[0])
    build = perf_counter() - begin
    times = time_steps(first, platform, properties, settings.tolerance)
    plan = make_plan(len(settings.constraints), settings.steps, settings.time_budget, build, *times)
    console.print(
        f"estimated total time: {plan.seconds:.0f} s (runs of {plan.steps:,} steps = {plan.steps * STEP_SIZE:.3g} ps)"
    )
    where = _describe(platform, properties)
    results = Results(_settings(settings, platform, properties), settings.tolerance)
    deadline = begin + LONGEST_OVERRUN * settings.time_budget - OTHER_PARTS
    deadline = deadline if settings.steps is None else float("inf")
    _run_parts(console, settings, plan, first, platform, properties, deadline, results)
    print_table(console, results)
    results.settings["cores_used_by_other_programs"] = others.cores()
    title = (
        f"openmm-constraints beside OpenMM {openmm_version()}\n"
        f"villin in water: {first.system.getNumParticles():,} atoms, {1000 * STEP_SIZE:g} fs, {where}"
    )
    _write(results, title, settings.output)
    if any(outcome.steps < plan.steps and not outcome.failure for outcome in results.outcomes):
        console.print("Runs of villin were ended early to keep the budget, because the machine has become slower.")
    for sentence in words.failures(results):
        console.print(sentence, style="red")
    console.print(words.in_short(results))
    busy = warning(others.cores(), "times of whole steps")
    if busy is not None:
        console.print(busy, style="yellow")
    names = "demo.png, table.md, samples.csv, results.json"
    console.print(f"wrote {names} to {settings.output.resolve()}", soft_wrap=True)
    console.print(f"took {perf_counter() - begin:.0f} s (estimated: {plan.seconds:.0f} s)")
    return 1 if words.failures(results) else 0


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
    return f"{platform.getName()} platform{f' ({details})' if details else ''}, {processor()}"


def _settings(settings: Settings, platform: mm.Platform, properties: dict[str, str]) -> dict[str, object]:
    return {
        **machine_names(),
        "platform": platform.getName(),
        "properties": properties,
        "constraint_tolerance": settings.tolerance,
        "step_size_ps": STEP_SIZE,
    }


@contextmanager
def _part(console: Console, number: int, title: str, total: float) -> Iterator[Callable[[float], None]]:
    """A line for logs, and a bar on a terminal; gives the function to call with what is done."""
    console.print(f"[{number}/{PARTS}] {title} ...")
    columns = (TextColumn("     "), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    shown = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task(title, total=total)
        yield lambda n: progress.advance(task, n)


def _run_parts(
    console: Console,
    settings: Settings,
    plan: Plan,
    first: Villin,
    platform: mm.Platform,
    properties: dict[str, str],
    deadline: float,
    results: Results,
) -> None:
    """Fill in the results; prints a sentence on each part."""

    def say(*sentences: str) -> None:
        for sentence in sentences:
            console.print(Padding(sentence, (0, 0, 0, 6)))

    sets = settings.constraints
    with _part(console, 1, f"villin in water, {' and '.join(sets)}", len(sets) * plan.steps) as advance:
        for done, constraints in enumerate(sets):
            villin = first if done == 0 else build_villin(constraints)
            # Where the estimate was too low, every set gets its share of the time that is left.
            limit = perf_counter() + max(0.0, deadline - perf_counter()) / (len(sets) - done)
            _run_villin(constraints, villin, platform, properties, plan, limit, advance, results)
    say(words.of_villin(results), words.of_error(results))
    with _part(console, 2, "cost against tolerance", 2 * cost.PASSES * len(cost.TOLERANCES)) as advance:
        results.cost = cost.measure_cost(advance)
    say(words.of_cost(results))
    with _part(console, 3, "set-up", len(set_up.LENGTHS)) as advance:
        results.set_ups = set_up.measure_set_up(advance)
    say(words.of_set_up(results))
    with _part(console, 4, "linear and rigid molecules", len(rigid.MOLECULES) * rigid.STEPS) as advance:
        results.rigid = rigid.run_rigid(advance)
    say(words.of_rigid(results))
    with _part(console, 5, "mean force on a dihedral", butane.WINDOWS) as advance:
        results.mean_forces = butane.measure_mean_force(advance)
    say(words.of_mean_force(results))


def _run_villin(
    constraints: str,
    villin: Villin,
    platform: mm.Platform,
    properties: dict[str, str],
    plan: Plan,
    limit: float,
    advance: Callable[[float], None],
    results: Results,
) -> None:
    """All integrators with one set of constraints, in turns."""
    start = equilibrate(villin, platform, properties, plan.equilibration)
    clusters = find_clusters(villin.system, mc.RattleIntegrator(STEP_SIZE), start.positions)
    results.degrees_of_freedom[constraints] = count_degrees_of_freedom(villin.system, clusters)
    outcomes = [Outcome(constraints, candidate) for candidate in CANDIDATES]
    contexts = [
        make_context(villin.system, candidate.make(results.tolerance), start, platform, properties)
        for candidate in CANDIDATES
    ]
    compare(outcomes, contexts, BondMeter(villin.system), plan.steps, plan.interval, limit, advance)
    results.outcomes += outcomes


def _write(results: Results, title: str, folder: Path) -> None:
    from openmmconstraints.demo.plot import plot

    plot(results, title, folder / "demo.png")
    write_markdown(results, title, folder / "table.md")
    write_samples(results.outcomes, folder / "samples.csv")
    write_results(results, folder / "results.json")
