# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A reporter that writes value, force and work of chosen constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import openmm as mm
from openmm import unit

from openmmconstraints._constraint_index import require_same_count, same_force
from openmmconstraints.inspection.arguments import to_count
from openmmconstraints.inspection.integrators import current_integrator, own_integrators
from openmmconstraints.inspection.kinds import Ours, own_force
from openmmconstraints.inspection.numbering import (
    Block,
    Chosen,
    block_of,
    blocks_of,
    chosen_constraints,
    count_constraints,
    count_in_context,
    is_one,
    place_of,
    require_as_at_start,
    require_unchanged,
)
from openmmconstraints.inspection.values import Measured, Moment, distinct, measure, measure_system
from openmmconstraints.reporters.rows import RowFile

if TYPE_CHECKING:
    from openmm import app

_NAME = "ConstraintReporter"
_FOREIGN = _NAME + ": {} has no multipliers to report. Use an integrator of openmmconstraints."
#: Of Forces, if none are chosen.
MOST = 50
_ENERGY = unit.kilojoule_per_mole
_SYMBOLS = {"nanometer": "nm", "radian": "rad"}

#: A constraint, or all of a Force.
Choice: TypeAlias = Chosen | Ours


@dataclass(frozen=True)
class _Place:
    """A constraint."""

    force: Ours | None  #: None: the System's own
    index: int  #: in the order of its Force's getMultipliers()
    multiplier: int  #: in the order of ConstraintIntegrator.getMultipliers()


class ConstraintReporter:
    """Writes time, value, force and work of chosen constraints as CSV: a row a report, as GROMACS' pullx and pullf.

    The force is the multiplier of this moment, of ConstraintIntegrator.computeMultipliers(): positive where it pushes
    the coordinate to larger values, as dA/dxi. Its average with the metric correction and an error is BlueMoonReporter.
    The work is what a constraint that moves has done on the system since the Context was created, of
    ConstraintIntegrator.getConstraintWorks(); 0 where it does not move. The last column is getConstraintWork(): that of
    all constraints, also of those that are not chosen, and what several did together where a parameter moved them.

    >>> reporter = mc.ConstraintReporter("pull.csv", 100, constraints=pull)  # doctest: +SKIP
    >>> simulation.reporters.append(reporter)  # doctest: +SKIP
    >>> simulation.step(100000)  # doctest: +SKIP
    >>> pandas.read_csv("pull.csv").plot("time (ps)", "distance 0-4 (nm)")  # doctest: +SKIP

    Columns: step, time (ps), of each constraint its value, force and work, with names as Force.getValues() has them,
    and all work.
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
        constraints : a Force, a constraint, or a sequence of these
            all constraints of a Force of this package; or one: what addDistance(), addDihedral(), ... returned, or
            (force, "dihedral", 0), or (force, 0), an index in the order of force.getMultipliers(), or a coordinate such
            as freeenergy.Dihedral(4, 6, 8, 14), or an index in the order of ConstraintIntegrator.getMultipliers(),
            negative ones from its end. None: those of all Forces, up to 50, and not the System's own
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
        self._count = 0  # of all constraints, likewise
        self._file = RowFile(file, append)

    def describeNextReport(self, simulation: app.Simulation) -> dict[str, Any]:
        """OpenMM calls it before it takes steps. The first call chooses the constraints and writes the header.

        :raises TypeError: if the integrator is not one of this package's
        :raises ValueError: if there is no such constraint, or none at all, or a file that is to be continued is another
            run's, or if the System has other constraints than when its Context was created
        """
        if not self._places:
            integrator = current_integrator(simulation.integrator, _FOREIGN)
            require_unchanged(simulation.system, integrator, _NAME)
            places = _resolve(simulation.system, self._choices)
            header = _header(_measure(simulation.system, places, Moment.of(simulation.context)))
            self._file.begin(header, simulation.currentStep)
            self._places, self._count = places, count_in_context(integrator)
        steps = self._interval - simulation.currentStep % self._interval
        return {"steps": steps, "periodic": False, "include": ["positions"]}

    def report(self, simulation: app.Simulation, state: mm.State) -> None:
        """Write a row of the present state.

        :raises ValueError: if the System has other constraints than when its Context was created, or the Context was
            created anew with others
        """
        integrator = current_integrator(simulation.integrator, _FOREIGN)
        require_as_at_start(integrator, self._count, _NAME)
        require_same_count(count_constraints(simulation.system), self._count, "System", _NAME)
        multipliers = integrator.computeMultipliers(asNumpy=True)
        own = own_integrators(simulation.integrator)
        works = sum(one.getConstraintWorks(asNumpy=True).value_in_unit(_ENERGY) for one in own)
        measured = _measure(simulation.system, self._places, Moment.of(simulation.context, state))
        row: list[float] = [state.getStepCount(), state.getTime().value_in_unit(unit.picosecond)]
        for place, one in zip(self._places, measured, strict=True):
            row += [one.value, multipliers[place.multiplier], works[place.multiplier]]
        row.append(sum(one.getConstraintWork().value_in_unit(_ENERGY) for one in own))
        self._file.write(f"{value:.10g}" for value in row)


def _header(measured: Sequence[Measured]) -> list[str]:
    columns = ["step", "time (ps)"]
    for name, one in zip(distinct(one.name for one in measured), measured, strict=True):
        symbol = _SYMBOLS.get(one.unit_name or "")
        columns.append(f"{name} ({symbol})" if symbol else name)
        columns.append(f"force of {name} (kJ/mol{f'/{symbol}' if symbol else ''})")
        columns.append(f"work of {name} (kJ/mol)")
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


def _parse(given: Any) -> list[Choice]:
    """What is given as a list, in which there is all of a Force or one constraint each.

    :raises TypeError, ValueError: if it is anything else, or nothing
    """
    force = given[0] if is_one(given) and isinstance(given, tuple) else given
    if isinstance(force, mm.Force) and own_force(force) is None:
        raise TypeError(f"{_NAME}: {type(force).__name__} has no constraints. Give a Force of openmmconstraints.")
    if isinstance(given, mm.Force):
        return [given]
    if is_one(given) or isinstance(given, str) or not isinstance(given, Iterable):
        return [*chosen_constraints(given, _NAME)]
    parsed = [one for several in given for one in _parse(several)]
    if not parsed:
        raise ValueError(f"{_NAME}: there are no constraints to report: the list is empty.")
    return parsed


def _resolve(system: mm.System, choices: list[Choice] | None) -> list[_Place]:
    """What is chosen, each once, in the order in which it was.

    :raises ValueError: if there is no such constraint, or nothing to report
    """
    own, *of_forces = blocks_of(system)
    if choices is None:
        count = sum(block.size for block in of_forces)
        if count == 0:
            raise ValueError(
                f"{_NAME}: the System has no Force with constraints to report (rigid bodies have no coordinate). "
                "Choose constraints of the System by their indices: constraints=[0, 1]."
            )
        if count > MOST:
            raise ValueError(
                f"{_NAME}: the Forces have {count:,} constraints, three columns each. Choose some: "
                "constraints=force, or constraints=[(force, 0), ...]."
            )
        return _places([own, *of_forces], range(own.size, own.size + count))
    chosen: list[int] = []
    for choice in choices:
        if not isinstance(choice, mm.Force):
            chosen.append(place_of(system, choice, _NAME))
            continue
        blocks = [block for block in of_forces if block.force is not None and same_force(block.force, choice)]
        if not blocks:
            raise ValueError(f"{_NAME}: a {type(choice).__name__} is not in the System of the Simulation.")
        chosen += range(blocks[0].first, blocks[-1].first + blocks[-1].size)
    if not chosen:
        raise ValueError(f"{_NAME}: the chosen Forces have no constraints to report (rigid bodies have no coordinate).")
    return _places([own, *of_forces], dict.fromkeys(chosen))


def _places(blocks: Sequence[Block], numbers: Iterable[int]) -> list[_Place]:
    first: dict[int, int] = {}  # constraint of each Force
    for block in blocks:
        first.setdefault(block.place, block.first)
    found = [(number, block_of(blocks, number)[0]) for number in numbers]
    return [_Place(block.force, number - first[block.place], number) for number, block in found]
