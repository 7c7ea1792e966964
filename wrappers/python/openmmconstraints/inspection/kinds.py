# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The kinds of constraints that Forces list, and how to read them from a ConstraintForce."""

from __future__ import annotations

from typing import Any, TypeAlias

import openmm as mm
from openmm import unit

from openmmconstraints.wrapper import ConstraintForce, CustomCentroidConstraintForce, CustomConstraintForce

#: A Force of this package.
Ours: TypeAlias = ConstraintForce | CustomConstraintForce | CustomCentroidConstraintForce

DISTANCE, ANGLE, DIHEDRAL, CENTROIDS, NUMBER, EXPRESSION, BODY = range(7)
#: What messages call them, and how many particles one has (0: any number).
NOUNS = ("distance", "angle", "dihedral", "centroid distance", "coordination number", "expression", "rigid body")
SIZES = (2, 3, 4, 0, 0, 0, 0)
#: The name of the Forces that moveConstraints(), constrain() and freeze() add (openmmapi/src/MoveConstraints.cpp).
MOVED_CONSTRAINTS = "MovedConstraints"
#: Kinds whose values are in radians, and in nm; coordination numbers have no unit.
ANGLES = (ANGLE, DIHEDRAL)
LENGTHS = (DISTANCE, CENTROIDS)
#: Kinds of groups of constraints: ConstraintGroup::Kind in openmmconstraints/Diagnosis.h.
REDUNDANT, STRAIGHT, FLAT, SPATIAL, ILL_CONDITIONED, RIGID = range(6)
#: Those of rigid bodies that distances and angles hold.
RECOGNIZED = (STRAIGHT, FLAT, SPATIAL)
#: What methods of ConstraintForce call those of its kinds that have a multiplier, in the order of getMultipliers().
METHODS = ("Distance", "Angle", "Dihedral", "CentroidDistance", "CoordinationNumber")
#: Names of the parameters that come after the target.
_FURTHER = {NUMBER: ("r0", "n", "m", "cutoff")}


def number_of(force: ConstraintForce, kind: int) -> int:
    """How many constraints of a kind a Force lists: getNumDistances(), ..."""
    return getattr(force, f"getNum{METHODS[kind]}s")()


def parameters_of(
    force: ConstraintForce, kind: int, index: int
) -> tuple[list[Any], unit.Quantity | float, dict[str, Any]]:
    """Of a constraint, by getDistanceParameters(), ...: its particles, or two groups of them; its target; and by name
    what else it has, as r0 of a coordination number."""
    values, names = getattr(force, f"get{METHODS[kind]}Parameters")(index), _FURTHER.get(kind, ())
    *entries, target = values[: len(values) - len(names)]
    return entries, target, dict(zip(names, values[len(values) - len(names) :], strict=True))


def constraint_of(force: ConstraintForce, kind: int, index: int) -> tuple[list[int], unit.Quantity | float]:
    """Particles and target of a constraint: getDistanceParameters(), ... Those of two groups come one after another."""
    entries, target, _ = parameters_of(force, kind, index)
    return [p for entry in entries for p in ([entry] if isinstance(entry, int) else entry)], target


def symbol_of(kind: int) -> str:
    """The unit of its values, "nm" or "rad"; "" if there is none."""
    return "rad" if kind in ANGLES else "nm" if kind in LENGTHS else ""


def motion_of(force: ConstraintForce, kind: int, index: int) -> tuple[unit.Quantity, unit.Quantity]:
    """Rate and start time of a constraint: getDistanceRate(), ..."""
    name = METHODS[kind]
    return getattr(force, f"get{name}Rate")(index), getattr(force, f"get{name}StartTime")(index)


def own_force(force: mm.Force) -> Ours | None:
    """A Force as what it is, if it is one of this package's."""
    return ConstraintForce.cast(force) if ConstraintForce.isinstance(force) else expression_force(force)


def expression_force(force: mm.Force) -> CustomConstraintForce | CustomCentroidConstraintForce | None:
    """A Force as what it is, if its constraints are given by an expression."""
    for kind in (CustomConstraintForce, CustomCentroidConstraintForce):
        if kind.isinstance(force):
            return kind.cast(force)
    return None


def particles_of(force: CustomConstraintForce | CustomCentroidConstraintForce, index: int) -> list[int]:
    """The particles of a constraint that an expression gives; those of groups each once, without those of weight 0."""
    points = force.getConstraintParameters(index)[0]
    if isinstance(force, CustomConstraintForce):
        return list(points)
    particles: dict[int, None] = {}  # in their order
    for group in points:
        if 0 <= group < force.getNumGroups():  # others are refused elsewhere
            members, weights = force.getGroupParameters(group)
            particles.update((p, None) for i, p in enumerate(members) if not weights or weights[i] != 0)
    return list(particles)


def weighted_by_mass(force: CustomConstraintForce | CustomCentroidConstraintForce, index: int) -> frozenset[int]:
    """Particles whose masses are their weights in a constraint that an expression gives."""
    if isinstance(force, CustomConstraintForce):
        return frozenset()
    groups = (g for g in force.getConstraintParameters(index)[0] if 0 <= g < force.getNumGroups())
    members = [force.getGroupParameters(g) for g in groups]
    return frozenset(p for particles, weights in members if not weights for p in particles)


def interpolation_of(force: ConstraintForce, kind: int, index: int) -> tuple[str, unit.Quantity | float]:
    """Context parameter ("": none) and target where it is 1 of a constraint: getDistanceInterpolation(), ..."""
    parameter, target1 = getattr(force, f"get{METHODS[kind]}Interpolation")(index)
    return parameter, target1


def default_of(force: ConstraintForce, parameter: str) -> float:
    """The default value of a Context parameter of a Force."""
    names = [force.getGlobalParameterName(i) for i in range(force.getNumGlobalParameters())]
    return force.getGlobalParameterDefaultValue(names.index(parameter))
