# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A step of an integrator on a device: recorded on the emulator, then executed and timed launch by launch."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from . import recording, timeline
from .compiler import Kernel, compile_recorded
from .constants import GPUS, Gpu
from .machine import Launch
from .timing import Timing, time_launch

ROOT = Path(__file__).resolve().parents[2]
INTEGRATORS = ("Rattle", "RattleLangevin", "Shake", "Verlet", "LangevinMiddle", "ReplacedLangevinMiddle")
FORCES = ("clear", "computeBondedForces")  # kernels of the step that are no part of motion or constraints
MOST_COPIES = 7  # that are recorded and executed
LEAST, MOST = 1e-9, 1e6  # absolute values of positions, velocities and forces that are compared


@dataclass(frozen=True)
class Case:
    """What is timed."""

    system: str  # or "dhfr x 4": so many copies side by side, of whose blocks some are executed; or as mixture_of()
    constraints: str  # or as bonds_and_others_of()
    integrator: str
    gpu: str


@dataclass
class Row:
    """Launches of one kernel in a step; numbers are those of the longest one, times are summed up."""

    kernel: str
    blocks: int
    threads: int
    launches: int
    microseconds: float
    instructions: int
    fp64: int
    barriers: int
    sectors: int
    chain: int


@dataclass
class Result:
    """A step besides forces."""

    case: Case
    total: float  # µs, with launches and waits
    launches: int
    waits: int
    rows: list[Row] = field(default_factory=list)
    changed: int = 0  # words that the emulator's launches changed
    different: int = 0  # those that are not the same, bit for bit
    deviation: float = 0.0  # the largest, of numbers in double precision

    def as_dict(self) -> dict:
        """For a file."""
        return asdict(self)


def copies_of(system: str) -> tuple[str, int]:
    """What a system consists of, and how many copies of it."""
    name, _, copies = system.partition(" x ")
    return name, int(copies or 1)


def share_of(gpu: Gpu, copies: int) -> tuple[int, int]:
    """Of many copies, which are all alike, how many are executed, and on how many multiprocessors: their share."""
    sample = min(copies, MOST_COPIES)
    return sample, round(gpu.multiprocessors * sample / copies)


def part_of(gpu: Gpu, multiprocessors: int) -> Gpu:
    """Some multiprocessors of a device, with their share of L2."""
    read, write = (each * multiprocessors // gpu.multiprocessors for each in (gpu.l2_read, gpu.l2_write))
    return replace(gpu, multiprocessors=multiprocessors, l2_read=read, l2_write=write)


def mixture_of(system: str) -> tuple[list[tuple[str, int]], int]:
    """Molecules side by side and their numbers, and the part of the device that they are executed on.

    "villin + polyethylene:44 x 75 / 4" stands for four times as many molecules on the whole device.
    """
    molecules, _, share = system.partition(" / ")
    return [copies_of(molecule) for molecule in molecules.split(" + ")], int(share or 1)


def bonds_and_others_of(constraints: str) -> tuple[str, list[int]]:
    """What "AllBonds+10+5+2" holds besides bonds: ten angles and dihedrals, five expressions, two rigid bodies."""
    bonds, *others = constraints.split("+")
    return bonds, [int(count) for count in [*others, "0", "0", "0"][:3]]


def stem_of(folder: Path, name: str, constraints: str) -> Path:
    """The input's files, without what they end with."""
    return folder / f"{name.replace(':', '_')}-{constraints}"


def write_inputs(folder: Path, systems: list[str], constraints: list[str]) -> None:
    """Systems with the positions and velocities of a run at 300 K; see openmmconstraints/benchmark/inputs.py."""
    folder.mkdir(parents=True, exist_ok=True)
    names = dict.fromkeys(name for system in systems for name, _ in mixture_of(system)[0])
    bonds = dict.fromkeys(bonds_and_others_of(one)[0] for one in constraints)
    wanted = [(s, c) for s in names for c in bonds if not Path(f"{stem_of(folder, s, c)}.0.state.xml").exists()]
    for system, one in wanted:
        command = [sys.executable, "-m", "openmmconstraints", "benchmark", "--write-input", str(folder)]
        subprocess.run([*command, "--systems", system, "--constraints", one], check=True, stdout=subprocess.DEVNULL)


def record(case: Case, molecules: list[tuple[str, int]], multiprocessors: int, build: Path, work: Path) -> Path:
    """Record a step of so many of each on the emulator, which has so many multiprocessors; returns the folder.

    :raises SystemExit: if the stand-ins are not built
    """
    gpu = GPUS[case.gpu]
    label = case.system.replace(" ", "").replace("/", "on")
    folder = work / "recorded" / f"{label}-{case.constraints}-{case.integrator}-{case.gpu}"
    cache = work / f"kernels-{gpu.architecture}"
    for each in (folder, cache):
        each.mkdir(parents=True, exist_ok=True)
    libraries = [build / "tests" / part for part in ("emulator/nvrtc", "calls/fakecuda", "calls/fakecufft")]
    if not all(library.is_dir() for library in libraries):
        raise SystemExit(f"{build} has no tests: cmake --build {build} --target fakecuda fakecufft emulatednvrtc")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "FAKECUDA_RECORD": str(folder),
        "FAKECUDA_CAPABILITY": gpu.architecture.removeprefix("sm_"),
        "FAKECUDA_MULTIPROCESSORS": str(multiprocessors),
        "EMULATOR_FLAGS": "-O1",
        **dict.fromkeys(("EMULATOR_CACHE", "OPENMM_CACHE_DIR", "TMPDIR"), str(cache)),
    }
    bonds, others = bonds_and_others_of(case.constraints)
    command = [sys.executable, "-m", "gpumodel.record", case.integrator, *map(str, others)]
    for name, copies in molecules:
        stem = stem_of(work / "inputs", name, bonds)
        command += [f"{stem}.system.xml", f"{stem}.0.state.xml", str(copies)]
    subprocess.run(command, check=True, env=environment, cwd=ROOT / "tools")
    return folder


def compare(result: Result, mine: np.ndarray, recorded: recording.Recorded, samples: bool) -> None:
    """Notes how well the executed memory agrees with the emulator's.

    :param samples: only some blocks were executed: what they have not changed is not compared
    """
    theirs = recorded.after()
    words, expected, before = (memory.view(np.uint32) for memory in (mine, theirs, recorded.before))
    changed, different = expected != before, words != expected
    if samples:
        changed = words != before
        different &= changed
    result.changed += int(changed.sum())
    result.different += int(different.sum())
    x, y = mine.view(np.float64), theirs.view(np.float64)
    with np.errstate(all="ignore"):
        there = (np.abs(y) > LEAST) & (np.abs(y) < MOST) & (x != y)
        if samples:
            there &= x != recorded.before.view(np.float64)
        result.deviation = max(result.deviation, float(np.abs(x - y)[there].max(initial=0.0)))


def run(case: Case, build: Path, work: Path) -> Result:
    """Record, execute and time a step."""
    molecules, divisor = mixture_of(case.system)
    multiprocessors = GPUS[case.gpu].multiprocessors // divisor
    samples = len(molecules) == 1 and " x " in case.system
    if samples:
        name, copies = molecules[0]
        copies, multiprocessors = share_of(GPUS[case.gpu], copies)
        molecules = [(name, copies)]
    gpu = part_of(GPUS[case.gpu], multiprocessors)
    cubins = work / "cubins"
    cubins.mkdir(parents=True, exist_ok=True)
    kernels: dict[Path, dict[str, Kernel]] = {}
    rows: dict[tuple, Row] = {}
    events: list[timeline.Event] = []
    result = Result(case, 0.0, 0, 0)
    for call in recording.read(record(case, molecules, multiprocessors, build, work)):
        if isinstance(call, str):
            events.append(timeline.Event(call.split()[0]))
            continue
        if call.kernel.startswith(FORCES):
            continue
        if call.source not in kernels:
            kernels[call.source] = compile_recorded(call.source, gpu.architecture, cubins)
        memory = call.before.copy()
        kernel = kernels[call.source][call.kernel]
        launch = Launch(
            kernel, call.blocks, call.threads, call.shared, call.parameters, memory, call.base, call.cooperative
        )
        timing = time_launch(launch, gpu, samples)
        compare(result, memory, call, samples and not call.cooperative)
        events.append(timeline.Event("launch", timing.microseconds))
        _add(rows, call, timing)
    while events and events[-1].what != "launch":  # the host waits at the end of step(n), not of each step
        events.pop()
    result.rows = list(rows.values())
    result.total = timeline.total(events)
    result.launches = sum(event.what == "launch" for event in events)
    result.waits = sum(event.what == "wait" for event in events)
    return result


def _add(rows: dict[tuple, Row], call: recording.Recorded, timing: Timing) -> None:
    key = (call.kernel, call.blocks, call.threads)
    row = rows.setdefault(key, Row(*key, 0, 0.0, 0, 0, 0, 0, 0))
    row.launches += 1
    row.microseconds += timing.microseconds
    for name in ("instructions", "fp64", "barriers", "sectors", "chain"):
        setattr(row, name, max(getattr(row, name), getattr(timing, name)))
