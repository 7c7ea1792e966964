# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a check of a System finds: each kind of finding provoked once, and nothing where nothing is wrong."""

from __future__ import annotations

import html
import json
import math
import re

import numpy as np
import openmm as mm
import pytest
from findings import CO2, METHANE, STRAIGHT, add_force, all_distances, kinds, make_system, only, villin_in_water

import openmmconstraints as mc


@pytest.fixture(scope="module")
def villin():
    return villin_in_water()


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
    assert 0 < finding.remedy.index("openmmconstraints.minimize(context)") < finding.remedy.index("applyConstraints()")
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


@pytest.mark.parametrize("z", [0.25, 0.25 + 1e-7, 0.26, 0.5])
def test_expressions_whose_gradient_vanishes_on_their_surface_are_an_error(z):
    system = make_system([12, 1], [(0, 1, 0.1)])
    restraint = mc.CustomConstraintForce(1, "(z1-h)^2")
    restraint.addPerConstraintParameter("h")
    restraint.addConstraint([0], [0.25])
    system.addForce(restraint)
    health = mc.Health(system, [[0, 0, z], [0.1, 0, z]])
    assert kinds(health, "error") == ["no-gradient"]
    finding = only(health, "no-gradient")
    assert (finding.constraints, finding.particles) == ((1,), (0,))
    assert "(z1-h)^2 = 0, (particle 0): its gradient vanishes on the surface" in finding.message
    assert "z1-h instead of (z1-h)^2" in finding.remedy


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
