# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mean pressures by scaling atoms; long, and on the platforms that are named here only."""

import numpy as np
import openmm as mm
import pytest
from pressed import BAR, argon_dimers, in_bar, water_box, water_system

import openmmconstraints as mc

pytestmark = pytest.mark.long
KT = 0.00831446261815324 * 300  # kJ/mol


def langevin(step, friction=2):
    integrator = mc.RattleLangevinIntegrator(300, friction, step)
    integrator.setRandomNumberSeed(4)
    return integrator


def mean_with_error(samples, blocks=10):
    means = np.mean(np.reshape(samples[: len(samples) // blocks * blocks], (blocks, -1)), axis=1)
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(blocks)


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
