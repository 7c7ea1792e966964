# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""RattleLangevinIntegrator as a script uses it; tests/TestLangevin.cpp has the physics."""

import io

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import under_test

import openmmconstraints as mc

MOLECULES = 12


def make_simulation(integrator):
    """Rigid waters, each held by its oxygen. Nothing else acts."""
    topology, system, positions = app.Topology(), mm.System(), []
    well = mm.CustomExternalForce("1000*(x*x+y*y+z*z)")
    chain = topology.addChain()
    for _ in range(MOLECULES):
        residue = topology.addResidue("HOH", chain)
        first = system.getNumParticles()
        for element, position in zip("OHH", [(0, 0, 0), (0.09572, 0, 0), (-0.023999, 0.092663, 0)], strict=True):
            topology.addAtom(element, app.element.Element.getBySymbol(element), residue)
            system.addParticle(15.999 if element == "O" else 1.008)
            positions.append(mm.Vec3(*position))
        for i, j, distance in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, 0.15139)):
            system.addConstraint(first + i, first + j, distance)
        well.addParticle(first, [])
    system.addForce(well)
    simulation = app.Simulation(topology, system, integrator, under_test())
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(300 * unit.kelvin, 3)
    return simulation


def make_integrator(seed=7):
    integrator = mc.RattleLangevinIntegrator(300 * unit.kelvin, 50 / unit.picosecond, 2 * unit.femtosecond)
    integrator.setRandomNumberSeed(seed)
    return integrator


def coordinates(simulation):
    return simulation.context.getState(positions=True).getPositions(asNumpy=True)._value


def test_reporter_shows_the_temperature_of_the_bath():
    simulation = make_simulation(make_integrator())
    simulation.step(100)
    table = io.StringIO()
    simulation.reporters.append(app.StateDataReporter(table, 20, temperature=True))
    simulation.step(10000)
    temperatures = np.array([float(line) for line in table.getvalue().splitlines()[1:]])
    assert len(temperatures) == 500
    # 6 degrees of freedom a molecule; 20 steps at 50/ps leave e^-4 of a kinetic energy's deviation
    error = 300 * np.sqrt(2 / (6 * MOLECULES) / len(temperatures))
    assert temperatures.mean() == pytest.approx(300, abs=6 * error)
    assert temperatures.std() == pytest.approx(300 * np.sqrt(2 / (6 * MOLECULES)), rel=0.25)


@pytest.mark.platform
def test_checkpoint_goes_on_bit_for_bit(tmp_path):
    simulation = make_simulation(make_integrator())
    simulation.step(11)
    simulation.saveCheckpoint(str(tmp_path / "state.chk"))
    simulation.step(50)
    other = make_simulation(make_integrator(seed=8))
    other.loadCheckpoint(str(tmp_path / "state.chk"))
    other.step(50)
    assert np.array_equal(coordinates(simulation), coordinates(other))


@pytest.mark.platform
@pytest.mark.parametrize(("seed", "same"), [(7, True), (8, False), (0, False)])
def test_seed_decides_the_trajectory(seed, same):
    ends = []
    for each in (7, seed):
        simulation = make_simulation(make_integrator(each))
        simulation.step(20)
        ends.append(coordinates(simulation))
    assert np.array_equal(*ends) == same


def test_temperature_may_change_while_it_runs():
    simulation = make_simulation(make_integrator())
    simulation.integrator.setTemperature(0 * unit.kelvin)
    simulation.step(2000)
    assert simulation.integrator.computeSystemTemperature() < 1 * unit.kelvin


@pytest.mark.parametrize("geodesic_steps", [0, 2])
def test_heat_is_an_energy_that_explains_the_change_of_the_total_energy(geodesic_steps):
    integrator = make_integrator()
    integrator.setNumGeodesicSteps(geodesic_steps)
    integrator.setStepSize(0.5 * unit.femtosecond)
    simulation = make_simulation(integrator)

    def energy():
        state = simulation.context.getState(energy=True)
        return state.getKineticEnergy() + state.getPotentialEnergy()

    simulation.step(1)
    start, heat = energy(), integrator.getHeat()
    assert heat.unit == unit.kilojoule_per_mole
    integrator.setTemperature(10)
    simulation.step(300)
    change = energy() - start
    assert change < -50 * unit.kilojoule_per_mole
    assert (integrator.getHeat() - heat) / change == pytest.approx(1, abs=0.05)


def test_children_may_have_different_seeds():
    compound = mm.CompoundIntegrator()
    for seed in (7, 8):
        compound.addIntegrator(make_integrator(seed))
    simulation = make_simulation(compound)
    simulation.step(2)
    compound.setCurrentIntegrator(1)
    simulation.step(2)
    assert simulation.context.getStepCount() == 4
