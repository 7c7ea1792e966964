# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Runs cases of cases.py under oclgrind, which simulates a device: it reports data races, barriers that not all threads
reach, and accesses outside of arrays. Results are compared with Reference.

    python run.py              # all cases
    python run.py --quick      # a sample
    python run.py NAME...
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cases
import numpy as np

OCLGRIND = [
    "oclgrind",
    "--data-races",
    "--uniform-writes",  # two threads that write the same are reported too
    "--check-api",
    "--build-options",
    "-cl-opt-disable",
    "--local-mem-size",
    "262144",
]
PRELOAD = 'LD_PRELOAD=$0:$LD_PRELOAD LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; shift; exec "$@"'
LONGEST = 600  # seconds of a case


class Crash(RuntimeError):
    """The process of a case ended without a result."""


class Hang(Crash):
    """It does not end."""


def run(name: str, environment: dict[str, str] | None = None, preload: Path | None = None) -> tuple[dict, list[str]]:
    """The result of a case, and oclgrind's reports.

    environment  -- variables besides the case's own
    preload      -- a library that comes before oclgrind's, which puts itself first; by name, since a path with a space
                    could not be
    """
    with tempfile.TemporaryDirectory() as folder:
        result, log = Path(folder, "result"), Path(folder, "log")
        command = [*OCLGRIND, "--log", str(log)]
        if preload is not None:
            command += ["sh", "-c", PRELOAD, preload.name, str(preload.resolve().parent)]
        command += [sys.executable, cases.__file__, name, "OpenCL", str(result)]
        variables = os.environ | cases.CASES[name].environment | (environment or {})
        try:
            done = subprocess.run(command, env=variables, text=True, capture_output=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise Hang(f"{name} does not end within {LONGEST} s") from None
        if done.returncode != 0 or not result.exists():
            raise Crash(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(result.read_text()), reports(log.read_text())


def reports(log: str) -> list[str]:
    """A continuation line begins with a space."""
    found = re.split(r"\n(?=\S)", log.strip())
    return [report for report in found if report and not is_harmless(report)]


def is_harmless(report: str) -> bool:
    """hasFailed() reads what others write by atomics: its comment says why that is right."""
    return "return failure[0] < a->launch;" in report and "atomic_min(place, value);" in report


ROUNDING = {"single": 1e-6, "mixed": 1e-9, "double": 1e-11}  # nm, of coordinates


def differences(name: str, result: dict, reference: dict) -> list[str]:
    """What a result has that it should not have, in words."""
    case = cases.CASES[name]
    found = []
    if "Oclgrind" not in result["device"]:
        found.append(f"it ran on {result['device']}")
    if case.serves not in result["solver"]:
        found.append(f"the solver is {result['solver']}, not {case.serves}")
    if (case.error == "") != (result["error"] == "") or case.error not in result["error"]:
        found.append(f"the error is {result['error']!r}")
    if result["steps"] != reference["steps"]:
        found.append(f"{result['steps']} steps, not {reference['steps']}")
    # Errors of solves, whose lengths are some 0.15 nm and masses some 10 amu. OpenMM scales boxes in single precision.
    rounding = ROUNDING["single" if case.prepare in cases.BAROSTATS else case.precision]
    solved = 0.3 * max(case.tolerance, case.first_tolerance) + rounding
    multipliers = 20 * solved / cases.DT**2
    if case.build is cases.joints:  # bodies of up to 200 amu and 2.8 nm
        multipliers = (0.3 * case.tolerance + rounding) * cases.responses(name)
    for quantity, bound in (
        ("positions", solved),
        ("velocities", solved / cases.DT),
        ("multipliers", multipliers),
        ("forces", 100 * solved / cases.DT**2),
    ):
        distances = np.abs(np.subtract(result[quantity], reference[quantity]))
        bounds = np.broadcast_to(bound, distances.shape)
        if not np.all(distances <= bounds):
            worst = np.argmax(distances / bounds)
            found.append(f"{quantity} differ by {distances.flat[worst]:.1e}, and may by {bounds.flat[worst]:.1e}")
    return found


def check(name: str) -> tuple[list[str], float]:
    """What is wrong with a case, in words, and the seconds that it took."""
    start = time.monotonic()
    try:
        result, found = run(name)
        found += differences(name, result, cases.run(name, "Reference"))
    except Crash as crash:
        found = [str(crash)]
    return found, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of cases.py")
    parser.add_argument("--quick", action="store_true", help="a sample")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(cases.CASES):
        parser.error(f"there are no cases {sorted(unknown)}; there are {list(cases.CASES)}")
    names = arguments.names or [name for name, case in cases.CASES.items() if case.is_quick or not arguments.quick]
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (found, seconds) in zip(names, pool.map(check, names), strict=True):
            failed += bool(found)
            print(f"{'FAILED' if found else 'passed'} {seconds:6.1f} s  {name}", flush=True)
            for finding in found[:5]:
                print("    " + finding.replace("\n", "\n    "), flush=True)
            if len(found) > 5:
                print(f"    and {len(found) - 5} more", flush=True)
    print(f"{len(names) - failed} of {len(names)} cases passed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
