# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a check of a System finds of rigid bodies, and of constraints that depend on each other."""

from __future__ import annotations

import math

import numpy as np
import openmm as mm
import pytest
from findings import CO2, METHANE, STRAIGHT, add_force, all_distances, kinds, make_system, only

import openmmconstraints as mc


def test_straight_set_is_recognized():
    system = make_system([16, 12, 16], CO2)
    health = mc.Health(system, STRAIGHT)
    assert only(health, "rigid").severity == "note"
    assert "form a linear rigid body" in only(health, "rigid").message
    assert health.degreesOfFreedom == 5
    mc.moveConstraints(system)
    health = mc.Health(system, STRAIGHT)
    assert kinds(health) == ["rigid"]
    assert only(health, "rigid").severity == "note"


def add_expression(system, distance):
    """A distance as an expression, which nobody sees to be the same."""
    i, j, length = distance
    force = mc.CustomConstraintForce(2, f"distance(p1, p2) - {length:.17g}")
    force.addConstraint([i, j])
    system.addForce(force)
    return system


def test_redundant_constraint_is_named_and_counted():
    """A tetrahedron's six distances hold it as they are; one is given as an expression, too."""
    system = add_expression(make_system([12, 1, 1, 1], distances := all_distances(METHANE[:4])), distances[0])
    health = mc.Health(system, METHANE[:4])
    assert kinds(health) == ["redundant"]
    finding = only(health, "redundant")
    assert len(finding.constraints) == 1
    assert health.counts.redundant == 1
    assert health.counts.recognizedBodies == 0
    assert health.degreesOfFreedom == 6


def test_more_distances_than_needed_are_a_rigid_body():
    health = mc.Health(make_system([12, 1, 1, 1, 1], all_distances(METHANE)), METHANE)
    assert kinds(health) == ["rigid"]
    finding = only(health, "rigid")
    assert finding.message.startswith(
        "The distances of particles 0, 1, 2, 3 and 4 form a rigid body, and are solved as one. By itself it has 6 "
        "degrees of freedom."
    )
    assert (finding.severity, finding.constraints) == ("note", tuple(range(10)))
    assert (finding.values, finding.particles) == ({"degrees_of_freedom": 6}, (0, 1, 2, 3, 4))
    assert (health.counts.recognizedBodies, health.counts.redundant, health.counts.independent) == (1, 0, 9)
    assert health.degreesOfFreedom == 6
    assert "1 rigid body recognized" in str(health)
    mirrored = mc.Health(add_force(make_system([12, 1, 1, 1, 1]), all_distances(METHANE)), METHANE * [-1, 1, 1])
    assert [finding.severity for finding in mirrored.findings] == ["note"]


def test_bonds_and_angles_are_bodies_on_a_hinge():
    """Two tetrahedral centres: each with its four neighbours, one of which is the other centre."""
    directions = METHANE[1:] / np.linalg.norm(METHANE[1])
    other = METHANE[1] * 1.4
    x = np.concatenate([[METHANE[0], other], 0.109 * directions[1:], other - 0.109 * directions[1:]])
    bonds = [(0, 1), *((0, i) for i in (2, 3, 4)), *((1, i) for i in (5, 6, 7))]
    neighbours = {0: (1, 2, 3, 4), 1: (0, 5, 6, 7)}
    angles = [(i, c, j, math.acos(-1 / 3)) for c, of in neighbours.items() for j in of for i in of if i < j]
    lengths = [(i, j, float(np.linalg.norm(x[i] - x[j]))) for i, j in bonds]
    health = mc.Health(add_force(make_system([12, 12] + [1] * 6), lengths, angles), x)
    assert kinds(health) == ["rigid"]
    assert only(health, "rigid").message.startswith("The distances and angles of particles ")
    assert only(health, "rigid").count == 2
    assert (health.counts.recognizedBodies, health.counts.joinedBodies, health.counts.joints) == (2, 2, 2)
    assert health.degreesOfFreedom == 7
    assert "2 rigid bodies recognized (2 joined with 2 joints at shared particles)" in str(health)


def test_redundant_constraints_in_rings_of_a_chain_are_found():
    """Two tetrahedra with a distance given twice, joined by a bond: a cluster that has to be taken apart. One that is
    given by the same particles again has a warning of its own."""
    distances = all_distances(METHANE[:4])
    second = [(i + 4, j + 4, length) for i, j, length in distances]
    system = make_system([12, 1, 1, 1] * 2, [*distances, (0, 4, 0.3), *second])
    health = mc.Health(add_expression(add_expression(system, distances[0]), second[0]))
    assert health.counts.redundant == 2
    assert health.counts.independent == 13
    assert only(health, "redundant").count == 2
    health = mc.Health(add_force(system, [distances[1]]))
    assert health.counts.redundant == 3
    assert only(health, "redundant").count == 2
    assert only(health, "held-twice").constraints == (1, 15)


def test_redundant_constraint_that_disagrees_is_an_error_at_the_positions():
    i, j, length = (distances := all_distances(METHANE)).pop()
    finding = only(
        mc.Health(make_system([12, 1, 1, 1, 1], [*distances, (i, j, 1.02 * length)]), METHANE), "inconsistent"
    )
    assert finding.severity == "error"
    assert "contradict" in finding.remedy


def test_flat_set_that_is_not_rigid_is_singular():
    x = np.array([[0, 0, 0]] + [[0.1 * math.cos(a), 0.1 * math.sin(a), 0] for a in np.arange(6) * math.pi / 3])
    system = make_system([12] * 7, [(0, i, 0.1) for i in range(1, 7)] + [(i, i % 6 + 1, 0.1) for i in range(1, 7)])
    assert only(mc.Health(system, x), "singular").severity == "error"
    x[0, 2] = 1e-3
    system = make_system([12] * 7, [(i, j, d) for i, j, d in all_distances(x) if d < 0.12])
    assert only(mc.Health(system, x), "ill-conditioned").values["condition"] > 1e4


def test_nearly_straight_triangle_is_told():
    third = 0.3 * math.sin(math.radians(176 / 2))
    finding = only(mc.Health(make_system([12] * 3, [(0, 1, 0.15), (1, 2, 0.15), (0, 2, third)])), "nearly-straight")
    assert finding.values["degrees"] == pytest.approx(176)
    assert finding.particles == (0, 1, 2)


def test_rank_and_condition_of_a_large_mesh_are_told():
    size = 15
    x = np.array([[i * 0.1, j * 0.1, 0.01 * ((i * 7 + j * 3) % 5)] for i in range(size) for j in range(size)])
    pairs = [(k, k + 1) for k in range(size**2) if (k + 1) % size] + [(k, k + size) for k in range(size**2 - size)]
    system = make_system([12] * size**2, [(i, j, float(np.linalg.norm(x[i] - x[j]))) for i, j in pairs])
    health = mc.Health(system, x)
    assert health.ok
    assert (health.counts.independent, health.counts.redundant) == (len(pairs), 0)
    system.addConstraint(0, 1, system.getConstraintParameters(0)[2])
    assert only(mc.Health(system, x), "redundant").count == 1


def rigid_group(lengths_off: float = 1.0):
    """Methane as a rigid body, its bonds to hydrogen constrained in the System too, as createSystem(HBonds) does."""
    system = make_system([12, 1, 1, 1, 1], [(0, i, 0.109 * lengths_off) for i in range(1, 5)])
    force = mc.ConstraintForce()
    force.addRigidBody(range(5), METHANE)
    system.addForce(force)
    return system


def test_a_rigid_body_with_constraints_inside_is_healthy_where_rounding_explains_them():
    health = mc.Health(rigid_group(1.01), METHANE)
    assert health.ok
    assert health.placement.steps == 3
    finding = only(health, "absorbed")
    assert (finding.severity, finding.count, finding.constraints) == ("note", 4, (0, 1, 2, 3))
    assert "System constraint" in finding.message
    assert "multiplier is 0" in finding.message
    assert finding.values["deviation"] == pytest.approx(0.01 / 1.01, rel=1e-3)
    assert (health.counts.redundant, health.counts.independent, health.degreesOfFreedom) == (0, 9, 6)
    assert [(c.count, c.constraints, c.particles, c.solver) for c in health.clusters] == [(1, 9, 5, "rigid body")]
    health = mc.Health(rigid_group(1.03), METHANE)
    findings = [finding for finding in health.findings if finding.kind == "contradictory"]
    assert len(findings) == 4
    assert "removeConstraint(0)" in findings[0].remedy
    assert findings[0].values["value"] > findings[0].values["bound"]
    assert str(health).endswith("Not ready to run: 4 errors.")


def test_a_body_that_is_taken_as_linear_is_told_with_the_shift():
    system = make_system([16, 12, 16])
    x = [[0, 0, 0], [0.116, 0.001, 0], [0.232, 0, 0]]
    force = mc.ConstraintForce()
    force.addRigidBody(range(3), x)
    system.addForce(force)
    health = mc.Health(system, x)
    finding = only(health, "linear")
    assert finding.severity == "note"
    assert finding.particles == (0, 1, 2)
    assert 5e-4 < finding.values["shift"] < 1e-3
    assert health.ok
    assert health.degreesOfFreedom == 5
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(x)
    assert integrator.getSolverSummary().lineShift == finding.values["shift"]
    assert integrator.getNumDegreesOfFreedom() == 5


def test_openmms_own_setup_is_slow_for_constraints_in_a_body_too():
    n = 1001
    chain = make_system([12] * n, [(i, i + 1, 0.15) for i in range(n - 1)])
    force = mc.ConstraintForce()
    force.addRigidBody(range(n), [[0.12 * i, 0.09 * (i % 2), 0.0] for i in range(n)])
    chain.addForce(force)
    assert sorted(kinds(mc.Health(chain))) == ["absorbed", "slow-setup"]
    for i in reversed(range(n - 1)):
        chain.removeConstraint(i)
    for i in range(2000):  # elsewhere, in small clusters
        chain.addParticle(1)
        if i % 2:
            chain.addConstraint(n + i - 1, n + i, 0.1)
    assert kinds(mc.Health(chain)) == []


def test_clusters_count_the_degrees_of_freedom_that_bodies_remove():
    clusters = mc.RattleIntegrator(0.001).getClusters(rigid_group())
    assert sum(cluster.count * cluster.constraints for cluster in clusters) == 9
