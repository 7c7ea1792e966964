# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""step() lets other Python threads run: what they ask of the Context meanwhile is right, or refused."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from time import monotonic

import openmm as mm
import pytest
from platforms import under_test

import openmmconstraints as mc

pytestmark = pytest.mark.platform


def test_readings_while_another_thread_steps_are_right_or_refused():
    n = 30
    system = mm.System()
    force = mc.ConstraintForce()
    for i in range(n):
        system.addParticle(12)
        if i > 0:
            force.addDistance(i - 1, i, 0.15)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([(0.15 * i, 0, 0) for i in range(n)])
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(1)
    rounds, refused = 0, 0
    ask = (
        integrator.getMultipliers,
        integrator.getConstraintForces,
        lambda: force.getMultipliers(context),
        lambda: range(n) if integrator.getSolverSummary().converged else (),
        lambda: range(n) if integrator.computeSystemTemperature()._value > 0 else (),
    )
    enough = Event()

    def run():
        for steps in count(1):
            integrator.step(10)
            if enough.is_set():
                return steps

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        end = monotonic() + 60  # a busy machine may let the threads take turns for long
        while not running.done() and monotonic() < end and (refused == 0 or rounds < 10):
            rounds += 1
            for question in ask:
                try:
                    assert len(question()) in (n - 1, n)
                except mm.OpenMMException as error:
                    assert "is running in another thread" in str(error)  # noqa: PT017 both may happen
                    refused += 1
        enough.set()
        steps = running.result()  # no question ever fails a step
    assert refused > 0
    assert context.getStepCount() == 1 + 10 * steps
    assert len(integrator.getMultipliers()) == n - 1
