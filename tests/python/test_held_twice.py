# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A coordinate that others hold already: a warning names both, an error where values differ; remedies work."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import warnings

import numpy as np
import openmm as mm
import pytest
from findings import METHANE, all_distances, make_system, only
from openmm import app

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

REFERENCE = mm.Platform.getPlatform("Reference")
X = np.array([[0, 0, 0], [0.1, 0, 0], [0.15, 0.1, 0], [0.25, 0.12, 0.05], [0.3, 0.2, 0.1], [0.4, 0.2, 0]])
#: Coordinates, what messages call them, and how far a value has to be off to be another one.
KINDS = ("distance", "angle", "dihedral", "centroid distance", "expression", "centroid expression")


def model():
    """Six particles in a chain of springs that are not at rest."""
    system, bonds = mm.System(), mm.HarmonicBondForce()
    for _ in X:
        system.addParticle(12)
    for i in range(len(X) - 1):
        bonds.addBond(i, i + 1, 0.12, 1e4)
    system.addForce(bonds)
    return system


def value_of(coordinate):
    return coordinate.measure(model(), X)


def make_force(kind, shift=0.0, way=1):
    """A Force that holds the coordinate, by its particles in either order."""
    if kind == "expression":
        force = mc.CustomConstraintForce(2, "distance(p1, p2) - d0")
        force.addPerConstraintParameter("d0")
        force.addConstraint([0, 2], [value_of(fe.Distance(0, 2)) + shift])
        return force
    groups = [0, 1], [3, 4]
    if kind == "centroid expression":
        force = mc.CustomCentroidConstraintForce(2, "distance(g1, g2) - d0")
        force.addPerConstraintParameter("d0")
        numbers = [force.addGroup(group) for group in groups]
        force.addConstraint(numbers, [value_of(fe.CentroidDistance(*groups)) + shift])
        return force
    force = mc.ConstraintForce()
    if kind == "distance":
        force.addDistance(*[0, 2][::way], value_of(fe.Distance(0, 2)) + shift)
    elif kind == "angle":
        force.addAngle(*[0, 1, 2][::way], value_of(fe.Angle(0, 1, 2)) + shift)
    elif kind == "dihedral":
        force.addDihedral(*[0, 1, 2, 3][::way], value_of(fe.Dihedral(0, 1, 2, 3)) + shift)
    else:
        force.addCentroidDistance(*groups[::way], value_of(fe.CentroidDistance(*groups)) + shift)
    return force


def make_context(system, integrator=None):
    context = mm.Context(system, integrator or mc.RattleIntegrator(0.001), REFERENCE)
    context.setPositions(X)
    return context


def take_step(system):
    context = make_context(system)
    context.getIntegrator().step(1)


def warned_by(create):
    """The warnings of this package, with their lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        create()
    assert all(one.category is RuntimeWarning and one.filename == __file__ for one in caught), caught
    return [str(one.message) for one in caught]


def noun(kind, index, force):
    words = {"expression": "constraint 0 of the CustomConstraintForce"}
    words["centroid expression"] = "constraint 0 of the CustomCentroidConstraintForce"
    return f"{words.get(kind, f'{kind} {index} of the ConstraintForce')} with index {force}"


@pytest.mark.parametrize("kind", KINDS)
def test_both_are_named_and_solved(kind):
    single, double = model(), model()
    single.addForce(make_force(kind))
    double.addForce(make_force(kind))
    double.addForce(make_force(kind, way=1 if "expression" in kind else -1))
    [text] = warned_by(lambda: make_context(double))
    assert noun(kind, 0, 1) in text
    assert noun(kind, 0, 2) in text
    assert f"hold the same {kind.removeprefix('centroid ') if 'expression' in kind else kind}" in text
    assert "system.removeForce(2)" in text
    read = []
    for system in (single, double):
        integrator = mc.RattleIntegrator(0.001)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context = make_context(system, integrator)
        integrator.step(5)
        forces = integrator.getConstraintForces(asNumpy=True)._value
        read.append((integrator.getMultipliers(asNumpy=True), forces, integrator.getNumDegreesOfFreedom()))
        assert context.getTime()._value > 0
    (alone, forces, freedom), (shared, same_forces, same_freedom) = read
    assert freedom == same_freedom
    np.testing.assert_allclose(same_forces, forces, atol=1e-6 * np.abs(forces).max())
    np.testing.assert_allclose(shared, [alone[0] / 2] * 2, rtol=1e-6)
    assert abs(alone[0]) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_health_finds_it_and_its_remedy_is_right(kind):
    system = model()
    for _ in range(2):
        system.addForce(make_force(kind))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        health = mc.Health(system, X)
    finding = only(health, "held-twice")
    assert (finding.severity, finding.constraints, health.ok) == ("warning", (0, 1), True)
    assert (health.counts.redundant, "redundant" in [one.kind for one in health.findings]) == (1, False)
    number = int(re.search(r"system\.removeForce\((\d+)\)", finding.remedy)[1])
    system.removeForce(number)
    assert not [one for one in mc.Health(system, X).findings if one.kind in ("held-twice", "redundant")]
    assert warned_by(lambda: make_context(system)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_different_values_are_an_error_that_names_both(kind):
    system = model()
    for shift in (0, 0.002):
        system.addForce(make_force(kind, shift))
    with pytest.raises(mm.OpenMMException) as raised:
        take_step(system)
    text = str(raised.value)
    assert noun(kind, 0, 1) in text
    assert noun(kind, 0, 2) in text
    _, remedy = text.split("Remedy: ")
    assert "olerance" not in remedy
    assert "one of them" in remedy


def test_a_distance_of_the_system():
    system = model()
    system.addConstraint(2, 0, value_of(fe.Distance(0, 2)))
    force = make_force("distance")
    force.addAngle(3, 4, 5, value_of(fe.Angle(3, 4, 5)))
    system.addForce(force)
    [text] = warned_by(lambda: make_context(system))
    assert "System constraint 0 (particles 2 and 0) and distance 0 of the ConstraintForce with index 1" in text
    assert "system.removeConstraint(0)" in text
    assert "removeForce" not in text, "it has an angle"
    mc.moveConstraints(system)
    [text] = warned_by(lambda: make_context(system))
    assert 'distance 0 of the ConstraintForce with index 2 (particles 2 and 0) in "MovedConstraints"' in text
    system.removeForce(2)
    assert warned_by(lambda: make_context(system)) == []


def test_a_copied_force_with_several_constraints_is_one_warning():
    system = model()
    force = make_force("distance")
    force.addDihedral(1, 2, 3, 4, value_of(fe.Dihedral(1, 2, 3, 4)))
    system.addForce(force)
    system.addForce(copy.deepcopy(force))
    [text] = warned_by(lambda: make_context(system))
    assert "So does 1 more pair." in text
    assert "If the Force was added twice, call system.removeForce(2) before the Context is created." in text
    assert only(mc.Health(system, X), "held-twice").constraints == (0, 1, 2, 3)


def held_by_distances(kind):
    particles = [0, 1, 2] if kind == "angle" else [0, 1, 2, 3]
    system = model()
    for i, j, length in all_distances(X[particles]):
        system.addConstraint(i, j, length)
    system.addForce(make_force(kind))
    return system


@pytest.mark.parametrize("kind", ["angle", "dihedral"])
def test_all_distances_of_an_angle_or_a_dihedral_hold_it(kind):
    system = held_by_distances(kind)
    [text] = warned_by(lambda: make_context(system))
    assert f"{noun(kind, 0, 1)} (particles" in text
    assert "is held already by the distances of its particles: System constraint 0 (particles 0 and 1); Syst" in text
    assert f"Leave out the {kind}, or one of the distances" in text
    assert only(mc.Health(system, X), "held-twice").severity == "warning"


@pytest.mark.parametrize("kind", ["angle", "dihedral", "expression"])
def test_a_rigid_body_holds_what_its_particles_have(kind):
    system = model()
    mc.makeRigid(system, [[0, 1, 2, 3]], X)
    system.addForce(make_force(kind))
    [text] = warned_by(lambda: make_context(system))
    assert f"{noun(kind, 0, 2)}" in text
    assert "is held already by rigid body 0 of the ConstraintForce with index 1" in text
    assert "its multiplier is 0" in text


def test_what_is_meant_to_be_redundant_is_no_matter_of_warnings():
    methane = make_system([12, 1, 1, 1, 1], all_distances(METHANE))
    body = model()
    for i, j, length in all_distances(X[:4]):
        body.addConstraint(i, j, length)
    mc.moveConstraints(body)
    mc.makeRigid(body, [[0, 1, 2, 3]], X)  # whose distances stay, and are held by the body
    several = model()
    several.addForce(make_force("distance"))
    other = mc.CustomConstraintForce(2, "a*x1 + b*x2 - c")  # the same expression of other coordinates
    for name in "abc":
        other.addPerConstraintParameter(name)
    for a, b in ((1, 1), (1, -1)):
        other.addConstraint([4, 5], [a, b, a * X[4, 0] + b * X[5, 0]])
    several.addForce(other)
    for system in (methane, body, several):
        assert warned_by(lambda system=system: mm.Context(system, mc.RattleIntegrator(0.001), REFERENCE)) == []


def double():
    system = model()
    for _ in range(2):
        system.addForce(make_force("dihedral"))
    return system


@pytest.mark.parametrize("way", ["alone", "compound", "replaced", "simulation"])
def test_each_creation_warns_once(way):
    system = double()
    integrator = mc.RattleIntegrator(0.001)
    if way == "compound":
        integrator = mm.CompoundIntegrator()
        for _ in range(2):
            integrator.addIntegrator(mc.RattleIntegrator(0.001))
    if way == "replaced":
        replacing = mc.ConstraintForce()
        replacing.setReplacesSolver(True)
        system.addForce(replacing)
        integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    made = []
    if way == "simulation":
        texts = warned_by(lambda: made.append(app.Simulation(app.Topology(), system, integrator, REFERENCE).context))
    else:
        texts = warned_by(lambda: made.append(make_context(system, integrator)))
    assert len(texts) == 1
    assert warned_by(lambda: made[0].reinitialize()) == texts


def test_contexts_that_the_package_creates_for_itself_do_not_warn():
    system = double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = make_context(system)
    assert warned_by(lambda: mc.computeConstraintForces(context)) == []
    assert warned_by(lambda: mc.minimize(context)) == []


def test_a_warning_that_is_made_an_error_ends_the_creation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(mm.OpenMMException, match="hold the same dihedral"):
            make_context(double())


def test_a_script_sees_its_own_line(tmp_path):
    script, xml = tmp_path / "script.py", tmp_path / "system.xml"
    xml.write_text(mm.XmlSerializer.serialize(double()))
    script.write_text(
        "import openmm as mm, openmmconstraints as mc\n"
        f"system = mm.XmlSerializer.deserialize(open({str(xml)!r}).read())\n"
        "context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform('Reference'))\n"
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert f"{script}:3: RuntimeWarning: dihedral 0 of the ConstraintForce with index 1" in result.stderr
    assert result.stderr.count("RuntimeWarning") == 1


# ---- mean forces -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("which", [0, 1])
def test_a_shared_force_is_no_mean_force(which):
    """The first is solved, the second follows from it: both have half of the force."""
    system, integrator = double(), mc.RattleLangevinIntegrator(300, 1, 0.001)
    context = make_context(system, integrator)
    with pytest.raises(mm.OpenMMException) as raised:
        integrator.computeBlueMoon([which])
    for force in (1, 2):
        assert noun("dihedral", 0, force) in str(raised.value)
    assert "Leave out all but one of them" in str(raised.value)
    assert "cannot be a reaction coordinate" in str(raised.value)
    assert context.getTime()._value == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_redundant_bonds_of_others_leave_the_mean_force_as_it_is():
    """Of a dihedral that no other constraint holds, beside a distance that is there twice, with a particle of it."""
    values = []
    for times in (1, 2):
        system, integrator = model(), mc.RattleLangevinIntegrator(300, 1, 0.001)
        system.addForce(make_force("dihedral"))
        bonds = mc.ConstraintForce()
        for _ in range(times):
            bonds.addDistance(0, 1, 0.1)
        system.addForce(bonds)
        context = make_context(system, integrator)
        values.append(np.concatenate([np.ravel(part) for part in integrator.computeBlueMoon([0])]))
        del context
    np.testing.assert_allclose(values[1], values[0], rtol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_coordinate_that_distances_hold_is_none():
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    context = make_context(held_by_distances("angle"), integrator)
    with pytest.raises(mm.OpenMMException, match=r"angle 0 of .*cannot be a reaction .*System constraint 0 .*System"):
        integrator.computeBlueMoon([3])
    del context


def run(system, coordinate):
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    return fe.run_window(system, X, coordinate, value_of(coordinate), integrator, 20, platform="Reference")


COORDINATES = {
    "distance": fe.Distance(2, 0),
    "angle": fe.Angle(0, 1, 2),
    "dihedral": fe.Dihedral(3, 2, 1, 0),
    "centroid distance": fe.CentroidDistance([0, 1], [4, 3]),
}


@pytest.mark.filterwarnings("ignore:too few")
@pytest.mark.parametrize("kind", COORDINATES)
def test_free_energies_name_the_constraint_and_take_it(kind):
    system = model()
    force = make_force(kind)
    system.addForce(force)
    held = rf"{COORDINATES[kind].label}: {noun(kind, 0, 1)} .* holds it already"
    with pytest.raises(ValueError, match=held) as error:
        run(system, COORDINATES[kind])
    assert f"(force, '{kind}', 0) with the Force, which is system.getForce(1)" in str(error.value)
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    window = fe.run_window(
        system, X, (force, kind, 0), value_of(COORDINATES[kind]), integrator, 20, platform="Reference"
    )
    assert window.mean_force.samples == 2


def test_free_energies_say_how_to_be_rid_of_a_system_constraint():
    system = model()
    system.addConstraint(0, 1, 0.1)
    system.addConstraint(0, 2, value_of(fe.Distance(0, 2)))
    with pytest.raises(ValueError, match=r"System constraint 1 .* holds it already.*system\.removeConstraint\(1\)"):
        run(system, COORDINATES["distance"])
    system.removeConstraint(1)
    assert run(system, COORDINATES["distance"]).mean_force.samples == 2
