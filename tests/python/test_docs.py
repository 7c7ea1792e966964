# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the documentation shows is what happens, and nothing public is missing from it."""

import re
import runpy
from pathlib import Path

import pytest
from snippets import examples, numbers_rounded

import openmmconstraints as mc

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LONG = ("coming-from", "integrators", "rigid-bodies")
ELSEWHERE = ("cookbook", "tutorial")  # their code has tests of its own
PAGES = [
    pytest.param(page, marks=pytest.mark.long if page.stem in LONG else (), id=page.stem)
    for page in sorted(DOCS.rglob("*.md"))
    if "```python\n" in page.read_text() and page.stem not in ELSEWHERE
]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run_and_print_what_is_shown(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}  # a page reads on
    for code, shown in examples(page.read_text()):
        exec(compile(code, page.name, "exec"), namespace)
        printed = capsys.readouterr().out
        if shown is not None:
            assert numbers_rounded(printed) == numbers_rounded(shown)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_included_texts_exist(page):
    for file, options in re.findall(r"^```\{include\} (\S+)\n(.*?)```", page.read_text(), re.DOTALL | re.MULTILINE):
        text = (page.parent / file).read_text()
        for marker in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.MULTILINE):
            assert marker in text


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=lambda page: page.stem)
def test_guide_has_no_notes_for_developers(page):
    """Those are in docs/devices.md, docs/results.md and docs/theory."""
    notes = r"gpu_model|, estimated|kernel launch|thread block|shared memory|\bcommit [0-9a-f]{7}|\bsm_\d\d"
    assert re.findall(notes, page.read_text()) == []


def test_minimizations_that_are_compared_are_named_by_their_calls():
    compared = runpy.run_path(str(ROOT / "benchmarks/minimize.py"))["calls"]()
    (section,) = re.findall(
        r"^## Minimization$.*?(?=^## )", (DOCS / "results.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert "`python benchmarks/minimize.py`" in section
    for call in compared:
        assert f"`{call}`" in section


def test_reference_has_everything_public():
    reference = (DOCS / "api/index.md").read_text()
    listed = set(re.findall(r"^   (\S+)$", reference, re.MULTILINE))
    assert set(mc.__all__) - {"__version__", "freeenergy"} <= listed
    assert {f"freeenergy.{name}" for name in mc.freeenergy.__all__} - {"freeenergy.MeanForce"} <= listed


def test_every_example_has_a_page():
    pages = {page.stem for page in (DOCS / "examples").glob("*.md")} - {"index"}
    assert {script.stem for script in (ROOT / "examples").glob("*.py")} == pages
