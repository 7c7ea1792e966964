# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Instructions on floating-point numbers.

Fused products are summed in a longer type, so they are rounded as on a device but in rare cases. Denormal numbers are
kept, and directed rounding is to nearest, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .integers import BUILDS, COMPARISONS, JOINS, Execute, builds
from .values import LOW, Array, Builder, Lanes


@builds("FADD")
def build_sum(b: Builder) -> Execute:
    """FADD R0, R1, R2"""
    put, x, y = b.to_f32(b.operands[0]), b.f32(b.operands[1]), b.f32(b.operands[2])
    return lambda lanes: put(lanes, x(lanes) + y(lanes))


@builds("FMUL")
def build_product(b: Builder) -> Execute:
    """FMUL R0, R1, R2"""
    put, x, y = b.to_f32(b.operands[0]), b.f32(b.operands[1]), b.f32(b.operands[2])
    if any(m.startswith(("D", "M")) for m in b.instruction.modifiers):  # FMUL.D2: a scale
        raise b.unknown()
    return lambda lanes: put(lanes, x(lanes) * y(lanes))


@builds("FFMA")
def build_fused(b: Builder) -> Execute:
    """FFMA R0, R1, R2, R3"""
    put, (x, y, z) = b.to_f32(b.operands[0]), (b.f32(operand) for operand in b.operands[1:4])
    return lambda lanes: put(lanes, np.asarray(x(lanes).astype(np.float64) * y(lanes) + z(lanes)).astype(np.float32))


@builds("DADD")
def build_double_sum(b: Builder) -> Execute:
    """DADD R0, R2, R4"""
    put, x, y = b.to_f64(b.operands[0]), b.f64(b.operands[1]), b.f64(b.operands[-1])
    return lambda lanes: put(lanes, x(lanes) + y(lanes))


@builds("DMUL")
def build_double_product(b: Builder) -> Execute:
    """DMUL R0, R2, R4"""
    put, x, y = b.to_f64(b.operands[0]), b.f64(b.operands[1]), b.f64(b.operands[2])
    return lambda lanes: put(lanes, x(lanes) * y(lanes))


@builds("DFMA")
def build_double_fused(b: Builder) -> Execute:
    """DFMA R0, R2, R4, R6"""
    put, (x, y, z) = b.to_f64(b.operands[0]), (b.f64(operand) for operand in b.operands[1:4])
    return lambda lanes: put(lanes, np.asarray(x(lanes).astype(np.longdouble) * y(lanes) + z(lanes)).astype(np.float64))


def _build_extremum(b: Builder, double: bool) -> Execute:
    get, to = (b.f64, b.to_f64) if double else (b.f32, b.to_f32)
    put, x, y, least = to(b.operands[0]), get(b.operands[1]), get(b.operands[2]), b.predicate(b.operands[3])
    return lambda lanes: put(
        lanes,
        np.where(least(lanes), np.fmin(x(lanes), y(lanes)), np.fmax(x(lanes), y(lanes))),
    )


@builds("FMNMX")
def build_extremum(b: Builder) -> Execute:
    """The smaller one if the predicate holds, else the larger one."""
    return _build_extremum(b, double=False)


@builds("DMNMX")
def build_double_extremum(b: Builder) -> Execute:
    """The same in double precision."""
    return _build_extremum(b, double=True)


def _comparison(name: str) -> Callable[[Array, Array], Array]:
    """As LT, or LTU: that, or one is NaN."""
    if name in ("NAN", "NUM"):
        return lambda x, y: (np.isnan(x) | np.isnan(y)) == (name == "NAN")
    if name in ("MAX", "MIN"):  # whether the first one is the result
        better = COMPARISONS["GT" if name == "MAX" else "LT"]
        return lambda x, y: better(x, y) | np.isnan(y)
    compare = COMPARISONS[name[:2]]
    if name.endswith("U"):
        return lambda x, y: compare(x, y) | np.isnan(x) | np.isnan(y)
    return lambda x, y: compare(x, y) & ~(np.isnan(x) | np.isnan(y))


def _build_comparison(b: Builder, double: bool) -> Execute:
    get = b.f64 if double else b.f32
    name = b.instruction.modifiers[0]
    compare, join = _comparison(name), JOINS[next(m for m in b.instruction.modifiers if m in JOINS)]
    put, put_other = (b.to_predicate(operand) for operand in b.operands[:2])
    x, y, also = get(b.operands[2]), get(b.operands[3]), b.predicate(b.operands[4])

    def execute(lanes: Lanes) -> None:
        p, q = x(lanes), y(lanes)
        holds = compare(p, q)
        other = np.isnan(p) & np.isnan(q) if name in ("MAX", "MIN") else ~holds
        put(lanes, join(holds, also(lanes)))
        put_other(lanes, join(other, also(lanes)))

    return execute


@builds("FSETP")
def build_comparison(b: Builder) -> Execute:
    """FSETP.GT.AND P0, P1, R1, R2, P2"""
    return _build_comparison(b, double=False)


@builds("DSETP")
def build_double_comparison(b: Builder) -> Execute:
    """DSETP.GT.AND P0, P1, R2, R4, P2; .MAX and .MIN say which one is the result."""
    return _build_comparison(b, double=True)


@builds("FSEL")
def build_choice(b: Builder) -> Execute:
    """FSEL R0, R1, R2, P0"""
    put, x, y, p = b.to_f32(b.operands[0]), b.f32(b.operands[1]), b.f32(b.operands[2]), b.predicate(b.operands[3])
    return lambda lanes: put(lanes, np.where(p(lanes), x(lanes), y(lanes)))


@builds("FCHK")
def build_check(b: Builder) -> Execute:
    """Whether a quotient needs the slow path: exponents that are extreme."""
    put, x, y = b.to_predicate(b.operands[0]), b.f32(b.operands[1]), b.f32(b.operands[2])

    def execute(lanes: Lanes) -> None:
        p, q = np.abs(x(lanes)), np.abs(y(lanes))
        extreme = ~np.isfinite(p) | ~np.isfinite(q) | (q < 1e-37) | (q > 1e37) | (p < 1e-30) & (p > 0) | (p > 1e37)
        put(lanes, extreme)

    return execute


MUFU: dict[str, Callable[[Array], Array]] = {
    "RCP": lambda x: 1 / x,
    "RSQ": lambda x: 1 / np.sqrt(x),
    "SQRT": np.sqrt,
    "LG2": np.log2,
    "EX2": np.exp2,
    "SIN": lambda x: np.sin(2 * np.pi * x),  # FMUL has divided the angle before
    "COS": lambda x: np.cos(2 * np.pi * x),
    "TANH": np.tanh,
}


@builds("MUFU")
def build_special(b: Builder) -> Execute:
    """MUFU.RCP R0, R1; of a double, MUFU.RCP64H takes and gives the upper halves."""
    name, source = b.instruction.modifiers[0], b.operands[1]
    if name in ("RCP64H", "RSQ64H"):
        put, function = b.to_u32(b.operands[0]), MUFU[name[:3]]
        number = b.f64(source) if source.kind == "float" else b.upper_half(source)

        def execute(lanes: Lanes) -> None:
            value = np.asarray(function(np.asarray(number(lanes)))).view(np.uint64)
            put(lanes, (value >> LOW).astype(np.uint32))

        return execute
    put, get = b.to_f32(b.operands[0]), b.f32(source)
    special = MUFU.get(name)
    if special is None:
        raise b.unknown()
    return lambda lanes: put(lanes, special(get(lanes).astype(np.float64)))


@builds("HFMA2", "HADD2")
def build_constant(b: Builder) -> Execute:
    """-RZ * RZ + two numbers in half precision: compilers load constants so. Nothing else is known."""
    *sources, high, low = b.operands[1:]
    if any(each.number != 255 or each.kind != "R" for each in sources) or {high.kind, low.kind} != {"float"}:
        raise b.unknown()
    halves = np.array([low.value, high.value], np.float16).view(np.uint16).astype(np.uint32)
    value, put = halves[0] | halves[1] << np.uint32(16), b.to_u32(b.operands[0])
    return lambda lanes: put(lanes, value)


# ---- conversions -----------------------------------------------------------------------------------------------------


def _size(modifiers: tuple[str, ...], kinds: tuple[str, ...], otherwise: str) -> list[str]:
    return [m for m in modifiers if m in kinds] or [otherwise]


@builds("F2F")
def build_conversion(b: Builder) -> Execute:
    """F2F.F64.F32 R0, R2: to the first from the second."""
    to, of = [m for m in b.instruction.modifiers if m in ("F32", "F64")]
    get = (b.f64 if of == "F64" else b.f32)(b.operands[1])
    put = (b.to_f64 if to == "F64" else b.to_f32)(b.operands[0])
    return lambda lanes: put(lanes, get(lanes))


@builds("I2F", "I2FP")
def build_from_integer(b: Builder) -> Execute:
    """I2F.F64.S64 R0, R2"""
    modifiers = b.instruction.modifiers
    put = (b.to_f64 if "F64" in modifiers else b.to_f32)(b.operands[0])
    of = _size(modifiers, ("S64", "U64", "U32", "S32"), "S32")[0]
    if {"U8", "U16", "S8", "S16"} & set(modifiers):
        raise b.unknown()
    get = (b.u64 if of.endswith("64") else b.u32)(b.operands[1])
    kind = {"S64": np.int64, "U64": np.uint64, "U32": np.uint32, "S32": np.int32}[of]
    return lambda lanes: put(lanes, get(lanes).view(kind))


ROUNDINGS: dict[str, Callable[[Array], Array]] = {"TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil}


def _rounding(b: Builder) -> Callable[[Array], Array]:
    return next((ROUNDINGS[m] for m in b.instruction.modifiers if m in ROUNDINGS), np.rint)


@builds("F2I")
def build_to_integer(b: Builder) -> Execute:
    """F2I.S64.F64.TRUNC R0, R2; values that do not fit are clamped, NaN becomes 0."""
    modifiers, rounding = b.instruction.modifiers, _rounding(b)
    to = _size(modifiers, ("S64", "U64", "U32", "S32"), "S32")[0]
    get = (b.f64 if "F64" in modifiers else b.f32)(b.operands[1])
    put = (b.to_u64 if to.endswith("64") else b.to_u32)(b.operands[0])
    kind = {"S64": np.int64, "U64": np.uint64, "U32": np.uint32, "S32": np.int32}[to]
    bits = np.uint64 if to.endswith("64") else np.uint32
    least, most = np.longdouble(np.iinfo(kind).min), np.longdouble(np.iinfo(kind).max)

    def execute(lanes: Lanes) -> None:
        value = np.nan_to_num(rounding(get(lanes).astype(np.longdouble)), nan=0.0, posinf=np.inf, neginf=-np.inf)
        put(lanes, np.asarray(np.clip(value, least, most)).astype(kind).view(bits))

    return execute


@builds("FRND")
def build_rounding(b: Builder) -> Execute:
    """FRND.F64.FLOOR R0, R2"""
    double, rounding = b.instruction.has("F64"), _rounding(b)
    get, put = (b.f64, b.to_f64) if double else (b.f32, b.to_f32)
    x, to = get(b.operands[1]), put(b.operands[0])
    return lambda lanes: to(lanes, rounding(x(lanes)))


__all__ = ["BUILDS"]
