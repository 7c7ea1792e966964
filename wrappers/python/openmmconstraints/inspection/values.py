# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the coordinates that constraints hold are at the present positions of a Context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints._constraint_index import same_force
from openmmconstraints._quantities import to_quantity
from openmmconstraints.inspection.bonds import minimum_image
from openmmconstraints.inspection.coordination import coordination_number
from openmmconstraints.inspection.expressions import evaluate_expressions
from openmmconstraints.inspection.kinds import (
    ANGLE,
    CENTROIDS,
    DISTANCE,
    METHODS,
    NOUNS,
    NUMBER,
    Ours,
    number_of,
    parameters_of,
    symbol_of,
)
from openmmconstraints.inspection.labels import MAX_NAMED
from openmmconstraints.inspection.system import particle_masses
from openmmconstraints.wrapper import ConstraintForce, CustomCentroidConstraintForce, CustomConstraintForce


@dataclass(frozen=True)
class Measured:
    """The coordinate of a constraint."""

    name: str  #: its kind and particles: "dihedral 4-6-8-14"
    value: float
    unit_name: str | None  #: in openmm.unit; None: it has none, as an expression


@dataclass(frozen=True)
class Moment:
    """What coordinates depend on."""

    positions: np.ndarray  #: [particles, 3] nm, not wrapped into the box
    box: np.ndarray  #: three vectors, nm
    system: mm.System  #: which has the masses
    time: float  #: ps
    parameters: dict[str, float]

    @staticmethod
    def of(context: mm.Context, state: mm.State | None = None) -> Moment:
        """The present one of a Context.

        :param state: with its present positions, not wrapped; None: they are asked for
        """
        state = context.getState(positions=True) if state is None else state
        return Moment(
            state.getPositions(asNumpy=True).value_in_unit(unit.nanometer),
            state.getPeriodicBoxVectors(asNumpy=True).value_in_unit(unit.nanometer),
            context.getSystem(),
            state.getTime().value_in_unit(unit.picosecond),
            dict(context.getParameters()),
        )


def add_values(*classes: Any) -> None:
    """Give Forces the method getValues()."""
    for cls in classes:
        cls.getValues = getValues


def getValues(self: Ours, context: mm.Context) -> dict[str, unit.Quantity | float]:
    """What the coordinates of this Force's constraints are now, by name, in the order of getMultipliers().

    They are measured at the present positions, which may be off the targets: before the first step, or where the Force
    is not periodic and the molecule is not whole. Dihedrals are between -pi and pi. Rigid bodies have no coordinate.

    Parameters
    ----------
    context : openmm.Context
        of a System that has this Force

    Returns
    -------
    dict[str, openmm.unit.Quantity | float]
        {"distance 0-1": 0.15 nm, "dihedral 4-6-8-14": 1.05 rad}; coordination numbers and the values of expressions are
        plain numbers. The second of two constraints of the same particles is called "distance 0-1 (2)"

    Raises
    ------
    TypeError, ValueError
        if it is no Context, or that of a System without this Force
    """
    if not any(same_force(force, self) for force in context.getSystem().getForces()):
        raise ValueError(
            f"getValues: this {type(self).__name__} is not in the System of the Context. Give a Context that was made "
            "after system.addForce(force), and this Force, not a copy of it."
        )
    measured = measure(self, Moment.of(context))
    values = [to_quantity(one.value, one.unit_name) if one.unit_name else one.value for one in measured]
    return dict(zip(distinct(one.name for one in measured), values, strict=True))


def distinct(names: Iterable[str]) -> list[str]:
    """Names, of which the second one of the same has " (2)"."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result


def measure(force: Ours, moment: Moment, which: Sequence[int] | None = None) -> list[Measured]:
    """The coordinates of a Force's constraints.

    :param which: indices in the order of the Force's getMultipliers(); None: all
    """
    if not isinstance(force, ConstraintForce):
        return _measure_expressions(force, moment, range(force.getNumConstraints()) if which is None else which)
    places = [(kind, i) for kind in range(len(METHODS)) for i in range(number_of(force, kind))]
    chosen = places if which is None else [places[k] for k in which]
    found: dict[tuple[int, int], Measured] = {}
    for kind in range(len(METHODS)):
        indices = [i for of_kind, i in chosen if of_kind == kind]
        given = [parameters_of(force, kind, i) for i in indices]
        entries = [one[0] for one in given]
        values = _evaluate(kind, entries, [one[2] for one in given], force.usesPeriodicBoundaryConditions(), moment)
        for i, entry, value in zip(indices, entries, values, strict=True):
            found[kind, i] = Measured(f"{NOUNS[kind]} {_label(entry)}", float(value), _unit_of(kind))
    return [found[place] for place in chosen]


def measure_system(system: mm.System, moment: Moment, which: Sequence[int]) -> list[Measured]:
    """Lengths of a System's own constraints. Those of more than half the box take no minimum image."""
    half_width = 0.5 * float(np.min(np.diagonal(moment.box)))
    periodic = system.usesPeriodicBoundaryConditions()
    measured = []
    for k in which:
        first, second, length = system.getConstraintParameters(k)
        takes_image = periodic and length.value_in_unit(unit.nanometer) <= half_width
        [value] = _evaluate(DISTANCE, [(first, second)], [{}], takes_image, moment)
        measured.append(Measured(f"{NOUNS[DISTANCE]} {first}-{second}", float(value), _unit_of(DISTANCE)))
    return measured


def _measure_expressions(
    force: CustomConstraintForce | CustomCentroidConstraintForce, moment: Moment, which: Sequence[int]
) -> list[Measured]:
    values = evaluate_expressions(
        force, which, moment.positions, moment.box, moment.system, {**moment.parameters, "t": moment.time}
    )
    noun = "expression" if isinstance(force, CustomConstraintForce) else "expression of groups"
    points = [force.getConstraintParameters(k)[0] for k in which]
    return [Measured(f"{noun} {_label(p)}", float(v), None) for p, v in zip(points, values, strict=True)]


def _unit_of(kind: int) -> str | None:
    """In openmm.unit."""
    return {"rad": "radian", "nm": "nanometer"}.get(symbol_of(kind))


def _label(entries: Sequence[Any]) -> str:
    """1-2-3, or 1-2 | 3-4 of two groups; of a long group the beginning."""
    groups = [entry for entry in entries if not isinstance(entry, int)] or [entries]
    return " | ".join(
        "-".join(map(str, group[:MAX_NAMED])) + ("-..." if len(group) > MAX_NAMED else "") for group in groups
    )


def _evaluate(
    kind: int, entries: Sequence[Sequence[Any]], further: Sequence[Mapping[str, Any]], periodic: bool, moment: Moment
) -> np.ndarray:
    """The coordinates [n] of n constraints of a kind, given the particles of each, and what else each has."""
    if not entries:
        return np.empty(0)

    def image(delta: np.ndarray) -> np.ndarray:
        return minimum_image(delta, moment.box) if periodic else delta

    x = moment.positions
    if kind == CENTROIDS:  # centres are those of positions as they are; their separation takes the image
        centres = np.array([[_centre(x, moment.system, group) for group in entry] for entry in entries])
        return np.linalg.norm(image(centres[:, 1] - centres[:, 0]), axis=1)
    if kind == NUMBER:
        each = ({**how, "box": moment.box if periodic else None} for how in further)
        return np.array([coordination_number(x, *groups, **how) for groups, how in zip(entries, each, strict=True)])
    places = x[np.array(entries, dtype=int)]  # [n, particles, 3]
    bonds = image(places[:, 1:] - places[:, :-1])
    if kind == DISTANCE:
        return np.linalg.norm(bonds[:, 0], axis=1)
    if kind == ANGLE:
        return _angle(-bonds[:, 0], bonds[:, 1])
    return _dihedral(*np.moveaxis(bonds, 1, 0))


def _centre(x: np.ndarray, system: mm.System, group: Sequence[int]) -> np.ndarray:
    return np.average(x[np.array(group, dtype=int)], axis=0, weights=particle_masses(system, group))


def _angle(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Between vectors [n, 3]; by the arc tangent, which is accurate near 0 and pi, too."""
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.sum(u * v, axis=1))


def _dihedral(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Of three bonds [n, 3], with the sign of PeriodicTorsionForce."""
    m, n = np.cross(a, b), np.cross(b, c)
    return np.arctan2(np.sum(np.cross(m, n) * b, axis=1) / np.linalg.norm(b, axis=1), np.sum(m * n, axis=1))
