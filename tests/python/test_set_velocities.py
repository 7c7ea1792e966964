# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Velocities that others set, with the integrators whose velocities are half a step behind the positions."""

import numpy as np
import openmm as mm
import pytest
from platforms import EVERYWHERE, named

import openmmconstraints as mc

STEP = 0.002
INTEGRATORS = {
    "Shake": lambda: mc.ShakeIntegrator(STEP),
    "RattleLangevin": lambda: mc.RattleLangevinIntegrator(0, 0, STEP),
}
integrators = pytest.mark.parametrize("make", INTEGRATORS.values(), ids=INTEGRATORS)
everywhere = pytest.mark.parametrize("where", EVERYWHERE)


def dimer(make, where, rate=0.0):
    """Two particles of 12 and 4 Da, 0.1 nm apart."""
    system, force = mm.System(), mc.ConstraintForce()
    force.addDistance(system.addParticle(12), system.addParticle(4), 0.1, rate=rate)
    system.addForce(force)
    integrator = make()
    integrator.setConstraintTolerance(1e-6)
    context = mm.Context(system, integrator, named(where))
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    return context, integrator


def velocities(context):
    return context.getState(velocities=True).getVelocities(asNumpy=True)._value


@integrators
@everywhere
def test_first_step_has_no_force_of_the_projection(make, where):
    readings = []
    for projects in (False, True):
        context, integrator = dimer(make, where)
        context.setVelocities([[0, 0, 0], [1, 1, 0]])  # 1 nm/ps along the bond
        if projects:
            integrator.applyVelocityConstraints()
        integrator.step(1)
        readings.append(np.append(integrator.getMultipliers(), velocities(context)))
    assert abs(readings[1][0]) < 31  # mu v^2/r is 30, a projection within the step has 1,500
    assert readings[0] == pytest.approx(readings[1], abs=1e-6)


@integrators
@everywhere
def test_they_are_projected_after_a_step_that_failed_too(make, where):
    context, integrator = dimer(make, where)
    context.setVelocities([[0, 0, 0], [10, 60, 0]])  # 1.2 rad in a step
    with pytest.raises(mm.OpenMMException, match="would turn it by"):
        integrator.step(1)
    assert velocities(context) == pytest.approx(np.array([[0, 0, 0], [10, 60, 0]]))
    integrator.setStepSize(STEP / 10)
    integrator.step(1)
    assert integrator.getMultipliers() == pytest.approx([-0.5 * 3 * 60**2 / 0.1], rel=0.02)  # half a turn of mu v^2/r


@integrators
@everywhere
def test_work_is_that_of_the_motion(make, where):
    context, integrator = dimer(make, where, rate=0.1)
    context.setVelocities([[0, 0, 0], [-1, 0, 0]])
    integrator.step(10)
    assert integrator.getConstraintWork()._value == pytest.approx(0, abs=1e-5)  # it does not turn


@integrators
@everywhere
@pytest.mark.parametrize("turn", [0.05, 0.9])  # rad in a step
def test_velocities_of_a_state_stay(make, where, turn):
    context, integrator = dimer(make, where)
    speed = turn * 0.1 / STEP
    context.setVelocities([[0, -speed / 4, 0], [0, 3 * speed / 4, 0]])
    integrator.step(3)
    state = context.getState(positions=True, velocities=True)
    other, again = dimer(make, where)
    other.setState(state)
    integrator.step(2)
    again.step(2)
    assert (velocities(other) == velocities(context)).all()
