# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Conversion of Quantities to plain numbers for C++, and back. The compiled wrapper calls these functions."""

from collections.abc import Iterable
from math import isfinite, isinf, pi, radians, tau
from numbers import Real

import numpy
from openmm import unit

#: By which an angle may exceed pi: integrators take it for pi then (system/CollectConstraints.cpp).
ROUNDING = 1e-4


def to_number(value, unit_name: str, method: str, argument: str) -> float:
    """The plain number in the unit `unit_name` that `value` stands for.

    Raises
    ------
    TypeError
        if value is neither a number nor a Quantity of that dimension
    """
    expected = _unit(unit_name)
    method = method.removeprefix("new_")  # SWIG's name of a constructor
    if unit.is_quantity(value):
        if not value.unit.is_compatible(expected):
            raise TypeError(f"{method}: {argument} must be {_describe(expected)}, not a Quantity in {value.unit}")
        value = value.value_in_unit(expected)
    if not isinstance(value, Real):
        raise TypeError(f"{method}: {argument} must be {_describe(expected)}, not {type(value).__name__}")
    return float(value)


def require_radians(value, method: str, isDihedral: bool) -> None:
    """Refuse a plain number that can only be meant in degrees.

    Up to rounding, an angle in radians is at most pi, and a dihedral at most 2 pi. A Quantity has a unit, and may have
    any value.

    Raises
    ------
    ValueError
        if it is a plain number beyond pi, or 2 pi for a dihedral
    """
    if unit.is_quantity(value) or isinf(value):
        return
    value = float(value)
    if (abs(value) if isDihedral else value) > (tau if isDihedral else pi) + ROUNDING:
        raise ValueError(
            f"{method}: {value:g} radians? did you mean degrees? Plain numbers are radians: {value:g} degrees are "
            f"{radians(value):.6g}, or {value:g}*openmm.unit.degree."
        )


def ask_for_angstroms(value: float) -> str:
    """The beginning of a message about a plain number that is far too long for nm."""
    return (
        f"{value:g} nm? did you mean angstrom? Plain numbers are nm: {value:g} angstrom are {value / 10:.6g}, or "
        f"{value:g}*openmm.unit.angstrom. "
    )


def require_radians_per_picosecond(value, method: str) -> None:
    """Refuse a plain number for the rate of an angle that must be meant in degrees: more than half a turn in a ps. A
    Quantity has a unit, and may have any value; what is no number is left to others.

    Raises
    ------
    ValueError
        if it is a plain number beyond pi
    """
    if isinstance(value, Real) and isfinite(value) and abs(value) > pi + ROUNDING:
        raise ValueError(
            f"{method}: {value:g} rad/ps? did you mean degrees? Plain numbers are radians per picosecond: {value:g} "
            f"degrees per ps are {radians(value):.6g}, or {value:g}*openmm.unit.degree/openmm.unit.picosecond. A rate "
            "above pi takes its unit, openmm.unit.radian/openmm.unit.picosecond."
        )


def to_positions(value, method: str) -> list[float]:
    """Coordinates in nm, one after the other, of an (n, 3) array of numbers, of Quantities, or of both.

    Raises
    ------
    TypeError, ValueError
        if value is not of that shape, not of numbers or of another dimension than length
    """
    rows = [_in_nanometers(row, method) for row in _in_nanometers(value, method)]
    if not unit.is_quantity(value):
        rows = [[_length(x, method) for x in row] for row in rows]
    other = next((len(row) for row in rows if len(row) != 3), None)
    if other is not None:
        raise ValueError(f"{method}: positions must be of shape (n, 3): a row has {other} numbers")
    return numpy.array([tuple(row) for row in rows], dtype=float).ravel().tolist()


def _in_nanometers(value, method: str):
    """Positions or one position without a unit.

    Raises
    ------
    TypeError
        if it is a Quantity of another dimension, or not a list
    """
    if unit.is_quantity(value):
        if not value.unit.is_compatible(unit.nanometer):
            raise TypeError(f"{method}: positions must be lengths, not a Quantity in {value.unit}")
        value = value.value_in_unit(unit.nanometer)
    if isinstance(value, str) or not isinstance(value, Iterable):
        remedy = ": give its attribute, .positions." if hasattr(value, "positions") else ""
        raise TypeError(
            f"{method}: positions must be an array of shape (n, 3) or a Quantity of one, not {type(value).__name__}"
            f"{remedy}"
        )
    return value


def _length(value, method: str) -> float:
    return to_number(value, "nanometer", method, "each coordinate")


def _unit(name: str):
    """A unit from names of openmm.unit: "nanometer", "per_picosecond", "kilojoule_per_mole_per_nanometer"."""
    if hasattr(unit, name):
        return getattr(unit, name)
    numerator, _, denominator = name.rpartition("per_")
    return (getattr(unit, numerator.rstrip("_")) if numerator else unit.dimensionless) / getattr(unit, denominator)


def _describe(expected) -> str:
    if expected.is_dimensionless():
        return "a number"
    return f"a number (in {expected}) or a Quantity that can be converted to {expected}"


def to_quantity(value, unit_name: str):
    """`value` as a Quantity in the unit `unit_name`."""
    return unit.Quantity(value, _unit(unit_name))
