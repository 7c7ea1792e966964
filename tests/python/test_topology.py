# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Names of atoms in errors: setTopology() and moveConstraints(system, topology)."""

import copy
import itertools
import pickle

import openmm as mm
import pytest
from openmm import app
from platforms import under_test

import openmmconstraints as mc

NAMES = ("A:LEU3:CA", "A:LEU3:HA", "A:LEU3b:C5'")


def _topology(chain="A", names=("CA", "HA", "C5'")):
    topology = app.Topology()
    chain = topology.addChain(chain)
    residue = topology.addResidue("LEU", chain, id="3")
    inserted = topology.addResidue("LEU", chain, id="3", insertionCode="b")
    for name in names:
        topology.addAtom(name, None, residue if name != names[-1] else inserted)
    for first, second in itertools.pairwise(topology.atoms()):
        topology.addBond(first, second)
    return topology


def _system(distance=-0.1):
    """A bond of the System itself whose length is impossible."""
    system = mm.System()
    for _ in range(3):
        system.addParticle(1)
    system.addConstraint(0, 1, distance)
    return system


def _message(system):
    with pytest.raises(mm.OpenMMException) as error:
        mm.Context(system, mc.RattleIntegrator(0.001), under_test())
    return str(error.value)


def test_names_serve_every_constraint():
    system = _system()
    mc.setTopology(system, _topology())
    assert "System constraint 0 (particles 0 and 1: A:LEU3:CA and A:LEU3:HA)" in _message(system)
    mc.moveConstraints(system)  # into a Force of their own, without names
    assert "distance 0 of the ConstraintForce with index 1 (particles 0 and 1: A:LEU3:CA" in _message(system)
    custom = mc.CustomConstraintForce(2, "distance(p1,p2)-a")
    custom.addPerConstraintParameter("a")
    custom.addConstraint([0, 2], [float("nan")])
    other = _system(0.1)
    other.addForce(custom)
    mc.setTopology(other, _topology())
    assert "(particles 0 and 2: A:LEU3:CA and A:LEU3b:C5')" in _message(other)


def test_move_constraints_takes_names_along():
    system = _system()
    force = mc.moveConstraints(system, _topology(chain=" "))
    assert force.getParticleNames() == tuple(name.removeprefix("A:") for name in NAMES)
    assert "(particles 0 and 1: LEU3:CA and LEU3:HA)" in _message(system)
    assert mc.moveConstraints(mm.System(), app.Topology()) is None


def test_names_travel_with_the_system():
    system = _system()
    odd = ("C&#x41;", "<'\"%41> é\n", "C5'A")  # XML's own, OpenMM's XML reader's, and not ASCII
    mc.setTopology(system, _topology(names=odd))
    bonds = ((0, 1), (1, 2))
    expected = ("A:LEU3:" + odd[0], "A:LEU3:" + odd[1].strip(), "A:LEU3b:" + odd[2])
    for twin in (system, copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        force = mc.ConstraintForce.cast(twin.getForce(0))
        assert force.getParticleNames() == expected
        assert copy.copy(force).getParticleNames() == pickle.loads(pickle.dumps(force)).getParticleNames() == expected
        assert force.getBonds() == copy.copy(force).getBonds() == pickle.loads(pickle.dumps(force)).getBonds() == bonds


def test_a_second_topology_replaces_the_first():
    system = _system()
    for _ in range(2):
        system.addForce(mc.ConstraintForce())
    other = mc.ConstraintForce.cast(system.getForce(1))
    other.setParticleNames(["of another topology"])
    other.setBonds([(0, 2)])
    mc.setTopology(system, _topology(names=("X1", "X2", "X3")))
    mc.setTopology(system, _topology())
    kept = [mc.ConstraintForce.cast(force).getParticleNames() for force in system.getForces()]
    assert kept == [NAMES, ()]
    assert [mc.ConstraintForce.cast(force).getBonds() for force in system.getForces()] == [((0, 1), (1, 2)), ()]


def test_the_wrong_topology_changes_nothing():
    system = _system()
    before = mm.XmlSerializer.serialize(system)
    for change in (mc.setTopology, mc.moveConstraints, mc.constrain):
        with pytest.raises(ValueError, match=rf"{change.__name__}: the topology has 2 atoms, the System 3 particles"):
            change(system, _topology(names=("CA", "CB")))
        assert mm.XmlSerializer.serialize(system) == before
    mc.setTopology(system, _topology())
    system.addParticle(1)  # such as an anchor: it has no name
    system.addConstraint(2, 3, 0)
    system.removeConstraint(0)
    assert "(particles 2 and 3: A:LEU3b:C5' and 3)" in _message(system)


def test_names_of_the_wrong_type():
    force = mc.ConstraintForce()
    with pytest.raises(TypeError):
        force.setParticleNames([1, 2])
    assert force.getParticleNames() == ()


def test_bonds_are_checked_when_a_context_is_created():
    for bond in ((0, 3), (-1, 0), (1, 1)):
        system = _system(0.1)
        force = mc.ConstraintForce()
        force.setBonds([bond])
        system.addForce(force)
        assert f"has a bond of particles {bond[0]} and {bond[1]}, but the System has particles 0 to 2" in _message(
            system
        )
    with pytest.raises(TypeError):
        force.setBonds([(0, 1, 2)])
