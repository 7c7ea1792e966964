# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the README shows is what happens, and what it and other pages name exists."""

import re
from pathlib import Path

import openmm as mm
import pytest
from snippets import blocks, numbers_rounded

import openmmconstraints as mc

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_carbon_dioxide_prints_what_is_shown(capsys):
    (example,) = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {})
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    for command in re.findall(r"^    bash (scripts/\S+)", page.read_text(), re.MULTILINE):
        assert (ROOT / command).is_file()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_links_lead_to_files(name):
    for target in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target
