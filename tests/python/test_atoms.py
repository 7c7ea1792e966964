# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Atoms, residues and chains of a Topology wherever indices of particles are taken."""

import inspect

import numpy as np
import pytest
from openmm import app

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

FORCES = [mc.ConstraintForce, mc.CustomConstraintForce, mc.CustomCentroidConstraintForce]


@pytest.fixture
def topology():
    """Two residues of three atoms in each of two chains, with bonds."""
    topology = app.Topology()
    for _ in range(2):
        chain = topology.addChain()
        for _ in range(2):
            residue = topology.addResidue("RES", chain)
            atoms = [topology.addAtom(f"C{i}", app.element.carbon, residue) for i in range(3)]
            topology.addBond(atoms[0], atoms[1])
    return topology


def test_each_kind_of_constraint(topology):
    a = list(topology.atoms())[6:]
    force = mc.ConstraintForce()
    force.addDistance(a[0], a[1], 0.1)
    force.addDistance(particle2=a[0], particle1=3, distance=0.2)
    force.setDistanceParameters(0, a[2], np.int64(1), 0.3)
    force.addAngle(a[0], 2, a[3], 1.0, rate=0.5)
    force.setAngleParameters(0, a[3], a[2], particle3=a[1], angle=1.5)
    force.addDihedral(a[3], a[2], a[1], a[0], angle=2.0)
    force.setDihedralParameters(0, a[0], a[1], a[2], 0, 2.5)
    assert force.getDistanceParameters(0)[:2] == [8, 1]
    assert force.getDistanceParameters(1)[:2] == [3, 6]
    assert force.getAngleParameters(0)[:3] == [9, 8, 7]
    assert force.getDihedralParameters(0)[:4] == [6, 7, 8, 0]


def test_groups(topology):
    """Of atoms and indices, a residue, a chain, an iterator, residues in a list, arrays."""
    atoms, residues, chains = list(topology.atoms()), list(topology.residues()), list(topology.chains())
    force = mc.ConstraintForce()
    force.addCentroidDistance(residues[1], chains[1], 1.0)
    assert force.getCentroidDistanceParameters(0)[:2] == [(3, 4, 5), (6, 7, 8, 9, 10, 11)]
    force.setCentroidDistanceParameters(0, residues[3].atoms(), (atoms[2], 0, np.int32(4)), 1.0)
    assert force.getCentroidDistanceParameters(0)[:2] == [(9, 10, 11), (2, 0, 4)]
    force.setCentroidDistanceParameters(0, np.array([7, 8]), np.array(atoms[2:4]), distance=1.0)
    assert force.getCentroidDistanceParameters(0)[:2] == [(7, 8), (2, 3)]
    shape = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]
    force.addRigidBody(residues[1], shape)
    force.setReferencePositions([atoms[5], atoms[3]], shape[:2])
    force.setBonds(topology.bonds())
    assert force.getRigidBodyParameters(0)[0] == (3, 4, 5)
    force.setRigidBodyParameters(0, particles=[residues[2]], positions=shape)
    assert force.getRigidBodyParameters(0)[0] == (6, 7, 8)
    assert force.getReferencePositions()[0] == (3, 5)
    assert force.getBonds() == ((0, 1), (3, 4), (6, 7), (9, 10))
    force.setBonds([(atoms[2], 3)])
    assert force.getBonds() == ((2, 3),)


def test_expressions(topology):
    atoms, residues = list(topology.atoms()), list(topology.residues())
    custom = mc.CustomConstraintForce(2, "distance(p1,p2)-d")
    custom.addPerConstraintParameter("d")
    custom.addConstraint([atoms[4], atoms[5]], [1.0])
    custom.addConstraint(atoms[2:4], [1.0])
    custom.setConstraintParameters(1, (atoms[7], 8), [2.0])
    assert [custom.getConstraintParameters(i)[0] for i in range(2)] == [(4, 5), (7, 8)]
    centroids = mc.CustomCentroidConstraintForce(2, "z1-z2")
    centroids.addGroup(residues[1], [1.0, 2.0, 3.0])
    centroids.addGroup([residues[2], atoms[11]])
    assert centroids.getGroupParameters(0) == [(3, 4, 5), (1, 2, 3)]
    assert centroids.getGroupParameters(1)[0] == (6, 7, 8, 11)
    centroids.setGroupParameters(1, [atoms[0]])
    assert centroids.getGroupParameters(1)[0] == (0,)
    assert centroids.addConstraint([1, 0]) == 0  # of groups


def test_coordinates_and_frozen_atoms(topology):
    atoms, residues = list(topology.atoms()), list(topology.residues())
    assert fe.Distance(atoms[4], 1) == fe.Distance(4, 1)
    assert fe.CentroidDistance(residues[2], [atoms[0]]).particles1 == (6, 7, 8)
    with pytest.raises(TypeError, match="Distance: particles are indices, or atoms of a Topology, not <Residue"):
        fe.Distance(residues[0], 1)


def test_every_argument_that_is_a_particle_takes_atoms(topology):
    """Of methods that are added later, too: what is no atom is refused by the method's name."""
    residue, checked = next(topology.residues()), set()
    for force in FORCES:
        for name, function in inspect.getmembers(force, inspect.isfunction):
            for argument in inspect.signature(function).parameters:
                if argument.rstrip("0123456789") == "particle":
                    given = {each: 0 for each in inspect.signature(function).parameters if each != "self"}
                    with pytest.raises(
                        TypeError, match=f"{name}: a particle is an index or an atom of a Topology, not <Res"
                    ):
                        function(mc.ConstraintForce(), **{**given, argument: residue})
                    checked.add((name, argument))
    assert len(checked) == 2 * (2 + 3 + 4)


def test_what_is_no_particle_is_refused_as_before():
    force = mc.ConstraintForce()
    for wrong in (1.0, "1", None, [1]):
        with pytest.raises(TypeError, match="integer"):
            force.addDistance(0, wrong, 0.1)
    for wrong in (1, None):
        with pytest.raises(TypeError, match="expected a sequence of particle indices"):
            force.addCentroidDistance([0], wrong, 0.1)
    with pytest.raises(TypeError, match="argument"):
        force.addDistance(0, 1, 0.1, 0.0, 0.0, 7)
    assert inspect.signature(force.addDistance).parameters["distance"]
    assert "(nm)" in force.addDistance.__doc__
