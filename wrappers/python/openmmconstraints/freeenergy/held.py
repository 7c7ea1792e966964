# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Coordinates that a constraint of the System holds already."""

from __future__ import annotations

from typing import Any

import openmm as mm

from openmmconstraints.freeenergy.coordinates import BY_KIND, Coordinate
from openmmconstraints.inspection.kinds import NOUNS, interpolation_of
from openmmconstraints.inspection.numbering import (
    OF_A_FORCE,
    block_of,
    blocks_of,
    chosen_constraints,
    is_plain,
    place_of,
)
from openmmconstraints.wrapper import ConstraintForce


def to_coordinate(source: Any, given: Any) -> Coordinate:
    """A coordinate as it is, or the one that a constraint of a System holds, whose value the runs then set.

    :param source: the System, its XML, or a function that builds it
    :param given:  a Coordinate; or what addDihedral() and the like returned; or (force, "dihedral", 0); or (force, 0)
    :raises TypeError: if it is anything else, or no System is given that has the Force
    :raises ValueError: if the System has no such constraint, or it has no value of its own to be set
    """
    if isinstance(given, Coordinate):
        return given
    try:
        [one] = chosen_constraints(given, "freeenergy")
    except (TypeError, ValueError):
        one = 0
    if is_plain(one):
        raise TypeError(
            f"freeenergy: coordinate is one such as freeenergy.Distance(0, 1), or {OF_A_FORCE}, not {given!r}."
        )
    if not isinstance(source, mm.System):
        raise TypeError(
            "freeenergy: a constraint of a Force is one of a System, and here the System is given as "
            f"{'XML' if isinstance(source, str) else 'a function'}. Give the System itself, or a coordinate such as "
            "freeenergy.Distance(4, 8) and a System without a constraint on it."
        )
    block, index = block_of(blocks_of(source), place_of(source, one, "freeenergy"))
    if not isinstance(block.force, ConstraintForce):
        raise ValueError(
            f"freeenergy: constraint {index} of the {type(block.force).__name__} has no value that could be set. "
            "Derive from freeenergy.Coordinate, and give a System without the constraint."
        )
    if interpolation_of(block.force, block.kind, index)[0]:
        raise ValueError(
            f"freeenergy: {NOUNS[block.kind]} {index} interpolates with a Context parameter. Give a coordinate such "
            "as freeenergy.Distance(4, 8) and a System without a constraint on it."
        )
    periodic = block.force.usesPeriodicBoundaryConditions()
    further = {**block.further(index), "periodic": periodic, "held": (block.place, index)}
    return BY_KIND[block.kind](*block.entries(source, index), **further)
