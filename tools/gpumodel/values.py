# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Operands as arrays: a value for each lane that executes an instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .sass import PT, RZ, URZ, Instruction, Operand, UnknownInstruction

if TYPE_CHECKING:
    from .machine import Machine

Array = Any  # of one value for each lane, or a scalar for all
MASK = np.uint64(0xFFFFFFFF)
LOW = np.uint64(32)


class Lanes:
    """Threads that execute an instruction together, of one or several warps.

    :ivar threads: their numbers in the grid
    :ivar warps: the warps that they belong to, each once
    :ivar uniform: the warp of each value: of each thread, or in a uniform instruction of each warp
    """

    __slots__ = ("machine", "threads", "uniform", "warps")

    def __init__(self, machine: Machine, threads: Array, warps: Array, uniform: Array | None = None) -> None:
        self.machine, self.threads, self.warps = machine, threads, warps
        self.uniform = threads >> 5 if uniform is None else uniform

    def where(self, condition: Array) -> Lanes:
        """Those of the lanes that meet a condition."""
        return Lanes(self.machine, self.threads[condition], self.warps)

    def as_uniform(self) -> Lanes:
        """For instructions that a warp executes once."""
        return Lanes(self.machine, self.threads, self.warps, self.warps)


Getter = Callable[[Lanes], Array]
Setter = Callable[[Lanes, Array], None]
Register = tuple[str, int]


class Builder:
    """Makes functions of an instruction's operands, and notes which registers these read and write."""

    def __init__(self, instruction: Instruction, constants: dict[int, np.ndarray]) -> None:
        self.instruction, self.constants = instruction, constants
        self.operands = instruction.operands
        self.reads: set[Register] = set()
        self.writes: set[Register] = set()

    def unknown(self) -> UnknownInstruction:
        """The exception for a form of the instruction that the model does not know."""
        return UnknownInstruction(f"the model does not know the instruction {self.instruction.text}")

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _raw(self, operand: Operand, word: int = 0) -> Getter:
        """32 bits without signs; word 1 is the upper half of a pair."""
        number = operand.number
        if operand.kind in ("R", "UR"):
            zero = RZ if operand.kind == "R" else URZ
            if number == zero:
                return lambda lanes: np.uint32(0)
            self.reads.add((operand.kind, number + word))
            if operand.kind == "R":
                return lambda lanes: lanes.machine.registers[number + word].take(lanes.threads)
            return lambda lanes: lanes.machine.uniform[number + word].take(lanes.uniform)
        if operand.kind == "imm":
            bits = np.uint32(operand.number >> (32 * word) & 0xFFFFFFFF)
            return lambda lanes: bits
        if operand.kind == "const":
            return self._constant(operand, word)
        raise self.unknown()

    def _constant(self, operand: Operand, word: int) -> Getter:
        bank = self.constants.get(operand.offset)
        if bank is None:
            raise self.unknown()
        place = int(operand.value) + 4 * word
        if operand.number == RZ and operand.uniform == URZ:
            bits = bank[place // 4]
            return lambda lanes: bits
        index = self.u32(Operand("R", operand.number)) if operand.number != RZ else None
        uniform = self.u32(Operand("UR", operand.uniform)) if operand.uniform != URZ else None

        def get(lanes: Lanes) -> Array:
            at = np.int64(place)
            for part in (index, uniform):
                if part is not None:
                    at = at + part(lanes).astype(np.int64)
            return bank.take(at // 4)

        return get

    def u32(self, operand: Operand) -> Getter:
        """An integer of 32 bits."""
        get = self._raw(operand)
        if operand.negated:
            return lambda lanes: np.negative(get(lanes))
        if operand.inverted:
            return lambda lanes: ~get(lanes)
        if operand.absolute:
            return lambda lanes: np.abs(get(lanes).view(np.int32)).view(np.uint32)
        return get

    def summand(self, operand: Operand) -> Getter:
        """An integer of 32 bits in 64, so that sums show their carry; -x is ~x + 1."""
        get = self._raw(operand)
        if operand.negated:
            return lambda lanes: (~get(lanes)).astype(np.uint64) + np.uint64(1)
        if operand.inverted:
            return lambda lanes: (~get(lanes)).astype(np.uint64)
        return lambda lanes: get(lanes).astype(np.uint64)

    def u64(self, operand: Operand, *, signed_immediate: bool = False) -> Getter:
        """A register pair."""
        low = self._raw(operand)
        if operand.kind == "imm":
            wide = np.uint64(operand.number & (0xFFFFFFFFFFFFFFFF if signed_immediate else 0xFFFFFFFF))
            return lambda lanes: wide
        high = self._raw(operand, 1)
        plain: Getter = lambda lanes: low(lanes).astype(np.uint64) | high(lanes).astype(np.uint64) << LOW  # noqa: E731
        if operand.negated:
            return lambda lanes: np.negative(plain(lanes))
        return plain

    def f32(self, operand: Operand) -> Getter:
        """A number in single precision."""
        if operand.kind == "float":
            constant = np.float32(operand.value)
            get: Getter = lambda lanes: constant  # noqa: E731
        else:
            raw = self._raw(operand)
            get = lambda lanes: raw(lanes).view(np.float32)  # noqa: E731
        return _signed(operand, get)

    def f64(self, operand: Operand) -> Getter:
        """A number in double precision."""
        if operand.kind == "float":
            constant = np.float64(operand.value)
            get: Getter = lambda lanes: constant  # noqa: E731
        elif operand.kind == "imm":  # the upper half
            bits = np.uint64((operand.number & 0xFFFFFFFF) << 32).view(np.float64)
            get = lambda lanes: bits  # noqa: E731
        else:
            low, high = self._raw(operand), self._raw(operand, 1)
            get = lambda lanes: (low(lanes).astype(np.uint64) | high(lanes).astype(np.uint64) << LOW).view(np.float64)  # noqa: E731
        return _signed(operand, get)

    def upper_half(self, operand: Operand) -> Getter:
        """A number in double precision whose lower half is zero."""
        raw = self._raw(operand)
        return _signed(operand, lambda lanes: np.asarray(raw(lanes).astype(np.uint64) << LOW).view(np.float64))

    def predicate(self, operand: Operand) -> Getter:
        """A predicate, or that it does not hold."""
        number = operand.number
        if number == PT:
            constant = np.bool_(not operand.negated)
            return lambda lanes: constant
        self.reads.add((operand.kind, number))
        if operand.kind == "P":
            get: Getter = lambda lanes: lanes.machine.predicates[number].take(lanes.threads)  # noqa: E731
        else:
            get = lambda lanes: lanes.machine.uniform_predicates[number].take(lanes.uniform)  # noqa: E731
        return (lambda lanes: ~get(lanes)) if operand.negated else get

    # ---- writing ---------------------------------------------------------------------------------------------------

    def to_u32(self, operand: Operand, word: int = 0) -> Setter:
        """Sets a register."""
        number = operand.number + word
        if operand.kind not in ("R", "UR"):
            raise self.unknown()
        if operand.number == (RZ if operand.kind == "R" else URZ):
            return lambda lanes, value: None
        self.writes.add((operand.kind, number))

        if operand.kind == "R":

            def put(lanes: Lanes, value: Array) -> None:
                lanes.machine.registers[number][lanes.threads] = value
        else:

            def put(lanes: Lanes, value: Array) -> None:
                lanes.machine.uniform[number][lanes.uniform] = value

        return put

    def to_u64(self, operand: Operand) -> Setter:
        """Sets a register pair."""
        low, high = self.to_u32(operand), self.to_u32(operand, 1)

        def put(lanes: Lanes, value: Array) -> None:
            low(lanes, (value & MASK).astype(np.uint32))
            high(lanes, (value >> LOW).astype(np.uint32))

        return put

    def to_f32(self, operand: Operand) -> Setter:
        """Sets a register to a number in single precision."""
        put = self.to_u32(operand)
        return lambda lanes, value: put(lanes, np.asarray(value, np.float32).view(np.uint32))

    def to_f64(self, operand: Operand) -> Setter:
        """Sets a register pair to a number in double precision."""
        put = self.to_u64(operand)
        return lambda lanes, value: put(lanes, np.asarray(value, np.float64).view(np.uint64))

    def to_predicate(self, operand: Operand) -> Setter:
        """Sets a predicate."""
        number = operand.number
        if number == PT:
            return lambda lanes, value: None
        self.writes.add((operand.kind, number))

        if operand.kind == "P":

            def put(lanes: Lanes, value: Array) -> None:
                lanes.machine.predicates[number][lanes.threads] = value
        else:

            def put(lanes: Lanes, value: Array) -> None:
                lanes.machine.uniform_predicates[number][lanes.uniform] = value

        return put


def _signed(operand: Operand, get: Getter) -> Getter:
    if operand.absolute and operand.negated:
        return lambda lanes: -np.abs(get(lanes))
    if operand.absolute:
        return lambda lanes: np.abs(get(lanes))
    if operand.negated:
        return lambda lanes: -get(lanes)
    return get


def signed(value: Array) -> Array:
    """An integer of 32 bits as one of 64 with its sign."""
    return value.view(np.int32).astype(np.int64)


def low_half(value: Array) -> Array:
    """The lower 32 bits of 64."""
    return (value & MASK).astype(np.uint32)
