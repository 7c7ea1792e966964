# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""replaceSolver(): degrees of freedom as OpenMM counts them, and what the Force and its Contexts do from Python."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import openmm as mm
import pytest
from molecules import system_of, topology_of
from openmm import app
from periodic_networks import helix
from test_joined_bodies import PLACES, hinged
from test_periodic_networks import system_of as system_of_network
from their_integrators import compound, dihedral, errors_of, positions, prepare, splitting

import openmmconstraints as mc
from openmmconstraints.benchmark.generated import benzene
from openmmconstraints.inspection.energy import BOLTZMANN

REFERENCE = mm.Platform.getPlatform("Reference")
CHAIN = np.array([[0, 0.1, 0], [0, 0, 0], [0.12, 0, 0], [0.15, 0.1, 0.06], [0.25, 0.1, 0.1], [0.3, 0, 0.1]])


def length(i: int, j: int) -> float:
    return float(np.linalg.norm(CHAIN[i] - CHAIN[j]))


def angle(i: int, j: int, k: int) -> float:
    a, b = CHAIN[i] - CHAIN[j], CHAIN[k] - CHAIN[j]
    return float(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


class Held(NamedTuple):
    """What is held, and what is to be counted."""

    make: Callable[[mc.ConstraintForce, mm.System], object]  # adds constraints
    independent: int
    declared: int = 0
    moved: int = 0
    counted: int = 0
    uncounted: tuple[str, ...] = ()
    positions: np.ndarray = CHAIN


def bonds(force: mc.ConstraintForce, system: mm.System) -> None:
    for i in range(5):
        force.addDistance(i, i + 1, length(i, i + 1))


def bonds_and_angles(force: mc.ConstraintForce, system: mm.System) -> None:
    bonds(force, system)
    for i in range(4):
        force.addAngle(i, i + 1, i + 2, angle(i, i + 1, i + 2))


def all_distances(force: mc.ConstraintForce, system: mm.System) -> None:
    for i in range(6):
        for j in range(i):
            system.addConstraint(j, i, length(i, j))


def line(force: mc.ConstraintForce, system: mm.System) -> None:
    for i, j, distance in ((0, 1, 0.1), (1, 2, 0.12), (0, 2, 0.22)):
        system.addConstraint(i, j, distance)


def straight(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDistance(0, 1, 0.1)
    force.addDistance(1, 2, 0.12)
    force.addAngle(0, 1, 2, np.pi)


def others(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDihedral(0, 1, 2, 3, dihedral(CHAIN[:4]))
    force.addCentroidDistance(
        [0, 1, 2], [3, 4, 5], float(np.linalg.norm(CHAIN[:3].mean(axis=0) - CHAIN[3:].mean(axis=0)))
    )
    for particle in (3, 4):
        plane = mc.CustomConstraintForce(1, "z1 - 0.08")
        plane.addConstraint([particle], [])
        system.addForce(plane)


def followed(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDistance(0, 1, 0.1)
    force.addGlobalParameter("lambda", 0)
    force.setDistanceInterpolation(0, "lambda", 0.12)


def anchored(force: mc.ConstraintForce, system: mm.System) -> None:
    system.setParticleMass(0, 0)
    force.addDistance(0, 1, 0.1)


ON_A_LINE = np.array([[0, 0, 0], [0.1, 0, 0], [0.22, 0, 0], *CHAIN[3:]])
KINDS = {
    "System": Held(lambda force, system: system.addConstraint(0, 1, 0.1), 1, counted=1),
    "distances": Held(bonds, 5, declared=5, counted=5),
    "angles with their sides": Held(bonds_and_angles, 9, declared=9, counted=9),
    "angle": Held(lambda force, system: force.addAngle(0, 1, 2, 1.6), 1, uncounted=("1 angle",)),
    "straight angle": Held(straight, 4, declared=2, counted=2, uncounted=("1 angle",), positions=ON_A_LINE),
    "body": Held(lambda force, system: force.addRigidBody(range(6), CHAIN), 12, declared=12, counted=12),
    "linear body": Held(
        lambda force, system: force.addRigidBody(range(3), ON_A_LINE[:3]),
        4,
        declared=3,
        counted=3,
        uncounted=("1 rigid body",),
        positions=ON_A_LINE,
    ),
    "redundant distances": Held(all_distances, 12, moved=3, counted=12),
    "line of distances": Held(line, 4, counted=3, uncounted=("linear rigid bodies",), positions=ON_A_LINE),
    "dihedral, centroids, planes": Held(others, 4, uncounted=("1 dihedral", "1 centroid distance", "2 expressions")),
    "distance that follows a parameter": Held(followed, 1, uncounted=("1 distance",)),
    "distance to an anchor": Held(anchored, 1, uncounted=("1 distance",)),
}
FIXED = ("dihedral, centroids, planes", "distance to an anchor")  # with which a CMMotionRemover is refused


def removers(kind: str, wanted: bool) -> list[mm.Force]:
    return [mm.CMMotionRemover()] if wanted and kind not in FIXED else []


def build(kind: str, *forces: mm.Force) -> tuple[app.Topology, mm.System]:
    topology = topology_of(["C"] * 6)
    system, force = system_of(topology), mc.ConstraintForce()
    KINDS[kind].make(force, system)
    for each in (force, *forces):
        system.addForce(each)
    return topology, system


def distance(context: mm.Context, i: int = 0, j: int = 1) -> float:
    x = positions(context)
    return float(np.linalg.norm(x[i] - x[j]))


# ---- what is counted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("remover", [False, True], ids=["", "CMMotionRemover"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_counts_each_kind(kind, remover):
    held = KINDS[kind]
    _, system = build(kind, *removers(kind, remover))
    before = system.getNumConstraints()
    added = mc.replaceSolver(system)
    assert (added.declared, added.moved) == (held.declared, held.moved)
    assert system.getNumConstraints() == before + held.declared - held.moved
    assert (added.independent, added.counted) == (held.independent, held.counted)
    assert added.uncounted == held.uncounted
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(held.positions)
    integrator.applyConstraints()
    massive = 5 if kind == "distance to an anchor" else 6
    assert added.degrees == 3 * massive - held.independent - 3 * len(removers(kind, remover))
    assert added.degrees == integrator.getNumDegreesOfFreedom()
    assert added.temperature_factor == pytest.approx(1 + (held.independent - held.counted) / added.degrees)
    if held.uncounted:
        assert f"of freedom of {', '.join(held.uncounted)}: multiply" in str(added)
        assert f"does not count {held.independent - held.counted} degree" in str(added)
        assert f"{added.temperature_factor:.6g}" in str(added)
    else:
        assert "multiply" not in str(added)


def test_the_summary_counts_molecules():
    added = mc.replaceSolver(system := benzene(3).create("Rigid"))
    assert (added.independent, added.counted, added.moved) == (3 * 30, 3 * 30, 3 * 36)
    assert added.force.getNumDistances() == 3 * 36
    assert system.getNumConstraints() == 3 * 30
    added = mc.replaceSolver(system := hinged(True))
    assert (added.degrees, added.declared, added.counted) == (7, 17, 17)
    assert system.getNumConstraints() == 17


def test_a_network_through_the_box_is_counted_or_named():
    """Thirty distances of ten particles, of which 26 are independent where they are: more than lengths tell."""
    network = helix(True)
    added = mc.replaceSolver(system_of_network(network, in_system=True))
    assert (added.independent, added.degrees, added.moved) == (None, None, 0)
    assert np.isnan(added.temperature_factor)
    assert "depends on positions" in str(added)
    system = system_of_network(network, in_system=True)
    added = mc.replaceSolver(system, positions=network.x)
    assert (added.independent, added.counted, added.moved, added.degrees) == (26, 26, 4, 4)
    assert (system.getNumConstraints(), added.temperature_factor) == (26, 1)


@pytest.mark.parametrize("remover", [False, True], ids=["", "CMMotionRemover"])
@pytest.mark.parametrize("kind", KINDS)
def test_reported_temperatures_times_the_factor_are_right(kind, remover):
    topology, system = build(kind, *removers(kind, remover))
    added = mc.replaceSolver(system)
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    simulation = app.Simulation(topology, system, integrator, REFERENCE)
    simulation.context.setPositions(KINDS[kind].positions)
    simulation.context.applyConstraints(1e-5)
    simulation.context.setVelocitiesToTemperature(300, 1)
    rows = io.StringIO()
    simulation.reporters.append(app.StateDataReporter(rows, 1, temperature=True))
    simulation.step(1)
    shown = float(rows.getvalue().splitlines()[-1])
    energy = simulation.context.getState(energy=True).getKineticEnergy()._value
    assert shown * added.temperature_factor == pytest.approx(2 * energy / (added.degrees * BOLTZMANN), rel=1e-6)


@pytest.mark.parametrize("remover", [False, True], ids=["", "CMMotionRemover"])
@pytest.mark.parametrize("kind", [*KINDS, "network", "hinge"])
def test_nose_hoover_thermostats_count_what_is_left(kind, remover):
    if kind == "network":
        system, x, left = system_of_network(helix(True), in_system=True), helix(True).x, 4
    elif kind == "hinge":
        system, x, left = hinged(True), PLACES, 7
    else:
        (_, system), x = build(kind), KINDS[kind].positions
        left = 3 * (5 if kind == "distance to an anchor" else 6) - KINDS[kind].independent
    for force in removers(kind, remover):
        system.addForce(force)
        left -= 3
    mc.replaceSolver(system)
    for wrap in (lambda integrator: integrator, compound):
        thermostatted = mm.NoseHooverIntegrator(300, 20, 0.0005)
        integrator = wrap(thermostatted)
        context = mm.Context(system, integrator, REFERENCE)
        context.setPositions(x)
        context.applyConstraints(1e-5)
        for _ in range(2):
            integrator.step(2)
            assert thermostatted.getThermostat().getNumDegreesOfFreedom() == left
            context.reinitialize(preserveState=True)


@pytest.mark.parametrize("remover", [False, True], ids=["", "CMMotionRemover"])
def test_nose_hoover_thermostats_of_pairs_count_what_is_left(remover):
    """Seven degrees of freedom of a hinge, and three for the centre of each pair."""
    system, x = hinged(True), np.concatenate([PLACES, [[1, 1, 1], [1.1, 1, 1], [1, 2, 1], [1.1, 2, 1]]])
    for mass in (12, 12, 16, 4):
        system.addParticle(mass)
    spring = mm.HarmonicBondForce()
    for pair in ((8, 9), (10, 11)):
        spring.addBond(*pair, 0.1, 1000)
    for force in (spring, *[mm.CMMotionRemover()] * remover):
        system.addForce(force)
    mc.replaceSolver(system)
    integrator = mm.NoseHooverIntegrator(0.001)
    integrator.addSubsystemThermostat(range(8), [(8, 9), (10, 11)], 300, 20, 100, 20)
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(x)
    integrator.step(1)
    assert integrator.getThermostat().getNumDegreesOfFreedom() == 7 + 2 * 3 - 3 * remover


@pytest.mark.parametrize("make", [mm.VerletIntegrator, mc.RattleIntegrator, lambda dt: mm.NoseHooverIntegrator(dt)])
@pytest.mark.parametrize("kind", ["line of distances", "straight angle", "redundant distances", "body"])
def test_velocities_have_the_temperature_that_is_asked_for(kind, make):
    _, system = build(kind)
    degrees = mc.replaceSolver(system).degrees
    context = mm.Context(system, prepare(make(0.001), 1e-7), REFERENCE)
    context.setPositions(KINDS[kind].positions)
    energies = []
    for seed in range(1, 301):
        context.setVelocitiesToTemperature(300, seed)
        v = context.getState(velocities=True).getVelocities(asNumpy=True)._value
        energies.append(0.5 * system.getParticleMass(0)._value * (v * v).sum())
    spread = np.sqrt(2 / degrees)
    assert 2 * np.mean(energies) / (degrees * 300 * BOLTZMANN) == pytest.approx(1, abs=6 * spread / np.sqrt(300))
    assert 2 * np.max(energies) / (degrees * 300 * BOLTZMANN) < 1 + 8 * spread


def uncoupled_molecules(*forces: mm.Force) -> mm.System:
    """Four hinges of two bodies each, and four chains with bonds and angles, in wells."""
    system, force = mm.System(), mc.ConstraintForce()
    well = mm.CustomExternalForce("100*(x*x+y*y+z*z)")
    for _ in range(4):
        first = system.getNumParticles()
        for mass in (12, 14, 16, 3, 5, 10, 7, 4):
            system.addParticle(mass)
        for body in ((0, 1, 2, 3, 7), (2, 3, 4, 5, 6)):
            force.addRigidBody([first + i for i in body], PLACES[list(body)])
        first = system.getNumParticles()
        for i in range(6):
            system.addParticle(10 + i)
            if i > 0:
                force.addDistance(first + i - 1, first + i, length(i - 1, i))
            if i > 1:
                force.addAngle(first + i - 2, first + i - 1, first + i, angle(i - 2, i - 1, i))
    for i in range(system.getNumParticles()):
        well.addParticle(i, [])
    for each in (force, well, *forces):
        system.addForce(each)
    return system


DEGREES = 4 * (7 + 18 - 9)


def thermostatted(name: str) -> tuple[mm.System, mm.Integrator]:
    if name == "Andersen":
        thermostat = mm.AndersenThermostat(300, 20)
        thermostat.setRandomNumberSeed(3)
        return uncoupled_molecules(thermostat), mm.VerletIntegrator(0.002)
    if name == "NoseHoover":
        return uncoupled_molecules(), mm.NoseHooverIntegrator(300, 5, 0.002, 5)
    return uncoupled_molecules(), mm.LangevinMiddleIntegrator(300, 5, 0.002)


@pytest.mark.statistics
@pytest.mark.parametrize("name", ["NoseHoover", "Andersen", "LangevinMiddle"])
def test_thermostats_reach_their_temperature(name):
    system, integrator = thermostatted(name)
    added = mc.replaceSolver(system)
    assert added.degrees == DEGREES
    context = mm.Context(system, prepare(integrator, 1e-7), REFERENCE)
    context.setPositions(np.tile([*PLACES, *CHAIN], (4, 1)))
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(2000)
    temperatures = []
    for _ in range(2000):
        integrator.step(20)
        energy = context.getState(energy=True).getKineticEnergy()._value
        temperatures.append(2 * energy / (DEGREES * BOLTZMANN))
    batches = np.reshape(temperatures, (20, -1)).mean(axis=1)
    error = batches.std(ddof=1) / np.sqrt(20)
    assert 6 * error < 300 * 4 / DEGREES  # else four degrees of freedom more or less would not be seen
    assert np.mean(temperatures) == pytest.approx(300, abs=6 * error)


@pytest.mark.parametrize("kind", KINDS)
def test_andersen_thermostats_are_refused_where_they_would_count_wrong(kind):
    _, system = build(kind, mm.AndersenThermostat(300, 1))
    mc.replaceSolver(system)
    integrator = mm.VerletIntegrator(0.001)
    if kind in ("angle", "dihedral, centroids, planes", "distance that follows a parameter"):
        with pytest.raises(mm.OpenMMException, match="AndersenThermostat cannot be combined"):
            mm.Context(system, integrator, REFERENCE)
        return
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(KINDS[kind].positions)
    context.applyConstraints(1e-5)
    integrator.step(2)


# ---- the Force and its Contexts --------------------------------------------------------------------------------------


def through_xml(thing):
    return mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(thing))


DUPLICATES = pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing)), through_xml]
)


@DUPLICATES
def test_copies_keep_the_setting(duplicate):
    for yes in (False, True):
        force = mc.ConstraintForce()
        assert not force.getReplacesSolver()
        force.setReplacesSolver(yes)
        assert mc.ConstraintForce.cast(duplicate(force)).getReplacesSolver() is yes


def test_an_older_file_reads_as_false():
    force = mc.ConstraintForce()
    older = mm.XmlSerializer.serialize(force)
    force.setReplacesSolver(True)
    newer = mm.XmlSerializer.serialize(force)
    assert "replacesSolver" not in older
    assert "replacesSolver" in newer
    assert not mc.ConstraintForce.cast(mm.XmlSerializer.deserialize(older)).getReplacesSolver()


@DUPLICATES
def test_copies_of_a_system_run_alike(duplicate):
    system = hinged(True)
    mc.replaceSolver(system)
    ends = []
    for each in (system, duplicate(system)):
        context = mm.Context(each, splitting("V R V", 0.001), REFERENCE)
        context.setPositions(PLACES)
        context.setVelocitiesToTemperature(300, 1)
        context.getIntegrator().step(10)
        ends.append(positions(context))
    assert np.array_equal(*ends)


def test_mistakes_change_nothing():
    topology, system = build("body")
    with pytest.raises(ValueError, match="replaceSolver: the topology has 5 atoms"):
        mc.replaceSolver(system, topology_of(["C"] * 5))
    with pytest.raises(TypeError, match="replaceSolver"):
        mc.replaceSolver(topology)
    assert (system.getNumForces(), system.getNumConstraints()) == (2, 0)
    mc.replaceSolver(system, topology)
    with pytest.raises(ValueError, match="Force with index 2 replaces the solver"):
        mc.replaceSolver(system)
    assert (system.getNumForces(), system.getNumConstraints()) == (3, 12)


def test_errors_name_atoms_of_the_topology():
    topology, system = build("distances", mm.CMMotionRemover())
    mc.replaceSolver(system, topology)
    context = mm.Context(system, integrator := mm.VerletIntegrator(0.001), REFERENCE)
    context.setPositions(CHAIN * 2)
    with pytest.raises(mm.OpenMMException, match="C0"):
        integrator.step(1)


def test_the_remedy_can_be_typed():
    """OpenMM's integrators have neither applyConstraints() nor setMaxProjection()."""
    _, system = build("distances")
    mc.replaceSolver(system)
    context = mm.Context(system, integrator := mm.VerletIntegrator(0.001), REFERENCE)
    context.setPositions(CHAIN * 2)
    with pytest.raises(mm.OpenMMException) as raised:
        integrator.step(1)
    assert "integrator.applyConstraints" not in str(raised.value)
    assert "setMaxProjection" not in str(raised.value)
    context.applyConstraints(1e-5)
    integrator.step(1)


def test_two_contexts_of_a_system():
    _, system = build("angles with their sides")
    force = mc.replaceSolver(system).force
    contexts = []
    for integrator, platform in ((mm.VerletIntegrator(0.001), "Reference"), (splitting("V R V", 0.002), "CPU")):
        context = mm.Context(system, prepare(integrator, 1e-9), mm.Platform.getPlatform(platform))
        context.setPositions(CHAIN)
        context.setVelocitiesToTemperature(300, len(contexts) + 1)
        contexts.append(context)
    for _ in range(5):
        for context in contexts:
            context.getIntegrator().step(2)
            assert distance(context) == pytest.approx(0.1, rel=1e-9)
            summary = force.getSolverSummary(context)
            assert summary.converged
            assert 0 < summary.iterations < 20
            assert summary.maxError <= 1e-9
    assert np.abs(positions(contexts[0]) - positions(contexts[1])).max() > 1e-4


def test_more_than_one_force_may_replace_the_solver():
    _, system = build("distances")
    forces = [mc.ConstraintForce() for _ in range(2)]
    forces[0].addAngle(0, 1, 2, angle(0, 1, 2))
    for force in forces:
        force.setReplacesSolver(True)
        system.addForce(force)
    context = mm.Context(system, integrator := prepare(mm.LangevinMiddleIntegrator(300, 1, 0.001), 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    for _ in range(3):
        integrator.step(1)
        assert max(errors_of(system, positions(context))) < 1e-9
    assert forces[0].getSolverSummary(context).iterations == forces[1].getSolverSummary(context).iterations > 0


def following(target: float = 0.12) -> tuple[mm.System, mc.ConstraintForce]:
    _, system = build("distance that follows a parameter")
    force = mc.ConstraintForce.cast(system.getForce(1))
    force.setDistanceInterpolation(0, "lambda", target)
    mc.replaceSolver(system)
    return system, force


def test_parameters_and_new_values_are_held_from_the_next_step_on():
    system, force = following()
    context = mm.Context(system, integrator := prepare(mm.LangevinMiddleIntegrator(300, 1, 0.001), 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    integrator.step(2)
    assert distance(context) == pytest.approx(0.1, rel=1e-9)
    context.setParameter("lambda", 0.5)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.11, rel=1e-9)
    force.setDistanceParameters(0, 0, 1, 0.13)
    force.setDistanceInterpolation(0, "lambda", 0.13)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.11, rel=1e-9)
    force.updateParametersInContext(context)
    integrator.step(1)
    assert distance(context) == pytest.approx(0.13, rel=1e-9)
    force.addDistance(4, 5, length(4, 5))
    with pytest.raises(mm.OpenMMException, match=r"reinitialize"):
        force.updateParametersInContext(context)
    integrator.step(1)
    context.reinitialize(preserveState=True)
    integrator.step(5)
    assert distance(context) == pytest.approx(0.13, rel=1e-9)
    assert distance(context, 4, 5) == pytest.approx(length(4, 5), rel=1e-9)


def test_an_integrator_may_change_a_parameter_within_its_step():
    """As nonequilibrium ones of openmmtools do. The Context is told when the integrator asks for forces."""
    system, _ = following()
    integrator = mm.CustomIntegrator(0.001)
    integrator.addPerDofVariable("x1", 0)
    integrator.addUpdateContextState()
    for _ in range(2):
        integrator.addComputeGlobal("lambda", "lambda + 0.05")
        integrator.addComputePerDof("v", "v+0.5*dt*f/m")
        integrator.addComputePerDof("x", "x+0.5*dt*v")
        integrator.addComputePerDof("x1", "x")
        integrator.addConstrainPositions()
        integrator.addComputePerDof("v", "v+(x-x1)/(0.5*dt)")
        integrator.addConstrainVelocities()
    context = mm.Context(system, prepare(integrator, 1e-9), REFERENCE)
    context.setPositions(CHAIN)
    context.setVelocitiesToTemperature(300, 1)
    for step in range(1, 6):
        integrator.step(1)
        assert distance(context) == pytest.approx(0.1 + 0.02 * 0.1 * step, rel=1e-9)


def test_readings_that_need_the_duration_of_a_move_are_those_of_our_integrators():
    _, system = build("distances")
    force = mc.replaceSolver(system).force
    context = mm.Context(system, both := compound(mm.VerletIntegrator(0.001), mc.RattleIntegrator(0.001)), REFERENCE)
    context.setPositions(CHAIN)
    both.step(1)
    declared = mc.ConstraintForce.cast(system.getForce(1))
    with pytest.raises(mm.OpenMMException, match=r"(?s)getMultipliers.*RattleLangevinIntegrator.*how long a step is"):
        declared.getMultipliers(context)
    both.setCurrentIntegrator(1)
    both.step(1)
    assert len(declared.getMultipliers(context)) == 5
    assert force.getSolverSummary(context).converged


def test_a_summary_needs_a_solver():
    system = mm.System()
    system.addParticle(1)
    system.addForce(force := mc.ConstraintForce())
    context = mm.Context(system, mm.LangevinMiddleIntegrator(300, 1, 0.001), REFERENCE)
    with pytest.raises(mm.OpenMMException, match="no solver of openmm-constraints is in this Context"):
        force.getSolverSummary(context)
    other = mm.Context(hinged(True), mc.RattleIntegrator(0.001), REFERENCE)
    with pytest.raises(mm.OpenMMException):
        force.getSolverSummary(other)
