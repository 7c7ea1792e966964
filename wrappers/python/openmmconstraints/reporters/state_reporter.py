# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""OpenMM's StateDataReporter with columns on constraints, and the right temperature everywhere."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import IO, Any

import openmm as mm
from openmm import app, unit

from openmmconstraints.inspection.arguments import to_count
from openmmconstraints.inspection.integrators import current_integrator, own_integrators
from openmmconstraints.inspection.labels import constraint_label, particle_names
from openmmconstraints.inspection.numbering import require_unchanged
from openmmconstraints.inspection.pressure import computePressure
from openmmconstraints.reporters.rows import continue_file, open_rows, require_writable
from openmmconstraints.wrapper import ConstraintIntegrator, RattleLangevinIntegrator, RattleNoseHooverIntegrator

_FOREIGN = (
    "ConstraintStateReporter: {} reports nothing of constraints. Use an integrator of openmmconstraints, or "
    "openmm.app.StateDataReporter."
)


class ConstraintStateReporter(app.StateDataReporter):
    """Writes what StateDataReporter writes, and errors, virial and work of the constraints, heat and conserved energy.

    The temperature counts degrees of freedom by the rank of the constraints, in a CompoundIntegrator too. If no column
    is chosen, it writes step, time, potential energy, temperature, largest constraint error and iterations.

    >>> reporter = mc.ConstraintStateReporter("log.csv", 1000, step=True, temperature=True, constraintError=True)
    >>> simulation.reporters.append(reporter)  # doctest: +SKIP
    """

    _openedFile = False  # OpenMM's __del__ asks, also where the constructor was given a wrong name

    def __init__(
        self,
        file: str | PathLike[str] | IO[str],
        reportInterval: int,
        step: bool = False,
        time: bool = False,
        potentialEnergy: bool = False,
        kineticEnergy: bool = False,
        totalEnergy: bool = False,
        temperature: bool = False,
        volume: bool = False,
        density: bool = False,
        progress: bool = False,
        remainingTime: bool = False,
        speed: bool = False,
        elapsedTime: bool = False,
        separator: str = ",",
        systemMass: float | unit.Quantity | None = None,
        totalSteps: int | None = None,
        append: bool = False,
        *,
        constraintError: bool = False,
        iterations: bool = False,
        worstConstraint: bool = False,
        constraintVirial: bool = False,
        constraintPressure: bool = False,
        pressure: bool = False,
        constraintWork: bool = False,
        heat: bool = False,
        conservedEnergy: bool = False,
    ) -> None:
        """Create a ConstraintStateReporter. What is not listed here is StateDataReporter's.

        Parameters
        ----------
        file : str, path or file object
            where to write; names that end in .gz or .bz2 are compressed
        append : bool
            whether to continue a file (given by its name) after a run was interrupted, with the same columns, `step`
            among them. Rows of later steps than the Simulation's, and half a row at the end, are removed before its
            first step
        constraintError : bool
            the largest error of any constraint in the last step: relative for distances, radians for angles and
            dihedrals, nm for expressions
        iterations : bool
            the largest number of iterations that any cluster of constraints took in the last step
        worstConstraint : bool
            two columns: the index of the constraint with the largest error, in the order of
            ConstraintIntegrator.getMultipliers(), and its particles, by their names after setTopology()
        constraintVirial : bool
            the trace of the constraint virial of the last step, sum_i r_i F_i (kJ/mol)
        constraintPressure : bool
            what the constraints contribute to the pressure: that trace over three times the volume (bar)
        pressure : bool
            the pressure by scaling atoms (bar), see computePressure(): four energies a report
        constraintWork : bool
            the work of moving constraints since the Context was created (kJ/mol)
        heat : bool
            the heat that the bath has given since the Context was created (kJ/mol), see
            RattleLangevinIntegrator.getHeat(); of a Nose-Hoover chain, what it has lost
        conservedEnergy : bool
            total energy less heat less constraint work (kJ/mol): its drift is the error of the time step. Barostats,
            AndersenThermostat and CMMotionRemover take or give energy that is not in it

        Raises
        ------
        TypeError, ValueError
            if reportInterval is not a positive whole number
        TypeError
            before the first step, if the integrator is not one of this package's, or has no heat to report
        ValueError
            before the first step, if a pressure is asked for and the System is not periodic, or if a file that is to be
            continued is another run's
        """
        self._own = {
            "Constraint Error": constraintError,
            "Iterations": iterations,
            "Worst Constraint": worstConstraint,
            "Worst Constraint Particles": worstConstraint,
            "Constraint Virial (kJ/mole)": constraintVirial,
            "Constraint Pressure (bar)": constraintPressure,
            "Pressure (bar)": pressure,
            "Constraint Work (kJ/mole)": constraintWork,
            "Heat (kJ/mole)": heat,
            "Conserved Energy (kJ/mole)": conservedEnergy,
        }
        columns = (step, time, potentialEnergy, kineticEnergy, totalEnergy, temperature, volume, density)
        if not any((*columns, progress, remainingTime, speed, elapsedTime, *self._own.values())):
            step = time = potentialEnergy = temperature = True
            self._own["Constraint Error"] = self._own["Iterations"] = True
        path = fspath(file) if isinstance(file, (str, PathLike)) else None
        super().__init__(
            file if path is None else None,
            reportInterval,
            step,
            time,
            potentialEnergy,
            kineticEnergy,
            totalEnergy,
            temperature,
            volume,
            density,
            progress,
            remainingTime,
            speed,
            elapsedTime,
            separator,
            systemMass,
            totalSteps,
            append,
        )
        self._reportInterval = to_count(reportInterval, "ConstraintStateReporter", "reportInterval")
        if append and path is not None and not step:
            raise ValueError(
                "ConstraintStateReporter: append=True needs step=True: without steps, rows that an interrupted run "
                "writes again cannot be recognized."
            )
        self._continued = path if append else None  # until the first step continues it
        if self._continued is not None:
            require_writable(self._continued)
        elif path is not None:
            self._out, self._openedFile = open_rows(path, "w"), True
        if conservedEnergy:
            self._needEnergy = True
            self._includes = ["energy"]

    def describeNextReport(self, simulation: app.Simulation) -> dict[str, Any]:
        """OpenMM calls it before it takes steps.

        :raises TypeError, ValueError: see the constructor
        """
        current_integrator(simulation.integrator, _FOREIGN)
        if self._own["Heat (kJ/mole)"] and not _heats(simulation.integrator):
            raise TypeError(
                f"ConstraintStateReporter: {type(simulation.integrator).__name__} has no heat bath. Leave "
                "out heat=True, or use RattleLangevinIntegrator or RattleNoseHooverIntegrator."
            )
        has_pressure = self._own["Constraint Pressure (bar)"] or self._own["Pressure (bar)"]
        if has_pressure and not simulation.system.usesPeriodicBoundaryConditions():
            raise ValueError(
                "ConstraintStateReporter: a System that is not periodic has no pressure. Ask for constraintVirial."
            )
        if self._continued is not None:
            self._continue(self._continued, simulation.currentStep)
            self._continued = None
        return super().describeNextReport(simulation)

    def _continue(self, path: str, step: int) -> None:
        names, separator = self._constructHeaders(), self._separator
        column = names.index("Step")
        header = "#" + separator.join(f'"{name}"' for name in names)
        self._out = continue_file(path, header, lambda line: int(line.split(separator)[column]), step)
        self._openedFile = True

    def _initializeConstants(self, simulation: app.Simulation) -> None:
        super()._initializeConstants(simulation)
        self._names = particle_names(simulation.system)

    def _constructHeaders(self) -> list[str]:
        return super()._constructHeaders() + [name for name, wanted in self._own.items() if wanted]

    def _constructReportValues(self, simulation: app.Simulation, state: mm.State) -> list[Any]:
        values = super()._constructReportValues(simulation, state)
        integrator = current_integrator(simulation.integrator, _FOREIGN)
        if self._temperature and isinstance(simulation.integrator, mm.CompoundIntegrator):  # OpenMM's asks no child
            column = self._constructHeaders().index("Temperature (K)")
            values[column] = integrator.computeSystemTemperature().value_in_unit(unit.kelvin)
        return values + self._constraint_values(simulation, state, integrator)

    def _constraint_values(
        self, simulation: app.Simulation, state: mm.State, integrator: ConstraintIntegrator
    ) -> list[Any]:
        summary = integrator.getSolverSummary()
        worst = summary.worstConstraint
        getters: dict[str, Callable[[], Any]] = {
            "Constraint Error": lambda: summary.maxError,
            "Iterations": lambda: summary.iterations,
            "Worst Constraint": lambda: worst if worst >= 0 else "--",
            "Worst Constraint Particles": lambda: self._worst_particles(simulation.system, integrator, worst),
            "Constraint Virial (kJ/mole)": lambda: _trace(integrator),
            "Constraint Pressure (bar)": lambda: _constraint_pressure(integrator, state),
            "Pressure (bar)": lambda: computePressure(simulation.context).value_in_unit(unit.bar),
            "Constraint Work (kJ/mole)": lambda: _work(simulation.integrator),
            "Heat (kJ/mole)": lambda: _heat(simulation.integrator),
            "Conserved Energy (kJ/mole)": lambda: (
                _total_energy(state) - _heat(simulation.integrator) - _work(simulation.integrator)
            ),
        }
        return [getters[name]() for name, wanted in self._own.items() if wanted]

    def _worst_particles(self, system: mm.System, integrator: ConstraintIntegrator, worst: int) -> str:
        require_unchanged(system, integrator, "ConstraintStateReporter")
        return constraint_label(system, self._names, worst) if worst >= 0 else "--"


def _trace(integrator: ConstraintIntegrator) -> float:
    return sum(row[i] for i, row in enumerate(integrator.getConstraintVirial()))


def _constraint_pressure(integrator: ConstraintIntegrator, state: mm.State) -> float:
    virial = unit.Quantity(_trace(integrator), unit.kilojoule_per_mole)
    pressure = virial / (3 * state.getPeriodicBoxVolume() * unit.AVOGADRO_CONSTANT_NA)
    return pressure.value_in_unit(unit.bar)


def _work(integrator: mm.Integrator) -> float:
    """The constraint work (kJ/mol) of all children of a CompoundIntegrator."""
    return sum(own.getConstraintWork().value_in_unit(unit.kilojoule_per_mole) for own in own_integrators(integrator))


def _heats(integrator: mm.Integrator) -> list[unit.Quantity]:
    """The heat that each bath has given. Every child of a CompoundIntegrator may have a bath."""
    own = own_integrators(integrator)
    heats = [child.getHeat() for child in own if isinstance(child, RattleLangevinIntegrator)]
    return heats + [-child.computeHeatBathEnergy() for child in own if isinstance(child, RattleNoseHooverIntegrator)]


def _heat(integrator: mm.Integrator) -> float:
    return sum(heat.value_in_unit(unit.kilojoule_per_mole) for heat in _heats(integrator))


def _total_energy(state: mm.State) -> float:
    return (state.getPotentialEnergy() + state.getKineticEnergy()).value_in_unit(unit.kilojoule_per_mole)
