# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Times of kernels, a line of CSV for each, in a table of ncu's (--csv --metrics gpu__time_duration.sum) or of nsys'
(cuda_gpu_trace).

python kernel_times.py SYSTEM INTEGRATOR FILE
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

METRIC = "gpu__time_duration.sum"
TRACE = "Start (ns)"
MICROSECONDS = {"n": 1e-3, "u": 1.0, "m": 1e3, "s": 1e6}  # ns or nsecond, us or usecond, ...


def launches(text: str) -> Iterator[tuple[str, int, int, float]]:
    """Kernel, threads a block, blocks, microseconds. The metric is a word of a line, or a column below its unit."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(('"ID"', TRACE))), len(lines))
    unit = "ns"
    for row in csv.DictReader(lines[first:]):
        if TRACE in row:
            if row["GrdX"]:  # else a copy
                threads, blocks = (_product(" ".join(row[name + axis] for axis in "XYZ")) for name in ("Blk", "Grd"))
                yield row["Name"].partition("(")[0], threads, blocks, float(row["Duration (ns)"]) / 1000
            continue
        if METRIC in row and not row["ID"]:
            unit = row[METRIC]
            continue
        if row.get("Metric Name", METRIC) != METRIC:
            continue
        value, unit = (row[METRIC], unit) if METRIC in row else (row["Metric Value"], row["Metric Unit"])
        time = float(value.replace(",", "")) * MICROSECONDS[unit[0]]
        name = row["Kernel Name"].partition("(")[0]
        yield name, _product(row["Block Size"]), _product(row["Grid Size"]), time


def _product(size: str) -> int:
    result = 1
    for number in re.findall(r"\d+", size):
        result *= int(number)
    return result


def main() -> None:
    """Exits with what ncu says where no launch was profiled."""
    system, integrator, path = sys.argv[1:]
    times: dict[tuple[str, int, int], list[float]] = {}
    text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""
    for kernel, threads, blocks, time in launches(text):
        times.setdefault((kernel, threads, blocks), []).append(time)
    if not times:
        said = [line for line in text.splitlines() if line.startswith("==")]
        sys.exit("no launch was profiled:\n" + "\n".join(dict.fromkeys(said)))
    table = csv.writer(sys.stdout, lineterminator="\n")
    for (kernel, threads, blocks), values in times.items():
        figures = [f"{value:.2f}" for value in (median(values), min(values), max(values))]
        table.writerow([system, integrator, kernel, threads, blocks, len(values), *figures])


if __name__ == "__main__":
    main()
