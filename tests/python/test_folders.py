# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Folders of the package import in one direction only."""

import ast
from pathlib import Path

import pytest

import openmmconstraints

PACKAGE = Path(openmmconstraints.__file__).parent
#: A module imports from its own folder and from those before it.
ORDER = (
    "inspection",
    "terminal",
    "helpers",
    "minimization",
    "reporters",
    "freeenergy",
    "health",
    "__init__.py",  # what `import openmmconstraints` loads ends here
    "benchmark",
    "demo",
    "run",
    "commands",
    "__main__.py",
)
#: These belong to the compiled wrapper; they import no folder.
WRAPPER = (
    "_arrays",
    "_atoms",
    "_build_info",
    "_constraint_index",
    "_enums",
    "_groups",
    "_openmm",
    "_proxies",
    "_quantities",
    "_rates",
    "_warnings",
    "wrapper",
)


def imported(path):
    """Full names in the import statements of a file, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def used_by(path):
    """Which of ORDER a file imports."""
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == PACKAGE.name and (len(parts) == 1 or parts[1] not in WRAPPER):
            folder = parts[1] if len(parts) > 1 else ""
            yield folder if folder in ORDER else "__init__.py"


def test_every_folder_and_module_has_its_place():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert folders | modules == {name.removesuffix(".py") for name in ORDER} | set(WRAPPER)


@pytest.mark.parametrize("name", [*ORDER, *(f"{module}.py" for module in WRAPPER)])
def test_folder_imports_only_those_before_it(name):
    before = ORDER[: ORDER.index(name) + 1] if name in ORDER else ()
    paths = [PACKAGE / name] if name.endswith(".py") else sorted((PACKAGE / name).glob("*.py"))
    assert paths
    for path in paths:
        assert set(used_by(path)) <= set(before), path
