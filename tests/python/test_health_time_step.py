# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a check of a System says of vibrations, and of the time step that they allow."""

from __future__ import annotations

import math

import numpy as np
import openmm as mm
import pytest
from findings import add_force, kinds, make_system, villin_in_water
from openmm import unit

import openmmconstraints as mc


def harmonic(masses, bonds=(), angles=()):
    system = make_system(masses)
    bond_force, angle_force = mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    for bond in bonds:
        bond_force.addBond(*bond)
    for angle in angles:
        angle_force.addAngle(*angle)
    system.addForce(bond_force)
    system.addForce(angle_force)
    return system


def test_period_of_a_bond_is_that_of_the_harmonic_oscillator():
    system = harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)])
    (vibration,) = mc.Health(system).vibrations
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(3e5 * (1 + 1 / 12)), rel=1e-12)


def test_period_of_an_angle_is_that_of_its_normal_mode():
    """Bonds constrained, so that the bend is the only internal motion: from the Hessian of OpenMM's energy."""
    a, theta, k = 0.1, math.radians(110), 400.0
    system = harmonic([1.0, 1e9, 3.0], [(0, 1, a, 1e5), (1, 2, a, 1e5)], [(0, 1, 2, theta, k)])
    add_force(system, [(0, 1, a), (1, 2, a)])
    (vibration,) = mc.Health(system).vibrations
    # With a heavy centre, the ends turn about it: moment m a^2 each.
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(k * (1 + 1 / 3) / a**2), rel=1e-6)


def test_angle_element_is_the_square_of_the_mass_weighted_gradient():
    a, b, theta, k = 0.1, 0.14, math.radians(109), 300.0
    masses = [1.0, 12.0, 16.0]
    system = harmonic(masses, [(0, 1, a, 0), (1, 2, b, 0)], [(0, 1, 2, theta, k)])
    x = np.array([[a, 0, 0], [0, 0, 0], [b * math.cos(theta), b * math.sin(theta), 0]])

    def angle(x):
        return math.atan2(np.linalg.norm(np.cross(x[0] - x[1], x[2] - x[1])), np.dot(x[0] - x[1], x[2] - x[1]))

    G = 0.0
    for i, mass in enumerate(masses):
        for axis in range(3):
            step = np.zeros_like(x)
            step[i, axis] = 1e-6
            G += ((angle(x + step) - angle(x - step)) / 2e-6) ** 2 / mass
    (vibration,) = mc.Health(system).vibrations
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(k * G), rel=1e-6)


def test_estimated_period_tells_where_the_integrator_becomes_unstable():
    """Water with rigid bonds and a flexible angle: velocity Verlet needs pi steps a period."""
    system = harmonic([16.0, 1.0, 1.0], (), [(1, 0, 2, math.radians(104.52), 836.8)])
    add_force(system, [(0, 1, 0.09572), (0, 2, 0.09572)])
    x = 0.09572 * np.array([[0, 0, 0], [1, 0, 0], [math.cos(1.8), math.sin(1.8), 0]])
    limit = mc.Health(system).vibrations[0].period / 1000 / math.pi

    def run(step):
        integrator = mc.RattleIntegrator(step)
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(x)
        integrator.step(300)
        return context.getState(energy=True).getKineticEnergy().value_in_unit(unit.kilojoule_per_mole)

    assert run(0.95 * limit) < 2
    with pytest.raises(mm.OpenMMException, match="could not be solved"):
        run(1.08 * limit)


@pytest.fixture(scope="module")
def villin():
    return villin_in_water()


def test_time_step_follows_from_what_is_left_unconstrained(villin):
    system, pdb = villin
    health = mc.Health(system, topology=pdb.topology)
    assert health.recommendedTimeStep.value_in_unit(unit.femtosecond) == pytest.approx(2.5)
    assert "ARG14:HH11 - ARG14:NH1 - ARG14:HH12" in health.stepLimit
    free = mc.Health(harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)]))
    heavy = mc.Health(harmonic([4.0, 9.0], [(0, 1, 0.109, 3e5)]))
    assert heavy.recommendedTimeStep > 1.5 * free.recommendedTimeStep
    nothing = mc.Health(make_system([4.0, 9.0]))
    assert nothing.recommendedTimeStep.value_in_unit(unit.femtosecond) == pytest.approx(8)


@pytest.mark.parametrize(("steps", "severity"), [(2.9, "error"), (4, "warning"), (8, "note"), (10.1, None)])
def test_time_step_is_judged_by_steps_a_period(steps, severity):
    system = harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)])
    period = mc.Health(system).vibrations[0].period / 1000
    health = mc.Health(system, integrator=mc.RattleIntegrator(period / steps))
    assert kinds(health, severity) == (["time-step"] if severity else [])
