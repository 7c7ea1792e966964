# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Instructions that read or write memory. Each notes what it accessed, for the times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .integers import Execute, builds
from .sass import RZ, URZ, Operand
from .values import Array, Builder, Getter, Lanes, Setter

SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
GLOBAL, SHARED, LOCAL, STRONG = "global", "shared", "local", "strong"
SPACES = {"G": GLOBAL, "S": SHARED, "L": LOCAL, "": GLOBAL}


def size_of(b: Builder) -> int:
    """Bytes that each lane accesses."""
    return next((SIZES[m] for m in b.instruction.modifiers if m in SIZES), 4)


def address_of(b: Builder, operand: Operand, space: str) -> Getter:
    """A function that gives addresses: bytes from the start of the space's memory."""
    is_wide = operand.is_wide and space == GLOBAL
    register = Operand("R", operand.number)
    base = (b.u64 if is_wide else b.u32)(register)
    has_uniform = operand.uniform != URZ
    uniform = (b.u64 if space == GLOBAL else b.u32)(Operand("UR", operand.uniform)) if has_uniform else None
    scale, offset = np.int64(operand.scale), np.int64(operand.offset)

    def get(lanes: Lanes) -> Array:
        value = base(lanes)
        at = value.view(np.int64) if is_wide else value.astype(np.int64)
        at = at * scale + offset
        if uniform is not None:
            at = at + uniform(lanes).astype(np.int64)
        if space == GLOBAL:
            at = at - lanes.machine.base
        at = np.broadcast_to(at, lanes.threads.shape)
        return lanes.machine.within(space, at, lanes.threads)

    return get


def _flatten(lanes: Lanes, space: str, at: Array) -> tuple[Array, Array]:
    """The memory of a space, and where these addresses are in it."""
    machine = lanes.machine
    if space == GLOBAL:
        return machine.memory, at
    if space == SHARED:
        return machine.shared, at + machine.block_of(lanes.threads) * machine.shared_size
    return machine.local, at + lanes.threads * machine.stack


def _check(b: Builder, lanes: Lanes, at: Array, memory: Array, size: int) -> None:
    if at.size and (at.min() < 0 or at.max() + size > memory.size):
        raise MemoryError(f"{b.instruction.text} leaves the memory")


def _note(b: Builder, lanes: Lanes, space: str, at: Array, size: int) -> None:
    lanes.machine.trace.access(b.instruction, space, lanes, at, size)


def _reach(b: Builder, lanes: Lanes, space: str, relative: Array, size: int) -> tuple[Array, Array]:
    """The memory and the places in it that an instruction accesses, which is noted."""
    memory, at = _flatten(lanes, space, relative)
    _check(b, lanes, at, memory, size)
    _note(b, lanes, space, relative, size)
    return memory, at


def _build_load(b: Builder, space: str) -> Execute:
    size, address = size_of(b), address_of(b, b.operands[-1], space)
    signs = b.instruction.has("S8") or b.instruction.has("S16")
    put = [b.to_u32(b.operands[0], word) for word in range(max(1, size // 4))]

    def execute(lanes: Lanes) -> None:
        memory, at = _reach(b, lanes, space, address(lanes), size)
        if size < 4:
            kind = {1: np.int8 if signs else np.uint8, 2: np.int16 if signs else np.uint16}[size]
            put[0](lanes, memory.view(kind).take(at // size).astype(np.int32).view(np.uint32))
            return
        words = memory.view(np.uint32)
        values = [words.take(at // 4 + word) for word in range(len(put))]
        for each, value in zip(put, values, strict=True):
            each(lanes, value)

    return execute


def _build_store(b: Builder, space: str) -> Execute:
    size, address = size_of(b), address_of(b, b.operands[0], space)
    source = b.operands[1]
    get = [b.u32(_next(source, word)) for word in range(max(1, size // 4))]

    def execute(lanes: Lanes) -> None:
        memory, at = _reach(b, lanes, space, address(lanes), size)
        if size < 4:
            kind = {1: np.uint8, 2: np.uint16}[size]
            memory.view(kind)[at // size] = get[0](lanes).astype(kind)
            return
        words = memory.view(np.uint32)
        for word, each in enumerate(get):
            words[at // 4 + word] = each(lanes)

    return execute


def _next(operand: Operand, word: int) -> Operand:
    return operand if operand.number == RZ or word == 0 else Operand("R", operand.number + word)


def _register(prefix: str, build: Callable[[Builder, str], Execute]) -> None:
    for letter, space in SPACES.items():
        builds(prefix + letter)(lambda b, space=space: build(b, space))


_register("LD", _build_load)
_register("ST", _build_store)


@builds("LDC")
def build_load_constant(b: Builder) -> Execute:
    """LDC.64 R0, c[0x0][0x210]"""
    words = max(1, size_of(b) // 4)
    if size_of(b) < 4:
        raise b.unknown()
    place = b.operands[1]
    parts: list[tuple[Setter, Getter]] = []
    for word in range(words):
        shifted = Operand("const", place.number, place.value + 4 * word, place.offset, uniform=place.uniform)
        parts.append((b.to_u32(b.operands[0], word), b.u32(shifted)))

    def execute(lanes: Lanes) -> None:
        values = [get(lanes) for _, get in parts]
        for (put, _), value in zip(parts, values, strict=True):
            put(lanes, value)

    return execute


ATOMIC: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": lambda old, value: old + value,
    "MIN": min,
    "MAX": max,
    "AND": lambda old, value: old & value,
    "OR": lambda old, value: old | value,
    "XOR": lambda old, value: old ^ value,
    "EXCH": lambda old, value: value,
}
KINDS = {"S32": np.int32, "U32": np.uint32, "64": np.uint64, "F32": np.float32, "F64": np.float64, "S64": np.int64}


def _build_atomic(b: Builder, space: str, returns: bool) -> Execute:
    modifiers = [m.split("_")[0] for m in b.instruction.modifiers]
    kind = next((KINDS[m] for m in ("F32", "F64", "S64", "64", "S32") if m in modifiers), np.uint32)
    operands = [operand for operand in b.operands if operand.kind not in ("P", "UP")]
    put = None
    if returns:
        result = operands.pop(0)
        put = (b.to_u64 if np.dtype(kind).itemsize == 8 else b.to_u32)(result)
    place, *sources = operands
    address = address_of(b, place, space)
    get = [(b.u64 if np.dtype(kind).itemsize == 8 else b.u32)(source) for source in sources]
    swaps = "CAS" in modifiers
    change = ATOMIC.get(next((m for m in modifiers if m in ATOMIC), ""))
    if change is None and not swaps:
        raise b.unknown()
    size = np.dtype(kind).itemsize
    bits = np.uint64 if size == 8 else np.uint32

    def execute(lanes: Lanes) -> None:
        memory, at = _reach(b, lanes, space, address(lanes), size)
        cells = memory.view(kind)
        values = [np.broadcast_to(np.asarray(each(lanes)).view(kind), at.shape) for each in get]
        olds = np.empty(at.shape, kind)
        for lane, cell in enumerate(at // size):  # in turn: they may have the same address
            olds[lane] = old = cells[cell]
            if change is not None:
                cells[cell] = change(old, values[0][lane])
            elif old == values[0][lane]:
                cells[cell] = values[1][lane]
        if put is not None:
            put(lanes, olds.view(bits))

    return execute


for _letter, _space in SPACES.items():
    builds("ATOM" + _letter)(lambda b, space=_space: _build_atomic(b, space, returns=True))
for _name in ("RED", "REDG"):
    builds(_name)(lambda b: _build_atomic(b, GLOBAL, returns=False))


# ---- other registers, and other lanes of the warp --------------------------------------------------------------------


def _special(name: str) -> Getter | None:
    return {
        "SR_TID.X": lambda lanes: lanes.machine.thread_in_block(lanes.threads).astype(np.uint32),
        "SR_CTAID.X": lambda lanes: lanes.machine.blocks[lanes.machine.block_of(lanes.threads)].astype(np.uint32),
        "SR_LANEID": lambda lanes: (lanes.threads & 31).astype(np.uint32),
        "SR_LTMASK": lambda lanes: (np.uint32(1) << (lanes.threads & 31).astype(np.uint32)) - np.uint32(1),
        "SR_EQMASK": lambda lanes: np.uint32(1) << (lanes.threads & 31).astype(np.uint32),
        "SR_CLOCKLO": lambda lanes: np.uint32(0),
        **{n: lambda lanes: np.uint32(0) for n in ("SRZ", "SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z")},
        "SR_CgaCtaId": lambda lanes: np.uint32(0),
    }.get(name)


@builds("S2R")
def build_special_register(b: Builder) -> Execute:
    """S2R R0, SR_TID.X"""
    get, put = _special(b.operands[1].name), b.to_u32(b.operands[0])
    if get is None:
        raise b.unknown()
    return lambda lanes: put(lanes, get(lanes))


@builds("S2UR")
def build_uniform_register(b: Builder) -> Execute:
    """S2UR UR0, SR_CTAID.X: the same for all lanes."""
    get, put = _special(b.operands[1].name), b.to_u32(b.operands[0])
    if get is None:
        raise b.unknown()
    return lambda lanes: put(lanes.as_uniform(), get(Lanes(lanes.machine, lanes.warps << 5, lanes.warps)))


@builds("CS2R")
def build_wide_register(b: Builder) -> Execute:
    """CS2R R0, SRZ: two registers, .32: one."""
    words = 1 if b.instruction.has("32") else 2
    put, get = [b.to_u32(b.operands[0], word) for word in range(words)], _special(b.operands[1].name)
    if get is None:
        raise b.unknown()

    def execute(lanes: Lanes) -> None:
        for each in put:
            each(lanes, get(lanes))

    return execute


def _by_warp(lanes: Lanes) -> tuple[Array, Array]:
    """Where the lanes of each warp begin, and its number; threads are in ascending order."""
    warps, starts = np.unique(lanes.threads >> 5, return_index=True)
    return starts, warps


@builds("R2UR")
def build_to_uniform(b: Builder) -> Execute:
    """The value of a warp's first lane."""
    put, get = b.to_u32(b.operands[0]), b.u32(b.operands[1])

    def execute(lanes: Lanes) -> None:
        starts, warps = _by_warp(lanes)
        values = np.broadcast_to(get(lanes), lanes.threads.shape)[starts]
        put(Lanes(lanes.machine, lanes.threads, warps, warps), values)

    return execute


@builds("REDUX")
def build_reduction(b: Builder) -> Execute:
    """REDUX.MIN.S32 UR0, R1: over the lanes of a warp."""
    modifiers = b.instruction.modifiers
    put, get = b.to_u32(b.operands[0]), b.u32(b.operands[1])
    kind = np.int32 if "S32" in modifiers else np.uint32
    functions = {"MIN": np.minimum, "MAX": np.maximum, "OR": np.bitwise_or, "XOR": np.bitwise_xor, "SUM": np.add}
    function = functions.get(modifiers[0] if modifiers else "AND", np.bitwise_and)

    def execute(lanes: Lanes) -> None:
        starts, warps = _by_warp(lanes)
        values = np.broadcast_to(get(lanes), lanes.threads.shape).view(kind)
        put(Lanes(lanes.machine, lanes.threads, warps, warps), function.reduceat(values, starts).view(np.uint32))

    return execute


def _ballot(lanes: Lanes, holds: Array) -> tuple[Array, Array, Array, Array]:
    """For each warp: the bits of lanes where it holds, and of all that take part; starts and numbers of warps."""
    starts, warps = _by_warp(lanes)
    bits = np.uint32(1) << (lanes.threads & 31).astype(np.uint32)
    some = np.add.reduceat(np.where(holds, bits, np.uint32(0)), starts)
    return some, np.add.reduceat(bits, starts), starts, warps


@builds("VOTE")
def build_vote(b: Builder) -> Execute:
    """VOTE.ANY R0, P0, P1; VOTEU sets a uniform register and predicate."""
    operands = list(b.operands)
    put = b.to_u32(operands.pop(0)) if operands[0].kind in ("R", "UR") else None
    put_predicate, get = b.to_predicate(operands[0]), b.predicate(operands[1])
    is_all, is_uniform = b.instruction.has("ALL"), b.instruction.opcode == "VOTEU"

    def execute(lanes: Lanes) -> None:
        some, all_lanes, _, warps = _ballot(lanes, np.broadcast_to(get(lanes), lanes.threads.shape))
        result = some == all_lanes if is_all else some != 0
        to = Lanes(lanes.machine, lanes.threads, warps, warps)
        if not is_uniform:
            each = np.searchsorted(warps, lanes.threads >> 5)
            to, some, result = lanes, some[each], result[each]
        if put is not None:
            put(to, some)
        put_predicate(to, result)

    return execute


builds("VOTEU")(build_vote)


@builds("SHFL")
def build_shuffle(b: Builder) -> Execute:
    """SHFL.IDX P0, R0, R1, lane, mask"""
    put_predicate, put = b.to_predicate(b.operands[0]), b.to_u32(b.operands[1])
    get, lane, limits = (b.u32(operand) for operand in b.operands[2:5])
    mode = b.instruction.modifiers[0]

    def execute(lanes: Lanes) -> None:
        own = (lanes.threads & 31).astype(np.int64)
        by, limit = lane(lanes).astype(np.int64), limits(lanes).astype(np.int64)
        clamp, segment = limit & 31, limit >> 8 & 31
        first = own & segment
        last = first | clamp & ~segment
        source = {
            "IDX": first | by & ~segment & 31,
            "BFLY": own ^ by,
            "UP": own - by,
            "DOWN": own + by,
        }[mode]
        valid = source >= last if mode == "UP" else source <= last
        source = np.where(valid, source, own)
        mine = np.broadcast_to(get(lanes), own.shape)
        place = np.searchsorted(lanes.threads, (lanes.threads & ~31) + source)
        place = np.minimum(place, own.size - 1)  # of a lane that does not take part anything comes
        put(lanes, mine[place])
        put_predicate(lanes, valid)

    return execute
