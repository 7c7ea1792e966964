# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The pressure by scaling atoms, against closed forms, OpenMM's barostat and ensembles.

In rigid molecules it equals the molecular pressure at every instant, not only on average.
"""

import csv
import io

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import bound, under_test
from pressed import BAR, argon_dimers, in_bar, nitrogen, water_box, water_system

import openmmconstraints as mc


@pytest.mark.platform
def test_pressures_are_quantities_in_bar_with_errors_on_demand():
    context = argon_dimers().context
    pressure, error = mc.computePressure(context, returnError=True)
    assert pressure.unit == error.unit == unit.bar
    assert isinstance(pressure._value, float)
    assert error._value >= 0
    assert mc.computePressure(context) == pressure
    tensor, errors = mc.computePressureTensor(context, returnError=True)
    assert tensor.unit == errors.unit == unit.bar
    assert isinstance(tensor._value, np.ndarray)
    assert tensor._value.shape == errors._value.shape == (3, 3)
    assert np.array_equal(tensor._value, mc.computePressureTensor(context)._value)
    trace = np.trace(tensor._value) / 3
    assert trace == pytest.approx(pressure._value, abs=error._value + np.trace(errors._value))


def barostat_of(simulation):
    return next(f for f in simulation.system.getForces() if isinstance(f, mm.MonteCarloBarostat))


@pytest.mark.platform
@pytest.mark.parametrize(
    "make",
    [lambda: argon_dimers(barostat=True), lambda: nitrogen(mc.RattleIntegrator(0.002))],
    ids=["argon", "nitrogen"],
)
def test_rigid_dimers_have_the_molecular_pressure_of_the_barostat_at_every_instant(make):
    simulation = make()
    barostat = barostat_of(simulation)
    for _ in range(4):
        simulation.step(5)
        pressure, error = mc.computePressure(simulation.context, returnError=True)
        molecular = in_bar(barostat.computeCurrentPressure(simulation.context))  # central differences over 1e-3 only
        assert abs(molecular) > 20
        assert in_bar(pressure) == pytest.approx(molecular, abs=2 * in_bar(error) + bound(0.2, single=2))


@pytest.mark.long
@pytest.mark.parametrize("model", ["tip3p", "tip4pew"])
def test_water_has_the_molecular_pressure_of_the_barostat_at_every_instant(model):
    modeller, field = water_box(model, 1.6)
    system = water_system(modeller, field, 0.75)
    barostat = mm.MonteCarloBarostat(1, 300, 0)
    system.addForce(barostat)
    simulation = app.Simulation(modeller.topology, system, mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions(at_rest(system, modeller.positions))
    simulation.context.setVelocitiesToTemperature(300, 2)
    simulation.step(2)
    pressure, error = mc.computePressure(simulation.context, returnError=True)
    molecular = in_bar(barostat.computeCurrentPressure(simulation.context))
    assert in_bar(pressure) == pytest.approx(molecular, abs=2 * in_bar(error) + bound(5, mixed=20, single=100))


def at_rest(system, positions):
    """Of low energy, found on Reference: OpenMM's minimizer ends the process on PoCL."""
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(positions)
    mm.LocalEnergyMinimizer.minimize(context, 10, 40)
    return context.getState(positions=True).getPositions()


@pytest.mark.platform
def test_reporter_has_a_column_beside_that_of_the_constraints():
    file = io.StringIO()
    simulation = argon_dimers()
    simulation.reporters.append(
        mc.ConstraintStateReporter(file, 2, step=True, constraintPressure=True, pressure=True, separator=",")
    )
    simulation.step(2)
    row = next(csv.DictReader(io.StringIO(file.getvalue().replace("#", ""))))
    assert list(row) == ["Step", "Constraint Pressure (bar)", "Pressure (bar)"]
    assert float(row["Pressure (bar)"]) == in_bar(mc.computePressure(simulation.context))
    assert float(row["Constraint Pressure (bar)"]) != float(row["Pressure (bar)"])


@pytest.mark.platform
def test_reporter_refuses_a_pressure_without_a_box():
    simulation = app.Simulation(app.Topology(), one_particle(), mc.RattleIntegrator(0.001), under_test())
    simulation.reporters.append(mc.ConstraintStateReporter(io.StringIO(), 1, pressure=True))
    simulation.context.setPositions([[0, 0, 0]])
    with pytest.raises(ValueError, match="not periodic"):
        simulation.step(1)


def one_particle():
    system = mm.System()
    system.addParticle(10)
    return system


@pytest.mark.platform
def test_children_of_a_compound_integrator_agree():
    compound = mm.CompoundIntegrator()
    for integrator in (mc.RattleIntegrator(0.001), mc.RattleNoseHooverIntegrator(300, 1, 0.002)):
        compound.addIntegrator(integrator)
    simulation = argon_dimers(compound)
    simulation.step(2)
    first = in_bar(mc.computePressure(simulation.context))
    compound.setCurrentIntegrator(1)
    assert in_bar(mc.computePressure(simulation.context)) == pytest.approx(first, abs=bound(1e-6, mixed=0.1, single=5))


@pytest.mark.platform
@pytest.mark.parametrize("function", [mc.computePressure, mc.computePressureTensor])
def test_other_integrators_and_other_objects_are_refused_with_a_remedy(function):
    context = mm.Context(one_particle(), mm.VerletIntegrator(0.001), under_test())
    with pytest.raises(TypeError, match=r"VerletIntegrator.*MonteCarloBarostat.computeCurrentPressure\(context\)"):
        function(context)
    with pytest.raises(TypeError, match=r"as simulation\.context"):
        function(argon_dimers())


@pytest.mark.platform
def test_positions_have_to_be_set():
    context = mm.Context(one_particle(), mc.RattleIntegrator(0.001), under_test())
    with pytest.raises(mm.OpenMMException, match="positions have not been set"):
        mc.computePressure(context)


@pytest.mark.platform
def test_forces_that_are_not_integrated_exert_no_pressure():
    integrator = mc.RattleIntegrator(0.001)
    integrator.setIntegrationForceGroups(1 << 1)
    simulation = argon_dimers(integrator)
    velocities = simulation.context.getState(velocities=True).getVelocities(asNumpy=True)._value.reshape(-1, 2, 3)
    centres = velocities.mean(axis=1)
    ideal = (40 * centres**2).sum() / (3 * 2.2**3) * BAR
    assert in_bar(mc.computePressure(simulation.context)) == pytest.approx(
        ideal, rel=bound(1e-9, mixed=1e-5, single=1e-4)
    )
