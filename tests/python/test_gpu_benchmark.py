# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""benchmarks/gpu.py, on the CPU platform."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import gpu
import gpu_ensembles
from gpu_inputs import write_waters

from openmmconstraints.benchmark import force_fields


@pytest.mark.long
def test_figures_of_a_setting(tmp_path):
    inputs, output = tmp_path / "inputs", tmp_path / "gpu.json"
    words = ["--inputs", str(inputs), "--systems", "villin", "--sets", "HBonds", "--platform", "CPU"]
    assert gpu.main([*words, "--prepare"]) == 0
    written = {path: path.stat().st_mtime_ns for path in inputs.iterdir()}
    assert [path.name for path in written] == ["villin-HBonds.npz"]
    words += ["--precision", "mixed", "--integrators", "Verlet", "Shake", "--rounds", "2", "--seconds", "0.01"]
    assert gpu.main([*words, "--output", str(output)]) == 0
    assert {path: path.stat().st_mtime_ns for path in inputs.iterdir()} == written  # used, not made again
    theirs, ours = json.loads(output.read_text())["results"]
    assert (theirs["integrator"], ours["integrator"]) == ("Verlet", "Shake")
    for result in (theirs, ours):
        assert result["failure"] is None
        assert len(result["ms"]) == 2
        seconds_a_day = 86400
        steps_a_day = seconds_a_day / (1e-3 * result["step_ms"]["median"])
        assert result["ns_per_day"] == pytest.approx(4e-6 * steps_a_day)  # 4 fs
        assert result["bond_error"] < 1e-4
    assert theirs["ratio"] is None
    ratios = sorted(a / b for a, b in zip(ours["ms"], theirs["ms"], strict=True))
    assert ours["ratio"]["median"] == pytest.approx(sum(ratios) / 2)


def test_what_cannot_be_measured_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(force_fields, "find_spec", lambda name: None)
    assert gpu.main(["--inputs", str(tmp_path), "--systems", "dhfr", "--platform", "CPU"]) == 1
    assert "not measured: dhfr: " in capsys.readouterr().out


@pytest.mark.long
def test_hydrogens_are_heavy_and_the_mass_is_kept(tmp_path):
    gpu.prepare("villin", ["HBonds"], tmp_path)
    system, start = gpu.load("villin", "HBonds", tmp_path)
    light = force_fields.villin().create("HBonds")
    masses, before = (
        [each.getParticleMass(i)._value for i in range(each.getNumParticles())] for each in (system, light)
    )
    assert sum(masses) == pytest.approx(sum(before))
    assert 3.0 in masses
    assert start.positions.shape == start.velocities.shape == (len(masses), 3)


def test_steps_without_forces(tmp_path):
    words = ["--inputs", str(write_waters(tmp_path / "inputs")), "--systems", "dhfr", "--sets", "HBonds"]
    words += ["--precision", "mixed", "--platform", "Reference", "--integrators", "Verlet", "Rattle", "ReplacedVerlet"]
    output = tmp_path / "steps.json"
    words += ["--rounds", "2", "--steps", "7", "--output", str(output)]
    assert gpu.main([*words, "--without-forces"]) == 0
    written = json.loads(output.read_text())
    assert written["without_forces"]
    assert [result["steps"] for result in written["results"]] == [7, 7, 7]
    assert all(result["step_ms"] and result["ns_per_day"] is None for result in written["results"])
    assert all(result["ratio"]["median"] > 0 for result in written["results"][1:])
    assert written["results"][2]["solver"]
    assert gpu.main(words) == 0
    assert all(result["ns_per_day"] > 0 for result in json.loads(output.read_text())["results"])


def test_drift_and_temperature(tmp_path):
    output = tmp_path / "ensembles.json"
    words = ["--inputs", str(write_waters(tmp_path / "inputs")), "--platform", "Reference", "--sets", "HBonds"]
    assert gpu_ensembles.main([*words, "--picoseconds", "2", "--output", str(output)]) == 0
    results = {result["integrator"]: result for result in json.loads(output.read_text())["results"]}
    assert list(results) == ["Rattle", "Verlet", "RattleLangevin", "LangevinMiddle"]
    assert abs(results["Rattle"]["kt_per_ns_dof"]) < 1
    assert 0 < results["RattleLangevin"]["temperature"] < 600
    assert results["RattleLangevin"]["text"].endswith(" K")


def test_runs_that_are_left_out_are_no_success(tmp_path, capsys):
    words = ["--inputs", str(write_waters(tmp_path / "inputs")), "--platform", "Reference", "--sets", "HBonds"]
    assert gpu_ensembles.main([*words, "--seconds", "-1"]) == 1
    assert capsys.readouterr().out.count("failed: the -1 s were over") == 4
