# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What takes how long: writes the tables of README.md here from what scripts/test.sh noted in build/reports.

    python tests/timings.py --run    # runs test.sh and test.sh --full first, in a checkout without build/ and .venv
    python tests/timings.py          # from the reports that are there
    python tests/timings.py --mutants    # only the column of mutants

Which mutants only one entry of ctest finds comes from `python tests/emulator/mutants.py BUILD --entries`, which takes
hours.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests/emulator"))

from barriers import names  # noqa: E402

README = ROOT / "tests/README.md"
BEGIN, END = "<!-- timings -->\n", "<!-- /timings -->"
SLOWEST = 50
# Of mutants, by entry: written by tests/emulator/mutants.py.
MUTANTS = ROOT / "tests/emulator/mutants.json"
MODES = {"quick": "scripts/test.sh", "full": "scripts/test.sh --full"}


def cases(path: Path) -> list[tuple[float, str]]:
    """Seconds and name of the tests that a report of JUnit's says were run; entries of ctest are their own class."""
    if not path.exists():
        return []
    found = ElementTree.parse(path).iter("testcase")
    return [
        (float(case.get("time", 0)), ".".join(dict.fromkeys((case.get("classname", ""), case.get("name", "")))))
        for case in found
        if case.get("status") != "notrun" and case.find("skipped") is None
    ]


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    """Markdown; the first column has numbers."""
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---:', *['---'] * (len(head) - 1)])}|"]
    return [*lines, *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows), ""]


def compiled(build: Path) -> dict[str, float]:
    """Seconds of the compiler by target, added up over processes that run side by side."""
    seconds: dict[str, float] = defaultdict(float)
    newest = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        newest[output] = (int(end) - int(start)) / 1000
    for output, taken in newest.items():
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
        seconds["links, SWIG and copies" if target is None else target[1]] += taken
    return seconds


def found_alone(found: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Of mutants with what each entry says, "" for nothing: those that one entry finds, by entry."""
    alone = defaultdict(list)
    for mutant, by_entry in found.items():
        finders = [entry for entry, finding in by_entry.items() if finding]
        if len(finders) == 1:
            alone[finders[0]].append(mutant)
    return alone


def about(found: dict[str, dict[str, str]]) -> str:
    """Of which mutants the last column is."""
    return f"The last column is about {len(found)} of {len(names())} barriers that `emulator/mutants.py` leaves out."


def with_mutants(text: str, found: dict[str, dict[str, str]]) -> str:
    """The tables as they are, but for the column of mutants."""
    alone = found_alone(found)

    def row(match: re.Match[str]) -> str:
        return f"{match[1]} {', '.join(alone.get(match[2], []))} |"

    text = re.sub(r"^The last column is about .*", about(found), text, flags=re.MULTILINE)
    return re.sub(r"^(\| \d+ \| (\S+) \| \d* \| scripts/[^|]+ \|) .* ?\|$", row, text, flags=re.MULTILINE)


def of_ctest(reports: Path, mutants: dict[str, list[str]]) -> list[str]:
    rows = []
    for mode, script in MODES.items():
        for seconds, entry in cases(reports / f"ctest-{mode}.xml"):
            tests = len(cases(reports / f"{entry}.xml")) or ""
            rows.append((seconds, entry, tests, script, ", ".join(mutants.get(entry, []))))
    rows = [(f"{row[0]:.0f}", *row[1:]) for row in sorted(rows, key=lambda row: (row[3], -row[0]))]
    return table(("seconds", "entry", "tests", "run by", "mutants that only it finds"), rows)


def of_cpp(reports: Path) -> list[str]:
    everything = [
        case for path in reports.glob("*.xml") if not re.match("ctest-|pytest-", path.name) for case in cases(path)
    ]
    return slowest(everything)


def of_python(reports: Path) -> list[str]:
    everything = [
        (seconds, re.sub(r"^(tests\.python|tools)\.", "", name) + suffix)
        for report, suffix in (("quick", ""), ("full", ""), ("OpenCL", ", on OpenCL"))
        for seconds, name in cases(reports / f"pytest-{report}.xml")
    ]
    return slowest(everything)


def slowest(everything: list[tuple[float, str]]) -> list[str]:
    rows = [(f"{seconds:.1f}", f"`{name}`") for seconds, name in sorted(everything, reverse=True)[:SLOWEST]]
    return table(("seconds", "test"), rows)


def page(build: Path) -> str:
    reports = build / "reports"
    lines = [
        f"By `python tests/timings.py`, {datetime.date.today():%Y-%m-%d}, {os.cpu_count()} cores of {processor()},"
        f" Python {platform.python_version()}, {compiler(build)}. Seconds by the clock, of processes side by side.",
        "",
    ]
    for mode, script in MODES.items():
        lines += [f"`bash {script}`:", "", "```text"]
        lines += [(reports / f"summary-{mode}.txt").read_text().rstrip(), "```", ""]
    mutants = json.loads(MUTANTS.read_text()) if MUTANTS.exists() else {}
    total = compiled(build)
    rows = [(f"{seconds:.0f}", f"`{target}`") for target, seconds in sorted(total.items(), key=lambda row: -row[1])]
    lines += ["### Entries of ctest", "", about(mutants), "", *of_ctest(reports, found_alone(mutants))]
    lines += ["### Compiling", "", *table(("seconds", "target"), rows)]
    lines += [f"### The {SLOWEST} slowest C++ tests", "", *of_cpp(reports)]
    lines += [f"### The {SLOWEST} slowest Python tests", "", *of_python(reports)]
    return "\n".join(lines)


def processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return platform.machine() if found is None else found[1]


def compiler(build: Path) -> str:
    found = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (build / "CMakeCache.txt").read_text())
    version = subprocess.run([found[1] if found else "c++", "--version"], check=True, capture_output=True, text=True)
    return version.stdout.splitlines()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the tests first")
    parser.add_argument("--mutants", action="store_true", help="write only the column of mutants")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.mutants:
        README.write_text(with_mutants(README.read_text(), json.loads(MUTANTS.read_text())))
        return
    if arguments.run:
        for script in MODES.values():
            subprocess.run(["bash", *script.split()], cwd=ROOT, check=True)
    missing = [mode for mode in MODES if not (arguments.build / f"reports/summary-{mode}.txt").exists()]
    if missing:
        parser.error(f"{arguments.build} has no reports of " + " and ".join(MODES[mode] for mode in missing))
    before, rest = README.read_text().split(BEGIN)
    README.write_text(before + BEGIN + page(arguments.build) + END + rest.split(END)[1])


if __name__ == "__main__":
    sys.exit(main())
