# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""benchmarks/every_integrator.py, on systems of a few atoms."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import openmm as mm
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import every_integrator as benchmark

from openmmconstraints.benchmark import force_fields


@pytest.mark.parametrize("integrator", benchmark.INTEGRATORS)
def test_built_in_and_ours_are_compared(integrator, tmp_path, capsys):
    output = tmp_path / "output.json"
    words = ["--systems", "polyethylene:5", "--sets", "AllBonds", "--integrators", integrator, "--threads", "1"]
    words += ["--rounds", "3", "--steps", "4", "--heating", "5", "--json", str(output)]
    assert benchmark.main(words) == 0
    assert "polyethylene:5 AllBonds: 14 constraints, 15 particles" in capsys.readouterr().out
    described = json.loads(output.read_text())
    assert {"date", "machine", "openmm", "openmm_constraints"} <= described.keys()
    (result,) = described["results"]
    assert result["failures"] == {}
    assert (result["integrator"], result["threads"]) == (integrator, "1")
    for who in (benchmark.BUILT_IN, benchmark.OURS):
        assert result["whole_ms"][who]["median"] > 0
        assert result["errors"][who] <= 2e-5
    assert result["iterations"] >= 1
    low, median, high = (result["whole_ratio"][key] for key in ("low", "median", "high"))
    assert 0 < low <= median <= high


def test_time_of_constraints_is_what_a_step_takes_longer_with_them():
    result = benchmark.Result("a", "AllBonds", 2, 1, "LangevinMiddle", "1", 1e-5, goal=0.5)
    bare = {benchmark.BUILT_IN: (7e-6, 9e-6, 8e-6), benchmark.OURS: (4e-6, 5e-6, 4e-6), benchmark.FREE: (3e-6,) * 3}
    whole = {benchmark.BUILT_IN: (1e-3, 2e-3, 1e-3), benchmark.OURS: (9e-4, 1e-3, 1e-3)}
    times = {(who, "bare"): list(each) for who, each in bare.items()}
    times |= {(who, "whole"): list(each) for who, each in whole.items()}
    benchmark.summarize(result, times)
    assert result.constraints_us[benchmark.BUILT_IN].median == pytest.approx(5)
    assert result.constraints_us[benchmark.OURS].median == pytest.approx(1)
    assert result.constraints_ratio.median == pytest.approx(0.25)  # of 1/4, 2/6 and 1/5
    assert result.reached
    assert result.whole_ratio.median == pytest.approx(0.9)
    times[benchmark.OURS, "bare"][0] = 2e-6  # less than without constraints: a round like the others
    benchmark.summarize(result, times)
    assert result.constraints_ratio.median == pytest.approx(0.2)  # of -1/4, 2/6 and 1/5
    times[benchmark.BUILT_IN, "bare"][0] = 3e-6  # no longer than without constraints
    noisy = benchmark.Result("a", "AllBonds", 2, 1, "BAOAB", "1", 1e-5, goal=0.5)
    benchmark.summarize(noisy, times)
    assert noisy.constraints_ratio is None
    assert noisy.reached is None


def test_what_the_built_in_cannot_solve_is_told():
    result = benchmark.Result("a", "AllBonds", 2, 1, "BAOAB", "1", 1e-5, failures={benchmark.BUILT_IN: "NaN"})
    with benchmark.failing(result, benchmark.OURS):
        raise mm.OpenMMException("Particle coordinate is NaN.  For more information, see a page")
    assert result.failures == {benchmark.BUILT_IN: "NaN", benchmark.OURS: "NaN"}
    bare = 1e-6 + 2e-6 * benchmark.SOLVES["BAOAB"]
    times = {(benchmark.OURS, "bare"): [bare], (benchmark.FREE, "bare"): [1e-6], (benchmark.OURS, "whole"): [1e-3]}
    benchmark.summarize(result, times)
    assert result.constraints_us[benchmark.OURS].median == pytest.approx(2)
    assert (result.constraints_ratio, result.reached) == (None, None)
    (row,) = zip(*(column.cells for column in benchmark.table_of([result]).columns), strict=True)
    assert row == ("BAOAB", "1", "failed", "2", "-", "-", "-", "-", "-")


@pytest.mark.parametrize("solves", [1, 3])
def test_splitting_has_two_position_and_five_velocity_solves(solves):
    integrator = benchmark.baoab(solves)
    kinds = [integrator.getComputationStep(n)[0] for n in range(integrator.getNumComputations())]
    assert kinds.count(mm.CustomIntegrator.ConstrainPositions) == 2 * solves
    assert kinds.count(mm.CustomIntegrator.ConstrainVelocities) == 5 * solves


def test_solves_that_are_repeated_begin_at_the_same_start():
    integrator = benchmark.baoab(3)
    steps = [integrator.getComputationStep(n) for n in range(integrator.getNumComputations())]
    solve = [mm.CustomIntegrator.ConstrainPositions, "", ""]
    kept, restored = ([mm.CustomIntegrator.ComputePerDof, *names] for names in (("start", "x"), ("x", "start")))
    first = steps.index(solve)
    assert steps[first - 1 : first + 5] == [kept, solve, restored, solve, restored, solve]


def test_hybrid_holds_one_hydrogen_at_two_atoms_side_by_side():
    assert benchmark.hybrid_molecule().create("HBonds").getNumConstraints() == 8
    model = benchmark.in_water(benchmark.hybrid_molecule(), 27)
    system, waters = model.create("HBonds"), (len(model.elements) - model.size) // 3
    assert system.getNumConstraints() == 8 + 3 * waters
    o, n, h = 11, 12, 13
    lengths = {tuple(sorted(pair)): d._value for *pair, d in map(system.getConstraintParameters, range(8))}
    assert lengths[o, h] == pytest.approx(0.0973)
    assert lengths[n, h] == pytest.approx(0.101, abs=2e-4)
    first, second = (model.positions[i] - model.positions[h] for i in (o, n))
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert cosine > 0.99
    assert not any({o, n} <= {*angle} for angle in model.angles())
    assert system.getParticleMass(n)._value == pytest.approx(14.007)


def test_octatriyne_is_nearly_straight_and_its_angles_are_unknown_to_ccma():
    model = benchmark.in_water(benchmark.octatriyne_molecule(), 27)
    system, waters = model.create("AllBonds"), (len(model.elements) - model.size) // 3
    assert system.getNumConstraints() == 13 + 3 * waters
    for i in range(6):
        assert np.degrees(model._angle(i, i + 1, i + 2)) == pytest.approx(178, abs=0.1)
    assert not any(isinstance(force, mm.HarmonicAngleForce) for force in system.getForces())
    assert any(isinstance(force, mm.CustomAngleForce) for force in system.getForces())


def test_what_cannot_be_measured_is_named(capsys, monkeypatch):
    monkeypatch.setattr(force_fields, "find_spec", lambda name: None)
    assert benchmark.main(["--systems", "dhfr", "nowhere"]) == 1
    output = capsys.readouterr().out
    assert "not measured: dhfr: " in output
    assert "not measured: nowhere: " in output
