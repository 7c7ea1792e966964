# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Targets that interpolate with a Context parameter, as Python sees them; tests/TestInterpolation.cpp has every kind on
every platform."""

import copy
import pickle

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc
from openmmconstraints.inspection.listing import Listing

KINDS = {
    "Distance": ([0, 1], 0.1 * unit.nanometer, 2 * unit.angstrom, 0.2 * unit.nanometer),
    "Angle": ([0, 1, 2], 100 * unit.degree, 120 * unit.degree, 120 * unit.degree),
    "Dihedral": ([0, 1, 2, 3], 170 * unit.degree, 190 * unit.degree, 190 * unit.degree),
    "CentroidDistance": ([[0], [1, 2]], 0.3 * unit.nanometer, 0.4, 0.4 * unit.nanometer),
}


def _force() -> mc.ConstraintForce:
    force = mc.ConstraintForce()
    assert force.addGlobalParameter("lambda", 0.25) == 0
    for name, (particles, value, value1, _) in KINDS.items():
        assert getattr(force, f"add{name}")(*particles, value) == 0
        getattr(force, f"set{name}Interpolation")(0, "lambda", value1)
    return force


def _is(value, expected) -> bool:
    assert value.unit.is_compatible(expected.unit)
    return value.value_in_unit(expected.unit) == pytest.approx(expected._value, rel=1e-12)


def test_values_are_numbers_or_quantities():
    force = _force()
    for name, (_, _, _, expected) in KINDS.items():
        get, set_ = (getattr(force, f"{verb}{name}Interpolation") for verb in ("get", "set"))
        parameter, value1 = get(0)
        assert parameter == "lambda"
        assert _is(value1, expected)
        with pytest.raises(TypeError, match=r"1 must be .* not a Quantity in kilojoule"):
            set_(0, "lambda", 1 * unit.kilojoule)
        with pytest.raises(mm.OpenMMException, match=r'no Context parameter "mu".*addGlobalParameter\("mu"'):
            set_(0, "mu", value1)
        with pytest.raises(mm.OpenMMException):
            get(1)
        set_(index=0, parameter="", **{"angle1" if expected.unit.is_compatible(unit.radian) else "distance1": 0})
        assert get(0)[0] == ""
    assert force.getNumGlobalParameters() == 1
    assert force.getGlobalParameterName(0) == "lambda"
    assert force.getGlobalParameterDefaultValue(0) == 0.25
    force.setGlobalParameterName(0, "mu")
    force.setGlobalParameterDefaultValue(0, 0.5)
    assert (force.getGlobalParameterName(0), force.getGlobalParameterDefaultValue(0)) == ("mu", 0.5)
    with pytest.raises(ValueError, match="did you mean degrees"):
        force.setAngleInterpolation(0, "mu", 120)


def test_copies_and_pickles_keep_them():
    force = _force()
    copies = [
        copy.copy(force),
        copy.deepcopy(force),
        pickle.loads(pickle.dumps(force)),
        mc.ConstraintForce.cast(mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(force))),
    ]
    for other in copies:
        assert other.getGlobalParameterDefaultValue(0) == 0.25
        for name, (_, _, _, expected) in KINDS.items():
            parameter, value1 = getattr(other, f"get{name}Interpolation")(0)
            assert parameter == "lambda"
            assert _is(value1, expected)


def test_the_listing_has_the_value_at_the_default():
    system = mm.System()
    for _ in range(4):
        system.addParticle(12)
    system.addForce(_force())
    listing = Listing(system)
    assert listing.target == pytest.approx([0.125, np.radians(105), np.radians(175), 0.325])
    assert listing.parameter == dict.fromkeys(range(4), "lambda")
    assert listing.is_changing.all()


def _rotor():
    """A spring across a bond whose length is a Context parameter's, and a Force that depends on the same parameter."""
    system = mm.System()
    for mass in (12, 16, 1, 1):
        system.addParticle(mass)
    spring = mm.CustomBondForce("500*(r-0.1-0.05*lambda)^2")
    spring.addGlobalParameter("lambda", 0)
    spring.addEnergyParameterDerivative("lambda")
    spring.addBond(0, 1)
    force = mc.ConstraintForce()
    force.addGlobalParameter("lambda", 0)
    force.setDistanceInterpolation(force.addDistance(0, 1, 0.12), "lambda", 0.15)
    force.addDistance(2, 3, 0.1)
    for one in (spring, force):
        system.addForce(one)
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-8)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.12, 0, 0], [1, 0, 0], [1.1, 0, 0]])
    return system, integrator, context


@pytest.mark.platform
def test_derivatives_complete_those_of_the_energy():
    """At rest both parts are the derivative of the energy at the length that the parameter sets."""
    _, integrator, context = _rotor()
    for value in (0, 0.5, 1):
        context.setParameter("lambda", value)
        integrator.applyConstraints()
        ours = integrator.computeParameterDerivatives()
        assert list(ours) == ["lambda"]
        assert isinstance(ours["lambda"], float)
        theirs = context.getState(parameterDerivatives=True).getEnergyParameterDerivatives()["lambda"]
        stretch = 0.12 + 0.03 * value - 0.1 - 0.05 * value
        assert theirs == pytest.approx(-50 * stretch, rel=1e-4, abs=bound(1e-9, mixed=1e-5, single=1e-3))
        assert ours["lambda"] == pytest.approx(30 * stretch, rel=1e-4, abs=bound(1e-6, single=1e-3))
        assert ours["lambda"] == pytest.approx(0.03 * integrator.computeMultipliers()[0])


def test_only_a_projection_objects_to_a_value():
    _, integrator, context = _rotor()
    integrator.step(2)
    before = context.getState(positions=True).getPositions(asNumpy=True)
    context.setParameter("lambda", -4)
    with pytest.raises(mm.OpenMMException, match=r'(?s)distance 0 .*would be 0 nm.*"lambda" at -4.*setParameter'):
        integrator.step(1)
    with pytest.raises(mm.OpenMMException, match=r'(?s)distance 0 .*"lambda" at -4'):
        context.getState(energy=True)
    assert (context.getState(positions=True).getPositions(asNumpy=True) == before).all()
    context.setParameter("lambda", 0)
    integrator.step(2)


def test_health_says_what_interpolates_and_checks_defaults():
    system, *_ = _rotor()
    report = mc.Health(system)
    found = [finding for finding in report.findings if finding.kind == "interpolated"]
    assert len(found) == 1
    assert 'Context parameter "lambda"; at its default it is 0.12 nm' in found[0].message
    force = mc.ConstraintForce.cast(system.getForce(1))
    force.setGlobalParameterDefaultValue(0, -5)
    found = mc.Health(system).findings
    assert any(finding.severity == "error" and '"lambda" at -5' in finding.message for finding in found)


def test_helpers_leave_what_interpolates_alone():
    system, *_ = _rotor()
    assert mc.moveConstraints(system) is None
    mc.freeze(system, [2, 3])
    force = next(mc.ConstraintForce.cast(f) for f in system.getForces() if mc.ConstraintForce.isinstance(f))
    assert force.getDistanceInterpolation(0) == ["lambda", 0.15 * unit.nanometer]
    assert force.getGlobalParameterName(0) == "lambda"
