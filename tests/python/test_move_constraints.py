# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import copy

import openmm
import pytest
from molecules import topology_of
from openmm import unit
from platforms import under_test

import openmmconstraints as mc
from openmmconstraints.inspection.kinds import MOVED_CONSTRAINTS


def _system(lengths, box=None):
    """A chain with constraints of these lengths; periodic if a box is given."""
    system = openmm.System()
    for _ in range(len(lengths) + 1):
        system.addParticle(1)
    for i, length in enumerate(lengths):
        system.addConstraint(i, i + 1, length)
    if box:
        system.setDefaultPeriodicBoxVectors(*box)
        nonbonded = openmm.NonbondedForce()
        nonbonded.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
        system.addForce(nonbonded)
    return system


BOX = ((2, 0, 0), (0.5, 1, 0), (0.25, 0.25, 4))  # half the shortest width: 0.5


def _distances(force):
    return [force.getDistanceParameters(i) for i in range(force.getNumDistances())]


def _chain(*entries):
    return [[i, i + 1, length * unit.nanometer] for i, length in entries]


@pytest.mark.parametrize("box", [None, BOX])
def test_moves_everything_in_order(box):
    system = _system([0.1, 0.2, 0.5], box)
    force = mc.moveConstraints(system)
    assert isinstance(force, mc.ConstraintForce)
    assert system.getNumConstraints() == 0
    assert _distances(force) == _chain((0, 0.1), (1, 0.2), (2, 0.5))
    assert force.usesPeriodicBoundaryConditions() == (box is not None)
    assert _distances(mc.ConstraintForce.cast(system.getForce(system.getNumForces() - 1))) == _distances(force)


def test_system_without_constraints_is_left_alone():
    system = _system([])
    assert mc.moveConstraints(system) is None
    assert system.getNumForces() == 0


@pytest.mark.parametrize("helper", ["moveConstraints", "constrain", "freeze", "makeRigid", "replaceSolver"])
def test_helpers_leave_the_forces_of_users_alone(helper):
    """A dihedral of a user's Force would otherwise come behind bonds that a helper added to it."""
    system, topology = _system([0.1, 0.1, 0.1]), topology_of("CCHH", [(0, 1), (1, 2), (2, 3)])
    users = mc.ConstraintForce()
    users.addDihedral(0, 1, 2, 3, 1)
    system.addForce(users)
    before = openmm.XmlSerializer.serialize(users)
    force = {
        "moveConstraints": lambda: mc.moveConstraints(system),
        "constrain": lambda: mc.constrain(system, topology, lengths=lambda *atoms: 0.1).force,
        "freeze": lambda: mc.freeze(system, [0]).force,
        "makeRigid": lambda: mc.makeRigid(system, [[0, 1]], [[0.1 * i, 0, 0] for i in range(4)]).force,
        "replaceSolver": lambda: mc.replaceSolver(system).force,
    }[helper]()
    assert int(force.this) == int(system.getForce(1).this) != int(users.this)
    if helper == "constrain":  # names of atoms are in the first Force
        users.setParticleNames([])
        users.setBonds([])
    assert openmm.XmlSerializer.serialize(users) == before


def test_a_second_call_appends_to_the_force_of_the_first():
    system = _system([0.1, 0.1])
    mc.moveConstraints(system)
    system = copy.deepcopy(system)
    system.addConstraint(0, 2, 0.2)
    force = mc.moveConstraints(system)
    assert system.getNumForces() == 1
    assert force.getName() == MOVED_CONSTRAINTS
    assert _distances(force) == [*_chain((0, 0.1), (1, 0.1)), [0, 2, 0.2 * unit.nanometer]]


@pytest.mark.parametrize("added", ["Angle", "Dihedral", "CentroidDistance", "RigidBody"])
def test_a_second_call_does_not_shift_what_was_added_to_the_first(added):
    system = _system([0.1, 0.1, 0.1])
    force = mc.moveConstraints(system)
    {
        "Angle": lambda: force.addAngle(0, 1, 2, 1),
        "Dihedral": lambda: force.addDihedral(0, 1, 2, 3, 1),
        "CentroidDistance": lambda: force.addCentroidDistance([0, 1], [2, 3], 1),
        "RigidBody": lambda: force.addRigidBody([0, 1], [[0, 0, 0], [0.1, 0, 0]]),
    }[added]()
    system.addConstraint(0, 2, 0.2)
    assert int(mc.moveConstraints(system).this) == int(system.getForce(1).this)
    assert len(_distances(force)) == 3


def test_what_has_no_minimum_image_goes_to_a_force_without_it():
    system = _system([0.1, 0.6, 0.2], BOX)
    force = mc.moveConstraints(system)
    assert _distances(force) == _chain((0, 0.1), (2, 0.2))
    assert force.usesPeriodicBoundaryConditions()
    other = mc.ConstraintForce.cast(system.getForce(2))
    assert _distances(other) == _chain((1, 0.6))
    assert not other.usesPeriodicBoundaryConditions()


def test_what_joins_massless_particles_stays():
    system = _system([0.1, 0.2, 0.3, 0.4])
    for particle in (0, 1, 3, 4):
        system.setParticleMass(particle, 0)
    force = mc.moveConstraints(system)
    assert _distances(force) == _chain((1, 0.2), (2, 0.3))
    left = [system.getConstraintParameters(i) for i in range(system.getNumConstraints())]
    assert left == _chain((0, 0.1), (3, 0.4))
    assert mc.moveConstraints(system) is None
    assert system.getNumConstraints() == 2
    openmm.Context(system, mc.RattleIntegrator(0.001), under_test())


def test_trajectory_is_the_same():
    def run(system):
        integrator = mc.RattleIntegrator(0.001)
        integrator.setConstraintTolerance(1e-10)
        context = openmm.Context(system, integrator, under_test())
        context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0]])
        context.setVelocities([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
        integrator.step(50)
        return context.getState(getPositions=True).getPositions(asNumpy=True)._value

    before, after = _system([0.1, 0.2]), _system([0.1, 0.2])
    mc.moveConstraints(after)
    assert run(after) == pytest.approx(run(before), abs=1e-8)


def test_many_constraints():
    """They would need minutes if each removal moved all that follow."""
    system = _system([0.1] * 400_000)
    force = mc.moveConstraints(system)
    assert force.getNumDistances() == 400_000
    assert force.getDistanceParameters(399_999) == _chain((399_999, 0.1))[0]
