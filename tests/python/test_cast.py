# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import gc

import openmm
import pytest
from platforms import under_test

import openmmconstraints as mc

INTEGRATORS = [mc.RattleIntegrator, mc.ShakeIntegrator, mc.RattleLangevinIntegrator]


def test_force_of_a_system(system, settings, force):
    base = system.getForce(0)
    assert not isinstance(base, mc.ConstraintForce)
    assert mc.ConstraintForce.isinstance(base)
    found = mc.ConstraintForce.cast(base)
    assert isinstance(found, mc.ConstraintForce)
    assert settings(found) == settings(force)
    found.setDistanceParameters(0, 0, 1, 0.25)
    assert mc.ConstraintForce.cast(system.getForce(0)).getDistanceParameters(0)[2]._value == 0.25


def test_other_forces_are_told_apart():
    bonds = openmm.HarmonicBondForce()
    assert not mc.ConstraintForce.isinstance(bonds)
    with pytest.raises(TypeError, match="not a ConstraintForce but OpenMM::HarmonicBondForce"):
        mc.ConstraintForce.cast(bonds)


def test_integrators_of_a_compound_integrator():
    compound = openmm.CompoundIntegrator()
    for cls in INTEGRATORS:
        compound.addIntegrator(cls(300, 1, 0.001) if cls is mc.RattleLangevinIntegrator else cls(0.001))
    compound.addIntegrator(openmm.VerletIntegrator(0.001))
    gc.collect()  # the compound owns them
    for i, cls in enumerate(INTEGRATORS):
        assert [c.isinstance(compound.getIntegrator(i)) for c in INTEGRATORS] == [c is cls for c in INTEGRATORS]
        assert mc.ConstraintIntegrator.isinstance(compound.getIntegrator(i))
        assert type(cls.cast(compound.getIntegrator(i))) is cls
        general = mc.ConstraintIntegrator.cast(compound.getIntegrator(i))
        assert general.getMaxIterations() == 500
        assert type(cls.cast(general)) is cls
    assert not mc.ConstraintIntegrator.isinstance(compound.getIntegrator(3))
    with pytest.raises(TypeError, match="not a RattleIntegrator but OpenMM::VerletIntegrator"):
        mc.RattleIntegrator.cast(compound.getIntegrator(3))
    with pytest.raises(TypeError, match="not a RattleIntegrator but ConstraintPlugin::ShakeIntegrator"):
        mc.RattleIntegrator.cast(compound.getIntegrator(1))


def test_cast_keeps_one_owner(settings, force):
    """The result is the argument itself: whichever of two proxies died first would delete the object of the other."""
    base = openmm.XmlSerializer.deserialize(openmm.XmlSerializer.serialize(force))
    assert base.thisown
    typed = mc.ConstraintForce.cast(base)
    assert typed is base
    assert typed.thisown
    mc.ConstraintForce.cast(typed)
    del base
    gc.collect()
    assert settings(typed) == settings(force)
    system = openmm.System()
    system.addForce(typed)
    assert not typed.thisown
    del typed
    gc.collect()
    assert settings(mc.ConstraintForce.cast(system.getForce(0))) == settings(force)


def test_cast_leaves_a_derived_class_alone():
    class Mine(mc.RattleIntegrator):
        pass

    mine = Mine(0.001)
    assert type(mc.RattleIntegrator.cast(mine)) is Mine


@pytest.mark.platform
def test_system_and_context_survive_collection(force):
    def make():
        system = openmm.System()
        for _ in range(3):
            system.addParticle(1)
        system.addForce(force)
        return openmm.Context(system, mc.RattleIntegrator(0.001), under_test())

    system_free = make()
    gc.collect()
    system_free.setPositions([[0, 0, 0], [0.1, 0, 0], [0.1, 1 / 3, 0]])
    system_free.getIntegrator().step(3)
    assert system_free.getStepCount() == 3
