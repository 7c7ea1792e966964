# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What addDistance() and the like return: an index that knows whose it is."""

from __future__ import annotations

from functools import wraps
from typing import Any

import openmm as mm

#: What methods that add a constraint or a rigid body add, in the words of inspection/kinds.py.
ADDED = {
    "addDistance": "distance",
    "addAngle": "angle",
    "addDihedral": "dihedral",
    "addCentroidDistance": "centroid distance",
    "addCoordinationNumber": "coordination number",
    "addConstraint": "expression",
    "addRigidBody": "rigid body",
}
#: Kinds that have multipliers, in the order of ConstraintForce.getMultipliers(), and how many there are.
_COUNTS = {
    "distance": "getNumDistances",
    "angle": "getNumAngles",
    "dihedral": "getNumDihedrals",
    "centroid distance": "getNumCentroidDistances",
    "coordination number": "getNumCoordinationNumbers",
}


class MultiplierIndex(int):
    """A place in the order of ConstraintIntegrator.getMultipliers(), as multiplierIndex() returns it."""

    constraints = 0  #: how many the System had then


class ConstraintIndex(int):
    """The index of a constraint or a rigid body in its Force, as addDistance() and the like return it.

    It is an int, and can be used as one. Reporters, readings and freeenergy also read from it which Force counts so,
    and what: dihedral 0 of one Force is not distance 0, nor dihedral 0 of another one. A copy is the same; a pickle has
    no Force, because the System that owns it may be gone.
    """

    force: mm.Force | None  #: None after pickling
    #: "distance", "angle", "dihedral", "centroid distance", "coordination number", "expression" or "rigid body"
    kind: str

    def __new__(cls, index: int, force: mm.Force | None, kind: str) -> ConstraintIndex:
        """Normally addDistance() and the like make one."""
        self = int.__new__(cls, index)
        self.force, self.kind = force, kind
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self), None, self.kind)

    def __copy__(self) -> ConstraintIndex:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ConstraintIndex:
        force = memo.get(id(self.force), self.force)  # where the Force itself is copied, and has it as an attribute
        return self if force is self.force else type(self)(int(self), force, self.kind)


def require_same_count(now: int, created: int, what: str, method: str) -> None:
    """Refuse readings of a Context by a System or a Force that has got other constraints since.

    :param now:     how many it has
    :param created: how many the Context was created with
    :param what:    "System", or the class of the Force
    :raises ValueError: if these differ
    """
    if now != created:
        raise ValueError(
            f"{method}: the {what} has {now} constraints, and its Context was created with {created}. Call "
            "context.reinitialize(preserveState=True), or change constraints before the Context is created."
        )


def same_force(one: mm.Force, other: mm.Force) -> bool:
    """Whether two proxies stand for one Force. Neither is followed: its System may be gone."""
    return int(one.this) == int(other.this)


class Multipliers(tuple):
    """Numbers of one Force, which are also found by what addDistance() and the like have returned."""

    def __new__(cls, values: Any, force: mm.Force) -> Multipliers:
        self = super().__new__(cls, values)
        self._address = int(force.this)
        self._first, first = {}, 0
        for kind, count in _numbers(force).items():
            self._first[kind] = first
            first += count
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)

    def __getitem__(self, item):
        if isinstance(item, ConstraintIndex):
            if item.force is None or int(item.force.this) != self._address:
                raise ValueError(f"getMultipliers: {item.kind} {int(item)} is not of this Force.")
            if item.kind not in self._first:
                raise ValueError(f"getMultipliers: {item.kind} {int(item)} has no multiplier.")
            item = self._first[item.kind] + int(item)
        return super().__getitem__(item)


def _numbers(force):
    """How many constraints of each kind a Force has, in the order of its getMultipliers()."""
    if not hasattr(force, "getNumDihedrals"):
        return {"expression": force.getNumConstraints()}
    return {kind: getattr(force, count)() for kind, count in _COUNTS.items()}


def return_indices(*classes: type) -> None:
    """Let methods of Forces that add something return ConstraintIndex, and take it for readings."""
    for cls in classes:
        for name, kind in ADDED.items():
            if hasattr(cls, name):
                setattr(cls, name, _adding(getattr(cls, name), kind))
        cls.getMultipliers = _reading(cls.getMultipliers)


def _adding(method, kind):
    @wraps(method)
    def add(self, *args, **kwargs):
        return ConstraintIndex(method(self, *args, **kwargs), self, kind)

    return add


def _reading(method):
    @wraps(method)
    def getMultipliers(self, context, asNumpy=False):
        values = method(self, context, asNumpy)
        require_same_count(sum(_numbers(self).values()), len(values), type(self).__name__, "getMultipliers")
        return values if asNumpy else Multipliers(values, self)

    return getMultipliers


def refuse_indices_of_forces(cls: type) -> None:
    """Let computeBlueMoon(), which counts through all Forces and knows no System, refuse an index of one of them, and
    one of multiplierIndex() in a System that has more constraints than the Context. (Where it had fewer, the index may
    still be right.)"""
    method = cls.computeBlueMoon

    @wraps(method)
    def computeBlueMoon(self, constraints):
        for index in constraints:
            if isinstance(index, ConstraintIndex):
                raise TypeError(
                    f"computeBlueMoon: {index.kind} {int(index)} counts in its Force, and here all "
                    "constraints count, in the order of getMultipliers(). Type "
                    "openmmconstraints.multiplierIndex(system, index)."
                )
            if isinstance(index, MultiplierIndex):
                created = len(self.getConstraintWorks(asNumpy=True))
                require_same_count(max(index.constraints, created), created, "System", "computeBlueMoon")
        return method(self, constraints)

    cls.computeBlueMoon = computeBlueMoon
