# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The programs in benchmarks/: each part runs once and gives right results. Those in C++ are built here, when they are
needed."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import command

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "benchmarks"))

import bodies  # noqa: E402
import degenerate  # noqa: E402
import drift  # noqa: E402
import goals  # noqa: E402
import interpolation  # noqa: E402


def program(name: str) -> Path:
    """One in C++, built; one process at a time builds."""
    cmake = Path(sys.executable).with_name("cmake")
    with open(BUILD / "benchmarks" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([cmake, "--build", BUILD, "--target", name], check=True, capture_output=True)
    return BUILD / "benchmarks" / name


def applications(*options: object) -> subprocess.CompletedProcess[str]:
    words = [str(program("applications")), *map(str, options)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
def test_every_application_runs_once_and_constrains(tmp_path):
    systems = ("chain:12", "water:4", "polyethylene:6")
    result = command("benchmark", "--quick", "--systems", *systems, "--write-input", tmp_path, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(list(tmp_path.glob("*.system.xml"))) == 2 + 1 + 3
    output = tmp_path / "output.json"
    options = ("--passes=1", "--tolerances=1e-5,1e-10", f"--benchmark_out={output}", "--benchmark_out_format=json")
    result = applications(f"--inputs={tmp_path}", "--chains=20", *options)
    assert result.returncode == 0, result.stderr
    measured = goals._collect(json.loads(output.read_text())["benchmarks"])
    cases, stages, tolerances, algorithms = 7, 4, 2, 4
    assert len(measured) == cases * (stages * tolerances * algorithms + 2)
    for name, one in measured.items():
        stage, *_, tolerance, algorithm = name.split("/")
        if stage != "set-up" and algorithm in ("MatrixInversion", "Reference"):
            assert one.failure is None
            assert one.error <= float(tolerance)


@pytest.mark.long
def test_subdomains_prints_a_row_for_each_system_and_number_of_hops():
    subdomains = program("subdomains")
    result = subprocess.run([subdomains], capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in result.stdout.splitlines()[2:]]
    assert {row[2] for row in rows if row[0] == "mesh"} == {"exact", "1", "2", "3", "4", "5", "6", "7", "8", "16"}
    exact = {row[0]: row[-1] for row in rows if row[2] == "exact"}
    assert len(exact) == 8
    assert set(exact.values()) == {"1/1/1"}  # the velocity stage is linear
    assert subprocess.run([subdomains, "nowhere"], capture_output=True, check=False, timeout=60).returncode == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--inputs=FOLDER"),
        (("--inputs=nowhere",), "no folder 'nowhere'"),
        (("--chains=many",), "a number is expected"),
    ],
)
def test_mistakes_are_told(options, words):
    result = applications(*options)
    assert result.returncode == 2
    assert words in result.stderr


@pytest.mark.long
def test_folder_without_inputs(tmp_path):
    result = applications(f"--inputs={tmp_path}")
    assert result.returncode == 2
    assert "--write-input" in result.stderr


@pytest.mark.parametrize("trial", degenerate.TRIALS, ids=lambda trial: trial.name)
def test_degenerate_system_is_solved_or_refused_by_name(trial):
    result = degenerate._try(trial)
    assert result.is_right, result


@pytest.mark.long
def test_drift_is_measured_for_every_integrator(capsys):
    assert drift.main(["--time", "0", "--length", "3"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "1e-05" in line or "1e-10" in line]
    assert len(lines) == len(drift.RUNS)
    assert all("nan" not in line.lower() for line in lines)


def test_table_of_goals_says_what_is_reached():
    entries = [
        {"name": f"position/a/1e-5/{who}/manual_time", "run_type": "iteration", "real_time": time, "error": 1e-6}
        for who, times in (("built-in", (10, 30, 20)), ("MatrixInversion", (4, 6, 5)))
        for time in times
    ]
    found = goals._collect(entries)
    theirs, ours = found["position/a/1e-5/built-in"], found["position/a/1e-5/MatrixInversion"]
    assert theirs.time_us.median == 20
    rows = [goals.compare("what", theirs, ours, 1.0, "µs", limit) for limit in (5, 4)]
    assert [row.reached for row in rows] == [True, False]
    table = goals.markdown({"date": "", "machine": "", "openmm": "", "repetitions": 3, "notes": ["busy"]}, rows)
    assert "| what | 20 (15-25) µs, error 1e-06 | 5 (4.5-5.5) µs, error 1e-06 | ≤ 5 µs | yes |" in table
    assert table.splitlines()[-1].endswith("| no |")


@pytest.mark.long
def test_costs_of_rigid_bodies_are_measured(tmp_path):
    options = [
        "--parts",
        "sizes",
        "numbers",
        "joints",
        "set-up",
        "--sizes",
        "1",
        "500",
        "--numbers",
        "3",
        "--chains",
        "4",
        "--set-up-sizes",
        "2000",
    ]
    output = tmp_path / "bodies.json"
    bodies.main([*options, "--platforms", "CPU:1", "--rounds", "2", "--output", str(output)])
    measured = json.loads(output.read_text())["results"]
    steps = {line["case"]: line["spread"]["median"] for line in measured if line["quantity"] == "step, ns per atom"}
    assert list(steps) == ["10,000 x 1, CPU:1", "20 x 500, CPU:1", "3 x 10, CPU:1"]
    assert all(time > 0 for time in steps.values())
    chains = [line["case"] for line in measured if line["quantity"] == "joints, ns per body"]
    assert chains == ["4 on ball joints, CPU:1", "4 on hinges, CPU:1"]
    assert [line["quantity"] for line in measured[-2:]] == ["Context, ms", "memory, B per atom"]


@pytest.mark.long
def test_cost_of_a_length_that_follows_a_parameter_is_measured():
    spreads = interpolation.measure("Rattle", 1e-5, rounds=1, steps=3)
    assert len(spreads) == len(interpolation.KINDS)
    assert all(spread.median > 0 for spread in spreads)


def test_bodies_that_are_measured_are_rigid_and_whole():
    shape = bodies.shape_of(300)
    assert len(shape) == 300
    distances = np.linalg.norm(shape[:, None] - shape, axis=-1)[np.triu_indices(300, 1)]
    assert distances.min() > 0.5 * bodies.SPACING
    context = bodies.make_context(*bodies.build(300, 2), "Reference")
    assert context.getIntegrator().getNumDegreesOfFreedom() == 12
    free = bodies.make_context(*bodies.build(300, 2, False), "Reference")
    assert free.getIntegrator().getNumDegreesOfFreedom() == 1800


@pytest.mark.parametrize(("shared", "freedom"), [(0, 18), (1, 12), (2, 8)])
def test_chains_that_are_measured_hold_together(shared, freedom):
    system, positions = bodies.build_chain(3, shared)
    assert len(positions) == 3 * bodies.LINK - 2 * shared
    context = bodies.make_context(system, positions, "Reference")
    context.getIntegrator().step(20)
    assert context.getIntegrator().getNumDegreesOfFreedom() == freedom
    held = bodies.mc.ConstraintForce.cast(system.getForce(0))
    after = context.getState(positions=True).getPositions(asNumpy=True)._value
    for i in range(held.getNumRigidBodies()):
        particles, places = held.getRigidBodyParameters(i)
        shape = np.array([list(place) for place in places._value])
        expected = np.linalg.norm(shape[:, None] - shape, axis=-1)
        for x in (positions[list(particles)], after[list(particles)]):
            assert np.allclose(np.linalg.norm(x[:, None] - x, axis=-1), expected, rtol=0, atol=1e-6)
