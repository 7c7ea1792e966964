# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a check of a System finds: each kind of finding provoked once, and nothing where nothing is wrong."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit

import openmmconstraints as mc

CO2 = [(0, 1, 0.116), (1, 2, 0.116), (0, 2, 0.232)]
STRAIGHT = [[-0.116, 0, 0], [0, 0, 0], [0.116, 0, 0]]
METHANE = np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.109 / math.sqrt(3)


def make_system(masses, distances=(), periodic=False):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    for i, j, length in distances:
        system.addConstraint(i, j, length)
    if periodic:
        force = mm.HarmonicBondForce()
        force.setUsesPeriodicBoundaryConditions(True)
        system.addForce(force)
    return system


def all_distances(x):
    return [(i, j, float(np.linalg.norm(x[i] - x[j]))) for j in range(len(x)) for i in range(j)]


def add_force(system, distances=(), angles=(), dihedrals=(), periodic=False):
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(periodic)
    for distance in distances:
        force.addDistance(*distance)
    for angle in angles:
        force.addAngle(*angle)
    for dihedral in dihedrals:
        force.addDihedral(*dihedral)
    system.addForce(force)
    return system


def kinds(health, severity=None):
    return [finding.kind for finding in health.findings if severity in (None, finding.severity)]


def only(health, kind):
    found = [finding for finding in health.findings if finding.kind == kind]
    assert len(found) == 1, health
    return found[0]


@pytest.fixture(scope="module")
def villin():
    pdb = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))
    force_field = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
    system = force_field.createSystem(pdb.topology, nonbondedMethod=app.PME, constraints=app.AllBonds)
    return system, pdb


def test_villin_is_healthy(villin):
    system, pdb = villin
    health = mc.Health(system, pdb.positions, topology=pdb.topology)
    assert health.ok
    assert kinds(health) == []
    assert str(health).endswith("Healthy.")
    integrator = mc.RattleIntegrator(0.002)
    clusters = integrator.getClusters(system)
    assert [(c.count, c.solver) for c in health.clusters] == [(c.count, c.solver) for c in clusters]
    assert health.counts.independent == 8872
    assert health.degreesOfFreedom == 3 * 8867 - 8872 - 3
    assert len(health.placement.worst) == 5
    assert "THR13:C" in health.placement.worst[0].names
    assert 0.005 < health.placement.shift < 0.01


def test_check_leaves_system_and_integrator_alone(villin):
    system = make_system([16, 12, 16], CO2)
    add_force(system, [(0, 1, 0.116)])
    before = mm.XmlSerializer.serialize(system)
    integrator = mc.RattleIntegrator(0.002)
    mc.Health(system, STRAIGHT, integrator=integrator)
    assert mm.XmlSerializer.serialize(system) == before
    mm.Context(make_system([1]), integrator, mm.Platform.getPlatform("Reference"))  # it was not bound


def test_every_refusal_is_found_and_the_check_goes_on():
    system = make_system([1] * 14, [(0, 1, 0.1), (1, 2, -0.1), (2, 2, 0.1), (0, 1, 0.2), (12, 13, 0.1)])
    distances = [(0, 99, 0.1), (6, 7, 0.1), (7, 8, 0.1), (6, 8, 0.3)]
    add_force(system, distances, [(3, 4, 5, math.pi - 5e-4), (9, 10, 11, math.radians(175))])
    custom = mc.CustomConstraintForce(1, "foo(x1)")
    custom.addConstraint([3])
    system.addForce(custom)
    health = mc.Health(system)
    assert not health.ok
    found = [(finding.kind, finding.constraints) for finding in health.findings if finding.severity == "error"]
    assert found == [
        ("target", (1,)),
        ("particles", (2,)),
        ("particles", (5,)),
        ("target", (9,)),
        ("expression", (11,)),
        ("contradictory", (0, 3)),
        ("contradictory", (6, 7, 8)),
    ]
    assert only(health, "nearly-straight").constraints == (10,)
    ring = health.findings[6]
    assert ring.message.startswith("distance 1 of the ConstraintForce with index 0 (particles 6 and 7), distance 2")
    assert health.counts.independent == 5  # 0-1, 12-13, 6-7, 7-8, and the angle of 175 degrees


def test_the_longest_of_a_contradiction_is_left_out():
    """So that the second triangle at it is not refused too."""
    rest = [(0, 1, 0.1), (1, 2, 0.1), (0, 3, 0.1), (3, 2, 0.1)]
    assert kinds(mc.Health(make_system([1] * 4, [*rest, (0, 2, 0.3)]))) == ["contradictory"]


def test_a_hundred_refusals_are_all_found():
    health = mc.Health(make_system([1] * 100, [(i, i + 100, 0.1) for i in range(100)]), np.zeros((100, 3)))
    assert kinds(health) == ["particles"] * 100
    assert [finding.constraints for finding in health.findings] == [(i,) for i in range(100)]
    assert health.degreesOfFreedom == 300
    assert "97 more of these kinds are not shown" in str(health)


def test_particles_at_one_place_are_an_error_and_no_crash(recwarn):
    system = add_force(
        make_system([1] * 4), [(0, 1, 0.1), (1, 2, 0.1), (2, 0, 0.1)], [(0, 1, 2, 1.0)], [(0, 1, 2, 3, 1.0)]
    )
    assert kinds(mc.Health(system, np.zeros((4, 3))), "error") == ["not-finite"]
    assert not recwarn.list


def test_positions_are_measured_beside_what_is_refused_and_tried_without():
    system = add_force(make_system([12] * 6, [(0, 1, 0.1)]), [(1, 99, 0.1), (2, 3, 0.1), (4, 5, 0.1)])
    x = np.array([[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [1.1, 0, 0], [2, 0, 0], [2.1, 0, 0]])
    health = mc.Health(system, x)
    assert kinds(health) == ["particles", "off"]
    assert only(health, "off").message.startswith("System constraint 0 (particles 0 and 1)")
    assert health.placement.steps == 0
    system = add_force(make_system([12] * 6, [(0, 1, 0.1)]), [(2, 3, 0.1), (4, 5, 0.1)])
    assert only(mc.Health(system, x), "far-off").message.startswith("System constraint 0 (particles 0 and 1)")
    x[1], x[5] = [0.1, 0, 0], [2.5, 0, 0]
    finding = only(mc.Health(system, x), "far-off")
    assert finding.message.startswith("distance 1 of the ConstraintForce with index 0 (particles 4 and 5)")
    assert finding.constraints == (2,)
    assert finding.particles == (4, 5)
    assert finding.values == {"value": pytest.approx(0.2), "bound": pytest.approx(0.05)}
    assert "applyConstraints" in finding.remedy


def test_straight_set_is_recognized_and_dangerous_in_the_system():
    system = make_system([16, 12, 16], CO2)
    health = mc.Health(system, STRAIGHT)
    assert only(health, "rigid").severity == "warning"
    assert "form a linear rigid body" in only(health, "rigid").message
    assert health.degreesOfFreedom == 5
    mc.moveConstraints(system)
    health = mc.Health(system, STRAIGHT)
    assert kinds(health) == ["rigid"]
    assert only(health, "rigid").severity == "note"


def test_redundant_constraint_is_named_and_counted():
    """A tetrahedron's six distances hold it as they are; one is given twice."""
    system = add_force(make_system([12, 1, 1, 1], distances := all_distances(METHANE[:4])), [distances[0]])
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
    assert (finding.severity, finding.constraints) == ("warning", tuple(range(10)))
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
    """Two tetrahedra with a distance given twice, joined by a bond: a cluster that has to be taken apart."""
    distances = all_distances(METHANE[:4])
    second = [(i + 4, j + 4, length) for i, j, length in distances]
    system = make_system([12, 1, 1, 1] * 2, [*distances, (0, 4, 0.3), *second])
    health = mc.Health(add_force(system, [distances[0], second[0]]))
    assert health.counts.redundant == 2
    assert health.counts.independent == 13
    assert only(health, "redundant").count == 2


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


def test_nearly_straight_dihedral_is_told_at_the_positions():
    system = add_force(make_system([12] * 4), dihedrals=[(0, 1, 2, 3, 0.3)])
    x = [[-0.1, 0, 0], [0, 0, 0], [0.1, 0.005, 0], [0.2, 0.1, 0.02]]
    assert only(mc.Health(system, x), "nearly-straight").values["degrees"] == pytest.approx(2.86, abs=0.01)


def test_anchors_are_noted_and_refused_in_the_system():
    system = add_force(make_system([0, 1, 0, 0]), [(0, 1, 0.1), (2, 3, 0.1)])
    health = mc.Health(system)
    assert only(health, "anchor").severity == "note"
    assert only(health, "immovable").constraints == (1,)
    system.addConstraint(1, 2, 0.1)
    found = [finding for finding in mc.Health(system).findings if finding.kind == "anchor"]
    assert [(finding.severity, finding.constraints) for finding in found] == [("error", (0,)), ("note", (1,))]


def test_what_the_system_ignores_is_noted_and_not_measured():
    system = make_system([0, 0, 12, 12, 0], [(0, 1, 0.5), (2, 3, 0.1), (1, 4, 0.7)])
    health = mc.Health(system, [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0.1, 0.1], [0.2, 0, 0]])
    assert kinds(health) == ["ignored"]
    assert only(health, "ignored").constraints == (0, 2)
    assert health.degreesOfFreedom == 5
    assert health.placement.worst == ()
    mc.moveConstraints(system)
    assert kinds(mc.Health(system)) == ["ignored"]


def test_refused_combinations_are_found():
    system = make_system([12] * 3, [(1, 2, 0.1)], periodic=True)
    system.addForce(mm.CMMotionRemover())
    system.addForce(mm.AndersenThermostat(300, 1))
    assert mc.Health(system).ok
    surface = mc.CustomConstraintForce(1, "z1-0.2")
    surface.addConstraint([0])
    system.addForce(surface)
    assert "CMMotionRemover" in only(mc.Health(system), "combination").message
    system.removeForce(3)
    mc.moveConstraints(system)
    assert "AndersenThermostat" in only(mc.Health(system), "combination").message
    foreign = only(mc.Health(system, integrator=mm.LangevinMiddleIntegrator(300, 1, 0.001)), "integrator")
    assert "does not solve" in foreign.message
    assert "RattleLangevinIntegrator" in foreign.remedy


def test_an_anchor_beside_a_motion_remover_is_found_with_a_remedy_that_works():
    system = make_system([0, 12, 12, 0], [(1, 2, 0.1)], periodic=True)
    system.addForce(mm.CMMotionRemover())
    assert mc.Health(system).ok  # nothing joins the massless ones
    add_force(system, [(0, 1, 0.1)])
    finding = only(mc.Health(system), "combination")
    with pytest.raises(mm.OpenMMException) as raised:
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    assert str(raised.value) == f"{finding.message}\nRemedy: {finding.remedy}"
    (remedy,) = re.findall(r"system\.removeForce\(\d+\)", finding.remedy)
    eval(remedy, {"system": system})
    assert mc.Health(system).ok
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    assert context.getIntegrator().getNumDegreesOfFreedom() == 4


def test_minimum_image_is_asked_for_where_it_is_needed():
    x = [[0.02, 0, 0], [1.92, 0, 0]]  # in a box of 2 nm
    finding = only(mc.Health(add_force(make_system([12, 12], periodic=True), [(0, 1, 0.1)]), x), "minimum-image")
    assert finding.severity == "error"
    assert mc.Health(add_force(make_system([12, 12], periodic=True), [(0, 1, 0.1)]), x).placement.shift is None
    assert "applyConstraints" not in finding.remedy
    with_image = add_force(make_system([12, 12], periodic=True), [(0, 1, 0.1)], periodic=True)
    assert kinds(mc.Health(with_image, x)) == []
    idle = add_force(make_system([12, 12]), [(0, 1, 0.1)], periodic=True)
    assert only(mc.Health(idle), "minimum-image").severity == "warning"


def test_lengths_beyond_half_the_box_are_told():
    system = make_system([12, 12], [(0, 1, 1.4)], periodic=True)
    assert only(mc.Health(system), "long").constraints == (0,)
    add_force(system, [(0, 1, 1.3)], periodic=True)
    assert only(mc.Health(system), "box").constraints == (1,)


def test_box_of_the_state_is_the_one_that_counts():
    system = add_force(make_system([12, 12], periodic=True), [(0, 1, 0.9)], periodic=True)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.9, 0, 0]])
    assert kinds(mc.Health(system, context.getState(positions=True))) == []
    context.setPeriodicBoxVectors(*np.eye(3) * 1.5)
    health = mc.Health(system, context.getState(positions=True))
    assert only(health, "box").constraints == (0,)


def test_positions_that_are_off_or_not_numbers_are_told():
    system = make_system([12, 1, 1, 1, 1], all_distances(METHANE))
    x = METHANE.copy()
    x[1] *= 1.3
    finding = only(mc.Health(system, x), "off")
    assert (finding.severity, finding.values["error"]) == ("warning", pytest.approx(0.3))
    x[1] *= 4
    assert only(mc.Health(system, x), "far-off").severity == "error"
    x[2] = math.nan
    assert only(mc.Health(system, x), "not-finite").particles == (2,)


def test_slower_solver_and_refused_factor_are_told():
    system = make_system([1] * 1001, [(0, i, 0.1) for i in range(1, 1001)])
    health = mc.Health(system)
    assert sorted(kinds(health)) == ["slow-setup", "slow-solver"]
    integrator = mc.RattleIntegrator(0.001)
    integrator.setSolver(mc.ConstraintIntegrator.MatrixInversion)
    assert kinds(mc.Health(system, integrator=integrator), "error") == ["too-large"]


def test_moving_angle_that_reaches_a_straight_line_is_told():
    system = add_force(make_system([12] * 3), angles=[(0, 1, 2, 2.0, 0.01)])
    first, second = mc.Health(system).findings
    assert {first.kind, second.kind} == {"moving"}
    assert second.values["time_ps"] == pytest.approx((math.pi - 2) / 0.01)
    late = add_force(make_system([12] * 3), angles=[(0, 1, 2, 2.0, -0.01, 50)])
    assert mc.Health(late).findings[1].values["time_ps"] == pytest.approx(50 + 2 / 0.01)


def test_moving_length_is_measured_at_the_time_of_the_state():
    system = add_force(make_system([12, 12]), [(0, 1, 0.1, 0.5, 1000)])
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setTime(1000.02)
    context.setPositions([[0, 0, 0], [0.11, 0, 0]])
    health = mc.Health(system, context.getState(positions=True))
    assert kinds(health) == ["moving"]
    assert "from 1000 ps on" in health.findings[0].message
    context.setTime(0)
    assert "error" in {finding.severity for finding in mc.Health(system, context.getState(positions=True)).findings}


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


def harmonic(masses, bonds=(), angles=()):
    system = make_system(masses)
    bond_force, angle_force = mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    for bond in bonds:
        bond_force.addBond(*bond)
    for angle in angles:
        angle_force.addAngle(*angle)
    system.addForce(bond_force)
    system.addForce(angle_force)
    return system


def test_period_of_a_bond_is_that_of_the_harmonic_oscillator():
    system = harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)])
    (vibration,) = mc.Health(system).vibrations
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(3e5 * (1 + 1 / 12)), rel=1e-12)


def test_period_of_an_angle_is_that_of_its_normal_mode():
    """Bonds constrained, so that the bend is the only internal motion: from the Hessian of OpenMM's energy."""
    a, theta, k = 0.1, math.radians(110), 400.0
    system = harmonic([1.0, 1e9, 3.0], [(0, 1, a, 1e5), (1, 2, a, 1e5)], [(0, 1, 2, theta, k)])
    add_force(system, [(0, 1, a), (1, 2, a)])
    (vibration,) = mc.Health(system).vibrations
    # With a heavy centre, the ends turn about it: moment m a^2 each.
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(k * (1 + 1 / 3) / a**2), rel=1e-6)


def test_angle_element_is_the_square_of_the_mass_weighted_gradient():
    a, b, theta, k = 0.1, 0.14, math.radians(109), 300.0
    masses = [1.0, 12.0, 16.0]
    system = harmonic(masses, [(0, 1, a, 0), (1, 2, b, 0)], [(0, 1, 2, theta, k)])
    x = np.array([[a, 0, 0], [0, 0, 0], [b * math.cos(theta), b * math.sin(theta), 0]])

    def angle(x):
        return math.atan2(np.linalg.norm(np.cross(x[0] - x[1], x[2] - x[1])), np.dot(x[0] - x[1], x[2] - x[1]))

    G = 0.0
    for i, mass in enumerate(masses):
        for axis in range(3):
            step = np.zeros_like(x)
            step[i, axis] = 1e-6
            G += ((angle(x + step) - angle(x - step)) / 2e-6) ** 2 / mass
    (vibration,) = mc.Health(system).vibrations
    assert vibration.period == pytest.approx(1000 * 2 * math.pi / math.sqrt(k * G), rel=1e-6)


def test_estimated_period_tells_where_the_integrator_becomes_unstable():
    """Water with rigid bonds and a flexible angle: velocity Verlet needs pi steps a period."""
    system = harmonic([16.0, 1.0, 1.0], (), [(1, 0, 2, math.radians(104.52), 836.8)])
    add_force(system, [(0, 1, 0.09572), (0, 2, 0.09572)])
    x = 0.09572 * np.array([[0, 0, 0], [1, 0, 0], [math.cos(1.8), math.sin(1.8), 0]])
    limit = mc.Health(system).vibrations[0].period / 1000 / math.pi

    def run(step):
        integrator = mc.RattleIntegrator(step)
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(x)
        integrator.step(300)
        return context.getState(energy=True).getKineticEnergy().value_in_unit(unit.kilojoule_per_mole)

    assert run(0.95 * limit) < 2
    with pytest.raises(mm.OpenMMException, match="could not be solved"):
        run(1.08 * limit)


def test_time_step_follows_from_what_is_left_unconstrained(villin):
    system, pdb = villin
    health = mc.Health(system, topology=pdb.topology)
    assert health.recommendedTimeStep.value_in_unit(unit.femtosecond) == pytest.approx(2.5)
    assert "ARG14:HH11 - ARG14:NH1 - ARG14:HH12" in health.stepLimit
    free = mc.Health(harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)]))
    heavy = mc.Health(harmonic([4.0, 9.0], [(0, 1, 0.109, 3e5)]))
    assert heavy.recommendedTimeStep > 1.5 * free.recommendedTimeStep
    nothing = mc.Health(make_system([4.0, 9.0]))
    assert nothing.recommendedTimeStep.value_in_unit(unit.femtosecond) == pytest.approx(8)


@pytest.mark.parametrize(("steps", "severity"), [(2.9, "error"), (4, "warning"), (8, "note"), (10.1, None)])
def test_time_step_is_judged_by_steps_a_period(steps, severity):
    system = harmonic([1.0, 12.0], [(0, 1, 0.109, 3e5)])
    period = mc.Health(system).vibrations[0].period / 1000
    health = mc.Health(system, integrator=mc.RattleIntegrator(period / steps))
    assert kinds(health, severity) == (["time-step"] if severity else [])


def test_tolerance_is_judged_by_precision():
    system = make_system([1, 1], [(0, 1, 0.1)])
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-9)
    assert kinds(mc.Health(system, integrator=integrator)) == []
    assert only(mc.Health(system, integrator=integrator, precision="single"), "tolerance").severity == "note"
    assert mc.Health(system, precision="single").recommendedTolerance == 1e-6
    integrator.setConstraintTolerance(1e-3)
    assert only(mc.Health(system, integrator=integrator), "tolerance").severity == "warning"
    far = np.array([[100, 0, 0], [100.1, 0, 0]])
    assert "precision" in kinds(mc.Health(system, far, precision="single"))


def test_health_is_data_for_json():
    system = make_system([16, 12, 16], CO2)
    data = json.loads(json.dumps(mc.Health(system, STRAIGHT).as_dict(), allow_nan=False))
    assert data["findings"][0]["kind"] == "rigid"
    assert data["clusters"][0]["constraints"] == 4
    bad = add_force(make_system([1, 1]), [(0, 1, -0.1)])
    data = json.loads(json.dumps(mc.Health(bad, [[math.nan] * 3, [0] * 3]).as_dict(), allow_nan=False))
    assert data["ok"] is False


def test_arguments_that_do_not_fit_are_refused(villin):
    system = make_system([1, 1])
    with pytest.raises(ValueError, match="3 positions and 2 particles"):
        mc.Health(system, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="8867 atoms"):
        mc.Health(system, topology=villin[1].topology)
    with pytest.raises(ValueError, match="precision must be one of"):
        mc.Health(system, precision="half")
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(np.eye(3)[:2])
    with pytest.raises(ValueError, match="no positions"):
        mc.Health(system, context.getState(velocities=True))


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


def test_far_off_dihedrals_are_an_error_with_what_the_step_raised():
    system = add_force(make_system([12] * 8), [(i, i + 1, 0.15) for i in range(7)])
    x = [[0.12 * i, 0.09 * (i % 2), 0.001 * i * i] for i in range(8)]
    assert mc.Health(system, np.array(x)).ok
    add_force(system, dihedrals=[(i, i + 1, i + 2, i + 3, 0.5) for i in range(5)])
    health = mc.Health(system, np.array(x))
    assert not health.ok
    finding = next(finding for finding in health.findings if finding.severity == "error")
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(x)
    with pytest.raises(mm.OpenMMException) as raised:
        context.getIntegrator().step(1)
    if finding.kind == "far-off":
        assert str(raised.value).splitlines()[0] == finding.message


def test_what_openmm_refuses_is_found():
    system = make_system([12, 12], [(0, 1, 0.1), (0, 1, 0.1)])
    assert only(mc.Health(system), "duplicate").constraints == (0, 1)
    x = [[0, 0, 0], [0.1, 0, 0]]
    with pytest.raises(mm.OpenMMException, match="same atoms"):
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    mc.moveConstraints(system)
    assert mc.Health(system, x).ok
    system.addForce(pair := mm.CustomBondForce("foo(r)"))
    pair.addBond(0, 1)
    assert "foo" in only(mc.Health(system, x), "raised").message


def test_forces_are_part_of_what_is_tried():
    system = make_system([12, 12, 12], [(0, 1, 0.1)])
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.3, 0]])
    assert str(mc.Health(system, x)).endswith("Healthy.")
    field = mm.CustomExternalForce("1/x")
    field.addParticle(2, [])
    system.addForce(field)
    finding = only(mc.Health(system, x), "not-finite")
    assert finding.particles == (2,)
    assert kinds(mc.Health(system, x, integrator=mm.VerletIntegrator(0.001))) == ["not-finite"]


def test_velocities_and_the_integrator_asked_for_are_those_that_run():
    system = make_system([12, 12], [(0, 1, 0.1)])
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    context.setVelocities([[0, -100, 0], [0, 100, 0]])  # 2 rad a femtosecond
    assert mc.Health(system, context.getState(positions=True)).ok
    moving = context.getState(positions=True, velocities=True)
    finding = only(mc.Health(system, moving, integrator=mc.RattleLangevinIntegrator(300, 1, 0.002)), "too-fast")
    assert (finding.constraints, finding.particles) == ((0,), (0, 1))
    assert mc.Health(system, moving, integrator=mc.RattleIntegrator(0.0002)).ok
    for unsaid in (None, mc.RattleIntegrator(0)):  # as `openmm-constraints check` without a step size
        assert kinds(mc.Health(system, moving, integrator=unsaid), "error") == ["too-fast"]
    assert mc.Health(system, moving, integrator=mc.RattleIntegrator(0.002), steps=0).placement.steps == 0


def test_steps_that_cannot_be_taken_are_refused():
    with pytest.raises(ValueError, match="steps must be 0 or more, not -1"):
        mc.Health(mm.System(), steps=-1)


def test_it_is_called_healthy_only_after_it_ran():
    system = make_system([12, 12], [(0, 1, 0.1)])
    x = [[0, 0, 0], [0.1, 0, 0]]
    assert str(mc.Health(system)).endswith("No error was found. It was not run, because no positions were given.")
    assert str(mc.Health(system, x, steps=0)).endswith("It was not run, because no step was tried.")
    assert str(mc.Health(system, x)).endswith("Healthy.")
    assert "run:                 3 steps with all forces, without an exception" in str(mc.Health(system, x))


def test_all_kinds_of_constraints_are_measured():
    system = add_force(make_system([12] * 6), [(0, 1, 0.1)], [(0, 1, 2, 1.5), (1, 4, 5, math.pi)], [(0, 1, 2, 3, 1.0)])
    surface = mc.CustomConstraintForce(1, "x1^2+y1^2+z1^2-1")
    surface.addConstraint([3])
    system.addForce(surface)
    x = np.array([[0.11, 0, 0], [0, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0.05], [-0.1, 0, 0], [-0.2, 0.01, 0]])
    found = {v.constraint: v for v in mc.Health(system, x).placement.worst}
    assert found[0].error == pytest.approx(0.1)
    assert found[1].value == pytest.approx(math.pi / 2)
    assert found[2].error == pytest.approx(math.atan(0.1), rel=1e-3)
    assert found[2].target == math.pi
    assert abs(found[3].value) == pytest.approx(math.atan2(0.05, 0.1))
    square = float(np.sum(x[3] ** 2))
    assert found[4].error == pytest.approx(abs(square - 1) / (2 * math.sqrt(square)))


def test_the_text_is_whole_in_a_notebook(monkeypatch):
    health = mc.Health(make_system([1, 1], [(0, 1, 0.1), (0, 1, 0.2)]), [[0, 0, 0], [0.1, 0, 0]])
    text = str(health)
    assert "contradictory" in text
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(health) == text
    for line in text.splitlines()[-6:-1]:
        assert html.escape(line.partition(":")[2].strip()) in health._repr_html_()
