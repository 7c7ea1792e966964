# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mean pressures by scaling atoms, on the platforms that are named here only."""

import networks
import numpy as np
import openmm as mm
import pytest
from pressed import BAR, argon_dimers, in_bar, water_box, water_system

import openmmconstraints as mc

KT = 0.00831446261815324 * 300  # kJ/mol


def langevin(step, friction=2):
    integrator = mc.RattleLangevinIntegrator(300, friction, step)
    integrator.setRandomNumberSeed(4)
    return integrator


def mean_with_error(samples, blocks=30):
    """Of a list of values or of arrays, each element by itself."""
    blocked = np.reshape(samples[: len(samples) // blocks * blocks], (blocks, -1, *np.shape(samples[0])))
    means = np.mean(blocked, axis=1)
    return np.mean(means, axis=0), np.std(means, axis=0, ddof=1) / np.sqrt(blocks)


@pytest.mark.statistics
def test_an_ideal_gas_of_rigid_dimers_has_n_kt_over_v():
    simulation = argon_dimers(langevin(0.002, 20), epsilon=0)
    samples = []
    for _ in range(1500):
        simulation.step(10)
        samples.append(in_bar(mc.computePressure(simulation.context)))
    mean, error = mean_with_error(samples)
    expected = 27 * KT / 2.2**3 * BAR
    assert error < 0.02 * expected
    assert abs(mean - expected) < 5 * error


def run_of_pressures(integrator, system, positions, steps, every):
    # One thread, and forces in a fixed order, so that the run repeats.
    properties = {"Threads": "1", "DeterministicForces": "true"}
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CPU"), properties)
    context.setPositions(positions)
    mm.LocalEnergyMinimizer.minimize(context, 10, 100)
    context.setVelocitiesToTemperature(300, 3)
    integrator.step(steps // 5)
    samples = []
    for _ in range(steps // every):
        integrator.step(every)
        samples.append(in_bar(mc.computePressure(context)))
    return mean_with_error(samples)


@pytest.mark.statistics
def test_rigid_water_has_one_pressure_at_1_2_and_4_fs():
    modeller, field = water_box("tip3p", 1.6)
    means = {}
    for femtoseconds in (1, 2, 4):
        system = water_system(modeller, field, 0.75)
        means[femtoseconds] = run_of_pressures(
            langevin(0.001 * femtoseconds), system, modeller.positions, 60000 // femtoseconds, 20 // femtoseconds
        )
    for step in (2, 4):
        (mean, error), (reference, its_error) = means[step], means[1]
        combined = np.hypot(error, its_error)
        assert combined < 100
        assert abs(mean - reference) < 4 * combined


def ideal_chains(edge):
    integrator = langevin(0.004, 10)
    context = networks.build_chains(edge, 32, integrator, mm.Platform.getPlatform("Reference"))
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 3)
    integrator.step(500)
    return context


@pytest.mark.statistics
def test_a_network_has_the_pressure_of_its_free_energy():
    context = ideal_chains(1.0)
    samples = []
    for _ in range(3000):
        context.getIntegrator().step(10)
        samples.append(in_bar(mc.computePressureTensor(context)))
    mean, error = mean_with_error(samples)
    along, across = networks.pressure_along(1.0, 32, KT)
    assert error[0, 0] < 0.02 * abs(along) * BAR
    assert np.all(error < 0.1 * across * BAR)
    assert np.all(abs(mean - BAR * np.diag([along, across, across])) < 5 * error)


@pytest.mark.statistics
def test_a_network_that_is_held_at_a_pressure_takes_the_volume_of_its_free_energy():
    """By stochastic approximation: changes of the box get smaller. The mean of the second half is the result."""
    along, across = networks.pressure_along(1.05, 32, KT)
    wanted = (along + 2 * across) / 3 * BAR
    context, edges = ideal_chains(1.0), []
    for i in range(4000):
        context.getIntegrator().step(10)
        scale = 1 + 2e-5 / (1 + i / 100) ** 0.7 * (in_bar(mc.computePressure(context)) - wanted)
        state = context.getState(positions=True)
        context.setPeriodicBoxVectors(*(scale * vector for vector in state.getPeriodicBoxVectors()))
        context.setPositions(scale * state.getPositions(asNumpy=True))
        context.getIntegrator().applyConstraints()
        edges.append(state.getPeriodicBoxVectors()[0][0]._value)
    mean, error = mean_with_error(edges[2000:], 10)
    assert error < 0.002
    assert abs(mean - 1.05) < 5 * error
