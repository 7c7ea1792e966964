# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints and integrators of this package together with OpenMM's Forces and integrators.

TestInteroperability.cpp and TestNoseHoover.cpp have the tests on devices."""

import openmm as mm
import pytest
from openmm import unit

import openmmconstraints as mc


def make_system(*forces, constraints="force"):
    """Two particles at a distance of 0.1 nm."""
    system = mm.System()
    for mass in (12, 16):
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors([2, 0, 0], [0, 2, 0], [0, 0, 2])
    if constraints == "force":
        force = mc.ConstraintForce()
        force.addDistance(0, 1, 0.1)
        system.addForce(force)
    elif constraints == "system":
        system.addConstraint(0, 1, 0.1)
    for force in forces:
        system.addForce(force)
    return system


def make_context(system, integrator):
    return mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))


def drude_force():
    force = mm.DrudeForce()
    force.addParticle(1, 0, -1, -1, -1, -1.0, 1e-3, 1, 1)
    force.setName("polarization")  # the class counts
    return force


def periodic_force():
    force = mm.NonbondedForce()
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.5)
    for _ in range(2):
        force.addParticle(0, 0.1, 0)
    return force


@pytest.mark.parametrize("constraints", ["force", "system", None])
def test_drude_particles_are_refused_with_what_to_use_instead(constraints):
    system = make_system(drude_force(), constraints=constraints)
    with pytest.raises(mm.OpenMMException, match=r"(?s)Drude particles: they would be heated.*DrudeLangevinIntegrator"):
        make_context(system, mc.RattleLangevinIntegrator(300, 1, 0.001))
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(mc.RattleIntegrator(0.001))
    with pytest.raises(mm.OpenMMException, match="DrudeForce"):
        make_context(system, compound)


@pytest.mark.parametrize(
    "integrator",
    [
        lambda: mm.RPMDIntegrator(4, 300, 1, 0.001),
        lambda: mm.DrudeLangevinIntegrator(300, 1, 1, 50, 0.001),
        lambda: mm.DrudeSCFIntegrator(0.001),
        lambda: mm.NoseHooverIntegrator(300, 1, 0.001),
        lambda: mm.LangevinMiddleIntegrator(300, 1, 0.001),
        lambda: mm.BrownianIntegrator(300, 1, 0.001),
        lambda: mm.VariableVerletIntegrator(1e-4),
    ],
    ids=["RPMD", "DrudeLangevin", "DrudeSCF", "NoseHoover", "LangevinMiddle", "Brownian", "VariableVerlet"],
)
def test_integrators_that_solve_no_constraint_force_are_refused(integrator):
    with pytest.raises(
        mm.OpenMMException, match=r"(?s)does not solve the constraints of a ConstraintForce.*RattleIntegrator"
    ):
        make_context(make_system(), integrator())


def surface():
    """One that holds the first particle."""
    force = mc.CustomConstraintForce(1, "z1")
    force.addConstraint([0])
    return force


@pytest.mark.parametrize(
    "system", [make_system, lambda: make_system(surface(), constraints=None)], ids=["kinds", "sigma"]
)
def test_the_first_step_of_a_verlet_integrator_is_refused(system):
    """Creating its Context is not: OpenMM's minimizer does that on GPUs."""
    integrator = mm.VerletIntegrator(0.001)
    context = make_context(system(), integrator)
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    with pytest.raises(mm.OpenMMException, match="does not solve the constraints of a ConstraintForce"):
        integrator.step(1)


def test_the_refusal_of_a_thermostat_says_who_adds_it_unasked():
    system = make_system(mm.AndersenThermostat(300, 1))
    with pytest.raises(mm.OpenMMException, match="openmmtools adds this one where an integrator has no temperature"):
        make_context(system, mc.RattleIntegrator(0.001))


def replacing():
    force = mc.ConstraintForce()
    force.setReplacesSolver(True)
    return force


def variable_of(force):
    variables = mm.CustomCVForce("a")
    variables.addCollectiveVariable("a", force)
    return variables


def transferred(force):
    transfer = mm.ATMForce(0.5, 0.5, 0, 0, 0, 100, 50, 0.1, 1)
    for _ in range(2):
        transfer.addParticle(mm.Vec3(0, 0, 0))
    transfer.addForce(force)
    return transfer


@pytest.mark.parametrize("held", [surface, replacing])
@pytest.mark.parametrize("container", [variable_of, transferred])
def test_constraints_within_another_force_are_refused_because_nobody_solves_them(container, held):
    system = make_system(container(held()), constraints="system")
    message = r"The \w+ with index 0 contains a \w+, which holds nothing there"
    with pytest.raises(mm.OpenMMException, match=message):
        make_context(system, mc.RattleIntegrator(0.001))
    (finding,) = mc.Health(system, integrator=mm.LangevinMiddleIntegrator(300, 1, 0.001)).findings
    assert finding.severity == "error"
    assert finding.remedy == "Add it to the System, by system.addForce()."
    mc.replaceSolver(system)
    with pytest.raises(mm.OpenMMException, match=message):
        make_context(system, mm.LangevinMiddleIntegrator(300, 1, 0.001))


@pytest.mark.parametrize("container", [variable_of, transferred])
def test_a_constraint_force_that_holds_nothing_may_be_within_another_force(container):
    context = make_context(make_system(container(mc.ConstraintForce())), mc.RattleIntegrator(0.001))
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    context.getIntegrator().step(1)


def test_a_ring_polymer_is_refused_under_a_replaced_solver():
    system = make_system()
    mc.replaceSolver(system)
    with pytest.raises(mm.OpenMMException, match="RPMDIntegrator, which solves no constraints of its copies"):
        make_context(system, mm.RPMDIntegrator(4, 300, 1, 0.001))


def test_a_ring_polymers_barostat_is_refused():
    barostat = mm.RPMDMonteCarloBarostat(1, 10)
    with pytest.raises(mm.OpenMMException, match="must be used with an RPMDIntegrator"):
        make_context(make_system(periodic_force(), barostat), mc.RattleIntegrator(0.001))


def test_barostats_move_each_molecule_of_a_group_by_itself():
    system = mm.System()
    force = mc.ConstraintForce()
    for _ in range(4):
        system.addParticle(12)
    force.addDistance(0, 1, 0.1)
    force.addCentroidDistance([0, 1], [2, 3], 0.5)
    system.addForce(force)
    assert make_context(system, mc.RattleIntegrator(0.001)).getMolecules() == ((0, 1), (2,), (3,))


def test_a_neighbour_in_a_compound_integrator_needs_system_constraints():
    def compound():
        integrator = mm.CompoundIntegrator()
        integrator.addIntegrator(mc.RattleIntegrator(0.001))
        integrator.addIntegrator(mm.LangevinMiddleIntegrator(300, 1, 0.001))
        return integrator

    with pytest.raises(mm.OpenMMException, match="Integrator 1 of the CompoundIntegrator does not solve"):
        make_context(make_system(), compound())
    integrator = compound()
    context = make_context(make_system(constraints="system"), integrator)
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    for child in (0, 1, 0):
        integrator.setCurrentIntegrator(child)
        integrator.step(10)
    a, b = context.getState(positions=True).getPositions()
    assert unit.norm(a - b).value_in_unit(unit.nanometer) == pytest.approx(0.1, rel=1.1e-5)


def test_a_state_goes_on_through_xml():
    well = mm.CustomExternalForce("100*(x*x+2*y*y+3*z*z)")
    for particle in range(2):
        well.addParticle(particle, [])

    def start():
        integrator = mc.RattleNoseHooverIntegrator(300 * unit.kelvin, 20 / unit.picosecond, 1 * unit.femtosecond)
        context = make_context(make_system(mm.CustomExternalForce(well)), integrator)
        context.setPositions([[0, 0, 0], [0.1, 0, 0]])
        return context, integrator

    context, integrator = start()
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(20)
    state = context.getState(positions=True, velocities=True, integratorParameters=True)
    other, restored = start()
    other.setState(mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(state)))
    assert other.getStepCount() == 20
    assert restored.computeHeatBathEnergy() == integrator.computeHeatBathEnergy()
    integrator.step(20)
    restored.step(20)
    ends = [each.getState(positions=True).getPositions(asNumpy=True)._value for each in (context, other)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
