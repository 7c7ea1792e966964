# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Plant faults in the sources one at a time, and say which test finds each.

    python tests/faults.py [NAME...]     # all of faults_list.py, or those of these names
    python tests/faults.py --check       # only whether each text is still there, once

Everything happens in a copy, a worktree of git: without --folder in a temporary one, which is built first. There a
fault is planted, what depends on it is built, and tests run until one fails: those of scripts/test.sh, then those of
scripts/test.sh --full but for three of its checks, which run what others run, slower (the sample with sanitizers, and
oclgrind), or only build pages. Entries that are most likely to see a fault come first, which does not change whether it
is found. Prints a table (Markdown), and exits with 1 if a fault is not found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults_list import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[1]
QUICK, FULL = "test.sh", "test.sh --full"
#: What devices run. Their entries come first for these, and last for all others.
OF_DEVICES = ("platforms/common/", "platforms/cuda/", "platforms/opencl/")


@dataclass(frozen=True)
class Step:
    """Tests that run together."""

    script: str  # QUICK or FULL
    kind: str  # "host", "device" or "python"
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Finding:
    """What finds a fault; without a script nothing does."""

    fault: Fault
    test: str
    script: str
    seconds: float


def ctest(label: str, *names: str) -> tuple[str, ...]:
    """Entries of a label, those of which a regular expression finds the names, or does not."""
    options = ("--no-tests=error", "--output-on-failure", "--stop-on-failure")
    return (".venv/bin/ctest", "--test-dir", "build", *options, "--label-regex", label, *names)


def pytest(markers: str) -> tuple[str, ...]:
    """Without the test that no fault is planted."""
    other = ("--ignore", "tests/python/test_faults.py")
    return (".venv/bin/python", "-m", "pytest", "tests/python", "-x", "-q", *other, "-m", markers)


ON_OPENCL = (("CONSTRAINTS_TEST_PLATFORM", "OpenCL"), ("CONSTRAINTS_TEST_PRECISION", "mixed"))
OF_HOST = "^(host|long|rest|sample|Test)"
STEPS = (
    Step(QUICK, "host", ctest("quick", "--tests-regex", OF_HOST)),
    Step(QUICK, "device", ctest("quick", "--exclude-regex", OF_HOST)),
    Step(QUICK, "python", pytest("not long and not statistics and not precisions")),
    Step(FULL, "host", ctest("full", "--tests-regex", OF_HOST)),
    Step(FULL, "device", ctest("full", "--exclude-regex", OF_HOST)),
    Step(FULL, "python", pytest("long")),
    Step(FULL, "python", pytest("platform and not statistics"), ON_OPENCL),
)


def steps_for(fault: Fault) -> list[Step]:
    """All of STEPS, those of scripts/test.sh first."""
    if fault.file.startswith("wrappers/"):
        order = ["python", "host", "device"]
    elif fault.file.startswith(OF_DEVICES):
        order = ["device", "host", "python"]
    else:
        order = ["host", "device", "python"]
    return sorted(STEPS, key=lambda step: (step.script == FULL, order.index(step.kind)))


def require_texts(folder: Path, faults: list[Fault]) -> None:
    """
    Raises
    ------
    SystemExit
        if a text does not occur exactly once
    """
    for fault in faults:
        path = folder / fault.file
        count = path.read_text().count(fault.before) if path.exists() else 0
        if count != 1:
            raise SystemExit(f"{fault.name}: its text occurs {count} times in {path}; adapt tests/faults_list.py")


@contextmanager
def planted(folder: Path, fault: Fault) -> Iterator[None]:
    """While this lasts, the fault is in the file."""
    path = folder / fault.file
    text = path.read_text()
    path.write_text(text.replace(fault.before, fault.after))
    try:
        yield
    finally:
        path.write_text(text)


def run(
    folder: Path, command: tuple[str, ...], jobs: int, environment: tuple[tuple[str, str], ...] = ()
) -> tuple[bool, str]:
    """Whether a command succeeds, with the caches that scripts have, and what it prints."""
    shell = ("bash", "-c", 'source scripts/common.sh && "$@"', "bash", *command)
    own = {"GTEST_FAIL_FAST": "1", "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)}
    variables = {**os.environ, **own, **dict(environment)}
    result = subprocess.run(
        shell, cwd=folder, env=variables, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return result.returncode == 0, result.stdout


def failed_test(output: str) -> str:
    """The entry of ctest and its test, or the file and its test of pytest, which failed first.

    Raises
    ------
    SystemExit
        if no test ran, or their program did not begin
    """
    entry = re.search(r"Test\s+#\d+: (\S+) \.*\s*\*\*\*", output)
    if entry is not None:
        test = re.search(r"^(?:\d+: )?\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
        return f"{entry[1]}: {test[1]}" if test is not None else entry[1]
    of_python = re.search(r"^(?:FAILED|ERROR) (?:tests/python/)?(\S+\.py\S*)", output, re.MULTILINE)
    if of_python is None:
        raise SystemExit(f"{output}\nThis failed, but no test did.")
    return of_python[1]


def find(folder: Path, fault: Fault, jobs: int, is_quick_only: bool) -> Finding:
    """
    Raises
    ------
    SystemExit
        if what has the fault does not compile
    """
    start = time.monotonic()
    with planted(folder, fault):
        is_built, output = run(folder, ("setup", "tests"), jobs)
        if not is_built:
            raise SystemExit(f"{output}\n{fault.name}: this does not compile")
        for step in steps_for(fault):
            if is_quick_only and step.script == FULL:
                break
            many = ("-n", str(jobs)) if step.kind == "python" else ("--parallel", str(jobs))
            has_passed, output = run(folder, (*step.command, *many), jobs, step.environment)
            if not has_passed:
                return Finding(fault, failed_test(output), step.script, time.monotonic() - start)
    return Finding(fault, "nothing", "", time.monotonic() - start)


def print_row(finding: Finding) -> None:
    fault = finding.fault
    test = f"`{finding.test}`" if finding.script else "**nothing**"
    row = (f"{fault.name} ({fault.file})", fault.what, test, finding.script, f"{finding.seconds:.0f}")
    print("|", " | ".join(row), "|", flush=True)


def prepare(folder: Path, jobs: int) -> None:
    """Make the folder a worktree of the present commit, unless it is one, and build it.

    Raises
    ------
    SystemExit
        if it has another commit, or cannot be built
    """
    git = ("git", "-C", str(ROOT))
    if not (folder / "scripts/common.sh").exists():
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(folder)], check=True)
    commits = {
        subprocess.run(["git", "-C", str(each), "rev-parse", "HEAD"], check=True, capture_output=True).stdout
        for each in (ROOT, folder)
    }
    if len(commits) > 1:
        raise SystemExit(f"{folder} has another commit: check out this one there, or remove it")
    is_built, output = run(folder, ("setup", "tests"), jobs)
    if not is_built:
        raise SystemExit(f"{output}\nThis does not compile without any fault.")


@contextmanager
def copy_in(folder: Path | None, jobs: int) -> Iterator[Path]:
    """A copy that is built; it stays if a folder is given."""
    if folder is not None:
        prepare(folder.resolve(), jobs)
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "copy")
        prepare(copy, jobs)
        try:
            yield copy
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(copy)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of faults_list.py")
    parser.add_argument("--check", action="store_true", help="only look for the texts")
    parser.add_argument("--folder", type=Path, help="of the copy, which stays there with its build")
    parser.add_argument("--quick", action="store_true", help="only what scripts/test.sh runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    arguments = parser.parse_args()
    known = {fault.name: fault for fault in FAULTS}
    if unknown := set(arguments.names) - set(known):
        parser.error(f"there is no fault {sorted(unknown)}; there are {', '.join(known)}")
    faults = [known[name] for name in arguments.names] or list(FAULTS)
    require_texts(ROOT, faults)
    if arguments.check:
        return
    with copy_in(arguments.folder, arguments.jobs) as copy:
        require_texts(copy, faults)
        print("| fault | what is wrong | found by | in | seconds |\n| --- | --- | --- | --- | ---: |", flush=True)
        are_found = True
        for fault in faults:
            finding = find(copy, fault, arguments.jobs, arguments.quick)
            are_found = are_found and bool(finding.script)
            print_row(finding)
    sys.exit(not are_found)


if __name__ == "__main__":
    main()
