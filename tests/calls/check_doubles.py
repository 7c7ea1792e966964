# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Count FP64 instructions in the code of the PTX that TestCalls kept, without a GPU.

There must be none in single precision. Where there are doubles, none may be in the loops in which Newton's method finds
the lengths of a small cluster: TestCalls has a tolerance that floats can meet. Such a loop has no other one inside, and
a float's square root. Around it residuals are computed in double precision, once a round.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from check_ptx import NO_STACK, PRECISIONS, compile_ptx, find_ptxas, modules
from gpumodel.compiler import disassemble

DOUBLE = re.compile(r"\bD(ADD|MUL|FMA|SETP|MNMX)\b|\b[FI]2[FI]\S*\.F64|\bMUFU\S*64H")
ROOT = re.compile(r"\bMUFU\.(RSQ|SQRT)\b(?!64)")
PART = re.compile(
    r"^\s*\.section\s+\.text\.(?P<kernel>\w+)|^(?P<label>\.L_x_\d+):|^\s*/\*[0-9a-f]{4,}\*/\s+(?P<text>.*?)\s*;",
    re.MULTILINE,
)
BRANCH = re.compile(r"\bBRA\b.*`\((\.L_x_\d+)\)")


def kernels(listing: str) -> dict[str, list[str]]:
    """Instructions of each kernel, and labels between them."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for part in PART.finditer(listing):
        if part["kernel"]:
            lines = found[part["kernel"]] = []
        else:
            lines.append(part["label"] or part["text"])
    return found


def inner_loops(lines: list[str]) -> Iterator[list[str]]:
    """Loops without another one inside: from a branch's label to the branch."""
    places = {line: place for place, line in enumerate(lines) if line.startswith(".L_")}
    branches = [(places[found[1]], place) for place, line in enumerate(lines) if (found := BRANCH.search(line))]
    loops = [(start, end) for start, end in branches if start < end]
    for start, end in loops:
        if not any(start <= other[0] and other[1] <= end and other != (start, end) for other in loops):
            yield lines[start : end + 1]


def check(name: str, lines: list[str], precision: str) -> tuple[int, list[str]]:
    """How much code was looked at, and the FP64 instructions in it."""
    if precision == "single":
        return 1, list(filter(DOUBLE.search, lines))
    loops = [loop for loop in inner_loops(lines) if any(map(ROOT.search, loop))]
    if not name.startswith(NO_STACK):
        loops = []
    return len(loops), [line for loop in loops for line in loop if DOUBLE.search(line)]


def main() -> int:
    """Returns 1 if there are FP64 instructions where there should be none, or nothing to look at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="named sm_80, sm_90, ...")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--cache", type=Path, required=True, help="existing folder: what ptxas compiled before")
    options = parser.parse_args()
    ptxas, failures = find_ptxas(), 0
    for precision in options.precisions:
        found = modules(options.folder / precision)

        def look(ptx: Path, precision: str = precision) -> list[tuple[str, int, list[str]]]:
            listing = disassemble(compile_ptx(ptxas, ptx, options.folder.name, options.cache))
            return [
                (f"{name} ({ptx.parent.name})", *check(name, lines, precision))
                for name, lines in kernels(listing).items()
            ]

        with ThreadPoolExecutor(2) as pool:
            results = [result for each in pool.map(look, found) for result in each]
        seen = sum(count for _, count, _ in results)
        wrong = [f"{name}: {len(doubles)}, such as {doubles[0]}" for name, _, doubles in results if doubles]
        print("\n".join(wrong))
        what = "kernels" if precision == "single" else "loops of solves"
        print(f"{precision}: {seen} {what} in {len(found)} modules, {len(wrong)} kernels with FP64 instructions there")
        failures += len(wrong) + (seen == 0)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
