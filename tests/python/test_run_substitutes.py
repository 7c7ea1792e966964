# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which integrator `openmm-constraints run` takes in the place of a script's, and what it refuses."""

from __future__ import annotations

import re

import openmm as mm
import pytest
from command import assert_one_sentence, command
from user_scripts import sentences, writer_in

import openmmconstraints as mc
from openmmconstraints.run.hooks import substituted
from openmmconstraints.run.session import Session


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


AUTOMATIC = """
    import openmm as mm
    from openmm import unit
    from chain import make_context
    integrator = {constructor}
    context = make_context(integrator)
    integrator.step({steps})
    print("step size", integrator.getStepSize())
"""
PARTNERS = [
    ("mm.VerletIntegrator(0.001)", "RattleIntegrator", "those of VerletIntegrator lag half a step"),
    ("mm.LangevinMiddleIntegrator(300, 5, 0.001)", "RattleLangevinIntegrator", "as those of LangevinMiddleIntegrator"),
    ("mm.LangevinIntegrator(300, 5, 0.001)", "RattleLangevinIntegrator", "as those of LangevinIntegrator"),
    (
        "mm.NoseHooverIntegrator(300, 5, 0.001)",
        "RattleNoseHooverIntegrator",
        "one chain acts on all degrees of freedom",
    ),
    (
        "mm.MTSIntegrator(1*unit.femtosecond, [(0, 2)])",
        "RattleMTSIntegrator",
        "velocities are those at time t, as those",
    ),
    (
        "mm.MTSLangevinIntegrator(300*unit.kelvin, 5/unit.picosecond, 1*unit.femtosecond, [(0, 2)])",
        "RattleMTSLangevinIntegrator",
        "the bath has other random numbers",
    ),
]


@pytest.mark.parametrize(("constructor", "ours", "changes"), PARTNERS, ids=[row[1] for row in PARTNERS])
def test_each_integrator_has_its_own_substitute_which_is_printed(script, constructor, ours, changes):
    result = command("run", script(AUTOMATIC.format(constructor=constructor, steps=40)))
    assert result.returncode == 0, result.stderr
    theirs = constructor.partition("(")[0].removeprefix("mm.")
    (line,) = sentences(result.stderr)
    assert line.startswith(f"openmm-constraints run: {theirs} -> {ours}: ")
    assert changes in line
    assert f"-> {ours}" in result.stderr
    assert "step size 0.001 ps" in result.stdout
    assert re.search(r"\bsteps\W+40\W", result.stderr)


def test_groups_and_bath_are_those_of_the_constructor():
    """A MTSLangevinIntegrator keeps no groups that could be asked for."""
    with substituted(Session(None, mc.ConstraintIntegrator.Automatic)):
        several = mm.MTSLangevinIntegrator(310, 2, 0.004, [(1, 1), (0, 4)])
        chain = mm.NoseHooverIntegrator(290, 3, 0.002, 4, 2, 5)
        added = mm.NoseHooverIntegrator(stepSize=0.002)
        assert added.getNumThermostats() == 0
        added.addThermostat(280, 7)
    assert several.getGroups() == ((1, 1), (0, 4))
    assert (several.getTemperature()._value, several.getFriction()._value) == (310, 2)
    assert several.getStepSize()._value == 0.004
    assert (chain.getTemperature()._value, chain.getCollisionFrequency()._value) == (290, 3)
    lengths = chain.getChainLength(), chain.getNumMultiTimeSteps(), chain.getNumYoshidaSuzukiTimeSteps()
    assert lengths == (4, 2, 5)
    assert (added.getTemperature()._value, added.getCollisionFrequency()._value) == (280, 7)
    assert added.getNumThermostats() == 1


@pytest.mark.parametrize("options", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_a_nose_hoover_chain_has_a_conserved_energy(script, options):
    """The chain's energy is part of it: the System alone takes up heat from 50 K to 300 K."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.NoseHooverIntegrator(300, 20, 0.001)
        context = make_context(integrator)
        context.setVelocitiesToTemperature(50, 1)
        integrator.step(2000)
        print("chain", integrator.computeHeatBathEnergy()._value)
        """
    )
    result = command("run", path, *options)
    assert result.returncode == 0, result.stderr
    chain = re.search(r"chain (\S+)", result.stdout)
    assert chain is not None
    assert abs(float(chain[1])) > 0.5
    change = re.search(r"energy change \(% of kinetic\)[^+-]+([+-]\S+)", result.stderr)
    assert change is not None, result.stderr
    assert abs(float(change[1])) < 1, result.stderr


REFUSED = [
    ("VariableVerletIntegrator(0.001)", "varies its step size", "Type VerletIntegrator(stepSize)"),
    ("VariableLangevinIntegrator(300, 1, 0.001)", "varies its step size", "Type LangevinMiddleIntegrator(temperature"),
    ("BrownianIntegrator(300, 1, 0.001)", "has no inertia", "Type LangevinMiddleIntegrator(temperature"),
    ("CustomIntegrator(0.001)", "the steps that the script defines", "Type VerletIntegrator(stepSize) or Langevin"),
    ("amd.AMDIntegrator(0.001, 1, 2)", "changes the forces", "type: python "),
    ("DPDIntegrator(300, 1, 1, 0.001)", "friction between pairs", "type: python "),
    ("QTBIntegrator(300, 1, 0.001)", "quantum thermal bath", "type: python "),
    ("RPMDIntegrator(4, 300, 1, 0.001)", "several copies", "type: python "),
    ("DrudeSCFIntegrator(0.001)", "Drude particles", "type: python "),
]
REFUSED = [row for row in REFUSED if hasattr(mm, row[0].split("(")[0].split(".")[0])]  # of this series of OpenMM


@pytest.mark.parametrize(("constructor", "reason", "remedy"), REFUSED, ids=[row[0].split("(")[0] for row in REFUSED])
def test_any_other_integrator_is_refused_with_what_to_type(script, constructor, reason, remedy):
    result = command("run", script(f"import openmm\nopenmm.{constructor}\n"))
    assert_one_sentence(result, f"uses {constructor.split('(')[0].split('.')[-1]}, which", reason, remedy)


def test_every_integrator_of_openmm_is_replaced_or_refused_for_a_reason():
    from openmmconstraints.run.choice import REPLACED
    from openmmconstraints.run.refused import _KEPT, _REASONS

    kinds = {name for name, kind in vars(mm).items() if isinstance(kind, type) and issubclass(kind, mm.Integrator)}
    assert kinds <= {*REPLACED, *_REASONS, *_KEPT}  # not every series of OpenMM has all


def test_a_class_that_a_script_derives_is_refused_by_its_name(script):
    path = script("import openmm\nclass Mine(openmm.CustomIntegrator): pass\nMine(0.001)\n")
    assert_one_sentence(command("run", path), "uses Mine (a CustomIntegrator), which takes the steps")


@pytest.mark.parametrize(
    ("constructor", "chosen", "words"),
    [
        ("MTSIntegrator(0.001, [(0, 1)])", "Rattle", ("several time steps", "Type --integrator RattleMTS,")),
        ("VerletIntegrator(0.001)", "RattleMTS", ("no force groups", "Type --integrator Rattle,")),
        ("VerletIntegrator(0.001)", "RattleNoseHoover", ("no temperature", "Type --integrator Rattle,")),
    ],
)
def test_a_chosen_integrator_that_cannot_replace_the_scripts_is_refused(script, constructor, chosen, words):
    result = command("run", script(f"import openmm\nopenmm.{constructor}\n"), "--integrator", chosen)
    assert_one_sentence(result, constructor.split("(")[0], *words)


@pytest.mark.parametrize(("line", "is_dropped"), [("", False), ("integrator.addThermostat(300, 1)", True)])
def test_only_a_thermostat_that_is_there_is_said_to_be_dropped(script, line, is_dropped):
    path = script(f"import openmm\nintegrator = openmm.NoseHooverIntegrator(0.001)\n{line}\n")
    assert ("DROPPED" in command("run", path, "--integrator", "Rattle").stderr) == is_dropped


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("make_context(integrator)", ("without a thermostat", "--integrator Rattle")),
        ("integrator.addThermostat(300, 1)\n    integrator.addThermostat(300, 1)", ("second thermostat",)),
        ("integrator.addSubsystemThermostat([0], [], 300, 1, 300, 1)", ("part of the System", "Type addThermostat(")),
    ],
)
def test_a_nose_hoover_integrator_that_has_no_substitute_is_refused(script, lines, words):
    path = script(
        f"""
    import openmm
    from chain import make_context
    integrator = openmm.NoseHooverIntegrator(0.001)
    {lines}
    """
    )
    assert_one_sentence(command("run", path), *words)
