# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a notebook, a terminal and a log file show: one-line representations, tables, pictures, progress."""

from __future__ import annotations

import base64
import io
import re
import sys
from html.parser import HTMLParser
from types import ModuleType

import numpy as np
import openmm as mm
import pytest
from chains import made_up
from matplotlib import image

import openmmconstraints as mc
from openmmconstraints.terminal import progress


def make_force() -> mc.ConstraintForce:
    force = mc.ConstraintForce()
    for i in range(15):
        force.addDistance(i, i + 1, 0.1)
    force.addAngle(0, 1, 2, 1.9, rate=0.25)
    force.addCentroidDistance([3, 4], [5, 6], 0.3)
    force.addRigidBody([20, 21, 22], [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    force.setUsesPeriodicBoundaryConditions(True)
    return force


def make_custom() -> mc.CustomConstraintForce:
    force = mc.CustomConstraintForce(1, "x1^2 - r*(1<2)")
    force.addPerConstraintParameter("r")
    for i in range(12):
        force.addConstraint([i], [0.25 + i])
    return force


def make_centroids() -> mc.CustomCentroidConstraintForce:
    force = mc.CustomCentroidConstraintForce(2, "distance(g1, g2) - 0.4")
    for group in ([0, 1], [2, 3]):
        force.addGroup(group)
    force.addConstraint([0, 1])
    return force


LINES = [
    (make_force(), "ConstraintForce(15 distances, 1 angle, 1 centroid distance, 1 rigid body, periodic)"),
    (mc.ConstraintForce(), "ConstraintForce(no constraints)"),
    (make_custom(), "CustomConstraintForce('x1^2 - r*(1<2)', 12 constraints)"),
    (make_centroids(), "CustomCentroidConstraintForce('distance(g1, g2) - 0.4', 1 constraint)"),
    (mc.RattleIntegrator(0.001), "RattleIntegrator(0.001 ps, tolerance 1e-05, solver Automatic)"),
    (mc.ShakeIntegrator(0.0005), "ShakeIntegrator(0.0005 ps, tolerance 1e-05, solver Automatic)"),
    (
        mc.RattleLangevinIntegrator(300, 2, 0.004),
        "RattleLangevinIntegrator(300 K, 2 /ps, 0.004 ps, tolerance 1e-05, solver Automatic)",
    ),
    (
        mc.RattleMTSIntegrator(0.004, [(0, 1), (1, 4)]),
        "RattleMTSIntegrator(0.004 ps, groups [(0, 1), (1, 4)], tolerance 1e-05, solver Automatic)",
    ),
    (
        mc.RattleNoseHooverIntegrator(310, 5, 0.002),
        "RattleNoseHooverIntegrator(310 K, 5 /ps, 0.002 ps, tolerance 1e-05, solver Automatic)",
    ),
]


@pytest.mark.parametrize(("thing", "line"), LINES, ids=[line.partition("(")[0] for _, line in LINES])
def test_a_class_is_one_line(thing, line):
    assert repr(thing) == line


def test_a_long_expression_is_cut():
    force = mc.CustomConstraintForce(1, "z1" + "+0*x1" * 100)
    line = repr(force)
    assert line.startswith("CustomConstraintForce('z1+0*x1+0*x1")
    assert line.endswith("...', 0 constraints)")
    assert 200 < len(line) < 250


def test_every_integrator_is_one_line():
    kinds = [mc.ConstraintIntegrator]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        assert kind.__repr__ is mc.ConstraintIntegrator.__repr__, kind


def step_once():
    system = mm.System()
    for _ in range(3):
        system.addParticle(1)
    system.addConstraint(0, 1, 0.1)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.2, 0.1, 0]])
    integrator.step(1)
    return integrator.getSolverSummary()


def test_a_summary_is_one_line_of_what_says_something():
    line = repr(step_once())
    assert line.startswith("SolverSummary(converged=True, iterations=")
    assert "joints" not in line  # as in a new summary
    assert "\n" not in line
    assert len(line) < 200


def sick() -> mc.Health:
    system = mm.System()
    for _ in range(4):
        system.addParticle(1)
    for length in (0.1, 0.2):
        system.addConstraint(0, 1, length)
    return mc.Health(system)


def test_health_is_its_verdict():
    assert repr(sick()) == "Health(Not ready to run: 1 error)"


def make_profile():
    x = np.linspace(-np.pi, np.pi, 13)
    return made_up(x, np.sin(x), 0 * x + 0.1)


def test_profiles_are_one_line():
    forces = make_profile()
    assert repr(forces).startswith("MeanForceProfile(dihedral 0-1-2-3, 13 values, -180 to 180 degrees, 400 K, ± 0.1")
    assert re.fullmatch(r"FreeEnergyProfile\(.*, 0 to 2(\.0\d)? kJ/mol, ± 0\.\d+\)", repr(forces.integrate()))


class Tags(HTMLParser):
    """Texts by table row, pictures, and whether tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.pictures = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag == "img":
            self.pictures.append(dict(attributes)["src"])
        elif tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def test_a_force_is_a_table_that_stays_short():
    found = Tags(make_force()._repr_html_())
    assert found.rows[1] == ["distance", "0", "0-1", "0.1 nm"]
    assert ["distance", "…", "5 more"] in found.rows
    assert ["angle", "0", "0-1-2", "1.9 rad", "0.25 rad/ps"] in found.rows
    assert ["centroid distance", "0", "3-4 | 5-6", "0.3 nm"] in found.rows
    assert ["rigid body", "0", "20-21-22"] in found.rows
    assert len(found.rows) == 1 + 10 + 1 + 3


def test_an_expression_is_escaped():
    page = make_custom()._repr_html_()
    assert "r*(1&lt;2)" in page
    assert Tags(page).rows[:2] == [["index", "particles", "r"], ["0", "0", "0.25"]]
    assert ["…", "2 more"] in Tags(page).rows
    assert Tags(make_centroids()._repr_html_()).rows == [["index", "groups"], ["0", "0-1"]]


def test_a_summary_and_a_health_are_tables():
    assert ["iterations", str(step_once().iterations)] in Tags(step_once()._repr_html_()).rows
    page = sick()._repr_html_()
    assert page.startswith("<p><b>Not ready to run: 1 error.</b></p>")
    (row,) = (row for row in Tags(page).rows if "contradictory" in row)
    assert row[0] == "error"
    assert "Remove one of them" in row[-1]


@pytest.mark.parametrize("make", [make_profile, lambda: make_profile().integrate()])
def test_a_profile_is_a_picture(make):
    (source,) = Tags(make()._repr_html_()).pictures
    pixels = image.imread(io.BytesIO(base64.b64decode(source.removeprefix("data:image/png;base64,"))))
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50, "blank"


# ---- progress --------------------------------------------------------------------------------------------------------


def run(total, **options):
    with progress.progress_bar("windows", total, **options) as advance:
        for _ in range(total):
            advance()


def test_a_log_file_gets_lines_with_the_time_that_is_left(capsys, monkeypatch):
    clock = iter(float(t) for t in range(10000))
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    run(40)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert re.fullmatch(r"windows: 4 of 40, \d:\d\d:\d\d, \d:\d\d:\d\d left", lines[0])
    assert re.fullmatch(r"windows: 40 of 40, \d:\d\d:\d\d", lines[-1])


def test_a_slow_run_gets_a_line_a_minute(capsys, monkeypatch):
    clock = iter(100.0 * t for t in range(10000))
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    run(25)
    assert len(capsys.readouterr().err.splitlines()) == 25


def test_nothing_is_shown_if_it_is_not_wanted(capsys):
    run(5, show=False)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(5)
    shown = capsys.readouterr().err
    assert "━" in shown
    assert "5/5" in shown


def test_a_notebook_gets_a_bar_that_is_updated_in_place(monkeypatch, capsys):
    shown, updated = [], []

    class Handle:
        update = staticmethod(updated.append)

    fake = ModuleType("IPython.display")
    fake.HTML = str
    fake.display = lambda what, display_id: shown.append(what) or Handle
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    run(3)
    assert shown == ['<progress value="0" max="3"></progress> windows: 0 of 3']
    assert [text.split('"')[1] for text in updated] == ["1", "2", "3"]
    assert "windows: 3 of 3" in updated[-1]
    assert capsys.readouterr() == ("", "")
