# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What pieces wrote to a folder, on one screen: python summary.py FOLDER NOTE. What is not there is left out."""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 132
INTEGRATORS = ("Verlet", "Shake", "Rattle", "LangevinMiddle", "RattleLangevin", "ReplacedLangevinMiddle")
SHORT = {"ReplacedLangevinMiddle": "LMiddle, replaced"}
FAILURES = 6  #: that are named


def read(path: Path) -> list[dict]:
    """Results of a file of JSON, as far as it was written."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["results"]
    except (OSError, ValueError):
        return []


def times(results: list[dict], title: str, factor: float) -> Iterator[str]:
    """A line for each setting: the time of each integrator, with the ratio to OpenMM's."""
    if not results:
        return
    names = [name for name in INTEGRATORS if any(result["integrator"] == name for result in results)]
    yield title.ljust(24) + "".join(SHORT.get(name, name).rjust(18) for name in names)
    settings = dict.fromkeys((r["precision"], r["constraints"], r["step_fs"]) for r in results)
    for precision, constraints, step in settings:
        words = []
        for name in names:
            for result in results:
                if (result["precision"], result["constraints"], result["integrator"]) == (precision, constraints, name):
                    words.append(figure(result, factor).rjust(18))
        yield f"  {constraints:8} {step:g} fs {precision}".ljust(24) + "".join(words)


def figure(result: dict, factor: float) -> str:
    """A time and its ratio."""
    if result["step_ms"] is None:
        return "failed" if result["failure"] else "-"
    ratio = "" if result["ratio"] is None else f" ({result['ratio']['median']:.2f})"
    return f"{factor * result['step_ms']['median']:.4g}{ratio}"


def kernels(path: Path) -> Iterator[str]:
    """A line for each integrator: medians of its kernels."""
    if not path.exists():
        return
    rows: dict[tuple[str, str], list[str]] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["kernel"].startswith(("clear", "copy")):
                rows.setdefault((row["system"], row["integrator"]), []).append(f"{row['kernel']} {row['median us']}")
    if rows:
        yield "Kernels, us"
    for (system, integrator), words in rows.items():
        yield shorten(f"  {system} {integrator}: {', '.join(words)}")


def ensembles(results: list[dict]) -> Iterator[str]:
    """A line for each set of constraints."""
    if results:
        yield "Drift at 2 fs, temperature at 4 fs and 300 K"
    for constraints in dict.fromkeys(result["constraints"] for result in results):
        words = [f"{r['integrator']} {r['text']}" for r in results if r["constraints"] == constraints]
        yield shorten(f"  {constraints}: {'; '.join(words)}")


def failures(path: Path) -> Iterator[str]:
    """Tests that did not pass."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    bad = sorted(line for line in lines if line.startswith(("FAILED", "limit")))
    yield from (shorten(f"  {line}") for line in bad[:FAILURES])
    if len(bad) > FAILURES:
        yield f"  and {len(bad) - FAILURES} more in tests.txt"


def shorten(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def main() -> None:
    """Prints it."""
    folder, note = Path(sys.argv[1]), sys.argv[2]
    print(shorten(note))
    for log in sorted(folder.glob("versions-*.log")):
        command, *lines = log.read_text(encoding="utf-8").splitlines()
        for line in [] if "info" in command else lines:
            print(shorten(f"  {line}"))
    for line in times(read(folder / "benchmark.json"), "Whole steps, ms (ratio)", 1):
        print(line)
    for line in times(read(folder / "steps.json"), "Without forces, us", 1000):
        print(line)
    for line in kernels(folder / "kernels.csv"):
        print(line)
    for line in ensembles(read(folder / "ensembles.json")):
        print(line)
    for line in (folder / "summary.txt").read_text(encoding="utf-8").splitlines():
        print(shorten(line))
    for line in failures(folder / "tests.txt"):
        print(line)


if __name__ == "__main__":
    main()
