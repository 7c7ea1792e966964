# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""ConstraintStateReporter, and the temperature that it and StateDataReporter show."""

import bz2
import csv
import gzip
import io
from types import SimpleNamespace

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import FEWER, bound, under_test

import openmmconstraints as mc

MOLECULES = 12
WATER = [[0, 0, 0], [0.09572, 0, 0], [-0.023999, 0.092663, 0]]


def make_system(*forces, box=None):
    """Rigid waters in a row, in a ConstraintForce, so that only this package knows their degrees of freedom."""
    topology, system = app.Topology(), mm.System()
    chain = topology.addChain("W")
    for _ in range(MOLECULES):
        residue = topology.addResidue("HOH", chain)
        first = system.getNumParticles()
        for name in ("O", "H1", "H2"):
            topology.addAtom(name, app.element.Element.getBySymbol(name[0]), residue)
            system.addParticle(15.999 if name == "O" else 1.008)
        for i, j, distance in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, 0.15139)):
            system.addConstraint(first + i, first + j, distance)
    mc.moveConstraints(system, topology)
    for force in forces:
        system.addForce(force)
    if box is not None:
        system.setDefaultPeriodicBoxVectors([box, 0, 0], [0, box, 0], [0, 0, box])
        nonbonded = mm.NonbondedForce()
        nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
        for _ in range(system.getNumParticles()):
            nonbonded.addParticle(0, 0.1, 0)
        system.addForce(nonbonded)
    return topology, system


def simulate(integrator, *forces, box=None):
    topology, system = make_system(*forces, box=box)
    simulation = app.Simulation(topology, system, integrator, under_test())
    simulation.context.setPositions([np.add(site, [0.4 * i, 0, 0]) for i in range(MOLECULES) for site in WATER])
    simulation.context.setVelocitiesToTemperature(300 * unit.kelvin, 3)
    return simulation


def langevin(friction=50):
    integrator = mc.RattleLangevinIntegrator(300, friction, 0.002)
    integrator.setRandomNumberSeed(7)
    return integrator


def compound(*children):
    integrator = mm.CompoundIntegrator()
    for child in children:
        integrator.addIntegrator(child)
    return integrator


def report(simulation, steps=5, interval=None, **columns):
    """The rows that a reporter writes, by column."""
    table = io.StringIO()
    simulation.reporters = [mc.ConstraintStateReporter(table, interval or steps, **columns)]
    simulation.step(steps)
    simulation.reporters = []
    return list(csv.DictReader(io.StringIO(table.getvalue().replace("#", ""))))


def numbers(rows, column):
    return np.array([float(row[column]) for row in rows])


@pytest.mark.statistics
@pytest.mark.platform
@pytest.mark.parametrize(("wrap", "removes_motion"), [(compound, False), (lambda integrator: integrator, True)])
def test_temperature_is_that_of_the_bath(wrap, removes_motion):
    simulation = simulate(wrap(langevin()), *[mm.CMMotionRemover(1)] * removes_motion)
    simulation.step(100)
    temperatures = numbers(report(simulation, 20000 // FEWER, 20, temperature=True), "Temperature (K)")
    # 6 degrees of freedom a molecule; 20 steps at 50/ps leave e^-4 of a kinetic energy's deviation
    freedom = 6 * MOLECULES - 3 * removes_motion
    error = 300 * np.sqrt(2 / freedom / len(temperatures))
    assert temperatures.mean() == pytest.approx(300, abs=6 * error)
    if FEWER == 1:
        assert 6 * error < 300 * 3 / freedom  # else three degrees of freedom more or less would not be seen


@pytest.mark.parametrize("make", [mc.RattleIntegrator, mc.ShakeIntegrator, lambda dt: langevin()])
def test_temperature_after_setVelocitiesToTemperature(make):
    simulation = simulate(make(0.002))
    temperatures = []
    for seed in range(1, 401):
        simulation.context.setVelocitiesToTemperature(300 * unit.kelvin, seed)
        temperatures.append(simulation.integrator.computeSystemTemperature().value_in_unit(unit.kelvin))
    spread = 300 * np.sqrt(2 / (6 * MOLECULES))
    assert np.mean(temperatures) == pytest.approx(300, abs=6 * spread / 20)
    assert np.std(temperatures) == pytest.approx(spread, rel=0.25)


def test_without_columns_it_writes_what_is_useful():
    rows = report(simulate(mc.RattleIntegrator(0.002)))
    assert list(rows[0]) == [
        "Step",
        "Time (ps)",
        "Potential Energy (kJ/mole)",
        "Temperature (K)",
        "Constraint Error",
        "Iterations",
    ]
    assert rows[0]["Step"] == "5"


def test_columns_are_what_the_integrator_says():
    simulation = simulate(mc.RattleIntegrator(0.002), box=8)
    names = ("constraintError", "iterations", "worstConstraint", "constraintVirial", "constraintPressure")
    (row,) = report(simulation, totalEnergy=True, **dict.fromkeys(names, True))
    summary = simulation.integrator.getSolverSummary()
    assert float(row["Constraint Error"]) == summary.maxError
    assert int(row["Iterations"]) == summary.iterations >= 1
    worst = int(row["Worst Constraint"])
    molecule, bond = divmod(worst, 3)
    assert worst == summary.worstConstraint
    residue = f"W:HOH{molecule + 1}:"
    pairs = ("O", "H1"), ("O", "H2"), ("H1", "H2")
    assert row["Worst Constraint Particles"] == "-".join(residue + atom for atom in pairs[bond])
    trace = np.trace(simulation.integrator.getConstraintVirial())
    assert abs(trace) > 1
    assert float(row["Constraint Virial (kJ/mole)"]) == pytest.approx(trace)
    pascal = trace * 1000 / 6.02214076e23 / (3 * (8e-9) ** 3)
    assert float(row["Constraint Pressure (bar)"]) == pytest.approx(pascal / 1e5)


@pytest.mark.statistics
@pytest.mark.platform
def test_constraint_pressure_holds_the_whole_centripetal_force():
    """Molecules that turn freely: -3 kT each, at a friction where half of the bath's change would be a sixth of it."""
    integrator = langevin(100)
    integrator.setStepSize(0.004)
    simulation = simulate(integrator, box=8)
    simulation.step(20)
    pressures = numbers(report(simulation, 6000 // FEWER, 6, constraintPressure=True), "Constraint Pressure (bar)")
    expected = -3 * MOLECULES * 1.380649e-23 * 300 / (3 * (8e-9) ** 3) / 1e5
    error = abs(expected) * np.sqrt(2 / (3 * MOLECULES) / len(pressures))  # e^-2.4 of a deviation is left
    assert pressures.mean() == pytest.approx(expected, abs=6 * error)
    if FEWER == 1:
        assert 6 * error < 0.1 * abs(expected)


def test_worst_constraint_is_named_wherever_it_is_listed():
    _, system = make_system()
    system.addConstraint(0, 3, 0.4)
    force = mc.ConstraintForce()
    force.addAngle(0, 3, 6, 3.0)
    force.addDihedral(0, 3, 6, 9, 0)
    force.addCentroidDistance([0, 3, 6, 9], [12, 15, 18], 2)
    custom = mc.CustomConstraintForce(1, "z1")
    custom.addConstraint([35], [])
    system.addForce(mm.CMMotionRemover())
    system.addForce(custom)
    system.addForce(force)
    from openmmconstraints.inspection.labels import constraint_label, particle_names

    names = [name.replace("W:HOH", "") for name in particle_names(system)]
    labels = [constraint_label(system, names, k) for k in (0, 1, 36, 37, 38, 39, 40)]
    expected = ["1:O-2:O", "1:O-1:H1", "12:H1-12:H2", "12:H2", "1:O-2:O-3:O", "1:O-2:O-3:O-4:O"]
    assert labels == [*expected, "1:O-2:O-3:O-4:O-5:O-6:O-..."]
    assert constraint_label(system, names[:1], 1) == "1:O-1"
    for missing in (41, -1):
        with pytest.raises(IndexError, match=f"no constraint {missing}"):
            constraint_label(system, names, missing)


def test_without_constraints_there_is_no_worst_one():
    system = mm.System()
    system.addParticle(1)
    topology = app.Topology()
    topology.addAtom("C", None, topology.addResidue("C", topology.addChain()))
    simulation = app.Simulation(topology, system, mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions([[0, 0, 0]])
    (row,) = report(simulation, worstConstraint=True)
    assert set(row.values()) == {"--"}


@pytest.mark.parametrize("wrap", [lambda *integrators: integrators[0], compound])
def test_what_a_pull_adds_is_not_in_the_conserved_energy(wrap):
    pull = mc.ConstraintForce()
    pull.addDistance(0, 3, 0.4, 2)
    spring = mm.HarmonicBondForce()
    spring.addBond(3, 6, 0.4, 1000)
    integrator = wrap(mc.RattleIntegrator(0.0005), mc.RattleIntegrator(0.0005))
    simulation = simulate(integrator, pull, spring)
    columns = {"totalEnergy": True, "constraintWork": True, "conservedEnergy": True}
    rows = report(simulation, 200, 10, **columns)
    if wrap is compound:
        integrator.setCurrentIntegrator(1)
    rows += report(simulation, 200, 10, **columns)
    work, total = numbers(rows, "Constraint Work (kJ/mole)"), numbers(rows, "Total Energy (kJ/mole)")
    conserved = numbers(rows, "Conserved Energy (kJ/mole)")
    assert conserved == pytest.approx(total - work)
    assert np.ptp(work) > 5
    assert np.ptp(conserved) < bound(0.02 * np.ptp(work), single=0.05 * np.ptp(work))


def test_what_a_switched_length_adds_is_not_in_the_conserved_energy():
    switched = mc.ConstraintForce()
    switched.addGlobalParameter("lambda", 0)
    switched.addDistance(0, 3, 0.4)
    switched.setDistanceInterpolation(0, "lambda", 0.45)
    springs = mm.HarmonicBondForce()
    springs.addBond(3, 6, 0.4, 1000)
    simulation = simulate(mc.RattleIntegrator(0.0005), switched, springs)
    columns = {"totalEnergy": True, "constraintWork": True, "conservedEnergy": True}
    rows = report(simulation, 10, 10, **columns)
    for k in range(1, 6):
        simulation.context.setParameter("lambda", k / 5)
        rows += report(simulation, 20, 10, **columns)
    work = numbers(rows, "Constraint Work (kJ/mole)")
    assert work[0] == 0
    assert np.ptp(work) > 0.3
    conserved = numbers(rows, "Conserved Energy (kJ/mole)")
    assert np.ptp(conserved) < bound(0.02 * np.ptp(work), single=0.05 * np.ptp(work))


@pytest.mark.parametrize("wrap", [lambda *integrators: integrators[0], compound])
@pytest.mark.parametrize("make", [langevin, lambda friction: mc.RattleNoseHooverIntegrator(300, friction, 0.002)])
def test_what_baths_give_is_not_in_the_conserved_energy(wrap, make):
    springs = mm.HarmonicBondForce()
    for i in range(0, 30, 3):
        springs.addBond(i, i + 3, 0.4, 1000)
    integrator = wrap(make(friction=5), make(friction=20))
    simulation = simulate(integrator, springs)
    columns = {"totalEnergy": True, "heat": True, "conservedEnergy": True}
    rows = report(simulation, 500, 10, **columns)
    if wrap is compound:
        integrator.setCurrentIntegrator(1)
        rows += report(simulation, 500, 10, **columns)
    heat, total = numbers(rows, "Heat (kJ/mole)"), numbers(rows, "Total Energy (kJ/mole)")
    conserved = numbers(rows, "Conserved Energy (kJ/mole)")
    assert conserved == pytest.approx(total - heat)
    assert np.ptp(heat) > 20
    assert np.ptp(conserved) < 0.1 * np.ptp(heat)


def test_files_are_written_as_asked(tmp_path):
    simulation = simulate(mc.RattleIntegrator(0.002))
    plain, gz, bz = (tmp_path / f"log.csv{end}" for end in ("", ".gz", ".bz2"))
    for append in (False, True):
        for path in (str(plain), plain.with_name("other.csv"), gz, bz):
            simulation.reporters.append(mc.ConstraintStateReporter(path, 2, True, append=append, iterations=True))
        simulation.step(4)
        simulation.reporters.clear()
    text = plain.read_text()
    assert text.splitlines()[0] == '#"Step","Iterations"'
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["2", "4", "6", "8"]
    assert text == plain.with_name("other.csv").read_text()
    for module, path in ((gzip, gz), (bz2, bz)):
        with module.open(path, "rt") as file:
            assert file.read() == text


def test_mistakes_are_told_before_the_first_step(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("kept")
    with pytest.raises(ValueError, match="total steps"):
        mc.ConstraintStateReporter(path, 5, progress=True)
    assert path.read_text() == "kept"
    simulation = simulate(mc.RattleIntegrator(0.002))
    with pytest.raises(TypeError, match="RattleIntegrator has no heat bath"):
        report(simulation, heat=True)
    with pytest.raises(ValueError, match="not periodic has no pressure"):
        report(simulation, constraintPressure=True)
    assert simulation.currentStep == 0
    foreign = SimpleNamespace()
    for integrator in (mm.VerletIntegrator(0.001), compound(mc.RattleIntegrator(0.001), mm.VerletIntegrator(0.001))):
        if isinstance(integrator, mm.CompoundIntegrator):
            integrator.setCurrentIntegrator(1)
        foreign.integrator = integrator
        with pytest.raises(TypeError, match=r"VerletIntegrator reports nothing of constraints.*StateDataReporter"):
            mc.ConstraintStateReporter(io.StringIO(), 5).describeNextReport(foreign)
