# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Values of a length without a unit, which are nm and may have been meant as angstroms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from openmm import unit

from openmmconstraints._quantities import ask_for_angstroms, to_quantity
from openmmconstraints.freeenergy.coordinates import Coordinate

LENGTH = "nanometer"
#: Values beyond this times the present one may be angstroms,
FAR = 3
#: if a tenth of the nearest is the present one, but for this part of it. Others may be where a pull goes to.
NEAR = 0.3


def to_list(values: Any) -> Any:
    """Values that can be read several times."""
    is_whole = unit.is_quantity(values) or isinstance(values, str) or not isinstance(values, Iterable)
    return values if is_whole else list(values)


def are_plain(coordinate: Coordinate, values: Any) -> bool:
    """Whether these are lengths, and none has a unit."""
    return (
        coordinate.unit_name == LENGTH
        and not unit.is_quantity(values)
        and not any(unit.is_quantity(value) for value in values)
    )


def keep_unit(coordinate: Coordinate, values: Any, numbers: list[float]) -> list[Any]:
    """The numbers of these values; lengths that had a unit have one again, for whoever looks at plain ones. Angles have
    one in any case: plain ones were looked at, and beyond a turn they would be refused."""
    if coordinate.unit_name not in (LENGTH, "radian") or are_plain(coordinate, values):
        return numbers
    return [to_quantity(number, coordinate.unit_name) for number in numbers]


def require_nanometers(coordinate: Coordinate, values: Sequence[float], present: float | None) -> None:
    """Refuse plain lengths that must be angstroms.

    :param present: the coordinate's value at the start, nm; None: not known
    :raises ValueError: if all values are far longer, and a tenth of the nearest is close to it
    """
    nearest = min(values, default=0.0)
    if present is None or not nearest > FAR * present > 0 or abs(nearest / 10 - present) > NEAR * present:
        return
    raise ValueError(
        f"{coordinate.label}: {ask_for_angstroms(nearest)}At the positions it is {present:.4g} nm. Where "
        f"{nearest:g} nm is meant, give the unit: {nearest:g}*openmm.unit.nanometer."
    )
