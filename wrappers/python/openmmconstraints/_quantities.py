# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Numbers and Quantities at the border to C++ (called by the compiled wrapper)."""

from numbers import Real

from openmm import unit


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


def _unit(name: str):
    """A unit by the name of openmm.unit, or "per_" and such a name for its inverse."""
    return getattr(unit, name.removeprefix("per_")) ** (-1 if name.startswith("per_") else 1)


def _describe(expected) -> str:
    if expected.is_dimensionless():
        return "a number"
    return f"a number (in {expected}) or a Quantity that can be converted to {expected}"


def to_quantity(value: float, unit_name: str):
    """`value` as a Quantity in the unit `unit_name`."""
    return unit.Quantity(value, _unit(unit_name))
