# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What `openmm-constraints run` prints besides a script's own output, and where, and after a script's errors."""

from __future__ import annotations

import re

import openmm as mm
import pytest
from command import command
from user_scripts import writer_in

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
    assert (re.search(r"\bsteps\W+20\W", result.stdout + result.stderr) is not None) == bool(good)


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
    assert "came to its end" in said.out
    assert "Not all of VerletIntegrator could be read: no energy here\n" in said.out + said.err
