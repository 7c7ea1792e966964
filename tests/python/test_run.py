# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run` on small scripts of a user."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import openmm as mm
import platforms
import pytest
from command import assert_one_sentence, command, fresh_command
from snippets import blocks
from user_scripts import SYSTEM, sentences, writer_in

import openmmconstraints as mc
from openmmconstraints.inspection.energy import Drift
from openmmconstraints.run.hooks import substituted
from openmmconstraints.run.observer import Observation
from openmmconstraints.run.session import Session


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


LANGEVIN = """
    import sys
    from openmm import *
    from openmm.unit import *
    import openmm as mm
    from chain import make_context
    integrator = LangevinMiddleIntegrator(300*kelvin, 1/picosecond, 2*femtoseconds)
    integrator.setRandomNumberSeed(7)
    integrator.setTemperature(310*kelvin)
    integrator.setFriction(2.0)
    assert integrator.getTemperature() == 310*kelvin and integrator.getRandomNumberSeed() == 7
    assert integrator.getFriction() == 2/picosecond
    assert isinstance(integrator, mm.LangevinMiddleIntegrator) and isinstance(integrator, mm.openmm.Integrator)
    context = make_context(integrator)
    integrator.step(1000)
    print("arguments", sys.argv[1:], "step size", integrator.getStepSize(), "name", __name__)
"""


@pytest.mark.platform
def test_langevin_becomes_rattle(script):
    result = command("run", script(LANGEVIN), "--integrator", "Rattle", "input.pdb", "--flag", "3")
    assert result.returncode == 0, result.stderr
    assert "arguments ['input.pdb', '--flag', '3'] step size 0.002 ps name __main__" in result.stdout
    assert result.stderr.count("DROPPED") == 1
    assert "-> RattleIntegrator" in result.stderr
    assert re.search(r"\bsteps\W+1,000\W", result.stderr)
    assert re.search(r"largest iterations\W+[1-9]", result.stderr)
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert 0 <= float(error[1]) <= 1e-5
    assert re.search(r"worst constraint\W+\d \(particles \d and \d\)", result.stderr)
    assert re.search(r"energy drift \(kT/ns/dof\)\W+[+-]\d", result.stderr)
    assert re.search(r"mean temperature \(K\)\W+\d+\.\d", result.stderr)
    assert re.search(r"ns/day\W+\d", result.stderr)


def test_langevin_becomes_rattle_langevin_with_its_heat_bath(script):
    result = command("run", script(LANGEVIN), "--integrator", "rattleLANGEVIN")
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    assert "-> RattleLangevinIntegrator" in result.stderr
    assert "not meaningful: RattleLangevinIntegrator" in result.stderr.replace("\n", " ")
    assert re.search(r"mean temperature \(K\)\W+\d+\.\d", result.stderr)


def test_rattle_langevin_keeps_the_temperature_that_a_script_sets(script):
    """The chain starts at 300 K; at 3 K and 50/ps it has to cool, and the bath of a NoseHooverIntegrator, too."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        langevin = mm.LangevinIntegrator(300, 50, 0.002)
        langevin.setTemperature(3)
        nose_hoover = mm.NoseHooverIntegrator(0.002)
        nose_hoover.addThermostat(3, 50, 3, 3, 3)
        for integrator in (langevin, nose_hoover):
            assert integrator.getTemperature()._value == 3
            integrator.setRandomNumberSeed(5)
            context = make_context(integrator)
            integrator.step(1000)
            assert integrator.computeSystemTemperature()._value < 30
        verlet = mm.VerletIntegrator(0.002)
        make_context(verlet)
        verlet.step(100)
        """
    )
    result = command("run", path, "--integrator", "RattleLangevin")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("WARNING") == 2
    assert "VerletIntegrator has no temperature" in result.stderr
    assert "friction is the collision frequency" in result.stderr


def test_shake_with_solver_and_tolerance(script):
    words = ("--integrator", "Shake", "--solver", "Iterative", "--tolerance", "1e-9")
    result = command("run", *words, script(LANGEVIN))
    assert result.returncode == 0, result.stderr
    assert "-> ShakeIntegrator" in result.stderr
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert float(error[1]) <= platforms.bound(1e-9, single=1e-6)
    assert re.search(r"solver\W+[Ii]terative", result.stderr)


def test_words_after_two_dashes_belong_to_the_script(script):
    path = script("import sys; print(sys.argv[1:])")
    assert "['a', '--solver', 'mine']" in command("run", path, "a", "--", "--solver", "mine").stdout


def test_keyword_arguments_and_the_application_layer(script):
    path = script(
        """
        import openmm as mm, openmm.app as app, sys
        from openmm import unit
        from chain import make_system, POSITIONS
        topology = app.Topology()
        residue = topology.addResidue("UNK", topology.addChain())
        for i in range(5):
            topology.addAtom("C", app.element.carbon, residue)
        integrator = mm.LangevinIntegrator(temperature=300, frictionCoeff=1.0, stepSize=1*unit.femtosecond)
        assert isinstance(integrator, mm.LangevinMiddleIntegrator)
        simulation = app.Simulation(topology, make_system(), integrator, mm.Platform.getPlatform("Reference"))
        simulation.context.setPositions(POSITIONS)
        simulation.minimizeEnergy()
        simulation.context.setVelocitiesToTemperature(300)
        simulation.reporters.append(app.StateDataReporter(sys.stdout, 50, step=True, temperature=True))
        simulation.step(123)
        app.Modeller(topology, POSITIONS * unit.nanometer)
        print("at", simulation.context.getTime(), simulation.currentStep)
        """
    )
    result = command("run", path)
    assert result.returncode == 0, result.stderr
    assert "at 0.123" in result.stdout
    assert re.search(r"\bsteps\W+123\W", result.stderr)


def test_compound_integrator_is_watched_through_its_children(script):
    path = script(
        """
        import openmm as mm
        from chain import make_context
        compound = mm.CompoundIntegrator()
        compound.addIntegrator(mm.VerletIntegrator(0.001))
        compound.addIntegrator(mm.NoseHooverIntegrator(300, 1, 0.002))
        context = make_context(compound)
        compound.step(21)
        compound.setCurrentIntegrator(1)
        compound.step(13)
        """
    )
    result = command("run", path)
    assert result.returncode == 0, result.stderr
    assert re.search(r"\bsteps\W+21\W+13\W", result.stderr), result.stderr


def test_an_exception_is_shown_and_the_report_as_well(script):
    result = command("run", script(LANGEVIN + "\n    raise ValueError('the script broke')\n"))
    assert result.returncode == 1
    assert "ValueError: the script broke" in result.stderr
    assert "simulate.py" in result.stderr
    assert "runpy" not in result.stderr
    assert re.search(r"\bsteps\W+1,000\W", result.stderr)


@pytest.mark.parametrize(("argument", "status"), [("3", 3), ("", 0), ("'stop'", 1)])
def test_exit_status_is_the_scripts(script, argument, status):
    result = command("run", script(LANGEVIN + f"\n    sys.exit({argument})\n"))
    assert result.returncode == status
    assert re.search(r"\bsteps\W+1,000\W", result.stderr)


@pytest.mark.platform
def test_an_error_of_openmm_is_shown(script):
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.VerletIntegrator(0.002)
        context = make_context(integrator)
        integrator.step(10)
        context.setVelocities([mm.Vec3(1e5 * i * i, 0, 0) for i in range(5)])
        integrator.step(10)
        """
    )
    result = command("run", path)
    assert result.returncode == 1
    assert "OpenMMException" in result.stderr
    assert "step" in result.stderr
    assert re.search(r"\bsteps\W+1\d\W", result.stderr), result.stderr


@pytest.mark.long
def test_the_script_of_the_documentation_prints_what_is_shown(tmp_path):
    """Numbers vary; the sentence, the rows and the text beside them are those of the page."""
    page = (Path(__file__).parents[2] / "docs/guide/command-line.md").read_text()
    (text,), (shown,) = blocks(page, "py"), blocks(page, "text")
    (tmp_path / "simulate.py").write_text(text)
    result = command("run", "simulate.py", "40", "--tolerance", "1e-8", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert sentences(result.stderr) == sentences(shown)
    names = re.findall(r"│ (\w[^│]*?) +│", shown)
    assert re.findall(r"│ (\w[^│]*?) +│", result.stderr)[::2] == names[::2]
    for row in ("platform", "solver", "clusters"):
        value = re.search(rf"│ {row} +│ (.*?) +│", shown)
        assert value is not None
        assert value[1] in result.stderr


def test_no_step_is_said(script):
    path = script("print('hello')")
    assert "no step was taken with an integrator of openmm-constraints" in command("run", path).stderr
    assert "no step was taken with ShakeIntegrator" in command("run", path, "--integrator", "Shake").stderr


def test_steps_of_another_process_are_not_denied(script):
    path = script(
        """
        import multiprocessing
        import openmm as mm
        from chain import make_context

        def work():
            integrator = mm.VerletIntegrator(0.001)
            make_context(integrator)
            integrator.step(3)

        if __name__ == "__main__":
            process = multiprocessing.get_context("fork").Process(target=work)
            process.start()
            process.join()
        """
    )
    said = command("run", path).stderr
    assert "VerletIntegrator -> RattleIntegrator" in said
    assert "in this process. Others that the script starts are not in the table." in " ".join(said.split())


def test_two_samples_give_no_drift():
    """A line goes through any two points."""
    from openmmconstraints.run.report import _drift

    seen = Observation("VerletIntegrator", "RattleIntegrator")
    for time in range(2):
        seen.energies.add(time, -10.0 + time, 5.0)
    assert _drift(seen) == ("too few samples (2)", "-")
    seen.energies.add(2, -8.0, 5.0)
    assert _drift(seen)[0].startswith("+")


# ---- whose words -----------------------------------------------------------------------------------------------------
ECHO = "import sys\nprint('script got', sys.argv[1:])\n"


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["SCRIPT", "in.pdb", "-o", "out", "--steps=5", "--solver", "Iterative"], ["in.pdb", "-o", "out", "--steps=5"]),
        (["--solver", "Iterative", "SCRIPT", "--help", "-h"], ["--help", "-h"]),
        (["--tolerance=1e-6", "SCRIPT", "-1", "--integrator=shake", "x"], ["-1", "x"]),
        (["--solver", "Iterative", "--", "SCRIPT", "--solver", "mine"], ["--solver", "mine"]),
        (["SCRIPT", "a", "--", "--solver", "mine", "--"], ["a", "--solver", "mine", "--"]),
    ],
)
def test_options_that_do_not_clash_are_the_scripts(script, words, arguments):
    path = script(ECHO)
    result = command("run", *(path if word == "SCRIPT" else word for word in words))
    assert result.returncode == 0, result.stderr
    assert f"script got {arguments}" in result.stdout


def test_an_option_that_clashes_needs_two_dashes_which_the_error_says(script):
    path = script("import argparse\np = argparse.ArgumentParser()\np.add_argument('--tolerance')\n" + ECHO)
    result = command("run", path, "in.pdb", "--tolerance", "1e-6")
    assert_one_sentence(result, f"--tolerance is an option of {path}, too", f"run {path} in.pdb -- --tolerance 1e-6")
    separated = command("run", path, "in.pdb", "--", "--tolerance", "1e-6")
    assert "script got ['in.pdb', '--tolerance', '1e-6']" in separated.stdout
    assert "script got ['in.pdb']" in command("run", "--tolerance", "1e-6", path, "in.pdb").stdout


def test_a_value_that_only_the_script_could_mean_is_refused_with_two_dashes(script):
    path = script(ECHO)
    result = command("run", path, "--solver", "pcg")
    assert_one_sentence(result, "invalid choice: 'pcg'", f"If it is meant for {path}", f"run {path} -- --solver pcg")


def test_an_option_before_the_script_that_is_not_ours_is_said_to_belong_behind_it(script):
    path = script(ECHO)
    result = command("run", "--verbose", path, "in.pdb")
    assert_one_sentence(result, "arguments: --verbose", f"behind: openmm-constraints run {path} in.pdb --verbose")
    result = command("run", "--tolerance", "1e-6", "--steps", "200", "--in", "a.pdb", path, "x")
    assert_one_sentence(result, f"meant for {path}", f"run --tolerance 1e-6 {path} x --steps 200 --in a.pdb")
    assert_one_sentence(
        command("run", "--verbose"), "unrecognized arguments: --verbose (see openmm-constraints run --help)"
    )


@pytest.mark.parametrize("code", ["import openmm as mm\nmm.BrownianIntegrator(300, 1, 0.001)", "raise SystemExit(2)"])
def test_a_script_that_fails_before_it_takes_steps_prints_no_report(script, code):
    result = command("run", script(code))
    assert result.returncode == 2
    assert result.stdout == ""
    assert "no step" not in result.stderr
    assert "│" not in result.stderr


def test_names_of_solvers_are_taken_in_any_case(script):
    result = command("run", script(ECHO), "--solver", "matrixinversion")
    assert result.returncode == 0, result.stderr
    assert "invalid choice: 'matrix'" in command("run", script(ECHO), "--solver", "matrix").stderr


@pytest.mark.parametrize(
    ("slope", "error", "text"),
    [
        (-0.437, 4.2, "-0.4 ± 4.2"),
        (12.3, 23, "+12 ± 23"),
        (0.0271, 0.0031, "+0.0271 ± 0.0031"),
        (1e-6, 2e-7, "+1e-06 ± 2e-07"),
    ],
)
def test_drifts_have_the_digits_that_their_errors_leave(slope, error, text):
    assert str(Drift(slope, error, 0.0)) == text


def test_unknown_integrators_are_refused(script):
    path = script("pass")
    assert_one_sentence(
        command("run", path, "--integrator", "Leapfrog"),
        "Leapfrog",
        "choose auto, Rattle, Shake,",
        "or RattleMTSLangevin",
    )


def test_openmm_is_left_as_it_was():
    replaced = []
    for module in (mm, mm.openmm, mm.mtsintegrator, mm.amd):
        replaced += [(module, name) for name in vars(module) if name.endswith("Integrator")]
    before = [getattr(*place) for place in replaced]
    methods = [vars(mm.Context)["__init__"], vars(mm.LocalEnergyMinimizer)["minimize"]]
    with substituted(Session(mc.RattleIntegrator, mc.ConstraintIntegrator.Automatic)):
        assert issubclass(mm.VerletIntegrator, mc.RattleIntegrator)
    assert before == [getattr(*place) for place in replaced]
    assert methods == [vars(mm.Context)["__init__"], vars(mm.LocalEnergyMinimizer)["minimize"]]


def make_langevin(step_size):
    integrator = mc.RattleLangevinIntegrator(300, 5, step_size)
    integrator.setRandomNumberSeed(3)
    return integrator


@pytest.mark.platform
@pytest.mark.parametrize("kind", [mc.RattleIntegrator, mc.ShakeIntegrator, make_langevin])
def test_watching_changes_nothing(kind):
    names: dict = {}
    exec(SYSTEM, names)  # the same chain as in the scripts
    positions = []
    for watched in (False, True):
        integrator = kind(0.002)
        context = names["make_context"](integrator)
        if watched:
            seen = Observation("VerletIntegrator", kind.__name__)
            seen.attach(context)
            seen._energy_throttle.share = 1e9  # look every time
            seen.step(integrator.step, integrator, 203)
            assert seen.steps == 203
            assert len(seen.energies.time) == 21
        else:
            integrator.step(203)
        positions.append(context.getState(positions=True).getPositions(asNumpy=True)._value)
    assert np.array_equal(*positions)


def test_a_terminal_without_unicode_gets_the_report(script, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = fresh_command("run", script(LANGEVIN))
    assert result.returncode == 0, result.stderr
    assert "energy drift" in result.stderr


def test_a_tolerance_out_of_range_is_one_sentence(script):
    assert_one_sentence(command("run", script("pass"), "--tolerance", "1e-16"), "--tolerance 1e-16")
