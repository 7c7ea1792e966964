# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""replaceSolver(): degrees of freedom as OpenMM counts them, and what thermostats make of them."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from force_fields import force_field
from held_kinds import CHAIN, KINDS, REFERENCE, angle, build, length, removers
from molecules import topology_of
from openmm import app
from periodic_networks import helix, nearest_image
from platforms import EVERYWHERE, HOSTS, NAME, bound, named, under_test
from test_joined_bodies import PLACES, hinged
from test_periodic_networks import system_of as system_of_network
from their_integrators import compound, dihedral, errors_of, positions, prepare, splitting

import openmmconstraints as mc
from openmmconstraints.benchmark.generated import benzene
from openmmconstraints.helpers import known_rank
from openmmconstraints.inspection.energy import BOLTZMANN

EXAMPLES = Path(__file__).parents[2] / "examples"


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


def test_an_angle_that_follows_from_distances_is_not_named():
    """It takes no degree of freedom; the dihedral does."""
    _, system = build("distances")
    force = mc.ConstraintForce.cast(system.getForce(system.getNumForces() - 1))
    force.addDistance(0, 2, length(0, 2))
    force.addAngle(0, 1, 2, angle(0, 1, 2))
    force.addDihedral(0, 1, 2, 3, 1.0)
    added = mc.replaceSolver(system)
    assert (added.independent, added.counted, added.uncounted) == (7, 6, ("1 dihedral",))


def test_the_summary_counts_molecules():
    added = mc.replaceSolver(system := benzene(3).create("Rigid"))
    assert (added.independent, added.counted, added.moved) == (3 * 30, 3 * 30, 3 * 36)
    assert added.force.getNumDistances() == 3 * 36
    assert system.getNumConstraints() == 3 * 30
    added = mc.replaceSolver(system := hinged(True))
    assert (added.degrees, added.declared, added.counted) == (7, 17, 17)
    assert system.getNumConstraints() == 17


UNKNOWN = (
    r"independent depends on positions for 10 particles, particles 0, 1 and 2 among them\. OpenMM counts (9|30) in all"
    r".*Call replaceSolver\(system, positions=x\)"
)


def test_a_network_through_the_box_is_counted_or_named():
    """Thirty distances of ten particles, of which 26 are independent where they are: more than lengths tell."""
    network = helix(True)
    with pytest.warns(RuntimeWarning, match=UNKNOWN):
        added = mc.replaceSolver(system_of_network(network, in_system=True))
    assert (added.independent, added.degrees, added.moved) == (None, None, 0)
    assert np.isnan(added.temperature_factor)
    assert str(added).endswith(
        "OpenMM counts 30 constraints; how many are independent depends on positions: "
        "call replaceSolver(system, positions=...) for right temperatures"
    )
    system = system_of_network(network, in_system=True)
    added = mc.replaceSolver(system, positions=network.x)
    assert (added.independent, added.counted, added.moved, added.degrees) == (26, 26, 4, 4)
    assert (system.getNumConstraints(), added.temperature_factor) == (26, 1)


def with_massless(kind: str, *forces: mm.Force) -> tuple[mm.System, np.ndarray]:
    """With a virtual site and two anchors behind the chain."""
    _, system = build(kind, *forces)
    for _ in range(3):
        system.addParticle(0)
    system.setVirtualSite(6, mm.TwoParticleAverageSite(0, 1, 0.5, 0.5))
    return system, np.concatenate([KINDS[kind].positions, [[0, 0, 0], [1, 1, 1], [1, 1, 1.7]]])


@pytest.mark.parametrize("platform", EVERYWHERE)
@pytest.mark.parametrize("kind", ["angle", "dihedral, centroids, planes", "distance that follows a parameter"])
def test_a_distance_of_massless_particles_lets_custom_integrators_ask(kind, platform):
    """On devices these do not ask for constraints where the System has none. It takes no degree of freedom."""
    system, x = with_massless(kind)
    original = mm.XmlSerializer.clone(system)
    added = mc.replaceSolver(system)
    assert (added.declared, added.moved, added.counted) == (0, 0, 0)
    assert added.degrees == 3 * 6 - KINDS[kind].independent
    assert system.getConstraintParameters(0)[:2] == [7, 8]
    assert added.force.getCountedPairs() == ((7, 8),)
    integrator = prepare(splitting("V R V", 0.001), 1e-6)
    topology = topology_of(["C"] * 9)
    simulation = app.Simulation(topology, system, integrator, named(platform))
    context = simulation.context
    context.setPositions(x)
    context.applyConstraints(1e-5)
    context.setVelocitiesToTemperature(300, 1)
    simulation.reporters.append(app.StateDataReporter(rows := io.StringIO(), 20, temperature=True))
    simulation.step(20)
    now = positions(context)
    assert max(errors_of(original, now), default=0) < bound(1.0001e-6, single=3e-6)
    assert np.linalg.norm(now - x, axis=1)[:6].min() > 1e-4
    assert now[7:] == pytest.approx(x[7:], abs=bound(0, mixed=1e-12, single=1e-7))
    shown = float(rows.getvalue().splitlines()[-1])
    energy = context.getState(energy=True).getKineticEnergy()._value
    assert shown * added.temperature_factor == pytest.approx(2 * energy / (added.degrees * BOLTZMANN), rel=1e-6)
    health = mc.Health(system, integrator=integrator)
    assert [found.severity for found in health.findings if found.kind == "ignored"] == ["note"]


def test_which_massless_particles_are_taken():
    joined = mm.HarmonicBondForce()
    for forces, pairs in (
        ([], ((7, 8),)),
        ([mm.MonteCarloBarostat(1, 300)], ()),  # it would move both as one molecule
        ([mm.MonteCarloBarostat(1, 300), joined], ((8, 9),)),
    ):
        system, x = with_massless("angle", *forces)
        system.addParticle(0)
        if joined in forces:
            mm.HarmonicBondForce.addBond(system.getForce(system.getNumForces() - 1), 8, 9, 0, 0)
        assert mc.replaceSolver(system).force.getCountedPairs() == pairs
        assert system.getNumConstraints() == len(pairs)
    system, x = with_massless("angle")
    mc.replaceSolver(system, positions=x)
    assert system.getConstraintParameters(0)[2]._value == pytest.approx(0.7)  # OpenMM's minimizer looks at it
    system, _ = with_massless("distances")
    assert mc.replaceSolver(system).force.getCountedPairs() == tuple((i, i + 1) for i in range(5))


def test_distances_without_rings_are_declared_where_positions_decide_how_many_are_independent():
    network = helix(True)
    system = system_of_network(network, in_system=False)
    with pytest.warns(RuntimeWarning, match=UNKNOWN):
        added = mc.replaceSolver(system)
    assert (added.independent, added.declared, system.getNumConstraints()) == (None, 9, 9)
    assert rank_of_declared(system, network.x, network.box) == 9


def test_of_molecules_that_are_constrained_alike_the_first_is_looked_at(monkeypatch):
    network, diagnosed = helix(True), []
    system, force = system_of_network(network), mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(True)
    for _ in range(15):
        first = system.getNumParticles()
        for _ in network.x:
            system.addParticle(12)
        for (i, j), held in zip(network.pairs.tolist(), np.linalg.norm(network.bonds(), axis=1), strict=True):
            force.addDistance(first + i, first + j, float(held))
    system.addForce(force)
    diagnose = known_rank._diagnose
    monkeypatch.setattr(known_rank, "_diagnose", lambda *given: diagnosed.append(given) or diagnose(*given))
    with pytest.warns(RuntimeWarning, match="for 160 particles"):
        assert mc.replaceSolver(system).declared == 16 * 9
    assert len(diagnosed) == 2


def test_rigid_waters_are_declared_beside_a_peptide_with_all_bonds_and_angles():
    """Its rigid groups close loops, so that positions decide how many of its constraints are independent: 53."""
    pdb = app.PDBFile(str(EXAMPLES / "dipeptide_in_water.pdb"))
    original = force_field("amber14-all.xml", "amber14/tip3p.xml").createSystem(pdb.topology)
    mc.constrain(original, pdb.topology, bonds="all", angles="all", lengths="positions", positions=pdb.positions)
    with pytest.warns(RuntimeWarning, match=r"for 22 particles, particles 0, 1 and 2: A:ACE1:H1, .*OpenMM counts 825 "):
        added = mc.replaceSolver(mm.XmlSerializer.clone(original), pdb.topology)
    assert (added.independent, added.declared, added.counted) == (None, 3 * 268 + 21, 3 * 268 + 21)
    added = mc.replaceSolver(original, positions=pdb.positions)
    assert (added.independent, added.counted) == (3 * 268 + 53, 3 * 268 + 53)


def rank_of_declared(system: mm.System, x: np.ndarray, box: np.ndarray) -> int:
    """Of the gradients of the System's constraints."""
    gradients = np.zeros((system.getNumConstraints(), *x.shape))
    for k in range(len(gradients)):
        i, j, _ = system.getConstraintParameters(k)
        (r,) = nearest_image((x[i] - x[j])[None], box)
        gradients[k, i], gradients[k, j] = r / np.linalg.norm(r), -r / np.linalg.norm(r)
    return int(np.linalg.matrix_rank(gradients.reshape(len(gradients), -1), tol=1e-6))


def test_constraints_of_other_kinds_are_named_where_only_they_make_positions_decide():
    """Two bodies, of which two dihedrals close a loop."""
    system = hinged(True, distance=True)
    force = mc.ConstraintForce()
    force.addDihedral(1, 2, 3, 4, dihedral(PLACES[1:5]))
    force.addDihedral(0, 2, 3, 5, dihedral(PLACES[[0, 2, 3, 5]]))
    system.addForce(force)
    with pytest.warns(RuntimeWarning, match="for 6 particles, particles 0, 1 and 2 among them"):
        added = mc.replaceSolver(system)
    assert (added.independent, added.counted) == (None, 6 + 6 + 1)
    assert rank_of_declared(system, PLACES, np.diag([9, 9, 9])) == 13


@pytest.mark.parametrize("in_system", [False, True], ids=["in a Force", "in the System"])
def test_molecules_are_declared_beside_one_whose_rank_depends_on_positions(in_system):
    """Three rigid waters, and a chain of six with all fifteen distances, twelve of which are independent."""
    network = helix(True)
    system, x = system_of_network(network), [*network.x]
    force = mc.ConstraintForce()
    hold = system.addConstraint if in_system else force.addDistance
    water = np.array([[0, 0, 0], [0.1, 0, 0], [-0.03, 0.09, 0]])
    for molecule in (water, water + 0.4, water + 0.8, CHAIN + 0.6):
        first = system.getNumParticles()
        for _ in molecule:
            system.addParticle(10)
        for j in range(len(molecule)):
            for i in range(j):
                hold(first + i, first + j, float(np.linalg.norm(molecule[i] - molecule[j])))
        x += [*molecule]
    system.addForce(force)
    copy = mm.XmlSerializer.clone(system)
    with pytest.warns(RuntimeWarning, match=UNKNOWN):
        added = mc.replaceSolver(system)
    assert (added.independent, added.counted, added.moved) == (None, 9 + 3 * 3 + 12, 3 * in_system)
    added = mc.replaceSolver(copy, positions=x)
    assert (added.independent, added.counted) == (26 + 21, 26 + 21)


@pytest.mark.platform
def test_a_custom_integrator_that_would_not_ask_is_refused():
    _, system = build("angle")
    assert mc.replaceSolver(system).force.getCountedPairs() == ()
    mm.Context(system, mm.VerletIntegrator(0.001), under_test())
    for integrator in (splitting("V R V", 0.001), compound(splitting("V R V", 0.001))):
        if NAME in HOSTS:
            mm.Context(system, integrator, under_test())
        else:
            with pytest.raises(mm.OpenMMException, match="CustomIntegrator does not ask for constraints"):
                mm.Context(system, integrator, under_test())


@pytest.mark.platform
def test_a_custom_integrator_has_nothing_to_ask_where_nothing_is_held(recwarn):
    system = mm.System()
    spring = mm.HarmonicBondForce()
    spring.addBond(system.addParticle(12), system.addParticle(16), 0.12, 1000)
    system.addForce(spring)
    mc.replaceSolver(system)
    integrator = mm.CustomIntegrator(0.001)
    integrator.addComputePerDof("v", "v+dt*f/m")
    integrator.addComputePerDof("x", "x+dt*v")
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.13, 0, 0]])
    integrator.step(2)
    a, b = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert 0.12 < b[0] - a[0] < 0.13
    assert not recwarn.list


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
    with pytest.warns(RuntimeWarning) if kind == "network" else nullcontext():
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
    if kind in (
        "angle",
        "angle beside the distance of its ends",
        "dihedral, centroids, planes",
        "distance that follows a parameter",
    ):
        with pytest.raises(mm.OpenMMException, match="AndersenThermostat cannot be combined"):
            mm.Context(system, integrator, REFERENCE)
        return
    context = mm.Context(system, integrator, REFERENCE)
    context.setPositions(KINDS[kind].positions)
    context.applyConstraints(1e-5)
    integrator.step(2)
