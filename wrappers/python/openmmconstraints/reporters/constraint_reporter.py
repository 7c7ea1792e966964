# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A reporter that writes value and force of chosen constraints, and the work of those that move."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.inspection.arguments import to_count
from openmmconstraints.inspection.integrators import current_integrator, own_integrators
from openmmconstraints.inspection.kinds import METHODS, expression_force, number_of
from openmmconstraints.inspection.values import Measured, Moment, Ours, distinct, measure, measure_system
from openmmconstraints.reporters.rows import RowFile
from openmmconstraints.wrapper import ConstraintForce

if TYPE_CHECKING:
    from openmm import app

_NAME = "ConstraintReporter"
_FOREIGN = _NAME + ": {} has no multipliers to report. Use an integrator of openmmconstraints."
#: Of Forces, if none are chosen.
MOST = 50
_SYMBOLS = {"nanometer": "nm", "radian": "rad"}

#: An index in the order of getMultipliers(), one in that of a Force, or all of a Force.
Choice: TypeAlias = int | tuple[Ours, int] | Ours


@dataclass(frozen=True)
class _Place:
    """A constraint."""

    force: Ours | None  #: None: the System's own
    index: int  #: in the order of its Force's getMultipliers()
    multiplier: int  #: in the order of ConstraintIntegrator.getMultipliers()


class ConstraintReporter:
    """Writes time, value and force of chosen constraints, and the work of moving ones, as CSV: a row a report, as
    GROMACS' pullx and pullf.

    The force is the multiplier of this moment, of ConstraintIntegrator.computeMultipliers(): positive where it pushes
    the coordinate to larger values, as dA/dxi. Its average with the metric correction and an error is BlueMoonReporter.
    The work is ConstraintIntegrator.getConstraintWork(): of all moving constraints, since the Context was created.

    >>> reporter = mc.ConstraintReporter("pull.csv", 100, constraints=pull)  # doctest: +SKIP
    >>> simulation.reporters.append(reporter)  # doctest: +SKIP
    >>> simulation.step(100000)  # doctest: +SKIP
    >>> pandas.read_csv("pull.csv").plot("time (ps)", "distance 0-4 (nm)")  # doctest: +SKIP

    Columns: step, time (ps), of each constraint its value and force, with names as Force.getValues() has them, work.
    """

    def __init__(
        self,
        file: str | PathLike[str] | IO[str],
        reportInterval: int,
        constraints: Choice | Sequence[Choice] | None = None,
        append: bool = False,
    ) -> None:
        """Create a ConstraintReporter.

        Parameters
        ----------
        file : str, path or file object
            where to write; names that end in .gz or .bz2 are compressed
        reportInterval : int
            the number of time steps between two rows
        constraints : Force, int, (Force, int), or a sequence of these
            all constraints of a Force of this package; indices in the order of ConstraintIntegrator.getMultipliers(),
            negative ones from its end; or a Force and an index in the order of its getMultipliers(). None: those of all
            Forces, up to 50, and not the System's own
        append : bool
            whether to continue a file (given by its name) after a run was interrupted. Rows of later steps than the
            Simulation's, and half a row at the end, are removed before its first step

        Raises
        ------
        TypeError, ValueError
            if an argument is of the wrong kind; what needs a Simulation, and a file that is to be continued, are
            checked before its first step
        """
        self._interval = to_count(reportInterval, _NAME, "reportInterval")
        self._choices = None if constraints is None else _parse(constraints)
        self._places: list[_Place] = []  # until the first step is asked for
        self._file = RowFile(file, append)

    def describeNextReport(self, simulation: app.Simulation) -> dict[str, Any]:
        """OpenMM calls it before it takes steps. The first call chooses the constraints and writes the header.

        :raises TypeError: if the integrator is not one of this package's
        :raises ValueError: if there is no such constraint, or none at all, or a file that is to be continued is another
            run's
        """
        if not self._places:
            current_integrator(simulation.integrator, _FOREIGN)
            places = _resolve(simulation.system, self._choices)
            header = _header(_measure(simulation.system, places, Moment.of(simulation.context)))
            self._file.begin(header, simulation.currentStep)
            self._places = places
        steps = self._interval - simulation.currentStep % self._interval
        return {"steps": steps, "periodic": False, "include": ["positions"]}

    def report(self, simulation: app.Simulation, state: mm.State) -> None:
        """Write a row of the present state."""
        integrator = current_integrator(simulation.integrator, _FOREIGN)
        multipliers = integrator.computeMultipliers(asNumpy=True)
        measured = _measure(simulation.system, self._places, Moment.of(simulation.context, state))
        row: list[float] = [state.getStepCount(), state.getTime().value_in_unit(unit.picosecond)]
        for place, one in zip(self._places, measured, strict=True):
            row += [one.value, multipliers[place.multiplier]]
        row.append(
            sum(
                own.getConstraintWork().value_in_unit(unit.kilojoule_per_mole)
                for own in own_integrators(simulation.integrator)
            )
        )
        self._file.write(f"{value:.10g}" for value in row)


def _header(measured: Sequence[Measured]) -> list[str]:
    columns = ["step", "time (ps)"]
    for name, one in zip(distinct(one.name for one in measured), measured, strict=True):
        symbol = _SYMBOLS.get(one.unit_name or "")
        columns.append(f"{name} ({symbol})" if symbol else name)
        columns.append(f"force of {name} (kJ/mol{f'/{symbol}' if symbol else ''})")
    return [*columns, "work (kJ/mol)"]


def _measure(system: mm.System, places: Sequence[_Place], moment: Moment) -> list[Measured]:
    """The coordinates of constraints, those of a Force at once."""
    found: dict[_Place, Measured] = {}
    for force in {id(place.force): place.force for place in places}.values():
        here = [place for place in places if place.force is force]
        which = [place.index for place in here]
        values = measure_system(system, moment, which) if force is None else measure(force, moment, which)
        found.update(zip(here, values, strict=True))
    return [found[place] for place in places]


def _parse(constraints: Any) -> list[tuple[Ours | None, int | None]]:
    """All of them as (Force or None, index or None for all)."""
    if isinstance(constraints, (int, np.integer)) and not isinstance(constraints, bool):
        return [(None, int(constraints))]
    if isinstance(constraints, mm.Force):
        return [(_own(constraints), None)]
    if isinstance(constraints, tuple) and len(constraints) == 2 and isinstance(constraints[0], mm.Force):
        if isinstance(constraints[1], (int, np.integer)):
            return [(_own(constraints[0]), int(constraints[1]))]
    elif isinstance(constraints, Iterable) and not isinstance(constraints, str):
        parsed = [one for constraint in constraints for one in _parse(constraint)]
        if not parsed:
            raise ValueError(f"{_NAME}: there are no constraints to report: the list is empty.")
        return parsed
    raise TypeError(
        f"{_NAME}: {constraints!r} is no constraint. Give a Force, (Force, index) or an index in the order of "
        "integrator.getMultipliers()."
    )


def _own(force: mm.Force) -> Ours:
    """:raises TypeError: if it is a Force of another package"""
    if ConstraintForce.isinstance(force):
        return ConstraintForce.cast(force)
    if custom := expression_force(force):
        return custom
    raise TypeError(f"{_NAME}: {type(force).__name__} has no constraints. Give a Force of openmmconstraints.")


def _size(force: Ours) -> int:
    if isinstance(force, ConstraintForce):
        return sum(number_of(force, kind) for kind in range(len(METHODS)))
    return force.getNumConstraints()


def _resolve(system: mm.System, choices: list[tuple[Ours | None, int | None]] | None) -> list[_Place]:
    """What is chosen, each once, in the order in which it was.

    :raises ValueError: if there is no such constraint, or nothing to report
    """
    everything = [_Place(None, i, i) for i in range(system.getNumConstraints())]
    of_force: dict[int, list[_Place]] = {}
    for force in system.getForces():
        if ConstraintForce.isinstance(force) or expression_force(force):
            own = _own(force)
            places = [_Place(own, i, len(everything) + i) for i in range(_size(own))]
            of_force[int(force.this)] = places
            everything += places
    if choices is None:
        chosen = [place for places in of_force.values() for place in places]
        if not chosen:
            raise ValueError(
                f"{_NAME}: the System has no Force with constraints to report (rigid bodies have no coordinate). "
                "Choose constraints of the System by their indices: constraints=[0, 1]."
            )
        if len(chosen) > MOST:
            raise ValueError(
                f"{_NAME}: the Forces have {len(chosen):,} constraints, two columns each. Choose some: "
                "constraints=force, or constraints=[(force, 0), ...]."
            )
        return chosen
    chosen = []
    for force, index in choices:
        if force is not None and int(force.this) not in of_force:
            raise ValueError(f"{_NAME}: a {type(force).__name__} is not in the System of the Simulation.")
        places = everything if force is None else of_force[int(force.this)]
        if index is None:
            chosen += places
        elif -len(places) <= index < len(places):
            chosen.append(places[index])
        else:
            raise ValueError(f"{_NAME}: there is no constraint {index}; there are {len(places)}.")
    if not chosen:
        raise ValueError(f"{_NAME}: the chosen Forces have no constraints to report (rigid bodies have no coordinate).")
    return list(dict.fromkeys(chosen))
