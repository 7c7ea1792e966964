# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""constrain(lengths="positions"): what is given at positions stays there, planar or not."""

import copy
import pickle

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, force_field, villin_file
from molecules import system_of, topology_of
from openmm import app
from platforms import bound, under_test

import openmmconstraints as mc

TURN = np.arange(6) * np.pi / 3
PUCKERS = {"chair": (-1.0) ** np.arange(6), "boat": np.cos(2 * TURN), "any": np.array([0.3, -1, 0.8, 0.2, -0.6, 0.9])}
BONDS = [(i, (i + 1) % 6) for i in range(6)] + [(i, i + 6) for i in range(6)]


def benzene(height=0.0, pucker="any"):
    """Its ring out of the plane by up to a height (nm), and hydrogens by less."""
    ring = np.stack([np.cos(TURN), np.sin(TURN), 0 * TURN], axis=1)
    x = np.concatenate([0.1397 * ring, 0.2481 * ring])
    x[:6, 2], x[6:, 2] = height * PUCKERS[pucker], 0.4 * height * PUCKERS[pucker][::-1]
    return x


def held_benzene(x, **options):
    topology = topology_of("C" * 6 + "H" * 6, BONDS)
    system = system_of(topology, **options)
    return system, mc.constrain(system, topology, "all", "all", lengths="positions", positions=x)


def start(system, x, step=0.001, platform=None):
    integrator = mc.RattleIntegrator(step)
    context = mm.Context(system, integrator, platform or under_test())
    context.setPositions(x)
    integrator.applyConstraints()
    moved = context.getState(positions=True).getPositions(asNumpy=True)._value - x
    return context, integrator, np.linalg.norm(moved, axis=1).max()


@pytest.mark.parametrize("pucker", PUCKERS)
@pytest.mark.parametrize("height", [0, 1e-5, 0.0005, 0.002, 0.003])
def test_a_puckered_ring_stays_puckered_and_is_rigid(pucker, height):
    x = benzene(height, pucker)
    system, made = held_benzene(x)
    assert str(made) == "constrained 12 bonds and 18 angles"
    context, integrator, moved = start(system, x)
    assert moved <= bound(1e-12, single=1e-7)
    assert integrator.getSolverSummary().fitDeviation < 1e-12
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(50)
    assert integrator.getNumDegreesOfFreedom() == 6
    y = context.getState(positions=True).getPositions(asNumpy=True)._value
    distances = [np.linalg.norm(r[:, None] - r, axis=2) for r in (x, y)]
    assert distances[1] == pytest.approx(distances[0], abs=bound(1e-9, single=2e-6))


def test_planar_is_what_is_flat_within_a_femtometre():
    """Within 1e-6 nm, so that rounding of computed positions makes no difference; farther off stays where it is."""
    for height, is_flat in ((3e-7, True), (3e-6, False)):
        x = benzene(height)
        integrator = mc.RattleIntegrator(0.001)
        integrator.setConstraintTolerance(1e-13)
        context = mm.Context(held_benzene(x)[0], integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(x)
        moved = integrator.applyConstraints()._value
        assert (moved > height / 10) == is_flat
        assert moved < 1e-6


def test_coordinates_of_a_file_are_what_they_are():
    """Rounded to 1e-4 nm, and turned, so that no plane is along axes."""
    turned = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    x = (benzene() @ turned).round(4)
    context, integrator, moved = start(held_benzene(x)[0], x)
    assert moved <= bound(1e-12, single=1e-7)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(10)
    assert integrator.getNumDegreesOfFreedom() == 6


def test_across_the_box():
    """Each atom in any image."""
    box = np.array([[1.2, 0, 0], [0.5, 1.1, 0], [-0.4, 0.3, 1.0]])
    x = benzene(0.002) + np.array([0.6, 0.1, 0.9])
    shifted = x + np.random.default_rng(1).integers(-2, 3, (12, 3)) @ box
    system, _ = held_benzene(shifted, periodic=box)
    _, integrator, moved = start(system, shifted)
    assert moved <= bound(1e-12, single=2e-6)
    assert integrator.getSolverSummary().fitDeviation < 1e-12


def test_positions_travel_with_the_force():
    x = benzene(0.002)
    system, made = held_benzene(x)
    for force in (made.force, copy.copy(made.force), pickle.loads(pickle.dumps(made.force))):
        particles, positions = force.getReferencePositions()
        assert particles == tuple(range(12))
        assert np.array(positions._value) == pytest.approx(x, abs=0)
    again = mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(system))
    assert start(again, x)[2] <= bound(1e-12, single=1e-7)


def test_other_lengths_have_the_shape_that_fits_them():
    """Positions at which lengths were not measured are of no use."""
    x = benzene(0.001, "boat")
    system, made = held_benzene(x)
    i, j, length = made.force.getDistanceParameters(0)
    made.force.setDistanceParameters(0, i, j, length * 1.00001)
    _, integrator, moved = start(system, x)
    assert 5e-4 < moved < 5e-3
    assert 1e-6 < integrator.getSolverSummary().fitDeviation < 1e-4


def test_two_calls_share_a_force():
    """The second one has the positions of both."""
    x = np.concatenate([benzene(0.002), benzene(0.001, "chair") + np.array([1, 0, 0])])
    topology = topology_of(("C" * 6 + "H" * 6) * 2, [*BONDS, *((i + 12, j + 12) for i, j in BONDS)])
    system = system_of(topology)
    first = topology_of(("C" * 6 + "H" * 6) * 2, BONDS)
    for bonded in (first, topology):
        mc.constrain(system, bonded, "all", "all", lengths="positions", positions=x)
    _, integrator, moved = start(system, x)
    assert moved <= bound(1e-12, single=1e-7)
    assert integrator.getSolverSummary().fitDeviation < 1e-12


def test_what_is_fitted_anyway_is_reported():
    """Propyne within rounding of a straight line: linear bodies have no bend."""
    x = np.array([[0, 0, 0], [0.146, 0, 0], [0.2664, 0.0003, 0], [0.3727, 0, 0]])
    topology = topology_of("CCCH", [(0, 1), (1, 2), (2, 3)])
    system = system_of(topology)
    made = mc.constrain(system, topology, "all", "all", lengths="positions", positions=x)
    _, integrator, moved = start(system, x, platform=mm.Platform.getPlatform("Reference"))
    assert made.move == pytest.approx(moved, rel=1e-6)
    assert made.moved == "A:MOL1:H3 (particle 3)"
    assert "which moves A:MOL1:H3 (particle 3) by 0.000" in str(made)
    assert integrator.getSolverSummary().fitDeviation > 1e-7


@pytest.mark.parametrize(
    ("particles", "positions", "match"),
    [
        ([0, 1], np.zeros((1, 3)), "there are 2 particles and 1 positions"),
        ([0, 0], np.zeros((2, 3)), "particle 0 is listed twice"),
    ],
)
def test_what_reference_positions_refuse(particles, positions, match):
    force = mc.ConstraintForce()
    with pytest.raises(mm.OpenMMException, match=match):
        force.setReferencePositions(particles, positions)


@pytest.mark.parametrize(("particle", "place"), [(12, 0.0), (3, np.nan)])
def test_reference_positions_of_no_particle_are_refused(particle, place):
    system, made = held_benzene(benzene())
    made.force.setReferencePositions([particle], [[place, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=f"setReferencePositions: .* position of particle {particle}"):
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))


def test_a_minimized_protein_stays_at_its_minimum():
    """All bonds and angles of villin, whose aromatic rings and guanidinium are not quite planar."""
    pdb = villin_file()
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([a for a in modeller.topology.atoms() if a.residue.chain.index > 0 or a.residue.name == "HOH"])
    topology = modeller.topology
    topology.setPeriodicBoxVectors(None)

    def make():
        return force_field(*AMBER14).createSystem(topology, constraints=None, rigidWater=False)

    platform, repeating = mm.Platform.getPlatform("CPU"), {"DeterministicForces": "true", "Threads": "1"}
    flexible = mm.Context(make(), mm.VerletIntegrator(0.001), platform, repeating)
    flexible.setPositions(modeller.positions)
    mm.LocalEnergyMinimizer.minimize(flexible, 10, 100)
    x = flexible.getState(positions=True).getPositions(asNumpy=True)._value
    system = make()
    made = mc.constrain(system, topology, "all", "all", lengths="positions", positions=x)
    _, integrator, moved = start(system, x)
    assert moved <= bound(1e-12, single=1e-6)
    assert made.moved == ""
    assert integrator.getSolverSummary().fitDeviation < 1e-12
