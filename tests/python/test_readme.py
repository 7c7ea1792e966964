# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the README shows is what happens."""

import re
from pathlib import Path

import openmm as mm
import pytest
from snippets import blocks, numbers_rounded

import openmmconstraints as mc

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_first_example_runs(capsys):
    exec(compile(blocks(README, "python")[0], "README.md", "exec"), {})
    assert "converged" in capsys.readouterr().out


def test_carbon_dioxide_prints_what_is_shown(capsys):
    exec(compile(blocks(README, "python")[1], "README.md", "exec"), {})
    assert numbers_rounded(capsys.readouterr().out) == numbers_rounded(blocks(README, "text")[0])


def test_error_message_is_verbatim():
    system = mm.System()
    for mass in (12, 16, 16):
        system.addParticle(mass)
    for i, j, distance in ((0, 1, 0.1), (0, 2, 0.1), (1, 2, 0.25)):
        system.addConstraint(i, j, distance)
    with pytest.raises(mm.OpenMMException) as error:
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    shown = blocks(README, "text")[1].removeprefix("openmm.OpenMMException: ")
    assert " ".join(shown.split()) == " ".join(str(error.value).split())


def test_commands_exist():
    for command in re.findall(r"^    bash (scripts/\S+)", README, re.MULTILINE):
        assert (Path(__file__).parents[2] / command).is_file()
