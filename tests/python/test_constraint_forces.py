# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""computeConstraintForces() and computeConstraintVirial(): at the present state, against Newton and against steps."""

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc

BOX = np.array([[1.4, 0, 0], [0.3, 1.3, 0], [-0.4, 0.2, 1.2]])
RNG = np.random.default_rng(5)
MASSES = np.array([12.0, 14.0, 1.0, 16.0, 0.0, 12.0, 3.0, 4.0, 5.0, 6.0, 7.0, 2.0, 2.5])
POSITIONS = RNG.uniform(0.2, 0.6, (13, 3))
RATE = 30.0  # of an expression that moves with t^3
BODY, FREE = [5, 6, 7], [8, 9, 10]  # the first one hangs on a constraint
INTEGRATORS = [
    lambda: mc.RattleIntegrator(0.001),
    lambda: mc.ShakeIntegrator(0.001),
    lambda: mc.RattleLangevinIntegrator(300, 1, 0.001),
    lambda: mc.RattleMTSIntegrator(0.001, [(0, 1)]),
    lambda: mc.RattleNoseHooverIntegrator(300, 10, 0.001),
    lambda: mc.ConstraintForceIntegrator(0.001),
]


def everything(x=POSITIONS, c=1.5):
    """Each kind of constraint, an anchor, bodies, and springs between all."""
    system = mm.System()
    for mass in MASSES:
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*(mm.Vec3(*vector) for vector in BOX))
    system.addConstraint(11, 12, np.linalg.norm(x[11] - x[12]))
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(True)
    force.addDistance(0, 1, np.linalg.norm(x[0] - x[1]))
    u, v = x[0] - x[1], x[2] - x[1]
    force.addAngle(0, 1, 2, np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v)))
    force.addDistance(3, 4, np.linalg.norm(x[3] - x[4]))  # an anchor
    force.addDistance(3, 5, np.linalg.norm(x[3] - x[5]))
    force.addRigidBody(BODY, x[BODY])
    force.addRigidBody(FREE, x[FREE])
    custom = mc.CustomConstraintForce(2, "x1*y2+c*z2-a*t^3-b")
    custom.addGlobalParameter("c", c)
    custom.addPerConstraintParameter("a")
    custom.addPerConstraintParameter("b")
    custom.addConstraint([2, 11], [RATE, x[2, 0] * x[11, 1] + 1.5 * x[11, 2]])
    springs = mm.HarmonicBondForce()
    for i in range(12):
        springs.addBond(i, i + 1, 0.2, 800 + 50 * i)
    springs.setUsesPeriodicBoundaryConditions(True)
    for each in (force, custom, springs):
        system.addForce(each)
    return system


def started(system, integrator, x=POSITIONS, tolerance=1e-12):
    integrator.setConstraintTolerance(tolerance)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(x)
    context.setVelocities(np.random.default_rng(6).normal(0, 0.5, (system.getNumParticles(), 3)))
    return context


def state_of(context):
    state = context.getState(positions=True, velocities=True, forces=True)
    return (state.getPositions(asNumpy=True)._value, state.getVelocities(asNumpy=True)._value,
            state.getForces(asNumpy=True)._value)  # fmt: skip


@pytest.mark.platform
@pytest.mark.parametrize("make", INTEGRATORS)
@pytest.mark.parametrize("steps", [0, 5])
def test_forces_are_multipliers_times_gradients(make, steps):
    """For all integrators, whose velocities belong to different times; without bodies. Before the first step positions
    and velocities are off, and the multipliers are those of this state."""
    x = POSITIONS[:4]
    system = mm.System()
    for mass in MASSES[:4]:
        system.addParticle(mass)
    force = mc.ConstraintForce()
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3)]
    for i, j in pairs:
        force.addDistance(i, j, np.linalg.norm(x[i] - x[j]))
    system.addForce(force)
    springs = mm.HarmonicBondForce()
    springs.addBond(0, 3, 0.2, 3000)
    springs.addBond(1, 3, 0.1, 2000)
    system.addForce(springs)
    integrator = make()
    context = started(system, integrator, x if steps else 1.02 * x, tolerance=1e-9)
    if steps:
        integrator.step(steps)
    x, _, _ = state_of(context)
    expected = np.zeros((4, 3))
    for (i, j), multiplier in zip(pairs, integrator.computeMultipliers(), strict=True):
        direction = (x[i] - x[j]) / np.linalg.norm(x[i] - x[j])
        expected[i] += multiplier * direction
        expected[j] -= multiplier * direction
    found = mc.computeConstraintForces(context)
    assert found.unit == unit.kilojoule_per_mole / unit.nanometer
    largest = np.abs(expected).max()
    assert found._value == pytest.approx(expected, abs=largest * bound(1e-9, mixed=1e-5, single=1e-4))


def moved(state, shift):
    """Positions that a state reaches if it goes on uniformly accelerated."""
    x, v, acceleration = state
    return x + shift * v + 0.5 * shift**2 * acceleration


def accelerations_of(context):
    x, v, forces = state_of(context)
    total = forces + mc.computeConstraintForces(context)._value
    movable = MASSES > 0
    v[~movable] = 0  # anchors do not move, whatever velocity was set
    acceleration = np.zeros_like(x)
    acceleration[movable] = total[movable] / MASSES[movable, None]
    return x, v, acceleration


def test_accelerations_keep_all_constraints_and_bodies():
    """The second derivative of each coordinate and of each distance in a body vanishes, by differences; of a body with
    no others the constraint forces have no sum and no torque."""
    integrator = mc.RattleIntegrator(0.001)
    context = started(everything(), integrator)
    integrator.step(3)
    x, _, acceleration = state = accelerations_of(context)
    h = 1e-4

    def second(coordinate):
        values = [coordinate(moved(state, shift)) for shift in (-h, 0, h)]
        return (values[0] - 2 * values[1] + values[2]) / h**2

    def distance(i, j):
        return lambda y: np.linalg.norm(y[i] - y[j])

    def angle(y):
        a, b = y[0] - y[1], y[2] - y[1]
        return np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    def expression(y):  # without its part that moves
        return y[2, 0] * y[11, 1] + 1.5 * y[11, 2]

    held = [(11, 12), (0, 1), (3, 4), (3, 5), (5, 6), (5, 7), (6, 7), (8, 9), (8, 10), (9, 10)]
    coordinates = [distance(i, j) for i, j in held] + [angle, expression]
    assert np.abs(acceleration).max() > 10
    expected = [0.0] * 11 + [6 * RATE * 0.003]
    assert [second(coordinate) for coordinate in coordinates] == pytest.approx(expected, abs=2e-4)
    forces = mc.computeConstraintForces(context)._value
    assert np.abs(forces[FREE]).max() > 10
    assert forces[FREE].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.cross(x[FREE], forces[FREE]).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert forces[4] == pytest.approx(-forces[3] - forces[BODY].sum(axis=0), abs=1e-9)  # of the anchor


def test_a_small_step_applies_them():
    """Its impulse over its length is the force at its start, to first order in its length."""
    integrator = mc.RattleIntegrator(0.001)
    context = started(everything(), integrator, tolerance=1e-14)
    integrator.step(3)
    errors = []
    for size in (2e-4, 1e-4):
        duplicate = mc.RattleIntegrator(size)
        other = started(context.getSystem(), duplicate, tolerance=1e-14)
        other.setState(context.getState(positions=True, velocities=True, parameters=True))
        forces, virial = mc.computeConstraintForces(context)._value, mc.computeConstraintVirial(context)._value
        duplicate.step(1)
        errors.append((np.abs(duplicate.getConstraintForces(asNumpy=True)._value - forces).max(),
                       np.abs(duplicate.getConstraintVirial(asNumpy=True)._value - virial).max()))  # fmt: skip
    assert errors[1][0] < 0.01 * np.abs(forces).max()
    assert errors[1][1] < 0.01 * np.abs(virial).max()
    assert np.array(errors[0]) / errors[1] == pytest.approx([2, 2], rel=0.2)


def test_the_virial_is_that_of_the_forces_of_whole_molecules():
    """Sum of r_i F_i, also where particles are wrapped into a triclinic box one by one."""
    system = everything()
    system.removeForce(2)  # the springs, and the expression, which is of absolute positions
    system.removeForce(1)
    springs = mm.HarmonicBondForce()
    for i in range(12):
        springs.addBond(i, i + 1, 0.2, 800 + 50 * i)
    springs.setUsesPeriodicBoundaryConditions(True)
    system.addForce(springs)
    integrator = mc.RattleIntegrator(0.001)
    x = POSITIONS + np.array([1.1, 1.0, 0.9])
    context = started(system, integrator, x)
    expected = x.T @ mc.computeConstraintForces(context)._value
    assert np.abs(expected).max() > 10
    assert mc.computeConstraintVirial(context).unit == unit.kilojoule_per_mole
    assert mc.computeConstraintVirial(context)._value == pytest.approx(expected, abs=1e-9)
    wrapped = x - np.floor(x @ np.linalg.inv(BOX)) @ BOX
    assert np.abs(wrapped - x).max() > 1
    forces = mc.computeConstraintForces(context)._value
    context.setPositions(wrapped)
    assert mc.computeConstraintForces(context)._value == pytest.approx(forces, abs=1e-7)
    assert mc.computeConstraintVirial(context)._value == pytest.approx(expected, abs=1e-7)


def test_a_bond_of_the_system_across_a_face():
    """Which takes images because another Force is periodic."""
    system = mm.System()
    for mass in (12, 16):
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*(mm.Vec3(*vector) for vector in BOX))
    system.addConstraint(0, 1, 0.2)
    springs = mm.HarmonicBondForce()
    springs.addBond(0, 1, 0.15, 1000)
    springs.setUsesPeriodicBoundaryConditions(True)
    system.addForce(springs)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    scaled = 1.5 * BOX  # not the default: of a barostat, say
    context.setPeriodicBoxVectors(*scaled)
    context.setPositions([[0.1, 0, 0], [0.3 - 0.4 * 1.5, 0.2 * 1.5, 1.2 * 1.5]])
    assert mc.computeConstraintForces(context)._value == pytest.approx(np.array([[-50, 0, 0], [50, 0, 0]]), abs=1e-6)
    assert mc.computeConstraintVirial(context)._value == pytest.approx(np.diag([10.0, 0, 0]), abs=1e-6)


def test_linear_and_planar_molecules():
    """CO2 by redundant distances and a flat ring, whose multipliers alone do not have the force on each particle."""
    system = mm.System()
    force = mc.ConstraintForce()
    x = np.array([[0, 0, 0], [0.116, 0, 0], [-0.116, 0, 0], [1, 0, 0], [1.1, 0, 0], [1.1, 0.1, 0], [1, 0.1, 0]])
    for mass in (12, 16, 16, 5, 6, 7, 8):
        system.addParticle(mass)
    for particles in ((0, 1, 2), (3, 4, 5, 6)):
        for i in particles:
            for j in particles:
                if i < j:
                    force.addDistance(i, j, np.linalg.norm(x[i] - x[j]))
    system.addForce(force)
    field = mm.CustomExternalForce("300*y*x+200*z+100*z*x")
    for i in range(7):
        field.addParticle(i)
    system.addForce(field)
    integrator = mc.RattleIntegrator(0.001)
    context = started(system, integrator, x)
    integrator.step(2)
    places, v, forces = state_of(context)
    found = mc.computeConstraintForces(context)._value
    a = (forces + found) / np.array([12, 16, 16, 5, 6, 7, 8])[:, None]
    for molecule in ([0, 1, 2], [3, 4, 5, 6]):
        assert found[molecule].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-8)
        for i in molecule:
            for j in molecule:
                d, w = places[i] - places[j], v[i] - v[j]
                assert d @ (a[i] - a[j]) + w @ w == pytest.approx(0, abs=1e-6)
    # On a line the acceleration is linear in the place.
    assert a[1] + a[2] == pytest.approx(2 * a[0], abs=1e-6)


def test_parameters_force_groups_and_the_state_before_the_first_step():
    system = everything()
    hidden = mm.CustomExternalForce("100*x")
    hidden.addParticle(0)
    hidden.setForceGroup(3)
    system.addForce(hidden)
    integrator = mc.RattleIntegrator(0.001)
    integrator.setIntegrationForceGroups({0})
    context = started(system, integrator)
    context.setParameter("c", 1.55)
    with pytest.raises(mm.OpenMMException, match="c"):
        mc.computeConstraintForces(context)
    integrator.applyConstraints()
    found = mc.computeConstraintForces(context)._value
    other = started(everything(c=1.55), mc.RattleIntegrator(0.001))
    other.setPositions(context.getState(positions=True).getPositions())
    other.setVelocities(context.getState(velocities=True).getVelocities())
    assert found == pytest.approx(mc.computeConstraintForces(other)._value, abs=1e-6)
    before = context.getState(positions=True, velocities=True)
    mc.computeConstraintVirial(context)
    after = context.getState(positions=True, velocities=True)
    assert before.getPositions() == after.getPositions()
    assert before.getVelocities() == after.getVelocities()


def test_virtual_sites_and_compound_integrators():
    """The force on a site is carried by its parents, once."""
    system = mm.System()
    for mass in (12, 16, 0):
        system.addParticle(mass)
    system.setVirtualSite(2, mm.TwoParticleAverageSite(0, 1, 0.25, 0.75))
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.2)
    force.setReplacesSolver(True)  # which integrators of this package need not
    system.addForce(force)
    pull = mm.CustomExternalForce("-40*x")
    pull.addParticle(2)
    system.addForce(pull)
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(mc.RattleIntegrator(0.001))
    compound.addIntegrator(mc.ShakeIntegrator(0.001))
    compound.setCurrentIntegrator(1)
    context = mm.Context(system, compound, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.2, 0, 0], [0.15, 0, 0]])
    # Both have the acceleration 40/28; the parents get 10 and 30.
    expected = np.array([[12 * 40 / 28 - 10, 0, 0], [16 * 40 / 28 - 30, 0, 0], [0, 0, 0]])
    assert mc.computeConstraintForces(context)._value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("place", [0, 1])
def test_messages_name_a_force_by_its_index_in_the_system(place):
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(2):
        system.addParticle(12)
    force.addDistance(0, 1, 0.2)
    spring = mm.HarmonicBondForce()
    spring.setUsesPeriodicBoundaryConditions(True)
    for each in (force, spring) if place == 0 else (spring, force):
        system.addForce(each)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0.1, 0, 0], [0.1, 0, 0]])  # where the distance has no gradient
    with pytest.raises(mm.OpenMMException, match=f"distance 0 of the ConstraintForce with index {place} "):
        mc.computeConstraintForces(context)


def test_other_integrators_are_refused():
    system = mm.System()
    system.addParticle(1)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    for function in (mc.computeConstraintForces, mc.computeConstraintVirial):
        with pytest.raises(TypeError, match=rf"{function.__name__}: the Context has VerletIntegrator"):
            function(context)
        with pytest.raises(TypeError, match=r"an openmm\.Context is needed"):
            function(system)
