# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Free energy profiles from windows, in sequence and on executors, against closed forms, quadrature and histograms."""

import csv
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import numpy as np
import openmm as mm
import openmm.app as app
import platforms
import pytest
from chains import (
    DIHEDRAL,
    START,
    TEMPERATURE,
    CylinderRadius,
    chain,
    chain_positions,
    free_energy,
    mean_force,
)
from command import FORKS
from force_fields import AMBER14, force_field
from openmm import unit
from platforms import FEWER, LARGER, NAME, PROPERTIES, under_test

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe
from openmmconstraints.freeenergy.profile import integration_matrix
from openmmconstraints.inspection.energy import BOLTZMANN
from openmmconstraints.reporters.blocking import WeightedAverage

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation.systems import ALANINE_DIPEPTIDE

#: Far starts are what some tests are about; test_far_moves.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore:freeenergy. the start")

QUIET = {"platform": NAME, "properties": PROPERTIES, "progress": False}


def langevin(temperature=TEMPERATURE, friction=5, step=0.003):
    return mc.RattleLangevinIntegrator(temperature, friction, step)


# ---- coordinates and starts --------------------------------------------------------------------------------------


@pytest.mark.platform
@pytest.mark.parametrize(
    ("coordinate", "exact"),
    [
        (fe.Distance(0, 1), 0.153),
        (fe.Angle(1, 2, 3), 1.8),
        (DIHEDRAL, -2.5),
        (fe.CentroidDistance((0,), (1,)), 0.153),
    ],
)
def test_coordinates_measure_what_they_hold(coordinate, exact):
    positions = chain_positions(1.95, 1.8, -2.5)
    system = mm.System()
    for _ in range(4):
        system.addParticle(10)
    assert coordinate.measure(system, positions) == pytest.approx(exact)
    coordinate.hold(system, exact)
    integrator = langevin()
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    before = context.getState(positions=True).getPositions(asNumpy=True)._value
    integrator.applyConstraints()  # a state within the tolerance is not touched
    assert np.array_equal(context.getState(positions=True).getPositions(asNumpy=True)._value, before)


def test_distance_takes_the_minimum_image_of_a_periodic_system():
    system = mm.System()
    for _ in range(2):
        system.addParticle(10)
    system.setDefaultPeriodicBoxVectors((2, 0, 0), (0, 2, 0), (0, 0, 2))
    positions = np.array([[0.1, 0, 0], [1.8, 0, 0]])
    assert fe.Distance(0, 1).measure(system, positions) == pytest.approx(1.7)
    assert fe.Distance(0, 1, periodic=True).measure(system, positions) == pytest.approx(0.3)
    force = mm.NonbondedForce()
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    for _ in range(2):
        force.addParticle(0, 1, 0)
    system.addForce(force)
    assert fe.Distance(0, 1).measure(system, positions) == pytest.approx(0.3)
    assert fe.CentroidDistance((0,), (1,), periodic=False).measure(system, positions) == pytest.approx(1.7)


def test_pull_arrives_at_every_value():
    values = np.radians([150, 90, 30])
    starts = fe.pull(chain(), chain_positions(1.9, 2.0, -2.9), DIHEDRAL, values, langevin(), 200, seed=1, **QUIET)
    for value, positions in zip(values, starts, strict=True):
        assert DIHEDRAL.measure(chain(), positions) == pytest.approx(value, abs=1e-4)
    # and its forces stayed moderate: no projection over a long way
    lengths = np.linalg.norm(np.diff(starts[0], axis=0), axis=1)
    assert lengths == pytest.approx([0.153, 0.17, 0.153], rel=1e-4)


def test_values_may_be_quantities():
    assert DIHEDRAL.to_numbers(np.array([0, 180]) * unit.degrees) == pytest.approx([0, np.pi])
    assert fe.Distance(0, 1).to_numbers([3, 4] * unit.angstrom) == pytest.approx([0.3, 0.4])
    with pytest.raises(TypeError):
        fe.Distance(0, 1).to_numbers([3, 4] * unit.degrees)


# ---- profiles ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def profile():
    """The chain's dihedral, on two processes."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        return fe.mean_force_profile(
            chain,
            START,
            DIHEDRAL,
            np.linspace(-180, 180, 25) * unit.degrees,
            langevin(),
            40000,
            pull_steps=200,
            equilibration=500,
            seed=7,
            executor=executor,
            **QUIET,
        )


@pytest.mark.statistics
def test_mean_forces_of_a_dihedral_agree_with_quadrature(profile):
    exact = [mean_force(phi, TEMPERATURE) for phi in profile.values]
    assert profile.error.max() < 0.25
    assert np.ptp(exact) > 15
    deviations = (profile.mean_force - exact) / profile.error
    assert np.abs(deviations).max() < 5
    assert (deviations**2).mean() < 1 + 5 * np.sqrt(2 / 25)  # 14 without the weights, 60 without G
    assert {window.mean_force.samples for window in profile.windows} == {4000}


@pytest.mark.statistics
def test_free_energy_of_a_dihedral_agrees_with_quadrature(profile):
    pmf = profile.integrate()
    exact = np.array([free_energy(phi, TEMPERATURE) for phi in pmf.values])
    exact -= exact[pmf.reference]
    assert pmf.error.max() < 0.3
    exact_forces = [mean_force(phi, TEMPERATURE) for phi in pmf.values]
    grid = np.ptp(integration_matrix(pmf.values) @ exact_forces - exact)  # that of 15 degrees has an error of its own
    assert grid < 0.1
    assert (np.abs(pmf.free_energy - exact) <= 5 * pmf.error + grid).all()
    # it closes: -180 and 180 degrees are the same
    assert abs(np.diff(pmf.free_energy[[0, -1]])[0]) < 5 * pmf.relative_to(0).error[-1] + grid


@pytest.mark.statistics
def test_free_energy_of_a_dihedral_agrees_with_a_histogram(profile):
    """Of a run in which nothing holds the dihedral: populations of the three wells."""
    system, integrator = chain(), langevin()
    integrator.setRandomNumberSeed(11)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(START)
    context.setVelocitiesToTemperature(TEMPERATURE, 1)
    integrator.step(1000)
    samples = WeightedAverage(3)
    for _ in range(20000):
        integrator.step(40)
        x = context.getState(positions=True).getPositions(asNumpy=True)._value
        samples.add(0.0, np.eye(3)[int(dihedral(x) % (2 * np.pi) // (2 * np.pi / 3))])
    pmf = profile.integrate()
    grid = np.linspace(-np.pi, np.pi, 3601)[:-1]
    density = np.exp(-np.interp(grid, pmf.values, pmf.free_energy) / BOLTZMANN / TEMPERATURE)
    wells = np.histogram(grid % (2 * np.pi), np.linspace(0, 2 * np.pi, 4), weights=density)[0] / density.sum()
    for k in range(3):
        estimate = samples.estimate(k)
        assert estimate.error < 0.02
        error = np.hypot(estimate.error, wells[k] * pmf.error.max() / BOLTZMANN / TEMPERATURE)
        assert abs(estimate.mean - wells[k]) < 5 * error


def dihedral(x):
    a, b, c = np.diff(x, axis=0)
    n, m = np.cross(a, b), np.cross(b, c)
    return np.arctan2(np.cross(n, m) @ b / np.linalg.norm(b), n @ m)


@pytest.mark.statistics
def test_distance_of_centres_of_mass():
    """Four free particles with a spring between the centres of two pairs: dA/dr = k (r - r0) - 2 kT/r."""
    system = mm.System()
    for mass in (10, 20, 15, 5):
        system.addParticle(mass)
    bonds, spring = mm.HarmonicBondForce(), mm.CustomCentroidBondForce(2, "50*(distance(g1,g2)-0.4)^2")
    bonds.addBond(0, 1, 0.15, 2000)
    bonds.addBond(2, 3, 0.15, 2000)
    groups = [spring.addGroup([0, 1]), spring.addGroup([2, 3])]
    spring.addBond(groups, [])
    system.addForce(bonds)
    system.addForce(spring)
    positions = [[0, 0, 0], [0.15, 0, 0], [0, 0.4, 0], [0.15, 0.4, 0]]
    coordinate = fe.CentroidDistance((0, 1), (2, 3))
    forces = fe.mean_force_profile(
        system, positions, coordinate, [0.3, 0.5], langevin(), 30000 // FEWER, pull_steps=200, seed=3, **QUIET
    )
    exact = 100 * (forces.values - 0.4) - 2 * BOLTZMANN * TEMPERATURE / forces.values
    assert forces.error.max() < 1.5 * LARGER
    assert (np.abs(forces.mean_force - exact) < 5 * forces.error).all()


def test_coordinate_of_a_users_own():
    """An expression: A(r) = 100 r^2 - kT ln r about the axis of a harmonic well."""
    system = mm.System()
    system.addParticle(10)
    well = mm.CustomExternalForce("100*(x^2+y^2+z^2)")
    well.addParticle(0)
    system.addForce(well)
    forces = fe.mean_force_profile(
        system,
        [[0.2, 0, 0]],
        CylinderRadius(0),
        [0.2, 0.3],
        langevin(),
        20000 // FEWER,
        pull_steps=100,
        seed=3,
        **QUIET,
    )
    exact = 200 * forces.values - BOLTZMANN * TEMPERATURE / forces.values
    assert forces.error.max() < 3 * LARGER
    assert (np.abs(forces.mean_force - exact) < 5 * forces.error).all()


# ---- executors ---------------------------------------------------------------------------------------------------
VALUES = [2.0, 2.2, 2.4]


def short_windows(executor=None, **options):
    arguments = {"seed": 5, "equilibration": 20, "interval": 5, **QUIET, **options}
    return fe.run_windows(chain, 3 * [START], DIHEDRAL, VALUES, langevin(), 3000, executor=executor, **arguments)


def readings(windows):
    assert not any(np.isnan(window.mean_force.error) for window in windows)  # nan would not be equal to itself
    return [(window.value, window.mean_force, window.positions.tolist()) for window in windows]


@pytest.fixture(scope="module")
def in_sequence():
    return readings(short_windows())


def test_processes_give_what_a_sequence_gives(in_sequence, tmp_path):
    assert readings(short_windows()) == in_sequence
    assert readings(short_windows(seed=6)) != in_sequence
    with ProcessPoolExecutor(2, FORKS if platforms.IS_REFERENCE else multiprocessing.get_context("spawn")) as executor:
        assert readings(short_windows(executor, folder=tmp_path / "windows")) == in_sequence
    files = sorted((tmp_path / "windows").iterdir())
    assert [file.name for file in files] == [f"window-00{i}.csv" for i in range(3)]
    for file, (_, force, _) in zip(files, in_sequence, strict=True):
        rows = list(csv.DictReader(file.open()))
        assert len(rows) == force.samples == 600
        assert float(rows[-1]["dA/dxi_3"]) == pytest.approx(force.mean, rel=1e-9)


@pytest.mark.platform
def test_threads_give_what_a_sequence_gives(in_sequence):
    with ThreadPoolExecutor(3) as executor:
        assert readings(short_windows(executor)) == in_sequence


@pytest.mark.long
def test_dask_gives_what_a_sequence_gives(in_sequence):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        assert readings(short_windows(client.get_executor())) == in_sequence


def test_system_may_be_an_object_its_xml_or_a_function(in_sequence):
    for system in (chain(), mm.XmlSerializer.serialize(chain())):
        integrator = langevin()
        integrator.setRandomNumberSeed(99)  # a pattern only
        windows = fe.run_windows(
            system,
            3 * [START * unit.nanometer],
            DIHEDRAL,
            VALUES * unit.radian,
            integrator,
            3000,
            seed=5,
            equilibration=20,
            interval=5,
            **QUIET,
        )
        assert readings(windows) == in_sequence
        assert integrator.getRandomNumberSeed() == 99


# ---- mistakes ----------------------------------------------------------------------------------------------------


def test_a_window_that_fails_says_which():
    coordinate = fe.CentroidDistance([0], [1])  # which a rigid bond holds already
    label = "distance of the centres of 1 and 1 particles"
    with ThreadPoolExecutor(1) as executor:
        for where in (None, executor):
            with pytest.raises(fe.WindowError, match=rf"{label} = 0\.153: .*cannot be a reaction coordinate"):
                fe.run_windows(chain, [START], coordinate, [0.153], langevin(), 10, executor=where, **QUIET)
    with pytest.raises(fe.WindowError, match=rf"pulling {label} from 0\.153 to 0\.2: "):
        fe.pull(chain, START, coordinate, [0.2], langevin(), 10, **QUIET)


def test_mistakes_in_arguments():
    with pytest.raises(ValueError, match="3 values, but positions for 4"):
        fe.run_windows(chain, START, DIHEDRAL, VALUES, langevin(), 10, **QUIET)
    with pytest.raises(ValueError, match="ascending or descending"):
        fe.mean_force_profile(chain, START, DIHEDRAL, [1, 3, 2], langevin(), 10, **QUIET)
    with pytest.raises(TypeError, match="RattleLangevinIntegrator, not RattleIntegrator"):
        fe.mean_force_profile(chain, START, DIHEDRAL, VALUES, mc.RattleIntegrator(0.001), 10, **QUIET)


@pytest.mark.parametrize("run", [fe.pull, fe.mean_force_profile])
def test_positions_and_seeds_that_cannot_be(run, tmp_path):
    lost = np.array(START)
    lost[2:, 1] = np.nan
    with pytest.raises(ValueError, match=r"position of particle 2 \(and of 1 more\) is .* nm, which is not finite"):
        run(chain, lost, DIHEDRAL, [2, 2.2], langevin(), 10, **QUIET)
    for seed, error in ((-1, ValueError), (0.5, TypeError), ("1", TypeError)):
        with pytest.raises(error, match=f"seed must be a whole number, 0 or more, not {seed!r}; None makes"):
            run(chain, START, DIHEDRAL, [2, 2.2], langevin(), 10, seed=seed, **QUIET)
    for of_windows in (fe.mean_force_profile, fe.run_windows):
        folder = tmp_path / of_windows.__name__
        with pytest.raises(ValueError, match="seed must be"):
            of_windows(chain, START[:2], DIHEDRAL, [2, 2.2], langevin(), 10, seed=-1, folder=folder, **QUIET)
        assert not folder.exists()


def test_a_window_at_positions_that_are_not_finite():
    with pytest.raises(ValueError, match=r"position of particle 3 is \[inf .* not finite"):
        fe.run_window(chain, [*START[:3], [np.inf, 0, 0]], DIHEDRAL, 2, langevin(), 10, platform="Reference")


def test_windows_too_short_for_an_error_are_named():
    with pytest.warns(UserWarning, match="too few independent samples for an error estimate at 2, 2.2"):
        profile = fe.mean_force_profile(
            chain, START, DIHEDRAL, [2, 2.2], langevin(), 30, pull_steps=50, equilibration=5, **QUIET
        )
    assert np.isnan(profile.error).all()


# ---- explicit solvent --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dipeptide_in_water():
    """Alanine dipeptide in a small box of water, hydrogens rigid: System, positions, and the positions wrapped."""
    pdb = app.PDBFile(StringIO(ALANINE_DIPEPTIDE))
    field = force_field(*AMBER14)
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.addSolvent(field, boxSize=mm.Vec3(2.0, 1.7, 1.7) * unit.nanometer)
    system = field.createSystem(
        modeller.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.7 * unit.nanometer, constraints=app.HBonds
    )
    return system, np.array(modeller.positions.value_in_unit(unit.nanometer))


@pytest.mark.parametrize("coordinate", [fe.Dihedral(4, 6, 8, 14), fe.Angle(6, 8, 14)], ids=lambda c: c.label)
@pytest.mark.parametrize("triclinic", [False, True])
def test_dihedrals_and_angles_are_held_in_explicit_solvent(dipeptide_in_water, coordinate, triclinic):
    given, positions = dipeptide_in_water
    system = mm.XmlSerializer.clone(given)
    box = np.diag([2.0, 1.7, 1.7])
    if triclinic:
        box[1, 0] = box[2, 0] = 0.3
    system.setDefaultPeriodicBoxVectors(*box)
    value = coordinate.measure(system, positions)
    coordinate.hold(system, value)
    integrator = langevin(300, 1, 0.0005)
    context = mm.Context(system, integrator, under_test())
    # Wrapped particle by particle, about an origin that cuts the peptide.
    wrapped = positions - positions[8]
    for axis in (2, 1, 0):
        wrapped -= np.floor(wrapped[:, axis] / box[axis, axis])[:, None] * box[axis]
    context.setPositions(wrapped)
    bare = mm.Context(given, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    free = bare.getIntegrator().getNumDegreesOfFreedom()
    assert integrator.getNumDegreesOfFreedom() == free - 1
    mc.minimize(context, maxIterations=5)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(5)
    state = context.getState(positions=True)
    held = coordinate.measure(system, state.getPositions(asNumpy=True).value_in_unit(unit.nanometer))
    assert coordinate.nearest(held, value) == pytest.approx(value, abs=1e-4)
