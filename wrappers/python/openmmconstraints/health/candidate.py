# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A System with another one's constraints and none of its interactions, from which constraints can be left out."""

from __future__ import annotations

import copy
import re
from contextlib import suppress

import numpy as np
import openmm as mm

from openmmconstraints.health.listing import (
    ANGLE,
    BODY,
    CENTROIDS,
    DIHEDRAL,
    DISTANCE,
    EXPRESSION,
    NOUNS,
    Listing,
    motion_of,
)
from openmmconstraints.helpers import moveConstraints
from openmmconstraints.wrapper import ConstraintForce, CustomConstraintForce

#: How the integrators' errors name constraints: openmmapi/src/ConstraintErrors.cpp.
_NAMED = re.compile(
    r"System constraint (?P<system>\d+)"
    r"|(?:straight )?(?P<noun>centroid distance|distance|angle|dihedral|rigid body) (?P<index>\d+)"
    r" of the ConstraintForce with index (?P<force>\d+)"
    r"|constraint (?P<expression>\d+) of the CustomConstraintForce with index (?P<custom>\d+)"
)

#: What they say of a Force that has to go: openmmapi/src/SystemChecks.cpp.
_REMOVED = re.compile(r"removeForce\((\d+)\)")

#: What the methods of ConstraintForce call them: addDistance, getNumDistances.
_NAMES = {
    DISTANCE: ("Distance", "Distances"),
    ANGLE: ("Angle", "Angles"),
    DIHEDRAL: ("Dihedral", "Dihedrals"),
    CENTROIDS: ("CentroidDistance", "CentroidDistances"),
    BODY: ("RigidBody", "RigidBodies"),
}


class Candidate:
    """The System `system`, and what its constraints are called in the original.

    `with_system_constraints="moved"` puts these into a ConstraintForce, out of the way of OpenMM's own solver, whose
    set-up is slow; `with_others` keeps what integrators may refuse to be combined with (barostats, CMMotionRemover,
    AndersenThermostat).
    """

    def __init__(
        self,
        original: mm.System,
        listing: Listing,
        dropped_forces: frozenset[int] = frozenset(),
        with_system_constraints: str = "kept",
        with_others: bool = False,
    ) -> None:
        self._listing = listing
        self._forces: dict[int, int] = {}  # index in the original, by the index here
        self._moved: dict[int, list[int]] = {}  # System constraints, by the index of the Force that has them here
        self._kept: dict[tuple[int, int], list[int]] = {}  # indices in the original, by (index of the Force here, kind)
        if with_system_constraints == "kept" and not dropped_forces and bool(np.all(listing.valid)):
            self.system = original  # in which getClusters() changes nothing; copies of large Systems take seconds
            self._forces = {f: f for f in range(original.getNumForces())}
            return
        self.system = mm.System()
        for mass in listing.masses.tolist():
            self.system.addParticle(mass)
        for p in listing.is_site.nonzero()[0].tolist():
            parent = original.getVirtualSite(p).getParticle(0)  # where it is does not matter, only that it is a site
            self.system.setVirtualSite(p, mm.TwoParticleAverageSite(parent, parent, 0.5, 0.5))
        self.system.setDefaultPeriodicBoxVectors(*original.getDefaultPeriodicBoxVectors())
        if listing.periodic_system:
            periodic = mm.HarmonicBondForce()
            periodic.setUsesPeriodicBoundaryConditions(True)
            self.system.addForce(periodic)
        if with_system_constraints != "left out":
            self._add_system_constraints(original)
        if with_system_constraints == "moved":
            self._move()
        for f, force in enumerate(original.getForces()):
            if f in dropped_forces:
                continue
            if ConstraintForce.isinstance(force):
                self._add(self._without_invalid(ConstraintForce.cast(force), f), f)
            elif CustomConstraintForce.isinstance(force):
                self._add(self._without_invalid_expressions(CustomConstraintForce.cast(force), f), f)
            elif with_others and is_other(force):
                self._add(copy.deepcopy(force), f)

    def find_named(self, message: str) -> list[int]:
        """The constraints that an error about this System names, in its order."""
        return [k for match in _NAMED.finditer(message) if (k := self._original(match)) is not None]

    def translate(self, message: str) -> str:
        """An error about this System, in the words of the original."""

        def rename(match: re.Match[str]) -> str:
            k = self._original(match)
            return match.group() if k is None else self._listing.describe(k).partition(" (")[0]

        def remove(match: re.Match[str]) -> str:
            force = int(match[1])
            return f"removeForce({self._forces.get(force, force)})"

        return _REMOVED.sub(remove, _NAMED.sub(rename, message))

    def _original(self, match: re.Match[str]) -> int | None:
        if match["system"] is not None:
            force, kind, index = -1, DISTANCE, int(match["system"])
        elif match["noun"] is not None:
            force, kind, index = int(match["force"]), NOUNS.index(match["noun"]), int(match["index"])
        else:
            force, kind, index = int(match["custom"]), EXPRESSION, int(match["expression"])
        if force in self._moved:
            return self._listing.find(-1, DISTANCE, self._moved[force][index])
        kept = self._kept.get((force, kind))
        return self._listing.find(self._forces.get(force, -1), kind, index if kept is None else kept[index])

    def _valid(self, f: int, kind: int, count: int) -> list[int]:
        """Indices in a Force of what is not left out."""
        places = (self._listing.find(f, kind, i) for i in range(count))
        return [i for i, k in enumerate(places) if k is not None and self._listing.valid[k]]

    def _add(self, force: mm.Force, f: int) -> None:
        self._forces[self.system.addForce(force)] = f

    def _add_system_constraints(self, original: mm.System) -> None:
        kept = self._valid(-1, DISTANCE, original.getNumConstraints())
        self._kept[(-1, DISTANCE)] = kept
        for i in kept:
            first, second = self._listing.of(i)  # System constraints are the first of the list
            self.system.addConstraint(first, second, self._listing.target[i])

    def _move(self) -> None:
        kept = self._kept[(-1, DISTANCE)]
        moveConstraints(self.system)
        for f, force in enumerate(self.system.getForces()):
            if ConstraintForce.isinstance(force):
                periodic = ConstraintForce.cast(force).usesPeriodicBoundaryConditions()
                self._moved[f] = [i for i in kept if bool(self._listing.periodic[i]) == periodic]

    def _without_invalid(self, force: ConstraintForce, f: int) -> ConstraintForce:
        counts = {kind: getattr(force, f"getNum{plural}")() for kind, (_, plural) in _NAMES.items()}
        kept = {kind: self._valid(f, kind, count) for kind, count in counts.items()}
        if all(len(kept[kind]) == count for kind, count in counts.items()):
            with suppress(mm.OpenMMException):  # XML knows no NaN, which is refused one by one later
                return copy.copy(force)
        here = self.system.getNumForces()
        self._kept.update({(here, kind): indices for kind, indices in kept.items()})
        new = ConstraintForce()
        new.setUsesPeriodicBoundaryConditions(force.usesPeriodicBoundaryConditions())
        new.setParticleNames(force.getParticleNames())
        new.setBonds(force.getBonds())
        for kind, (name, _) in _NAMES.items():
            for i in kept[kind]:
                motion = () if kind == BODY else motion_of(force, name, i)
                getattr(new, f"add{name}")(*getattr(force, f"get{name}Parameters")(i), *motion)
        return new

    def _without_invalid_expressions(self, force: CustomConstraintForce, f: int) -> CustomConstraintForce:
        count = force.getNumConstraints()
        kept = self._valid(f, EXPRESSION, count)
        if len(kept) == count:
            with suppress(mm.OpenMMException):
                return copy.copy(force)
        self._kept[(self.system.getNumForces(), EXPRESSION)] = kept
        new = CustomConstraintForce(force.getNumParticlesPerConstraint(), force.getExpression())
        new.setUsesPeriodicBoundaryConditions(force.usesPeriodicBoundaryConditions())
        for i in range(force.getNumPerConstraintParameters()):
            new.addPerConstraintParameter(force.getPerConstraintParameterName(i))
        for i in range(force.getNumGlobalParameters()):
            new.addGlobalParameter(force.getGlobalParameterName(i), force.getGlobalParameterDefaultValue(i))
        for i in range(force.getNumTabulatedFunctions()):
            new.addTabulatedFunction(force.getTabulatedFunctionName(i), copy.deepcopy(force.getTabulatedFunction(i)))
        for i in kept:
            new.addConstraint(*force.getConstraintParameters(i))
        return new


def is_other(force: mm.Force) -> bool:
    """Whether an integrator of this package may refuse to work beside this Force."""
    return isinstance(force, mm.CMMotionRemover | mm.AndersenThermostat) or "Barostat" in type(force).__name__
