# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What `openmm-constraints run` prints besides a script's own output, and where, and after a script's errors."""

from __future__ import annotations

import re

import openmm as mm
import pytest
from command import assert_one_sentence, command
from user_scripts import sentences, writer_in

from openmmconstraints.commands.cli import main
from openmmconstraints.run.observer import Observation


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


FAILING = """
    import openmm as mm
    from chain import make_context, make_system, PLATFORM
    {good}
    integrator = mm.VerletIntegrator(0.002)
    context = mm.Context(make_system(), integrator, PLATFORM)
    integrator.step(10)
"""
GOOD = "good = mm.VerletIntegrator(0.001); kept = make_context(good); good.step(20)"


@pytest.mark.parametrize("good", ["", GOOD], ids=["alone", "after-good-steps"])
@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_the_error_of_a_failed_step_is_the_only_one(script, option, good):
    """Positions were forgotten: no energy can be read for the report either."""
    result = command("run", *option, script(FAILING.format(good=good)))
    assert result.returncode == 1
    assert result.stderr.count("Traceback") == 1
    assert result.stderr.count("Particle positions have not been set") == 1
    assert (re.search(r"\bsteps\W+20\W", result.stderr) is not None) == bool(good)


HINGE = """
    import openmm as mm
    import openmmconstraints as mc
    from chain import PLATFORM, PROPERTIES
    places = [[0, 0, 0], [0.1, -0.05, 0.12], [0.15, 0.1, 0], [0.15, 0.2, 0.05], [0.3, 0.1, 0.1], [0.33, 0.2, -0.06]]
    system, force = mm.System(), mc.ConstraintForce()
    for mass in (12, 14, 16, 3, 5, 10):
        system.addParticle(mass)
    for body in ((0, 1, 2, 3), (2, 3, 4, 5)):
        force.addRigidBody(body, [places[i] for i in body])
    system.addForce(force)
    integrator = mm.VerletIntegrator(0.001)
    context = mm.Context(system, integrator, PLATFORM, PROPERTIES)
    context.setPositions(places)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(20)
"""


@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_the_error_of_a_joint_is_in_the_table(script, option):
    result = command("run", *option, script(HINGE))
    assert result.returncode == 0, result.stderr
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert 0 < float(error[1]) < 1e-3
    assert re.search(r"worst constraint\W+joint of rigid bodies\W", result.stderr)


def test_an_energy_that_cannot_be_read_does_not_stop_the_script(script, monkeypatch, capsys):
    """Nor is it an error of the script; the report has the reason."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.VerletIntegrator(0.001)
        context = make_context(integrator)
        integrator.step(10)
        print("came to its end")
        """
    )

    def fail(*_):
        raise mm.OpenMMException("no energy here\nsecond line")

    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.setattr(Observation, "_read_energy", fail)
    assert main(["run", str(path)]) == 0
    said = capsys.readouterr()
    assert said.out == "came to its end\n"
    assert "Not all of VerletIntegrator could be read: no energy here\n" in said.err


# ---- where the table goes --------------------------------------------------------------------------------------------
CSV = """
    import os
    import openmm as mm
    from chain import make_context
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    context = make_context(integrator)
    os.chdir("/")
    for _ in range(3):
        integrator.step(10)
        print(f"{context.getStepCount()},{context.getTime()._value:g}")
"""
PRINTED = "10,0.01\n20,0.02\n30,0.03\n"


@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_stdout_is_the_scripts(script, option):
    result = command("run", script(CSV), *option)
    assert result.stdout == PRINTED
    assert "openmm-constraints run: LangevinMiddleIntegrator" in result.stderr
    assert re.search(r"\bsteps\W+30\W", result.stderr)


def test_the_table_goes_to_a_file(script, tmp_path):
    """In the folder where the command was started, wherever the script goes."""
    result = command("run", script(CSV), "--report", "table.txt", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, PRINTED)
    assert len(result.stderr.splitlines()) == len(sentences(result.stderr)) == 1
    assert re.search(r"\bsteps\W+30\W", (tmp_path / "table.txt").read_text(encoding="utf-8"))


def test_a_quiet_run_prints_warnings_only(script, tmp_path):
    path = script(CSV)
    result = command("run", "--quiet", path)
    assert (result.stdout, result.stderr) == (PRINTED, "")
    result = command("run", path, "--quiet", "--report", "table.txt", "--integrator", "Rattle", cwd=tmp_path)
    (warning,) = result.stderr.splitlines()
    assert "WARNING: the thermostat of LangevinMiddleIntegrator is DROPPED" in warning
    assert re.search(r"\bsteps\W+30\W", (tmp_path / "table.txt").read_text(encoding="utf-8"))


def test_a_quiet_run_shows_errors(script):
    result = command("run", "--quiet", script("raise ValueError('the script broke')"))
    assert result.returncode == 1
    assert "ValueError: the script broke" in result.stderr


def test_a_file_that_cannot_be_written_is_told_before_the_script_runs(script, tmp_path):
    result = command("run", "--report", tmp_path / "nowhere" / "table.txt", script("print('ran')"))
    assert_one_sentence(result, "--report: cannot write to", "No such file")
    assert result.stdout == ""
    full = command("run", "--report", "/dev/full", script("print('ran')"))
    assert (full.returncode, full.stdout) == (1, "ran\n")
    assert full.stderr == "openmm-constraints run: cannot write the output: No space left on device.\n"


def test_the_new_options_belong_to_the_script_behind_two_dashes(script):
    path = script("import sys\nassert '--report' not in sys.argv[:1]\nprint(sys.argv[1:])\n")
    assert_one_sentence(command("run", path, "--report", "a.csv"), f"--report is an option of {path}, too")
    assert "['--report', 'a.csv', '--quiet']" in command("run", path, "--", "--report", "a.csv", "--quiet").stdout
