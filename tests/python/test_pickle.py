# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import copy
import pickle

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
