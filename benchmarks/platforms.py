# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Compare the speed of this plugin's integrators with OpenMM's own, on villin in water (8,867 atoms).

All integrators run in one process, in turn. A ratio compares the times of two integrators in one round; the median of
the ratios is reported. Where libcountcalls is preloaded (see tests/calls), launches and waits of a step are counted as
well:

    LD_PRELOAD=build/tests/calls/libcountcalls.so python benchmarks/platforms.py --platform OpenCL --precision mixed
"""

from __future__ import annotations

import argparse
import json
import platform as machine
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import openmm as mm
from rich.progress import track

from openmmconstraints.benchmark.calls import count_calls
from openmmconstraints.benchmark.candidates import PARTNERS, Candidate
from openmmconstraints.benchmark.runner import Runner
from openmmconstraints.benchmark.timing import ignore_forces, in_turn, without_forces
from openmmconstraints.benchmark.villin import STEP_SIZE, StartState, build_villin, equilibrate
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.inspection.versions import openmm_version, plugin_version
from openmmconstraints.terminal.table import make_console, make_table

ROUND_SECONDS = 0.3  # of each integrator, where the number of steps is not given
#: Steps without forces before a measurement starts again from the same state. They are more than in the command
#: `openmm-constraints benchmark`: only bonds are held, and the wait for a device at the end counts less.
MAX_FREE_STEPS = 25


@dataclass
class Result:
    """What was measured of one integrator in one setting."""

    platform: str
    precision: str
    constraints: str
    integrator: str
    device: str = ""
    steps: int = 0  # per round
    seconds: list[float] = field(default_factory=list)  # of each round
    ms_per_step: float = 0.0  # median
    ratio: float | None = None  # to the time of the built-in integrator in PARTNERS, median over the rounds
    ratio_range: tuple[float, float] | None = None
    bond_error: float = 0.0  # relative, at the end
    solver: str | None = None  # the solver's summary of the last step
    launches: float | None = None  # per step
    launches_besides_forces: float | None = None
    waits: float | None = None  # per step, in calls of many steps
    waits_alone: float | None = None  # per step, in calls of one step each
    failure: str | None = None


# ---- timing ----------------------------------------------------------------------------------------------------------


def measure(
    constraints: str, platform: mm.Platform, precision: str, names: Sequence[str], options: argparse.Namespace
) -> list[Result]:
    """Results of all integrators in one setting."""
    properties = {"Precision": precision} if "Precision" in platform.getPropertyNames() else {}
    villin = build_villin(constraints)
    start: StartState = equilibrate(villin, platform, properties, options.equilibration)
    system = without_forces(villin.system) if options.without_forces else villin.system
    meter = BondMeter(system)
    runners: dict[str, Runner] = {}
    results: dict[str, Result] = {}
    for name in names:
        result = results[name] = Result(platform.getName(), precision if properties else "double", constraints, name)
        integrator = Candidate(name, options.solver if name in PARTNERS else None).make(options.tolerance)
        if options.without_forces:
            ignore_forces(integrator)
        try:
            longest = MAX_FREE_STEPS if options.without_forces else None
            runner = Runner(system, integrator, start, platform, properties, longest)
            if "DeviceName" in platform.getPropertyNames():
                result.device = platform.getPropertyValue(runner.context, "DeviceName")
            runner.choose_steps(ROUND_SECONDS)
            runner.steps = options.steps or runner.steps
            result.steps = runner.blocks * runner.steps
            runners[name] = runner
        except mm.OpenMMException as error:
            result.failure = str(error)
    time_rounds(runners, results, options.rounds, f"{platform.getName()} {precision} {constraints}")
    for name, runner in runners.items():
        result = results[name]
        if result.failure is not None:
            continue
        calls = count_calls(runner.context)
        if calls is not None:
            result.launches, result.launches_besides_forces = calls.launches, calls.launches_besides_forces
            result.waits, result.waits_alone = calls.waits, calls.waits_alone
        result.bond_error = meter.largest_error(runner.context.getState(positions=True))
        if name in PARTNERS:
            result.solver = runner.context.getIntegrator().getSolverSummary().str()
    summarize(results)
    return list(results.values())


def time_rounds(runners: dict[str, Runner], results: dict[str, Result], rounds: int, title: str) -> None:
    """Times every integrator once in each round; they take turns in being the first."""
    for turn in track(range(rounds), description=title, transient=True):
        for name in in_turn(list(runners), turn):
            if results[name].failure is not None:
                continue
            try:
                results[name].seconds.append(results[name].steps * runners[name].time())
            except mm.OpenMMException as error:
                results[name].failure = str(error)


def summarize(results: dict[str, Result]) -> None:
    """Adds the medians over the rounds to the results."""
    for name, result in results.items():
        if not result.seconds:
            continue
        per_step = [1000 * seconds / result.steps for seconds in result.seconds]
        result.ms_per_step = statistics.median(per_step)
        partner = results.get(PARTNERS.get(name, ""))
        if partner is not None and partner.seconds:
            pairs = zip(per_step, (1000 * seconds / partner.steps for seconds in partner.seconds), strict=False)
            ratios = [ours / theirs for ours, theirs in pairs]
            result.ratio = statistics.median(ratios)
            result.ratio_range = (min(ratios), max(ratios))


# ---- report ----------------------------------------------------------------------------------------------------------


def print_results(results: Sequence[Result]) -> None:
    """A table of one setting."""
    first = results[0]
    title = f"{first.platform} ({first.device or machine.processor() or 'CPU'}), {first.precision}, {first.constraints}"
    right = ["ms/step", "ratio", "range", "bond error", "launches", "besides forces", "waits"]
    caption = "ratio: to the time of OpenMM's integrator; launches and waits: per step"
    table = make_table(title, ["Integrator"], right, caption=caption)
    for r in results:
        if r.failure is not None:
            table.add_row(r.integrator, "failed", *["-"] * (len(right) - 1))
            continue
        numbers = (r.launches, r.launches_besides_forces, r.waits)
        table.add_row(
            r.integrator,
            f"{r.ms_per_step:.3f}",
            "-" if r.ratio is None else f"{r.ratio:.3f}",
            "-" if r.ratio_range is None else f"{r.ratio_range[0]:.3f}-{r.ratio_range[1]:.3f}",
            f"{r.bond_error:.1e}",
            *("-" if number is None else f"{number:.2f}" for number in numbers),
        )
    console = make_console()
    console.print(table)
    for r in results:
        if r.failure is not None:
            console.print(f"{r.integrator}: {r.failure}", style="red")


def default_output(results: Sequence[Result], folder: Path, without_forces: bool) -> Path:
    """A file named by the day and the device."""
    device = next((r.device for r in results if r.device), "") or machine.processor() or machine.machine()
    slug = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    what = "-constraints-only" if without_forces else ""
    return folder / f"{datetime.now(timezone.utc):%Y-%m-%d}-{slug}{what}.json"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    all_integrators = [*dict.fromkeys(PARTNERS.values()), *PARTNERS]
    parser.add_argument("--platform", nargs="+", metavar="NAME", help="default: the fastest that works")
    parser.add_argument("--precision", nargs="+", choices=("single", "mixed", "double"), default=["mixed"])
    parser.add_argument("--constraints", nargs="+", choices=("HBonds", "AllBonds"), default=["HBonds", "AllBonds"])
    parser.add_argument("--integrators", nargs="+", choices=all_integrators, default=all_integrators)
    parser.add_argument("--solver", choices=("Automatic", "Iterative", "MatrixInversion"), default="Automatic")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, help=f"steps of a round (default: as many as take {ROUND_SECONDS} s)")
    parser.add_argument("--equilibration", type=int, default=100, metavar="STEPS")
    parser.add_argument("--without-forces", action="store_true", help="time motion and constraints alone")
    parser.add_argument("--note", action="append", default=[], help="a text to add to the file")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: <day>-<device>.json beside this script, in results/"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if an integrator failed."""
    options = parse(arguments)
    results: list[Result] = []
    for name in options.platform or [None]:
        platform = choose_platform(name)
        precisions = options.precision if "Precision" in platform.getPropertyNames() else ["double"]
        for precision in precisions:
            for constraints in options.constraints:
                some = measure(constraints, platform, precision, options.integrators, options)
                print_results(some)
                results += some
    described = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "device": next((r.device for r in results if r.device), None),
        "machine": f"{machine.system()} {machine.machine()}",
        "openmm": openmm_version(),
        "openmm_constraints": plugin_version(),
        "tolerance": options.tolerance,
        "solver": options.solver,
        "step_size_ps": STEP_SIZE,
        "rounds": options.rounds,
        "without_forces": options.without_forces,
        "notes": options.note,
        "results": [asdict(result) for result in results],
    }
    folder = Path(__file__).resolve().parent / "results"
    output = options.output or default_output(results, folder, options.without_forces)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(described, indent=1) + "\n")
    print(f"wrote {output}")
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
