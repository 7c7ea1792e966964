# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import copy
import pickle

import openmm as mm
import pytest

import openmmconstraints as mc


def _pickled(thing):
    return pickle.loads(pickle.dumps(thing))


COPIES = pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, _pickled])


@COPIES
def test_force(duplicate, force, settings):
    twin = duplicate(force)
    assert type(twin) is mc.ConstraintForce
    assert settings(twin) == settings(force)
    twin.addDistance(0, 2, 0.5)  # a handle of the base type would not be accepted here
    assert force.getNumDistances() == 2


@COPIES
def test_integrator(duplicate, integrator, settings):
    twin = duplicate(integrator)
    assert type(twin) is type(integrator)
    assert settings(twin) == settings(integrator)
    twin.setMaxIterations(5)
    assert integrator.getMaxIterations() == 77


@COPIES
def test_system_with_a_force(duplicate, system, force, settings):
    twin = duplicate(system)
    del system
    assert settings(mc.ConstraintForce.cast(twin.getForce(0))) == settings(force)


def _step():
    """An integrator that has taken a step with distances that are not of one kind, and its Context."""
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(4):
        system.addParticle(12)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        force.addDistance(i, j, 0.1)
    force.addAngle(1, 2, 3, 1.9)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.05, 0.0866, 0], [0.05, 0.2, 0.05]])
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(1)
    return integrator, context


def _fields(record):
    names = [name for name, value in vars(type(record)).items() if isinstance(value, property) and name != "thisown"]
    return {name: getattr(record, name) for name in names}


@COPIES
def test_records(duplicate):
    integrator, context = _step()
    summary, clusters = integrator.getSolverSummary(), integrator.getClusters(context.getSystem())
    for record, number in ((summary, 16), *((cluster, 9) for cluster in clusters)):
        twin = duplicate(duplicate(record))
        assert type(twin) is type(record)
        assert len(_fields(twin)) == number
        assert _fields(twin) == _fields(record)
        assert (twin, hash(twin), repr(twin), str(twin)) == (record, hash(record), repr(record), str(record))
        assert twin != type(record)()
        with pytest.raises(AttributeError):
            twin.solver = "another"
    assert summary.iterations > 0
    assert duplicate(summary)._repr_html_() == summary._repr_html_()
    assert duplicate(summary).str() == str(summary) != str(mc.SolverSummary())


@COPIES
def test_health(duplicate):
    _, context = _step()
    health = mc.Health(context.getSystem(), context.getState(positions=True), integrator=context.getIntegrator())
    twin = duplicate(health)
    assert (str(twin), repr(twin), twin.clusters) == (str(health), repr(health), health.clusters)
    assert twin.as_dict() == health.as_dict()


class Mine(mc.RattleIntegrator):
    """A class derived in Python."""


@COPIES
def test_derived_class_and_attributes_are_kept(duplicate):
    mine = Mine(0.001)
    mine.label = ["kept"]
    twin = duplicate(mine)
    assert type(twin) is Mine
    assert twin.label == ["kept"]
    assert twin.label is not mine.label
