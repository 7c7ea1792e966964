# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rigid bodies that distances and angles hold, with the package's tools, and the proteins of files."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from itertools import combinations

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, force_field
from openmm import app, unit
from platforms import bound, under_test

import openmmconstraints as mc

DIRECTIONS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / 3**0.5
HALOGENS = np.concatenate([[[0, 0, 0]], DIRECTIONS * np.array([[0.109], [0.136], [0.177], [0.194]])])
MASSES = (12, 1, 19, 35, 80)


@pytest.fixture(scope="module")
def villin():
    """A protein as its file has it: rounded to 1e-4 nm."""
    pdb = app.PDBFile(str(files("openmm.app") / "data/test.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([r for r in modeller.topology.residues() if len(list(r.atoms())) < 4])  # water and ions
    return modeller.topology, np.array(modeller.positions.value_in_unit(unit.nanometer))


def angle_between(a, middle, b):
    u, v = a - middle, b - middle
    return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))


def neighbours_of(pairs):
    neighbours = defaultdict(set)
    for i, j in pairs:
        neighbours[i].add(j)
        neighbours[j].add(i)
    return neighbours


def hold_bonds_and_angles(masses, x, pairs):
    """A System in which all bonds, and all angles between two of them, are held as they are."""
    system, force = mm.System(), mc.ConstraintForce()
    for mass in masses:
        system.addParticle(mass)
    for i, j in pairs:
        force.addDistance(i, j, float(np.linalg.norm(x[i] - x[j])))
    for middle, around in sorted(neighbours_of(pairs).items()):
        for i, j in combinations(sorted(around), 2):
            force.addAngle(i, middle, j, angle_between(x[i], x[middle], x[j]))
    system.addForce(force)
    return system


def hold_all_distances(masses, x):
    system, force = mm.System(), mc.ConstraintForce()
    for mass in masses:
        system.addParticle(mass)
    for i, j in combinations(range(len(x)), 2):
        force.addDistance(i, j, float(np.linalg.norm(x[i] - x[j])))
    system.addForce(force)
    return system


def hinges(pairs):
    """Bonds about which something turns: not in a ring, and both ends have further bonds."""
    neighbours = neighbours_of(pairs)

    def is_reached(start, end):
        seen, open_ends = {start}, [start]
        while open_ends:
            i = open_ends.pop()
            for j in neighbours[i] - seen:
                if {i, j} != {start, end}:
                    if j == end:
                        return True
                    seen.add(j)
                    open_ends.append(j)
        return False

    return [(i, j) for i, j in pairs if min(len(neighbours[i]), len(neighbours[j])) > 1 and not is_reached(i, j)]


def bodies_of(context, integrator):
    return sum(cluster.count * cluster.rigidBodies for cluster in integrator.getClusters(context.getSystem()))


def start(system, x, platform=None, step=0.001):
    integrator = mc.RattleIntegrator(step)
    integrator.setConstraintTolerance(1e-9)
    context = mm.Context(system, integrator, platform or mm.Platform.getPlatform("Reference"))
    context.setPositions(x)
    context.setVelocitiesToTemperature(300, 1)
    return context, integrator


def positions(context):
    return context.getState(positions=True).getPositions(asNumpy=True)._value


def test_a_protein_with_all_bonds_and_angles_has_its_torsions(villin):
    topology, x = villin
    pairs = [(bond[0].index, bond[1].index) for bond in topology.bonds()]
    masses = [atom.element.mass for atom in topology.atoms()]
    system = hold_bonds_and_angles(masses, x, pairs)
    context, integrator = start(system, x, under_test())
    torsions = hinges(pairs)
    assert len(torsions) > 100
    assert integrator.getNumDegreesOfFreedom() == 6 + len(torsions)
    integrator.applyConstraints()
    before = positions(context)
    integrator.step(10)
    assert integrator.getNumDegreesOfFreedom() == 6 + len(torsions)
    now = positions(context)
    assert np.abs(now - before).max() > 1e-3
    for i, j in pairs:
        assert np.linalg.norm(now[i] - now[j]) == pytest.approx(np.linalg.norm(x[i] - x[j]), rel=bound(1.1e-4))
    for middle, around in neighbours_of(pairs).items():
        for i, j in combinations(around, 2):
            length = [np.linalg.norm(y[i] - y[j]) for y in (before, now)]
            assert length[1] == pytest.approx(length[0], rel=bound(1e-8, single=1e-5)), middle


@pytest.mark.parametrize("residue", ["PHE", "TRP", "PRO", "LEU", "THR", "LYS"])
@pytest.mark.parametrize("digits", [4, 3], ids=["PDB", "GRO"])
def test_a_residue_with_all_bonds_and_angles_has_its_torsions(villin, residue, digits):
    topology, everywhere = villin
    atoms = list(next(r for r in topology.residues() if r.name == residue).atoms())
    number = {atom.index: i for i, atom in enumerate(atoms)}
    pairs = [
        (number[b[0].index], number[b[1].index]) for b in topology.bonds() if {b[0].index, b[1].index} <= set(number)
    ]
    x = everywhere[sorted(number)].round(digits)
    system = hold_bonds_and_angles([atom.element.mass for atom in atoms], x, pairs)
    context, integrator = start(system, x)
    assert integrator.getNumDegreesOfFreedom() == 6 + len(hinges(pairs))
    integrator.applyConstraints()
    before = positions(context)
    integrator.step(20)
    now = positions(context)
    for i, j in pairs:
        lengths = [np.linalg.norm(y[i] - y[j]) for y in (before, now)]
        assert lengths[1] == pytest.approx(lengths[0], abs=1e-10)


@pytest.mark.parametrize("seed", [66, 84])
def test_rings_of_fitted_bodies_close_within_rounding(villin, seed):
    """Of histidine's ring, plates are fitted to rounded lengths, and angles beside them then close it to 1e-6 rad."""
    topology, everywhere = villin
    atoms = [atom for atom in topology.atoms() if 22 <= atom.residue.index < 32]
    number = {atom.index: i for i, atom in enumerate(atoms)}
    pairs = [
        (number[b[0].index], number[b[1].index]) for b in topology.bonds() if {b[0].index, b[1].index} <= set(number)
    ]
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    x = (everywhere[sorted(number)] @ rotation.T).round(4)
    system = hold_bonds_and_angles([atom.element.mass for atom in atoms], x, pairs)
    context, integrator = start(system, x)
    assert integrator.getNumDegreesOfFreedom() == 6 + len(hinges(pairs))
    integrator.step(20)
    now = positions(context)
    for i, j in pairs:
        assert np.linalg.norm(now[i] - now[j]) == pytest.approx(np.linalg.norm(x[i] - x[j]), rel=1.1e-4)


def placed(a, b, c, length, angle, dihedral):
    """At a distance from c, with an angle (degrees) at c to b, and a dihedral about b-c to a."""
    theta, phi = np.deg2rad(angle), np.deg2rad(dihedral)
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    beside = np.cos(phi) * np.cross(normal, along) + np.sin(phi) * normal
    return c + length * (np.sin(theta) * beside - np.cos(theta) * along)


@pytest.mark.parametrize("carbons", [20, 200])
def test_long_chains_of_hinges_have_their_torsions(carbons):
    rng = np.random.default_rng(1)
    x = [np.zeros(3), np.array([0.153, 0, 0]), np.array([0.21, 0.14, 0.02])]
    for _ in range(carbons - 3):
        x.append(placed(*x[-3:], 0.153, 111, rng.choice([180, 60, -60, 170])))
    pairs = [(i, i + 1) for i in range(carbons - 1)]
    for i in range(1, carbons - 1):
        for dihedral in (120, -120):
            pairs.append((i, len(x)))
            x.append(placed(x[i + 1], x[i - 1], x[i], 0.109, 109.5, dihedral))
    x = np.array(x)
    system = hold_bonds_and_angles([12] * carbons + [1] * (len(x) - carbons), x, pairs)
    context, integrator = start(system, x)
    assert len(hinges(pairs)) == carbons - 3
    assert integrator.getNumDegreesOfFreedom() == 6 + carbons - 3
    integrator.step(5)
    now = positions(context)
    lengths = [np.linalg.norm(y[[i for i, _ in pairs]] - y[[j for _, j in pairs]], axis=1) for y in (x, now)]
    assert lengths[1] == pytest.approx(lengths[0], rel=1e-8)


def test_angles_of_hydrogen_atoms_stay_distances(villin):
    topology, x = villin
    system = force_field(*AMBER14).createSystem(topology, constraints=app.HAngles, removeCMMotion=False)
    context, integrator = start(system, x)
    integrator.applyConstraints()
    assert bodies_of(context, integrator) == 0
    assert integrator.getNumDegreesOfFreedom() == 3 * len(x) - system.getNumConstraints()
    integrator.step(2)
    assert integrator.getSolverSummary().fittedConstraint == -1
    assert np.all(np.array(integrator.getMultipliers()) != 0)


@pytest.mark.platform
def test_minimize_keeps_shapes_and_finds_the_lowest_energy():
    """Two tetrahedra with a charge at each corner are as far apart as a spring between the first ones lets them."""
    x = np.concatenate([HALOGENS, HALOGENS @ np.diag([1, -1, -1]) + [0.5, 0.1, 0]])
    system, force = mm.System(), mc.ConstraintForce()
    for mass in 2 * MASSES:
        system.addParticle(mass)
    for first in (0, 5):
        for i, j in combinations(range(first, first + 5), 2):
            force.addDistance(i, j, float(np.linalg.norm(x[i] - x[j])))
    system.addForce(force)
    springs = mm.HarmonicBondForce()
    for i, j in [(1, 6), (2, 8), (3, 7)]:
        springs.addBond(i, j, 0.1, 1000)
    system.addForce(springs)
    context, integrator = start(system, x, under_test())
    found = mc.minimize(context, bound(1e-4, mixed=1e-1))
    assert found.converged
    assert integrator.getNumDegreesOfFreedom() == 12
    now = positions(context)
    for first in (0, 5):
        for i, j in combinations(range(first, first + 5), 2):
            expected = np.linalg.norm(HALOGENS[i - first] - HALOGENS[j - first])
            assert np.linalg.norm(now[i] - now[j]) == pytest.approx(expected, rel=bound(1e-7, single=1e-5))
    assert context.getState(energy=True).getPotentialEnergy()._value == pytest.approx(0, abs=bound(1e-6, mixed=1e-3))


@pytest.mark.platform
def test_checkpoints_and_states_restore_the_hand():
    system = hold_all_distances(MASSES, HALOGENS)
    image = HALOGENS * [1, 1, -1]
    context, integrator = start(system, HALOGENS, under_test())
    integrator.step(5)
    checkpoint = context.createCheckpoint()
    state = context.getState(positions=True, velocities=True)
    integrator.step(10)
    expected = positions(context)
    for restore in (lambda: context.loadCheckpoint(checkpoint), lambda: context.setState(state)):
        context.setPositions(image)
        integrator.step(5)
        moved = positions(context)
        for i, j in combinations(range(5), 2):
            length = np.linalg.norm(HALOGENS[i] - HALOGENS[j])
            assert np.linalg.norm(moved[i] - moved[j]) == pytest.approx(length, rel=bound(1e-8, single=1e-5))
        assert np.linalg.det(moved[1:4] - moved[0]) * np.linalg.det(HALOGENS[1:4]) < 0
        restore()
        integrator.step(10)
        assert positions(context) == pytest.approx(expected, abs=bound(1e-9, single=1e-5))


def test_health_names_the_body_and_its_degrees_of_freedom():
    system = hold_all_distances(MASSES, HALOGENS)
    health = mc.Health(system, HALOGENS)
    assert health.ok, health
    assert health.degreesOfFreedom == 6
    assert health.counts.constraints == 10
    assert "rigid" in str(health)


def test_contradictory_lengths_of_a_body_are_refused_by_name():
    system = hold_all_distances(MASSES, HALOGENS)
    force = mc.ConstraintForce.cast(system.getForce(0))
    i, j, length = force.getDistanceParameters(4)
    force.setDistanceParameters(4, i, j, length * 1.01)
    # Any one of the ten may be the wrong one.
    with pytest.raises(mm.OpenMMException, match=r"distance \d+ of the ConstraintForce with index 0 \(particles \d"):
        start(system, HALOGENS)[1].step(1)
