# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints that begin to move in a run; tests/TestMoving.cpp has every kind on every platform."""

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc


def _equilibrated():
    """A chain of four particles with springs at t = 1000 ps, whose end-to-end distance is free."""
    system = mm.System()
    springs = mm.HarmonicBondForce()
    for i in range(4):
        system.addParticle(12)
        if i > 0:
            springs.addBond(i - 1, i, 0.15, 20000)
    system.addForce(springs)
    force = mc.ConstraintForce()
    system.addForce(force)
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.002)
    integrator.setRandomNumberSeed(5)
    integrator.setConstraintTolerance(1e-8)
    context = mm.Context(system, integrator, under_test())
    context.setTime(999.8)
    context.setPositions([[0.15 * i, 0.05 * (i % 2), 0.02 * i * i] for i in range(4)])
    context.setVelocitiesToTemperature(300, 3)
    integrator.step(100)
    return force, integrator, context


def _length(context):
    x = context.getState(positions=True).getPositions(asNumpy=True)._value
    return float(np.linalg.norm(x[3] - x[0]))


def test_pull_added_to_an_equilibrated_context_begins_at_the_given_length():
    force, integrator, context = _equilibrated()
    now, length = context.getTime(), _length(context)
    assert now.value_in_unit(unit.picosecond) == pytest.approx(1000, abs=1e-6)
    force.addDistance(0, 3, length, rate=0.05, startTime=now)
    context.reinitialize(preserveState=True)
    before = context.getState(positions=True, energy=True)
    integrator.step(1)
    after = context.getState(positions=True, energy=True)
    moved = after.getPositions(asNumpy=True)._value - before.getPositions(asNumpy=True)._value
    assert np.abs(moved).max() < 0.005
    assert _length(context) == pytest.approx(length + 0.05 * 0.002, abs=bound(1e-8, single=1e-6))
    change = (after.getPotentialEnergy() - before.getPotentialEnergy())._value
    assert abs(change) < 10
    assert abs(integrator.getConstraintWork()._value) < 0.5
    integrator.step(49)
    assert _length(context) == pytest.approx(length + 0.05 * 0.1, abs=bound(1e-8, single=1e-6))


def test_pull_that_counts_from_time_zero_does_not_begin_there():
    """What a start time is for: the length would be 50 nm by now."""
    force, integrator, context = _equilibrated()
    force.addDistance(0, 3, _length(context), rate=0.05)
    context.reinitialize(preserveState=True)
    with pytest.raises(mm.OpenMMException, match="distance 0"):
        integrator.step(1)


def test_start_time_is_a_number_in_ps_or_a_time():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.3, 0.01, 5)
    force.addAngle(0, 1, 2, 1.5, rate=0.2, startTime=5 * unit.picosecond)
    force.addDihedral(0, 1, 2, 3, 1, startTime=5000 * unit.femtosecond)
    force.addCentroidDistance([0], [1, 2], 0.5, rate=0.04, startTime=np.float32(5))
    getters = [
        force.getDistanceStartTime,
        force.getAngleStartTime,
        force.getDihedralStartTime,
        force.getCentroidDistanceStartTime,
    ]
    setters = [force.setDistanceRate, force.setAngleRate, force.setDihedralRate, force.setCentroidDistanceRate]
    for get, set_rate in zip(getters, setters, strict=True):
        assert get(0) == 5 * unit.picosecond
        set_rate(0, 0.1)
        assert get(0) == 0 * unit.picosecond
        set_rate(index=0, rate=0.1, startTime=2 * unit.nanosecond)
        assert get(0) == 2000 * unit.picosecond
        with pytest.raises(TypeError, match=r"startTime must be .* picosecond"):
            set_rate(0, 0.1, 1 * unit.nanometer)
        with pytest.raises(mm.OpenMMException):
            get(1)
    assert force.getDistanceParameters(0) == [0, 1, 0.3 * unit.nanometer]
    force.setDistanceParameters(0, 0, 1, 0.4)
    assert force.getDistanceStartTime(0) == 2000 * unit.picosecond
    copy = mc.ConstraintForce.cast(mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(force)))
    assert [getattr(copy, get.__name__)(0) for get in getters] == [2000 * unit.picosecond] * 4
