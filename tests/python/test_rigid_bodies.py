# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rigid bodies of addRigidBody with the package's tools: minimize, and the temperatures that reporters show."""

from __future__ import annotations

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from platforms import bound, under_test
from temperatures import assert_reporters_show

import openmmconstraints as mc

EDGE = 1.1  # nm; LJ sites with sigma = 1 nm and epsilon = 1 kJ/mol
TRIANGLE = EDGE * np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.75**0.5, 0]])


def two_triangles() -> tuple[mm.System, np.ndarray]:
    """Sites attract those of the other body; masses differ, which a minimum does not depend on."""
    system, force, sites = mm.System(), mc.ConstraintForce(), mm.NonbondedForce()
    for first in (0, 3):
        for i in range(3):
            system.addParticle(1 + 10 * i)
            sites.addParticle(0, 1, 1)
        force.addRigidBody(range(first, first + 3), TRIANGLE)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            sites.addException(first + i, first + j, 0, 1, 0)
    system.addForce(sites)
    system.addForce(force)
    angle = np.deg2rad(45)  # of the antiprism's 60
    rotation = [[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    tilt = [[1, 0, 0], [0, np.cos(0.1), np.sin(0.1)], [0, -np.sin(0.1), np.cos(0.1)]]
    centred = TRIANGLE - TRIANGLE.mean(axis=0)
    return system, np.concatenate([centred, centred @ rotation @ tilt + [0.05, 0.1, 1.0]])


def antiprism_energy(height: float) -> float:
    """Two triangles face to face, one turned by 60 degrees: six distances and three longer ones."""
    near = height**2 + EDGE**2 / 3
    far = height**2 + 4 * EDGE**2 / 3
    return sum(n * 4 * (r2**-6 - r2**-3) for n, r2 in ((6, near), (3, far)))


def lengths(x: np.ndarray) -> np.ndarray:
    return np.array([np.linalg.norm(x[f + i] - x[f + j]) for f in (0, 3) for i, j in ((0, 1), (0, 2), (1, 2))])


@pytest.mark.platform
def test_two_bodies_find_the_antiprism():
    system, start = two_triangles()
    context = mm.Context(system, mc.RattleIntegrator(0.001), under_test())
    context.setPositions(start + np.random.default_rng(1).normal(scale=0.01, size=start.shape))  # off their shapes
    found = mc.minimize(context, bound(1e-6, mixed=1e-2))
    assert found.converged
    state = context.getState(positions=True, energy=True)
    lowest = min(antiprism_energy(h) for h in np.linspace(0.7, 1.2, 50001))
    energy = state.getPotentialEnergy()._value
    assert energy == pytest.approx(lowest, abs=bound(1e-8, mixed=1e-5))
    assert lengths(state.getPositions(asNumpy=True)._value) == pytest.approx(EDGE, rel=bound(1e-7, single=1e-6))


@pytest.mark.platform
@pytest.mark.parametrize(
    ("shape", "degrees"),
    [(TRIANGLE, 6), (TRIANGLE * [1, 0, 0] + [[0, 0, 0], [0, 0, 0], [0.1, 0, 0]], 5), (TRIANGLE[:1], 3)],
    ids=["any", "linear", "one particle"],
)
def test_reporters_count_the_degrees_of_freedom_of_bodies(shape, degrees):
    bodies, size = 7, len(shape)
    topology, system, force = app.Topology(), mm.System(), mc.ConstraintForce()
    residue = topology.addResidue("BOD", topology.addChain())
    for first in range(0, bodies * size, size):
        for _ in range(size):
            system.addParticle(12)
            topology.addAtom("C", app.element.carbon, residue)
        force.addRigidBody(range(first, first + size), shape)
    system.addForce(force)
    simulation = app.Simulation(topology, system, mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions((shape + np.arange(bodies)[:, None, None] * [3, 0, 0]).reshape(-1, 3))
    simulation.context.setVelocitiesToTemperature(300, 5)
    assert simulation.integrator.getNumDegreesOfFreedom() == degrees * bodies
    assert_reporters_show(simulation, np.full(bodies * size, 12), degrees * bodies)


def test_a_body_that_turns_too_far_is_told_by_how_much():
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(4):
        system.addParticle(12)
    shape = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.12, 0], [0, 0, 0.15]])
    force.addRigidBody(range(4), shape)
    system.addForce(force)
    context = mm.Context(system, mc.RattleIntegrator(0.002), mm.Platform.getPlatform("Reference"))
    context.setPositions(shape)
    context.setVelocities(np.cross([900, 0, 0], shape))  # nearly about its axis of the largest moment
    with pytest.raises(mm.OpenMMException, match=r"rigid body 0 .* turns by 1\.8\d? rad.*\n.*below 0\.001\d? ps"):
        context.getIntegrator().step(1)
    assert context.getState(positions=True).getPositions(asNumpy=True)._value == pytest.approx(shape, abs=1e-12)


def joined_triangles(*others: tuple[list[int], np.ndarray]) -> tuple[mm.System, np.ndarray]:
    """Two triangles that share particle 2, and other bodies, of seven particles."""
    x = np.concatenate(
        [TRIANGLE, TRIANGLE[2] + TRIANGLE[1:] @ np.diag([1, 1, -1]) + [0, 0.1, 0.2], [[0, 0, 2], [0, 1, 2]]]
    )
    system, force = mm.System(), mc.ConstraintForce()
    for _ in x:
        system.addParticle(12)
    force.addRigidBody([0, 1, 2], x[:3])
    force.addRigidBody([2, 3, 4], x[2:5])
    for particles, positions in others:
        force.addRigidBody(particles, positions)
    force.setParticleNames([f"ALA{i}:N" for i in range(len(x))])
    system.addForce(force)
    return system, x


def test_health_counts_joined_bodies_and_joints():
    system, x = joined_triangles()
    health = mc.Health(system)
    assert (health.counts.rigidBodies, health.counts.joinedBodies, health.counts.joints) == (2, 2, 1)
    assert (health.counts.independent, health.counts.redundant) == (3 * 5 - 9, 0)
    assert health.degreesOfFreedom == 9 + 6
    assert "2 rigid bodies (2 joined with 1 joint at shared particles)" in str(health)
    assert [(c.constraints, c.particles, c.equations, c.rigidBodies) for c in health.clusters] == [(6, 5, 3, 2)]
    health = mc.Health(system, x)
    assert health.ok, health
    assert health.degreesOfFreedom == 9 + 6
    assert health.findings == ()


def test_health_needs_positions_for_the_degrees_of_freedom_of_a_loop():
    _, x = joined_triangles()
    system, _ = joined_triangles(([4, 6, 0], x[[4, 6, 0]]))
    health = mc.Health(system)
    assert health.degreesOfFreedom is None
    assert health.counts.independent is None
    assert "depend on the positions, which were not given" in str(health)
    health = mc.Health(system, x)
    assert health.degreesOfFreedom == 3 * 6 + 3 - 3 * 3
    assert health.ok, health


def test_health_tells_which_bodies_are_one():
    _, x = joined_triangles()
    system, _ = joined_triangles(([3, 2, 4, 5], x[[3, 2, 4, 5]]), ([1, 0], x[[1, 0]]))
    health = mc.Health(system)
    (finding,) = health.findings
    assert (finding.severity, finding.kind, finding.count) == ("note", "merged", 2)
    assert finding.particles in {(0, 1, 2), (2, 3, 4, 5)}
    assert "is one with 1 other: particles that they share" in finding.message
    assert health.degreesOfFreedom == 9 + 3


def test_bodies_that_contradict_others_about_a_shared_particle_are_refused_by_name():
    _, x = joined_triangles()
    wide = x[[1, 2, 5]] * [1.1, 1, 1]
    system, _ = joined_triangles(([1, 2, 5], wide))
    expected = r"rigid body 2 .*distance of particle 1 \(ALA1:N\) and particle 2 \(ALA2:N\) .* rigid body 0 of"
    with pytest.raises(mm.OpenMMException, match=expected):
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))


def test_particles_of_a_hinge_are_moved_onto_its_axis_and_that_is_told():
    x = np.array([[0, 0, 0], [0.12, 0.001, 0], [0.26, 0, 0], [0.3, 0.1, 0], [0.1, -0.1, 0.1]])
    system, force = mm.System(), mc.ConstraintForce()
    for _ in x:
        system.addParticle(12)
    force.addRigidBody([0, 1, 2, 3], x[:4])
    force.addRigidBody([0, 1, 2, 4], x[[0, 1, 2, 4]])
    system.addForce(force)
    health = mc.Health(system, x)
    (finding,) = [finding for finding in health.findings if finding.kind == "linear"]
    assert finding.values["shift"] == pytest.approx(0.001, rel=1e-3)
    assert "onto it" in finding.message
    assert health.degreesOfFreedom == 7
    assert health.ok, health
