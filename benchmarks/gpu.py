# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Whole steps on a GPU: villin and DHFR in water, with heavy hydrogens, at the largest step of each set of constraints.

    python benchmarks/gpu.py --prepare --inputs FOLDER    # anywhere: Systems and their starts, by the CPU platform
    python benchmarks/gpu.py --inputs FOLDER --output gpu.json
    python benchmarks/gpu.py --inputs FOLDER --without-forces    # what an integrator and its constraints cost

This package's integrators and OpenMM's run in one process, in turn, from the same state; "ReplacedLangevinMiddle" is
OpenMM's with this package's solver (replaceSolver). A ratio compares the times of two integrators in one round. ns/day
holds for whole steps with all forces, and is left out without them. Where libcountcalls is preloaded (see tests/calls),
launches and waits of a step are counted too.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.benchmark.calls import Calls, count_calls
from openmmconstraints.benchmark.candidates import PARTNERS, Candidate
from openmmconstraints.benchmark.force_fields import Biomolecule
from openmmconstraints.benchmark.report import machine_names
from openmmconstraints.benchmark.runner import Runner
from openmmconstraints.benchmark.start import relax, thermalize
from openmmconstraints.benchmark.systems import SYSTEMS
from openmmconstraints.benchmark.timing import Spread, ignore_forces, in_turn, without_forces
from openmmconstraints.benchmark.villin import StartState
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.inspection.system import replacing_force
from openmmconstraints.terminal.table import make_console, make_table

HYDROGEN_MASS = 3.0  # Da, taken from the atom that carries the hydrogen; water keeps its masses
STEP_SIZES = {"HBonds": 0.004, "AllBonds": 0.005, "HAngles": 0.005}  # ps: benchmarks/larger_steps.py
REPLACED = {f"Replaced{name}": name for name in ("Verlet", "LangevinMiddle")}
INTEGRATORS = (*dict.fromkeys(PARTNERS.values()), *PARTNERS, *REPLACED)
RELAXATION, HEATING = 50, 100  # iterations, steps
#: Steps without forces, then from the start again: angles change, and with them the coupling of constraints.
FREE_STEPS = {"HBonds": 200, "AllBonds": 20, "HAngles": 20}


@dataclass
class Result:
    """Of an integrator in one setting. None: not measured."""

    system: str
    constraints: str
    precision: str
    integrator: str
    step_fs: float
    setup_s: float | None = None  # of the Context
    first_step_s: float | None = None  # which compiles what is left
    steps: int = 0  # of a round
    ms: list[float] = field(default_factory=list)  # of a step, in each round
    step_ms: Spread | None = None
    ns_per_day: float | None = None
    ratio: Spread | None = None  # of the step's time to that of OpenMM's integrator
    bond_error: float | None = None  # relative, at the end
    calls: Calls | None = None
    solver: str | None = None
    failure: str | None = None


# ---- starts ----------------------------------------------------------------------------------------------------------


def prepare(name: str, sets: Sequence[str], folder: Path) -> None:
    """Write those of a system's starts that are not there yet.

    :raises UserError: if files that it is made from are missing
    """
    missing = [constraints for constraints in sets if not _path(folder, name, constraints).exists()]
    if not missing:
        return
    model = SYSTEMS[name].build()
    assert isinstance(model, Biomolecule)
    heavy = {**model.options, "hydrogenMass": HYDROGEN_MASS * unit.dalton}
    model = dataclasses.replace(model, options=heavy, positions=relax(model, RELAXATION))
    folder.mkdir(parents=True, exist_ok=True)
    for constraints in missing:
        system = model.create(constraints)
        moved = mm.XmlSerializer.clone(system)
        mc.moveConstraints(moved)
        start = thermalize(moved, model.positions, HEATING)
        text = np.frombuffer(mm.XmlSerializer.serialize(system).encode(), dtype=np.uint8)
        np.savez_compressed(_path(folder, name, constraints), system=text, **vars(start))


def load(name: str, constraints: str, folder: Path) -> tuple[mm.System, StartState]:
    """What prepare() wrote."""
    with np.load(_path(folder, name, constraints)) as data:
        system = mm.XmlSerializer.deserialize(data["system"].tobytes().decode())
        return system, StartState(data["positions"], data["velocities"], data["half_step_velocities"])


def _path(folder: Path, name: str, constraints: str) -> Path:
    return folder / f"{name}-{constraints}.npz"


# ---- one setting -----------------------------------------------------------------------------------------------------


def measure(
    name: str, constraints: str, platform: mm.Platform, precision: str, options: argparse.Namespace
) -> list[Result]:
    """Results of all integrators."""
    system, start = load(name, constraints, options.inputs)
    if options.without_forces:
        system = without_forces(system)
    moved, replaced = mm.XmlSerializer.clone(system), mm.XmlSerializer.clone(system)
    mc.moveConstraints(moved)
    if not REPLACED.keys().isdisjoint(options.integrators):
        mc.replaceSolver(replaced)
    longest = FREE_STEPS[constraints] if options.without_forces else None
    has_precision = "Precision" in platform.getPropertyNames()
    properties = {"Precision": precision} if has_precision else {}
    results, runners = {}, {}
    for integrator in options.integrators:
        step = STEP_SIZES[constraints]
        result = results[integrator] = Result(name, constraints, precision, integrator, 1000 * step)
        ours = integrator in PARTNERS
        made = Candidate(REPLACED.get(integrator, integrator), "Automatic" if ours else None).make(options.tolerance)
        made.setStepSize(step)
        if options.without_forces:
            ignore_forces(made)
        try:
            solved = moved if ours else replaced if integrator in REPLACED else system
            runner = Runner(solved, made, start, platform, properties, longest)
            if options.steps:
                runner.steps = options.steps
            else:
                runner.choose_steps(options.seconds)
        except mm.OpenMMException as error:
            result.failure = str(error)
            continue
        result.setup_s, result.first_step_s, result.steps = runner.setup_s, runner.first_step_s, runner.steps
        runners[integrator] = runner
    for turn in range(options.rounds):
        for integrator in in_turn(list(runners), turn):
            result = results[integrator]
            if result.failure is None:
                try:
                    result.ms.append(1000 * runners[integrator].time())
                except mm.OpenMMException as error:
                    result.failure = str(error)
    meter = BondMeter(system)
    for integrator, runner in runners.items():
        if results[integrator].failure is None:
            finish(results[integrator], runner.context, meter, results.get(builtin_of(integrator)))
            if options.without_forces:
                results[integrator].ns_per_day = None
    return list(results.values())


def builtin_of(integrator: str) -> str:
    """OpenMM's integrator that does the same, with OpenMM's solver."""
    return PARTNERS.get(integrator, REPLACED.get(integrator, ""))


def finish(result: Result, context: mm.Context, meter: BondMeter, partner: Result | None) -> None:
    """Add what follows from the rounds, and what is asked once."""
    result.step_ms = Spread.of(result.ms)
    if result.step_ms is not None:
        result.ns_per_day = result.step_fs * 1e-6 / result.step_ms.median * 86400e3
    if partner is not None and partner.failure is None:
        result.ratio = Spread.of([a / b for a, b in zip(result.ms, partner.ms, strict=True)])
    result.bond_error = meter.largest_error(context.getState(positions=True))
    result.calls = count_calls(context)
    if result.integrator in PARTNERS:
        result.solver = context.getIntegrator().getSolverSummary().solver
    elif (replacing := replacing_force(context.getSystem())) is not None:
        result.solver = replacing[1].getSolverSummary(context).solver


def print_results(results: Sequence[Result]) -> None:
    """A table of one setting."""
    first = results[0]
    title = f"{first.system}, {first.constraints}, {first.step_fs:g} fs, {first.precision}"
    right = ["ms/step", "ns/day", "ratio", "bond error", "launches", "besides forces", "waits", "in step(1)"]
    table = make_table(title, ["Integrator"], right, caption="ratio: to the time of OpenMM's integrator")
    for r in results:
        counted = (
            (r.calls.launches, r.calls.launches_besides_forces, r.calls.waits, r.calls.waits_alone) if r.calls else ()
        )
        table.add_row(
            r.integrator,
            "failed" if r.step_ms is None else f"{r.step_ms.median:.4g}",
            "-" if r.ns_per_day is None else f"{r.ns_per_day:.4g}",
            "-" if r.ratio is None else f"{r.ratio.median:.3f} ({r.ratio.low:.2f}-{r.ratio.high:.2f})",
            "-" if r.bond_error is None else f"{r.bond_error:.1e}",
            *([f"{number:.2f}" for number in counted] or ["-"] * 4),
        )
    console = make_console()
    console.print(table)
    for r in results:
        if r.failure is not None:
            console.print(f"{r.integrator}: {r.failure}", style="red")


# ---- all settings ----------------------------------------------------------------------------------------------------


def settings(options: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """System, set and precision, in an order in which the first ones tell most if time ends."""
    for precision in options.precision:
        for name in options.systems:
            for constraints in options.sets:
                yield name, constraints, precision


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True, metavar="FOLDER", help="starts; what is missing is made")
    parser.add_argument("--prepare", action="store_true", help="make the starts, and nothing else")
    parser.add_argument("--platform", default="CUDA")
    parser.add_argument("--systems", nargs="+", choices=("villin", "dhfr"), default=["villin", "dhfr"])
    parser.add_argument("--sets", nargs="+", choices=STEP_SIZES, default=list(STEP_SIZES))
    parser.add_argument("--precision", nargs="+", choices=("single", "mixed", "double"), default=["mixed", "single"])
    parser.add_argument("--integrators", nargs="+", choices=INTEGRATORS, default=INTEGRATORS)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each integrator in a round")
    parser.add_argument("--steps", type=int, metavar="N", help="of each integrator in a round, in place of --seconds")
    parser.add_argument("--without-forces", action="store_true")
    parser.add_argument("--minutes", type=float, default=9, help="no setting is begun after so long")
    parser.add_argument("--note", action="append", default=[], help="a text to add to the file")
    parser.add_argument("--output", type=Path, metavar="FILE", help="all numbers, as JSON")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if something failed or was left out."""
    options = parse(arguments)
    begin = perf_counter()
    left_out = []
    for name in list(options.systems):
        try:
            prepare(name, options.sets, options.inputs)
        except UserError as error:
            options.systems.remove(name)
            left_out.append(f"{name}: {error}")
    results: list[Result] = []
    if not options.prepare:
        platform = choose_platform(options.platform)
        for setting in settings(options):
            if perf_counter() - begin > 60 * options.minutes:
                left_out.append(f"{', '.join(setting)}: the {options.minutes:g} minutes were over")
                continue
            name, constraints, precision = setting
            results += measure(name, constraints, platform, precision, options)
            print_results(results[-len(options.integrators) :])
            write(options, results, left_out)  # what is there if this is ended
        write(options, results, left_out)
    for line in left_out:
        print(f"not measured: {line}")
    return 1 if left_out or any(result.failure for result in results) else 0


def write(options: argparse.Namespace, results: Sequence[Result], left_out: Sequence[str]) -> None:
    """All numbers so far."""
    if options.output is None:
        return
    described = {**machine_names(), "platform": options.platform, "tolerance": options.tolerance, "notes": options.note}
    described |= {"without_forces": options.without_forces}
    described |= {"hydrogen_mass": HYDROGEN_MASS, "not_measured": left_out, "results": [asdict(r) for r in results]}
    options.output.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
