# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Overconstrained networks that are bonded to their own periodic images: their degrees of freedom, and runs."""

import numpy as np
import openmm as mm
import pytest
from periodic_networks import Network, diamond, helix, random_network, rank_of, silicene, tube
from platforms import bound, under_test

import openmmconstraints as mc

GAP = 1e6


def system_of(network: Network, in_system: bool = False) -> mm.System:
    """Distances of nearest images, in a ConstraintForce or in the System."""
    system = mm.System()
    system.setDefaultPeriodicBoxVectors(*network.box)
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(True)
    for _ in network.x:
        system.addParticle(12)
    for (i, j), length in zip(network.pairs.tolist(), np.linalg.norm(network.bonds(), axis=1), strict=True):
        if in_system:
            system.addConstraint(i, j, float(length))
        else:
            force.addDistance(i, j, float(length))
    system.addForce(force)  # which makes the System periodic
    return system


def context_of(network: Network, in_system: bool = False, make=mc.RattleIntegrator) -> mm.Context:
    integrator = make(0.0005)
    integrator.setConstraintTolerance(bound(1e-9, single=1e-5))
    return mm.Context(system_of(network, in_system), integrator, under_test())


def freedom(context: mm.Context) -> int:
    return context.getIntegrator().getNumDegreesOfFreedom()


def lengths_now(context: mm.Context, network: Network) -> np.ndarray:
    state = context.getState(positions=True)
    x = state.getPositions(asNumpy=True)._value
    box = np.array(state.getPeriodicBoxVectors()._value)
    return np.linalg.norm(Network(x, network.pairs, box).bonds(), axis=1)


@pytest.mark.platform
@pytest.mark.parametrize("in_system", [False, True], ids=["Force", "System"])
@pytest.mark.parametrize("is_triclinic", [False, True], ids=["rectangular", "triclinic"])
@pytest.mark.parametrize(
    ("make", "free"), [(helix, 4), (silicene, 3), (diamond, 3), (tube, 4)], ids=lambda f: getattr(f, "__name__", "")
)
def test_degrees_of_freedom_are_those_of_the_lattice_and_lengths_are_held(make, free, is_triclinic, in_system):
    network = make(is_triclinic)
    rank, gap = rank_of(network)
    assert gap > GAP
    assert network.x.size - rank == free
    context = context_of(network, in_system)
    with pytest.raises(mm.OpenMMException, match=r"getNumDegreesOfFreedom: positions decide(.|\n)*setPositions"):
        freedom(context)
    context.setPositions(network.x)
    assert freedom(context) == free
    context.setVelocitiesToTemperature(100, 1)
    context.getIntegrator().step(20)
    assert freedom(context) == free
    lengths = np.linalg.norm(network.bonds(), axis=1)
    np.testing.assert_allclose(lengths_now(context, network), lengths, rtol=bound(1e-8, single=1e-4))


@pytest.mark.parametrize("beads", [10, 20])
@pytest.mark.parametrize("neighbours", [(1, 2, 3, 4), (1, 2, 3, 4, 5)])
def test_bodies_that_are_bonded_to_their_own_images_are_no_bodies(beads, neighbours):
    """Lengths alone place one bead after the other, all around the box."""
    network = helix(True, beads, [n for n in neighbours if 0.15 * n < 0.075 * beads])
    context = context_of(network)
    context.setPositions(network.x)
    assert freedom(context) == network.x.size - rank_of(network)[0] == 4
    context.setVelocitiesToTemperature(100, 1)
    context.getIntegrator().step(5)


@pytest.mark.platform
def test_images_that_change_change_the_rank():
    """Beads around one edge of the box, then around another, wrapped, from a State and from a checkpoint."""
    network = helix(False, 20)
    context = context_of(network)
    context.setPositions(network.x)
    assert freedom(context) == 4
    context.getIntegrator().step(2)
    wrapped = network.x + np.random.default_rng(2).integers(-2, 3, size=network.x.shape) @ network.box
    context.setPositions(wrapped)
    assert freedom(context) == 4
    context.getIntegrator().step(2)
    checkpoint, state = context.createCheckpoint(), context.getState(positions=True, velocities=True)
    context.setPeriodicBoxVectors(*np.diag(np.roll(np.diag(network.box), 1)))
    context.setPositions(np.roll(network.x, 1, axis=1))
    assert freedom(context) == 4
    context.getIntegrator().step(2)
    context.setPeriodicBoxVectors(*np.diag([20, 20, 20]))
    context.setPositions(network.x)  # open where it went around the box: these lengths fit no ring
    with pytest.raises(mm.OpenMMException):
        freedom(context)
    context.setState(state)
    assert freedom(context) == 4
    context.getIntegrator().step(2)
    other = context_of(network)
    for restored in (context, other):
        restored.loadCheckpoint(checkpoint)
        assert freedom(restored) == 4
        restored.getIntegrator().step(2)
        assert freedom(restored) == 4


@pytest.mark.platform
def test_temperature_and_heat_bath_use_the_number():
    network = tube(False)
    context = context_of(network, make=lambda step: mc.RattleNoseHooverIntegrator(300, 1, step))
    integrator = context.getIntegrator()
    with pytest.raises(mm.OpenMMException, match="positions decide"):
        integrator.computeHeatBathEnergy()
    context.setPositions(network.x)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(5)
    kinetic = context.getState(energy=True).getKineticEnergy()
    expected = 2 * kinetic / (4 * mm.unit.MOLAR_GAS_CONSTANT_R)
    assert integrator.computeSystemTemperature()._value == pytest.approx(expected._value, rel=bound(1e-9, single=1e-4))


def test_health_and_clusters_need_positions():
    network = tube(False)
    system = system_of(network)
    health = mc.Health(system)
    assert health.degreesOfFreedom is None
    assert health.clusters is None
    assert (health.counts.independent, health.counts.redundant) == (None, None)
    assert "depend on the positions, which were not given" in str(health)
    health = mc.Health(system, network.x)
    assert health.ok, health
    assert health.degreesOfFreedom == 4
    assert health.counts.redundant == len(network.pairs) - (network.x.size - 4)
    integrator = mc.RattleIntegrator(0.001)
    with pytest.raises(mm.OpenMMException, match="getClusters: positions decide"):
        integrator.getClusters(system)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(network.x)
    clusters = integrator.getClusters(context.getSystem())
    assert sum(c.count * c.constraints for c in clusters) == network.x.size - 4


def test_rings_shorter_than_the_box_are_known_without_positions():
    """Layers of five particles, each joined to all of the next, in a row that is longer than the box."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-0.07, 0.07, size=(5, 3)) + np.array([0, 0, 0.12 * layer]) for layer in range(12)])
    pairs = np.array([(i, j) for i in range(60) for j in range(60) if j // 5 == i // 5 + 1])
    network = Network(x, pairs, np.diag([1.2, 1.2, 1.2]))
    rank, gap = rank_of(network, 0)
    assert gap > GAP
    assert len(pairs) > rank
    context = context_of(network)
    assert freedom(context) == x.size - rank
    context.setPositions(x)
    assert freedom(context) == x.size - rank


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 4))])
def test_random_networks(part):
    wound = 0
    for seed in range(50 * part, 50 * part + 50):
        network = random_network(np.random.default_rng(seed))
        rank, gap = rank_of(network)
        real, real_gap = rank_of(network, 0)
        if min(gap, real_gap) < GAP or real != rank:  # some positions are nearly special by chance
            continue
        context = context_of(network)
        before, refusal = None, ""
        try:
            before = freedom(context)
        except mm.OpenMMException as error:
            refusal = str(error)
        assert (before is None) == ("positions decide" in refusal)
        context.setPositions(network.x)
        assert freedom(context) == network.x.size - rank, seed
        assert before in (None, network.x.size - rank), seed
        context.setVelocitiesToTemperature(10, 1)
        context.getIntegrator().step(2)
        wound += before is None
    assert wound > 20
