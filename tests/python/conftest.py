# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import os

# Where a test names no platform (platforms.py names the one under test): not OpenCL on a CPU, which is slow, in single
# precision, and crashes in OpenMM's minimizer (PoCL 3.1). Commands that tests start inherit it.
os.environ.setdefault("OPENMM_DEFAULT_PLATFORM", "CPU")
# NumPy's matrices are small here: threads that wait for each other take most of the time where a core is busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import openmm
import pytest

import openmmconstraints as mc


def _force():
    force = mc.ConstraintForce()
    force.setName("rings")
    force.setForceGroup(3)
    force.setUsesPeriodicBoundaryConditions(True)
    force.addDistance(0, 1, 0.1)
    force.addDistance(1, 2, 1 / 3)
    return force


@pytest.fixture
def force():
    """A ConstraintForce in which no setting has its default."""
    return _force()


@pytest.fixture(
    params=[mc.RattleIntegrator, mc.ShakeIntegrator, mc.RattleLangevinIntegrator, mc.RattleNoseHooverIntegrator]
)
def integrator(request):
    """An integrator in which no setting has its default."""
    if request.param is mc.RattleLangevinIntegrator:
        integrator = mc.RattleLangevinIntegrator(310, 2, 0.002)
        integrator.setRandomNumberSeed(-7)
        integrator.setNumGeodesicSteps(4)
    elif request.param is mc.RattleNoseHooverIntegrator:
        integrator = mc.RattleNoseHooverIntegrator(310, 2, 0.002, chainLength=5, numMTS=2, numYoshidaSuzuki=3)
    else:
        integrator = request.param(0.002)
    integrator.setConstraintTolerance(3e-9)
    integrator.setSolver(mc.ConstraintIntegrator.MatrixInversion)
    integrator.setMaxIterations(77)
    integrator.setWarmStart(True)
    integrator.setMaxProjection(0.07)
    integrator.setIntegrationForceGroups({1, 2})
    return integrator


@pytest.fixture
def system():
    """Three particles and the ConstraintForce of the fixture `force`."""
    system = openmm.System()
    for mass in (1, 2, 3):
        system.addParticle(mass)
    system.addForce(_force())
    return system


@pytest.fixture
def settings():
    """A function that reads all settings of a Force or an integrator."""

    def read(thing):
        if isinstance(thing, mc.ConstraintForce):
            return (
                thing.getName(),
                thing.getForceGroup(),
                thing.usesPeriodicBoundaryConditions(),
                [thing.getDistanceParameters(i) for i in range(thing.getNumDistances())],
                [thing.getAngleParameters(i) for i in range(thing.getNumAngles())],
                [thing.getDihedralParameters(i) for i in range(thing.getNumDihedrals())],
            )
        bath = ()
        if isinstance(thing, mc.RattleLangevinIntegrator):
            bath = (
                thing.getTemperature(),
                thing.getFriction(),
                thing.getRandomNumberSeed(),
                thing.getNumGeodesicSteps(),
            )
        if isinstance(thing, mc.RattleNoseHooverIntegrator):
            bath = (thing.getTemperature(), thing.getCollisionFrequency(), thing.getChainLength())
            bath += (thing.getNumMultiTimeSteps(), thing.getNumYoshidaSuzukiTimeSteps())
        return (
            *bath,
            thing.getStepSize(),
            thing.getConstraintTolerance(),
            thing.getSolver(),
            thing.getMaxIterations(),
            thing.getWarmStart(),
            thing.getMaxProjection(),
            thing.getIntegrationForceGroups(),
        )

    return read
