# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How many of many redundant distances are independent, against numpy's singular values; undecided ranks."""

from itertools import combinations
from pathlib import Path

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit

import openmmconstraints as mc

GAP = 1e6


def rank_of(positions, pairs):
    """Rank of the distances' gradients, and the gap between the singular values that tells it."""
    if len(pairs) == 0:
        return 0, np.inf
    i, j = np.transpose(pairs)
    bonds = positions[i] - positions[j]
    bonds /= np.linalg.norm(bonds, axis=1)[:, None]
    gradients = np.zeros((len(pairs), *positions.shape))
    rows = np.arange(len(pairs))
    gradients[rows, i], gradients[rows, j] = bonds, -bonds
    gradients = gradients.reshape(len(pairs), -1)
    values = np.append(np.linalg.svd(gradients, compute_uv=False), 0)
    values = np.maximum(values, 1e-15 * values[0])
    gaps = values[:-1] / values[1:]
    return int(np.argmax(gaps)) + 1, gaps.max()


def context_of(graphs):
    """A Context of graphs side by side, each with its positions and the pairs whose distances are held."""
    system, force, everywhere = mm.System(), mc.ConstraintForce(), []
    for positions, pairs in graphs:
        first = system.getNumParticles()
        for _ in positions:
            system.addParticle(12)
        for i, j in pairs:
            force.addDistance(first + int(i), first + int(j), float(np.linalg.norm(positions[i] - positions[j])))
        everywhere.append(positions)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.0001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(np.concatenate(everywhere))
    return context, integrator


def random_graph(rng):
    """4-60 particles, most of them few: few distances or nearly all, at random or between neighbours."""
    n = 4 + int(57 * rng.uniform() ** 2)
    positions = rng.uniform(size=(n, 3))
    pairs = np.array(list(combinations(range(n), 2)))
    wanted = rng.uniform(0.5, 6) * n if rng.uniform() < 0.92 else rng.uniform() * len(pairs)
    if rng.uniform() < 0.5:
        lengths = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
        return positions, pairs[np.argsort(lengths)[: int(wanted)]]
    return positions, pairs[rng.uniform(size=len(pairs)) < wanted / len(pairs)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_degrees_of_freedom_of_random_graphs_are_those_of_numpys_rank_and_all_can_be_held(seed):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng) for _ in range(50)]
    free = 0
    for positions, pairs in graphs:
        generic, gap = rank_of(rng.uniform(size=positions.shape), pairs)
        real, real_gap = rank_of(positions, pairs)
        assert real == generic
        assert min(gap, real_gap) > GAP
        free += positions.size - generic
    context, integrator = context_of(graphs)
    assert integrator.getNumDegreesOfFreedom() == free
    context.setVelocitiesToTemperature(10, 1)
    integrator.step(2)


def graph_of_a_kind(rng):
    """4-40 particles: few more distances than rigidity needs, dense, near neighbours, or cliques in a chain."""
    n, kind = int(rng.integers(4, 41)), rng.integers(4)
    positions = rng.uniform(size=(n, 3))
    pairs = np.array(list(combinations(range(n), 2)))
    if kind == 0:
        return positions, rng.permutation(pairs)[: max(3, 3 * n - 6 + int(rng.integers(1, 6)))]
    if kind == 1:
        return positions, pairs[rng.uniform(size=len(pairs)) < rng.uniform(0.4, 1)]
    if kind == 2:
        lengths = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
        return positions, pairs[np.argsort(lengths)[: int(rng.uniform(2, 5) * n)]]
    joined, first = set(), 0
    while first < n - 1:
        size = int(rng.integers(3, 8))
        joined |= set(combinations(range(first, min(n, first + size)), 2))
        first += max(1, size - int(rng.integers(1, 4)))
    return positions, np.array(sorted(joined))


def freedom_before_and_after(positions, pairs):
    """Degrees of freedom of a new Context, None where it raises, and of the same with positions."""
    system, force = mm.System(), mc.ConstraintForce()
    for _ in positions:
        system.addParticle(12)
    for i, j in pairs:
        force.addDistance(int(i), int(j), float(np.linalg.norm(positions[i] - positions[j])))
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.0001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    before, refusal = None, ""
    try:
        before = integrator.getNumDegreesOfFreedom()
    except mm.OpenMMException as error:
        refusal = str(error)
    assert (before is None) == refusal.startswith("getNumDegreesOfFreedom: positions decide")
    context.setPositions(positions)
    return before, integrator.getNumDegreesOfFreedom()


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 20))])
def test_degrees_of_freedom_are_final_before_positions_are_set_or_not_given(part):
    told = 0
    for seed in range(50 * part, 50 * part + 50):
        rng = np.random.default_rng(seed)
        positions, pairs = graph_of_a_kind(rng)
        rank, gap = rank_of(positions, pairs)
        assert gap > GAP
        before, after = freedom_before_and_after(positions, pairs)
        assert after == positions.size - rank, seed
        assert before in (None, after), seed
        told += before is not None
    assert told > 10


@pytest.mark.parametrize("shift", range(6))
def test_which_of_dependent_distances_are_left_out_decides_nothing(shift):
    """A nearly flat tetrahedron, whose base others brace. Particles before it change which distances are left out."""
    rng = np.random.default_rng(2)
    graph = [random_graph(rng) for _ in range(41)][-1]
    context, integrator = context_of([(rng.uniform(size=(shift, 3)), []), graph])
    context.setVelocitiesToTemperature(10, 1)
    integrator.step(2)


def tryptophan(is_flat=True):
    """One of villin's, its indole made flat or as it is."""
    pdb = app.PDBFile(str(Path(app.__file__).parent / "data" / "test.pdb"))
    atoms = list(next(r for r in pdb.topology.residues() if r.name == "TRP").atoms())
    positions = np.array([pdb.positions[atom.index].value_in_unit(unit.nanometer) for atom in atoms])
    if not is_flat:
        return positions
    flat = [atom.name[1:] in ("B", "G", "D1", "D2", "E1", "E2", "E3", "Z2", "Z3", "H2") for atom in atoms]
    flat = np.array(flat) & np.array([atom.name != "HA" for atom in atoms])
    centre = positions[flat].mean(axis=0)
    normal = np.linalg.svd(positions[flat] - centre)[2][2]
    positions[flat] -= np.outer((positions[flat] - centre) @ normal, normal)
    return positions


def cucurbituril(units=6):
    """A ring of glycolurils, which methylenes join: cylinder coordinates (nm, fractions of a unit, nm) of one."""
    unit_cell = [(0.40, 0, 0.36), (0.35, 0, 0.47), (0.47, 0.22, 0.26), (0.47, -0.22, 0.26)]  # C and O, both N
    unit_cell += [(0.54, 0.5, 0.31), (0.63, 0.5, 0.26), (0.53, 0.5, 0.42)]  # CH2
    unit_cell += [(0.53, 0.14, 0.13), (0.64, 0.15, 0.13)]  # CH
    radius, fraction, height = np.array([(r, f, sign * z) for r, f, z in unit_cell for sign in (1, -1)]).T
    angle = 2 * np.pi / units * (fraction + np.arange(units)[:, None]).ravel()
    radius, height = np.tile(radius, units), np.tile(height, units)
    return np.transpose([radius * np.cos(angle), radius * np.sin(angle), height])


def closer_than(distance, positions):
    pairs = combinations(range(len(positions)), 2)
    return [(i, j) for i, j in pairs if np.linalg.norm(positions[i] - positions[j]) < distance]


def all_distances(n):
    return np.random.default_rng(n).uniform(size=(n, 3)), list(combinations(range(n), 2))


@pytest.mark.parametrize(
    ("positions", "pairs"),
    [
        pytest.param(*all_distances(32), id="32 particles, 496 distances"),
        pytest.param(*all_distances(50), id="50 particles, 1225 distances"),
        pytest.param(tryptophan(), closer_than(0.4, tryptophan()), id="tryptophan"),
        pytest.param(cucurbituril(), closer_than(0.4, cucurbituril()), id="cucurbituril"),
    ],
)
def test_highly_redundant_bodies_keep_six_degrees_of_freedom_and_their_temperature(positions, pairs):
    generic, gap = rank_of(np.random.default_rng(1).uniform(size=positions.shape), pairs)
    assert gap > GAP
    assert generic == positions.size - 6
    # The flat part of tryptophan is singular, and converted.
    assert rank_of(positions, pairs)[0] == generic or positions.shape == tryptophan().shape
    context, integrator = context_of([(positions, pairs)])
    assert integrator.getNumDegreesOfFreedom() == 6
    context.setVelocitiesToTemperature(300, 3)
    kinetic = context.getState(getEnergy=True).getKineticEnergy()
    expected = 2 * kinetic / (6 * unit.MOLAR_GAS_CONSTANT_R)
    assert integrator.computeSystemTemperature() / unit.kelvin == pytest.approx(expected / unit.kelvin)
    integrator.step(5)


def nearly_flat_sets():
    """In each of the graphs, four particles lie within a hundredth of their size of a plane, or three of a line."""
    for digits in (16, 4, 3):  # as in PDB and GRO files
        positions = tryptophan(is_flat=False).round(digits)
        yield pytest.param(positions, closer_than(0.4, positions), id=f"tryptophan-{digits}")
    for seed, place in ((0, 28), (1, 27), (1, 39), (2, 18)):
        rng = np.random.default_rng(seed)
        yield pytest.param(*[random_graph(rng) for _ in range(50)][place], id=f"graph-{seed}-{place}")


@pytest.mark.parametrize(("positions", "pairs"), list(nearly_flat_sets()))
def test_nearly_flat_parts_that_others_brace_keep_the_lengths_given(positions, pairs):
    context, integrator = context_of([(positions, pairs)])
    context.setVelocitiesToTemperature(10, 1)
    integrator.step(3)
    now = context.getState(positions=True).getPositions(asNumpy=True)._value
    i, j = np.transpose(pairs)
    lengths = [np.linalg.norm(x[i] - x[j], axis=1) for x in (positions, now)]
    np.testing.assert_allclose(lengths[1], lengths[0], rtol=1e-5)


def test_a_rank_that_no_gap_tells_is_refused_by_name():
    system, planes = mm.System(), mc.CustomConstraintForce(1, "x1 + slope*y1")
    planes.addPerConstraintParameter("slope")
    for _ in range(3):
        system.addParticle(1)
    for slope in (0, 1e-8):
        planes.addConstraint([1], [slope])
    system.addForce(planes)
    with pytest.raises(mm.OpenMMException) as error:
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    for part in ("particle 1", "2 coupled constraints", "constraint 0", "constraint 1", "Remedy"):
        assert part in str(error.value)
