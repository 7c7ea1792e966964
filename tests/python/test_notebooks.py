# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The notebooks of the documentation. scripts/docs.sh runs them in Jupyter, where an exception is an error too."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def cells(path, kind):
    return ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == kind]


def value_of(code, namespace):
    """Run a cell; the value of its last line, which Jupyter shows, None if that is a statement."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), namespace)
    return None if last is None else eval(compile(last, "cell", "eval"), namespace)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.long if path.stem == "free_energy" else ()) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_cells_run_one_after_the_other(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace: dict = {}
    shown = [value_of(code, namespace) for code in cells(path, "code")]
    assert any(hasattr(value, "_repr_html_") for value in shown)
    assert cells(path, "code")[-1].splitlines()[-1].startswith("assert "), "it checks what it shows"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_made_when_the_documentation_is_built(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_there_are_two_and_the_examples_list_them():
    index = (Path(__file__).parents[2] / "docs/examples/index.md").read_text()
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        assert f"(../notebooks/{path.name})" in index
        assert f"\n../notebooks/{path.stem}\n" in index
        assert f"{{download}}`notebook <{path.name}>`" in cells(path, "markdown")[0]
