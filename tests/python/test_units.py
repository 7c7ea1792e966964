# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import math

import numpy as np
import openmm
import pytest
from openmm import unit
from platforms import under_test

import openmmconstraints as mc
import openmmconstraints.freeenergy


class Langevin(mc.RattleLangevinIntegrator):
    """Built from its step size alone, as the others are."""

    def __init__(self, stepSize):
        super().__init__(300, 1, stepSize)


INTEGRATORS = [mc.RattleIntegrator, mc.ShakeIntegrator, Langevin]


@pytest.mark.parametrize("cls", INTEGRATORS)
@pytest.mark.parametrize("size", [0.002, 2 * unit.femtosecond, np.float64(0.002), np.float32(0.002)])
def test_step_size_is_a_number_in_ps_or_a_time(cls, size):
    for integrator in (cls(size), cls(1)):
        integrator.setStepSize(size)
        assert unit.is_quantity(integrator.getStepSize())
        assert integrator.getStepSize().value_in_unit(unit.femtosecond) == pytest.approx(2)


@pytest.mark.parametrize("cls", INTEGRATORS)
@pytest.mark.parametrize("wrong", [300 * unit.kelvin, 1 * unit.nanometer, "fast", None, [0.001], 1j])
def test_step_size_of_another_kind_is_refused(cls, wrong):
    with pytest.raises(TypeError, match=r"Integrator: stepSize must be .* picosecond"):
        cls(wrong)
    integrator = cls(0.001)
    with pytest.raises(TypeError, match="picosecond"):
        integrator.setStepSize(wrong)
    assert integrator.getStepSize() == 0.001 * unit.picosecond


@pytest.mark.parametrize("temperature", [310, 310 * unit.kelvin, np.float32(310)])
@pytest.mark.parametrize("friction", [0.002, 0.002 / unit.picosecond, 2 / unit.nanosecond])
def test_heat_bath_takes_numbers_in_kelvin_and_per_ps_or_quantities(temperature, friction):
    one = mc.RattleLangevinIntegrator(temperature, friction, 2 * unit.femtosecond)
    other = mc.RattleLangevinIntegrator(1, 1, 0.002)
    other.setTemperature(temperature)
    other.setFriction(friction)
    for integrator in (one, other):
        assert integrator.getTemperature() == 310 * unit.kelvin
        assert integrator.getFriction().value_in_unit(unit.picosecond**-1) == pytest.approx(0.002)
        assert integrator.getStepSize().value_in_unit(unit.femtosecond) == pytest.approx(2)
        assert integrator.getRandomNumberSeed() == 0


@pytest.mark.parametrize("frequency", [0.002, 0.002 / unit.picosecond, 2 / unit.nanosecond])
def test_nose_hoover_chain_takes_what_that_of_openmm_takes(frequency):
    arguments = (310 * unit.kelvin, frequency, 2 * unit.femtosecond)
    one = mc.RattleNoseHooverIntegrator(*arguments)
    other = mc.RattleNoseHooverIntegrator(*arguments, chainLength=5, numMTS=2, numYoshidaSuzuki=3)
    for integrator in (one, other):
        assert integrator.getTemperature() == 310 * unit.kelvin
        assert integrator.getCollisionFrequency().value_in_unit(unit.picosecond**-1) == pytest.approx(0.002)
        assert integrator.getStepSize().value_in_unit(unit.femtosecond) == pytest.approx(2)
    assert (one.getChainLength(), one.getNumMultiTimeSteps(), one.getNumYoshidaSuzukiTimeSteps()) == (3, 3, 7)
    assert (other.getChainLength(), other.getNumMultiTimeSteps(), other.getNumYoshidaSuzukiTimeSteps()) == (5, 2, 3)
    with pytest.raises(TypeError, match=r"collisionFrequency must be .* /picosecond"):
        one.setCollisionFrequency(1 * unit.picosecond)
    with pytest.raises(openmm.OpenMMException, match="numYoshidaSuzuki"):
        mc.RattleNoseHooverIntegrator(300, 1, 0.001, numYoshidaSuzuki=2)


@pytest.mark.parametrize("wrong", [1 * unit.picosecond, 1 / unit.nanometer, "warm", None, [300]])
def test_heat_bath_of_another_kind_is_refused(wrong):
    for arguments, name in [((wrong, 1, 0.001), "temperature"), ((300, wrong, 0.001), "friction")]:
        with pytest.raises(TypeError, match=f"RattleLangevinIntegrator: {name} must be"):
            mc.RattleLangevinIntegrator(*arguments)
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    with pytest.raises(TypeError, match=r"temperature must be .* kelvin"):
        integrator.setTemperature(wrong)
    with pytest.raises(TypeError, match=r"friction must be .* /picosecond"):
        integrator.setFriction(wrong)
    with pytest.raises(TypeError):
        integrator.setRandomNumberSeed("lucky")
    assert integrator.getTemperature() == 300 * unit.kelvin


def test_distance_is_a_number_in_nm_or_a_length():
    force = mc.ConstraintForce()
    assert [force.addDistance(0, 1, d) for d in (0.1, 1 * unit.angstrom, np.float64(0.1))] == [0, 1, 2]
    for i in range(3):
        particle1, particle2, distance = force.getDistanceParameters(i)
        assert (particle1, particle2) == (0, 1)
        assert distance.value_in_unit(unit.nanometer) == pytest.approx(0.1, rel=1e-15)
    force.setDistanceParameters(1, 2, 3, 2 * unit.angstrom)
    assert force.getDistanceParameters(1) == [2, 3, 0.2 * unit.nanometer]


@pytest.mark.parametrize("wrong", [1 * unit.picosecond, 1 * unit.kelvin, 1 * unit.radian, "near"])
def test_distance_of_another_kind_is_refused(force, wrong):
    with pytest.raises(TypeError, match=r"distance must be .* nanometer"):
        force.addDistance(0, 1, wrong)
    with pytest.raises(TypeError, match=r"distance must be .* nanometer"):
        force.setDistanceParameters(0, 0, 1, wrong)
    assert force.getNumDistances() == 2


def test_tolerance_is_a_plain_number():
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-7 * unit.dimensionless)
    assert integrator.getConstraintTolerance() == 1e-7
    with pytest.raises(TypeError, match="tolerance must be a number"):
        integrator.setConstraintTolerance(1e-7 * unit.nanometer)


@pytest.mark.platform
def test_temperature_is_a_quantity(system):
    integrator = mc.RattleIntegrator(0.001)
    context = openmm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.1, 1 / 3, 0]])
    context.setVelocitiesToTemperature(300, 1)
    energy = context.getState(getEnergy=True).getKineticEnergy()
    expected = 2 * energy / (integrator.getNumDegreesOfFreedom() * unit.MOLAR_GAS_CONSTANT_R)
    assert integrator.computeSystemTemperature() / unit.kelvin == pytest.approx(expected / unit.kelvin, rel=1e-10)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mc.ConstraintForce().addDistance("a", 1, 0.1),
        lambda: mc.ConstraintForce().addDistance(0, 1.5, 0.1),
        lambda: mc.ConstraintForce().addDistance(0, 1),
        lambda: mc.ConstraintForce().setUsesPeriodicBoundaryConditions("yes"),
        lambda: mc.RattleIntegrator(0.001).setMaxIterations("many"),
        lambda: mc.RattleIntegrator(0.001).setSolver(1.5),
        lambda: mc.RattleIntegrator(0.001).getClusters(3),
        lambda: mc.RattleIntegrator(),
    ],
)
def test_wrong_types_are_type_errors(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: mc.ConstraintForce().getDistanceParameters(0),
        lambda: mc.RattleIntegrator(-1),
        lambda: mc.RattleIntegrator(float("nan")),
        lambda: mc.RattleLangevinIntegrator(-1, 1, 0.001),
        lambda: mc.RattleLangevinIntegrator(300, float("inf"), 0.001),
        lambda: mc.RattleLangevinIntegrator(300, 1, 0.001).setTemperature(float("nan")),
        lambda: mc.RattleIntegrator(0.001).setConstraintTolerance(0),
        lambda: mc.RattleIntegrator(0.001).setMaxIterations(0),
        lambda: mc.RattleIntegrator(0.001).setSolver(9),
        lambda: mc.RattleIntegrator(0.001).step(1),
    ],
)
def test_what_cplusplus_refuses_is_an_openmm_exception(call):
    with pytest.raises(openmm.OpenMMException):
        call()


def test_rates_and_all_other_arguments_may_be_given_by_name():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.3, rate=0.01)
    force.addAngle(particle1=0, particle2=1, particle3=2, angle=1.5, rate=0.2)
    force.addDihedral(0, 1, 2, 3, angle=1, rate=-0.3 * unit.radian / unit.picosecond)
    force.addCentroidDistance([0], [1, 2], 0.5, rate=0.04)
    assert force.getDistanceRate(0) == 0.01 * unit.nanometer / unit.picosecond
    assert force.getAngleRate(0) == 0.2 * unit.radian / unit.picosecond
    assert force.getDihedralRate(0) == -0.3 * unit.radian / unit.picosecond
    assert force.getCentroidDistanceRate(0) == 0.04 * unit.nanometer / unit.picosecond


DEGREES = "radians\\? did you mean degrees\\?"


@pytest.mark.parametrize("value", [109.5, 180, 3.2, np.float32(90), np.int64(60)])
def test_plain_angle_beyond_pi_must_be_degrees(value):
    force = mc.ConstraintForce()
    with pytest.raises(ValueError, match=f"{value:g} {DEGREES}.*{math.radians(value):.6g}, or {value:g}.*degree"):
        force.addAngle(0, 1, 2, value)
    force.addAngle(0, 1, 2, value * unit.degree)
    with pytest.raises(ValueError, match=DEGREES):
        force.setAngleParameters(0, 0, 1, 2, angle=value)
    assert force.getNumAngles() == 1
    assert force.getAngleParameters(0)[3]._value == pytest.approx(math.radians(value))
    force.addAngle(0, 1, 2, value * unit.radian)  # C++ has its say when the Context is created


@pytest.mark.parametrize("value", [-60, 180, 6.3, -6.3, np.float32(300)])
def test_plain_dihedral_beyond_a_turn_must_be_degrees(value):
    force = mc.ConstraintForce()
    with pytest.raises(ValueError, match=f"{value:g} {DEGREES}"):
        force.addDihedral(0, 1, 2, 3, value)
    force.addDihedral(0, 1, 2, 3, value * unit.degree)
    with pytest.raises(ValueError, match=DEGREES):
        force.setDihedralParameters(0, 0, 1, 2, 3, value)
    force.setDihedralParameters(0, 0, 1, 2, 3, value * unit.radian)
    assert force.getDihedralParameters(0)[4] == value * unit.radian
    copy = mc.ConstraintForce.cast(openmm.XmlSerializer.deserialize(openmm.XmlSerializer.serialize(force)))
    assert copy.getDihedralParameters(0)[4] == value * unit.radian


def test_plain_angles_in_radians_are_taken_up_to_their_range():
    force = mc.ConstraintForce()
    for value in (math.pi, 3.1416, np.float32(math.pi), 0.1, -1):  # what is negative is refused by the Context, as ever
        force.addAngle(0, 1, 2, value)
    for value in (2 * math.pi, -2 * math.pi, 6.2832, np.float32(-2 * math.pi), 4, -4):
        force.addDihedral(0, 1, 2, 3, value)
    assert (force.getNumAngles(), force.getNumDihedrals()) == (5, 6)


def test_reaction_coordinates_refuse_degrees_too():
    angle, dihedral = mc.freeenergy.Angle(0, 1, 2), mc.freeenergy.Dihedral(0, 1, 2, 3)
    for coordinate in (angle, dihedral):
        with pytest.raises(ValueError, match=DEGREES):
            coordinate.to_numbers([1, 2, 170])
        assert coordinate.to_numbers([1, 3.1416]) == [1, 3.1416]
        assert coordinate.to_numbers([170, 720] * unit.degree) == pytest.approx(np.radians([170, 720]))
    assert dihedral.to_numbers([-6.2832]) == [-6.2832]
    assert mc.freeenergy.Distance(0, 1).to_numbers([50]) == [50]
    system = openmm.System()
    for _ in range(4):
        system.addParticle(1)
    with pytest.raises(ValueError, match=DEGREES):
        mc.freeenergy.run_window(
            system, np.zeros((4, 3)), dihedral, -60, mc.RattleLangevinIntegrator(300, 1, 0.001), 1, platform="Reference"
        )
    dihedral.hold(system, 9.0, 0.1)  # where a pull may begin: some turns away from its first value
    assert mc.ConstraintForce.cast(system.getForce(0)).getDihedralParameters(0)[4] == 9 * unit.radian


@pytest.mark.parametrize("degrees", [(350, 365, 380), (-350, -365)])
def test_windows_of_a_dihedral_go_beyond_a_turn_with_a_unit(degrees):
    system = openmm.System()
    for _ in range(4):
        system.addParticle(12)
    bonds = openmm.HarmonicBondForce()
    for pair in ((0, 1), (1, 2), (2, 3)):
        bonds.addBond(*pair, 0.1, 50000)
    for pair in ((0, 2), (1, 3)):
        bonds.addBond(*pair, 0.15, 50000)
    system.addForce(bonds)
    profile = mc.freeenergy.mean_force_profile(
        system,
        [[0, 0.1, 0], [0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0.01]],
        mc.freeenergy.Dihedral(0, 1, 2, 3),
        degrees * unit.degrees,
        mc.RattleLangevinIntegrator(300, 5, 0.002),
        2000,
        pull_steps=50,
        equilibration=10,
        seed=1,
        platform="Reference",
        progress=False,
    )
    assert profile.values == pytest.approx(np.radians(degrees))


# ---- rates of angles ---------------------------------------------------------------------------------------------

PER_PICOSECOND = r"90 rad/ps\? did you mean degrees\?.*1\.5708"


def rates_set_by(rate):
    """All ways to give the rate of an angle, each with what reads it."""
    force = mc.ConstraintForce()
    force.addAngle(0, 1, 2, 1.5)
    force.addDihedral(0, 1, 2, 3, 1)
    return force, (
        lambda: force.getAngleRate(force.addAngle(0, 1, 2, 1.5, rate)),
        lambda: force.getAngleRate(force.addAngle(0, 1, 2, angle=1.5, rate=rate)),
        lambda: force.getDihedralRate(force.addDihedral(0, 1, 2, 3, 1, rate, 5)),
        lambda: force.getDihedralRate(force.addDihedral(0, 1, 2, particle4=3, angle=1, startTime=5, rate=rate)),
        lambda: force.setAngleRate(0, rate) or force.getAngleRate(0),
        lambda: force.setDihedralRate(index=0, rate=rate) or force.getDihedralRate(0),
    )


@pytest.mark.parametrize("value", [90, -90.0, np.float32(90), np.int64(90)])
def test_a_plain_rate_of_an_angle_beyond_pi_must_be_degrees(value):
    force, calls = rates_set_by(value)
    for call in calls:
        with pytest.raises(ValueError, match=PER_PICOSECOND):
            call()
    assert force.getNumAngles() == force.getNumDihedrals() == 1
    assert force.getAngleRate(0)._value == force.getDihedralRate(0)._value == 0


@pytest.mark.parametrize(
    "rate", [90 * unit.degree / unit.picosecond, 90 * unit.radian / unit.picosecond, 3.14, -3.14159]
)
def test_any_rate_with_a_unit_and_plain_ones_up_to_pi_are_taken(rate):
    expected = rate if not unit.is_quantity(rate) else rate.value_in_unit(unit.radian / unit.picosecond)
    for call in rates_set_by(rate)[1]:
        assert call().value_in_unit(unit.radian / unit.picosecond) == pytest.approx(expected)


def test_rates_of_lengths_have_no_such_bound():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.3, rate=90)
    force.setDistanceRate(0, -90)
    force.addCentroidDistance([0], [1], 0.3, rate=90)


def test_a_fast_pull_of_an_angle_needs_no_unit():
    """Its rate comes from values and times."""
    system = openmm.System()
    for _ in range(4):
        system.addParticle(1)
    mc.freeenergy.Dihedral(0, 1, 2, 3).hold(system, 1.0, 90.0)
    mc.freeenergy.Angle(0, 1, 2).hold(system, 1.0, -90.0)
    dihedral, angle = (mc.ConstraintForce.cast(system.getForce(k)) for k in range(2))
    assert dihedral.getDihedralRate(0) == 90 * unit.radian / unit.picosecond
    assert angle.getAngleRate(0) == -90 * unit.radian / unit.picosecond
