# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the README shows is what happens, and what it and other pages name exists."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from snippets import blocks

import openmmconstraints as mc

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def section(name):
    """The text below a heading."""
    return README.split(f"\n## {name}\n")[1].split("\n## ")[0]


def rows(text):
    """The rows of tables, without their heads."""
    return [line for line in text.splitlines() if re.match(r"\| (?!held)", line)]


def test_it_is_short_and_in_this_order():
    assert len(README.splitlines()) <= 110
    assert re.findall(r"^## (.*)$", README, re.MULTILINE) == [
        *("A peptide in water", "What OpenMM cannot do", "What it costs", "Install", "Comparison", "Limits"),
    ]
    assert README.index("![") < README.index("\n## ")


def run(code, steps):
    """What the names of a script are in the end, with fewer steps."""
    for given, taken in steps.items():
        assert f".step({given})" in code
        code = code.replace(f".step({given})", f".step({taken})")
    found = {}
    exec(compile(code, "README.md", "exec"), found)
    return found


def test_the_peptide_runs_and_one_line_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples/dipeptide_in_water.pdb", tmp_path / "examples")
    script, change, end = blocks(README, "python")
    assert len([line for line in script.splitlines() if line]) <= 15

    found = run(script, {1000: 20})
    (replaced,) = filter(mc.ConstraintForce.isinstance, found["system"].getForces())
    assert mc.ConstraintForce.cast(replaced).getSolverSummary(found["simulation"].context).converged
    assert type(found["integrator"]).__name__ == "LangevinMiddleIntegrator"

    *_, changed = change.splitlines()
    (line,) = (line for line in script.splitlines() if line.startswith("integrator = "))
    assert changed.startswith(line.replace("mm.LangevinMiddleIntegrator", "mc.RattleLangevinIntegrator"))
    found = run(script.replace(line + "\n", change) + end, {1000: 20, 20000: 100})
    (angle,) = found["held"].getValues(found["simulation"].context).values()
    assert np.degrees(angle._value) == pytest.approx(-60, abs=1e-3)
    coordinate = r"dihedral 4-6-8-14 \(ACE1 C, ALA2 N-CA-C\)"
    assert re.fullmatch(rf"dA/dxi of {coordinate}: -?[\d.]+ ± [\d.a-z]+ kJ/mol/rad\n", capsys.readouterr().out)
    assert found["force"].getMeanForce().samples == 10


def test_figures_are_those_of_the_results():
    results = (DOCS / "results.md").read_text()
    cells = [cell.strip() for row in rows(section("What it costs")) for cell in row.split("|")[2:-1]]
    assert len(cells) == 12
    for cell in cells:
        assert f"({cell})" in results or f"| {cell} |" in results, cell


def test_the_comparison_is_part_of_the_whole():
    shown = rows(section("Comparison"))
    assert len(shown) >= 4
    assert set(shown) <= set((DOCS / "comparison.md").read_text().splitlines())


def commands(text):
    """Scripts that a page tells to run, in indented lines and in blocks for a shell."""
    lines = [line for block in blocks(text, "shell") for line in block.splitlines()]
    return [
        *re.findall(r"^    bash (scripts/\S+)", text, re.MULTILINE),
        *(found[1] for line in lines if (found := re.match(r"bash (scripts/\S+)", line))),
    ]


def test_a_clone_has_two_commands():
    assert commands(section("Install")) == ["scripts/demo.sh", "scripts/test.sh"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    for command in commands(page.read_text()):
        assert (ROOT / command).is_file()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_links_lead_to_files(name):
    for target in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_to_headings(page):
    for target, heading in re.findall(r"\]\(([^):#\s]*\.md|)#([^)]+)\)", page.read_text()):
        text = (page.parent / target if target else page).read_text()
        titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        slugs = {
            re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title).lower()).replace(" ", "-") for title in titles
        }
        assert heading in slugs | set(re.findall(r"^\((.*)\)=$", text, re.MULTILINE)), target
