# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A reporter that averages a free energy's derivative along constraints that hold reaction coordinates fixed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, isnan, log, nan
from os import PathLike, fspath
from typing import TYPE_CHECKING, TextIO

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints._quantities import to_number
from openmmconstraints.inspection.arguments import to_count
from openmmconstraints.inspection.energy import BOLTZMANN
from openmmconstraints.inspection.integrators import current_integrator
from openmmconstraints.inspection.labels import coordinate_label, names_of_simulation
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.numbering import (
    OF_A_FORCE,
    Block,
    Chosen,
    block_of,
    blocks_of,
    chosen_constraints,
    count_constraints,
    count_in_context,
    is_plain,
    place_of,
    require_as_at_start,
    require_unchanged,
)
from openmmconstraints.reporters.blocking import MeanForce, WeightedAverage
from openmmconstraints.reporters.rows import RowFile, latest, parse, read_lines, step_of
from openmmconstraints.wrapper import ConstraintIntegrator, RattleLangevinIntegrator, RattleNoseHooverIntegrator

if TYPE_CHECKING:
    from openmm import app

_FOREIGN = (
    "BlueMoonReporter: {} reports no multipliers. Use RattleLangevinIntegrator or another integrator of "
    "openmmconstraints."
)


class BlueMoonReporter:
    """Averages dA/dxi_k, the derivative of the free energy along coordinates xi_k that constraints hold fixed, and
    writes it as CSV.

    The blue moon ensemble: dA/dxi_k = <w (lambda_k + kT G_k)>/<w>, w = Z^(-1/2), averaged over a constrained run at the
    temperature T; A(xi) = -kT ln P(xi), so for a distance it contains the -2 kT ln r of the sphere. Other constraints
    (rigid bonds) are accounted for: P is that of the same model with them, and without those on xi. The run has to
    sample the canonical ensemble: use a RattleLangevinIntegrator (or, where motion is chaotic enough, a
    RattleNoseHooverIntegrator), and attach the reporter after equilibration. Take a new one after
    updateParametersInContext(), for another value of xi. Errors are by blocking.
    Source: Carter, Ciccotti, Hynes, Kapral, Chem. Phys. Lett. 156, 472 (1989), doi 10.1016/S0009-2614(89)87314-2.

    >>> angle = force.addAngle(0, 1, 2, 1.9)  # doctest: +SKIP
    >>> reporter = mc.BlueMoonReporter("force.csv", 10, angle)  # doctest: +SKIP
    >>> simulation.reporters.append(reporter)  # doctest: +SKIP
    >>> simulation.step(100000)  # doctest: +SKIP
    >>> print(reporter.getMeanForce())  # doctest: +SKIP
    dA/dxi of angle 0-1-2 (HOH1 H1-O-H2): 12.3 ± 0.4 kJ/mol/rad

    It is positive where A rises with xi: without the constraint, the molecule would be driven to smaller xi.

    Columns: step, time (ps), lambda_k, Z, G_k, and the mean so far with its standard error. Numbers are in OpenMM's
    units (kJ/mol, nm, rad).
    """

    def __init__(
        self,
        file: str | PathLike[str] | TextIO | None,
        reportInterval: int,
        coordinates: Chosen | Sequence[Chosen] | None = None,
        temperature: float | unit.Quantity | None = None,
        append: bool = False,
    ) -> None:
        """Create a BlueMoonReporter.

        Parameters
        ----------
        file : str, path, file object or None
            where to write; names that end in .gz or .bz2 are compressed; None to average only
        reportInterval : int
            the number of time steps between two samples
        coordinates : a constraint, a sequence of them, or None
            the constraints that hold xi_k. One is what addDistance(), addDihedral(), ... returned; or (force,
            "dihedral", 0), a Force of the System and an index among its constraints of a kind ("distance", "angle",
            "dihedral", "centroid distance", "expression"); or (force, 0), an index in the order of
            force.getMultipliers(); or a coordinate such as freeenergy.Dihedral(4, 6, 8, 14); or an index in the order
            of ConstraintIntegrator.getMultipliers(), negative ones from its end. None: the last constraint that is
            neither the System's nor was moved by constrain() or moveConstraints()
        temperature : float or Quantity or None
            of the ensemble (K); None: the integrator's
        append : bool
            whether to continue a file (given by its name) after a run was interrupted. Rows of later steps than the
            Simulation's, and half a row at the end, are removed before its first step. The averages start anew;
            read_mean_force() averages all rows

        Raises
        ------
        TypeError, ValueError
            if an argument is of the wrong kind; what needs a Simulation, and a file that is to be continued, are
            checked before its first step
        """
        self._interval = to_count(reportInterval, "BlueMoonReporter", "reportInterval")
        self._coordinates = None if coordinates is None else chosen_constraints(coordinates, "BlueMoonReporter")
        self._temperature: float | None = None
        if temperature is not None:
            self._temperature = to_number(temperature, "kelvin", "BlueMoonReporter", "temperature")
            if not 0 <= self._temperature < inf:
                raise ValueError(f"BlueMoonReporter: the temperature cannot be {self._temperature:g} K.")
        self._kT = nan  # until the first step is asked for
        self._indices: list[int] = []
        self._count = 0  # of all constraints, likewise
        self._labels: list[tuple[str, str]] = []  # what each is, and the unit of a force along it
        self._size = 1 if self._coordinates is None else len(self._coordinates)
        self._average = WeightedAverage(self._size)
        self._file = RowFile(file, append)

    def describeNextReport(self, simulation: app.Simulation) -> dict:
        """OpenMM calls it before it takes steps. The first call checks the constraints, the temperature and the file.

        :raises TypeError: if the integrator is not one of this package's
        :raises ValueError: if there is no such constraint, or no temperature
        :raises ValueError: if the System has other constraints than when its Context was created
        :raises OpenMMException: if a constraint cannot be a coordinate: it depends on others, or some constraint moves
        :raises ValueError: if a file that is to be continued is another run's
        """
        if isnan(self._kT):
            integrator = current_integrator(simulation.integrator, _FOREIGN)
            self._indices = self._resolve(simulation, integrator)
            integrator.computeBlueMoon(self._indices)
            names = names_of_simulation(simulation)
            self._labels = [coordinate_label(simulation.system, names, k) for k in self._indices]
            kT = self._thermal_energy(integrator)
            self._file.begin(_header(self._indices), simulation.currentStep)
            self._kT, self._count = kT, count_in_context(integrator)
        steps = self._interval - simulation.currentStep % self._interval
        return {"steps": steps, "periodic": None, "include": []}

    def report(self, simulation: app.Simulation, state: mm.State) -> None:
        """Take a sample.

        :raises ValueError: if the temperature of the integrator is not the one at the start, or the Context was created
            anew with other constraints
        """
        integrator = current_integrator(simulation.integrator, _FOREIGN)
        require_as_at_start(integrator, self._count, "BlueMoonReporter")
        kT = self._thermal_energy(integrator)
        if kT != self._kT:
            raise ValueError(
                f"BlueMoonReporter: the temperature has changed from {self._kT / BOLTZMANN:g} to {kT / BOLTZMANN:g} K, "
                "and averages over both are of no ensemble. Use a new reporter for each temperature."
            )
        multipliers, corrections, log_z = integrator.computeBlueMoon(self._indices)
        self._average.add(-0.5 * log_z, np.array(multipliers) + kT * np.array(corrections))
        if self._file.stream is None:
            return
        row: list[float] = [state.getStepCount(), state.getTime().value_in_unit(unit.picosecond), *multipliers]
        row += [exp(log_z), *corrections]
        for k in range(len(self._indices)):
            estimate = self._average.estimate(k)
            row += [estimate.mean, estimate.error]
        self._file.write(f"{value:.10g}" for value in row)

    def getMeanForce(self, index: int = 0) -> MeanForce:
        """The mean force so far.

        :param index: which of the reporter's coordinates
        :return: dA/dxi in kJ/mol per unit of the coordinate, its standard error, the number of samples and their
            statistical inefficiency; nan where there are too few samples. Printed, it says of which coordinate it
            is, by names of atoms where the System has them (setTopology()) or the Simulation's Topology
        :raises IndexError: if there is no such coordinate
        """
        index = _place(index, self._size, "getMeanForce", "this reporter")
        estimate = self._average.estimate(index)
        if not self._labels:  # no step was taken
            return estimate
        coordinate, unit_name = self._labels[index]
        return replace(estimate, coordinate=coordinate, unit=unit_name)

    def _thermal_energy(self, integrator: ConstraintIntegrator) -> float:
        if self._temperature is not None:
            return BOLTZMANN * self._temperature
        if not isinstance(integrator, (RattleLangevinIntegrator, RattleNoseHooverIntegrator)):
            raise ValueError(
                f"BlueMoonReporter: {type(integrator).__name__} has no temperature; give that of the ensemble."
            )
        return BOLTZMANN * integrator.getTemperature().value_in_unit(unit.kelvin)

    def _resolve(self, simulation: app.Simulation, integrator: ConstraintIntegrator) -> list[int]:
        """Indices in the order of getMultipliers()."""
        system, blocks = simulation.system, blocks_of(simulation.system)
        require_unchanged(system, integrator, "BlueMoonReporter")
        if self._coordinates is None:
            if count_constraints(system) == 0:
                raise ValueError("BlueMoonReporter: the System has no constraint that could hold a coordinate.")
            number = _default(blocks)
            _warn_of_moved(system, blocks, number, "without coordinates= the last constraint is taken, which")
            return [number]
        numbers = []
        for one in self._coordinates:
            numbers.append(place_of(system, one, "BlueMoonReporter"))
            if is_plain(one):
                _warn_of_moved(system, blocks, numbers[-1], f"coordinates={one}")
        return numbers


def read_mean_force(
    file: str | PathLike[str], temperature: float | unit.Quantity, skip: int = 0, index: int = 0
) -> MeanForce:
    """Average what a BlueMoonReporter has written: to leave out more of the beginning, or after a run was cut off.

    Of steps that were written twice, as by a run that was killed and went on from a checkpoint, the later rows count.
    Half a row at the end is left out.

    :param temperature: of the ensemble (K)
    :param skip:        how many samples of the beginning are left out
    :param index:       which of the reporter's coordinates
    :raises IndexError: if the file has no such coordinate
    :raises ValueError: if the file is not a BlueMoonReporter's, or more than one, or has no samples but those left out,
        or if `temperature` or `skip` cannot be
    """
    kelvin = to_number(temperature, "kelvin", "read_mean_force", "temperature")
    if not 0 < kelvin < inf:
        raise ValueError(f"read_mean_force: the temperature cannot be {kelvin:g} K. Give that of the run.")
    kT, skip = BOLTZMANN * kelvin, to_count(skip, "read_mean_force", "skip", least=0)
    path = fspath(file)
    lines, _ = read_lines(path)
    columns = lines[0].split(",") if lines else []
    if columns[:2] != ["step", "time (ps)"] or "Z" not in columns:
        found = f"its first line is {lines[0][:60]!r}" if lines else "it is empty"
        raise ValueError(f"read_mean_force: '{path}' was not written by a BlueMoonReporter: {found}.")
    z, count = columns.index("Z"), (len(columns) - 3) // 4
    place = _place(index, count, "read_mean_force", f"'{path}'")
    force, correction = z - count + place, z + 1 + place

    def step_of_whole(line: str) -> int:
        if len([float(value) for value in line.split(",")]) != len(columns):
            raise ValueError
        return step_of(line)

    rows = latest(parse(path, lines, step_of_whole))
    if not rows[skip:]:
        raise ValueError(f"read_mean_force: '{path}' has {len(rows)} samples, and skip={skip} leaves none.")
    average = WeightedAverage(1)
    for _, line in rows[skip:]:
        values = [float(value) for value in line.split(",")]
        average.add(-0.5 * log(values[z]), np.array([values[force] + kT * values[correction]]))
    return replace(average.estimate(), coordinate=f"constraint {columns[force].removeprefix('lambda_')}")


def _place(index: int, count: int, method: str, where: str) -> int:
    """The place of one of `count` coordinates; negative ones count from the end.

    :raises IndexError: if there is none
    """
    if not -count <= index < count:
        raise IndexError(f"{method}: there is no coordinate {index}: {where} has {count}, 0 to {count - 1}.")
    return range(count)[index]


def _warn_of_moved(system: mm.System, blocks: Sequence[Block], number: int, what: str) -> None:
    """Warn where an index finds a bond of a force field: indices of a Force begin at 0, too."""
    block, _ = block_of(blocks, number)
    if block.is_moved:
        moved = "" if block.force is None else ", which was a System constraint"
        warnings.warn(
            f"BlueMoonReporter: {what} is {Listing(system).describe(number)}{moved}. For a constraint of a Force give "
            f"{OF_A_FORCE}. If this one is meant, give it as a coordinate such as freeenergy.Distance(0, 1).",
            stacklevel=2,
        )


def _default(blocks: Sequence[Block]) -> int:
    """The last constraint of a Force that no helper has made; the last one, if there are no others."""
    others = [block for block in blocks if block.size > 0 and not block.is_moved]
    last = others[-1] if others else blocks[-1]
    return last.first + last.size - 1


def _header(indices: list[int]) -> list[str]:
    names = ["step", "time (ps)", *(f"lambda_{k}" for k in indices), "Z", *(f"G_{k}" for k in indices)]
    return names + [name for k in indices for name in (f"dA/dxi_{k}", f"error_{k}")]
