# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Steps end at any tolerance: a solve in single precision may not repeat a round for ever."""

import openmm as mm
import pytest
from force_fields import villin_file, villin_system
from openmm import app
from platforms import NAME, PROPERTIES, bound

import openmmconstraints as mc


@pytest.mark.platform
@pytest.mark.long
def test_thousands_of_small_clusters_take_as_long_in_every_step() -> None:
    """Villin in water moves freely. Of 2,900 clusters at four tolerances some have errors that are a tolerance, but for
    rounding to a float."""
    system = villin_system(nonbondedMethod=app.PME, constraints=app.HBonds)
    while system.getNumForces():
        system.removeForce(0)
    integrator = mc.RattleIntegrator(0.002)
    mc.moveConstraints(system)
    context = mm.Context(system, integrator, mm.Platform.getPlatform(NAME), PROPERTIES)
    for tolerance in (1e-7, 2e-7, 3e-7, 1.2e-6):
        integrator.setConstraintTolerance(tolerance)
        context.setPositions(villin_file().positions)
        context.setVelocitiesToTemperature(300, 1)
        for _ in range(10):
            integrator.step(100)
            assert integrator.getSolverSummary().maxError <= max(tolerance, bound(0, single=1e-6))
