# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Shows that run.py notices faults, and that kernels do not depend on what is in memory before them.

    python mutants.py barriers [NAME...]    # without each barrier of our kernel texts in turn: which case reports it?
                                            # Exits with nonzero if none does, and SURVIVES does not say why
    python mutants.py patterns [NAME...]    # with local memory and buffers that begin with various values

With names of cases.py, in these cases. The library that changes kernel texts is built with the tests. CXX is the
compiler whose preprocessor is used.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import run

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/emulator"))

from barriers import barriers, has_name, names, without  # noqa: E402

# ---- kernel texts --------------------------------------------------------------------------------------------------


def is_ours(text: str) -> bool:
    return "the openmm-constraints developers" in text


def compiled(text: str) -> set[str]:
    """The barriers that the preprocessor leaves, and that are not those of single threads, which are empty."""
    found = [(name, start, end, text[start:end]) for name, start, end in barriers(text)]
    for i, (_, start, end, word) in reversed(list(enumerate(found))):
        text = f"{text[:start]}left_{i}_{word}{text[end:]}"
    command = [os.environ.get("CXX", "c++"), "-E", "-P", "-D__OPENCL_VERSION__=120", "-x", "c", "-"]
    left = subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout
    is_block = "#define GROUP_IS_BLOCK 0" not in text
    return {
        name
        for i, (name, _, _, word) in enumerate(found)
        if f"left_{i}_" in left and (is_block or word == "SYNC_THREADS")
    }


def with_pattern(text: str, byte: int) -> str:
    """All local memory of kernels is filled before they begin."""

    def fill(name: str) -> str:
        return (
            f"\n    for (uint i_ = get_local_id(0); i_ < sizeof({name}); i_ += get_local_size(0))"
            f"\n        ((__local uchar*) &{name})[i_] = {byte};\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
        )

    text = re.sub(r"^ +LOCAL (?:volatile )?\w+ (\w+)\[.+\];$", lambda m: m[0] + fill(m[1]), text, flags=re.MULTILINE)
    factor = f"\n#if SHARED_FLOATS > 0{fill('memory')}#endif\n"
    of_block = f"\n#if BODY_BLOCK_SIZE > 1{fill('numbers')}#endif\n"
    text = re.sub(r"^    DECLARE_BODY_MEMORY$", lambda m: m[0] + of_block, text, flags=re.MULTILINE)
    return re.sub(
        r"^    DECLARE_SHARED_MEMORY$",
        lambda m: m[0] + fill("reports") + fill("least") + factor,
        text,
        flags=re.MULTILINE,
    )


# ---- runs ----------------------------------------------------------------------------------------------------------


class OtherTexts(RuntimeError):
    """A case compiles other kernels than it did."""


class Original:
    """A case as it is, and its kernel texts.

    library  -- which changes them
    """

    def __init__(self, name: str, folder: Path, library: Path):
        self.name = name
        self.folder = folder
        self.library = library
        folder.mkdir()
        start = time.monotonic()
        self.result, found = run.run(name, {"CONSTRAINTS_KERNEL_TEXTS": str(folder)}, library)
        self.seconds = time.monotonic() - start
        if found:
            raise SystemExit(f"{name} has findings of its own: use run.py first")
        self.texts = {path.name: path.read_text() for path in folder.iterdir()}
        self.texts = {name: text for name, text in self.texts.items() if is_ours(text)}
        if not self.texts:
            raise SystemExit(f"{name}: {library} did not get any kernel text of ours")
        self.barriers = set().union(*map(compiled, self.texts.values()))

    def rerun(self, change, environment: dict[str, str] | None = None) -> tuple[dict, list[str]]:
        """With other texts. change(text)"""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            for name, text in self.texts.items():
                Path(folder, name).write_text(change(text))
            variables = {"CONSTRAINTS_KERNEL_TEXTS": folder} | (environment or {})
            result = run.run(self.name, variables, self.library)
            if "Error compiling" in result[0]["error"]:
                raise SystemExit(f"{self.name}: what was changed does not compile:\n{result[0]['error']}")
            if len(list(Path(folder).iterdir())) != len(list(self.folder.iterdir())):
                raise OtherTexts(f"{self.name} has other kernel texts now")
            return result


def originals(names: list[str], folder: str, library: Path) -> list[Original]:
    found = []
    for i, name in enumerate(names):
        found.append(Original(name, Path(folder, str(i)), library))
        print(f"{found[-1].seconds:6.1f} s  {name}: {len(found[-1].barriers)} barriers", flush=True)
    return sorted(found, key=lambda original: original.seconds)


# Functions, and barriers that no case compiles. OpenCL's blocks do not wait for each other.
OF_SEVERAL_BLOCKS = ("blockBarrier", "worstOf")
NOT_COMPILED = {
    "subdomain_ANY:2": "of CUDA only: two solves in a launch",
    "argumentsAgain:1": "of CUDA only",
    "argumentsAgain:2": "of CUDA only",
    "solveTogether_ANY:2": "for several blocks only",
    "solveTogether_ANY:3": "for several blocks only",
}
SURVIVES = {
    "solveTogether_ANY:1": "redundant with one subdomain: as solve_ANY:1",
    "leave_ANY:1": "redundant: what comes next has a barrier before it reads what was written here",
    "solve_ANY:1": "redundant: a round ends with worstOf(), and one thread writes what follows and reads it",
}


def sign_of(those: list[Original], barrier: str) -> str:
    """What the first case says that notices that a barrier is missing; empty if none does."""
    for original in those:
        if not any(has_name(found, barrier) for found in original.barriers):
            continue
        try:
            result, found = original.rerun(lambda text: without(text, barrier))
        except run.Hang:
            return f"does not end in {original.name!r}"
        except run.Crash:
            return f"crash in {original.name!r}"
        except OtherTexts:  # as those for a step that is taken again
            return f"other kernels in {original.name!r}"
        if found:
            return f"{found[0].splitlines()[0].split(' at ')[0]} in {original.name!r}"
        if result != original.result:
            return f"another result of {original.name!r}"
    return ""


def check_barriers(cases: list[str], library: Path) -> bool:
    """Whether a case reports that one is missing, for each. Without names, the cases have to reach all barriers."""
    with tempfile.TemporaryDirectory() as folder:
        those = originals(cases or BARRIER_CASES, folder, library)
        reached = set().union(*(original.barriers for original in those))
        missed = 0
        print()

        def outcome_of(barrier: str) -> str:
            if barrier.split(":")[0] in OF_SEVERAL_BLOCKS:
                return "for several blocks only"
            if any(has_name(found, barrier) for found in reached):
                return sign_of(those, barrier) or SURVIVES.get(barrier, "NOT REPORTED by any case")
            return NOT_COMPILED.get(barrier, "NOT COMPILED in any case")

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for barrier, outcome in zip(names(), pool.map(outcome_of, names()), strict=True):
                missed += outcome.startswith("NOT REPORTED") or (outcome.startswith("NOT COMPILED") and not cases)
                print(f"{barrier:24} {outcome}", flush=True)
        for barrier in sorted(reached):
            if not any(has_name(barrier, name) for name in names()):
                missed += 1
                print(f"{barrier:24} NOT IN barriers.py", flush=True)
    return missed == 0


def check_patterns(names: list[str], library: Path) -> bool:
    """Whether results are bit for bit the same whatever is in memory before, and another one if it matters."""
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        for original in originals(names or PATTERN_CASES, folder, library):
            for byte in (0x00, 0x5A, 0xFF):  # the last is NaN
                environment = {"CONSTRAINTS_BUFFER_PATTERN": str(byte)}
                result, found = original.rerun(lambda text, byte=byte: with_pattern(text, byte), environment)
                is_same = result == original.result and not found
                passed = passed and is_same
                print(f"{'the same' if is_same else 'DIFFERENT'} with 0x{byte:02X}  {original.name}", flush=True)
            if original.name == UNSET_CASE:
                result, _ = original.rerun(lambda text: with_pattern(text.replace("*least = NO_ROW;", ";"), 0x00))
                is_same = result == original.result
                passed = passed and not is_same
                print(f"{'THE SAME' if is_same else 'different'} without an initial value  {original.name}", flush=True)
    return passed


# Cases that reach all barriers, and all local memory.
BARRIER_CASES = [
    "small RattleLangevin",  # two solves in a launch
    "thread Rattle",
    "block NoseHoover",
    "block iterative Rattle",
    "block with a last round unseen",
    "block global",
    "block shared and global",
    "block single",
    "block that falls back",  # since pivots vanish
    "blocks in turn",
    "no root, block",
    "joints global",
    "projection of bodies",
    "projection of body parts",
    "subdomains of all kinds",
    "border",
]
PATTERN_CASES = [
    "small RattleLangevin",
    "local ConstraintForce",
    "block NoseHoover",
    "block iterative Rattle",
    "block shared and global",
    "block single",
    "redundant",
    "projection",
    "bodies ConstraintForce",
    "body parts RattleLangevin",
]
UNSET_CASE = "block single"  # comes to leastOf(); what subdomains leave to their cluster has it too, but is not run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["barriers", "patterns"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of cases.py")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", metavar="FOLDER", help="where the tests were built"
    )
    arguments = parser.parse_args()
    library = arguments.build / "tests/oclgrind/libkerneltexts.so"
    if not library.exists():
        parser.error(f"there is no {library}: build the tests")
    check = check_barriers if arguments.what == "barriers" else check_patterns
    sys.exit(not check(arguments.names, library))


if __name__ == "__main__":
    main()
