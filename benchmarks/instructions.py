# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Instructions of one application of constraints, counted by valgrind: unlike times, the same on a busy machine.

    cmake -S . -B build -DBUILD_BENCHMARKS=ON && cmake --build build --target applications
    python benchmarks/instructions.py                                # generated systems, position stage
    python benchmarks/instructions.py --systems dhfr-protein --constraints AllBonds --stages position velocity

valgrind has no AVX-512: code that is chosen by processor takes its AVX2 path. Counts are of one thread.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from openmmconstraints.benchmark.report import machine_names
from openmmconstraints.terminal.table import make_console, make_table

ROOT = Path(__file__).resolve().parents[1]
PASSES = 4
ALGORITHMS = ("built-in", "Iterative", "Reference", "MatrixInversion")


def names_of(program: Path, options: Sequence[str], stages: Sequence[str]) -> list[str]:
    """Names of the benchmarks of some stages."""
    pattern = f"({'|'.join(stages)})/"
    command = [str(program), *options, "--benchmark_list_tests=true", f"--benchmark_filter={pattern}"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [re.sub(r"/(iterations:\d+|manual_time|real_time)", "", line) for line in listed]


def count(program: Path, options: Sequence[str], name: str) -> tuple[float, int] | str:
    """Instructions of one application and the number of constraints; or an error message."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "output.json"
        command = [
            "valgrind",
            "--tool=callgrind",
            "--collect-atstart=no",
            f"--callgrind-out-file={folder}/callgrind.out",
            str(program),
            *options,
            f"--benchmark_filter=^{name}(/|$)",
            f"--benchmark_out={output}",
            "--benchmark_out_format=json",
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        collected = re.search(r"Collected : (\d+)", result.stderr)
        if result.returncode != 0 or collected is None:
            return (result.stderr.strip().splitlines() or ["valgrind failed"])[-1]
        (entry,) = json.loads(output.read_text())["benchmarks"]
    if entry.get("error_occurred"):
        return entry["error_message"]
    return int(collected[1]) / PASSES, int(entry["constraints"])


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--applications", type=Path, default=ROOT / "build" / "benchmarks" / "applications")
    parser.add_argument("--systems", nargs="+", default=["chain:1000", "polyethylene:300", "benzene:50", "water:500"])
    parser.add_argument("--constraints", nargs="+", help="sets of constraints (default: all)")
    parser.add_argument("--tolerances", nargs="+", default=["1e-5", "1e-12"])
    parser.add_argument("--stages", nargs="+", choices=("position", "velocity", "step"), default=["position"])
    parser.add_argument("--output", type=Path, metavar="FILE.json")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    options = parse(arguments)
    if not options.applications.is_file():
        raise SystemExit(f"{options.applications} is not built (see the head of this script)")
    counts: dict[str, dict] = {}
    with TemporaryDirectory() as folder:
        write = [sys.executable, "-m", "openmmconstraints", "benchmark", "--write-input", folder, "--systems"]
        sets = ["--constraints", *options.constraints] if options.constraints else []
        subprocess.run([*write, *options.systems, *sets], check=True, stdout=subprocess.DEVNULL)
        common = [f"--inputs={folder}", f"--tolerances={','.join(options.tolerances)}", f"--passes={PASSES}"]
        program = options.applications.resolve()
        for name in names_of(program, common, options.stages):
            stem, _, algorithm = name.rpartition("/")
            counts.setdefault(stem, {})[algorithm] = count(program, common, name)
    table = make_table(
        "Instructions per constraint, one application", ["Case"], [*ALGORITHMS, "MatrixInversion/built-in"]
    )
    for stem, row in counts.items():
        each = {a: row[a] if isinstance(row[a], str) else f"{row[a][0] / row[a][1]:.0f}" for a in ALGORITHMS}
        ours, theirs = row["MatrixInversion"], row["built-in"]
        known = not isinstance(ours, str) and not isinstance(theirs, str)
        table.add_row(stem, *each.values(), f"{ours[0] / theirs[0]:.2f}" if known else "-")
    make_console().print(table)
    if options.output is not None:
        described = {"settings": machine_names(), "instructions_and_constraints": counts}
        options.output.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
