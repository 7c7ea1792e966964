# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Bonds that are found by covalent radii, and the search for close pairs."""

import time
from itertools import product

import numpy as np
import openmm as mm
import pytest
from openmm import app

from openmmconstraints.helpers.covalent import RADII, covalent_bonds, radius_of
from openmmconstraints.helpers.neighbours import Crowd, close_pairs

FACTOR = 1.25
BOXES = {
    "none": None,
    "cubic": np.diag([2.0, 2.0, 2.0]),
    "flat": np.diag([3.0, 0.4, 1.0]),
    "triclinic": np.array([[2.0, 0, 0], [1.0, 1.5, 0], [-0.9, 0.7, 1.2]]),
    "truncated octahedron": 1.5 * np.array([[1, 0, 0], [1 / 3, 2 * np.sqrt(2) / 3, 0], [-1 / 3, 1 / 3, 1]]),
}


def by_all_images(x, radius, vectors):
    """Pairs and distances, from all pairs of atoms and all images that may be nearest."""
    shifts = [np.zeros(3)] if vectors is None else [n @ vectors for n in product((-1, 0, 1), repeat=3)]
    distance = np.full((len(x), len(x)), np.inf)
    for shift in shifts:
        distance = np.minimum(distance, np.linalg.norm(x[:, None] - x + shift, axis=-1))
    first, second = np.nonzero(np.triu(distance < FACTOR * (radius[:, None] + radius), 1))
    return first, second, distance[first, second]


@pytest.mark.parametrize("vectors", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("spread", [0, 3])
def test_close_pairs_are_those_of_all_images(vectors, spread):
    """Also where molecules are whole, so that atoms lie outside of the box."""
    rng = np.random.default_rng(4)
    frame = np.diag([2.0, 2.0, 2.0]) if vectors is None else vectors
    x = rng.random((250, 3)) @ frame
    if vectors is not None:
        x += rng.integers(-spread, spread + 1, (250, 3)) @ frame
    radius = rng.choice([0.031, 0.066, 0.105], 250)
    found = close_pairs(x, radius, FACTOR, vectors)
    expected = by_all_images(np.mod(x @ np.linalg.inv(frame), 1) @ frame if spread else x, radius, vectors)
    assert len(found[0]) > 100
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-12)


def waters(count, rng):
    """Molecules at random places, 100 atoms in a cubic nanometre."""
    edge = (3 * count / 100) ** (1 / 3)
    arms = rng.normal(size=(count, 2, 3))
    arms *= 0.0957 / np.linalg.norm(arms, axis=-1, keepdims=True)
    oxygens = rng.random((count, 1, 3)) * edge
    return np.concatenate([oxygens, oxygens + arms], axis=1).reshape(-1, 3), np.eye(3) * edge


def test_a_hundred_thousand_atoms_take_a_second_or_so():
    x, vectors = waters(33_334, np.random.default_rng(1))
    radius = np.tile([0.066, 0.031, 0.031], 33_334)
    start = time.process_time()
    first, second, _ = close_pairs(x, radius, FACTOR, vectors)
    assert time.process_time() - start < 10  # all pairs take minutes, and 40 GB
    assert np.count_nonzero(first // 3 == second // 3) >= 2 * 33_334


def test_a_box_that_is_too_narrow():
    with pytest.raises(ValueError, match=r"box is 0\.1 nm wide, and bonds of these elements may be 0\.165 nm long"):
        close_pairs(np.zeros((1, 3)), np.array([0.066]), FACTOR, np.diag([2, 0.1, 2]))


def test_many_atoms_in_a_place():
    """All pairs of these would not fit into memory."""
    x = np.zeros((200_000, 3))
    x[:, 0] = np.linspace(0, 0.01, len(x))
    with pytest.raises(Crowd):
        close_pairs(x, np.full(len(x), 0.07), FACTOR, None)


def test_coordinates_of_any_size():
    x = np.array([[1e18, 0, 0], [-1e18, 0, 0], [1e300, 1, 1], [0, 0, 0], [0.1, 0, 0]])
    assert [part.tolist() for part in close_pairs(x, np.full(5, 0.07), FACTOR, None)] == [[3], [4], [0.1]]


def test_radii_are_those_of_the_paper():
    """From the table of Cordero et al."""
    assert len(RADII) == 96
    expected = {"H": 31, "C": 76, "O": 66, "Na": 166, "Cl": 102, "Zn": 122, "Br": 120, "Ag": 145, "I": 139, "La": 207}
    expected |= {"Lu": 187, "Hf": 175, "Au": 136, "Rn": 150, "Fr": 260, "U": 196, "Cm": 169, "Fe": 132, "Kr": 116}
    for symbol, radius in expected.items():
        assert radius_of(app.Element.getBySymbol(symbol)) == radius / 1000, symbol
    assert radius_of(app.Element.getBySymbol("D")) == radius_of(app.element.hydrogen)
    assert radius_of(app.Element.getBySymbol("Cf")) is None


def atoms_of(*symbols):
    topology = app.Topology()
    residue = topology.addResidue("MOL", topology.addChain("A"))
    for i, symbol in enumerate(symbols):
        element = None if symbol is None else app.Element.getBySymbol(symbol)
        topology.addAtom(f"{symbol}{i}", element, residue)
    return list(topology.atoms())


def bonds_of(symbols, x, vectors=None):
    return covalent_bonds(atoms_of(*symbols), np.arange(len(symbols)), np.array(x, dtype=float), vectors)


def test_a_bond_is_125_percent_of_both_radii():
    longest = 1.25 * (0.076 + 0.031)
    assert bonds_of(("C", "H"), [[0, 0, 0], [longest - 1e-6, 0, 0]]) == [(0, 1)]
    assert bonds_of(("C", "H"), [[0, 0, 0], [longest + 1e-6, 0, 0]]) == []


def test_salt_in_water_has_no_bonds():
    """Water 0.24 nm from Na+, and 0.28 nm from K+, whose hydrogens are close to it too."""
    symbols = ("O", "H", "H", "Na", "K", "Cl")
    x = [[0, 0, 0], [0.0757, 0.0586, 0], [-0.0757, 0.0586, 0], [0, -0.24, 0], [0.32, 0.1, 0], [-0.1, 0.3, 0]]
    assert bonds_of(symbols, x) == [(0, 1), (0, 2)]
    assert bonds_of(("Mg", "Ca"), [[0, 0, 0], [0.2, 0, 0]]) == []


@pytest.mark.parametrize(
    ("symbols", "x", "match"),
    [
        (("O", "H", "O"), [0, 0.12, 0.24], r"hydrogen A:MOL1:H1 \(particle 1\) has 2 partners: A:MOL1:O0 .*0\.12 nm"),
        (("D", "O", "O"), [0.12, 0, 0.24], "A:MOL1:D0"),
        (("C", "O"), [0, 0.06], r"A:MOL1:C0 - A:MOL1:O1 \(particles 0-1\) overlap: 0\.06 nm"),
        (("C",) * 100, [0] * 100, r"A:MOL1:C\d+ - A:MOL1:C\d+ .* overlap: 0 nm"),
        (("C", None), [0, 1], r"1 atoms .* A:MOL1:None1 \(particle 1\), which has no element"),
        (("C", "Cf"), [0, 1], "which has the element Cf"),
        (("C", "O"), [0, np.nan], r"the position of A:MOL1:O1 \(particle 1\) is \[nan, 0"),
        (("C", "O"), [0, np.inf], "the position of A:MOL1:O1"),
    ],
)
def test_what_is_refused_is_named(symbols, x, match):
    with pytest.raises(ValueError, match=match):
        bonds_of(symbols, [[along, 0, 0] for along in x])


def test_nothing_to_search():
    assert bonds_of((), np.zeros((0, 3))) == []
    assert bonds_of(("C",), np.zeros((1, 3))) == []
    assert bonds_of(("Na", "K"), np.zeros((2, 3))) == []


def test_a_molecule_across_the_box():
    """Acetylene along a diagonal of a triclinic box, as OpenMM wraps atoms."""
    system = mm.System()
    system.setDefaultPeriodicBoxVectors([2, 0, 0], [0.8, 1.6, 0], [-0.7, 0.6, 1.5])
    vectors = np.array([v._value for v in system.getDefaultPeriodicBoxVectors()])
    along = np.array([-0.166, -0.06, 0.06, 0.166])[:, None] * np.ones(3) / np.sqrt(3)
    bonds = [(0, 1), (1, 2), (2, 3)]
    for shift in ([0, 0, 0], [3, -1, 2]):
        x = along + np.random.default_rng(2).integers(-2, 3, (4, 3)) @ vectors + shift
        assert bonds_of(("H", "C", "C", "H"), x, vectors) == bonds
        assert bonds_of(("H", "C", "C", "H"), x) != bonds
