# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Leave out the barriers and fences of our kernels one by one, and see which of these the emulator notices.

    python tests/emulator/mutants.py BUILD [NAME...]    # all, or those of these names, as worstOfBlock:2

Each runs on the emulator with ThreadSanitizer: what finds it is a data race, threads that wait for others, or a wrong
result. Prints a table and exits with nonzero if one is not found that SURVIVES does not name.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from barriers import ANY, barriers

KERNELS = Path(__file__).parents[2] / "platforms" / "common" / "kernels"
# Tests that run the grid, the blocks, the colours of the iterative solver, a heat bath and bodies, the fastest first.
TESTS = (
    "*Grid.ComputesWhatOneBlockDoes/CUDAMixed",
    "All/EmulatedFallBack.*",
    "All/EmulatedFactor.*CUDAMixed_MatrixInversion_Rattle",
    "All/EmulatedFactor.*CUDASingle_MatrixInversion_Shake",
    "All/EmulatedFactor.*RattleNoseHoover",
    "All/EmulatedParts.ComputeWhat*ConstraintForce",
    "All/EmulatedParts.ComputeWhat*GeodesicLangevin",
    "All/EmulatedPartsOfEveryKind.*CUDAMixed_MatrixInversion_Rattle",
    "All/Emulated.*CUDAMixed_Iterative_Shake",
    "All/EmulatedBodies.DependNeither*CUDAMixed_MatrixInversion_Rattle",
)
SURVIVES = {
    "solve_ANY:1": "redundant: a round ends with worstOf(), and one thread writes what follows and reads it",
}
HOST = ("partOfCluster_ANY:1",)  # in text that the host writes


def names() -> list[str]:
    """Of all barriers. A text with a marker is compiled for shared and for global memory."""
    found = [*HOST]
    for path in sorted(KERNELS.glob("*.cc")):
        text = re.sub(r"\$(?:STAGE|SOLVE|KIND)\$", ANY, path.read_text())
        for place in ("Shared", "Global") if "$PLACE$" in text else ("",):
            found += [name for name, _, _ in barriers(text.replace("$PLACE$", place))]
    return found


def finding(build: Path, name: str) -> str:
    """What the tests say without this barrier, or with all for an empty name; empty if they pass."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | emulated(build, Path(folder)) | {"EMULATOR_WITHOUT": name}
        for tests in TESTS:
            command = [str(build / "tests/emulator/TestEmulator"), f"--gtest_filter={tests}", "--gtest_fail_fast"]
            try:
                result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                return "does not end"
            output = result.stdout + result.stderr
            for sign in ("data race", "threads wait", "threads of a block wait"):
                if sign in output:
                    return sign
            if result.returncode != 0:
                return "a wrong result"
    return ""


def emulated(build: Path, cache: Path) -> dict[str, str]:
    """The environment in which kernels run on the emulator with ThreadSanitizer."""
    runtime = subprocess.run(["g++", "-print-file-name=libtsan.so"], check=True, capture_output=True, text=True)
    return {
        "CONSTRAINTS_TEST_CUDA": "1",
        "FAKECUDA_MULTIPROCESSORS": "3",
        "FAKECUDA_BLOCK": "64",  # the time for a barrier grows with the square of the number of threads
        "LD_LIBRARY_PATH": f"{build / 'tests/emulator/nvrtc'}:{build / 'tests/calls/fakecuda'}",
        "OPENMM_CACHE_DIR": str(cache),
        "TMPDIR": str(cache),
        "EMULATOR_CACHE": str(cache),
        "EMULATOR_FLAGS": "-O1 -g1 -fsanitize=thread --param tsan-distinguish-volatile=1",
        "LD_PRELOAD": runtime.stdout.strip(),
        "TSAN_OPTIONS": "halt_on_error=1",
    }


def main() -> int:
    """The exit status."""
    build, *wanted = sys.argv[1:]
    if found := finding(Path(build).resolve(), ""):
        raise SystemExit(f"the tests do not pass with all barriers: {found}")
    missed = 0
    for name in wanted or names():
        found = finding(Path(build).resolve(), name)
        reason = "" if found else SURVIVES.get(name, "NOT FOUND")
        missed += reason == "NOT FOUND"
        print(f"{name:24}{found or reason}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
