# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A protein in water with all bonds constrained, on the devices: against the Reference platform while trajectories of
different precision are still comparable, then by constraint error and energy."""

from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit

import openmmconstraints as mc

STEP = 0.002  # ps

# nm by which ten steps may differ (forces are computed in float in mixed precision too), and the largest relative
# constraint error of stored positions (float: 2.4e-7 nm a coordinate, beside bonds of 0.1 nm).
PRECISIONS = {"single": (1e-4, 1e-5), "mixed": (1e-4, 1.1e-8), "double": (1e-6, 1.1e-8)}


@pytest.fixture(scope="module")
def villin():
    data = Path(app.__file__).parent / "data"
    pdb = app.PDBFile(str(data / "test.pdb"))
    system = app.ForceField("amber14-all.xml", "amber14/tip3pfb.xml").createSystem(
        pdb.topology, nonbondedMethod=app.CutoffPeriodic, nonbondedCutoff=0.9 * unit.nanometer, constraints=app.AllBonds
    )
    mc.moveConstraints(system)
    return system, pdb.positions


def simulation(villin, platform, **properties):
    system, positions = villin
    integrator = mc.RattleIntegrator(STEP)
    integrator.setConstraintTolerance(1e-8)
    context = mm.Context(system, integrator, mm.Platform.getPlatform(platform), properties)
    context.setPositions(positions)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 5)
    return context, integrator


def coordinates(context):
    return context.getState(getPositions=True).getPositions(asNumpy=True)._value


@pytest.fixture(scope="module")
def reference(villin):
    """Positions after ten steps, in double precision; the start of each Context is the same."""
    context, integrator = simulation(villin, "Reference")
    start = context.getState(getPositions=True, getVelocities=True)
    integrator.step(10)
    return start, coordinates(context)


@pytest.mark.parametrize(
    "precision",
    [pytest.param(name, marks=pytest.mark.long if name == "mixed" else pytest.mark.precisions) for name in PRECISIONS],
)
def test_ten_steps_agree_with_the_reference_and_two_hundred_hold(villin, reference, precision):
    close, exact = PRECISIONS[precision]
    start, expected = reference
    context, integrator = simulation(villin, "OpenCL", Precision=precision)
    context.setPositions(start.getPositions())
    context.setVelocities(start.getVelocities())
    integrator.step(10)
    shift = coordinates(context) - expected
    assert np.abs(shift).max() < close
    assert np.abs(expected - start.getPositions(asNumpy=True)._value).max() > 0.01  # it moved

    before = context.getState(getEnergy=True)
    integrator.step(190)
    after = context.getState(getEnergy=True)
    kinetic = before.getKineticEnergy()
    change = (after.getKineticEnergy() + after.getPotentialEnergy()) - (
        before.getKineticEnergy() + before.getPotentialEnergy()
    )
    assert abs(change / kinetic) < 2e-3

    force = next(mc.ConstraintForce.cast(f) for f in villin[0].getForces() if mc.ConstraintForce.isinstance(f))
    pairs = [force.getDistanceParameters(i) for i in range(force.getNumDistances())]
    i, j, wanted = (np.array(column) for column in zip(*((p, q, d._value) for p, q, d in pairs), strict=True))
    x = coordinates(context)
    box = np.diag(context.getState().getPeriodicBoxVectors(asNumpy=True)._value)
    bonds = x[i] - x[j]
    bonds -= box * np.round(bonds / box)
    assert np.abs(np.linalg.norm(bonds, axis=1) / wanted - 1).max() < exact
