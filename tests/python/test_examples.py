# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every example runs as a user would run it, and writes its plot, on which nothing covers data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import plot_checks
import pytest
from matplotlib.figure import Figure
from openmm_series import since

sys.path.append(str(Path(__file__).parents[2] / "docs/extensions"))

from outputs import Output

QUICK = ("paraboloid", "two_bonds", "thermodynamic_integration")
NEEDS = {"learned_potential": [since("8.5", "PythonForce")]}
EXAMPLES = [
    pytest.param(path, marks=[*NEEDS.get(path.stem, ()), *([] if path.stem in QUICK else [pytest.mark.long])])
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_saves_a_plot(example, tmp_path):
    plot = tmp_path / "plot.png"
    result = subprocess.run(
        [sys.executable, Path(__file__).with_name("plot_checks.py"), example, plot],
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error::DeprecationWarning:__main__"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip(), "an example says what it found"
    assert not re.search(r"± 0\.?0*(?![.\d])", result.stdout), "an error is rounded to nothing"
    image = matplotlib.image.imread(plot)
    assert min(image.shape[:2]) > 300
    assert image[..., :3].std() > 0.01, "the plot is blank"
    Output(example).keep(result.stdout, plot)


def test_broken_plots_are_noticed():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color="#0072B2", label="one")
    left.plot([0, 1], [1, 0], color="#D55E00", label="other")
    left.legend(loc="center")
    left.set(xlabel="time (ps)", title="crossing")
    right.hist([1, 1, 2], label="counts")
    right.set(xlabel="value", ylabel="number")
    assert plot_checks.problems_of(figure) == [
        "the y axis of 'crossing' has no name",
        "'one' and 'other' are alike in grey",
        "the legend covers data of 'crossing'",
    ]
