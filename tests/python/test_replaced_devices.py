# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""replaceSolver() on the platform under test: failures that a device tells later, states that others set, minimizers,
barostats, reporters, several Contexts and threads.

On hosts a failed solve raises in step(). Devices do not wait for it: it raises where results are read, if not before.
"""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openmm as mm
import pytest
from held_kinds import CHAIN, KINDS, build, distance, length
from openmm import app
from platforms import HOSTS, NAME, bound, under_test
from test_replaced_solver import chain_and_waters
from their_integrators import THEIRS, errors_of, positions, prepare, start, take_step

import openmmconstraints as mc

#: Takes long where kernels are compiled first: on a device in check.sh only.
later = pytest.mark.platform if NAME in HOSTS else pytest.mark.precisions

TOLERANCE = 1e-6
HELD = bound(1.0001 * TOLERANCE, single=3e-6)


def langevin(dt: float = 0.002) -> mm.Integrator:
    return prepare(mm.LangevinMiddleIntegrator(300, 1, dt), TOLERANCE)


def springs(*forces: mm.Force) -> tuple[app.Topology, mm.System, mc.ReplacedSolver]:
    """A chain with its bonds and angles held, and a spring between its ends."""
    spring = mm.HarmonicBondForce()
    spring.addBond(0, 5, length(0, 5), 500)
    topology, system = build("angles with their sides", spring, *forces)
    return topology, system, mc.replaceSolver(system, topology)


def running(*forces: mm.Force) -> tuple[mm.Context, mc.ConstraintForce]:
    _, system, replaced = springs(*forces)
    context = mm.Context(system, langevin(), under_test())
    context.setPositions(CHAIN)
    context.setVelocitiesToTemperature(300, 1)
    context.getIntegrator().step(2)
    return context, replaced.force


def error_of(context: mm.Context) -> float:
    return max(errors_of(context.getSystem(), positions(context)))


def fail(context: mm.Context) -> None:
    """Take a step that cannot be solved."""
    velocities = np.zeros((6, 3))
    velocities[1] = [0, 900, 0]
    context.setVelocities(velocities)
    context.getIntegrator().step(1)


def minimize_by_openmm(context: mm.Context) -> None:
    if NAME == "OpenCL":  # with PoCL OpenMM's minimizer crashes, whoever solves
        context.applyConstraints(TOLERANCE)
    else:
        mm.LocalEnergyMinimizer.minimize(context, 0.1)


# ---- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.platform
def test_failed_steps_are_told_before_anything_is_read_or_set():
    context, force = running()
    kept, checkpoint = context.getState(positions=True, velocities=True), context.createCheckpoint()
    for use in (
        lambda: context.getState(positions=True),
        lambda: context.getState(velocities=True),
        lambda: context.getState(forces=True),
        lambda: context.getState(energy=True),
        context.createCheckpoint,
        lambda: context.setPositions(CHAIN),
        lambda: context.setVelocities(CHAIN),
        lambda: context.setState(kept),
        lambda: context.loadCheckpoint(checkpoint),
        lambda: context.setVelocitiesToTemperature(300, 2),
        lambda: context.applyConstraints(TOLERANCE),
        lambda: context.applyVelocityConstraints(TOLERANCE),
        lambda: minimize_by_openmm(context),
        lambda: mc.minimize(context),
        lambda: context.reinitialize(preserveState=True),
        lambda: (context.getIntegrator().step(5), context.getState(positions=True)),
    ):
        with pytest.raises(mm.OpenMMException, match=r"(?s)in a step at .*does not take the step back"):  # noqa: PT012
            fail(context)
            use()
        context.setState(kept)
        context.getIntegrator().step(2)
        assert error_of(context) < HELD
        assert force.getSolverSummary(context).converged


@pytest.mark.platform
def test_a_device_returns_from_the_step_whose_solve_failed_and_hosts_raise():
    context, force = running()
    kept = context.getState(positions=True, velocities=True)
    told = pytest.raises(mm.OpenMMException, match=r"Worst: (distance|angle) \d of the ConstraintForce.*A:MOL1:C")
    if NAME in HOSTS:
        with told:
            fail(context)
        assert not force.getSolverSummary(context).converged
    else:
        fail(context)
        assert not force.getSolverSummary(context).converged
        with told:
            context.getState(energy=True)
    context.getState(positions=True)  # told once; positions are what the step left
    context.setState(kept)
    context.getIntegrator().step(1)
    assert error_of(context) < HELD


@pytest.mark.platform
def test_a_simulation_stops_where_a_solve_fails():
    topology, system, _ = springs()
    simulation = app.Simulation(topology, system, langevin(), under_test())
    simulation.context.setPositions(CHAIN)
    rows = io.StringIO()
    simulation.reporters.append(
        app.StateDataReporter(rows, 5, step=True, potentialEnergy=True, kineticEnergy=True, temperature=True)
    )
    simulation.step(10)
    assert len(rows.getvalue().splitlines()) == 3
    with pytest.raises(mm.OpenMMException, match="could not be solved in a step"):  # noqa: PT012
        fail(simulation.context)
        simulation.step(5)
    assert len(rows.getvalue().splitlines()) == 3


# ---- states that others set ------------------------------------------------------------------------------------------


@pytest.mark.platform
def test_positions_have_to_be_set():
    _, system, replaced = springs()
    context = mm.Context(system, integrator := langevin(), under_test())
    for use in (lambda: integrator.step(1), lambda: context.applyConstraints(TOLERANCE)):
        with pytest.raises(mm.OpenMMException, match="Particle positions have not been set"):
            use()
    assert replaced.force.getSolverSummary(context).iterations == 0
    context.setPositions(CHAIN)
    integrator.step(1)
    assert error_of(context) < HELD


@pytest.mark.platform
@pytest.mark.parametrize("name", ["LangevinMiddle", "BAOAB"])
def test_states_that_are_set(name):
    """Coordinates as in files, far off, not finite; a State; a checkpoint, after which noise repeats."""
    _, system, _ = springs()
    integrator = prepare(THEIRS[name](0.002), TOLERANCE)
    context = mm.Context(system, integrator, under_test())
    for decimals in (4, 3):
        context.setPositions(np.round(CHAIN, decimals))
        context.setVelocitiesToTemperature(300, decimals)
        for _ in range(2):
            integrator.step(1)
            assert error_of(context) < HELD
    kept, checkpoint, at = (
        context.getState(positions=True, velocities=True, parameters=True),
        context.createCheckpoint(),
        positions(context),
    )
    for off, words in ((2, "farther than a step may"), (np.nan, "NaN|not finite")):
        context.setPositions(off * CHAIN)
        with pytest.raises(mm.OpenMMException, match=words):
            integrator.step(1)
        context.setState(kept)
        assert np.array_equal(positions(context), at)
        integrator.step(1)
        assert error_of(context) < HELD
    ends = []
    for _ in range(2):
        context.loadCheckpoint(checkpoint)
        assert np.array_equal(positions(context), at)
        integrator.step(5)
        ends.append(positions(context))
    assert np.array_equal(*ends)
    context.setPositions(2 * CHAIN)
    context.loadCheckpoint(checkpoint)
    integrator.step(5)
    assert np.array_equal(positions(context), ends[0])


@pytest.mark.platform
def test_parameters_move_targets():
    _, system = build("distance that follows a parameter", mm.HarmonicBondForce())
    force = mc.ConstraintForce.cast(system.getForce(1))
    mc.replaceSolver(system)
    context = mm.Context(system, integrator := langevin(0.001), under_test())
    context.setPositions(CHAIN)
    for value in (0, 0.5, 1, 0.2):
        context.setParameter("lambda", value)
        integrator.step(2)
        assert distance(context) == pytest.approx(0.1 + 0.02 * value, rel=HELD)
    force.setDistanceParameters(0, 0, 1, 0.13)
    force.setDistanceInterpolation(0, "lambda", 0.13)
    force.updateParametersInContext(context)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.13, rel=HELD)
    context.reinitialize(preserveState=True)
    integrator.step(2)
    assert distance(context) == pytest.approx(0.13, rel=HELD)


@pytest.mark.platform
def test_minimizers():
    _, system, _ = springs()
    energies = []
    for platform in (mm.Platform.getPlatform("Reference"), under_test()):
        context = mm.Context(system, prepare(mm.VerletIntegrator(0.001), TOLERANCE), platform)
        context.setPositions(2 * CHAIN)
        with pytest.warns(RuntimeWarning, match="minimize: the projection"):
            mc.minimize(context, tolerance=0.1)
        assert error_of(context) < HELD
        energies.append(context.getState(energy=True).getPotentialEnergy()._value)
        minimize_by_openmm(context)
        context.applyConstraints(TOLERANCE)
        assert error_of(context) < HELD
        context.getIntegrator().step(2)
        assert error_of(context) < HELD
    assert energies[1] == pytest.approx(energies[0], abs=1e-3)


@pytest.mark.platform
def test_temperatures():
    context, _ = running()
    energies = []
    for seed in range(1, 101):
        context.setVelocitiesToTemperature(300, seed)
        energies.append(context.getState(energy=True).getKineticEnergy()._value)
    degrees = 3 * 6 - KINDS["angles with their sides"].independent
    assert np.mean(energies) / (0.5 * degrees * 300 * 0.00831446261815324) == pytest.approx(
        1, abs=6 * np.sqrt(2 / degrees / 100)
    )


@pytest.mark.parametrize(
    ("name", "barostat"),
    [
        pytest.param("LangevinMiddle", mm.MonteCarloBarostat(1, 300, 2), marks=pytest.mark.platform),
        pytest.param("NoseHoover", mm.MonteCarloBarostat(1, 300, 2), marks=later),
        pytest.param("LangevinMiddle", mm.MonteCarloFlexibleBarostat(1, 300, 2, True), marks=later),
        pytest.param("NoseHoover", mm.MonteCarloFlexibleBarostat(1, 300, 2, True), marks=later),
    ],
)
def test_barostats(name, barostat):
    nonbonded = mm.NonbondedForce()
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(0.5)
    for _ in range(6):
        nonbonded.addParticle(0, 0.1, 0)
    _, system = build("angles with their sides", nonbonded, mm.XmlSerializer.clone(barostat))
    system.setDefaultPeriodicBoxVectors((3, 0, 0), (0, 3, 0), (0, 0, 3))
    mc.replaceSolver(system)
    context = mm.Context(system, integrator := prepare(THEIRS[name](0.002), TOLERANCE), under_test())
    context.setPositions(CHAIN)
    context.setVelocitiesToTemperature(300, 1)
    changes = []
    for _ in range(15):
        integrator.step(4)
        assert error_of(context) < HELD
        changes.append(abs(context.getState().getPeriodicBoxVolume()._value - 27))
    assert max(changes) > 0.1  # the last one may be back at the start


# ---- several Contexts ------------------------------------------------------------------------------------------------


@pytest.mark.platform
def test_contexts_side_by_side_and_in_threads():
    """Two Contexts of a System, in turns and in two threads, end where each one alone does."""
    _, system, replaced = springs()

    def contexts():
        return [start(system, CHAIN, prepare(mm.VerletIntegrator(dt), TOLERANCE), NAME) for dt in (0.001, 0.002)]

    def run(context):
        for _ in range(10):
            context.getIntegrator().step(2)
            assert replaced.force.getSolverSummary(context).converged
        return positions(context)

    alone = [run(context) for context in contexts()]
    in_turns = contexts()
    for _ in range(20):
        for context in in_turns:
            context.getIntegrator().step(1)
    with ThreadPoolExecutor(2) as pool:
        in_threads = list(pool.map(run, contexts()))
    assert np.abs(alone[0] - alone[1]).max() > 1e-3
    for end, *others in zip(alone, map(positions, in_turns), in_threads, strict=True):
        assert max(errors_of(system, end)) < HELD
        for other in others:
            assert np.abs(other - end).max() < bound(1e-12, double=1e-9, mixed=1e-7, single=1e-5)


@later
@pytest.mark.parametrize("name", ["MTS", "AMD", "DualAMD", "NoseHoover"])
def test_trajectories_are_those_of_the_built_in_solver_on_reference(name):
    """Not on the device itself: there CCMA misses its own tolerance with PoCL, where VariableVerlet is wrong, too."""
    original, x = chain_and_waters()
    replaced = mm.XmlSerializer.clone(original)
    mc.replaceSolver(replaced)
    velocities = 0.4 * np.random.default_rng(5).normal(size=x.shape)
    ends = []
    for system, platform in ((original, "Reference"), (replaced, NAME)):
        integrator = prepare(THEIRS[name](0.0005), bound(1e-10, mixed=1e-8, single=1e-6))
        context = start(system, x, integrator, platform)
        context.setVelocities(velocities)
        context.applyVelocityConstraints(1e-10)
        for step in range(20):
            take_step(integrator, step)
        ends.append(positions(context))
    assert np.linalg.norm(ends[0] - x, axis=1).max() > 1e-3
    assert np.linalg.norm(ends[0] - ends[1], axis=1).max() < bound(1e-8, mixed=1e-6, single=1e-5)


# ---- copies of the box -----------------------------------------------------------------------------------------------


def groups_across_the_box() -> tuple[mm.System, np.ndarray]:
    """Two groups of dimers, which OpenMM wraps into the box on devices, at a distance of their centroids."""
    system, positions = mm.System(), np.array([[-0.4, 0.3, 0], [-0.2, 0.3, 0.1], [0.3, 0.3, 0], [0.5, 0.3, 0.1]])
    positions = np.concatenate([positions, np.add(positions, [0, 0.1, 0])])
    nonbonded = mm.NonbondedForce()
    for _ in positions:
        system.addParticle(12)
        nonbonded.addParticle(0, 0.1, 0)
    for i in range(4):
        system.addConstraint(i, i + 4, 0.1)
    held = mc.ConstraintForce()
    held.addCentroidDistance([0, 1], [2, 3], 0.7)
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(0.5)
    system.setDefaultPeriodicBoxVectors((2, 0, 0), (0, 2, 0), (0, 0, 2))
    system.addForce(nonbonded)
    system.addForce(held)
    return system, positions


@pytest.mark.platform
@pytest.mark.parametrize("make", [mc.RattleIntegrator, mm.VerletIntegrator])
@pytest.mark.parametrize("what", ["positions", "box"])
def test_molecules_that_openmm_has_wrapped_are_where_they_are_set(make, what):
    """Without a move onto the constraints, since the positions satisfy them."""
    system, x = groups_across_the_box()
    if make is mm.VerletIntegrator:
        mc.replaceSolver(system)
    context = mm.Context(system, prepare(make(0.001), TOLERANCE), under_test())
    context.setPositions(x)
    for _ in range(2):
        context.getIntegrator().step(2)
        if what == "positions":
            context.setPositions(context.getState(positions=True).getPositions())
        else:
            context.setPeriodicBoxVectors((2, 0, 0), (0, 2, 0), (0, 0, 2))
    context.getIntegrator().step(2)
    assert np.abs(positions(context) - x).max() < bound(1e-6, single=1e-5)


@pytest.mark.platform
def test_groups_keep_their_distance_under_a_barostat():
    """Which lets OpenMM unwrap their molecules in a step."""
    system, x = groups_across_the_box()
    system.addForce(mm.MonteCarloBarostat(1, 300, 7))
    mc.replaceSolver(system)
    context = mm.Context(system, prepare(mm.LangevinMiddleIntegrator(300, 1, 0.001), TOLERANCE), under_test())
    context.setPositions(x)
    for _ in range(20):
        context.getIntegrator().step(1)
        assert error_of(context) < HELD


# ---- bodies that others have moved -----------------------------------------------------------------------------------


@pytest.mark.platform
@pytest.mark.parametrize("is_joined", [False, True], ids=["free", "joined"])
def test_a_rigid_body_that_was_bent_by_others_is_told(is_joined):
    system, bodies = mm.System(), mc.ConstraintForce()
    shape = np.array([[0, 0, 0], [0.15, 0, 0], [0, 0.15, 0], [0, 0, 0.15]])
    x = np.concatenate([shape, np.add(shape, [0.5, 0, 0])])
    for _ in x:
        system.addParticle(12)
    for first in (0, 4):
        bodies.addRigidBody(range(first, first + 4), shape)
    if is_joined:
        bodies.addDistance(1, 4, 0.35)
    system.addConstraint(*[system.addParticle(12) for _ in range(2)], 0.1)
    system.addForce(bodies)
    mc.replaceSolver(system)
    integrator = mm.CustomIntegrator(0.001)
    integrator.addPerDofVariable("push", 0)
    integrator.addUpdateContextState()
    integrator.addConstrainPositions()
    integrator.addComputePerDof("x", "x+push")
    context = mm.Context(system, integrator, under_test())
    context.setPositions([*x, (2, 0, 0), (2.1, 0, 0)])
    integrator.step(1)
    integrator.setPerDofVariableByName("push", [(0.5 if i == 5 else 0, 0, 0) for i in range(len(x) + 2)])
    message = r"rigid body 1 .* has a different shape, by .*: the projection before"
    with pytest.raises(mm.OpenMMException, match=message):  # noqa: PT012
        integrator.step(2)
        context.getState(positions=True)
