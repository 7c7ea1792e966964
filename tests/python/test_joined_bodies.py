# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rigid bodies that share particles, or that constraints join, with the package's tools: against distances."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from platforms import bound, under_test
from temperatures import assert_reporters_show

import openmmconstraints as mc

MASSES = [12, 14, 16, 3, 5, 10, 7, 4]
# Two tetrahedra and more on a hinge of the particles 2 and 3
PLACES = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.1, -0.05, 0.12],
        [0.15, 0.1, 0.0],
        [0.15, 0.2, 0.05],
        [0.3, 0.1, 0.1],
        [0.33, 0.2, -0.06],
        [0.4, 0.05, 0.0],
        [0.05, 0.12, 0.15],
    ]
)
BODIES = [(0, 1, 2, 3, 7), (2, 3, 4, 5, 6)]


def hinged(as_bodies: bool, distance: bool = False) -> mm.System:
    """Two bodies on a hinge, or on a bond of fixed length, held by addRigidBody or by distances; springs pull them."""
    system = mm.System()
    for mass in MASSES:
        system.addParticle(mass)
    bodies = BODIES if not distance else [(0, 1, 2, 7), (3, 4, 5, 6)]
    joining, force, springs = mc.ConstraintForce(), mc.ConstraintForce(), mm.HarmonicBondForce()
    if distance:
        joining.addDistance(2, 3, float(np.linalg.norm(PLACES[2] - PLACES[3])))
    pairs = set()
    for body in bodies:
        if as_bodies:
            force.addRigidBody(body, PLACES[list(body)])
        pairs |= {(body[i], body[j]) for j in range(1, len(body)) for i in range(min(j, 3))}
    for i, j in sorted(tuple(sorted(pair)) for pair in pairs) if not as_bodies else []:
        force.addDistance(i, j, float(np.linalg.norm(PLACES[i] - PLACES[j])))
    for i, j, rest in ((0, 6, 0.05), (1, 4, 0.1), (7, 5, 0.05), (0, 5, 0.1)):
        springs.addBond(i, j, rest, 500)
    for each in (joining, force, springs):
        system.addForce(each)
    return system


def context_of(system: mm.System, integrator: mm.Integrator, positions: np.ndarray = PLACES) -> mm.Context:
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    return context


def places(context: mm.Context) -> np.ndarray:
    return context.getState(positions=True).getPositions(asNumpy=True)._value


@pytest.mark.platform
@pytest.mark.parametrize("distance", [False, True], ids=["hinge", "distance"])
def test_minimize_finds_the_minimum_of_distances(distance):
    energies = []
    off = PLACES + np.random.default_rng(1).normal(scale=0.005, size=PLACES.shape)
    for as_bodies in (True, False):
        context = context_of(hinged(as_bodies, distance), mc.RattleIntegrator(0.001), off)
        found = mc.minimize(context, bound(1e-5, mixed=0.1))
        assert found.converged
        energies.append(context.getState(energy=True).getPotentialEnergy()._value)
    assert energies[0] == pytest.approx(energies[1], abs=bound(1e-7, mixed=1e-3))
    assert energies[0] > 0.1  # the springs cannot all relax


@pytest.mark.parametrize("distance", [False, True], ids=["hinge", "distance"])
def test_copies_and_xml_keep_joined_bodies(distance):
    original = hinged(True, distance)
    for system in (
        copy.deepcopy(original),
        pickle.loads(pickle.dumps(original)),
        mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(original)),
    ):
        contexts = [context_of(each, mc.RattleIntegrator(0.001)) for each in (original, system)]
        for context in contexts:
            context.setVelocitiesToTemperature(300, 5)
            context.getIntegrator().step(20)
        assert contexts[1].getIntegrator().getNumDegreesOfFreedom() == (11 if distance else 7)
        assert (places(contexts[0]) == places(contexts[1])).all()


@pytest.mark.platform
def test_reporters_show_the_temperature_of_seven_degrees_of_freedom():
    topology = app.Topology()
    residue = topology.addResidue("HIN", topology.addChain())
    for _ in MASSES:
        topology.addAtom("C", app.element.carbon, residue)
    simulation = app.Simulation(topology, hinged(True), mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions(PLACES)
    simulation.context.setVelocitiesToTemperature(300, 5)
    assert_reporters_show(simulation, np.array(MASSES), 7)


def test_blue_moon_terms_are_those_of_distances():
    """Of the distance between two bodies: lambda, G and Z do not depend on how the bodies are held."""
    terms = []
    for as_bodies in (True, False):
        integrator = mc.RattleIntegrator(0.001)
        integrator.setConstraintTolerance(1e-12)
        context = context_of(hinged(as_bodies, distance=True), integrator)
        context.setVelocitiesToTemperature(300, 5)
        integrator.applyVelocityConstraints()
        terms.append(integrator.computeBlueMoon([0]))
    for mine, expected in zip(*terms, strict=True):
        assert np.ravel(mine) == pytest.approx(np.ravel(expected), rel=1e-6)


@pytest.mark.parametrize("distance", [False, True], ids=["hinge", "distance"])
def test_a_start_far_off_is_approached_in_stages(distance):
    """One body is 0.3 nm from where it belongs: applyConstraints() goes there, a step does not."""
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-8)
    off = PLACES.copy()
    off[3 if distance else 4 :] += [0.2, 0.1, -0.2]
    if not distance:
        off[7] = PLACES[7]
    context = context_of(hinged(True, distance), integrator, off)
    with pytest.raises(mm.OpenMMException, match="setMaxProjection"):
        integrator.step(1)
    assert integrator.applyConstraints()._value > 0.05
    x = places(context)
    for body in BODIES if not distance else [(0, 1, 2), (4, 5, 6)]:
        for i in body:
            for j in body:
                assert np.linalg.norm(x[i] - x[j]) == pytest.approx(
                    np.linalg.norm(PLACES[i] - PLACES[j]), abs=bound(1e-6, single=2e-6)
                )
    integrator.step(5)


@pytest.mark.parametrize(
    "bodies", [[[0, 2, 3], [0, 2, 4], [0, 1]], [[0, 1], [0, 2, 3], [0, 2, 4]]], ids=["hinge", "rod"]
)
def test_an_anchor_on_a_hinge_leaves_six_degrees_of_freedom_in_any_order(bodies):
    """Both triangles hold 0 at a distance of the anchor 2, in a direction that the axes of a rod do not tell."""
    x = np.array([[0, 0, 0], [0.15, 0, 0], [-0.05, 0.14, 0], [-0.12, 0.02, 0.13], [0.03, -0.11, 0.12]])
    system, force = mm.System(), mc.ConstraintForce()
    for mass in (12, 12, 0, 12, 12):
        system.addParticle(mass)
    for body in bodies:
        force.addRigidBody(body, x[body])
    system.addForce(force)
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    integrator.setRandomNumberSeed(1)
    context = context_of(system, integrator, x)
    integrator.step(200)  # it has turned far
    assert integrator.getNumDegreesOfFreedom() == 6
    assert np.linalg.norm(places(context)[0] - x[2]) == pytest.approx(np.linalg.norm(x[0] - x[2]), rel=1e-4)
    assert mc.replaceSolver(system, positions=x).degrees == 6


@pytest.mark.parametrize("integrator", [mc.ShakeIntegrator, mc.RattleIntegrator, mc.RattleMTSIntegrator])
def test_the_largest_error_may_be_that_of_a_joint(integrator):
    """Errors of velocities, which are solved later and to rounding, do not take its place."""
    made = integrator(0.002, [(0, 1)]) if integrator is mc.RattleMTSIntegrator else integrator(0.002)
    made.setConstraintTolerance(1e-3)
    context = context_of(hinged(as_bodies=True), made)
    context.setVelocitiesToTemperature(600, 1)
    made.step(50)
    x = places(context)
    gap = max(
        abs(np.linalg.norm(x[i] - x[j]) / np.linalg.norm(PLACES[i] - PLACES[j]) - 1)
        for i, j in combinations(BODIES[0], 2)
    )
    summary = made.getSolverSummary()
    assert summary.worstConstraint == -1
    assert summary.maxError > 0.3 * gap > 1e-14


SQUARE = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.05, 0, 0.1], [0, -0.08, 0.06]]  # particle 0 is the anchor
LINE = [[0, 0, 0], [0, 0, 0.1], [0, 0, 0.2], [0, 0, 0.3], [0.1, 0, 0.15], [0.05, 0.05, 0.1], [0.05, -0.05, 0.2]]


@pytest.mark.platform
@pytest.mark.parametrize(
    ("shape", "anchors", "bodies", "degrees"),
    [
        (SQUARE[:4], 1, [(0, 1, 2), (0, 1, 3)], 4),
        (SQUARE, 1, [(0, 1, 2), (0, 1, 3), (0, 1, 4)], 5),
        (LINE, 4, [(0, 1, 4, 5), (2, 3, 4, 6)], 1),
    ],
    ids=["a hinge through an anchor", "three bodies on it", "two that turn about one line"],
)
def test_a_shared_particle_needs_no_holding_where_anchors_hold_it(shape, anchors, bodies, degrees):
    """Along the axes of the first body: neither body moves it towards an anchor of both."""
    shape = np.array(shape)
    system, force = mm.System(), mc.ConstraintForce()
    for i in range(len(shape)):
        system.addParticle(0 if i < anchors else 9 - i)
    for body in bodies:
        force.addRigidBody(body, shape[list(body)])
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.0005)
    context = context_of(system, integrator, shape)
    assert integrator.getNumDegreesOfFreedom() == degrees
    context.setVelocitiesToTemperature(300, 7)
    integrator.step(1)
    start = context.getState(energy=True).getKineticEnergy()._value
    integrator.step(500)
    assert context.getState(energy=True).getKineticEnergy()._value == pytest.approx(start, rel=bound(1e-4, single=1e-3))
    now = places(context)
    for i, j in (pair for body in bodies for pair in combinations(body, 2)):
        assert np.linalg.norm(now[i] - now[j]) == pytest.approx(np.linalg.norm(shape[i] - shape[j]), rel=2e-5)


@pytest.mark.parametrize("held", ["distance", "angle", "cylinder"])
def test_what_no_motion_of_an_anchored_body_changes_takes_no_degree_of_freedom(held):
    """The body turns about the line of its two anchors, on which particle 2 is another."""
    shape = np.array([[0, 0, 0], [0, 0, 0.1], [0, 0, 0.2], [0.1, 0, 0.15], [0.05, 0.05, 0.1]])
    system, force, cylinder = mm.System(), mc.ConstraintForce(), mc.CustomConstraintForce(1, "x1^2 + y1^2 - 0.01")
    for mass in (0, 0, 0, 9, 5):
        system.addParticle(mass)
    force.addRigidBody([0, 1, 3, 4], shape[[0, 1, 3, 4]])
    if held == "distance":
        force.addDistance(2, 3, float(np.linalg.norm(shape[3] - shape[2])))
    elif held == "angle":
        force.addAngle(0, 2, 3, float(np.arctan2(0.1, 0.05)))
    else:
        cylinder.addConstraint([3])
    for each in (force, cylinder):
        system.addForce(each)
    integrator = mc.RattleIntegrator(0.0005)
    context = context_of(system, integrator, shape)
    assert integrator.getNumDegreesOfFreedom() == 1
    context.setVelocities(10 * np.cross([0, 0, 1], shape))
    integrator.step(100)
    state = context.getState(velocities=True)
    velocities = state.getVelocities(asNumpy=True)._value
    assert np.linalg.norm(velocities[3]) > 0.1
    power = mc.computeConstraintForces(context)._value * velocities
    assert abs(power.sum()) < 1e-9 * abs(power).sum()


@pytest.mark.parametrize("shift", [0, 0.02])
def test_a_distance_that_holds_an_anchored_body_at_its_extreme_is_refused(shift):
    """The anchor of the body, its particle and another anchor are on a line: no motion changes the distance there."""
    shape = np.array([[0, 0, 0], [0.1, 0, 0], [shift, 0.1, 0], [0.3, 0, 0]])
    system, force = mm.System(), mc.ConstraintForce()
    for mass in (0, 9, 5, 0):
        system.addParticle(mass)
    force.addRigidBody([0, 1, 2], shape[:3])
    force.addDistance(1, 3, 0.2)
    system.addForce(force)
    context = context_of(system, mc.RattleIntegrator(0.001), shape)
    with pytest.raises(mm.OpenMMException, match=r"rigid body 0 [^.]*singular"):
        context.getIntegrator().step(1)
