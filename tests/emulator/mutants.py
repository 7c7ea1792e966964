# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Leave out the barriers and fences of our kernels one by one, and see which of these the emulator notices.

    python tests/emulator/mutants.py BUILD [NAME...]    # all, or those of these names, as worstOfBlock:2
    python tests/emulator/mutants.py BUILD --entries [NAME...]    # by each entry of ctest that scripts/test.sh runs

Each runs on the emulator with ThreadSanitizer: what finds it is a data race, threads that wait for others, or a wrong
result. Prints a table and exits with nonzero if one is not found that SURVIVES does not name.

Of all tests only those run that come to the barrier, the fastest first, until one finds something. Which tests do is
recorded first, for the entries in a quarter of an hour, and kept in the build folder until a kernel or a test program
changes. With --entries what each entry finds is written to mutants.json here, for ../timings.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from barriers import KERNELS, has_name, names

sys.path.append(str(Path(__file__).parents[1]))

from entries import Entry, entries, names_in_shard

# Tests that run the blocks, the colours of the iterative solver, a heat bath and bodies.
TESTS = (
    "All/EmulatedFallBack.*",
    "EmulatedSubdomainsOf.TwoSolves*:EmulatedSubdomainsOf.AStepOf*",
    "EmulatedMolecules.*",
    "All/EmulatedFactor.*CUDAMixed_MatrixInversion_Rattle",
    "All/EmulatedFactor.*CUDASingle_MatrixInversion_Shake",
    "All/EmulatedFactor.*RattleNoseHoover",
    "All/EmulatedSubdomains.ComputeWhat*ConstraintForce",
    "All/EmulatedSubdomains.ComputeWhat*GeodesicLangevin",
    "All/EmulatedSubdomainsOfEveryKind.*CUDAMixed_MatrixInversion_Rattle",
    "All/Emulated.*CUDAMixed_Iterative_Shake",
    "All/EmulatedBodies.DependNeither*CUDAMixed_MatrixInversion_Rattle",
    "All/EmulatedSubdomainsBodies.MoveAsOnReference/CUDAMixed_MatrixInversion_Rattle",
    "All/EmulatedSubdomainsBodies.MoveAsOnReference/CUDASingle_MatrixInversion_Shake",
)
# Variables for sanitizers and the like, which change no way that threads go.
SANITIZED = ("LD_PRELOAD", "EMULATOR_FLAGS", "EMULATOR_FUSES", "EMULATOR_LOG")
SURVIVES = {
    "subdomain_ANY:2": "between clusters that a block takes in turn: oclgrind reports it, as :1 of its launches",
    "solve_ANY:1": "redundant: a round ends with worstOf(), and one thread writes what follows and reads it",
    "solveTogether_ANY:2": "redundant: threads have met in readFound() since they read what was decided by",
    "leave_ANY:1": "redundant: what comes next has a barrier before it reads what was written here",
}


def of_mutant(name: str, folder: str) -> dict[str, str]:
    """Variables for a run without this barrier. OpenMM keeps what was compiled by the text with all of them, so it gets
    a folder of its own; the emulator keeps libraries by what is left of a text, so mutants share most of them."""
    return {
        "OPENMM_CACHE_DIR": folder,
        "TMPDIR": folder,
        "EMULATOR_WITHOUT": name,
        "EMULATOR_LOG": f"{folder}/kernels.log",  # not the one that ran.py reads
        "TSAN_OPTIONS": "halt_on_error=1",
    }


def sign_of(command: list[str], environment: dict[str, str], limit: float) -> str:
    """What a program with GoogleTest says of a fault, within so many seconds."""
    try:
        result = subprocess.run(
            [*command, "--gtest_fail_fast"], env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    output = result.stdout + result.stderr
    for sign in ("data race", "threads wait", "threads of a block wait"):
        if sign in output:
            return sign
    return "" if result.returncode == 0 else "a wrong result"


def alone(entry: Entry, test: str) -> tuple[list[str], dict[str, str]]:
    """The command that runs one test of an entry, and its variables."""
    variables = {key: value for key, value in entry.variables().items() if not key.startswith("GTEST_")}
    return [entry.command[0], f"--gtest_filter={test}"], variables


def reached(build: Path, those: list[Entry]) -> dict[str, dict[str, dict[str, Any]]]:
    """Of each entry's tests: seconds, and the barriers that threads come to. Is kept in a file of the build folder."""
    path = build / "tests/emulator/reached.json"
    sources = [*KERNELS.glob("*/*.cc"), *(Path(entry.command[0]) for entry in those)]
    found: dict[str, dict[str, dict[str, Any]]] = {}
    if path.exists() and path.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        found = json.loads(path.read_text())

    known: dict[tuple[str, ...], dict[str, Any]] = {}  # entries share tests
    with tempfile.TemporaryDirectory() as folder:
        own = {"EMULATOR_REACHED": "1", "OPENMM_CACHE_DIR": folder, "TMPDIR": folder}
        for entry in those:
            if entry.name in found:
                continue
            of_entry: dict[str, dict[str, Any]] = {}
            for test in names_in_shard(entry):
                command, variables = alone(entry, test)
                key = (*command, variables.get("FAKECUDA_BLOCK", ""))
                if key not in known:
                    plain = {key: value for key, value in variables.items() if key not in SANITIZED}
                    start = time.monotonic()
                    result = subprocess.run(command, env=plain | own, capture_output=True, text=True, check=True)
                    those_met = sorted(set(re.findall(r"^barrier (\S+)$", result.stdout, re.MULTILINE)))
                    known[key] = {"seconds": round(time.monotonic() - start, 1), "barriers": those_met}
                of_entry[test] = known[key]
            found[entry.name] = of_entry
            path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def finding_of(entry: Entry, name: str, tests: dict[str, dict[str, Any]]) -> str:
    """What an entry of ctest says without this barrier: the first of its tests that come to it and find anything."""
    those = [test for test, of in tests.items() if any(has_name(barrier, name) for barrier in of["barriers"])]
    with tempfile.TemporaryDirectory() as folder:
        for test in sorted(those, key=lambda test: tests[test]["seconds"]):
            command, variables = alone(entry, test)
            slow = 600 if "EMULATOR_FLAGS" in variables else 60  # compilers take minutes with sanitizers
            limit = slow + 20 * tests[test]["seconds"]
            if found := sign_of(command, variables | of_mutant(name, folder), limit):
                return found
    return ""


def find_by_entries(build: Path, wanted: list[str], pool: Executor) -> None:
    """Which entries find which mutants: fills mutants.json, where those that it has already are left. When two have
    found a mutant, none finds it alone, and the others are not run."""
    path = Path(__file__).with_name("mutants.json")
    found = json.loads(path.read_text()) if path.exists() else {}
    those = [
        entry
        for entry in entries(build)
        if any(word.startswith("EMULATOR_CACHE") for word in entry.environment)
        and not any(word.startswith("EMULATOR_WITHOUT") for word in entry.environment)
        and {"quick", "full"} & {*entry.labels}
    ]
    those.sort(key=lambda entry: ("quick" not in entry.labels, "threads" not in entry.name))  # the likeliest first
    tests = reached(build, those)

    def find(name: str) -> dict[str, str]:
        of_name: dict[str, str] = {}
        for entry in those:
            if sum(map(bool, of_name.values())) < 2:
                of_name[entry.name] = finding_of(entry, name, tests[entry.name])
                print(f"{name:24}{entry.name:28}{of_name[entry.name]}", flush=True)
        return of_name

    left = [name for name in wanted if name not in found]
    for name, of_name in zip(left, pool.map(find, left), strict=True):
        found[name] = of_name
        path.write_text(json.dumps({each: found[each] for each in names() if each in found}, indent=1) + "\n")


def detector(build: Path) -> Entry:
    """TESTS on the emulator with ThreadSanitizer, as an entry of ctest, with which it shares compiled kernels."""
    runtime = subprocess.run(["g++", "-print-file-name=libtsan.so"], check=True, capture_output=True, text=True)
    variables = {
        "CONSTRAINTS_TEST_CUDA": "1",
        "FAKECUDA_MULTIPROCESSORS": "3",
        "FAKECUDA_BLOCK": "64",  # the time for a barrier grows with the square of the number of threads
        "LD_LIBRARY_PATH": f"{build / 'tests/emulator/nvrtc'}:{build / 'tests/calls/fakecuda'}",
        "EMULATOR_CACHE": str(build / "tests/emulator/libraries"),
        "EMULATOR_FLAGS": "-O1 -g1 -fsanitize=thread --param tsan-distinguish-volatile=1",
        "LD_PRELOAD": runtime.stdout.strip(),
    }
    command = (str(build / "tests/emulator/TestEmulator"), f"--gtest_filter={':'.join(TESTS)}")
    return Entry("mutants", (), command, tuple(f"{name}={value}" for name, value in variables.items()))


def find_all(build: Path, wanted: list[str], pool: Executor) -> int:
    """Print what TESTS say without each of these barriers. Returns how many are not found."""
    entry = detector(build)
    with tempfile.TemporaryDirectory() as folder:
        if found := sign_of([*entry.command], entry.variables() | of_mutant("", folder), 3600):
            raise SystemExit(f"the tests do not pass with all barriers: {found}")
    tests = reached(build, [entry])[entry.name]
    missed = 0
    findings = pool.map(lambda name: finding_of(entry, name, tests), wanted)
    for name, found in zip(wanted, findings, strict=True):
        reason = "" if found else SURVIVES.get(name, "NOT FOUND")
        missed += reason == "NOT FOUND"
        print(f"{name:24}{found or reason}", flush=True)
    return missed


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--entries", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="NUMBER", help="of barriers at a time")
    arguments = parser.parse_intermixed_args()
    build, wanted = arguments.build.resolve(), arguments.names or names()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        if arguments.entries:
            find_by_entries(build, wanted, pool)
            return 0
        return 1 if find_all(build, wanted, pool) else 0


if __name__ == "__main__":
    sys.exit(main())
