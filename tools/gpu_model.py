# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Estimates the time that constraints take on GPUs, on a machine without one.

    cmake --build build --target fakecuda fakecufft emulatednvrtc
    pip install nvidia-cuda-nvrtc==13.0.* nvidia-cuda-nvdisasm && pip install --no-deps openmmtools
    python tools/gpu_model.py --tables benchmarks/results/<day>-gpu-model.md

A step of an integrator runs on the emulator of tests/emulator, which gives real tables and positions at 300 K. Each of
its launches is compiled by the real NVRTC for the GPU, its SASS is executed on the recorded memory, and a simple model
of a multiprocessor says how long that takes (gpumodel/timing.py, gpumodel/constants.py). The step's launches and waits
follow each other as in gpumodel/timeline.py. Forces are left out.

A system "dhfr x 45" is so many copies side by side. At most seven of them are executed, on their share of the device,
and of blocks that do not wait for each other only those of one multiprocessor: "dhfr x 1" shows by comparison with
"dhfr" what that changes. "villin + polyethylene:44 x 75 / 4" are molecules side by side, on a quarter of the device's
multiprocessors. Constraints "AllBonds+10" are all bonds, ten angles and ten dihedrals;
"AllBonds+10+10+10" hold ten expressions and ten joined rigid bodies as well.

The model ranks designs. Of OpenMM's kernels on an H200 most are right within 15 %; SHAKE's are 19 % too low, and
kernels with a thread for each cluster a third: docs/gpu-model.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from itertools import product
from pathlib import Path

from gpumodel.cases import INTEGRATORS, ROOT, Case, Result, run, write_inputs
from gpumodel.constants import GPUS

#: µs by which AllBonds takes longer than HBonds: openmm#2520, 2020, DHFR, 2 fs, GPU not named.
PUBLISHED = {"Verlet": ("one application of constraints", 119.0), "LangevinMiddle": ("two applications", 347.0)}
PUBLISHED_ON = "A100"  # the oldest GPU of the model
NAMES = {
    "Rattle": "RattleIntegrator (ours)",
    "RattleLangevin": "RattleLangevinIntegrator (ours)",
    "Shake": "ShakeIntegrator (ours)",
    "Verlet": "VerletIntegrator",
    "LangevinMiddle": "LangevinMiddleIntegrator",
    "ReplacedLangevinMiddle": "LangevinMiddleIntegrator with our solver",
}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, aligned."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    line = lambda row: "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"  # noqa: E731
    return [line(header), "|" + "|".join("-" * (w + 2) for w in widths) + "|", *map(line, rows)]


def launches_table(results: dict[Case, Result], system: str, constraints: str, gpus: Sequence[str]) -> list[str]:
    """A line for each kernel: its numbers on the first GPU, its time on each."""
    rows = []
    for integrator in INTEGRATORS:
        some = {gpu: results[case] for gpu in gpus if (case := Case(system, constraints, integrator, gpu)) in results}
        if not some:
            continue
        times = {
            gpu: {name: sum(r.microseconds for r in result.rows if r.kernel == name) for name in names_of(result)}
            for gpu, result in some.items()
        }
        for row in some[gpus[0]].rows:
            launch = f"{row.kernel} × {row.launches}" if row.launches > 1 else row.kernel
            numbers = (row.instructions, row.fp64, row.barriers, row.sectors, row.chain)
            cells = [f"{times[gpu].get(row.kernel, 0):.1f}" for gpu in gpus]
            rows.append([integrator, launch, f"{row.blocks} × {row.threads}", *(f"{n:,}" for n in numbers), *cells])
        first = some[gpus[0]]
        label = f"the step: {first.launches} launches, {first.waits} waits"
        rows.append([integrator, label, *[""] * 6, *(f"**{some[gpu].total:.0f}**" for gpu in gpus)])
    header = ["integrator", "launch", "blocks × threads", "instructions", "FP64", "barriers", "sectors", "chain"]
    return [f"## {system}, {constraints}", "", *table(header + [f"{gpu}, µs" for gpu in gpus], rows), ""]


def names_of(result: Result) -> list[str]:
    """Names of kernels."""
    return [row.kernel for row in result.rows]


def totals_table(results: dict[Case, Result], gpus: Sequence[str]) -> list[str]:
    """Steps besides forces, and the share of ours that solves constraints of one large cluster."""
    rows = []
    for system, constraints in dict.fromkeys((case.system, case.constraints) for case in results):
        for integrator in INTEGRATORS:
            cells = [
                f"{results[case].total:.0f}" if (case := Case(system, constraints, integrator, gpu)) in results else "-"
                for gpu in gpus
            ]
            rows.append([f"{system}, {constraints}", NAMES[integrator], *cells])
    return ["## Steps besides forces, µs", "", *table(["", "integrator", *gpus], rows), ""]


def published_table(results: dict[Case, Result]) -> list[str]:
    """The differences that were measured elsewhere. BAOAB may have applied constraints more often, see below."""
    rows = []
    for integrator, (what, measured) in PUBLISHED.items():
        pair = [results.get(Case("dhfr", one, integrator, PUBLISHED_ON)) for one in ("AllBonds", "HBonds")]
        if pair[0] is None or pair[1] is None:
            continue
        found = pair[0].total - pair[1].total
        inside = "yes" if measured / 1.5 <= found <= measured * 1.5 else "no"
        rows.append([f"{integrator}, {what}", f"{measured:.0f}", f"{found:.0f}", f"{found / measured:.2f}", inside])
    if not rows:
        return []
    header = ["DHFR, AllBonds − HBonds, µs", "published", f"model, {PUBLISHED_ON}", "ratio", "within a factor of 1.5"]
    note = (
        "The second one was measured with BAOABLangevinIntegrator, which OpenMM has no more. It applied constraints "
        "more often than LangevinMiddleIntegrator (openmm#2865)."
    )
    return ["## Published differences (openmm#2520, GPU not named)", "", *table(header, rows), "", note, ""]


def agreement(results: dict[Case, Result]) -> list[str]:
    """How well the executed memory agrees with what the emulator computed."""
    worst = max(results.values(), key=lambda result: result.deviation)
    changed, different = (sum(getattr(r, name) for r in results.values()) for name in ("changed", "different"))
    return [
        f"Executed memory and the emulator's: {different:,} of {changed:,} changed words differ (contraction, single "
        f"precision, fast functions); the largest difference of a number is {worst.deviation:.1e} "
        f"({worst.case.system}, {worst.case.constraints}, {worst.case.integrator}).",
        "",
    ]


def report(results: dict[Case, Result], gpus: Sequence[str]) -> str:
    """All tables."""
    lines = [
        "# GPU model",
        "",
        f"Estimated {datetime.now(timezone.utc):%Y-%m-%d} by `tools/gpu_model.py`: mixed precision, tolerance "
        "1e-5, 2 fs. **No number was measured on a GPU.** The model ranks designs: of OpenMM's kernels on an H200 most "
        "are right within 15 %.",
        "",
        "Numbers of a launch are those of its longest one, on the first GPU; its time is the sum over a step. "
        "Instructions are those of warps. A chain is the number of reads of global memory of which each needs the one "
        "before. Of copies (dhfr x 45) at most seven are executed, on their share of the multiprocessors, with their "
        "share of the blocks.",
        "",
        *published_table(results),
        *totals_table(results, gpus),
        *agreement(results),
    ]
    for system, constraints in dict.fromkeys((case.system, case.constraints) for case in results):
        lines += launches_table(results, system, constraints, gpus)
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", default=["villin", "dhfr"])
    parser.add_argument("--constraints", nargs="+", default=["HBonds", "AllBonds", "HAngles"])
    parser.add_argument("--integrators", nargs="+", choices=INTEGRATORS, default=["Rattle", "Verlet", "LangevinMiddle"])
    parser.add_argument("--gpus", nargs="+", choices=list(GPUS), default=list(GPUS))
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the tests are built")
    parser.add_argument(
        "--work", type=Path, help="for inputs, recordings and kernels (default: gpu-model in the build)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cases at once")
    parser.add_argument("--tables", type=Path, metavar="FILE", help="write the tables there, as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers of all launches there")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    options = parse(arguments)
    work = (options.work or options.build / "gpu-model").resolve()
    write_inputs(work / "inputs", options.systems, options.constraints)
    cases = [Case(*key) for key in product(options.systems, options.constraints, options.integrators, options.gpus)]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(run, cases, [options.build.resolve()] * len(cases), [work] * len(cases)))
    results = dict(zip(cases, found, strict=True))
    text = report(results, options.gpus)
    print(text)
    if options.tables is not None:
        options.tables.write_text(text)
    if options.json is not None:
        options.json.write_text(json.dumps([result.as_dict() for result in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
