# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Type checkers find nothing wrong with what users type, and something with what they mistype."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("typed") / "script.py"
#: OpenMM has no types. What pyright infers of openmm.unit is wrong: it finds no nanometer there.
SETTINGS = "[mypy]\nstrict = True\npython_version = 3.10\n[mypy-openmm.*]\nignore_missing_imports = True\n"
MISTAKES = {
    "integrator.getMultipliers(asNumpy=True).append(1.0)": "append",
    "integrator.getMultipliers().shape": "shape",
    'integrator.setMaxIterations("5")': "setMaxIterations",
    "force.addDistance(0, 1)": "distance",
    "force.getMultipliers()": "getMultipliers",
    "mc.RattleIntegrator(0.002, 300)": "argument",
    "mc.moveConstraints(system).addDistance(0, 1, 0.1)": "None",
}


def mistyped(folder: Path) -> Path:
    """A script with a mistake in each line from the sixth on."""
    path = folder / "mistyped.py"
    head = [
        "import openmm as mm",
        "import openmmconstraints as mc",
        "integrator: mc.ConstraintIntegrator = mc.RattleIntegrator(0.002)",
        "force = mc.ConstraintForce()",
        "system = mm.System()",
    ]
    path.write_text("\n".join([*head, *MISTAKES]) + "\n")
    return path


def lines_of(output: str) -> dict[int, str]:
    """Messages by line number."""
    parts = [line.strip().split(":", 2) for line in output.splitlines() if " error: " in line or "- error" in line]
    found: dict[int, str] = {}
    for _, number, text in parts:
        found.setdefault(int(number), text)
    return found


def check_mypy(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = folder / "mypy.ini"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(folder / "cache")]
    return subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=folder)


def check_pyright(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = folder / "pyrightconfig.json"
    settings.write_text(json.dumps({"include": [str(path)], "useLibraryCodeForTypes": False, "pythonVersion": "3.10"}))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(settings)]
    # It asks PyPI whether there is a newer one otherwise.
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


CHECKERS = [pytest.param(check_mypy, id="mypy"), pytest.param(check_pyright, id="pyright")]


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKERS)
def test_what_users_type_is_right(check, tmp_path):
    result = check(SCRIPT, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKERS)
def test_what_they_mistype_is_found(check, tmp_path):
    result = check(mistyped(tmp_path), tmp_path)
    found = lines_of(result.stdout)
    for number, (line, word) in enumerate(MISTAKES.items(), start=6):
        assert word in found.get(number, ""), f"{line}\n{result.stdout}"
