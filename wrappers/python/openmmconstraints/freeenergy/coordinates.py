# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Reaction coordinates that a series of constrained runs holds fixed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import isfinite, tau
from operator import index
from typing import Any

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints._atoms import to_particle
from openmmconstraints._quantities import require_radians, to_number
from openmmconstraints.inspection.coordination import coordination_number
from openmmconstraints.inspection.kinds import ANGLE, CENTROIDS, DIHEDRAL, DISTANCE, METHODS, NOUNS, NUMBER
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.numbering import Block, block_of, blocks_of
from openmmconstraints.wrapper import ConstraintForce

_ANGULAR = unit.radian / unit.picosecond


class Coordinate(ABC):
    """A reaction coordinate xi. Derive from it for one that is not here; objects have to be picklable."""

    #: the unit of its values, a name in openmm.unit
    unit_name: str = "nanometer"
    #: after which it repeats; None: never
    period: float | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in plots and tables, without a unit."""

    @property
    def force_unit(self) -> str:
        """The unit of a mean force along it."""
        if self.unit_name == "dimensionless":
            return "kJ/mol"
        return f"kJ/mol/{ {'nanometer': 'nm', 'radian': 'rad'}.get(self.unit_name, self.unit_name) }"

    @abstractmethod
    def hold(self, system: mm.System, value: float, rate: float = 0.0) -> None:
        """Add a Force whose last constraint holds xi = value + rate * t, t the Context's time.

        :param value: in the coordinate's unit
        :param rate:  per ps; not 0 while the coordinate is pulled. An expression may have t in it only then
        :raises ValueError: if a constraint of the System holds it already
        """

    def measure(self, system: mm.System, positions: np.ndarray) -> float | None:
        """Its value at positions [numParticles, 3] (nm); None if not known: then a pull begins by projection."""
        return None

    def find_in(self, system: mm.System) -> int:
        """The constraint of a System that holds it, as its place in ConstraintIntegrator.getMultipliers().

        :raises ValueError: if there is none
        """
        raise ValueError(
            f"{self.label}: {type(self).__name__} does not tell which constraint holds it. Give what addConstraint() "
            "returned, or (force, index)."
        )

    def held_by(self, system: mm.System) -> int:
        """The constraint that hold() has made, as its place in ConstraintIntegrator.getMultipliers(); -1: the last."""
        return -1

    def to_numbers(self, values: Any) -> list[float]:
        """Values in the coordinate's unit, without it.

        :param values: a list, an array or a Quantity of one, or a list of Quantities
        :raises TypeError: if they are anything else, or of another dimension
        :raises ValueError: if one is not finite, or if plain numbers must be degrees where radians are meant
        """
        is_array = unit.is_quantity(values) and np.ndim(values._value) > 0
        each = [value * values.unit for value in values._value] if is_array else values
        if unit.is_quantity(each) or isinstance(each, str) or not isinstance(each, Iterable):
            raise TypeError(f"{self.label}: values must be a list or an array, not {values!r}. Type [{values!r}].")
        numbers = []
        for value in each:
            numbers.append(to_number(value, self.unit_name, self.label, "each value"))
            if not isfinite(numbers[-1]):
                raise ValueError(f"{self.label}: a value is {value}, which is not finite.")
            if self.unit_name == "radian":
                require_radians(value, self.label, isDihedral=self.period is not None)
        return numbers

    def nearest(self, value: float, target: float) -> float:
        """`value`, shifted by as many periods as bring it closest to `target`."""
        return value if self.period is None else value + self.period * round((target - value) / self.period)


@dataclass(frozen=True)
class _Constrained(Coordinate):
    """A coordinate of ConstraintForce. `periodic` (minimum image) is None for as the System is."""

    #: The index in the System of a Force that has a constraint on it, and the constraint's index there: runs set its
    #: value, instead of adding another one. None: they add one.
    held: tuple[int, int] | None = field(default=None, kw_only=True, repr=False)
    _kind = DISTANCE

    def __post_init__(self) -> None:
        """Atoms of a Topology become their indices.

        :raises TypeError, ValueError: if there is anything but different particles
        """
        kind, singles = type(self).__name__, []
        for name in (one.name for one in fields(self)):
            given = getattr(self, name)
            if name.startswith("particles"):
                object.__setattr__(self, name, _group(given, kind))
            elif name.startswith("particle"):
                singles.append(_index(given, kind))
                object.__setattr__(self, name, singles[-1])
        if len(set(singles)) < len(singles):
            raise ValueError(f"{kind}: a particle is given twice: {', '.join(map(str, singles))}.")

    @property
    def _entries(self) -> tuple[Any, ...]:
        """Its particles, as ConstraintForce takes them."""
        return tuple(getattr(self, one.name) for one in fields(self) if one.name.startswith("particle"))

    @property
    def _further(self) -> dict[str, Any]:
        """What ConstraintForce takes after the value, but for a rate."""
        return {}

    def _value(self, value: float) -> Any:
        """A Quantity: a pull may begin some periods away."""
        return value * unit.radian if self.unit_name == "radian" else value

    def _rate(self, rate: float) -> Any:
        """A Quantity likewise: a pull may be fast."""
        return rate * _ANGULAR if self.unit_name == "radian" else rate

    def _is_periodic(self, system: mm.System) -> bool:
        chosen = getattr(self, "periodic", None)
        return system.usesPeriodicBoundaryConditions() if chosen is None else chosen

    def _require_particles(self, system: mm.System) -> None:
        """:raises ValueError: if one is not in the System"""
        count = system.getNumParticles()
        largest = max(max(given) if isinstance(given, tuple) else given for given in self._entries)
        if largest >= count:
            raise ValueError(f"{self.label}: there is no particle {largest}: the System has {count}, 0 to {count - 1}.")

    def _require_free(self, system: mm.System) -> None:
        """:raises ValueError: if a constraint of the System holds it, which the runs could not move"""
        number = self._find(system)
        if number is None:
            return
        block, index = block_of(blocks_of(system), number)
        remedy = f"Take that constraint away: system.removeConstraint({index})."
        if block.force is not None:
            remedy = (
                f"Give that constraint in the place of this coordinate, (force, {NOUNS[block.kind]!r}, {index}) with "
                f"the Force, which is system.getForce({block.place}): then the runs set its value."
            )
        raise ValueError(f"{self.label}: {Listing(system).describe(number)} holds it already. {remedy}")

    def hold(self, system: mm.System, value: float, rate: float = 0.0) -> None:
        self._require_particles(system)
        name = METHODS[self._kind]
        if self.held is not None:
            force = ConstraintForce.cast(system.getForce(self.held[0]))
            given = (*self._entries, self._value(value), *self._further.values())
            getattr(force, f"set{name}Parameters")(self.held[1], *given)
            getattr(force, f"set{name}Rate")(self.held[1], self._rate(rate))
            return
        self._require_free(system)
        force = ConstraintForce()
        force.setUsesPeriodicBoundaryConditions(self._is_periodic(system))
        getattr(force, f"add{name}")(*self._entries, self._value(value), **self._further, rate=self._rate(rate))
        system.addForce(force)

    def held_by(self, system: mm.System) -> int:
        if self.held is None:
            return -1
        place, index = self.held
        blocks = blocks_of(system)
        return next(block.first + index for block in blocks if (block.place, block.kind) == (place, self._kind))

    def _find(self, system: mm.System) -> int | None:
        """The first constraint that holds it, by its place in getMultipliers()."""
        wanted = _both_ways(self._entries)
        for block in self._blocks(system):
            for number in range(block.size):
                if _both_ways(block.entries(system, number)) == wanted and self._is_as_in(block, number):
                    return block.first + number
        return None

    def _blocks(self, system: mm.System) -> list[Block]:
        return [block for block in blocks_of(system) if block.kind == self._kind]

    def find_in(self, system: mm.System) -> int:
        number = self._find(system)
        if number is not None:
            return number
        count = sum(block.size for block in self._blocks(system))
        raise ValueError(
            f"{self.label}: no constraint of the System holds it; there are {count} of this kind. Add one with "
            f"ConstraintForce.add{METHODS[self._kind]}() before the Context is created."
        )

    def _is_as_in(self, block: Block, number: int) -> bool:
        """Whether a constraint of the same particles is of the same coordinate."""
        return True


class _Metered(_Constrained):
    """One that OpenMM has, too."""

    @abstractmethod
    def _meter(self) -> mm.Force:
        """A Force of OpenMM whose energy is the value of the coordinate."""

    def measure(self, system: mm.System, positions: np.ndarray) -> float | None:
        self._require_particles(system)
        meter = self._meter()
        meter.setUsesPeriodicBoundaryConditions(self._is_periodic(system))
        bare = mm.System()
        for i in range(system.getNumParticles()):
            bare.addParticle(system.getParticleMass(i))
        bare.setDefaultPeriodicBoxVectors(*system.getDefaultPeriodicBoxVectors())
        bare.addForce(meter)
        context = mm.Context(bare, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
        context.setPositions(positions)
        return context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def _both_ways(entries: Iterable[Any]) -> frozenset[Any]:
    """The same for particles in either order."""
    groups = tuple(entry if isinstance(entry, int) else frozenset(entry) for entry in entries)
    return frozenset((groups, groups[::-1]))


def _index(atom: Any, kind: str) -> int:
    try:
        number = index(to_particle(atom))
    except TypeError:
        raise TypeError(f"{kind}: particles are indices, or atoms of a Topology, not {atom!r}.") from None
    if number < 0:
        raise ValueError(f"{kind}: there is no particle {number}: indices begin at 0.")
    return number


def _group(atoms: Any, kind: str) -> tuple[int, ...]:
    if isinstance(atoms, (app.topology.Residue, app.topology.Chain)):
        atoms = atoms.atoms()
    if isinstance(atoms, str) or not isinstance(atoms, Iterable):
        raise TypeError(f"{kind}: a group is a list of indices, or of atoms of a Topology, not {atoms!r}.")
    group = tuple(_index(atom, kind) for atom in atoms)
    if not group:
        raise ValueError(f"{kind}: a group has no particles. Look at the selection, and at the names that it asks for.")
    return group


def _expression(name: str, *particles: int) -> mm.Force:
    arguments = ",".join(f"p{i + 1}" for i in range(len(particles)))
    force = mm.CustomCompoundBondForce(len(particles), f"{name}({arguments})")
    force.addBond(particles, [])
    return force


@dataclass(frozen=True)
class Distance(_Metered):
    """The distance of two particles (nm)."""

    particle1: int  #: an index, or an atom of a Topology, which becomes its index
    particle2: int
    periodic: bool | None = None

    @property
    def label(self) -> str:
        return f"distance {self.particle1}-{self.particle2}"

    def _meter(self) -> mm.Force:
        return _expression("distance", self.particle1, self.particle2)


@dataclass(frozen=True)
class CentroidDistance(_Metered):
    """The distance of the centres of mass of two groups of particles (nm)."""

    particles1: tuple[int, ...]
    particles2: tuple[int, ...]
    periodic: bool | None = None
    _kind = CENTROIDS

    @property
    def label(self) -> str:
        return f"distance of the centres of {len(self.particles1)} and {len(self.particles2)} particles"

    def _meter(self) -> mm.Force:
        force = mm.CustomCentroidBondForce(2, "distance(g1,g2)")
        force.addBond([force.addGroup(self.particles1), force.addGroup(self.particles2)], [])
        return force


@dataclass(frozen=True)
class Angle(_Metered):
    """The angle at the second of three particles (rad)."""

    particle1: int
    particle2: int
    particle3: int
    periodic: bool | None = None
    _kind = ANGLE
    unit_name = "radian"

    @property
    def label(self) -> str:
        return f"angle {self.particle1}-{self.particle2}-{self.particle3}"

    def _meter(self) -> mm.Force:
        return _expression("angle", self.particle1, self.particle2, self.particle3)


@dataclass(frozen=True)
class Dihedral(_Metered):
    """The dihedral of four particles (rad), with the sign of PeriodicTorsionForce."""

    particle1: int
    particle2: int
    particle3: int
    particle4: int
    periodic: bool | None = None
    _kind = DIHEDRAL
    unit_name = "radian"
    period = tau

    @property
    def label(self) -> str:
        return f"dihedral {self.particle1}-{self.particle2}-{self.particle3}-{self.particle4}"

    def _meter(self) -> mm.Force:
        return _expression("dihedral", self.particle1, self.particle2, self.particle3, self.particle4)


@dataclass(frozen=True)
class CoordinationNumber(_Constrained):
    """How many particles of one group are near those of another one: sum_ij (1 - (r_ij/r0)^n)/(1 - (r_ij/r0)^m), as
    ConstraintForce.addCoordinationNumber() has it. It has no unit."""

    particles1: tuple[int, ...]
    particles2: tuple[int, ...]
    r0: float  #: nm, or a Quantity, which becomes a number
    n: int = 6
    m: int = 12
    cutoff: float = 0.0  #: likewise; 0: r0 10^(5/(m-n))
    periodic: bool | None = None
    _kind = NUMBER
    unit_name = "dimensionless"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("r0", "cutoff"):
            object.__setattr__(self, name, to_number(getattr(self, name), "nanometer", type(self).__name__, name))

    @property
    def label(self) -> str:
        return f"coordination number of {len(self.particles1)} and {len(self.particles2)} particles"

    @property
    def _further(self) -> dict[str, Any]:
        return {"r0": self.r0, "n": self.n, "m": self.m, "cutoff": self.cutoff}

    def _is_as_in(self, block: Block, number: int) -> bool:
        *lengths, n, m = (block.further(number)[name] for name in ("r0", "cutoff", "n", "m"))
        found = [length.value_in_unit(unit.nanometer) for length in lengths]
        return (n, m) == (self.n, self.m) and np.allclose(found, (self.r0, self.cutoff), rtol=1e-12, atol=0)

    def measure(self, system: mm.System, positions: np.ndarray) -> float | None:
        self._require_particles(system)
        vectors = system.getDefaultPeriodicBoxVectors()
        box = np.array([vector.value_in_unit(unit.nanometer) for vector in vectors])
        how = {**self._further, "box": box if self._is_periodic(system) else None}
        return coordination_number(positions, *self._entries, **how)


#: Classes of coordinates that ConstraintForce holds, by their kind.
BY_KIND = (Distance, Angle, Dihedral, CentroidDistance, CoordinationNumber)
