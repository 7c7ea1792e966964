# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints demo`, with a handful of steps, and its parts."""

from __future__ import annotations

import csv
import json

import numpy as np
import openmm as mm
import pytest
from command import assert_one_sentence, command
from matplotlib import image

from openmmconstraints.inspection.bonds import BondMeter


@pytest.mark.long
def test_demo_writes_what_it_promises(tmp_path):
    result = command("demo", "--steps", "5", "--constraints", "HBonds", "--platform", "CPU", cwd=tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    assert result.stdout.index("estimated total time") < result.stdout.index("Largest")
    folder = tmp_path / "demo-output"
    assert str(folder) in result.stdout

    runs = json.loads((folder / "results.json").read_text())["runs"]
    assert len(runs) == 5
    for run in runs:
        assert run["failure"] is None
        assert run["steps"] == 5
        assert 0 < run["largest_bond_error"] < 2e-5
        assert 200 < run["mean_temperature_K"] < 400
        assert run["ns_per_day"] > 0
    assert [run["summary"] is None for run in runs] == [True, False, False, False, False]

    samples = list(csv.DictReader((folder / "samples.csv").open()))
    assert [int(row["step"]) for row in samples] == 5 * [0, 4, 5]
    start = [float(row["total_kJ_per_mol"]) for row in samples if row["step"] == "0"]
    kinetic = [float(row["kinetic_kJ_per_mol"]) for row in samples if row["step"] == "0"]
    assert np.ptp(start) < 1e-3 * kinetic[0]  # all runs start from the same state, leapfrog or not

    pixels = image.imread(folder / "demo.png")
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 500
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50


def test_demo_refuses_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    result = command("demo", "--steps", "1", "--output", tmp_path / "file", cwd=tmp_path)
    assert_one_sentence(result, "cannot write to")


def two_particles(distance: float, vectors: list[mm.Vec3], periodic: bool) -> mm.State:
    system = mm.System()
    system.addParticle(1.0)
    system.addParticle(1.0)
    system.setDefaultPeriodicBoxVectors(*vectors)
    if periodic:
        force = mm.HarmonicBondForce()
        force.setUsesPeriodicBoundaryConditions(True)
        system.addForce(force)
    system.addConstraint(0, 1, 0.1)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    direction = np.array([0.6, 0.0, 0.8])
    shift = np.zeros(3) if not periodic else np.array(vectors[2]) - 2 * np.array(vectors[1])
    context.setPositions([np.zeros(3), distance * direction + shift])
    return BondMeter(system).largest_error(context.getState(positions=True))


CUBE = [mm.Vec3(2, 0, 0), mm.Vec3(0, 2, 0), mm.Vec3(0, 0, 2)]
SKEWED = [mm.Vec3(2, 0, 0), mm.Vec3(0.6, 2, 0), mm.Vec3(-0.5, 0.7, 2)]


@pytest.mark.parametrize(("vectors", "periodic"), [(CUBE, False), (CUBE, True), (SKEWED, True)])
@pytest.mark.parametrize("error", [1e-3, -1e-3])
def test_bond_meter_sees_stretched_and_compressed_bonds(vectors, periodic, error):
    assert two_particles(0.1, vectors, periodic) == pytest.approx(0, abs=1e-7)
    assert two_particles(0.1 * (1 + error), vectors, periodic) == pytest.approx(1e-3, rel=1e-3)
