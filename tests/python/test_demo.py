# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints demo`, with a handful of steps, and its parts."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import openmm as mm
import pytest
from command import assert_one_sentence, command
from matplotlib import image

from openmmconstraints.benchmark.timing import Spread
from openmmconstraints.demo import butane, words
from openmmconstraints.demo.butane import MeanForces, exact_mean_force, measure_mean_force
from openmmconstraints.demo.comparison import BUILT_IN, CANDIDATES, OURS, Outcome
from openmmconstraints.demo.cost import Cost, measure_cost
from openmmconstraints.demo.files import write_results
from openmmconstraints.demo.plan import EQUILIBRATION_STEPS, STEPS, make_plan
from openmmconstraints.demo.plot import draw
from openmmconstraints.demo.results import Results
from openmmconstraints.demo.rigid import run_rigid
from openmmconstraints.demo.set_up import SetUp, measure_set_up
from openmmconstraints.demo.table import sections, write_markdown
from openmmconstraints.freeenergy import Dihedral, MeanForce, MeanForceProfile, Window
from openmmconstraints.inspection.bonds import BondMeter

SHAKE, RATTLE = OURS


@pytest.mark.long
def test_demo_writes_what_it_promises(tmp_path):
    result = command("demo", "--steps", "5", "--constraints", "HBonds", "--platform", "CPU", cwd=tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    places = [result.stdout.index(f"[{part}/5]") for part in range(1, 6)]
    assert places == sorted(places)
    assert result.stdout.index("estimated total time") < places[0]
    assert places[-1] < result.stdout.index("RATTLE ┃") < result.stdout.index("In short (")
    folder = tmp_path / "demo-output"
    assert str(folder) in result.stdout

    written = json.loads((folder / "results.json").read_text())
    runs = written["runs"]
    assert [run["integrator"] for run in runs] == ["Verlet", "Shake", "Rattle"]
    for run in runs:
        assert run["failure"] is None
        assert run["steps"] == 5
        assert 0 < run["largest_bond_error"] < 2e-5
        assert 200 < run["mean_temperature_K"] < 400
        assert run["ns_per_day"] > 0
    assert [run["summary"] is None for run in runs] == [True, False, False]
    assert len(written["cost"]) == 27
    assert [run["failed_at"] for run in written["rigid"]] == 2 * [1, None, None]
    difference = np.subtract(written["mean_force"]["mean_kJ_per_mol_rad"], written["mean_force"]["exact"])
    assert np.abs(difference / written["mean_force"]["standard_error"]).max() < 6

    samples = list(csv.DictReader((folder / "samples.csv").open()))
    assert [int(row["step"]) for row in samples] == 3 * [0, 4, 5]
    start = [float(row["total_kJ_per_mol"]) for row in samples if row["step"] == "0"]
    kinetic = [float(row["kinetic_kJ_per_mol"]) for row in samples if row["step"] == "0"]
    assert np.ptp(start) < 1e-3 * kinetic[0]  # all runs start from the same state, leapfrog or not

    pixels = image.imread(folder / "demo.png")
    assert pixels.shape[:2] == (1080, 1920)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50
    assert "| NaN at step 1 |" in (folder / "table.md").read_text()


def test_demo_refuses_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    result = command("demo", "--steps", "1", "--output", tmp_path / "file", cwd=tmp_path)
    assert_one_sentence(result, "cannot write to")


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_rigid_molecules_run_where_openmm_gives_nan():
    taken = []
    outcomes = run_rigid(taken.append, steps=50)
    assert sum(taken) == 2 * 50
    assert [outcome.candidate for outcome in outcomes] == 2 * list(CANDIDATES)
    for outcome in outcomes:
        if outcome.candidate == BUILT_IN:
            assert outcome.is_nan
            assert outcome.failed_at == 1
            assert words.of_run(outcome) == "NaN at step 1"
        else:
            assert outcome.failure is None
            assert outcome.step == list(range(0, 51, 2))
            assert outcome.largest_error < 1e-10
            assert outcome.time_ratio(outcome).median == 1
            total = outcome.energies.total
            assert np.abs(total - total[0]).max() < 0.01 * outcome.energies.kinetic[0]


def test_cost_is_measured_in_turns_at_every_tolerance():
    done = []
    cores = os.sched_getaffinity(0)
    costs = measure_cost(done.append, "polyethylene:5", tolerances=(1e-4, 1e-8), passes=2, seconds=1e-3)
    assert sum(done) == 2 * 2 * 2
    assert os.sched_getaffinity(0) == cores
    assert {cost.constraints for cost in costs} == {14}
    for cost in costs:
        assert cost.microseconds.low <= cost.microseconds.median <= cost.microseconds.high
        if cost.candidate == BUILT_IN:
            assert cost.ratio is None
    assert {(cost.candidate, cost.tolerance) for cost in costs} == {(c, t) for c in CANDIDATES for t in (1e-4, 1e-8)}


def test_set_up_is_measured_of_all():
    done = []
    found = measure_set_up(done.append, lengths=(5, 10))
    assert len(done) == 2
    assert [entry.constraints for entry in found] == [19, 39]
    for entry in found:
        assert list(entry.seconds) == list(CANDIDATES)
        assert min(entry.seconds.values()) > 0


def test_mean_force_agrees_with_the_exact_one():
    done = []
    found = measure_mean_force(done.append, windows=5, steps=2000)
    assert len(done) == 5
    deviation = np.abs(found.profile.mean_force - found.exact) / found.profile.error
    assert deviation.max() < 5
    assert found.within == np.sum(deviation <= 2)


def test_exact_mean_force_is_the_derivative_of_the_torsion_energy():
    system = butane.butane()
    system.getForce(0).setForceGroup(1)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))

    def energy(dihedral: float) -> float:
        end = [butane.BOND, 0.14 * np.cos(dihedral), 0.14 * np.sin(dihedral)]
        context.setPositions([[0, 0.14, 0], [0, 0, 0], [butane.BOND, 0, 0], end])
        return context.getState(energy=True, groups={0}).getPotentialEnergy()._value

    for dihedral in (-2.5, -1.0, 0.3, 2.0):
        difference = (energy(dihedral + 1e-4) - energy(dihedral - 1e-4)) / 2e-4
        assert exact_mean_force(np.array(dihedral)) == pytest.approx(difference, rel=1e-5)


# ---- words, table, picture -------------------------------------------------------------------------------------------


def run_of(system: str, candidate, factor: float = 1.0, failed: bool = False) -> Outcome:
    """40 steps with a known time of a step; or NaN in the first."""
    outcome = Outcome(system, candidate)
    if failed:
        outcome.failure, outcome.failed_at = "Particle coordinate is NaN.", 1
        return outcome
    for step in range(0, 41, 2):
        outcome.step.append(step)
        outcome.energies.add(0.002 * step, -1000.0 + 3 * np.cos(step), 800.0)
        outcome.bond_error.append(3e-6 * (1 + np.sin(step) ** 2) * factor)
        outcome.iterations.append(None)
    outcome.step_seconds = [0.01 * factor] * 20
    return outcome


def results_with(factor: float, ours_fail: bool = False) -> Results:
    """Of a demonstration in which everything of ours takes `factor` times as long as OpenMM's."""
    results = Results({}, 1e-5)
    factors = {BUILT_IN: 1.0, SHAKE: factor, RATTLE: factor}
    results.outcomes = [run_of(s, c, factors[c]) for s in ("HBonds", "AllBonds") for c in CANDIDATES]
    results.degrees_of_freedom = {"HBonds": 100, "AllBonds": 80}
    for candidate, f in factors.items():
        for tolerance in (1e-4, 1e-8, 1e-12):
            time, ratio = 20 * f - np.log(tolerance), None if candidate == BUILT_IN else Spread(f, 0.9 * f, 1.1 * f)
            results.cost.append(Cost(candidate, tolerance, 589, Spread(time, 0.9 * time, 1.2 * time), ratio))
    results.set_ups = [SetUp(n, {c: 1e-3 * n * f for c, f in factors.items()}) for n in (199, 1599)]
    for system in ("CO2", "benzene"):
        results.rigid += [run_of(system, c, failed=ours_fail or c == BUILT_IN) for c in CANDIDATES]
    values = np.linspace(-np.pi, np.pi, 19)
    exact = exact_mean_force(values)
    windows = tuple(
        Window(v, MeanForce(e + 0.3, 0.2, 100, 1.0), np.zeros((4, 3))) for v, e in zip(values, exact, strict=True)
    )
    results.mean_forces = MeanForces(MeanForceProfile(Dihedral(0, 1, 2, 3), 300.0, windows), exact)
    return results


@pytest.mark.parametrize(
    ("spread", "words_for_it"),
    [
        (Spread(0.5, 0.4, 0.6), "faster"),
        (Spread(1.5, 1.4, 1.6), "slower"),
        (Spread(0.9, 0.8, 1.1), "no difference seen"),
        (Spread(1.1, 0.9, 1.2), "no difference seen"),
    ],
)
def test_verdict_says_what_both_quartiles_say(spread, words_for_it):
    assert words.verdict(spread) == words_for_it


def test_sentences_say_where_ours_is_slower():
    slow, fast = results_with(1.7), results_with(0.25)
    assert "RATTLE at 1e-12: 1.70 (slower)" in words.of_cost(slow)
    assert "RATTLE at 1e-12: 0.25 (faster)" in words.of_cost(fast)
    assert "AllBonds, SHAKE: 1.70 (slower)" in words.of_villin(slow)
    assert "constraints of SHAKE 1.70 at 1e-4 and 1.70 at 1e-12" in words.in_short(slow)
    assert "whole steps 1.70 to 1.70;" in words.in_short(slow)
    assert "NOT within the tolerance" in words.of_error(slow)
    assert ", within the tolerance" in words.of_error(fast)
    assert "CO2 ran (OpenMM: NaN at step 1)" in words.in_short(fast)
    assert "19 of 19 windows within 2 standard errors" in words.of_mean_force(fast)


def test_sentences_say_where_ours_failed():
    results = results_with(1.0, ours_fail=True)
    assert "CO2 FAILED (OpenMM: NaN at step 1)" in words.in_short(results)
    assert words.failures(results)[0] == "FAILED: CO2, SHAKE: Particle coordinate is NaN."
    assert words.failures(results_with(1.0)) == []


def test_sentences_say_what_was_not_measured():
    nothing = Results({}, 1e-5)
    said = [words.of_villin(nothing), words.of_error(nothing), words.of_cost(nothing), words.of_set_up(nothing)]
    said += [words.of_rigid(nothing), words.of_mean_force(nothing), words.in_short(nothing)]
    for sentence in said:
        assert "not measured" in sentence.lower() or "not run" in sentence, sentence


def test_table_has_a_row_for_each_measurement(tmp_path):
    results = results_with(0.5)
    rows = {row[0]: row[1:] for section in sections(results) for row in section}
    assert len(rows) == 2 * 3 + 3 + 1 + 2 + 1
    assert rows["villin, HBonds: whole steps"] == ["17.3 ns/day", "34.6 ns/day (0.50)", "34.6 ns/day (0.50)"]
    assert rows["CO2 (3 distances)"] == ["NaN at step 1", "ran, error 6e-06", "ran, error 6e-06"]
    assert rows["set-up of 1,599 constraints"] == ["1.6 s", "8e+02 ms", "8e+02 ms"]
    write_markdown(results, "title\nmachine", tmp_path / "table.md")
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert lines[2] == "|  | OpenMM | SHAKE | RATTLE |"
    assert all(line.count("|") == 5 for line in lines[2 : 4 + len(rows)])
    write_results(results, tmp_path / "results.json")
    assert len(json.loads((tmp_path / "results.json").read_text())["rigid"]) == 6


@pytest.mark.parametrize(
    "results",
    [
        pytest.param(results_with(0.2), marks=pytest.mark.long, id="faster"),
        pytest.param(results_with(3.0), marks=pytest.mark.long, id="slower"),
        pytest.param(results_with(1.0, ours_fail=True), id="failed"),
    ],
)
def test_picture_has_no_text_on_data(results):
    figure = draw(results, "a title\nof two lines")
    figure.canvas.draw()
    panels = [axes for panel in figure.subfigs for axes in panel.axes]
    assert len(panels) == 7
    for axes in panels:
        assert axes.get_ylabel().endswith(")") or axes.get_ylabel() == "largest error |d - d0|/d0"  # its unit
        assert axes.get_xlabel() or axes is panels[-2]  # shares its x axis with the one below
        points = np.vstack(
            [axes.transData.transform(line.get_xydata()) for line in axes.lines if len(line.get_xdata())]
        )
        for text in axes.texts:
            box = text.get_window_extent()
            assert not any(box.contains(*point) for point in points), f"'{text.get_text()}' covers data"
            assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1, f"'{text.get_text()}' leaves its panel"


def test_speeds_of_the_table_agree_with_their_ratios():
    """Also where the machine was slower in some stretches than in others: medians of times alone would not."""
    results = results_with(1.0)
    built_in, ours, same = results.outcomes[:3]
    built_in.step_seconds = same.step_seconds = [0.01, 0.02, 0.04, 0.02]
    ours.step_seconds = [0.009, 0.03, 0.036, 0.018]
    assert ours.ns_per_day < 0.85 * built_in.ns_per_day
    row = next(sections(results))[0]
    assert row == ["villin, HBonds: whole steps", "8.64 ns/day", "9.6 ns/day (0.90)", "8.64 ns/day (1.00)"]


def test_plan_shortens_runs_on_a_slow_machine():
    quick = make_plan(2, None, 130.0, build=2.0, create=0.5, step=0.01)
    assert (quick.steps, quick.equilibration) == (STEPS, EQUILIBRATION_STEPS)
    assert quick.seconds < 90
    slow = make_plan(2, None, 130.0, build=2.0, create=0.5, step=0.1)
    assert slow.steps < 0.6 * STEPS
    assert make_plan(2, 7, 130.0, build=2.0, create=0.5, step=0.1).steps == 7


# ---- the bond meter --------------------------------------------------------------------------------------------------


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
