# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Health: where OpenMM's own solver would fail, what it does not count, and velocities that it draws."""

import numpy as np
import openmm as mm
import pytest
from periodic_networks import helix
from test_periodic_networks import system_of

import openmmconstraints as mc

OH, HH = 0.09572, 0.15139


def triangle(masses, lengths):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    for (i, j), length in zip([(0, 1), (0, 2), (1, 2)], lengths, strict=True):
        system.addConstraint(i, j, length)
    return system


def corners(lengths):
    a, b, c = lengths
    x = (a * a + b * b - c * c) / (2 * a)
    return np.array([[0, 0, 0], [a, 0, 0], [x, np.sqrt(max(b * b - x * x, 0)), 0]])


def kinds(health):
    return {finding.kind: finding for finding in health.findings}


def test_waters_with_a_deuterium_are_warned_about_and_openmm_does_fail():
    lengths, masses = (OH, OH, HH), (15.999, 1.008, 2.014)
    system = triangle(masses, lengths)
    integrator = mm.VerletIntegrator(0.001)
    found = kinds(mc.Health(system, integrator=integrator))["settle"]
    assert (found.severity, found.particles, found.count) == ("warning", (0, 1, 2), 1)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(corners(lengths))
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(50)
    x = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert not abs(np.linalg.norm(x[1] - x[0]) - OH) < 1e-6
    assert "settle" not in kinds(mc.Health(triangle((15.999, 1.008, 1.008), lengths), integrator=integrator))
    assert "settle" not in kinds(mc.Health(system))  # our own integrator
    mc.replaceSolver(system)
    assert "settle" not in kinds(mc.Health(system, integrator=integrator))


def test_carbon_dioxide_is_warned_about_under_an_integrator_of_openmm():
    system = triangle((16, 12, 16), (0.116, 0.232, 0.116))
    found = kinds(mc.Health(system, integrator=mm.LangevinMiddleIntegrator(300, 1, 0.001)))["rigid"]
    assert found.severity == "warning"
    assert "replaceSolver" in found.remedy
    assert kinds(mc.Health(system))["rigid"].severity == "note"
    mc.replaceSolver(system)
    health = mc.Health(system, integrator=mm.LangevinMiddleIntegrator(300, 1, 0.001))
    assert kinds(health)["rigid"].severity == "note"
    factor = kinds(health)["temperature"].values["factor"]
    assert factor == pytest.approx(6 / 5)  # three distances hold four degrees of freedom


def test_the_trial_draws_velocities():
    """Carbon dioxide's velocities explode in OpenMM's solver, at rest it steps."""
    x = np.array([[0, 0, 0], [0.116, 0, 0], [0.232, 0, 0]])
    system = triangle((16, 12, 16), (0.116, 0.232, 0.116))
    integrator = mm.LangevinMiddleIntegrator(0, 0, 0.001)
    health = mc.Health(system, x, integrator=integrator, platform=mm.Platform.getPlatform("Reference"))
    assert not health.ok
    assert kinds(health)["not-finite"].severity == "error"
    mc.replaceSolver(system)
    health = mc.Health(system, x, integrator=integrator, platform=mm.Platform.getPlatform("Reference"))
    assert health.ok
    assert health.placement.steps == 3


def test_what_is_not_counted_is_a_warning_with_the_factor():
    system = mm.System()
    for _ in range(3):
        system.addParticle(10)
    force = mc.ConstraintForce()
    force.addAngle(0, 1, 2, 2.0)
    system.addForce(force)
    added = mc.replaceSolver(system)
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    found = kinds(mc.Health(system, integrator=integrator))["temperature"]
    assert found.values["factor"] == pytest.approx(added.temperature_factor) == pytest.approx(9 / 8)
    assert "temperature" in kinds(mc.Health(system))
    assert "temperature" not in kinds(mc.Health(system, integrator=mc.RattleIntegrator(0.001)))


def test_a_number_that_depends_on_positions_is_a_warning():
    network = helix(True)
    system = system_of(network)
    with pytest.warns(RuntimeWarning, match="replaceSolver"):
        mc.replaceSolver(system)
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    found = kinds(mc.Health(system, integrator=integrator))["temperature"]
    assert (found.severity, found.values) == ("warning", {"counted": 9})
    assert "depends on positions" in found.message
    assert "replaceSolver(system, positions=" in found.remedy
    found = kinds(mc.Health(system, network.x, integrator=integrator))["temperature"]
    assert found.values["independent"] == 26
    system = system_of(network)
    mc.replaceSolver(system, positions=network.x)
    assert "temperature" not in kinds(mc.Health(system, network.x, integrator=integrator))


def test_a_system_with_replaced_solver_is_checked_as_such_without_an_integrator():
    system = mm.System()
    for _ in range(2):
        system.addParticle(10)
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1, rate=0.01)
    system.addForce(force)
    assert mc.Health(system).ok
    mc.replaceSolver(system)
    health = mc.Health(system)
    assert not health.ok
    assert "moves in time" in kinds(health)["integrator"].message
    assert mc.Health(system, integrator=mc.RattleIntegrator(0.001)).ok
