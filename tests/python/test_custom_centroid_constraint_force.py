# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""CustomCentroidConstraintForce from Python; tests/TestCentroidExpressions.cpp covers its dynamics."""

import copy
import pickle

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc


@pytest.fixture
def force():
    force = mc.CustomCentroidConstraintForce(2, "z1 - z2 - h - g*f(1)")
    force.setName("permeation")
    force.setForceGroup(3)
    force.setUsesPeriodicBoundaryConditions(True)
    force.addPerConstraintParameter("h")
    force.addGlobalParameter("g", 0.25)
    force.addTabulatedFunction("f", mm.Discrete1DFunction([1, 2, 3]))
    force.addGroup([0, 1])
    force.addGroup((2, np.int64(3)), weights=[1, 3] * unit.dalton)
    force.addConstraint([1, 0], [0.1 * unit.nanometer])
    return force


def read(force):
    return (
        force.getName(),
        force.getForceGroup(),
        force.usesPeriodicBoundaryConditions(),
        force.getExpression(),
        force.getNumGroupsPerConstraint(),
        [force.getGroupParameters(g) for g in range(force.getNumGroups())],
        [force.getConstraintParameters(i) for i in range(force.getNumConstraints())],
        [force.getPerConstraintParameterName(i) for i in range(force.getNumPerConstraintParameters())],
        [force.getGlobalParameterDefaultValue(i) for i in range(force.getNumGlobalParameters())],
        force.getTabulatedFunction(0).getFunctionParameters(),
    )


def test_gives_back_what_it_was_given(force):
    assert [list(group) for group in force.getGroupParameters(0)] == [[0, 1], []]
    assert [list(group) for group in force.getGroupParameters(1)] == [[2, 3], [1, 3]]
    assert [list(part) for part in force.getConstraintParameters(0)] == [[1, 0], [0.1]]
    force.setGroupParameters(0, particles=[5], weights=[2.0])
    force.setConstraintParameters(0, groups=[0, 1], parameters=[0.2])
    assert [list(group) for group in force.getGroupParameters(0)] == [[5], [2]]
    assert [list(part) for part in force.getConstraintParameters(0)] == [[0, 1], [0.2]]


def test_copies_pickles_and_systems_keep_everything(force):
    wanted = read(force)
    system = mm.System()
    system.addForce(copy.copy(force))
    system_read = mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(system))  # which owns its Forces
    read_back = system_read.getForce(0)
    assert mc.CustomCentroidConstraintForce.isinstance(read_back)
    assert not mc.CustomConstraintForce.isinstance(read_back)
    others = (copy.deepcopy(force), pickle.loads(pickle.dumps(force)), mc.CustomCentroidConstraintForce.cast(read_back))
    for other in (force, *others):
        assert type(other) is mc.CustomCentroidConstraintForce
        assert read(other) == wanted


@pytest.mark.parametrize(
    "call",
    [
        lambda force: force.addGroup([0], [1, 2]),
        lambda force: force.addConstraint([0], [1]),
        lambda force: force.addConstraint([0, 1]),
        lambda force: force.setGroupParameters(7, [0]),
        lambda force: mc.CustomCentroidConstraintForce(0, "z1"),
    ],
)
def test_wrong_numbers_are_refused(force, call):
    wanted = read(force)
    with pytest.raises(mm.OpenMMException):
        call(force)
    assert read(force) == wanted


def two_dimers(force):
    system = mm.System()
    for mass in (12, 1, 16, 4):
        system.addParticle(mass)
    bonds = mm.HarmonicBondForce()
    bonds.addBond(0, 1, 0.1, 5000)
    bonds.addBond(2, 3, 0.1, 5000)
    system.addForce(bonds)
    system.addForce(force)
    return system


def test_holds_a_height_and_reads_its_force(force):
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-8)
    integrator.setMaxProjection(1)
    context = mm.Context(two_dimers(force), integrator, under_test())
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.3, 0, 0.1], [0.3, 0.05, 0.2]])
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(10)
    z = context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)[:, 2]
    height = (z[2] + 3 * z[3]) / 4 - (12 * z[0] + z[1]) / 13
    assert abs(height - 0.1 - 0.25 * 2) < bound(1e-7, single=3e-6)
    held = mc.CustomCentroidConstraintForce.cast(context.getSystem().getForce(1))
    (multiplier,) = held.getMultipliers(context)
    forces = np.array([[f.x, f.y, f.z] for f in integrator.getConstraintForces()])
    assert forces[3, 2] == pytest.approx(0.75 * multiplier, rel=1e-5)
    assert integrator.getNumDegreesOfFreedom() == 11
    assert len(context.getMolecules()) == 2


def test_health_names_it_and_freeze_keeps_its_weights():
    force = mc.CustomCentroidConstraintForce(2, "z1-z2-0.1")
    force.addConstraint([force.addGroup([0, 1]), force.addGroup([2, 3], [1, 1])])
    system = two_dimers(force)
    with pytest.raises(ValueError, match=r"constraint 0 of the CustomCentroidConstraintForce .* lose the weight"):
        mc.freeze(system, [0])
    mc.freeze(system, [2])  # its weight is given
    force = mc.CustomCentroidConstraintForce.cast(system.getForce(1))
    assert force.getNumConstraints() == 1
    mc.freeze(system, [0, 1, 2, 3])
    assert force.getNumConstraints() == 0
    assert force.getNumGroups() == 2


def test_multipliers_are_labelled_by_particles():
    from openmmconstraints.inspection.labels import constraint_label

    force = mc.CustomCentroidConstraintForce(2, "z1-z2-0.1")
    force.addConstraint([force.addGroup([3, 1, 0], [1, 0, 1]), force.addGroup([2])])
    assert constraint_label(two_dimers(force), (), 0) == "3-0-2"
