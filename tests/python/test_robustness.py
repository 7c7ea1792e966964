# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Situations that a review found to go wrong without a word."""

import itertools

import numpy as np
import openmm as mm
import pytest
from openmm_series import since
from platforms import bound, under_test

import openmmconstraints as mc

INTEGRATORS = [mc.RattleIntegrator, mc.ShakeIntegrator]
SOLVERS = [mc.ConstraintIntegrator.Iterative, mc.ConstraintIntegrator.MatrixInversion]
FASTEST = (mc.RattleIntegrator, mc.ConstraintIntegrator.MatrixInversion)


def make(masses, positions, constraints=(), integrator=mc.RattleIntegrator, step=0.001, force=None, velocities=None):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    for constraint in constraints:
        system.addConstraint(*constraint)
    if force is not None:
        system.addForce(force)
    integrator = integrator(step)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    if velocities is not None:
        context.setVelocities(velocities)
    return system, integrator, context


def velocity(context, particle=0):
    return context.getState(velocities=True).getVelocities(asNumpy=True)._value[particle]


@pytest.mark.platform
@since("8.5", "PythonForce")
@pytest.mark.parametrize(
    ("integrator", "expected"),
    [(mc.RattleIntegrator, 5.0), (mc.ShakeIntegrator, 4.95)],  # trapezoid; leapfrog, as VerletIntegrator
)
@pytest.mark.parametrize("start", [0.0, 1e-3])
def test_force_that_depends_on_time(integrator, expected, start):
    force = mm.PythonForce(lambda state: (0.0, np.array([[1000 * state.getTime()._value, 0, 0]])))
    _, integrator, context = make([1], [[0, 0, 0]], integrator=integrator, force=force, velocities=[[start, 0, 0]])
    integrator.step(100)
    assert velocity(context)[0] == pytest.approx(expected + start, rel=bound(1e-9, single=5e-7))


@pytest.mark.platform
def test_reinitialize_with_fewer_constraints():
    positions = [[0, 0, 0], [0.15, 0, 0], [0.2, 0.1414, 0]]
    system, integrator, context = make([12] * 3, positions, [(0, 1, 0.15), (1, 2, 0.15)])
    integrator.step(1)
    system.removeConstraint(0)
    context.reinitialize(True)
    integrator.step(1)
    assert integrator.getNumDegreesOfFreedom() == 8


@pytest.mark.parametrize("solver", SOLVERS)
def test_bonds_that_turn_by_more_than_90_degrees(solver):
    force = mm.CustomExternalForce("-fx*x - fy*y")
    for name in ("fx", "fy"):
        force.addPerParticleParameter(name)
    force.addParticle(1, [-2800, 300])  # moves it by -0.28 and 0.03 nm
    force.addParticle(2, [300, -2800])
    _, integrator, context = make(
        [1e6, 1, 1],
        [[0, 0, 0], [0.15, 0, 0], [0, 0.15, 0]],
        [(0, 1, 0.15), (0, 2, 0.15)],
        mc.ShakeIntegrator,
        0.01,
        force,
    )
    integrator.setSolver(solver)
    with pytest.raises(mm.OpenMMException, match="90 degrees"):
        integrator.step(1)
    assert context.getStepCount() == 0


def test_velocity_of_an_immovable_anchor_has_no_effect():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.5)
    _, integrator, context = make([0, 10], [[0, 0, 0], [0.4, 0.3, 0]], force=force, velocities=[[5, 5, 5], [0, 0, 1]])
    integrator.step(500)
    # each step rounds a float of the velocity by up to 6e-8 of it, up or down
    rounding = bound(1e-6, single=1e-5)
    assert context.getState(energy=True).getKineticEnergy()._value == pytest.approx(5.0, rel=rounding)


@pytest.mark.parametrize(
    ("integrator", "solver"),
    [
        pytest.param(*pair, marks=pytest.mark.platform if pair == FASTEST else ())  # on devices one is enough
        for pair in itertools.product(INTEGRATORS, SOLVERS)
    ],
)
def test_energy_does_not_drift_at_small_steps(integrator, solver):
    n, step = 10, 2e-5
    rng = np.random.default_rng(5)
    angles = mm.HarmonicAngleForce()
    for i in range(n - 2):
        angles.addAngle(i, i + 1, i + 2, 2.0, 100)
    bent = [[0.15 * i * np.cos(0.5), 0.15 * np.sin(0.5) * (i % 2), 0] for i in range(n)]
    bonds = [(i, i + 1, float(np.linalg.norm(np.subtract(bent[i], bent[i + 1])))) for i in range(n - 1)]
    _, integrator, context = make([12] * n, bent, bonds, integrator, step, angles, rng.normal(size=(n, 3)))
    integrator.setSolver(solver)
    integrator.step(10)

    def energy():
        state = context.getState(energy=True)
        return (state.getKineticEnergy() + state.getPotentialEnergy())._value

    start = energy()
    integrator.step(10_000)  # 0.2 ps; without a correction in every stage 1e-3 is lost
    assert energy() == pytest.approx(start, rel=bound(3e-5, single=3e-4))


def test_positions_far_off_are_refused_unless_asked_for():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1)
    _, integrator, context = make([16, 1], [[1.95, 0, 0], [0.03, 0, 0]], force=force)
    with pytest.raises(mm.OpenMMException, match=r"(?s)particles 0 and 1.*copies of the periodic box"):
        integrator.step(1)
    with pytest.raises(mm.OpenMMException, match="copies of the periodic box"):
        integrator.applyConstraints()
    context.setPositions([[0.3, 0, 0], [0.9, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=r"(?s)particles 0 and 1.*minimize\(context\).*applyConstraints\(\)"):
        integrator.step(1)
    with pytest.warns(RuntimeWarning, match="applyConstraints"):
        integrator.applyConstraints()
    integrator.step(1)


@pytest.mark.platform
def test_velocity_that_becomes_nan_leaves_the_last_good_state():
    force = mm.CustomExternalForce("sqrt(0.05-x)")
    force.addParticle(0, [])
    _, integrator, context = make([1], [[0.049, 0, 0]], force=force, velocities=[[2, 0, 0]])
    with pytest.raises(mm.OpenMMException, match="particle 0"):
        integrator.step(1)
    assert np.array_equal(velocity(context), [2, 0, 0])
    assert context.getTime()._value == 0


def test_numpy_integers_are_integers():
    force = mc.ConstraintForce()
    assert force.addDistance(np.int64(0), np.int32(1), 0.1) == 0
    _, integrator, context = make([1, 1], [[0, 0, 0], [0.1, 0, 0]], force=force)
    integrator.step(np.int64(2))
    assert context.getStepCount() == 2
    with pytest.raises(TypeError):
        force.addDistance(0.5, 1, 0.1)


@pytest.mark.platform
def test_checkpoint_of_another_integrator_is_refused():
    arguments = ([1, 1], [[0, 0, 0], [0.1, 0, 0]], [(0, 1, 0.1)])
    checkpoint = make(*arguments)[2].createCheckpoint()
    with pytest.raises(mm.OpenMMException, match="another integrator"):
        make(*arguments, integrator=mc.ShakeIntegrator)[2].loadCheckpoint(checkpoint)


class Emptying:
    """A number that empties the list it stands in as soon as somebody wants its value."""

    def __init__(self, owner: list, value: int):
        self.owner, self.value = owner, value

    def __index__(self) -> int:
        self.owner.clear()
        return self.value

    def __float__(self) -> float:
        return float(self.__index__())


def emptying(values) -> list:
    owner: list = []
    owner += [Emptying(owner, value) for value in values]
    return owner


def test_a_list_that_changes_while_it_is_read_counts_as_it_was():
    force = mc.ConstraintForce()
    for _ in range(20):  # freed memory looks good for a while
        index = force.addCentroidDistance(emptying(range(1000)), emptying(range(1000, 1100)), 0.5)
        first, second, _ = force.getCentroidDistanceParameters(index)
        assert (first, second) == (tuple(range(1000)), tuple(range(1000, 1100)))
    surface = mc.CustomConstraintForce(2, "x1*a+x2*b")
    surface.addPerConstraintParameter("a")
    surface.addPerConstraintParameter("b")
    for _ in range(20):
        index = surface.addConstraint(emptying([3, 4]), emptying([5, 6]))
        assert surface.getConstraintParameters(index) == [(3, 4), (5.0, 6.0)]
