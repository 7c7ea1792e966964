# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints benchmark`, with tiny systems: what it writes, not how long it takes."""

from __future__ import annotations

import json
import sys

import numpy as np
import openmm as mm
import pytest
from command import assert_one_sentence, command
from matplotlib import image

import openmmconstraints as mc
from openmmconstraints.benchmark import force_fields, generated
from openmmconstraints.benchmark.systems import SYSTEMS, choose
from openmmconstraints.benchmark.timing import Spread, ignore_forces, in_turn, without_forces
from openmmconstraints.inspection.errors import UserError

TINY = ("--rounds", 3, "--seconds", 0.001, "--quick")


@pytest.mark.long
def test_files_and_table(tmp_path):
    systems = ("chain:12", "co2:2", "water:2")
    result = command("benchmark", *TINY, "--systems", *systems, "--tolerances", 1e-5, 1e-9, cwd=tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    folder = tmp_path / "benchmark-output"
    assert str(folder) in result.stdout
    assert "co2:2 Rigid: 6 constraints, 6 particles" in result.stdout

    written = json.loads((folder / "benchmark.json").read_text())
    assert written["settings"]["platform"] == "CPU"
    assert written["settings"]["properties"] == {"Threads": "1"}
    records = written["records"]
    cases = ["chain:12 AllBonds", "chain:12 AllAngles", "co2:2 Rigid", "water:2 Rigid"]
    assert [f"{r['system']} {r['set']}" for r in records[::6]] == cases
    assert [r["solver"] for r in records[:3]] == [None, "Iterative", "MatrixInversion"]
    built_in_works = {(r["system"], r["set"], r["tolerance"]) for r in records if not (r["solver"] or r["failure"])}
    assert ("water:2", "Rigid", 1e-5) in built_in_works
    for record in records:
        if record["system"] == "co2:2" and record["solver"] is None:
            assert record["failure"] == "NaN"  # OpenMM's own algorithm cannot solve linear molecules
            assert record["error"] == "NaN"
            assert record["step_ms"] is None
        elif record["solver"] == "MatrixInversion":
            assert record["failure"] is None
            assert 0 <= record["error"] <= 1.01 * record["tolerance"]
            assert (record["iterations"] > 0) == (record["system"] != "co2:2")  # a rigid body, in closed form
            assert record["setup_s"] > 0
            for name in ("step_ms", "bare_ms", "motion_ms"):
                assert 0 < record[name]["low"] <= record[name]["median"] <= record[name]["high"]
            case = (record["system"], record["set"], record["tolerance"])
            assert (record["step_ratio"] is not None) == (case in built_in_works)

    page = (folder / "benchmark.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert all(case in page for case in cases)
    for name in ("ratios.png", "errors.png"):
        pixels = image.imread(folder / name)
        assert min(pixels.shape[:2]) > 300
        assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50, f"{name} is blank"


@pytest.mark.long
def test_built_in_is_left_out_where_its_set_up_takes_too_long(tmp_path):
    options = ("--systems", "chain:502", "--constraints", "AllBonds", "--setup-limit", 1e-3)
    result = command("benchmark", *TINY, *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "left out: its set-up takes more than 0.001 s" in result.stdout
    built_in, *ours = json.loads((tmp_path / "benchmark-output" / "benchmark.json").read_text())["records"]
    assert built_in["failure"].startswith("left out")
    assert [record["failure"] for record in ours] == [None, None]
    assert [record["constraints_ratio"] for record in ours] == [None, None]


def test_list_names_every_system_and_its_sets():
    result = command("benchmark", "--list")
    assert result.returncode == 0
    for entry in SYSTEMS.values():
        assert entry.name in result.stdout
        assert ", ".join(entry.sets) in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--systems", "vilin"), ("no system 'vilin'", "villin", "chain")),
        (("--systems", "chain:one"), ("'one' is not a size", "chain:50")),
        (("--systems", "chain:1"), ("'1' is not a size",)),
        (("--systems", "villin:5"), ("has no size",)),
        (("--systems", "water", "--constraints", "HAngles"), ("HAngles", "water:30 has Rigid")),
        (("--systems", "water", "--rounds", 2), ("--rounds 2", "3 or more")),
        (("--systems", "water", "--tolerances", 1e-30), ("--tolerance 1e-30",)),
        (("--systems", "water", "--platform", "GPU"), ("platform 'GPU'",)),
        (("--systems", "water", "--platform", "Reference", "--threads", 2), ("--threads", "Reference")),
        (("--systems", "water", "--precision", "mixed"), ("--precision", "CPU")),
    ],
)
def test_mistakes_are_told_in_one_sentence(options, words, tmp_path):
    assert_one_sentence(command("benchmark", "--quick", *options, cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = command("benchmark", "--quick", "--output", tmp_path / "file", cwd=tmp_path)
    assert_one_sentence(result, "cannot write to")


def test_systems_of_openmmtools_need_it(monkeypatch):
    monkeypatch.setattr(force_fields, "find_spec", lambda name: None)
    for name in ("dhfr", "dhfr-protein", "t4-lysozyme", "dna", "src"):
        with pytest.raises(UserError, match="pip install openmmtools"):
            choose([name], quick=False)[0].model.create("HBonds")
    assert "openmmtools" not in sys.modules  # its files are read, it is not imported


# ---- systems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "constraints", "number"),
    [
        (generated.chain(50), "AllBonds", 49),
        (generated.chain(50), "AllAngles", 49 + 48),
        (generated.polyethylene(500), "HBonds", 1000),
        (generated.polyethylene(500), "AllBonds", 1499),
        (generated.polyethylene(500), "HAngles", 1999),
        (generated.graphene(5), "AllBonds", 3 * 25 - 15 + 1),
        (generated.nanotube(3), "AllBonds", 20 * (3 + 2 * 2)),
        (generated.mesh(4), "AllBonds", 2 * 4 * 3),
        (generated.carbon_dioxide(3), "Rigid", 9),
        (generated.needles(3), "Rigid", 30),
        (generated.benzene(2), "AllBonds", 24),
        (generated.water(4), "Rigid", 12),
    ],
)
def test_generated_systems_hold_what_their_geometry_has(model, constraints, number):
    system = model.create(constraints)
    assert system.getNumConstraints() == number
    assert system.getNumParticles() == len(model.positions)
    for k in range(number):
        i, j, length = system.getConstraintParameters(k)
        assert length._value == pytest.approx(np.linalg.norm(model.positions[i] - model.positions[j]), rel=1e-12)
    assert model.create(None).getNumConstraints() == 0


@pytest.mark.parametrize("model", [generated.graphene(6), generated.nanotube(6)])
def test_carbons_have_three_neighbours_of_one_length(model):
    lengths = [np.linalg.norm(model.positions[i] - model.positions[j]) for i, j in model.bonds]
    assert np.ptp(lengths) < 0.02 * generated.CARBON_BOND  # chords of the tube are a little shorter
    neighbours = np.bincount(np.array(model.bonds).ravel())
    assert set(neighbours) <= {1, 2, 3}
    x = model.positions
    closest = min(np.linalg.norm(np.delete(x, i, axis=0) - x[i], axis=1).min() for i in range(len(x)))
    assert closest == pytest.approx(min(lengths))


# ---- timing ----------------------------------------------------------------------------------------------------------


def test_everyone_is_first_in_turn():
    assert [in_turn("abc", turn) for turn in range(4)] == [list("abc"), list("bca"), list("cab"), list("abc")]
    assert in_turn([], 1) == []


def test_spread_is_median_and_quartiles():
    assert Spread.of([5.0, 1.0, 2.0, 3.0, 4.0]) == Spread(3.0, 2.0, 4.0)
    assert Spread.of([]) is None


@pytest.mark.parametrize("ours", [True, False])
def test_without_forces_leaves_constraints_and_angles_that_do_not_act(ours):
    system = generated.chain(3).create("AllBonds")
    if ours:
        mc.moveConstraints(system)
    bare = without_forces(system)
    assert bare.getNumConstraints() == system.getNumConstraints()
    kept = {type(force) for force in bare.getForces()}
    assert mm.HarmonicAngleForce in kept
    assert not kept & {mm.NonbondedForce, mm.HarmonicBondForce}
    integrator = ignore_forces(mc.ShakeIntegrator(0.002) if ours else mm.VerletIntegrator(0.002))
    context = mm.Context(bare, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.153, 0, 0], [0.306, 0, 0]])  # an angle far from its minimum
    integrator.step(10)
    places = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert places == pytest.approx(np.array([[0, 0, 0], [0.153, 0, 0], [0.306, 0, 0]]), abs=1e-12)
