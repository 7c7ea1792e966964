# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""ConstraintForce.updateParametersInContext."""

import numpy as np
import openmm as mm
import pytest
from platforms import under_test

import openmmconstraints as mc


def make(integrator):
    system = mm.System()
    for mass in (1, 2, 3):
        system.addParticle(mass)
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1)
    force.addAngle(0, 1, 2, 2.0)
    system.addForce(force)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0.1, 0, 0], [0, 0, 0], [-0.05, 0.1, 0]])
    return context, force


def length(context):
    positions = context.getState(positions=True).getPositions(asNumpy=True)._value
    return np.linalg.norm(positions[0] - positions[1])


def compound():
    integrator = mm.CompoundIntegrator()
    integrator.addIntegrator(mc.RattleIntegrator(0.001))
    integrator.addIntegrator(mc.ShakeIntegrator(0.001))
    return integrator


@pytest.mark.platform
@pytest.mark.parametrize(
    "make_integrator", [lambda: mc.RattleIntegrator(0.001), lambda: mc.ShakeIntegrator(0.001), compound]
)
def test_new_length_is_held_from_the_next_step_on(make_integrator):
    integrator = make_integrator()
    context, force = make(integrator)
    integrator.step(2)
    force.setDistanceParameters(0, 0, 1, 0.12)
    integrator.step(1)
    assert length(context) == pytest.approx(0.1, rel=1e-5)  # not before it is told
    force.updateParametersInContext(context)
    integrator.step(1)
    assert length(context) == pytest.approx(0.12, rel=1e-5)


def test_nothing_else_may_change():
    integrator = mc.RattleIntegrator(0.001)
    context, force = make(integrator)
    integrator.step(1)
    force.setDistanceParameters(0, 0, 2, 0.12)
    with pytest.raises(mm.OpenMMException, match="reinitialize"):
        force.updateParametersInContext(context)
    force.setDistanceParameters(0, 0, 1, -1.0)
    with pytest.raises(mm.OpenMMException, match="not a positive number"):
        force.updateParametersInContext(context)
    integrator.step(1)
    assert length(context) == pytest.approx(0.1, rel=1e-5)
