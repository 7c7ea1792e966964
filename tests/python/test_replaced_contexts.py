# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""replaceSolver(): the Force that it adds, its copies, and its Contexts."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import openmm as mm
import pytest
from held_kinds import CHAIN, REFERENCE, angle, build, distance, length
from molecules import topology_of
from test_joined_bodies import PLACES, hinged
from their_integrators import compound, errors_of, positions, prepare, splitting

import openmmconstraints as mc


def through_xml(thing):
    return mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(thing))


DUPLICATES = pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing)), through_xml]
)


@DUPLICATES
def test_copies_keep_the_setting(duplicate):
    for yes in (False, True):
        force = mc.ConstraintForce()
        assert not force.getReplacesSolver()
        force.setReplacesSolver(yes)
        assert mc.ConstraintForce.cast(duplicate(force)).getReplacesSolver() is yes


def test_an_older_file_reads_as_false():
    force = mc.ConstraintForce()
    older = mm.XmlSerializer.serialize(force)
    force.setReplacesSolver(True)
    newer = mm.XmlSerializer.serialize(force)
    assert "replacesSolver" not in older
    assert "replacesSolver" in newer
    assert not mc.ConstraintForce.cast(mm.XmlSerializer.deserialize(older)).getReplacesSolver()


@DUPLICATES
def test_copies_of_a_system_run_alike(duplicate):
    system = hinged(True)
    mc.replaceSolver(system)
    ends = []
    for each in (system, duplicate(system)):
        context = mm.Context(each, splitting("V R V", 0.001), REFERENCE)
        context.setPositions(PLACES)
        context.setVelocitiesToTemperature(300, 1)
        context.getIntegrator().step(10)
        ends.append(positions(context))
    assert np.array_equal(*ends)


def test_mistakes_change_nothing():
    topology, system = build("body")
    with pytest.raises(ValueError, match="replaceSolver: the topology has 5 atoms"):
        mc.replaceSolver(system, topology_of(["C"] * 5))
    with pytest.raises(TypeError, match="replaceSolver"):
        mc.replaceSolver(topology)
    assert (system.getNumForces(), system.getNumConstraints()) == (2, 0)
    mc.replaceSolver(system, topology)
    with pytest.raises(ValueError, match="Force with index 2 replaces the solver"):
        mc.replaceSolver(system)
    assert (system.getNumForces(), system.getNumConstraints()) == (3, 12)


def test_errors_name_atoms_of_the_topology():
    topology, system = build("distances", mm.CMMotionRemover())
    mc.replaceSolver(system, topology)
    context = mm.Context(system, integrator := mm.VerletIntegrator(0.001), REFERENCE)
    context.setPositions(CHAIN * 2)
    with pytest.raises(mm.OpenMMException, match="C0"):
        integrator.step(1)


def test_the_remedy_can_be_typed():
    """OpenMM's integrators have neither applyConstraints() nor setMaxProjection()."""
    _, system = build("distances")
    mc.replaceSolver(system)
    context = mm.Context(system, integrator := mm.VerletIntegrator(0.001), REFERENCE)
    context.setPositions(CHAIN * 2)
    with pytest.raises(mm.OpenMMException) as raised:
        integrator.step(1)
    assert "integrator.applyConstraints" not in str(raised.value)
    assert "setMaxProjection" not in str(raised.value)
    assert "Call openmmconstraints.minimize(context)" in str(raised.value)
    mc.minimize(context)
    integrator.step(1)


def test_two_contexts_of_a_system():
    _, system = build("angles with their sides")
    force = mc.replaceSolver(system).force
    contexts = []
    for integrator, platform in ((mm.VerletIntegrator(0.001), "Reference"), (splitting("V R V", 0.002), "CPU")):
        context = mm.Context(system, prepare(integrator, 1e-9), mm.Platform.getPlatform(platform))
        context.setPositions(CHAIN)
        context.setVelocitiesToTemperature(300, len(contexts) + 1)
        contexts.append(context)
    for _ in range(5):
        for context in contexts:
            context.getIntegrator().step(2)
            assert distance(context) == pytest.approx(0.1, rel=1e-9)
            summary = force.getSolverSummary(context)
            assert summary.converged
            assert 0 < summary.iterations < 20
            assert summary.maxError <= 1e-9
    assert np.abs(positions(contexts[0]) - positions(contexts[1])).max() > 1e-4


def test_more_than_one_force_may_replace_the_solver():
    _, system = build("distances")
    forces = [mc.ConstraintForce() for _ in range(2)]
    forces[0].addAngle(0, 1, 2, angle(0, 1, 2))
    for force in forces:
        force.setReplacesSolver(True)
        system.addForce(force)
    context = mm.Context(system, integrator := prepare(mm.LangevinMiddleIntegrator(300, 1, 0.001), 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    for _ in range(3):
        integrator.step(1)
        assert max(errors_of(system, positions(context))) < 1e-9
    assert forces[0].getSolverSummary(context).iterations == forces[1].getSolverSummary(context).iterations > 0


def following(target: float = 0.12) -> tuple[mm.System, mc.ConstraintForce]:
    _, system = build("distance that follows a parameter")
    force = mc.ConstraintForce.cast(system.getForce(1))
    force.setDistanceInterpolation(0, "lambda", target)
    mc.replaceSolver(system)
    return system, force


def test_parameters_and_new_values_are_held_from_the_next_step_on():
    system, force = following()
    context = mm.Context(system, integrator := prepare(mm.LangevinMiddleIntegrator(300, 1, 0.001), 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    integrator.step(2)
    assert distance(context) == pytest.approx(0.1, rel=1e-9)
    context.setParameter("lambda", 0.5)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.11, rel=1e-9)
    force.setDistanceParameters(0, 0, 1, 0.13)
    force.setDistanceInterpolation(0, "lambda", 0.13)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.11, rel=1e-9)
    force.updateParametersInContext(context)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.13, rel=1e-9)
    force.addDistance(4, 5, length(4, 5))
    with pytest.raises(mm.OpenMMException, match=r"reinitialize"):
        force.updateParametersInContext(context)
    integrator.step(1)
    context.reinitialize(preserveState=True)
    integrator.step(5)
    assert distance(context) == pytest.approx(0.13, rel=1e-9)
    assert distance(context, 4, 5) == pytest.approx(length(4, 5), rel=1e-9)


def test_an_integrator_may_change_a_parameter_within_its_step():
    """As nonequilibrium ones of openmmtools do. The Context is told when the integrator asks for forces."""
    system, _ = following()
    integrator = mm.CustomIntegrator(0.001)
    integrator.addPerDofVariable("x1", 0)
    integrator.addUpdateContextState()
    for _ in range(2):
        integrator.addComputeGlobal("lambda", "lambda + 0.05")
        integrator.addComputePerDof("v", "v+0.5*dt*f/m")
        integrator.addComputePerDof("x", "x+0.5*dt*v")
        integrator.addComputePerDof("x1", "x")
        integrator.addConstrainPositions()
        integrator.addComputePerDof("v", "v+(x-x1)/(0.5*dt)")
        integrator.addConstrainVelocities()
    context = mm.Context(system, prepare(integrator, 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    context.setVelocitiesToTemperature(300, 1)
    for step in range(1, 6):
        integrator.step(1)
        assert distance(context) == pytest.approx(0.1 + 0.02 * 0.1 * step, rel=1e-9)


def test_readings_that_need_the_duration_of_a_move_are_those_of_our_integrators():
    _, system = build("distances")
    force = mc.replaceSolver(system).force
    context = mm.Context(system, both := compound(mm.VerletIntegrator(0.001), mc.RattleIntegrator(0.001)), REFERENCE)
    context.setPositions(CHAIN)
    both.step(1)
    declared = mc.ConstraintForce.cast(system.getForce(1))
    with pytest.raises(mm.OpenMMException, match=r"(?s)getMultipliers.*RattleLangevinIntegrator.*how long a step is"):
        declared.getMultipliers(context)
    both.setCurrentIntegrator(1)
    both.step(1)
    assert len(declared.getMultipliers(context)) == 5
    assert force.getSolverSummary(context).converged


def test_a_summary_needs_a_solver():
    system = mm.System()
    system.addParticle(1)
    system.addForce(force := mc.ConstraintForce())
    context = mm.Context(system, mm.LangevinMiddleIntegrator(300, 1, 0.001), REFERENCE)
    with pytest.raises(mm.OpenMMException, match="no solver of openmm-constraints is in this Context"):
        force.getSolverSummary(context)
    other = mm.Context(hinged(True), mc.RattleIntegrator(0.001), REFERENCE)
    with pytest.raises(mm.OpenMMException):
        force.getSolverSummary(other)


def test_new_lengths_and_shapes_of_what_was_declared_are_held():
    _, system = build("angles with their sides")
    force = mc.ConstraintForce.cast(system.getForce(1))
    declared = mc.replaceSolver(system)
    assert declared.declared == len(declared.force.getCountedPairs()) == system.getNumConstraints() > 0
    for each in (system, copy.deepcopy(system)):
        own = mc.ConstraintForce.cast(each.getForce(1))
        context = mm.Context(each, integrator := prepare(mm.VerletIntegrator(0.001), 1e-9), REFERENCE)
        context.setPositions(CHAIN)
        integrator.step(1)
        first, second, _ = own.getDistanceParameters(0)
        own.setDistanceParameters(0, first, second, 0.11)
        own.updateParametersInContext(context)
        integrator.step(1)
        assert distance(context) == pytest.approx(0.11, rel=1e-8)
    assert force.getNumDistances() > 0


def test_the_error_of_a_step_is_the_larger_one_of_positions_and_velocities():
    """MTSIntegrator solves velocities last, to rounding."""
    x = np.array([[0, 0, 0], [0.09572, 0, 0], [-0.024, 0.0927, 0]])
    system = mm.System()
    for mass in (16, 1, 1):
        system.addParticle(mass)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        system.addConstraint(i, j, float(np.linalg.norm(x[i] - x[j])))
    force = mc.replaceSolver(system).force
    integrator = prepare(mm.MTSIntegrator(0.004, [(0, 1)]), 1e-3)
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(x)
    context.setVelocitiesToTemperature(600, 1)
    integrator.step(50)
    error = max(errors_of(system, positions(context)))
    assert force.getSolverSummary(context).maxError == pytest.approx(error, rel=1e-6)


def test_a_box_may_scale_molecules_that_are_cut_at_it():
    """A barostat scales a molecule by its centre, which atoms that were wrapped one by one have elsewhere."""
    system, box = mm.System(), 3.0
    system.setDefaultPeriodicBoxVectors([box, 0, 0], [0, box, 0], [0, 0, box])
    force, across = mm.NonbondedForce(), np.array([[2.98, 1, 1], [0.07572, 1, 1]])  # 0.09572 nm through the box
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    for mass in (16, 1):
        system.addParticle(mass)
        force.addParticle(0, 0.3, 0)
    system.addForce(force)
    bond = mc.ConstraintForce()
    bond.setUsesPeriodicBoundaryConditions(True)
    bond.addDistance(0, 1, 0.09572)
    system.addForce(bond)
    mc.replaceSolver(system)
    integrator = mm.VerletIntegrator(0.001)
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(across)
    integrator.step(1)
    larger = box + 0.2
    context.setPeriodicBoxVectors([larger, 0, 0], [0, larger, 0], [0, 0, larger])
    integrator.step(1)  # brings the atoms together, by 0.1 nm each
    r = positions(context)
    assert abs(np.linalg.norm(r[1] - r[0] + [larger, 0, 0]) - 0.09572) < 1e-5
