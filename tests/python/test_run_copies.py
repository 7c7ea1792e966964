# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run`, where a script copies its integrator, or reads it from a file."""

from __future__ import annotations

import copy
import pickle
import re

import openmm as mm
import pytest
from command import assert_one_sentence, command
from user_scripts import sentences, writer_in

import openmmconstraints as mc
from openmmconstraints.run.hooks import substituted
from openmmconstraints.run.session import Session

ORIGINAL = mm.VerletIntegrator


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


def make_nose_hoover():
    return mm.NoseHooverIntegrator(310, 3, 0.002, 4, 2, 5)


def make_langevin(kind="LangevinMiddleIntegrator"):
    integrator = getattr(mm, kind)(310, 2, 0.002)
    integrator.setRandomNumberSeed(7)
    return integrator


def make_compound():
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(mm.VerletIntegrator(0.003))
    compound.addIntegrator(make_langevin())
    compound.addIntegrator(mc.RattleIntegrator(0.004))
    compound.setCurrentIntegrator(1)
    return compound


def with_settings(integrator):
    integrator.setConstraintTolerance(3e-9)
    integrator.setIntegrationForceGroups({1, 2})
    return integrator


def settings_of(integrator):
    """What its substitute has of the settings of OpenMM's integrator."""
    names = ["StepSize", "ConstraintTolerance", "IntegrationForceGroups", "Temperature", "RandomNumberSeed"]
    if "NoseHoover" in type(integrator).__name__:
        names = [*names[:4], "CollisionFrequency"]
        chain = integrator if mc.ConstraintIntegrator.isinstance(integrator) else integrator.getThermostat(0)
        lengths = [
            getattr(chain, f"get{x}")() for x in ("ChainLength", "NumMultiTimeSteps", "NumYoshidaSuzukiTimeSteps")
        ]
    else:
        lengths = []
    return [getattr(integrator, f"get{name}")() for name in names if hasattr(integrator, f"get{name}")] + lengths


def a_session(chosen=None, tolerance=None):
    return Session(chosen, mc.ConstraintIntegrator.Automatic, tolerance)


MAKERS = {
    "Verlet": lambda: mm.VerletIntegrator(0.002),
    "LangevinMiddle": make_langevin,
    "Langevin": lambda: make_langevin("LangevinIntegrator"),
    "NoseHoover": make_nose_hoover,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_an_integrator_from_xml_is_replaced_with_its_settings(make):
    text = mm.XmlSerializer.serialize(with_settings(make()))
    original = mm.XmlSerializer.deserialize(text)  # a LangevinIntegrator is a LangevinMiddleIntegrator there
    session = a_session()
    with substituted(session):
        found = mm.XmlSerializer.deserialize(text)
        assert isinstance(found, getattr(mm, type(original).__name__))
        written = mm.XmlSerializer.serialize(found)
    assert mc.ConstraintIntegrator.isinstance(found)
    assert settings_of(found) == settings_of(original)
    assert [integrator for _, integrator in session.observed] == [found]
    # So that the file can be read without this package, too.
    assert written == text.replace("LangevinIntegrator", "LangevinMiddleIntegrator")


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda thing: mm.XmlSerializer.clone(thing),
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "xml": lambda thing: mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(thing)),
}


@pytest.mark.parametrize("take", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_copy_is_as_one_that_the_script_makes(make, take):
    session = a_session()
    with substituted(session):
        first = with_settings(make())
        second = take(first)
        kind = type(first)
    assert issubclass(kind, type(second))
    assert settings_of(second) == settings_of(first)
    assert [integrator for _, integrator in session.observed] == [first, second]
    (one, _), (other, _) = session.observed
    assert one is not other
    assert one.disturbed_by == other.disturbed_by


@pytest.mark.parametrize("name", ["copy", "deepcopy", "clone", "pickle"])
def test_a_copy_of_several_time_steps_keeps_its_groups(name):
    session = a_session()
    with substituted(session):
        first = mm.MTSIntegrator(0.004, [(1, 1), (0, 4)])
        second = COPIES[name](first)
    assert second.getGroups() == ((1, 1), (0, 4))
    assert len(session.observed) == 2


def test_a_thermostat_that_was_dropped_stays_so_in_a_copy():
    with substituted(a_session(mc.RattleIntegrator)):
        second = copy.copy(make_langevin())
        second.setTemperature(320)
        third = mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(second))
    assert (second.getTemperature()._value, second.getRandomNumberSeed()) == (320, 7)
    assert (third.getTemperature()._value, third.getRandomNumberSeed()) == (320, 7)


@pytest.mark.parametrize("name", ["copy", "deepcopy", "clone"])
def test_children_of_a_copied_compound_integrator_are_observed(name):
    session = a_session()
    with substituted(session):
        first = make_compound()
        second = COPIES[name](first)
    check_compound(second)
    assert [type(integrator).__name__ for _, integrator in session.observed] == [
        "VerletIntegrator",
        "LangevinMiddleIntegrator",
    ] * 2


def test_children_of_a_compound_integrator_from_xml_are_replaced():
    text = mm.XmlSerializer.serialize(make_compound())
    session = a_session()
    with substituted(session):
        found = mm.XmlSerializer.deserialize(text)
    check_compound(found)
    assert len(session.observed) == 2


def check_compound(compound):
    assert compound.getNumIntegrators() == 3
    assert compound.getCurrentIntegrator() == 1
    assert [compound.getIntegrator(i).getStepSize()._value for i in range(3)] == [0.003, 0.002, 0.004]
    assert all(mc.ConstraintIntegrator.isinstance(compound.getIntegrator(i)) for i in range(3))
    assert [type(part).__name__ for part in compound._parts][:2] == ["VerletIntegrator", "LangevinMiddleIntegrator"]


def test_the_tolerance_of_the_command_line_holds_for_what_is_read():
    text = mm.XmlSerializer.serialize(with_settings(ORIGINAL(0.002)))
    with substituted(a_session(tolerance=1e-7)):
        assert mm.XmlSerializer.deserialize(text).getConstraintTolerance() == 1e-7


RUN = """
    import copy
    import openmm as mm
    from openmm import app
    from chain import make_context, make_system, PLATFORM, PROPERTIES, POSITIONS
    with open("integrator.xml") as file:
        read = mm.XmlSerializer.deserialize(file.read())
    make_context(copy.deepcopy(read))
    duplicate = mm.XmlSerializer.clone(read)
    context = make_context(read)
    read.step(11)
    context = make_context(duplicate)
    duplicate.step(13)
    topology = app.Topology()
    residue = topology.addResidue("UNK", topology.addChain())
    for _ in range(5):
        topology.addAtom("C", app.element.carbon, residue)
    simulation = app.Simulation(topology, make_system(), "integrator.xml", PLATFORM, PROPERTIES)
    simulation.context.setPositions(POSITIONS)
    simulation.step(17)
"""


@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_a_script_runs_with_what_it_reads_and_copies(script, tmp_path, option):
    (tmp_path / "integrator.xml").write_text(mm.XmlSerializer.serialize(mm.VerletIntegrator(0.001)))
    result = command("run", script(RUN), *option, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert re.search(r"\bsteps\W+11\W+13\W+17\W", result.stderr), result.stderr
    assert len(sentences(result.stderr)) == 1
    assert "not replaced" not in result.stderr


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mm.BrownianIntegrator(300, 1, 0.001), ("reads a BrownianIntegrator from XML", "has no inertia")),
        (lambda: mm.MTSIntegrator(0.001, [(0, 1)]), ("reads a CustomIntegrator", "type its constructor")),
    ],
    ids=["Brownian", "MTS"],
)
def test_an_integrator_from_xml_that_has_no_substitute_is_refused(script, tmp_path, make, words):
    (tmp_path / "integrator.xml").write_text(mm.XmlSerializer.serialize(make()))
    path = script("import openmm\nopenmm.XmlSerializer.deserialize(open('integrator.xml').read())\n")
    assert_one_sentence(command("run", path, cwd=tmp_path), *words, "in the script")


def test_thermostats_for_parts_of_the_system_are_refused(script, tmp_path):
    integrator = mm.NoseHooverIntegrator(0.001)
    integrator.addSubsystemThermostat([0], [], 300, 1, 300, 1)
    (tmp_path / "integrator.xml").write_text(mm.XmlSerializer.serialize(integrator))
    path = script("import openmm\nopenmm.XmlSerializer.deserialize(open('integrator.xml').read())\n")
    assert_one_sentence(command("run", path, cwd=tmp_path), "thermostats for parts of the System", "Type NoseHoover")
