# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints benchmark`: arguments checked, systems in turn, tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import openmmconstraints as mc
from openmmconstraints.benchmark.inputs import write_input
from openmmconstraints.benchmark.measure import Case, Record, Setting
from openmmconstraints.benchmark.model import Chosen
from openmmconstraints.benchmark.others import OtherPrograms, warning
from openmmconstraints.benchmark.own import read_own
from openmmconstraints.benchmark.report import describe, print_records, write_json
from openmmconstraints.benchmark.systems import SYSTEMS, choose
from openmmconstraints.benchmark.words import CAPTION
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.terminal.options import check_tolerance
from openmmconstraints.terminal.table import make_console, make_table

FEWEST_ROUNDS = 3
QUICK_SYSTEMS = ("chain", "co2", "water")


@dataclass(frozen=True)
class Settings:
    """What the user asked for; None: the default."""

    output: Path
    systems: Sequence[str] | None
    system: Path | None  # the user's own
    state: Path | None  # where it starts
    constraints: Sequence[str] | None
    tolerances: Sequence[float] | None
    solvers: Sequence[str]
    integrator: str
    platform: str
    threads: int | None
    precision: str | None
    rounds: int | None
    seconds: float | None
    setup_limit: float | None
    quick: bool
    list: bool
    write_input: Path | None


def benchmark(settings: Settings) -> int:
    """Run it; returns the exit status: a solver that fails is a result too."""
    console = make_console()
    if settings.list:
        _print_list(console)
        return 0
    cases = _cases(_chosen(settings), settings.constraints)
    setting = _setting(settings)
    if settings.write_input is not None:
        _write_inputs(console, cases, setting, settings.write_input)
        return 0
    folder = _make_folder(settings.output)
    begin, others = perf_counter(), OtherPrograms()
    records = _measure_all(console, cases, setting)
    described = {**describe(setting), "cores_used_by_other_programs": others.cores()}
    write_json(folder / "benchmark.json", described, records)
    properties = "".join(f", {name} {value}" for name, value in setting.properties.items())
    title = (
        f"{setting.integrator} against {setting.partner} (built-in), {described['platform']} platform{properties}\n"
        f"{described['machine']}, OpenMM {described['openmm']}"
    )
    from openmmconstraints.benchmark.page import write_page
    from openmmconstraints.benchmark.plots import plot_errors, plot_ratios

    plot_ratios(records, title, folder / "ratios.png")
    plot_errors(records, title, folder / "errors.png")
    write_page(folder / "benchmark.html", described, records)
    console.print(CAPTION)
    busy = warning(described["cores_used_by_other_programs"])
    if busy is not None:
        console.print(busy, style="yellow")
    console.print(f"wrote benchmark.json, ratios.png and errors.png to {folder.resolve()}", soft_wrap=True)
    console.print(f"wrote {folder.resolve() / 'benchmark.html'}, a page with all of it, to send", soft_wrap=True)
    console.print(f"took {perf_counter() - begin:.0f} s")
    return 0


def _print_list(console: Console) -> None:
    table = make_table("Systems", ["Name", "What", "Sets of constraints"], ["Size"])
    for entry in SYSTEMS.values():
        table.add_row(
            entry.name, entry.summary, ", ".join(entry.sets), "" if entry.size is None else f"n = {entry.size}"
        )
    console.print(table)
    console.print("A size is chosen as in chain:5000.")


def _chosen(settings: Settings) -> list[Chosen]:
    if settings.system is None and settings.state is None:
        return choose(settings.systems or (QUICK_SYSTEMS if settings.quick else None), settings.quick)
    for name, value in (("--systems", settings.systems), ("--constraints", settings.constraints)):
        if value is not None:
            raise UserError(f"{name} is for systems that have a name: leave it out, or --system and --state.")
    return [read_own(settings.system, settings.state)]


def _cases(systems: Sequence[Chosen], constraints: Sequence[str] | None) -> list[tuple[Chosen, str]]:
    cases = [(s, c) for s in systems for c in s.entry.sets if constraints is None or c in constraints]
    if not cases:
        offered = "; ".join(f"{s.name} has {', '.join(s.entry.sets)}" for s in systems)
        raise UserError(f"none of these systems has constraints {', '.join(constraints or ())}: {offered}.")
    return cases


def _setting(settings: Settings) -> Setting:
    tolerances = tuple(settings.tolerances or ((1e-5,) if settings.quick else (1e-5, 1e-8, 1e-12)))
    for tolerance in tolerances:
        check_tolerance(mc.ShakeIntegrator, tolerance)
    rounds = settings.rounds or (FEWEST_ROUNDS if settings.quick else 7)
    if rounds < FEWEST_ROUNDS:
        raise UserError(f"--rounds {rounds}: medians and quartiles need {FEWEST_ROUNDS} or more.")
    platform = choose_platform(settings.platform)
    offered = platform.getPropertyNames()
    properties = {}
    for option, value, name in (
        ("--threads", settings.threads, "Threads"),
        ("--precision", settings.precision, "Precision"),
    ):
        if name in offered:
            properties[name] = str(value or {"Threads": 1, "Precision": "mixed"}[name])
        elif value is not None:
            raise UserError(f"{option} is not for the {platform.getName()} platform.")
    return Setting(
        platform,
        properties,
        settings.integrator,
        tuple(dict.fromkeys(settings.solvers)),
        tuple(dict.fromkeys(tolerances)),
        rounds,
        settings.seconds or (0.01 if settings.quick else 0.1),
        settings.setup_limit or (5.0 if settings.quick else 30.0),
        settings.quick,
    )


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to '{folder}': {error.strerror}.") from error
    return folder


def _measure_all(console: Console, cases: Sequence[tuple[Chosen, str]], setting: Setting) -> list[Record]:
    records: list[Record] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("rounds"))
    with Progress(*columns, TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("preparing", total=len(cases) * len(setting.tolerances) * setting.rounds)
        for chosen, constraints in cases:
            progress.update(task, description=f"{chosen.name} {constraints}: starting")
            case = Case(chosen, constraints, setting)
            progress.update(task, description=f"{chosen.name} {constraints}")
            some = case.measure(lambda n: progress.advance(task, n), lambda text: progress.console.print(text))
            print_records(progress.console, some)
            records += some
    return records


def _write_inputs(console: Console, cases: Sequence[tuple[Chosen, str]], setting: Setting, folder: Path) -> None:
    _make_folder(folder)
    for chosen, constraints in cases:
        paths = write_input(Case(chosen, constraints, setting), folder)
        console.print(f"wrote {paths[0].name} and {len(paths) - 1} states to {folder.resolve()}", soft_wrap=True)
