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

import openmmconstraints as mc

pytestmark = pytest.mark.platform
BAR = (1 * unit.kilojoule_per_mole / unit.nanometer**3 / unit.AVOGADRO_CONSTANT_NA).value_in_unit(unit.bar)
KT = 0.00831446261815324 * 300  # kJ/mol


def in_bar(quantity):
    return quantity.value_in_unit(unit.bar)


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


def argon_dimers(integrator=None, molecules=27, edge=2.2, barostat=False, epsilon=0.99):
    """Rigid pairs on a lattice; without epsilon an ideal gas."""
    system, nonbonded, force = mm.System(), mm.NonbondedForce(), mc.ConstraintForce()
    system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(1.0)
    nonbonded.setUseSwitchingFunction(True)
    nonbonded.setSwitchingDistance(0.8)
    force.setUsesPeriodicBoundaryConditions(True)
    positions, topology = [], app.Topology()
    chain = topology.addChain()
    random = np.random.default_rng(1)
    per_edge = round(molecules ** (1 / 3))
    for i in range(molecules):
        middle = (np.array([i % per_edge, i // per_edge % per_edge, i // per_edge**2]) + 0.5) * edge / per_edge
        direction = random.normal(size=3)
        residue = topology.addResidue("DIM", chain)
        for sign in (-1, 1):
            topology.addAtom("A", None, residue)
            system.addParticle(20)
            nonbonded.addParticle(0, 0.3, epsilon)
            positions.append(middle + sign * 0.1 * direction / np.linalg.norm(direction))
        nonbonded.addException(2 * i, 2 * i + 1, 0, 1, 0)
        force.addDistance(2 * i, 2 * i + 1, 0.2)
    system.addForce(nonbonded)
    system.addForce(force)
    if barostat:
        system.addForce(mm.MonteCarloBarostat(1, 300, 0))  # frequency 0: only to ask for the pressure
    simulation = app.Simulation(topology, system, integrator or mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(300, 2)
    return simulation


def barostat_of(simulation):
    return next(f for f in simulation.system.getForces() if isinstance(f, mm.MonteCarloBarostat))


def test_rigid_dimers_have_the_molecular_pressure_of_the_barostat_at_every_instant():
    simulation = argon_dimers(barostat=True)
    barostat = barostat_of(simulation)
    for _ in range(4):
        simulation.step(5)
        pressure, error = mc.computePressure(simulation.context, returnError=True)
        molecular = in_bar(barostat.computeCurrentPressure(simulation.context))  # central differences over 1e-3 only
        assert abs(molecular) > 20
        assert in_bar(pressure) == pytest.approx(molecular, abs=2 * in_bar(error) + bound(0.2, single=2))


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


def water_system(modeller, field, cutoff):
    """Energies are smooth: those that jump at the cutoff have no derivative."""
    return field.createSystem(
        modeller.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=cutoff,
        switchDistance=cutoff - 0.2,
        ewaldErrorTolerance=1e-5,
        rigidWater=True,
    )


def water_box(model, edge):
    field = app.ForceField(f"{model}.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(field, model=model, boxSize=mm.Vec3(edge, edge, edge))
    return modeller, field


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


def test_children_of_a_compound_integrator_agree():
    compound = mm.CompoundIntegrator()
    for integrator in (mc.RattleIntegrator(0.001), mc.RattleNoseHooverIntegrator(300, 1, 0.002)):
        compound.addIntegrator(integrator)
    simulation = argon_dimers(compound)
    simulation.step(2)
    first = in_bar(mc.computePressure(simulation.context))
    compound.setCurrentIntegrator(1)
    assert in_bar(mc.computePressure(simulation.context)) == pytest.approx(first, abs=bound(1e-6, mixed=0.1, single=5))


@pytest.mark.parametrize("function", [mc.computePressure, mc.computePressureTensor])
def test_other_integrators_and_other_objects_are_refused_with_a_remedy(function):
    context = mm.Context(one_particle(), mm.VerletIntegrator(0.001), under_test())
    with pytest.raises(TypeError, match=r"VerletIntegrator.*MonteCarloBarostat.computeCurrentPressure\(context\)"):
        function(context)
    with pytest.raises(TypeError, match=r"as simulation\.context"):
        function(argon_dimers())


def test_positions_have_to_be_set():
    context = mm.Context(one_particle(), mc.RattleIntegrator(0.001), under_test())
    with pytest.raises(mm.OpenMMException, match="positions have not been set"):
        mc.computePressure(context)


def langevin(step, friction=2):
    integrator = mc.RattleLangevinIntegrator(300, friction, step)
    integrator.setRandomNumberSeed(4)
    return integrator


def mean_with_error(samples, blocks=10):
    means = np.mean(np.reshape(samples[: len(samples) // blocks * blocks], (blocks, -1)), axis=1)
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(blocks)


@pytest.mark.long
def test_an_ideal_gas_of_rigid_dimers_has_n_kt_over_v():
    simulation = argon_dimers(langevin(0.002, 20), epsilon=0)
    samples = []
    for _ in range(1500):
        simulation.step(10)
        samples.append(in_bar(mc.computePressure(simulation.context)))
    mean, error = mean_with_error(samples, 30)
    expected = 27 * KT / 2.2**3 * BAR
    assert error < 0.02 * expected
    assert abs(mean - expected) < 5 * error


def run_of_pressures(integrator, system, positions, steps, every, name="CPU"):
    context = mm.Context(system, integrator, mm.Platform.getPlatform(name))
    context.setPositions(positions)
    mm.LocalEnergyMinimizer.minimize(context, 10, 100)
    context.setVelocitiesToTemperature(300, 3)
    integrator.step(steps // 5)
    samples = []
    for _ in range(steps // every):
        integrator.step(every)
        samples.append(in_bar(mc.computePressure(context)))
    return mean_with_error(samples)


@pytest.mark.long
def test_rigid_water_has_one_pressure_at_1_2_and_4_fs():
    modeller, field = water_box("tip3p", 1.6)
    means = {}
    for femtoseconds in (1, 2, 4):
        system = water_system(modeller, field, 0.75)
        means[femtoseconds] = run_of_pressures(
            langevin(0.001 * femtoseconds), system, modeller.positions, 60000 // femtoseconds, 40 // femtoseconds
        )
    for step in (2, 4):
        (mean, error), (reference, its_error) = means[step], means[1]
        combined = np.hypot(error, its_error)
        assert combined < 100
        assert abs(mean - reference) < 4 * combined


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
