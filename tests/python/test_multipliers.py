# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Multipliers, constraint forces and virial against closed forms."""

import numpy as np
import openmm as mm
import pytest
from platforms import IS_REFERENCE, PRECISION, bound, under_test

import openmmconstraints as mc

INTEGRATORS = [mc.RattleIntegrator, mc.ShakeIntegrator]
MASSES = np.array([12.0, 14.0, 1.0, 16.0])
POSITIONS = np.array([[0, 0, 0], [0.15, 0, 0], [0.2, 0.14, 0], [0.33, 0.16, 0.09]])


def rounding_force(mass, coordinate, step):
    """What rounding a coordinate to float is to multipliers of a step: the force that moves a mass by as much."""
    return float(2 * mass * np.spacing(np.float32(coordinate)) / step**2)


def held_bond(integrator):
    """A spring of length 0.15 nm held at 0.2 nm, at rest."""
    system = mm.System()
    for mass in (3, 5):
        system.addParticle(mass)
    bond = mm.HarmonicBondForce()
    bond.addBond(0, 1, 0.15, 1000)
    system.addForce(bond)
    system.addConstraint(0, 1, 0.2)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.2, 0, 0]])
    return context


@pytest.mark.platform
@pytest.mark.parametrize("cls", INTEGRATORS)
def test_held_spring(cls):
    integrator = cls(0.001)
    context = held_bond(integrator)
    for read in (integrator.getMultipliers, integrator.getConstraintForces, integrator.getConstraintVirial):
        with pytest.raises(mm.OpenMMException, match=r"none has been taken in this Context.*computeMultipliers\(\)"):
            read()
    integrator.step(3)
    rounding = bound(5e-5, single=rounding_force(1.9, 0.2, 0.001))
    assert integrator.getMultipliers() == pytest.approx([50.0], abs=rounding)  # k (xi0 - b): it pushes apart
    assert integrator.computeMultipliers() == pytest.approx([50.0])
    forces = np.array([[-50, 0, 0], [50, 0, 0]])
    assert np.array(integrator.getConstraintForces()) == pytest.approx(forces, abs=rounding)
    assert np.array(integrator.getConstraintVirial()) == pytest.approx(np.diag([10.0, 0, 0]), abs=0.2 * rounding)
    checkpoint = context.createCheckpoint()
    read = integrator.getMultipliers(), integrator.getConstraintForces(), integrator.getConstraintVirial()
    integrator.step(2)
    context.loadCheckpoint(checkpoint)
    assert (integrator.getMultipliers(), integrator.getConstraintForces(), integrator.getConstraintVirial()) == read


def chain(cls, step):
    """Two bonds and their angle in a chain of four, all moving."""
    system = mm.System()
    for mass in MASSES:
        system.addParticle(mass)
    u, w = POSITIONS[0] - POSITIONS[1], POSITIONS[2] - POSITIONS[1]
    constraints = mc.ConstraintForce()
    constraints.addDistance(0, 1, np.linalg.norm(u))
    constraints.addDistance(1, 2, np.linalg.norm(w))
    constraints.addAngle(0, 1, 2, np.arccos(u @ w / np.linalg.norm(u) / np.linalg.norm(w)))
    bonds = mm.HarmonicBondForce()
    bonds.addBond(2, 3, 0.15, 5000)
    bonds.addBond(0, 3, 0.3, 800)
    system.addForce(constraints)
    system.addForce(bonds)
    integrator = cls(step)
    integrator.setConstraintTolerance(1e-13)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(POSITIONS)
    context.setVelocities(np.random.default_rng(1).normal(size=(4, 3)))
    return integrator, context


@pytest.mark.platform
def test_instantaneous_multipliers_agree_with_the_two_bond_matrix():
    """equations.md 4: one bond between free particles, and a rotating dimer's centripetal force."""
    integrator = mc.RattleIntegrator(0.001)
    context = held_bond(integrator)
    context.setVelocities([[0, 0.5, 0], [0, -0.3, 0]])
    force, m1, m2, length, speed = 50.0, 3.0, 5.0, 0.2, 0.8
    expected = force - m1 * m2 / (m1 + m2) * speed**2 / length
    close = bound(1e-12, double=3e-7)  # OpenMM's devices keep a spring's length as a float
    assert integrator.computeMultipliers() == pytest.approx([expected], rel=close)


@pytest.mark.parametrize("cls", INTEGRATORS)
def test_multipliers_approach_the_instantaneous_ones(cls):
    position, mean = [], []
    steps = (0.002, 0.001, 0.0005)
    for step in steps:
        integrator, _ = chain(cls, step)
        integrator.step(round(0.1 / step))
        before = np.array(integrator.getVelocityMultipliers())
        exact = np.array(integrator.computeMultipliers())
        integrator.step(1)
        after = np.array(integrator.getMultipliers())
        position.append(abs(after - exact).max())
        mean.append(abs((after + before) / 2 - exact).max())
    if not IS_REFERENCE and PRECISION == "single":  # rounding hides the order
        for step, off in zip(steps, position, strict=True):
            assert off < 20 * step + rounding_force(MASSES.max(), POSITIONS.max(), step)
    elif cls is mc.RattleIntegrator:  # the position stage at first order, the mean of both at second
        assert position[0] / position[1] == pytest.approx(2, rel=0.15)
        assert mean[0] / mean[1] == pytest.approx(4, rel=0.15)
        assert mean[1] / mean[2] == pytest.approx(4, rel=0.1)
    else:
        assert position[0] / position[1] == pytest.approx(4, rel=0.15)
        assert position[1] / position[2] == pytest.approx(4, rel=0.1)


@pytest.mark.platform
def test_constraint_forces_are_internal():
    integrator, _ = chain(mc.RattleIntegrator, 0.001)
    integrator.step(20)
    forces, virial = np.array(integrator.getConstraintForces()), np.array(integrator.getConstraintVirial())
    assert np.abs(forces).max() > 1
    assert forces.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert virial == pytest.approx(virial.T, abs=1e-9)  # no torque


def test_constrained_accelerations_keep_the_constraint():
    """J a + J-dot v = 0: the second difference of the length along the constrained motion vanishes."""
    integrator = mc.RattleIntegrator(0.001)
    context = held_bond(integrator)
    velocities = np.array([[0, 0.5, 0.1], [0, -0.3, 0.4]])
    context.setVelocities(velocities)
    [multiplier] = integrator.computeMultipliers()
    state = context.getState(positions=True, forces=True)
    x = state.getPositions(asNumpy=True)._value
    direction = (x[0] - x[1]) / np.linalg.norm(x[0] - x[1])
    forces = state.getForces(asNumpy=True)._value + multiplier * np.array([direction, -direction])
    a = forces / np.array([[3.0], [5.0]])
    r, v, w = x[0] - x[1], velocities[0] - velocities[1], a[0] - a[1]
    assert v @ v + r @ w == pytest.approx(0, abs=bound(1e-12, double=1e-9, single=1e-6))


def bent_triangle():
    """A right angle held by three distances and the angle besides, and a plane whose slope is a parameter."""
    system = mm.System()
    for _ in range(3):
        system.addParticle(10)
    force = mc.ConstraintForce()
    for i, j, length in ((0, 1, 0.1), (1, 2, 0.1), (0, 2, 0.1 * 2**0.5)):
        force.addDistance(i, j, length)
    force.addAngle(0, 1, 2, np.pi / 2)
    system.addForce(force)
    plane = mc.CustomConstraintForce(1, "a*g*(z1-0.1*x1)")
    plane.addPerConstraintParameter("a")
    plane.addGlobalParameter("g", 1)
    plane.addConstraint([2], [1])
    system.addForce(plane)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0.1, 0, 0], [0, 0, 0], [0, 0.1, 0]])
    context.setVelocities([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    return context, integrator, plane


def readings(integrator):
    vectors = [np.array(integrator.getConstraintForces()), np.array(integrator.getConstraintVirial())]
    return [np.array(integrator.getMultipliers()), np.array(integrator.getVelocityMultipliers()), *vectors]


@pytest.mark.platform
def test_dependent_sets_have_no_multipliers_before_the_first_step():
    _context, integrator, _ = bent_triangle()
    with pytest.raises(mm.OpenMMException, match="none has been taken in this Context"):
        readings(integrator)


def test_readings_of_a_step_outlive_changes_of_parameters():
    context, integrator, plane = bent_triangle()
    integrator.step(3)
    before = readings(integrator)
    assert all(reading.any() for reading in before)

    def assert_unchanged():
        for now, then in zip(readings(integrator), before, strict=True):
            np.testing.assert_allclose(now, then, rtol=1e-12)

    context.setParameter("g", 2)
    assert_unchanged()
    integrator.computeMultipliers()  # takes notice of the parameter
    assert_unchanged()
    checkpoint = context.createCheckpoint()
    plane.setConstraintParameters(0, [2], [5])
    plane.updateParametersInContext(context)
    assert_unchanged()
    integrator.step(1)
    assert not np.allclose(readings(integrator)[0], before[0], rtol=1e-3)
    plane.setConstraintParameters(0, [2], [1])
    plane.updateParametersInContext(context)
    context.setParameter("g", 3)
    context.loadCheckpoint(checkpoint)
    assert_unchanged()


def virial_of(force, box=4.0, wrapped=False):
    """After one step of four particles on a line, of which the last two may be in other images than the first."""
    system = mm.System()
    system.setDefaultPeriodicBoxVectors([box, 0, 0], [0, box, 0], [0, 0, box])
    for mass in (5, 6, 7, 8):
        system.addParticle(mass)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-10)
    context = mm.Context(system, integrator, under_test())
    positions = np.array([[0, 0, 0], [0.3, 0, 0], [1.1, 0, 0], [1.9, 0, 0]])
    context.setPositions(positions - wrapped * box * np.array([[0], [1], [0], [0]]))
    context.setVelocities([[0, 0, 0], [0, 2, 1], [1, 0, 0], [0, 1, 0]])
    integrator.step(1)
    assert np.abs(integrator.getMultipliers()).max() > 1
    return np.array(integrator.getConstraintVirial())


def centroids():
    """Groups that reach farther than half the smaller box."""
    force = mc.ConstraintForce()
    force.addCentroidDistance([0, 1], [2, 3], (7 * 1.1 + 8 * 1.9) / 15 - 6 * 0.3 / 11)
    return force


def expression():
    force = mc.CustomConstraintForce(
        4, "pointdistance(x1,y1,z1,x2,y2,z2)+0.3*pointdistance(x3,y3,z3,x4,y4,z4)+0.1*(x1-x3)-0.43"
    )
    force.addConstraint([0, 1, 2, 3])
    return force


@pytest.mark.parametrize("make", [centroids, expression])
def test_the_virial_takes_the_images_that_the_constraint_takes(make):
    expected = virial_of(make())
    assert np.abs(expected).max() > 0.1
    for box, wrapped in ((4.0, False), (3.2, False), (4.0, make is expression)):
        force = make()
        force.setUsesPeriodicBoundaryConditions(True)
        rounding = bound(1e-8, mixed=1e-6, single=0.4 * rounding_force(8, 4, 0.001))
        np.testing.assert_allclose(virial_of(force, box, wrapped), expected, atol=rounding)
