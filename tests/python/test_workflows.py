# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The workflows of GitHub are valid and careful, and do what anybody can do by a script."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML  # check-jsonschema requires it

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def run(program, *words):
    """A program of this environment; returns what it says."""
    command = [Path(sys.executable).parent / program, *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def steps(path):
    for job in YAML(typ="safe").load(path)["jobs"].values():
        yield from job["steps"]


def test_every_series_of_openmm_is_built():
    """By the workflow and by conda's recipe; which they are stands in scripts/series.py."""
    (words,) = re.findall(r"^SERIES = \((.*)\)", (ROOT / "scripts" / "series.py").read_text(), re.MULTILINE)
    yaml = YAML(typ="safe")
    matrix = yaml.load(ROOT / ".github" / "workflows" / "wheels.yml")["jobs"]["build"]["strategy"]["matrix"]
    variants = yaml.load(ROOT / "conda" / "variants.yaml")
    assert re.findall(r"[\d.]+", words) == matrix["series"] == variants["openmm"]


def test_they_fit_the_schema():
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_zizmor_finds_nothing():
    run("zizmor", "--offline", "--persona", "pedantic", *WORKFLOWS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_step_runs_a_script_or_a_pinned_action(path):
    for step in steps(path):
        if "run" in step:
            call = re.fullmatch(r'bash (scripts/[\w-]+\.sh)( --?\w+| "\$\w+")*', step["run"])
            assert call, step["run"]
            assert (ROOT / call[1]).is_file()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
