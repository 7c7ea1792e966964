# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The performance goals of the CPU platform, measured in one run: single applications of constraints, compared with
OpenMM's own algorithms.

    cmake -S . -B build -DBUILD_BENCHMARKS=ON && cmake --build build --target applications
    pip install --no-deps openmmtools    # for DHFR
    python benchmarks/goals.py           # some minutes; writes benchmarks/results/<day>-goals.json and .md

The table has medians and quartiles of repetitions, which run in random order. What needs a GPU is not measured here:
see benchmarks/platforms.py and scripts/gpu-check.sh.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import degenerate

from openmmconstraints.benchmark.report import machine_names
from openmmconstraints.benchmark.timing import Spread

ROOT = Path(__file__).resolve().parents[1]
DHFR = "dhfr-protein"
LOOSE, TIGHT, FLOOR = "1e-5", "1e-12", "1e-14"
SCALES = (10_000, 100_000, 1_000_000)
OURS, BUILT_IN = "MatrixInversion", "built-in"
#: What is timed: the position stage alone; the same after RATTLE's velocity stage, whose factor it reuses; both stages.
STAGES = {"position": "", "rattle": ", in RATTLE", "step": ", both stages of RATTLE"}


@dataclass(frozen=True)
class Measured:
    """What the repetitions of one benchmark of applications.cpp gave."""

    time_us: Spread
    error: float | None
    constraints: int
    failure: str | None = None


@dataclass
class Row:
    """A line of the table; texts are for reading, values for comparing with later runs."""

    what: str
    built_in: str
    ours: str
    goal: str
    reached: bool | None  # None: nothing to compare with
    values: dict[str, Any] = field(default_factory=dict)


# ---- running applications --------------------------------------------------------------------------------------------


class Applications:
    """Runs the program that applications.cpp is built to."""

    def __init__(self, program: Path, inputs: Path, repetitions: int, min_time: float) -> None:
        self.program, self.inputs, self.repetitions, self.min_time = program, inputs, repetitions, min_time

    def run(self, pattern: str, *options: str, repetitions: int | None = None) -> dict[str, Measured]:
        """Results of every benchmark whose name matches, by name."""
        with TemporaryDirectory() as folder:
            output = Path(folder) / "output.json"
            command = [
                str(self.program),
                f"--benchmark_filter={pattern}",
                f"--benchmark_repetitions={repetitions or self.repetitions}",
                "--benchmark_enable_random_interleaving=true",
                f"--benchmark_min_time={self.min_time}",
                f"--benchmark_out={output}",
                "--benchmark_out_format=json",
                *options,
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            text = output.read_text()
            if not text:
                raise SystemExit(f"no benchmark matches {pattern}: are its inputs missing in {self.inputs}?")
            return _collect(json.loads(text)["benchmarks"])

    def on_inputs(self, pattern: str, *options: str, repetitions: int | None = None) -> dict[str, Measured]:
        """The same, with the files in the folder of inputs."""
        return self.run(pattern, f"--inputs={self.inputs}", *options, repetitions=repetitions)


def _collect(entries: Iterable[dict[str, Any]]) -> dict[str, Measured]:
    scale = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
    times: dict[str, list[float]] = {}
    last: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry["run_type"] == "iteration":
            name = re.sub(r"/(manual_time|real_time|iterations:\d+|repeats:\d+)", "", entry["name"])
            times.setdefault(name, []).append(entry["real_time"] * scale[entry.get("time_unit", "us")])
            last[name] = entry
    return {
        name: Measured(
            Spread.of(times[name]) or Spread(0, 0, 0),
            entry.get("error"),
            int(entry.get("constraints", 0)),
            entry.get("error_message"),
        )
        for name, entry in last.items()
    }


def write_inputs(folder: Path) -> None:
    """Write the input files of all cases in the table."""
    for systems, sets in (
        ((DHFR,), ("HBonds", "AllBonds", "HAngles")),
        (("dhfr",), ("HBonds",)),
        (("chain:5000",), ("AllBonds",)),
        (("water:1000", "water:10000"), ("Rigid",)),
    ):
        command = [sys.executable, "-m", "openmmconstraints", "benchmark", "--write-input", str(folder)]
        subprocess.run([*command, "--systems", *systems, "--constraints", *sets], check=True)


# ---- the table -------------------------------------------------------------------------------------------------------


def protein(applications: Applications) -> list[Row]:
    """DHFR: three sets of constraints at two tolerances."""
    goals = {"AllBonds": (60, 100), "HAngles": (80, 150), "HBonds": (15, 30)}
    options = (f"--tolerances={LOOSE},{TIGHT}",)
    found = applications.on_inputs(f"(position|rattle|step)/{DHFR}-.*/({BUILT_IN}|{OURS})", *options)
    rows = []
    for stage, description in STAGES.items():
        for constraints, goal in goals.items():
            for tolerance, limit in zip((LOOSE, TIGHT), goal, strict=True):
                theirs, ours = (found[f"{stage}/{DHFR}-{constraints}/{tolerance}/{a}"] for a in (BUILT_IN, OURS))
                what = f"one thread, DHFR {constraints} ({ours.constraints:,}), {tolerance}{description}"
                rows.append(compare(what, theirs, ours, 1.0, "µs", limit if stage != "step" else 2 * limit))
    return rows


def per_unit(applications: Applications) -> list[Row]:
    """Time per water and per constraint of a chain."""
    rows = []
    found = applications.on_inputs(f"position/water_1000-Rigid/.*/({BUILT_IN}|{OURS})", f"--tolerances={LOOSE},{TIGHT}")
    for tolerance in (LOOSE, TIGHT):
        theirs, ours = (found[f"position/water_1000-Rigid/{tolerance}/{a}"] for a in (BUILT_IN, OURS))
        rows.append(compare(f"one thread, water, {tolerance}", theirs, ours, 1e3 / 1000, "ns a water", 20))
    found = applications.on_inputs(f"(position|rattle)/chain_5000-.*/({BUILT_IN}|{OURS})", f"--tolerances=1e-6,{TIGHT}")
    for stage in ("position", "rattle"):
        for tolerance, limit in (("1e-6", 15), (TIGHT, 20)):
            theirs, ours = (found[f"{stage}/chain_5000-AllBonds/{tolerance}/{a}"] for a in (BUILT_IN, OURS))
            scale = 1e3 / ours.constraints
            what = f"one thread, chain of 5,000, {tolerance}{STAGES[stage]}"
            rows.append(compare(what, theirs, ours, scale, "ns a constraint", limit))
    return rows


def compare(what: str, theirs: Measured, ours: Measured, scale: float, unit: str, limit: float) -> Row:
    """A row that compares two times."""
    time = scale * ours.time_us.median
    values = {"unit": unit, "goal": limit, "built_in": asdict(theirs), "ours": asdict(ours), "scale": scale}
    return Row(what, text(theirs, scale, unit), text(ours, scale, unit), f"≤ {limit} {unit}", time <= limit, values)


def text(measured: Measured, scale: float, unit: str) -> str:
    """For example: 35.1 (34.9-35.4) µs, error 1e-06"""
    if measured.failure is not None:
        return measured.failure
    t = measured.time_us
    median, low, high = (number(scale * value) for value in (t.median, t.low, t.high))
    numbers = f"{median} ({low}-{high}) {unit}"
    return numbers if measured.error is None else f"{numbers}, error {measured.error:.0e}"


def number(value: float) -> str:
    """For example: 1.23, 12.3, 123, 1,230"""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def threads(applications: Applications) -> list[Row]:
    """Speed-up by a second thread, of many clusters and of one large one. Runs with one and two threads alternate."""
    rows = []
    for what, case, tolerance, limit in (
        ("many clusters (10,000 waters)", "water_10000-Rigid", TIGHT, 1.8),
        ("many clusters (DHFR in water, HBonds)", "dhfr-HBonds", TIGHT, 1.8),
        (f"one cluster of 2,523 (DHFR AllBonds), {LOOSE}", f"{DHFR}-AllBonds", LOOSE, 1.5),
        (f"one cluster of 2,523 (DHFR AllBonds), {TIGHT}", f"{DHFR}-AllBonds", TIGHT, 1.5),
        ("one cluster of 300,000 (a chain)", "chain_300000-made", TIGHT, 1.5),
    ):
        source = "--chains=300000" if "made" in case else f"--inputs={applications.inputs}"
        name = f"position/{case}/{tolerance}/{OURS}"
        ratios = []
        for _ in range(applications.repetitions):
            one, two = (applications.run(name, source, f"--threads={n}", repetitions=1) for n in (1, 2))
            ratios.append(one[name].time_us.median / two[name].time_us.median)
        spread = Spread.of(ratios) or Spread(0, 0, 0)
        shown = f"{spread.median:.2f} ({spread.low:.2f}-{spread.high:.2f})"
        values = {"ratio": asdict(spread)}
        rows.append(
            Row(f"two threads over one, {what}", "1 (CCMA)", shown, f"≥ {limit}", spread.median >= limit, values)
        )
    return rows


def set_up(applications: Applications) -> list[Row]:
    """Set-up of DHFR with angles. OpenMM's takes so long that it is timed once."""
    name = f"set-up/{DHFR}-HAngles"
    theirs = applications.on_inputs(f"{name}/{BUILT_IN}", repetitions=1)[f"{name}/{BUILT_IN}"]
    ours = applications.on_inputs(f"{name}/{OURS}")[f"{name}/{OURS}"]
    return [compare("set-up of DHFR HAngles (our share)", theirs, ours, 1e-3, "ms", 10)]


def scaling(applications: Applications, sizes: Sequence[int]) -> list[Row]:
    """Chains of up to a million: set-up, and nanoseconds a constraint."""
    made: dict[str, Measured] = {}
    for size in sizes:
        pattern = f"(set-up|position)/chain_{size}-made/.*{OURS}"
        repetitions = applications.repetitions if size < 1_000_000 else 3
        made |= applications.run(pattern, f"--chains={size}", f"--tolerances={TIGHT}", repetitions=repetitions)
    each = [made[f"position/chain_{size}-made/{TIGHT}/{OURS}"] for size in sizes]
    largest = made[f"set-up/chain_{sizes[-1]}-made/{OURS}"]
    per_constraint = [1e3 * m.time_us.median / m.constraints for m in each]
    growth = per_constraint[-1] / per_constraint[0]
    values = {"sizes": list(sizes), "ns_per_constraint": per_constraint, "set_up_s": 1e-6 * largest.time_us.median}
    seconds = 1e-6 * largest.time_us.median
    shown = ", ".join(f"{ns:.3g}" for ns in per_constraint)
    sizes_shown = ", ".join(f"{size:,}" for size in sizes)
    return [
        Row(f"set-up of a chain of {sizes[-1]:,}", "O(n²)", f"{seconds:.2g} s", "≤ 2 s", seconds <= 2, values),
        Row(
            f"ns a constraint at {TIGHT}, chains of {sizes_shown}",
            "not set up",
            f"{shown} (x {growth:.2f})",
            "linear in n",
            growth < 2,  # large chains do not fit into the caches
            values,
        ),
    ]


def reached_error(applications: Applications) -> list[Row]:
    """The error that remains at the smallest tolerance."""
    # A few nm wide: coordinates of long chains are larger, and so are their rounding errors.
    cases = f"({DHFR}-.*|water_1000-Rigid)"
    found = applications.on_inputs(
        f"position/{cases}/.*/({BUILT_IN}|{OURS})", f"--tolerances={FLOOR}", "--benchmark_min_time=0", repetitions=1
    )
    worst = {
        a: max(m.error if m.error is not None else 1.0 for name, m in found.items() if name.endswith(a))
        for a in (BUILT_IN, OURS)
    }
    what = f"reached error at {FLOOR}, worst of {len(found) // 2} cases"
    shown = {a: f"{error:.0e}" for a, error in worst.items()}
    return [Row(what, shown[BUILT_IN], shown[OURS], "≤ 1e-13", worst[OURS] <= 1e-13, worst)]


def degenerate_systems() -> list[Row]:
    """See degenerate.py."""
    results = degenerate.try_all()
    right, theirs = sum(r.is_right for r in results), sum(r.built_in == "solved" for r in results)
    values = {"results": [asdict(r) for r in results]}
    shown = f"{right} of {len(results)} right"
    return [Row("degenerate systems", f"{theirs} solved", shown, "all", right == len(results), values)]


def launches() -> list[Row]:
    """Kernel launches per step, from the newest file of benchmarks/platforms.py."""
    files = sorted((ROOT / "benchmarks" / "results").glob("*-constraints-only.json"))
    for path in reversed(files):
        runs = json.loads(path.read_text())["results"]
        counts = {r["integrator"]: r["launches_besides_forces"] for r in runs if r["constraints"] == "AllBonds"}
        if counts.get("Shake") is not None and counts.get("Verlet") is not None:
            theirs, ours = (f"{counts[name]:.3g} a whole step" for name in ("Verlet", "Shake"))
            goal = "1 launch a stage, no wait within step(n)"
            return [Row(f"launches, AllBonds ({path.name})", theirs, ours, goal, None, counts)]
    return [Row("launches", "", "not counted yet: benchmarks/platforms.py", "1 a stage", None)]


def elsewhere() -> list[Row]:
    """What this script cannot measure."""
    gpu = "needs an NVIDIA GPU: scripts/gpu-check.sh"
    return [
        Row("GPU, DHFR AllBonds, an application, 1e-5", "~119 µs (published, older GPU)", gpu, "≤ 15 µs", None),
        Row("GPU, AllBonds step over HBonds step", "+29 to +63 % (published)", gpu, "≤ +5 %", None),
        Row(
            "NVE drift, double, 1e-10",
            "",
            "benchmarks/drift.py",
            "0 ± 0.001 kT/ns/dof",
            None,
        ),
    ]


def markdown(described: dict[str, Any], rows: Sequence[Row]) -> str:
    """The table, below its date, machine and version of OpenMM."""
    head = [
        f"Measured {described['date']} on {described['machine']}, OpenMM {described['openmm']}, by "
        f"`benchmarks/goals.py`: medians (quartiles) of {described['repetitions']} repetitions.",
        *[f"{note}." for note in described["notes"]],
        "",
        "| | built-in | ours | goal | reached |",
        "|---|---|---|---|---|",
    ]
    verdict = {True: "yes", False: "no", None: "-"}
    lines = [f"| {r.what} | {r.built_in} | {r.ours} | {r.goal} | {verdict[r.reached]} |" for r in rows]
    return "\n".join([*head, *lines, ""])


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--applications", type=Path, default=ROOT / "build" / "benchmarks" / "applications")
    parser.add_argument("--inputs", type=Path, metavar="DIR", help="a folder of inputs (default: they are written now)")
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--min-time", type=float, default=0.1, metavar="S", help="duration of each repetition")
    parser.add_argument("--quick", action="store_true", help="few repetitions, no chain of a million")
    parser.add_argument("--note", action="append", default=[], help="a text to add to the files")
    parser.add_argument("--output", type=Path, metavar="STEM", help="default: results/<day>-goals, beside this script")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 whether the goals are reached or not."""
    options = parse(arguments)
    if not options.applications.is_file():
        raise SystemExit(f"{options.applications} is not built (see the head of this script)")
    repetitions, min_time = (3, 0.01) if options.quick else (options.repetitions, options.min_time)
    sizes = SCALES[:-1] if options.quick else SCALES
    with TemporaryDirectory() as folder:
        inputs = options.inputs or Path(folder)
        if options.inputs is None:
            write_inputs(inputs)
        applications = Applications(options.applications.resolve(), inputs, repetitions, min_time)
        rows: list[Row] = []
        for part in (protein, per_unit, threads, set_up, reached_error, lambda a: scaling(a, sizes)):
            for row in part(applications):
                rows.append(row)
                print(f"{row.what}: built-in {row.built_in}; ours {row.ours}; goal {row.goal}", flush=True)
    rows += [*degenerate_systems(), *launches(), *elsewhere()]
    described = machine_names() | {"repetitions": repetitions, "notes": options.note}
    stem = options.output or ROOT / "benchmarks" / "results" / f"{datetime.now(timezone.utc):%Y-%m-%d}-goals"
    data = {"settings": described, "rows": [asdict(row) for row in rows]}
    stem.with_name(stem.name + ".json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    table = markdown(described, rows)
    stem.with_name(stem.name + ".md").write_text(table, encoding="utf-8")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
