# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Instructions on integers, bits and predicates. A uniform instruction does the same as the one without U."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .sass import Operand
from .values import LOW, MASK, Array, Builder, Getter, Lanes, low_half, signed

Execute = Callable[[Lanes], None]
Build = Callable[[Builder], Execute]
BUILDS: dict[str, Build] = {}
ONE = np.uint64(1)


def builds(*names: str) -> Callable[[Build], Build]:
    """Registers a function that makes what executes instructions of these names, and of their uniform forms."""

    def register(build: Build) -> Build:
        for name in names:
            BUILDS[name] = BUILDS["U" + name] = build
        return build

    return register


def is_predicate(operand: Operand) -> bool:
    """Whether it is a predicate, of a thread or of a warp."""
    return operand.kind in ("P", "UP")


def with_predicates(b: Builder) -> tuple[Operand, list[Operand], list[Operand], list[Operand]]:
    """The result, the predicates that are set, the sources, and the predicates that are read."""
    result, *rest = b.operands
    outs: list[Operand] = []
    while rest and is_predicate(rest[0]):
        outs.append(rest.pop(0))
    sources = [operand for operand in rest if not is_predicate(operand)]
    return result, outs, sources, [operand for operand in rest if is_predicate(operand)]


def _carries(b: Builder, operands: list[Operand]) -> Getter:
    getters = [b.predicate(operand) for operand in operands]

    def get(lanes: Lanes) -> Array:
        total = np.uint64(0)
        for each in getters:
            total = total + each(lanes).astype(np.uint64)
        return total

    return get


@builds("IADD3")
def build_sum(b: Builder) -> Execute:
    """With carries: IADD3 R0, P0, R1, R2, R3, and IADD3.X R4, R5, R6, R7, P0, !PT."""
    result, outs, sources, ins = with_predicates(b)
    put, put_carries = b.to_u32(result), [b.to_predicate(out) for out in outs]
    is_extended = b.instruction.has("X")
    get = [b.summand(s) if not is_extended or not s.negated else b.u32(s) for s in sources]
    carry = _carries(b, ins if is_extended else [])

    def execute(lanes: Lanes) -> None:
        total = carry(lanes)
        for each in get:
            total = total + each(lanes)
        put(lanes, low_half(total))
        for least, put_carry in enumerate(put_carries, 1):
            put_carry(lanes, (total >> LOW) >= np.uint64(least))

    return execute


@builds("VIADD")
def build_short_sum(b: Builder) -> Execute:
    """VIADD R0, R1, R2"""
    put, x, y = b.to_u32(b.operands[0]), b.u32(b.operands[1]), b.u32(b.operands[2])
    return lambda lanes: put(lanes, x(lanes) + y(lanes))


@builds("IMAD")
def build_product(b: Builder) -> Execute:
    """a * b + c: the lower half, .HI the upper half, .WIDE both."""
    result, outs, sources, ins = with_predicates(b)
    is_unsigned, is_wide, is_high = (b.instruction.has(m) for m in ("U32", "WIDE", "HI"))
    x, y = b.u32(sources[0]), b.u32(sources[1])
    carry = _carries(b, ins)
    put_carries = [b.to_predicate(out) for out in outs]
    if is_wide or is_high:
        z = b.u64(sources[2], signed_immediate=not is_unsigned)
        put = b.to_u64(result) if is_wide else b.to_u32(result)

        def execute_wide(lanes: Lanes) -> None:
            if is_unsigned:
                product = x(lanes).astype(np.uint64) * y(lanes).astype(np.uint64)
            else:
                product = (signed(x(lanes)) * signed(y(lanes))).view(np.uint64)
            added = z(lanes)
            total = product + added
            put(lanes, total if is_wide else (total >> LOW).astype(np.uint32))
            for put_carry in put_carries:
                put_carry(lanes, total < product)

        return execute_wide
    z32, put32 = b.summand(sources[2]), b.to_u32(result)

    def execute(lanes: Lanes) -> None:
        product = x(lanes).astype(np.uint64) * y(lanes).astype(np.uint64) & MASK
        total = product + z32(lanes) + carry(lanes)
        put32(lanes, low_half(total))
        for put_carry in put_carries:
            put_carry(lanes, total > MASK)

    return execute


@builds("LEA")
def build_address(b: Builder) -> Execute:
    """(a << s) + b, and .HI: the upper half of ({c, a} << s), and b."""
    result, outs, sources, ins = with_predicates(b)
    put, put_carries, carry = b.to_u32(result), [b.to_predicate(out) for out in outs], _carries(b, ins)
    x, y = b.summand(sources[0]), b.summand(sources[1])
    shift = np.uint64(sources[-1].number)
    is_high = b.instruction.has("HI")
    upper = b.u32(sources[2]) if len(sources) == 4 else None
    extends_sign = b.instruction.has("SX32")

    def execute(lanes: Lanes) -> None:
        value = x(lanes)
        if is_high:
            if extends_sign:
                value = value.astype(np.uint32).view(np.int32).astype(np.int64).view(np.uint64)
            elif upper is not None:
                value = value & MASK | upper(lanes).astype(np.uint64) << LOW
            value = value << shift >> LOW
        else:
            value = value << shift & MASK
        total = (value & MASK) + y(lanes) + carry(lanes)
        put(lanes, low_half(total))
        for put_carry in put_carries:
            put_carry(lanes, total > MASK)

    return execute


def _table(table: int, values: list[Array], ones: Array) -> Array:
    """Each bit of the result from a table of 8 bits, by the bits of three values."""
    result = ones & ~ones
    for index in range(8):
        if table >> index & 1:
            term = ones
            for position, value in enumerate(values):
                term = term & (value if index >> (2 - position) & 1 else ~value)
            result = result | term
    return result


@builds("LOP3")
def build_logic(b: Builder) -> Execute:
    """LOP3.LUT P0, R0, R1, R2, R3, table, !PT"""
    operands = list(b.operands)
    put_predicate = b.to_predicate(operands.pop(0)) if is_predicate(operands[0]) else None
    put = b.to_u32(operands[0])
    get = [b.u32(operand) for operand in operands[1:4]]
    table = operands[4].number
    also = b.predicate(operands[5])

    def execute(lanes: Lanes) -> None:
        x = [each(lanes) for each in get]
        if table == 0xC0:
            value = x[0] & x[1]
        elif table == 0xFC:
            value = x[0] | x[1]
        elif table == 0x3C:
            value = x[0] ^ x[1]
        else:
            value = _table(table, x, np.uint32(0xFFFFFFFF))
        put(lanes, value)
        if put_predicate is not None:
            put_predicate(lanes, (value != 0) | also(lanes))

    return execute


@builds("PLOP3")
def build_predicate_logic(b: Builder) -> Execute:
    """PLOP3.LUT P0, P1, P2, P3, P4, table, table"""
    put = [b.to_predicate(operand) for operand in b.operands[:2]]
    get = [b.predicate(operand) for operand in b.operands[2:5]]
    tables = [operand.number for operand in b.operands[5:7]]

    def execute(lanes: Lanes) -> None:
        x = [each(lanes) for each in get]
        for each, table in zip(put, tables, strict=True):
            each(lanes, _table(table, x, np.bool_(True)))

    return execute


@builds("SHF")
def build_shift(b: Builder) -> Execute:
    """SHF.R.U32.HI R0, low, shift, high: of {high, low}, shifted, the upper or the lower half."""
    has = b.instruction.has
    put, low, shift, high = b.to_u32(b.operands[0]), *(b.u32(operand) for operand in b.operands[1:4])
    is_left, is_signed, wraps, takes_high = has("L"), has("S32") or has("S64"), has("W"), has("HI")

    def execute(lanes: Lanes) -> None:
        value = np.asarray(low(lanes).astype(np.uint64) | high(lanes).astype(np.uint64) << LOW)
        by = shift(lanes).astype(np.uint64)
        by = by & np.uint64(31) if wraps else np.minimum(by, np.uint64(63))
        if is_left:
            value = value << by
        elif is_signed:
            value = (value.view(np.int64) >> by.astype(np.int64)).view(np.uint64)
        else:
            value = value >> by
        put(lanes, low_half(value >> LOW if takes_high else value))

    return execute


@builds("MOV", "IMOV")
def build_move(b: Builder) -> Execute:
    """MOV R0, R1"""
    put, get = b.to_u32(b.operands[0]), b.u32(b.operands[1])
    return lambda lanes: put(lanes, get(lanes))


@builds("SEL")
def build_choice(b: Builder) -> Execute:
    """SEL R0, R1, R2, P0"""
    put, x, y, p = b.to_u32(b.operands[0]), b.u32(b.operands[1]), b.u32(b.operands[2]), b.predicate(b.operands[3])
    return lambda lanes: put(lanes, np.where(p(lanes), x(lanes), y(lanes)))


@builds("PRMT")
def build_permutation(b: Builder) -> Execute:
    """Four bytes, chosen from those of {c, a}; bit 3 of a choice takes the sign instead."""
    put, x, choice, y = b.to_u32(b.operands[0]), *(b.u32(operand) for operand in b.operands[1:4])
    if len(b.instruction.modifiers) > 0:
        raise b.unknown()

    def execute(lanes: Lanes) -> None:
        both = x(lanes).astype(np.uint64) | y(lanes).astype(np.uint64) << LOW
        chosen = choice(lanes).astype(np.uint64)
        result = np.uint64(0)
        for place in range(4):
            number = chosen >> np.uint64(4 * place) & np.uint64(15)
            byte = both >> (number & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
            result = result | np.where(number & np.uint64(8), sign, byte) << np.uint64(8 * place)
        put(lanes, result.astype(np.uint32))

    return execute


@builds("IMNMX", "VIMNMX", "VIADDMNMX")
def build_extremum(b: Builder) -> Execute:
    """The smaller one if the predicate holds, else the larger one; VIADDMNMX adds the first two before."""
    *values, last = b.operands[1:]
    put, get, least = b.to_u32(b.operands[0]), [b.u32(operand) for operand in values], b.predicate(last)
    adds, is_unsigned = b.instruction.opcode.endswith("VIADDMNMX"), b.instruction.has("U32")
    if b.instruction.has("RELU"):
        raise b.unknown()

    def execute(lanes: Lanes) -> None:
        x = [each(lanes) for each in get]
        if adds:
            x = [x[0] + x[1], x[2]]
        if not is_unsigned:
            x = [each.view(np.int32) for each in x]
        value = np.where(least(lanes), np.minimum(*x), np.maximum(*x))
        put(lanes, value if is_unsigned else value.view(np.uint32))

    return execute


COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "LT": lambda x, y: x < y,
    "LE": lambda x, y: x <= y,
    "GT": lambda x, y: x > y,
    "GE": lambda x, y: x >= y,
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
}
JOINS: dict[str, Callable[[Array, Array], Array]] = {
    "AND": lambda x, y: x & y,
    "OR": lambda x, y: x | y,
    "XOR": lambda x, y: x ^ y,
}


@builds("ISETP")
def build_comparison(b: Builder) -> Execute:
    """ISETP.GE.AND P0, P1, R1, R2, P2; .EX: upper halves, with what the lower ones gave in a last predicate."""
    compared, *_ = b.instruction.modifiers
    compare = COMPARISONS[compared]
    join = JOINS[next(m for m in b.instruction.modifiers if m in JOINS)]
    put, put_other = (b.to_predicate(operand) for operand in b.operands[:2])
    x, y, also = b.u32(b.operands[2]), b.u32(b.operands[3]), b.predicate(b.operands[4])
    lower = b.predicate(b.operands[5]) if b.instruction.has("EX") else None
    is_unsigned = b.instruction.has("U32")
    strict = COMPARISONS.get({"LE": "LT", "GE": "GT"}.get(compared, compared), compare)

    def execute(lanes: Lanes) -> None:
        p, q = x(lanes), y(lanes)
        if not is_unsigned:
            p, q = p.view(np.int32), q.view(np.int32)
        if lower is None:
            holds = compare(p, q)
        elif compared == "NE":
            holds = (p != q) | lower(lanes)
        elif compared == "EQ":
            holds = (p == q) & lower(lanes)
        else:
            holds = strict(p, q) | (p == q) & lower(lanes)
        put(lanes, join(holds, also(lanes)))
        put_other(lanes, join(~holds, also(lanes)))

    return execute


@builds("IABS")
def build_absolute(b: Builder) -> Execute:
    """IABS R0, R1"""
    put, x = b.to_u32(b.operands[0]), b.u32(b.operands[1])
    return lambda lanes: put(lanes, np.abs(x(lanes).view(np.int32)).view(np.uint32))


@builds("POPC")
def build_count(b: Builder) -> Execute:
    """How many bits are set."""
    put, x = b.to_u32(b.operands[0]), b.u32(b.operands[1])
    return lambda lanes: put(lanes, np.bitwise_count(x(lanes)).astype(np.uint32))


@builds("BREV")
def build_reversal(b: Builder) -> Execute:
    """Bits in reverse order."""
    put, x = b.to_u32(b.operands[0]), b.u32(b.operands[1])

    def execute(lanes: Lanes) -> None:
        value, result = x(lanes), np.uint32(0)
        for bit in range(32):
            result = result | (value >> np.uint32(bit) & np.uint32(1)) << np.uint32(31 - bit)
        put(lanes, result)

    return execute


@builds("FLO")
def build_highest(b: Builder) -> Execute:
    """The number of the highest bit that is set, or -1; .SH: from above."""
    put, x = b.to_u32(b.operands[0]), b.u32(b.operands[-1])
    shifts, is_unsigned = b.instruction.has("SH"), b.instruction.has("U32")
    if not is_unsigned:
        raise b.unknown()

    def execute(lanes: Lanes) -> None:
        value = x(lanes)
        highest = (np.frexp(value.astype(np.float64))[1] - 1).astype(np.int32)
        shown = np.where(value == 0, -1, 31 - highest if shifts else highest)
        put(lanes, shown.astype(np.int32).view(np.uint32))

    return execute


@builds("P2R")
def build_pack(b: Builder) -> Execute:
    """P2R R0, PR, R1, mask: predicates as bits, others from a register."""
    mask = b.operands[3].number
    put, rest = b.to_u32(b.operands[0]), b.u32(b.operands[2])
    bits = [(1 << n, b.predicate(Operand("P", n))) for n in range(7) if mask >> n & 1]

    def execute(lanes: Lanes) -> None:
        value = rest(lanes) & np.uint32(~mask & 0xFFFFFFFF)
        for bit, get in bits:
            value = value | np.where(get(lanes), np.uint32(bit), np.uint32(0))
        put(lanes, value)

    return execute


@builds("R2P")
def build_unpack(b: Builder) -> Execute:
    """R2P PR, R0, mask"""
    mask, get = b.operands[2].number, b.u32(b.operands[1])
    puts = [(np.uint32(1 << n), b.to_predicate(Operand("P", n))) for n in range(7) if mask >> n & 1]

    def execute(lanes: Lanes) -> None:
        value = get(lanes)
        for bit, put in puts:
            put(lanes, (value & bit) != 0)

    return execute
