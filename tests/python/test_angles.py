# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Angles and dihedrals in Python: units, copies, a short run."""

import pickle

import openmm as mm
import pytest
from openmm import unit
from platforms import under_test

import openmmconstraints as mc


@pytest.fixture
def force():
    force = mc.ConstraintForce()
    assert force.addAngle(0, 1, 2, 109.5 * unit.degrees) == 0
    assert force.addDihedral(0, 1, 2, 3, 1.0) == 0
    return force


def test_parameters_have_units(force):
    *particles, angle = force.getAngleParameters(0)
    assert particles == [0, 1, 2]
    assert angle.value_in_unit(unit.degrees) == pytest.approx(109.5)
    force.setDihedralParameters(0, 3, 2, 1, 0, 90 * unit.degrees)
    *particles, angle = force.getDihedralParameters(0)
    assert particles == [3, 2, 1, 0]
    assert angle.value_in_unit(unit.degrees) == pytest.approx(90)


def test_wrong_dimension_is_refused(force):
    with pytest.raises(TypeError, match="angle"):
        force.addAngle(0, 1, 2, 1 * unit.nanometer)


def test_copies_keep_them(force, settings):
    assert settings(pickle.loads(pickle.dumps(force))) == settings(force)


def test_they_hold(force):
    system = mm.System()
    for mass in (12, 14, 1, 16):
        system.addParticle(mass)
    system.addForce(force)
    integrator = mc.RattleIntegrator(1 * unit.femtosecond)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.15, 0, 0], [0.2, 0.14, 0], [0.33, 0.16, 0.09]])
    integrator.applyConstraints()  # 85 degrees
    integrator.step(20)
    assert integrator.getSolverSummary().maxError <= 1e-5
    assert integrator.getNumDegreesOfFreedom() == 10
