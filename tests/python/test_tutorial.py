# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The tutorial's code runs as one script, here with fewer steps and less water, and does what the page says."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from snippets import blocks

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text()
SMALL = {"platform": '"CPU"', "box": "1.9", "equilibration": "20", "sampling": "100", "windows": "5", "pull": "200"}


def with_settings(code, settings):
    """The first block of the page with other numbers."""
    for name, value in settings.items():
        code, count = re.subn(rf"^{name} = [^ \n]+", f"{name} = {value}", code, flags=re.MULTILINE)
        assert count == 1, name
    return code


@pytest.mark.filterwarnings("ignore:too few independent samples")
def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shutil.copy(ROOT / "examples/alanine_dipeptide.pdb", tmp_path)
    settings, *steps = blocks(PAGE, "python")
    found = {}
    exec(compile("\n".join([with_settings(settings, SMALL), *steps]), "tutorial.md", "exec"), found)
    printed = capsys.readouterr().out

    assert re.search(r"\d{3} atoms, \d+ degrees of freedom, fit to run: True", printed)
    assert len(re.findall(r"\d+ K, 0\.[89]\d+ g/ml", printed)) == 5
    assert re.findall(r"(-\d+\.\d{3}) degrees", printed) == ["-80.000", "-40.000"]
    assert re.search(r"dA/dxi of dihedral 6-8-14-16 \(.*\): \S+ ± \S+ kJ/mol/rad, \S+ independent samples", printed)
    rows = re.findall(r"^ψ at +(-?\d+) degrees: +-?\d+\.\d ± (?:\d+\.\d|nan) kJ/mol/rad$", printed, flags=re.MULTILINE)
    assert rows == ["-40", "50", "140", "230", "320"]
    assert re.search(r"once round: \S+ ± \S+ kJ/mol", printed)

    # φ is held in all windows, and ψ at their values.
    forces, system = found["forces"], found["system"]
    np.testing.assert_allclose(np.degrees(forces.values), np.linspace(-40, 320, 5))
    for window in forces.windows:
        for angle, degrees in (("phi", -80), ("psi", np.degrees(window.value))):
            measured = found["fe"].Dihedral(*found[angle]).measure(system, window.positions)
            assert np.cos(measured - np.radians(degrees)) == pytest.approx(1, abs=1e-9)
    assert len(list((tmp_path / "windows").iterdir())) == 5
    assert len((tmp_path / "gradient.csv").read_text().splitlines()) == 1 + 10
    assert np.loadtxt("pmf.csv", delimiter=",", skiprows=1).shape == (5, 4)
    assert (tmp_path / "pmf.png").stat().st_size > 10_000


def test_its_plot_is_there():
    (plot,) = re.findall(r"!\[[^\]]+\]\((\S+\.png)\)", PAGE)
    assert (ROOT / "docs" / plot).stat().st_size > 10_000


def test_every_step_says_what_to_look_at():
    steps = re.split(r"^## \d+\. ", PAGE.split("## Where to go on")[0], flags=re.MULTILINE)[2:]
    assert len(steps) == 6
    assert all("**Look at**" in step for step in steps)
