# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Executes a launch: all warps that stand at the same instruction together, by numpy.

Branches diverge and join within a warp as on a device: BSSY notes lanes in a barrier register, BSYNC waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import floats, memory  # noqa: F401
from .compiler import Kernel
from .integers import BUILDS, Execute
from .memory import GLOBAL, SHARED
from .sass import ENDS_BLOCK, INSTRUCTION_BYTES, Instruction, UnknownInstruction
from .trace import Trace
from .values import Array, Builder, Lanes

FAR = np.iinfo(np.int64).max
NOTHING_TO_DO = frozenset(["NOP", "MEMBAR", "ERRBAR", "CCTL", "DEPBAR", "NANOSLEEP", "CGAERRBAR"])
ARGUMENTS_SIZE = 4096 + 1024
STACK_AT = 0x28  # in constant bank 0
UNIFORM_RESULT = frozenset(["S2UR", "R2UR", "REDUX", "VOTEU"])  # of instructions that lanes execute


@dataclass(frozen=True)
class Launch:
    """What is executed, on a copy of the memory."""

    kernel: Kernel
    blocks: int
    threads: int
    dynamic_shared: int
    parameters: bytes
    memory: np.ndarray  # bytes
    base: int  # the address of the first one
    cooperative: bool = False
    sample: Sequence[int] | None = None  # blocks that are executed: all, unless they are given


@dataclass
class Operation:
    """An instruction, ready to be executed."""

    instruction: Instruction
    execute: Execute | None
    guard: Callable[[Lanes], Array] | None
    is_uniform: bool
    reads: frozenset
    writes: frozenset


def _refuse(b: Builder) -> Execute:
    """An unknown instruction raises an exception where it is reached."""

    def execute(lanes: Lanes) -> None:
        raise b.unknown()

    return execute


class Machine:
    """The state of all threads of a launch."""

    def __init__(self, launch: Launch, trace: Trace | None = None) -> None:
        kernel = launch.kernel
        self.launch, self.kernel = launch, kernel
        self.warps_of_block = (launch.threads + 31) // 32
        self.blocks = np.array(range(launch.blocks) if launch.sample is None else launch.sample)
        self.num_warps = self.blocks.size * self.warps_of_block
        threads = 32 * self.num_warps
        self.memory = launch.memory
        self.base = np.int64(launch.base)
        size = kernel.static_shared + launch.dynamic_shared
        self.shared_size = (size + 1024 + 15) // 16 * 16
        self.shared = np.zeros(self.blocks.size * self.shared_size, np.uint8)
        self.stack = kernel.stack
        self.local = np.zeros(threads * self.stack, np.uint8)
        self.trace = trace if trace is not None else Trace(launch.cooperative)
        self.constants = self._constants()
        self.operations = [self._prepare(instruction) for instruction in kernel.code.instructions]
        used = [number for o in self.operations for kind, number in o.reads | o.writes if kind == "R"]
        self.registers = np.zeros((max(used, default=0) + 1, threads), np.uint32)
        self.uniform = np.zeros((64, self.num_warps), np.uint32)
        self.predicates = np.zeros((8, threads), np.bool_)
        self.uniform_predicates = np.zeros((8, self.num_warps), np.bool_)
        # Of each warp: where it is, which lanes are there, which have not ended.
        self.place = np.zeros(self.num_warps, np.int64)
        self.spins = np.zeros(self.num_warps, np.bool_)
        in_warp = np.arange(32)[None, :] + 32 * (np.arange(self.num_warps) % self.warps_of_block)[:, None]
        self.active = in_warp < launch.threads
        self.live = self.active.copy()
        self.barriers = np.zeros((16, self.num_warps, 32), np.bool_)  # lanes that BSYNC waits for
        self.arrived = np.zeros((16, self.num_warps, 32), np.bool_)
        self.joins = np.zeros((16, self.num_warps), np.int64)  # where they go on
        self.pending: list[list[tuple[int, Array]]] = [[] for _ in range(self.num_warps)]
        self.synchronized: list[list[tuple[int, Array]]] = [[] for _ in range(self.num_warps)]
        self.at_barrier = np.zeros((self.num_warps, 32), np.bool_)
        self.after_barrier: list[list[tuple[int, Array]]] = [[] for _ in range(self.num_warps)]

    def _constants(self) -> dict[int, np.ndarray]:
        launch, bank = self.launch, np.zeros(ARGUMENTS_SIZE, np.uint8)
        bank[:24] = np.array([launch.threads, 1, 1, launch.blocks, 1, 1], np.uint32).view(np.uint8)
        bank[STACK_AT : STACK_AT + 4] = np.array([self.stack], np.uint32).view(np.uint8)
        start = self.kernel.parameters_at
        bank[start : start + len(launch.parameters)] = np.frombuffer(launch.parameters, np.uint8)
        banks = {0: bank.view(np.uint32)}
        for number, content in self.kernel.constants.items():
            padded = content + bytes(-len(content) % 4)
            banks[number] = np.frombuffer(padded, np.uint32)
        return banks

    def _prepare(self, instruction: Instruction) -> Operation:
        b = Builder(instruction, self.constants)
        guard = None if instruction.guard is None else b.predicate(instruction.guard)
        if instruction.opcode in NOTHING_TO_DO or instruction.opcode in ENDS_BLOCK:
            if instruction.opcode in ("RET", "BRX"):
                b.u32(instruction.operands[0])
            if instruction.opcode == "BRA" and len(instruction.operands) > 1:
                b.predicate(instruction.operands[0])
            return Operation(instruction, None, guard, False, frozenset(b.reads), frozenset())
        build = BUILDS.get(instruction.opcode)
        try:
            execute = _refuse(b) if build is None else build(b)
        except (IndexError, KeyError, StopIteration, UnknownInstruction, ValueError):
            execute = _refuse(b)
        name = instruction.opcode
        is_uniform = name.startswith("U") and name not in UNIFORM_RESULT
        return Operation(instruction, execute, guard, is_uniform, frozenset(b.reads), frozenset(b.writes))

    # ---- places ----------------------------------------------------------------------------------------------------

    def block_of(self, threads: Array) -> Array:
        """The blocks of threads, by their places among those that are executed."""
        return threads // (32 * self.warps_of_block)

    def thread_in_block(self, threads: Array) -> Array:
        """Their numbers in the block."""
        return threads % (32 * self.warps_of_block)

    def within(self, space: str, at: Array, threads: Array) -> Array:
        """Addresses, unless one leaves its space.

        :raises MemoryError: if so
        """
        limit = {GLOBAL: self.memory.size, SHARED: self.shared_size}.get(space, self.stack)
        if at.size and (at.min() < 0 or at.max() >= limit):
            raise MemoryError(f"{self.kernel.name}: address {at.min():#x} to {at.max():#x} of {space} memory")
        return at

    # ---- running ---------------------------------------------------------------------------------------------------

    def run(self) -> Trace:
        """Until all threads have ended.

        :raises RuntimeError: if threads wait for each other for ever
        """
        with np.errstate(all="ignore"):
            while True:
                waiting = np.where(self.spins, self.place + 2**40, self.place)
                least = int(waiting.min())
                if least == FAR or least >= FAR - 2**41:
                    break
                if least >= 2**40:  # only warps that read a flag again and again are left: another turn
                    self.spins[:] = False
                    continue
                self._run_block(least, np.flatnonzero(waiting == least))
        if self.live.any():
            raise RuntimeError(f"{self.kernel.name}: threads wait for each other for ever")
        return self.trace

    def _run_block(self, start: int, warps: Array) -> None:
        """Instructions up to the next that changes the control flow, or that others jump to."""
        threads = (warps[:, None] * 32 + np.arange(32))[self.active[warps]]
        lanes = Lanes(self, threads, warps)
        uniform = lanes.as_uniform()
        end, starts, spins = start, self.kernel.code.starts, False
        self.trace.begin(start, warps)
        while True:
            operation = self.operations[end]
            end += 1
            if operation.instruction.opcode in ENDS_BLOCK:
                self.trace.finish(end)
                self._control(operation, lanes)
                break
            spins |= operation.instruction.opcode in ("LDG", "LD") and operation.instruction.has("STRONG")
            if operation.execute is not None:
                of: Lanes | None = uniform if operation.is_uniform else lanes
                if operation.guard is not None:
                    of = self._guarded(operation, lanes, uniform if operation.is_uniform else lanes)
                if of is not None:
                    operation.execute(of)
            if end in starts:
                self.trace.finish(end)
                self.place[warps] = end
                break
        if spins:
            self.spins[warps] = True

    def _guarded(self, operation: Operation, lanes: Lanes, of: Lanes) -> Lanes | None:
        """Those that meet the guard, or none."""
        assert operation.guard is not None
        holds = np.asarray(operation.guard(of))
        if holds.all():
            return of
        if not holds.any():
            return None
        holds = np.broadcast_to(holds, of.uniform.shape)
        if operation.is_uniform:
            return Lanes(self, lanes.threads, of.warps[holds], of.warps[holds])
        return lanes.where(holds)

    # ---- control flow ----------------------------------------------------------------------------------------------

    def _control(self, operation: Operation, lanes: Lanes) -> None:
        instruction, warps = operation.instruction, lanes.warps
        chosen = np.zeros((self.num_warps, 32), np.bool_)
        holds = np.bool_(True) if operation.guard is None else operation.guard(lanes)
        if instruction.opcode == "BRA" and len(instruction.operands) > 1:
            b = Builder(instruction, self.constants)
            holds = holds & b.predicate(instruction.operands[0])(lanes)
        chosen.reshape(-1)[lanes.threads] = holds
        chosen = chosen[warps]
        getattr(self, f"_do_{instruction.opcode.lower()}", self._do_unknown)(instruction, warps, chosen)

    def _do_unknown(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        raise UnknownInstruction(f"the model does not know the instruction {instruction.text}")

    def _branch(self, warps: Array, chosen: Array, target: Array, following: int) -> None:
        """Chosen lanes go to the target, others on. Where a warp diverges, those that go on come first."""
        some, every = chosen.any(1), (chosen == self.active[warps]).all(1)
        self.place[warps] = np.where(some & every, target, following)
        for k in np.flatnonzero(some & ~every):
            warp = warps[k]
            to = target if np.ndim(target) == 0 else target[k]
            self.pending[warp].append((int(to), chosen[k].copy()))
            self.active[warp] &= ~chosen[k]

    def _do_bra(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        self._branch(warps, chosen, np.int64(instruction.target), instruction.place + 1)

    _do_call = _do_bra  # the return address is in a register already

    def _do_ret(self, instruction: Instruction, warps: Array, chosen: Array, added: int = 0) -> None:
        register = instruction.operands[0].number
        addresses = self.registers[register].reshape(-1, 32)[warps].astype(np.int64) + added
        places = addresses // INSTRUCTION_BYTES
        self.place[warps] = instruction.place + 1  # of those of which no lane is chosen
        for value in np.unique(places[chosen]):
            self._branch(warps, chosen & (places == value), np.int64(value), instruction.place + 1)
            warps, chosen, places = self._left(warps, chosen, places, value)

    def _do_brx(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        following = INSTRUCTION_BYTES * (instruction.place + 1)
        self._do_ret(instruction, warps, chosen, following + instruction.operands[1].number)

    def _left(self, warps: Array, chosen: Array, places: Array, value: int) -> tuple[Array, Array, Array]:
        rest = chosen & (places != value)
        some = rest.any(1)
        return warps[some], rest[some], places[some]

    def _do_exit(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        self.place[warps] = instruction.place + 1
        self.active[warps] &= ~chosen
        self.live[warps] &= ~chosen
        for warp in warps[~self.active[warps].any(1)]:
            self._next_path(warp)

    def _do_bssy(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        number = instruction.operands[0].number
        self.barriers[number, warps] = self.active[warps]
        self.arrived[number, warps] = False
        self.joins[number, warps] = instruction.target
        self.place[warps] = instruction.place + 1

    def _do_bsync(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        number = instruction.operands[0].number
        arrived = self.arrived[number, warps] | chosen
        done = (arrived == (self.barriers[number, warps] & self.live[warps])).all(1)
        self.arrived[number, warps] = np.where(done[:, None], False, arrived)
        self.active[warps] = np.where(done[:, None], arrived, self.active[warps] & ~chosen)
        self.place[warps] = np.where(done, self.joins[number, warps], instruction.place + 1)
        for warp in warps[~self.active[warps].any(1)]:
            self._next_path(warp)

    def _do_break(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        self.barriers[instruction.operands[0].number, warps] &= ~chosen
        self.place[warps] = instruction.place + 1

    def _do_yield(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        self.place[warps] = instruction.place + 1

    def _do_warpsync(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        """Waits for lanes of the warp that take another path: all of them, as compilers use it."""
        for warp in warps:
            if (self.active[warp] == self.live[warp]).all():
                self.place[warp] = instruction.place + 1
                continue
            # The others run first; they come here, or wait elsewhere.
            self.synchronized[warp].append((instruction.place + 1, self.active[warp].copy()))
            self._next_path(warp)

    def _do_bar(self, instruction: Instruction, warps: Array, chosen: Array) -> None:
        if instruction.modifiers[0] != "SYNC":
            self._do_unknown(instruction, warps, chosen)
        for warp in warps:
            self.at_barrier[warp] |= self.active[warp]
            self.after_barrier[warp].append((instruction.place + 1, self.active[warp].copy()))
            self.active[warp] = False
            self._next_path(warp)

    def _release_block(self, block: int) -> None:
        """Let the warps of a block go on, if all have arrived."""
        warps = np.arange(block * self.warps_of_block, (block + 1) * self.warps_of_block)
        if (self.at_barrier[warps] != self.live[warps]).any() or not self.at_barrier[warps].any():
            return
        self.trace.release(warps[self.live[warps].any(1)])
        for warp in warps[self.at_barrier[warps].any(1)]:
            self.pending[warp] += self._merged(self.after_barrier[warp])
            self.after_barrier[warp] = []
            self.at_barrier[warp] = False
            self._next_path(warp)

    @staticmethod
    def _merged(paths: list[tuple[int, Array]]) -> list[tuple[int, Array]]:
        """Lanes at the same place become one path."""
        lanes: dict[int, Array] = {}
        for place, mask in paths:
            lanes[place] = lanes.get(place, False) | mask
        return list(lanes.items())

    def _next_path(self, warp: int) -> None:
        """Another part of a warp goes on: one that diverged, or one that waited for those that have ended."""
        while self.pending[warp]:
            place, mask = self.pending[warp].pop()
            if (mask & self.live[warp]).any():
                self.place[warp], self.active[warp] = place, mask & self.live[warp]
                return
        for number in range(16):
            waiting = self.arrived[number, warp]
            if waiting.any() and (waiting == (self.barriers[number, warp] & self.live[warp])).all():
                self.place[warp], self.active[warp] = self.joins[number, warp], waiting.copy()
                self.arrived[number, warp] = False
                return
        if self.synchronized[warp]:
            self.pending[warp] = self._merged(self.synchronized[warp])
            self.synchronized[warp] = []
            self._next_path(warp)
            return
        self.active[warp] = False
        self.place[warp] = FAR - 2**41
        self._release_block(int(warp) // self.warps_of_block)
