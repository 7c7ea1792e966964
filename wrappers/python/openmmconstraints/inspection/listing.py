# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""All constraints of a System as arrays, in the order of ConstraintIntegrator.getMultipliers()."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.inspection.kinds import (
    BODY,
    CENTROIDS,
    DISTANCE,
    EXPRESSION,
    METHODS,
    NOUNS,
    NUMBER,
    SIZES,
    constraint_of,
    default_of,
    expression_force,
    interpolation_of,
    motion_of,
    number_of,
    own_force,
    particles_of,
    weighted_by_mass,
)
from openmmconstraints.inspection.labels import particle_names
from openmmconstraints.inspection.system import particle_masses
from openmmconstraints.wrapper import ConstraintForce, CustomCentroidConstraintForce

#: Rate and start time of a constraint that does not move.
STILL = (0.0, 0.0)


class Listing:
    """Constraints k = 0 ... K-1, then the rigid bodies, which have no multiplier. Invalid ones are listed too.

    kind, target (nm, rad or a number, 0 where there is none) at start_time (ps), rate (per ps), force (-1: the System),
    index (in its Force), periodic, valid: arrays [K + bodies]; particles of k: particle[start[k]:start[k + 1]].
    parameter: by k, the Context parameter that interpolates its target, which is that of the parameter's default.
    """

    def __init__(self, system: mm.System, names: Sequence[str] | None = None) -> None:
        self.masses = particle_masses(system)
        self.is_site = np.zeros(len(self.masses), dtype=bool)
        for p in np.flatnonzero(self.masses == 0):
            self.is_site[p] = system.isVirtualSite(int(p))
        self.periodic_system = any(is_periodic(force) for force in system.getForces())
        self.box = np.array([vector.value_in_unit(unit.nanometer) for vector in system.getDefaultPeriodicBoxVectors()])
        self._names = particle_names(system) if names is None else names
        rows, bodies = _Rows(), _Rows()
        self._by_mass: dict[int, frozenset[int]] = {}
        self._class_of: dict[int, str] = {}  # of Forces with an expression
        for i in range(system.getNumConstraints()):
            first, second, length = system.getConstraintParameters(i)
            rows.add(DISTANCE, (first, second), length, STILL, -1, i, self.periodic_system)
        for f, force in enumerate(system.getForces()):
            if ConstraintForce.isinstance(force):
                _read_constraint_force(ConstraintForce.cast(force), f, rows, bodies)
            elif custom := expression_force(force):
                for i in range(custom.getNumConstraints()):
                    periodic = custom.usesPeriodicBoundaryConditions()
                    rows.add(EXPRESSION, particles_of(custom, i), 0.0, STILL, f, i, periodic)
                    if by_mass := weighted_by_mass(custom, i):
                        self._by_mass[len(rows.kind) - 1] = by_mass
                self._class_of[f] = type(custom).__name__
        self.count = len(rows.kind)
        rows.extend(bodies)
        self.kind = np.array(rows.kind, dtype=np.int8)
        self.target = np.array(rows.target, dtype=float)
        self.rate = np.array(rows.rate, dtype=float)
        self.start_time = np.array(rows.start_time, dtype=float)
        self.parameter = rows.parameter
        self.force = np.array(rows.force, dtype=np.int64)
        self.index = np.array(rows.index, dtype=np.int64)
        self.start = np.concatenate([[0], np.cumsum(rows.size)]).astype(np.int64)
        self.particle = np.array(rows.particle, dtype=np.int64)
        self.valid = np.ones(len(rows.kind), dtype=bool)
        self.half_width = 0.5 * float(np.min(np.diagonal(self.box)))
        too_long = (self.force < 0) & (self.target > self.half_width)  # has no minimum image and is taken without
        self.periodic = np.array(rows.periodic, dtype=bool) & ~too_long

    @property
    def is_changing(self) -> np.ndarray:
        """[K + bodies]: targets that change in time or with a Context parameter."""
        changing = self.rate != 0
        changing[list(self.parameter)] = True
        return changing

    @property
    def is_ignored(self) -> np.ndarray:
        """[K + bodies]: System constraints between massless particles, which are ignored."""
        ignored = np.zeros(len(self.kind), dtype=bool)
        which = np.flatnonzero(self.force < 0)  # they come first, and have two particles
        pairs = self.particle[: 2 * len(which)].reshape(-1, 2)
        inside = np.all((pairs >= 0) & (pairs < len(self.masses)), axis=1)
        ignored[which[inside]] = np.all(self.masses[pairs[inside]] == 0, axis=1)
        return ignored

    @property
    def own(self) -> np.ndarray:
        """[...] the System's constraints of particles that exist, but for those that are ignored."""
        which = np.flatnonzero(self.force[: self.count] < 0)  # they come first, and have two particles
        pairs = self.particle[: 2 * len(which)].reshape(-1, 2)
        inside = np.all((pairs >= 0) & (pairs < len(self.masses)), axis=1)
        return which[inside & ~self.is_ignored[which]]

    @property
    def counted(self) -> np.ndarray:
        """[...] those between particles with mass, which OpenMM takes from the degrees of freedom."""
        own = self.own
        return own[np.all(self.masses[self.particle[2 * own[:, None] + np.arange(2)]] > 0, axis=1)]

    def of(self, k: int) -> tuple[int, ...]:
        """Particles of a constraint."""
        return tuple(self.particle[self.start[k] : self.start[k + 1]].tolist())

    def is_of_groups(self, k: int) -> bool:
        """Whether a constraint is of groups, whose particles it does not join to a molecule."""
        of_force = self._class_of.get(int(self.force[k]), "")
        return int(self.kind[k]) in (CENTROIDS, NUMBER) or of_force == CustomCentroidConstraintForce.__name__

    def by_mass(self, k: int) -> frozenset[int]:
        """Particles of a constraint that count in a centroid by their masses."""
        return frozenset(self.of(k)) if self.kind[k] == CENTROIDS else self._by_mass.get(k, frozenset())

    def of_kind(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices [n] of the valid constraints of a kind, and their particles [n, SIZES[kind]]."""
        which = np.flatnonzero((self.kind == kind) & self.valid)
        return which, self.particle[self.start[which][:, None] + np.arange(SIZES[kind])]

    def name(self, particle: int) -> str:
        """What the user calls a particle; "" if that is not known."""
        return self._names[particle] if 0 <= particle < len(self._names) else ""

    def names(self, particles: Iterable[int]) -> tuple[str, ...]:
        """The names of particles; empty if none of them has one."""
        names = tuple(self.name(particle) for particle in particles)
        return names if any(names) else ()

    def particles_text(self, particles: Sequence[int]) -> str:
        """particles 11 and 12: A:LEU3:CA and A:LEU3:HA"""
        text = f"particle{'s' if len(particles) != 1 else ''} {_listed([str(p) for p in particles])}"
        names = self.names(particles)
        return (
            f"{text}: {_listed([name or str(p) for name, p in zip(names, particles, strict=True)])}" if names else text
        )

    def describe(self, k: int) -> str:
        """System constraint 3 (particles 11 and 12), in the words of the integrators' errors."""
        force, index, kind = int(self.force[k]), int(self.index[k]), int(self.kind[k])
        if force < 0:
            what = f"System constraint {index}"
        elif kind == EXPRESSION:
            what = f"constraint {index} of the {self._class_of[force]} with index {force}"
        else:
            what = f"{NOUNS[kind]} {index} of the ConstraintForce with index {force}"
        return f"{what} ({self.particles_text(self.of(k))})"


class _Rows:
    def __init__(self) -> None:
        self.kind: list[int] = []
        self.size: list[int] = []
        self.particle: list[int] = []
        self.target: list[float] = []
        self.rate: list[float] = []
        self.start_time: list[float] = []
        self.force: list[int] = []
        self.index: list[int] = []
        self.periodic: list[bool] = []
        self.parameter: dict[int, str] = {}

    def add(self, kind, particles, target, motion, force, index, periodic) -> None:
        self.kind.append(kind)
        self.size.append(len(particles))
        self.particle.extend(particles)
        self.target.append(_number(target))
        rate, start_time = motion
        self.rate.append(_number(rate))
        self.start_time.append(_number(start_time))
        self.force.append(force)
        self.index.append(index)
        self.periodic.append(periodic)

    def extend(self, others: _Rows) -> None:
        for name, values in vars(others).items():
            if isinstance(values, list):
                getattr(self, name).extend(values)


def _number(value) -> float:
    """OpenMM returns Quantities in its own units (nm, rad, ps)."""
    return value._value if unit.is_quantity(value) else value


def _read_constraint_force(force: ConstraintForce, f: int, rows: _Rows, bodies: _Rows) -> None:
    periodic = force.usesPeriodicBoundaryConditions()
    for kind in range(len(METHODS)):
        for i in range(number_of(force, kind)):
            particles, target = constraint_of(force, kind, i)
            parameter, target1 = interpolation_of(force, kind, i)
            if parameter:
                rows.parameter[len(rows.kind)] = parameter
                target += default_of(force, parameter) * (target1 - target)
            rows.add(kind, particles, target, motion_of(force, kind, i), f, i, periodic)
    for i in range(force.getNumRigidBodies()):
        bodies.add(BODY, force.getRigidBodyParameters(i)[0], 0.0, STILL, f, i, periodic)


def is_ours(force: mm.Force) -> bool:
    """Whether a Force is one of this package's."""
    return own_force(force) is not None


def is_periodic(force: mm.Force) -> bool:
    """Whether a Force is periodic; False for a Force that does not define it."""
    try:
        return force.usesPeriodicBoundaryConditions()
    except mm.OpenMMException:
        return False


def _listed(words: Sequence[str], most: int = 12) -> str:
    """a, b and c. Of a long list the beginning."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
