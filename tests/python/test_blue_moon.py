# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mean forces of constrained runs against free energies known in closed form; tests/TestBlueMoon.cpp has Z and G."""

import csv
import io
from math import cos, pi, sin, tan

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import FEWER, LARGER, bound, under_test

import openmmconstraints as mc
from openmmconstraints.freeenergy import Distance
from openmmconstraints.inspection.energy import BOLTZMANN
from openmmconstraints.reporters.blocking import WeightedAverage
from openmmconstraints.reporters.blue_moon_reporter import read_mean_force

TEMPERATURE = 300.0
KT = BOLTZMANN * TEMPERATURE


def langevin(temperature=TEMPERATURE, friction=10, step=0.002, seed=3):
    integrator = mc.RattleLangevinIntegrator(temperature, friction, step)
    integrator.setRandomNumberSeed(seed)
    return integrator


def simulate(system, integrator, positions):
    simulation = app.Simulation(app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(TEMPERATURE * unit.kelvin, 1)
    return simulation


def agree(result, exact, largest_error):
    """Within five standard errors, and those say something."""
    assert 0 < result.error < largest_error * LARGER
    assert abs(result.mean - exact) < 5 * result.error


# ---- a dimer -----------------------------------------------------------------------------------------------------


def dimer(length=0.2, spring=0.0, rate=0.0):
    """Two particles held at a length, with a spring of 0.15 nm."""
    system = mm.System()
    for mass in (12, 4):
        system.addParticle(mass)
    bond = mm.HarmonicBondForce()
    bond.addBond(0, 1, 0.15, spring)
    system.addForce(bond)
    held = mc.ConstraintForce()
    held.addDistance(0, 1, length, rate)
    system.addForce(held)
    return system, held, [[0, 0, 0], [length, 0, 0]]


@pytest.mark.parametrize(
    ("spring", "temperature"),
    [
        (1000, 0),
        pytest.param(1000, TEMPERATURE, marks=pytest.mark.statistics),
        pytest.param(0, TEMPERATURE, marks=pytest.mark.statistics),
    ],
)
def test_dimer(spring, temperature):
    """A(r) = k/2 (r-b)^2 - kT ln(4 pi r^2)"""
    system, held, positions = dimer(spring=spring)
    simulation = simulate(system, langevin(temperature, friction=20), positions)
    if temperature == 0:
        simulation.context.setVelocities(np.zeros((2, 3)))
    reporter = mc.BlueMoonReporter(None, 10, (held, 0))
    simulation.reporters.append(reporter)
    simulation.step(60000 // FEWER if temperature else 100)
    result, exact = reporter.getMeanForce(), spring * 0.05 - 2 * BOLTZMANN * temperature / 0.2
    if temperature == 0:
        # OpenMM's devices keep a spring's length as a float
        assert result.mean == pytest.approx(exact, rel=bound(1e-12, double=3e-7))
        assert result.error < bound(1e-9, single=1e-5)  # a rounding of a float near 50 is up to 2e-6
    else:
        assert result.samples == 6000 // FEWER
        agree(result, exact, 0.8)


# ---- the angle of a trimer with rigid bonds ----------------------------------------------------------------------

MASSES, BONDS = (10.0, 3.0, 6.0), (0.15, 0.2)
STIFFNESS, REST = 20.0, 1.9


def trimer(angle=None):
    system = mm.System()
    for mass in MASSES:
        system.addParticle(mass)
    for i, length in enumerate(BONDS):
        system.addConstraint(i, i + 1, length)
    force = mm.HarmonicAngleForce()
    force.addAngle(0, 1, 2, REST, STIFFNESS)
    system.addForce(force)
    if angle is not None:
        held = mc.ConstraintForce()
        held.addAngle(0, 1, 2, angle)
        system.addForce(held)
    start = REST if angle is None else angle
    return system, [[BONDS[0], 0, 0], [0, 0, 0], [BONDS[1] * cos(start), BONDS[1] * sin(start), 0]]


def determinant(theta):
    """|Z_rest| of the two bonds: their phase space weights a configuration by its square root."""
    first, middle, last = (1 / m for m in MASSES)
    return (first + middle) * (middle + last) - (np.cos(theta) * middle) ** 2


def density(theta):
    """p(theta), not normalized."""
    return np.sin(theta) * np.sqrt(determinant(theta)) * np.exp(-STIFFNESS / 2 * (theta - REST) ** 2 / KT)


@pytest.mark.statistics
@pytest.mark.parametrize("theta", [1.0, 1.9, 2.7])
def test_angle_between_rigid_bonds(theta):
    system, positions = trimer(theta)
    simulation = simulate(system, langevin(friction=5), positions)
    simulation.step(200)
    reporter = mc.BlueMoonReporter(None, 10)  # the last constraint, by default
    simulation.reporters.append(reporter)
    simulation.step(150000 // FEWER)
    exact = STIFFNESS * (theta - REST) - KT / tan(theta)
    exact -= KT * cos(theta) * sin(theta) / MASSES[1] ** 2 / determinant(theta)
    agree(reporter.getMeanForce(), exact, 0.3)
    derivative = -KT * (np.log(density(theta + 1e-5)) - np.log(density(theta - 1e-5))) / 2e-5
    assert derivative == pytest.approx(exact, rel=1e-6)  # what the test below compares with


@pytest.mark.statistics
def test_density_of_the_free_angle_is_the_one_integrated():
    """So that the mean force is that of the simulated ensemble, not only of a formula."""
    system, positions = trimer()
    simulation = simulate(system, langevin(friction=5), positions)
    edges = np.array([0, 1.2, 1.6, 2.0, 2.4, pi])
    fractions = WeightedAverage(5)
    for _ in range(10000 // FEWER):
        simulation.integrator.step(20)
        x = simulation.context.getState(positions=True).getPositions(asNumpy=True)._value
        u, w = x[0] - x[1], x[2] - x[1]
        theta = np.arccos(u @ w / BONDS[0] / BONDS[1])
        fractions.add(0.0, np.histogram(theta, edges)[0].astype(float))
    grid = np.linspace(0, pi, 20001)[:-1] + pi / 40000
    exact = np.histogram(grid, edges, weights=density(grid))[0] / density(grid).sum()
    assert exact.min() > 0.02
    for k in range(5):
        agree(fractions.estimate(k), exact[k], 0.02)


# ---- the reporter ------------------------------------------------------------------------------------------------


@pytest.mark.platform
def test_csv(tmp_path):
    system, positions = trimer(1.5)
    simulation = simulate(system, langevin(), positions)
    path = tmp_path / "force.csv"
    reporter = mc.BlueMoonReporter(str(path), 10, [2, Distance(0, 1)])
    simulation.reporters.append(reporter)
    simulation.step(400)
    multipliers, corrections, log_z = simulation.integrator.computeBlueMoon([2, 0])
    rows = list(csv.DictReader(path.open()))
    names = "step,time (ps),lambda_2,lambda_0,Z,G_2,G_0,dA/dxi_2,error_2,dA/dxi_0,error_0"
    assert ",".join(rows[0]) == names
    assert [int(row["step"]) for row in rows] == list(range(10, 410, 10))
    last = [float(value) for value in rows[-1].values()]
    assert last[1] == pytest.approx(0.8)
    assert last[2:7] == pytest.approx([*multipliers, np.exp(log_z), *corrections], rel=1e-8)
    for k, place in ((0, 7), (1, 9)):
        result = reporter.getMeanForce(k)
        assert last[place : place + 2] == pytest.approx([result.mean, result.error], rel=1e-8, nan_ok=True)
        # of rigid trimers all weights are the same
        x = [float(row[f"lambda_{(2, 0)[k]}"]) + KT * float(row[f"G_{(2, 0)[k]}"]) for row in rows]
        assert result.mean == pytest.approx(np.mean(x), rel=1e-8)
    with pytest.raises(IndexError):
        reporter.getMeanForce(2)


def test_csv_can_be_averaged_again(tmp_path):
    system, _, positions = dimer()
    held = mc.ConstraintForce()
    held.addDistance(0, 2, 0.3)
    system.addParticle(8)
    system.addForce(held)
    simulation = simulate(system, langevin(), [*positions, [0, 0.3, 0]])
    whole, late = mc.BlueMoonReporter(tmp_path / "force.csv", 10, [0, 1]), mc.BlueMoonReporter(None, 10, [0, 1])
    simulation.reporters.append(whole)
    simulation.step(500)
    simulation.reporters.append(late)
    simulation.step(3000)
    for k in (0, 1, -1):
        for reporter, skip in ((whole, 0), (late, 50)):
            again = read_mean_force(tmp_path / "force.csv", TEMPERATURE * unit.kelvin, skip, k)
            result = reporter.getMeanForce(k)
            assert again.mean == pytest.approx(result.mean, rel=1e-7)
            assert again.error == pytest.approx(result.error, rel=1e-6, nan_ok=True)
            assert again.samples == result.samples


def test_mistakes_in_reading_a_file(tmp_path):
    system, _, positions = dimer()
    simulation = simulate(system, langevin(), positions)
    path = tmp_path / "force.csv"
    reporter = mc.BlueMoonReporter(path, 5, 0)
    simulation.reporters.append(reporter)
    simulation.step(20)
    assert read_mean_force(path, TEMPERATURE, 3, -1).samples == 1
    for temperature in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"the temperature cannot be {temperature} K"):
            read_mean_force(path, temperature)
    for skip, message in ((-1, "0 or more, not -1"), (0.5, "0 or more, not 0.5"), (4, "has 4 samples, and skip=4")):
        with pytest.raises(ValueError, match=message):
            read_mean_force(path, TEMPERATURE, skip=skip)
    for index in (1, -2):
        with pytest.raises(IndexError, match=rf"there is no coordinate {index}: '.*force.csv' has 1, 0 to 0"):
            read_mean_force(path, TEMPERATURE, index=index)
        with pytest.raises(IndexError, match=f"there is no coordinate {index}: this reporter has 1, 0 to 0"):
            reporter.getMeanForce(index)
    for temperature in (np.inf, np.nan):
        with pytest.raises(ValueError, match="the temperature cannot be"):
            mc.BlueMoonReporter(None, 5, 0, temperature)


def test_file_object_and_append(tmp_path):
    system, _, positions = dimer()
    simulation = simulate(system, langevin(), positions)
    text = io.StringIO()
    simulation.reporters.append(mc.BlueMoonReporter(text, 5))
    for append in (False, True):
        simulation.reporters.append(mc.BlueMoonReporter(tmp_path / "force.csv", 5, 0, append=append))
        simulation.step(10)
        del simulation.reporters[-1]
    columns = [
        [line.split(",")[:5] for line in lines.splitlines()]  # but not the averages, which start anew
        for lines in (text.getvalue(), (tmp_path / "force.csv").read_text())
    ]
    assert columns[0] == columns[1]
    assert len(columns[0]) == 5


@pytest.mark.parametrize("warm_start", [False, True])
def test_reporter_leaves_the_trajectory_as_it_is(warm_start):
    ends = []
    for interval in (None, 1, 7):
        system, positions = trimer(1.5)
        integrator = langevin()
        integrator.setSolver(mc.ConstraintIntegrator.Iterative)
        integrator.setWarmStart(warm_start)
        simulation = simulate(system, integrator, positions)
        if interval is not None:
            simulation.reporters.append(mc.BlueMoonReporter(None, interval, 2))
        simulation.step(100)
        state = simulation.context.getState(positions=True, velocities=True)
        ends.append((state.getPositions(), state.getVelocities(), integrator.getMultipliers()))
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.platform
def test_inside_a_compound_integrator():
    system, _, positions = dimer()
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(langevin(friction=1))
    compound.addIntegrator(langevin(friction=20))
    compound.setCurrentIntegrator(1)
    simulation = simulate(system, compound, positions)
    reporter = mc.BlueMoonReporter(None, 10)
    simulation.reporters.append(reporter)
    simulation.step(20000 // FEWER)
    agree(reporter.getMeanForce(), -2 * KT / 0.2, 2.0)


@pytest.mark.filterwarnings("ignore:BlueMoonReporter. coordinates=0 is System constraint 0")
def test_force_and_index_beside_other_forces():
    """A System constraint, a distance, an expression, and then the Force that is meant: its second constraint."""
    system, _, positions = dimer()
    for _ in range(3):
        system.addParticle(8)
    system.addConstraint(1, 2, 0.2)
    surface = mc.CustomConstraintForce(1, "z1")
    surface.addConstraint([3], [])
    held = mc.ConstraintForce()
    held.addDistance(2, 3, 0.2)
    held.addDistance(3, 4, 0.2)
    system.addForce(surface)
    system.addForce(held)
    places = [*positions, [0.4, 0, 0], [0.6, 0, 0], [0.6, 0.2, 0]]
    for coordinate, column in (((held, 1), 4), ((held, -1), 4), ((held, 0), 3), ((surface, 0), 2), (0, 0), (-1, 4)):
        simulation = simulate(system, langevin(), places)
        text = io.StringIO()
        simulation.reporters.append(mc.BlueMoonReporter(text, 5, coordinate))
        simulation.step(5)
        assert f",lambda_{column}," in text.getvalue()


@pytest.mark.platform
def test_integrator_without_a_bath_takes_the_temperature_given():
    system, held, positions = dimer(spring=1000)
    simulation = simulate(system, mc.RattleIntegrator(0.001), positions)
    simulation.context.setVelocities(np.zeros((2, 3)))
    for temperature in (0, 300 * unit.kelvin):
        simulation.reporters = [mc.BlueMoonReporter(None, 1, [(held, -1)], temperature)]
        simulation.step(3)
        assert simulation.reporters[0].getMeanForce().mean == pytest.approx(50)  # G = 0


def test_mistakes_in_arguments():
    for interval in (0, -1, 2.5):
        with pytest.raises(ValueError, match="reportInterval"):
            mc.BlueMoonReporter(None, interval, 0)
    with pytest.raises(ValueError, match="no coordinates"):
        mc.BlueMoonReporter(None, 1, [])
    with pytest.raises(TypeError, match="temperature must be"):
        mc.BlueMoonReporter(None, 1, 0, 1 * unit.nanometer)
    with pytest.raises(ValueError, match="-5"):
        mc.BlueMoonReporter(None, 1, 0, -5)
    with pytest.raises(FileNotFoundError):
        mc.BlueMoonReporter("/nowhere/force.csv", 1, 0)
    with pytest.raises(TypeError, match="neither an index"):
        mc.BlueMoonReporter(None, 1, "0")


def refused(simulation, reporter, error, message):
    """Before the first step, not after an hour of them."""
    simulation.reporters = [reporter]
    with pytest.raises(error, match=message):
        simulation.step(1000)
    assert simulation.context.getStepCount() == 0


def test_temperature_is_that_of_either_heat_bath():
    for integrator in (mc.RattleNoseHooverIntegrator(200, 50, 0.002), langevin(200)):
        system, _, positions = dimer()
        simulation = simulate(system, integrator, positions)
        reporter = mc.BlueMoonReporter(None, 1, 0)
        simulation.reporters.append(reporter)
        simulation.step(2)
        assert reporter._kT == pytest.approx(0.008314462618 * 200)


def test_mistakes_show_before_the_first_step():
    system, held, positions = dimer()
    simulation = simulate(system, mc.RattleIntegrator(0.001), positions)
    refused(simulation, mc.BlueMoonReporter(None, 500, 0), ValueError, "RattleIntegrator has no temperature")
    refused(simulation, mc.BlueMoonReporter(None, 500, 1, 300), ValueError, "no constraint 1; there are 1")
    refused(simulation, mc.BlueMoonReporter(None, 500, (held, 1), 300), ValueError, "no constraint 1")
    other = mc.ConstraintForce()
    refused(simulation, mc.BlueMoonReporter(None, 500, (other, 0), 300), ValueError, "not in the System")

    system, _, positions = dimer(rate=0.01)
    simulation = simulate(system, langevin(), positions)
    refused(simulation, mc.BlueMoonReporter(None, 500, 0), mm.OpenMMException, "move in time")

    system, held, positions = dimer()
    held.addDistance(0, 1, 0.2)
    simulation = simulate(system, langevin(), positions)
    refused(simulation, mc.BlueMoonReporter(None, 500, [0, 1]), mm.OpenMMException, "which hold it, too")

    free = mm.System()
    free.addParticle(1)
    simulation = simulate(free, mm.LangevinMiddleIntegrator(300, 1, 0.001), [[0, 0, 0]])
    refused(simulation, mc.BlueMoonReporter(None, 500, 0), TypeError, "LangevinMiddleIntegrator reports no multipliers")


def test_temperature_may_not_change_on_the_way():
    system, _, positions = dimer()
    simulation = simulate(system, langevin(), positions)
    simulation.reporters.append(mc.BlueMoonReporter(None, 5, 0))
    simulation.step(10)
    simulation.integrator.setTemperature(310)
    with pytest.raises(ValueError, match="changed from 300 to 310 K"):
        simulation.step(10)
