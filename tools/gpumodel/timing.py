# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How long a traced launch takes on a multiprocessor: warps issue in their order, as soon as operands are there.

Of blocks that do not wait for each other only those of one multiprocessor are timed, since all have the same to do. All
data are in L2 when a launch begins, and code comes from there line by line: both are assumptions.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field, replace

import numpy as np

from . import constants as c
from .constants import Gpu
from .machine import Launch, Machine, Operation
from .trace import Run, Trace


@dataclass
class Timing:
    """What is known of a launch on a device."""

    microseconds: float
    instructions: int  # of warps
    fp64: int
    barriers: int  # of the block that has most
    sectors: int
    chain: int  # dependent reads of global memory


@dataclass
class Cost:
    """What an instruction asks of a multiprocessor."""

    pipe: str
    interval: float  # cycles until the pipe takes another one
    latency: float
    kind: str = ""  # of memory
    reads: tuple = ()
    writes: tuple = ()


_SPECIAL = frozenset(["MUFU", "POPC", "FLO", "BREV", "F2I", "I2F", "F2F", "FRND"])
_FP32 = frozenset(["FADD", "FMUL", "FFMA", "HFMA2", "HADD2"])
_PREDICATES = frozenset(["ISETP", "FSETP", "PLOP3", "FCHK", "R2P"])
_ACROSS = frozenset(["S2R", "S2UR", "R2UR", "VOTE", "VOTEU", "REDUX", "CS2R", "P2R"])
_LOADS = {"LDG": "load", "LD": "load", "LDL": "load", "STG": "store", "ST": "store", "STL": "store"}
_ATOMICS = {"ATOMG": "atomic", "ATOM": "atomic", "RED": "store", "REDG": "store", "ATOMS": "shared"}


def is_double(operation: Operation) -> bool:
    """Whether the unit of double precision executes it."""
    return operation.instruction.opcode in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX")


def cost_of(operation: Operation, gpu: Gpu) -> Cost:
    """The cost of an instruction; of accesses to memory without what they depend on."""
    name, modifiers = operation.instruction.opcode, operation.instruction.modifiers
    quarter = 32 * c.SCHEDULERS
    cost = Cost("alu", quarter / gpu.integer, c.ALU_LATENCY)
    if is_double(operation):
        latency: float = gpu.fp64_latency + (c.PREDICATE_LATENCY - c.ALU_LATENCY if name == "DSETP" else 0)
        cost = Cost("fp64", quarter / gpu.fp64, latency)
    elif name in _SPECIAL:
        wide = any(m.endswith("64") for m in modifiers)
        throughput = gpu.conversion64 if wide else c.SPECIAL
        cost = Cost("special", quarter / throughput, max(c.SPECIAL_LATENCY, gpu.fp64_latency if wide else 0))
    elif name in _FP32 or name == "IMAD":
        pipe = gpu.fp32 if name in _FP32 else gpu.integer
        cost = Cost("fma", quarter / pipe, c.ALU_LATENCY)
    elif name in _PREDICATES:
        cost.latency = c.PREDICATE_LATENCY
    elif name in ("LDC", "ULDC"):
        cost = Cost("constant", 1, c.CONSTANT_LATENCY if name == "LDC" else c.UNIFORM_LATENCY)
    elif name in _ACROSS:
        cost = Cost("across", 2, c.TO_UNIFORM_LATENCY)
        if name in ("CS2R", "P2R"):
            cost.latency = c.ALU_LATENCY
    elif name == "SHFL":
        cost = Cost("lsu", 1, c.SHUFFLE_LATENCY)
    elif name in ("LDS", "STS"):
        cost = Cost("lsu", 1, gpu.shared, "shared")
    elif name in _ATOMICS:
        latency = c.SHARED_ATOMIC * gpu.shared if name == "ATOMS" else c.ATOMIC_LATENCY * gpu.l2
        cost = Cost("lsu", 1, latency, _ATOMICS[name])
    elif name in _LOADS:
        strong = "STRONG" in modifiers
        cost = Cost("lsu", 1, gpu.l2, "strong" if strong and _LOADS[name] == "load" else _LOADS[name])
    elif name == "MEMBAR":
        cost = Cost("lsu", 1, c.FENCE_LATENCY * gpu.l2 if "CTA" not in modifiers else gpu.l1, "fence")
    elif name == "CCTL" and "IVALL" in modifiers:
        cost = Cost("lsu", 1, c.ALU_LATENCY, "invalidate")
    elif name.startswith("U"):
        cost = Cost("uniform", 2, c.UNIFORM_LATENCY)
    cost.reads, cost.writes = tuple(operation.reads), tuple(operation.writes)
    return cost


@dataclass
class _Warp:
    number: int
    runs: list[Run]
    block: int
    multiprocessor: int
    scheduler: int
    run: int = 0
    place: int = 0
    issue: float = 0.0
    ready: dict = field(default_factory=dict)
    depth: dict = field(default_factory=dict)
    base: int = 0  # of dependent reads, by barriers
    deepest: int = 0
    last_store: float = 0.0
    arrival: float = 0.0  # when it began to wait for another one's write


def without_spins(runs: list[Run], warp: int) -> list[Run]:
    """A warp's runs without turns in which it read flags in vain: a device has another number of them.

    Lanes whose flag has come leave earlier than others. The last turn waits for their flags as well.
    """

    def words(run: Run) -> set[int]:
        return {word for of in run.waits.values() for word, _ in of.get(warp, [])}

    kept, i = [], 0
    while i < len(runs):
        run = runs[i]
        again = next(
            (
                j
                for j in range(i + 1, min(i + 6, len(runs)))
                if words(run) and runs[j].start == run.start and words(runs[j]) <= words(run)
            ),
            None,
        )
        between = runs[i:again]
        if again is not None and not any(r.is_barrier or any(warp in of for of in r.posts.values()) for r in between):
            last = runs[again]
            for place, of in run.waits.items():
                left = [version for version in of.get(warp, []) if version[0] not in words(last)]
                last.waits.setdefault(place, {}).setdefault(warp, []).extend(left)
            i = again
            continue
        kept.append(run)
        i += 1
    return kept


class Clock:
    """Runs the warps of some multiprocessors, event by event."""

    def __init__(self, machine: Machine, trace: Trace, gpu: Gpu) -> None:
        self.machine, self.trace, self.gpu = machine, trace, gpu
        self.costs = [cost_of(operation, gpu) for operation in machine.operations]
        self.free: dict[tuple, float] = {}
        #: When a sector of a multiprocessor is in L1; the first one was used longest ago.
        self.cache: dict[int, OrderedDict[int, float]] = defaultdict(OrderedDict)
        self.posted: dict[tuple, tuple[float, int]] = {}  # when a write is visible, and its chain
        self.parked: dict[tuple, list[_Warp]] = {}
        self.heap: list[tuple[float, int, _Warp]] = []
        self.barrier: dict[int, list[_Warp]] = {}
        self.alive: dict[int, int] = {}
        self.waiting_blocks: dict[int, list[int]] = {}
        self.started: dict[int, int] = defaultdict(int)  # warps, by multiprocessor: its schedulers take them in turn
        self.end = 0.0
        self.chain = 0
        self.capacity = 0  # sectors in L1
        self.lines: dict[tuple[int, int], float] = {}  # when code is there
        there = min(gpu.multiprocessors, machine.launch.blocks)
        self.read_bytes = min(c.L2_BYTES, gpu.l2_read / there)  # in a cycle
        self.write_bytes = min(c.L2_BYTES, gpu.l2_write / there)

    def resident(self) -> int:
        """Blocks that a multiprocessor takes at once. Registers of a warp are those of one scheduler.

        ptxas says so, too: where five blocks of two warps are to fit, a thread gets 168 of the 65,536, not 204.
        """
        machine, gpu = self.machine, self.gpu
        warps = machine.warps_of_block
        of_warp = max(1, (machine.kernel.registers + 7) // 8 * 8) * 32
        at_once = c.SCHEDULERS * (c.REGISTERS // c.SCHEDULERS // of_warp)
        shared = machine.kernel.static_shared + machine.launch.dynamic_shared + 1024
        limits = (at_once // warps, gpu.shared_kb * 1024 // shared, gpu.threads // (32 * warps), gpu.blocks)
        return max(1, min(limits))

    def run(self) -> float:
        """Cycles until the last warp has ended."""
        launch, at_once = self.machine.launch, self.resident()
        shared = self.machine.kernel.static_shared + launch.dynamic_shared
        there = min(at_once, -(-launch.blocks // self.gpu.multiprocessors))
        self.capacity = (self.gpu.cache_kb * 1024 - there * shared) // 32
        multiprocessors = self.gpu.multiprocessors if launch.cooperative else 1
        for m in range(min(multiprocessors, launch.blocks)):
            blocks = np.flatnonzero(self.machine.blocks % self.gpu.multiprocessors == m).tolist()
            self.waiting_blocks[m] = blocks[at_once:]
            for block in blocks[:at_once]:
                self._start(block, m, 0.0)
        while self.heap:
            time, _, warp = heapq.heappop(self.heap)
            self._step(warp, time)
        if any(self.alive.values()):
            raise RuntimeError(f"{self.machine.kernel.name}: warps wait for what the trace does not show")
        return self.end

    def _start(self, block: int, multiprocessor: int, time: float) -> None:
        per_block = self.machine.warps_of_block
        self.alive[block], self.barrier[block] = per_block, []
        for k in range(per_block):
            number = block * per_block + k
            runs = self.trace.runs.get(number, [])
            if self.machine.launch.cooperative:
                runs = without_spins(runs, number)
            scheduler = self.started[multiprocessor] % c.SCHEDULERS
            self.started[multiprocessor] += 1
            warp = _Warp(number, runs, block, multiprocessor, scheduler, issue=time)
            warp.place = runs[0].start if runs else 0
            self._push(warp, time)

    def _push(self, warp: _Warp, time: float) -> None:
        heapq.heappush(self.heap, (time, warp.number, warp))

    def _step(self, warp: _Warp, time: float) -> None:
        if warp.run >= len(warp.runs):
            self._finish(warp, time)
            return
        run = warp.runs[warp.run]
        if run.is_barrier:
            self._arrive(warp, time)
            return
        place = warp.place
        cost = self.costs[place]
        free, m = self.free, warp.multiprocessor
        earliest = warp.issue
        for register in cost.reads:
            earliest = max(earliest, warp.ready.get(register, 0.0))
        for register in cost.writes:
            earliest = max(earliest, warp.ready.get(register, 0.0))
        scheduler = (m, warp.scheduler)
        pipe = (m, cost.pipe) if cost.pipe == "lsu" or cost.interval > 32 else (m, warp.scheduler, cost.pipe)
        interval = cost.interval / c.SCHEDULERS if len(pipe) == 2 and cost.pipe != "lsu" else cost.interval
        earliest = max(earliest, free.get(scheduler, 0.0), free.get(pipe, 0.0), self._fetched(m, place, time))
        if earliest > time:
            self._push(warp, earliest)
            return
        for awaited in run.waits.get(place, {}).get(warp.number, ()):
            if awaited in self.trace.posted and awaited not in self.posted:
                self.parked.setdefault(awaited, []).append(warp)
                warp.arrival = warp.arrival or time
                return
        free[scheduler] = time + 1
        done, interval, depth = self._memory(warp, run, place, cost, time, interval)
        free[pipe] = time + interval
        for register in cost.writes:
            warp.ready[register] = done
            warp.depth[register] = depth
        warp.issue = time + 1
        warp.place = place + 1
        if warp.place == run.end:
            warp.run += 1
            if warp.run < len(warp.runs):
                following = warp.runs[warp.run]
                if not following.is_barrier:
                    if following.start != warp.place:
                        warp.issue = time + c.BRANCH_LATENCY
                    warp.place = following.start
        self._push(warp, warp.issue)

    def _fetched(self, multiprocessor: int, place: int, time: float) -> float:
        """When an instruction is there: all lines of a launch's code come from L2, each once, one after the other."""
        line = (multiprocessor, place // c.INSTRUCTIONS_OF_LINE)
        if line not in self.lines:
            begin = max(time, self.free.get((multiprocessor, "code"), 0.0))
            self.lines[line] = self.free[(multiprocessor, "code")] = begin + c.FETCH
        return self.lines[line]

    def _memory(
        self, warp: _Warp, run: Run, place: int, cost: Cost, time: float, interval: float
    ) -> tuple[float, float, int]:
        """When the result is there, how long the pipe is busy, and the length of the chain of reads."""
        depth = max([warp.depth.get(register, 0) for register in cost.reads], default=0)
        depth = max(depth, warp.base)
        if not cost.kind:
            return time + cost.latency, interval, depth
        if cost.kind == "fence":
            warp.issue = max(warp.last_store, time) + 1
            return time + cost.latency, interval, depth
        if cost.kind == "invalidate":  # after a fence: other multiprocessors may have written
            self.cache[warp.multiprocessor].clear()
            return time + cost.latency, interval, depth
        accessed = run.accesses.get(place, {}).get(warp.number)
        if accessed is None:  # no lane meets the guard
            return time + c.ALU_LATENCY, interval, depth
        if cost.kind == "shared":
            passes = accessed[0]
            return time + cost.latency + passes - 1, max(interval, passes), depth
        m, sectors = warp.multiprocessor, len(accessed)
        interval = max(interval, sectors / 4)
        port = self.free.get((m, "l2"), 0.0)
        if cost.kind in ("store", "atomic", "strong"):
            self.free[(m, "l2")] = max(port, time) + sectors * 32 / self.write_bytes
            done = max(port, time) + cost.latency
            warp.last_store = max(warp.last_store, done)
            if cost.kind == "atomic" and warp.arrival:  # it has waited in L2 for the one before
                time, done = warp.arrival, warp.arrival + cost.latency
            warp.arrival = 0.0
            there = time + cost.latency / 2
            if (awaited := run.waits.get(place, {}).get(warp.number)) is not None:
                visible, other = (
                    max(each) for each in zip(*(self.posted.get(key, (0.0, 0)) for key in awaited), strict=True)
                )
                there, done = max(there, visible), max(done, visible + self.gpu.l2 / 2)
                depth = max(depth, other) + 1
                warp.base = warp.deepest = max(warp.deepest, depth)  # what follows depends on it by control flow
            if (posts := run.posts.get(place, {}).get(warp.number)) is not None:
                self._post(posts, there, warp.deepest)
            return done, interval, depth
        done = time + self.gpu.l1
        cache = self.cache[m]
        for sector in accessed:
            arrival = cache.get(sector)
            if arrival is None:
                port = max(port, time) + 32 / self.read_bytes
                arrival = cache[sector] = port + self.gpu.l2
                if len(cache) > self.capacity:
                    cache.popitem(last=False)
            else:
                cache.move_to_end(sector)
            done = max(done, arrival)
        self.free[(m, "l2")] = port
        depth += 1
        warp.deepest = max(warp.deepest, depth)
        return done, interval, depth

    def _post(self, keys: list[tuple], time: float, depth: int) -> None:
        for key in keys:
            self.posted[key] = (time, depth)
            for warp in self.parked.pop(key, []):
                self._push(warp, time)

    def _arrive(self, warp: _Warp, time: float) -> None:
        self.barrier[warp.block].append(warp)
        warp.issue = max(time, warp.issue)
        self._release(warp.block)

    def _release(self, block: int) -> None:
        waiting = self.barrier[block]
        if not waiting or len(waiting) < self.alive[block]:
            return
        time = max(warp.issue for warp in waiting) + c.BARRIER_LATENCY
        deepest = max(warp.deepest for warp in waiting)
        self.barrier[block] = []
        for warp in waiting:
            warp.base = max(warp.base, deepest)
            warp.run += 1
            warp.issue = time
            if warp.run < len(warp.runs) and not warp.runs[warp.run].is_barrier:
                warp.place = warp.runs[warp.run].start
            self._push(warp, time)

    def _finish(self, warp: _Warp, time: float) -> None:
        self.end = max(self.end, time, warp.last_store, max(warp.ready.values(), default=0.0))
        self.chain = max(self.chain, warp.deepest)
        self.alive[warp.block] -= 1
        self._release(warp.block)
        waiting = self.waiting_blocks[warp.multiprocessor]
        if self.alive[warp.block] == 0 and waiting:
            self._start(waiting.pop(0), warp.multiprocessor, time)


def time_launch(launch: Launch, gpu: Gpu, samples: bool = False) -> Timing:
    """Execute a launch, which changes its memory, and find its time.

    :param samples: execute those blocks only that are timed, unless blocks wait for each other; the rest is alike
    """
    if samples and not launch.cooperative:
        launch = replace(launch, sample=range(0, launch.blocks, gpu.multiprocessors))
    machine = Machine(launch)
    share = machine.blocks.size / launch.blocks
    trace = machine.run()
    clock = Clock(machine, trace, gpu)
    cycles = clock.run()
    doubles = [is_double(operation) for operation in machine.operations]
    up_to = [0]
    for each in doubles:
        up_to.append(up_to[-1] + each)
    sectors = sum(
        len(of)
        for run, _ in trace.all
        for place, accesses in run.accesses.items()
        if machine.operations[place].instruction.opcode not in ("LDS", "STS", "ATOMS")
        for of in accesses.values()
    )
    return Timing(
        c.KERNEL_START + gpu.microseconds(cycles),
        round(sum((run.end - run.start) * warps for run, warps in trace.all) / share),
        round(sum((up_to[run.end] - up_to[run.start]) * warps for run, warps in trace.all) / share),
        max((sum(run.is_barrier for run in runs) for runs in trace.runs.values()), default=0),
        round(sectors / share),
        clock.chain,
    )
