# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every example runs as a user would run it, and writes its plot."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest
from openmm_series import since

LONG = ("pmf", "nitrogen", "pendulum", "surfaces", "c60_gas", "dzhanibekov_flip", "hinged_domains", "learned_potential")
NEEDS = {"learned_potential": [since("8.5", "PythonForce")]}
EXAMPLES = [
    pytest.param(path, marks=[*NEEDS.get(path.stem, ()), *([pytest.mark.long] if path.stem in LONG else ())])
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_saves_a_plot(example, tmp_path):
    plot = tmp_path / "plot.png"
    result = subprocess.run(
        [sys.executable, example, plot],
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error::DeprecationWarning:__main__"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip(), "an example says what it found"
    image = matplotlib.image.imread(plot)
    assert min(image.shape[:2]) > 300
    assert image[..., :3].std() > 0.01, "the plot is blank"
