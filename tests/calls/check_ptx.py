# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Compile the PTX that TestCalls kept: registers and spills of every kernel of this plugin, without a GPU.

A kernel of a small cluster lives in registers and shared memory, but for clusters of more than three distances, whose
numbers have indices, and for projections of positions, which no step needs: a spill or a stack elsewhere among them is
a failure; of other kernels it is reported.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

PRECISIONS = ("single", "mixed", "double")
NO_STACK = "smallCluster"
MORE_THAN_THREE = ("clusters", "upToEight")  # kinds of System with small clusters of more than three distances
SELDOM = "smallCluster_projectPositions"  # where a barostat or a user moves particles


@dataclass(frozen=True)
class Usage:
    """What a kernel needs. Compiled more than once for a kind of System, as for several integrators: the most."""

    kernel: str
    kind: str  # of System
    precision: str
    target: str
    registers: int
    stack: int  # bytes: arrays that are not in registers, spills included
    spills: int  # bytes


def find_ptxas() -> str:
    """The one that fits NVRTC, which is in the same PyPI packages; a toolkit's may be older and refuse its PTX."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        candidate = Path(folder) / "cu13" / "bin" / "ptxas"
        if candidate.is_file():
            return str(candidate)
    found = shutil.which("ptxas")
    if found is None:
        raise SystemExit("ptxas was not found: pip install nvidia-cuda-nvcc")
    return found


def entries(ptx: Path) -> frozenset[str]:
    """Names of a module's kernels."""
    return frozenset(re.findall(r"\.entry\s+(\w+)", ptx.read_text()))


def modules(folder: Path) -> list[Path]:
    """What our integrators load and OpenMM's do not, told by the names of the kernels; each text once."""
    builtin = {entries(path) for path in (folder / "builtin").glob("*.ptx")}
    found = {path.name: path for path in sorted((folder / "plugin").glob("*/*.ptx"))}
    return [path for path in found.values() if entries(path) not in builtin]


def compile_ptx(ptxas: str, ptx: Path, target: str, cache: Path) -> Path:
    """The code of a module, and beside it what ptxas said. A large one takes minutes: both are kept, by the hash that
    is the module's name.

    :raises SystemExit: if the module cannot be compiled
    """
    cubin = cache / f"{ptx.stem}-{target}.cubin"
    if cubin.exists():
        return cubin
    with tempfile.TemporaryDirectory(dir=cache) as folder:  # another test may compile the same
        output = Path(folder) / cubin.name
        command = [ptxas, "-v", f"-arch={target}", "-o", str(output), str(ptx)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit(f"ptxas fails for {target}: {', '.join(sorted(entries(ptx)))}\n{result.stderr}")
        text = Path(folder) / f"{ptx.stem}-{target}.txt"
        text.write_text(result.stderr)
        text.rename(cache / text.name)
        output.rename(cubin)
    return cubin


def measure(ptxas: str, ptx: Path, target: str, precision: str, cache: Path) -> list[Usage]:
    """Compile a module, which lies in a folder named by kind, platform, solver and integrator."""
    kind = ptx.parent.name.split("_")[0]
    usages = []
    for block in re.split(
        r"Compiling entry function '", compile_ptx(ptxas, ptx, target, cache).with_suffix(".txt").read_text()
    )[1:]:
        stack, stores, loads = (
            max(map(int, re.findall(rf"(\d+) bytes {what}", block)), default=0)
            for what in ("stack frame", "spill stores", "spill loads")
        )
        registers = re.search(r"Used (\d+) registers", block)
        if registers is None:
            raise SystemExit(f"no registers in what ptxas says:\n{block}")
        name = block.split("'", 1)[0]
        usages.append(Usage(name, kind, precision, target, int(registers[1]), stack, max(stores, loads)))
    return usages


def most(usages: Iterable[Usage]) -> list[Usage]:
    """One entry for each kernel, kind of System, precision and target."""
    table: dict[tuple[str, str, str, str], Usage] = {}
    for each in usages:
        key = (each.kernel, each.kind, each.precision, each.target)
        old = table.get(key, each)
        table[key] = Usage(
            *key, max(old.registers, each.registers), max(old.stack, each.stack), max(old.spills, each.spills)
        )
    return [table[key] for key in sorted(table)]


def report(usages: list[Usage]) -> str:
    """A line for each kernel and kind of System: registers, and bytes of stack and spills where there are any."""
    columns = sorted({(u.target, PRECISIONS.index(u.precision)) for u in usages})
    cells = {(u.kernel, u.kind, u.target, PRECISIONS.index(u.precision)): u for u in usages}
    lines = [f"{'registers [stack, spills]':44}" + "".join(f"{f'{t} {PRECISIONS[p]}':>19}" for t, p in columns)]
    for row in sorted({(u.kernel, u.kind) for u in usages}):
        line = f"{row[0] + ', ' + row[1]:44}"
        for column in columns:
            u = cells.get((*row, *column))
            text = "-" if u is None else f"{u.registers}"
            if u is not None and (u.stack or u.spills):
                text += f" [{u.stack}, {u.spills}]"
            line += f"{text:>19}"
        lines.append(line)
    return "\n".join(lines)


def main() -> int:
    """Returns 1 if a kernel that must not spill, nor have a stack, does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="named sm_80, sm_90, ...")
    parser.add_argument("--json", type=Path, help="write all numbers there")
    parser.add_argument("--cache", type=Path, required=True, help="existing folder: what ptxas said before")
    options = parser.parse_args()
    ptxas = find_ptxas()
    jobs = []
    for folder in options.folders:
        found = [(p, module) for p in PRECISIONS if (folder / p / "plugin").is_dir() for module in modules(folder / p)]
        if not found:
            raise SystemExit(f"no kernels of this plugin in {folder}: did TestCalls run?")
        jobs += [(ptxas, module, folder.name, precision, options.cache) for precision, module in found]
    with ThreadPoolExecutor(2) as pool:
        usages = most(usage for usages in pool.map(lambda job: measure(*job), jobs) for usage in usages)
    print(report(usages))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(usage) for usage in usages], indent=1) + "\n")
    failures = [
        usage
        for usage in usages
        if usage.kernel.startswith(NO_STACK) and usage.kernel != SELDOM and usage.kind not in MORE_THAN_THREE
        if usage.stack or usage.spills
    ]
    for usage in failures:
        print(
            f"{usage.kernel} ({usage.kind}) has a stack of {usage.stack} bytes, {usage.spills} of them spills: "
            f"{usage.target}, {usage.precision}"
        )
    print(f"{len({u.kernel for u in usages})} kernels, {len(jobs)} modules, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
