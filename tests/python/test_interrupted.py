# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What reporters leave behind when a run is killed, and what a run that goes on makes of it."""

import bz2
import gzip
import signal

import interrupted
import numpy as np
import openmm as mm
import pytest
from command import forked
from openmm import app

import openmmconstraints as mc
from openmmconstraints.freeenergy import Distance, mean_force_profile, read_mean_force, run_windows
from openmmconstraints.reporters.rows import latest


def run(folder, last, killed_at=0):
    folder.mkdir(exist_ok=True)
    return forked(interrupted.main, folder, last, killed_at).returncode


def sampled(path):
    """Rows without the running averages, which start anew."""
    return [line.split(",")[:5] for line in path.read_text().splitlines()]


def test_a_run_that_was_killed_and_went_on_leaves_the_files_of_one_that_was_not(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(whole, 400) == 0
    for killed_at in (170, 270):
        assert run(killed, 400, killed_at) == -signal.SIGKILL
        assert len(sampled(killed / "force.csv")) == 1 + killed_at // 10  # up to where it was killed
        assert read_mean_force(killed / "force.csv", 300).samples == killed_at // 10
        with (killed / "force.csv").open("a") as file:
            file.write("280,0.5")  # half a row
        assert read_mean_force(killed / "force.csv", 300).samples == killed_at // 10
    assert run(killed, 400) == 0
    assert sampled(killed / "force.csv") == sampled(whole / "force.csv")
    assert len(sampled(whole / "force.csv")) == 41
    assert read_mean_force(killed / "force.csv", 300).mean == read_mean_force(whole / "force.csv", 300).mean
    assert (killed / "log.csv").read_text() == (whole / "log.csv").read_text()
    with gzip.open(killed / "log.csv.gz", "rt") as file:
        assert file.read() == (whole / "log.csv").read_text()
    assert sorted(path.name for path in killed.iterdir()) == sorted(path.name for path in whole.iterdir())


def test_rows_written_twice_count_once():
    """Also where an earlier version appended them: the later part of a run voids what the earlier one did beyond."""
    steps = [10, 20, 30, 40, 50, 30, 40, 20, 30]
    rows = latest((step, number) for number, step in enumerate(steps))
    assert rows == [(10, 0), (20, 7), (30, 8)]


HEADER = "step,time (ps),lambda_0,Z,G_0,dA/dxi_0,error_0"
ROWS = [f"{step},{step / 500},{step}.5,0.25,0,1,nan" for step in range(10, 60, 10)]


def read(tmp_path, *lines, end="\n"):
    path = tmp_path / "force.csv"
    path.write_text("\n".join(lines) + end)
    return read_mean_force(path, 300)


def test_reading_takes_the_later_of_two_rows(tmp_path):
    twice = [HEADER, *ROWS, *(row.replace(".5,", ".75,") for row in ROWS[2:4])]
    result = read(tmp_path, *twice)
    assert result.samples == 4
    assert result.mean == pytest.approx(np.mean([10.5, 20.5, 30.75, 40.75]))
    assert read(tmp_path, HEADER, *ROWS[:3], ROWS[3][:-2], end="").samples == 3  # half a row, with all of its columns


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "was not written by a BlueMoonReporter: it is empty"),
        (["x,y", "1,2"], "its first line is 'x,y'"),
        ([HEADER], "has 0 samples, and skip=0 leaves none"),
        ([HEADER, *ROWS, HEADER, *ROWS], "line 7 is the header again. These are two files"),
        ([HEADER, ROWS[0], "20,0." + ROWS[2], ROWS[3]], "line 3 is no row of this file: '20,0.30,0.06"),
        ([HEADER, ROWS[0], "twenty" + ROWS[1][2:]], "line 3 is no row"),
    ],
)
def test_what_is_no_single_file_is_told(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, *lines, end="\n" if lines else "")


def simulate(steps=0):
    system = mm.System()
    for _ in range(2):
        system.addParticle(1)
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1)
    system.addForce(force)
    simulation = app.Simulation(
        app.Topology(), system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference")
    )
    simulation.context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    simulation.currentStep = steps
    return simulation


def blue_moon(path, **options):
    return mc.BlueMoonReporter(path, 10, 0, 300, **options)


def state_reporter(path, **options):
    return mc.ConstraintStateReporter(path, 10, step=True, iterations=True, **options)


@pytest.mark.parametrize("make", [blue_moon, state_reporter])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.csv.bz2"])
def test_only_a_file_of_this_run_is_continued(tmp_path, make, name):
    path = tmp_path / name
    first = simulate()
    first.reporters.append(make(path, append=True))  # nothing there yet
    first.step(50)
    first.reporters.clear()
    before = path.read_bytes()
    fresh = simulate()
    fresh.reporters.append(make(path, append=True))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"begins at step 10, and this run is at step 0: no row would be kept"):
            fresh.step(10)
    other = simulate(50)
    other.reporters.append(mc.ConstraintStateReporter(path, 10, step=True, append=True))
    with pytest.raises(ValueError, match=r"has the columns .*, not .*\. Write to another file"):
        other.step(10)
    assert path.read_bytes() == before
    resumed = simulate(20)
    resumed.reporters.append(make(path, append=True))
    resumed.step(20)
    resumed.reporters.clear()
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt") as file:
        steps = [line.split(",")[0] for line in file][1:]
    assert steps == ["10", "20", "30", "40"]


def test_a_continued_log_has_steps(tmp_path):
    with pytest.raises(ValueError, match="append=True needs step=True"):
        mc.ConstraintStateReporter(tmp_path / "log.csv", 10, time=True, append=True)
    for make in (blue_moon, state_reporter):
        with pytest.raises(FileNotFoundError):
            make(tmp_path / "nowhere" / "log.csv", append=True)


def test_a_folder_holds_the_windows_of_one_run(tmp_path):
    (tmp_path / "window-007.csv").write_text("of another run")
    system, integrator = mm.System(), mc.RattleLangevinIntegrator(300, 1, 0.001)
    for _ in range(2):
        system.addParticle(1)
    x = [[0, 0, 0], [0.1, 0, 0]]
    for windows in (
        lambda: run_windows(system, [x, x], Distance(0, 1), [0.1, 0.11], integrator, 10, folder=tmp_path),
        lambda: mean_force_profile(system, x, Distance(0, 1), [0.1, 0.11], integrator, 10, folder=tmp_path),
    ):
        with pytest.raises(ValueError, match=r"holds windows of another run \(window-007.csv is one of 1\)"):
            windows()
    assert [path.name for path in tmp_path.iterdir()] == ["window-007.csv"]
