# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The pieces of benchmarks/larger_steps.py on a tripeptide and on molecules whose answers are known."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import larger_steps
from stepsizes import models, observables
from stepsizes.models import Configuration
from stepsizes.runs import Runs
from stepsizes.summary import summarize

KT = 300 * 0.00831446261815324  # kJ/mol


@pytest.fixture(scope="module")
def peptide():
    """The last three residues of villin."""
    whole = models.alone()
    modeller = app.Modeller(whole.topology, whole.positions)
    modeller.delete(list(modeller.topology.residues())[:-3])
    modeller.addHydrogens(whole.force_field, platform=mm.Platform.getPlatform("Reference"))
    return models.implicit(modeller.topology, modeller.positions)


@pytest.fixture(scope="module")
def runs(peptide, tmp_path_factory):
    return Runs(peptide, tmp_path_factory.mktemp("runs"), 0.02)


def test_native_obc2_has_the_energy_of_the_force_field(peptide):
    theirs = peptide.force_field.createSystem(peptide.topology, constraints=app.HBonds)
    energies = []
    for system in (theirs, peptide.make_system("HBonds")):
        context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
        context.setPositions(peptide.positions)
        energies.append(context.getState(energy=True).getPotentialEnergy()._value)
    assert energies[0] == pytest.approx(energies[1], rel=1e-6)  # Coulomb's constant has nine digits there


@pytest.mark.parametrize("held", ["HBonds", "HAngles"])
@pytest.mark.parametrize("mass", [None, 3.0])
def test_degrees_of_freedom_of_classes_are_those_of_fresh_velocities(peptide, runs, held, mass):
    system = peptide.make_system(held, mass)
    integrator = Configuration(held, 1).make_integrator(1)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CPU"), {"Threads": "1"})
    context.setPositions(runs.start(held))
    each = observables.particle_freedom(system, runs.start(held))
    assert each.sum() == pytest.approx(integrator.getNumDegreesOfFreedom(), abs=1e-8)
    draws = 200
    kinetic = {name: [] for name in runs.classes}
    masses = np.array([system.getParticleMass(i)._value for i in range(system.getNumParticles())])
    for seed in range(1, draws + 1):
        context.setVelocitiesToTemperature(300 * unit.kelvin, seed)
        integrator.applyVelocityConstraints()
        velocities = context.getState(velocities=True).getVelocities(asNumpy=True)._value
        for name, mask in runs.classes.items():
            kinetic[name].append((masses * (velocities**2).sum(axis=1) / 2)[mask].sum())
    for name, mask in runs.classes.items():
        error = np.std(kinetic[name]) / np.sqrt(draws)
        assert np.mean(kinetic[name]) == pytest.approx(each[mask].sum() * KT / 2, abs=6 * error)


def test_rigid_water_has_six_degrees_of_freedom():
    system = mm.System()
    for mass in (16, 1, 1):
        system.addParticle(mass)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        system.addConstraint(i, j, 0.1)
    positions = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [0.5, np.sqrt(0.75), 0]])
    assert observables.particle_freedom(system, positions).sum() == pytest.approx(6)


def test_fastest_frequency_is_that_of_a_harmonic_bond_until_it_is_held():
    system = mm.System()
    for mass in (12.0, 1.0, 16.0):
        system.addParticle(mass)
    bonds = mm.HarmonicBondForce()
    bonds.addBond(0, 1, 0.1, 3e5)
    bonds.addBond(0, 2, 0.1, 1e5)
    system.addForce(bonds)
    c, s = 0.6, 0.8  # of the angle between the bonds
    positions = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [c, s, 0]])
    hessian = observables.bonded_hessian(system, positions)
    root = np.sqrt([3e5, 1e5])
    inverse_masses = np.array([[1 / 12 + 1, c / 12], [c / 12, 1 / 12 + 1 / 16]])  # along the bonds
    free = np.linalg.eigvalsh(root[:, None] * inverse_masses * root)[-1]
    cm = 2 * np.pi * observables.SPEED_OF_LIGHT
    assert observables.fastest_frequency(hessian, system, positions) == pytest.approx(np.sqrt(free) / cm, rel=1e-3)
    system.addConstraint(0, 1, 0.1)  # the hydrogen follows along its bond, but not across it
    held = 1e5 * (c * c / 13 + s * s / 12 + 1 / 16)
    assert observables.fastest_frequency(hessian, system, positions) == pytest.approx(np.sqrt(held) / cm, rel=1e-3)


def test_structures_are_compared():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(9, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    assert observables.rmsd(x @ turn.T + 5, x) == pytest.approx(0, abs=1e-6)
    assert observables.rmsd(x * [1, 1, -1], x) > 0.1
    assert observables.gyration_radius(np.array([[0.0, 0, 0], [3, 0, 0]]), np.array([2.0, 1.0])) == pytest.approx(
        2**0.5
    )
    angles = np.array([[-100.0, 10], [170, 20]])
    assert observables.jensen_shannon(angles, angles) == pytest.approx(0, abs=1e-12)
    assert observables.jensen_shannon(angles, angles - 60) == pytest.approx(1)
    # N, CA, C of two residues, in the plane: phi is trans. psi: seen along CA-C, the next N is clockwise.
    chain = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0], [1, 0, 1], [2, 0, 1], [2, 0, 2.0]])
    assert observables.backbone_dihedrals(chain, np.arange(6).reshape(2, 3)) == pytest.approx([180, 90])


def test_run_continues_where_it_stopped(runs):
    configuration = Configuration("HAngles", 4, 3.0)
    runs.extend(configuration, 0.4)
    first = runs.samples(configuration)
    runs.extend(configuration, 0.4)
    both = runs.samples(configuration)
    assert both[:4] == first
    assert [sample["time"] for sample in both] == pytest.approx(0.1 * np.arange(1, 9), abs=1e-9)
    summary = summarize(configuration, both, None, 0.25)
    assert summary.time == pytest.approx(0.55)
    expected = np.mean([2 * s["kinetic"]["heavy"] / s["freedom"]["heavy"] for s in both[2:]]) * 300 / KT
    assert summary.temperature["heavy"].mean == pytest.approx(expected)
    assert 150 < expected < 500


def test_failure_is_noted_and_ends_the_run(runs, monkeypatch):
    configuration = Configuration("HBonds", 25)
    runs.extend(configuration, 20)
    assert "step" in runs.failure(configuration)
    monkeypatch.setattr(runs, "_run", None)
    runs.extend(configuration, 1)  # calls nothing


@pytest.mark.long
def test_program_reports_what_it_ran(peptide, tmp_path, monkeypatch):
    chosen = [Configuration("HBonds", 2), Configuration("HBonds", 1), Configuration("HBonds", 2, integrator="Rattle")]
    monkeypatch.setitem(models.MODELS, "implicit", lambda: peptide)
    monkeypatch.setitem(models.CONFIGURATIONS, "implicit", chosen)
    options = ("--rounds", "1", "--length", "0.5", "--equilibration", "0.01", "--skip", "0.1")
    assert larger_steps.main([*options, "--folder", str(tmp_path)]) == 0
    numbers = json.loads((tmp_path / "larger-steps.json").read_text())
    reference, truth, energy = numbers["models"]["implicit"]
    assert reference["divergence_from_reference"] == 0
    assert reference["potential_less_truth"]["angles"]["mean"] == pytest.approx(
        reference["potential"]["angles"]["mean"] - truth["potential"]["angles"]["mean"]
    )
    assert energy["drift"]["error"] > 0
    modes = {(m["held"], m["hydrogen_mass"]): m["period_fs"] for m in numbers["fastest_modes"]}
    assert 8 < modes["", None] < 10 < modes["HBonds", None] < modes["HAngles", None] < modes["HAngles", 3.0]
    assert "| HBonds 2 fs | 0 |" in (tmp_path / "larger-steps.md").read_text()
    assert (tmp_path / "larger-steps.png").stat().st_size > 10000
