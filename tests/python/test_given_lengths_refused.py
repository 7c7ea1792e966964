# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""constrain(lengths=...): what it refuses."""

import numpy as np
import openmm as mm
import pytest
from held import held
from molecules import HH, WATER, system_of, topology_of, water
from openmm import unit

import openmmconstraints as mc


@pytest.mark.parametrize("place", ["System", "Force"])
@pytest.mark.parametrize(
    ("i", "j", "length", "lengths"),
    [(0, 1, 0.0972, WATER), (1, 2, 0.16, WATER), (0, 1, 0.0980, "positions"), (1, 2, 0.16, "positions")],
)
def test_constraints_that_contradict_are_named_with_both_lengths(place, i, j, length, lengths):
    topology = topology_of("OHH", [(0, 1), (0, 2)])
    system = system_of(topology)
    if place == "System":
        system.addConstraint(j, i, length)
    else:
        force = mc.ConstraintForce()
        force.addDistance(j, i, length)
        system.addForce(force)
    before = mm.XmlSerializer.serialize(system)
    new = 0.09572 if i == 0 else HH
    with pytest.raises(ValueError, match=f"A:MOL1:H{j}.* held at {length:.6g} nm already, and would get {new:.6g} nm"):
        mc.constrain(system, topology, lengths=lengths, positions=water())
    assert mm.XmlSerializer.serialize(system) == before


ETHYNE = ("HCCH", [(0, 1), (1, 2), (2, 3)], np.array([-0.166, -0.06, 0.06, 0.166])[:, None] * [0, 0.6, 0.8])
NAN = np.where(np.arange(4)[:, None] == 2, np.nan, ETHYNE[2])


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"bonds": "bonds", "lengths": "positions"}, ValueError, 'bonds must be "all", "hydrogens", "covalent", "cov'),
        ({"angles": "covalent", "lengths": "positions"}, ValueError, 'angles must be "all", "hydrogens" or None'),
        ({"lengths": "positions"}, ValueError, "needs positions="),
        ({"lengths": "position"}, TypeError, "lengths must be \"positions\", a table .* not 'position'"),
        ({"lengths": 0.1}, TypeError, r"not 0\.1"),
        ({"lengths": [0.1]}, TypeError, "lengths must be"),
        ({"bonds": "covalent"}, ValueError, 'bonds="covalent" needs lengths='),
        ({"bonds": "covalent", "lengths": {}}, ValueError, "covalent bonds takes positions="),
        ({"positions": ETHYNE[2]}, ValueError, "positions= is for lengths= only"),
        ({"lengths": "positions", "positions": ETHYNE[2][:3]}, ValueError, "there are 3 positions and 4 particles"),
        ({"lengths": "positions", "positions": ETHYNE[2][:, :2]}, ValueError, "shape"),
        ({"lengths": "positions", "positions": ETHYNE[2] * unit.kelvin}, TypeError, "must be lengths"),
        ({"lengths": "positions", "positions": NAN}, ValueError, r"position of A:MOL1:C2 \(particle 2\) is \[nan"),
        ({"lengths": "positions", "positions": 0 * ETHYNE[2]}, ValueError, r"H0 - A:MOL1:C1 .* in one place"),
        ({"lengths": "positions", "positions": 10 * ETHYNE[2]}, ValueError, r"1\.06 nm cannot be .* Plain numbers"),
        ({"lengths": "positions", "positions": 0.1 * ETHYNE[2]}, ValueError, r"0\.0106 nm cannot be the length"),
        ({"bonds": "covalent", "lengths": "positions", "positions": 10 * ETHYNE[2]}, ValueError, "Are these ångströms"),
        ({"bonds": "covalent", "lengths": "positions", "positions": 99 * ETHYNE[2]}, ValueError, "no two atoms are"),
        ({"bonds": "covalent", "lengths": "positions", "positions": 0 * ETHYNE[2]}, ValueError, "overlap: 0 nm"),
        ({"bonds": "covalent", "lengths": "positions", "positions": 0.1 * ETHYNE[2]}, ValueError, "overlap: 0.01"),
        ({"lengths": {"CH": 0.1}}, TypeError, "keys of lengths are two or three elements, .* not 'CH'"),
        ({"lengths": {("C",): 0.1}}, TypeError, "two or three elements"),
        ({"lengths": {("C", 6): 0.1}}, TypeError, "elements or their symbols, not 6"),
        ({"lengths": {("C", "Q"): 0.1}}, ValueError, "there is no element 'Q'"),
        ({"lengths": {("C", "H"): "0.1"}}, TypeError, r"lengths\[\('C', 'H'\)\] must be a number"),
        ({"lengths": {("C", "H"): 1 * unit.kelvin}}, TypeError, "nanometer"),
        ({"lengths": {("C", "H"): 109.5 * unit.degrees}}, TypeError, "nanometer"),
        ({"lengths": {("C", "H"): -0.1}}, ValueError, "a length is positive and finite"),
        ({"lengths": {("C", "H"): np.nan}}, ValueError, "a length is positive and finite"),
        ({"lengths": {("C", "C", "H"): 200 * unit.degrees}}, ValueError, "above 0 and up to 180 degrees"),
        ({"lengths": {("C", "H"): 0.1, ("H", "C"): 0.11}}, ValueError, r"two values for \('C', 'H'\)"),
        ({"lengths": {("C", "H"): 1.06, ("C", "C"): 0.12}}, ValueError, r"1\.06 nm cannot be the length"),
        ({"lengths": lambda *atoms: None}, TypeError, r"lengths\(atom, atom\) for A:MOL1:H0 - A:MOL1:C1"),
        ({"lengths": lambda *atoms: 0}, ValueError, r"\(particles 0-1\) is 0: a length"),
        ({"lengths": lambda atom: 0.1}, TypeError, "raised an exception: .*takes 1 positional argument"),
        ({"angles": "all", "lengths": lambda a, b: 0.1}, TypeError, r"lengths\(atom, atom, atom\) for A:MOL1:H0"),
        (
            {"angles": "all", "lengths": lambda *a: (0, 0, 0.1, 0.3)[len(a)]},
            ValueError,
            r"cannot be 0\.3 nm .*0\.1 and",
        ),
    ],
)
def test_mistakes_are_named_and_change_nothing(options, error, match):
    topology = topology_of(*ETHYNE[:2])
    system = system_of(topology)
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(error, match=match):
        mc.constrain(system, topology, **options)
    assert mm.XmlSerializer.serialize(system) == before


def test_two_angles_that_give_their_ends_two_distances():
    """A ring of four whose corners differ."""
    topology = topology_of("CNCN", [(0, 1), (1, 2), (2, 3), (0, 3)])
    with pytest.raises(ValueError, match=r"the ends of .* are held at .* nm already"):
        mc.constrain(
            system_of(topology),
            topology,
            angles="all",
            lengths=lambda *atoms: 0.15 if len(atoms) == 2 else (80 + 10 * atoms[1].index) * unit.degrees,
        )


def test_a_broken_molecule_in_a_system_without_a_box_is_refused():
    topology = topology_of("CH", [(0, 1)])
    x = [[0.01, 0, 0], [1.91, 0, 0]]
    with pytest.raises(ValueError, match=r"1\.9 nm cannot be .* the System has to be periodic"):
        mc.constrain(system_of(topology), topology, lengths="positions", positions=x)
    system = system_of(topology, 2 * np.eye(3))
    mc.constrain(system, topology, lengths="positions", positions=x)
    assert held(system) == pytest.approx({(0, 1): 0.1})


def test_waters_across_a_box_that_the_system_does_not_have():
    """As where constraints come before Forces: without nearest images half of these would be flexible."""
    topology = topology_of("OHH" * 2)
    x = np.concatenate([water(), water([1, 1, 1])])
    x[4, 0] += 2
    made = mc.constrain(system_of(topology), topology, "covalent", lengths="positions", positions=x)
    assert made.waters == 1
    assert made.unbound == ("A:MOL1:H4 (particle 4)",)
    topology.setPeriodicBoxVectors(2 * np.eye(3))
    with pytest.raises(ValueError, match=r"1 hydrogens have no bond, .*H4 \(particle 4\).* no Force of the System is"):
        mc.constrain(system_of(topology), topology, "covalent", lengths="positions", positions=x)
    system = system_of(topology, 2 * np.eye(3))
    assert mc.constrain(system, topology, "covalent", lengths="positions", positions=x).waters == 2


METHANE = 0.109 / np.sqrt(3) * np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
FOUR = [(0, 1), (0, 2), (0, 3), (0, 4)]


@pytest.mark.parametrize("length", [0.3, 0.04, 0.109 * 1.51, 0.109 / 1.51])
@pytest.mark.parametrize("as_function", [False, True])
def test_lengths_that_cannot_be_those_of_the_positions(length, as_function):
    topology = topology_of("CHHHH", FOUR)
    system = system_of(topology)
    before = mm.XmlSerializer.serialize(system)
    lengths = (lambda *atoms: length) if as_function else {("C", "H"): length}
    with pytest.raises(
        ValueError, match=rf"A:MOL1:C0 - A:MOL1:H\d .* would be {length:.4g} nm .* are 0\.109 nm at the"
    ):
        mc.constrain(system, topology, lengths=lengths, positions=METHANE)
    assert mm.XmlSerializer.serialize(system) == before


def test_the_ends_of_an_angle_that_cannot_be_those_of_the_positions():
    topology = topology_of("OHH", [(0, 1), (0, 2)])
    table = {("O", "H"): 0.09572, ("H", "O", "H"): 40 * unit.degrees}
    with pytest.raises(ValueError, match=r"the ends of A:MOL1:H1 - A:MOL1:O0 - A:MOL1:H2 .* would be 0\.06548 nm"):
        mc.constrain(system_of(topology), topology, lengths=table, positions=water())
    at_one_place = [[0, 0, 0], [0.0957, 0, 0], [0.0957, 0, 0]]
    with pytest.raises(ValueError, match=r"factor of 1\.5"):
        mc.constrain(system_of(topology), topology, lengths=WATER, positions=at_one_place)
