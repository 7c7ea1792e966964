# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which constraint is meant: from what users give to its place in ConstraintIntegrator.getMultipliers()."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index as whole
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import openmm as mm

from openmmconstraints._constraint_index import ConstraintIndex, MultiplierIndex, require_same_count, same_force
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.kinds import (
    BODY,
    DISTANCE,
    EXPRESSION,
    METHODS,
    MOVED_CONSTRAINTS,
    NOUNS,
    Ours,
    constraint_of,
    number_of,
    own_force,
    parameters_of,
    particles_of,
)
from openmmconstraints.wrapper import ConstraintForce, ConstraintIntegrator


@runtime_checkable
class Found(Protocol):
    """A coordinate of freeenergy, which can tell the constraint that holds it."""

    def find_in(self, system: mm.System) -> int:
        """Its place in getMultipliers()."""


#: A constraint, as users give it.
Chosen: TypeAlias = int | ConstraintIndex | tuple[mm.Force, int] | tuple[mm.Force, str, int] | Found

#: How a constraint of a Force is given, for messages.
OF_A_FORCE = 'what addDistance(), addAngle(), ... returned, or (force, "angle", 0)'
_HOW = (
    f"Give {OF_A_FORCE}, (force, index), a coordinate such as freeenergy.Distance(4, 8), or an index in the order of "
    "getMultipliers()."
)


@dataclass(frozen=True)
class Block:
    """Constraints of one kind in one Force, or those of the System: they follow each other in getMultipliers()."""

    force: Ours | None  #: None: the System's own
    place: int  #: of the Force in the System; -1: the System's own
    kind: int
    first: int  #: where they begin
    size: int

    @property
    def is_moved(self) -> bool:
        """Whether these are the System's own, or were before a helper moved them."""
        return self.force is None or (self.kind == DISTANCE and self.force.getName() == MOVED_CONSTRAINTS)

    def entries(self, system: mm.System, index: int) -> list[Any]:
        """What one of them joins, as its Force lists it: particles, or groups of them."""
        if isinstance(self.force, ConstraintForce):
            return parameters_of(self.force, self.kind, index)[0]
        return self.particles(system, index)

    def further(self, index: int) -> dict[str, Any]:
        """What one of them has besides particles and a target, by name."""
        return parameters_of(self.force, self.kind, index)[2] if isinstance(self.force, ConstraintForce) else {}

    def particles(self, system: mm.System, index: int) -> list[int]:
        """Of one of them, by its index among them."""
        if self.force is None:
            return system.getConstraintParameters(index)[:2]
        if isinstance(self.force, ConstraintForce):
            return constraint_of(self.force, self.kind, index)[0]
        return particles_of(self.force, index)


def blocks_of(system: mm.System) -> list[Block]:
    """All constraints of a System, in the order of getMultipliers()."""
    blocks = [Block(None, -1, DISTANCE, 0, system.getNumConstraints())]

    def add(force: Any, place: int, kind: int, size: int) -> None:
        blocks.append(Block(force, place, kind, blocks[-1].first + blocks[-1].size, size))

    for place, force in enumerate(system.getForces()):
        own = own_force(force)
        if isinstance(own, ConstraintForce):
            for kind in range(len(METHODS)):
                add(own, place, kind, number_of(own, kind))
        elif own is not None:
            add(own, place, EXPRESSION, own.getNumConstraints())
    return blocks


def count_constraints(system: mm.System) -> int:
    """How many constraints a System has, those of its Forces too."""
    last = blocks_of(system)[-1]
    return last.first + last.size


def require_unchanged(system: mm.System, integrator: ConstraintIntegrator, method: str) -> None:
    """Refuse readings of a Context whose System has got other constraints since.

    :param integrator: of the Context
    :raises ValueError: if the System has another number of them
    """
    require_same_count(count_constraints(system), count_in_context(integrator), "System", method)


def count_in_context(integrator: ConstraintIntegrator) -> int:
    """How many constraints the Context of an integrator has."""
    return len(integrator.getConstraintWorks(asNumpy=True))  # the reading that costs least


def require_as_at_start(integrator: ConstraintIntegrator, start: int, reporter: str) -> None:
    """Refuse to go on with a reporter whose Context was created anew with other constraints: places have shifted.

    :param start: how many the Context had when the reporter looked for its constraints
    :raises ValueError: if it has another number of them
    """
    count = count_in_context(integrator)
    if count != start:
        raise ValueError(
            f"{reporter}: the Context has {count} constraints, and had {start} when this reporter began. Use a new "
            f"{reporter}."
        )


def block_of(blocks: Sequence[Block], number: int) -> tuple[Block, int]:
    """Where a constraint is: its block, and its index there.

    :raises IndexError: if there is no such constraint
    """
    for block in blocks:
        if 0 <= number - block.first < block.size:
            return block, number - block.first
    raise IndexError(f"there is no constraint {number}")


def multiplierIndex(system: mm.System, constraint: Chosen) -> int:
    """The place of a constraint in the order of ConstraintIntegrator.getMultipliers(), for readings of all constraints.

    It changes when constraints are added to the System, or to a Force that comes before.

    Parameters
    ----------
    system : openmm.System
        that has it
    constraint
        what addDistance(), addDihedral(), ... returned; or (force, "dihedral", 0), an index among the Force's
        constraints of that kind; or (force, 0), an index in the order of force.getMultipliers(); or a coordinate such
        as freeenergy.Dihedral(4, 6, 8, 14)

    Raises
    ------
    TypeError, ValueError
        if it is anything else, or the System has no such constraint, or it has no multiplier, as a rigid body
    """
    require(mm.System, system, "multiplierIndex")
    [one] = chosen_constraints([constraint], "multiplierIndex")
    place = MultiplierIndex(place_of(system, one, "multiplierIndex"))
    place.constraints = count_constraints(system)
    return place


def chosen_constraints(given: Chosen | Iterable[Chosen], method: str) -> list[Chosen]:
    """One or several constraints as a list. Whether there are such is left open.

    :raises TypeError, ValueError: if they are anything else, or none
    """
    if is_one(given):
        return [given]  # type: ignore[list-item]
    if isinstance(given, Iterable) and not isinstance(given, str):
        parsed = [one for several in given for one in chosen_constraints(several, method)]
        if not parsed:
            raise ValueError(f"{method}: there are no coordinates")
        return parsed
    raise TypeError(f"{method}: {given!r} is neither an index nor (ConstraintForce, index). {_HOW}")


def is_plain(constraint: Chosen) -> bool:
    """Whether it is an int that knows no Force."""
    return isinstance(constraint, (int, np.integer)) and not isinstance(constraint, ConstraintIndex)


def place_of(system: mm.System, constraint: Chosen, method: str) -> int:
    """The place in getMultipliers() of one of `chosen_constraints`.

    :raises ValueError: if there is no such constraint
    """
    if isinstance(constraint, ConstraintIndex):
        return _of_force(blocks_of(system), constraint.force, constraint.kind, int(constraint), method)
    if isinstance(constraint, tuple):
        force, *kinds, index = constraint
        if isinstance(index, ConstraintIndex):
            is_other = index.force is None or not same_force(index.force, force)
            if is_other or (kinds and kinds != [index.kind]):
                raise ValueError(f"{method}: {index.kind} {int(index)} is of another Force or kind than given with it.")
            kinds = [index.kind]
        return _of_force(blocks_of(system), force, kinds[0] if kinds else None, whole(index), method)
    if isinstance(constraint, Found):
        return constraint.find_in(system)
    return _within(whole(constraint), 0, count_constraints(system), method)


def is_one(given: Any) -> bool:
    """Whether it is given as one constraint is."""
    if isinstance(given, (int, np.integer, Found)):
        return not isinstance(given, bool)
    if not (isinstance(given, tuple) and len(given) in (2, 3) and isinstance(given[0], mm.Force)):
        return False
    return isinstance(given[-1], (int, np.integer)) and (len(given) == 2 or given[1] in NOUNS)


def _of_force(blocks: Sequence[Block], force: mm.Force | None, kind: str | None, index: int, method: str) -> int:
    if kind == NOUNS[BODY]:
        raise ValueError(f"{method}: rigid body {index} has no multiplier. Give a constraint.")
    if force is None:
        raise ValueError(
            f"{method}: {kind} {index} has lost its Force when it was pickled. Give (force, {kind!r}, {index}) with a "
            "Force of the System."
        )
    own = [block for block in blocks if block.force is not None and same_force(block.force, force)]
    if not own:
        raise ValueError(
            f"{method}: the Force of a coordinate is not in the System. A System that was copied, or read from XML, "
            f'has Forces of its own: give (force, "{kind or "angle"}", {index}) with one of these.'
        )
    if kind is not None:
        own = [block for block in own if NOUNS[block.kind] == kind]
        if not own:
            raise ValueError(f"{method}: the Force has no constraints of the kind {kind!r}.")
    return _within(index, own[0].first, sum(block.size for block in own), method, kind or "constraint")


def _within(index: int, first: int, size: int, method: str, what: str = "constraint") -> int:
    if not -size <= index < size:
        raise ValueError(f"{method}: there is no {what} {index}; there are {size}")
    return first + index % size
