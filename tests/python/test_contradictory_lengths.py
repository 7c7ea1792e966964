# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""All bonds and angles of a force field contradict each other: what is said of that, and that the remedy works."""

from pathlib import Path

import openmm as mm
import pytest
from force_fields import AMBER14, force_field
from openmm import app
from platforms import under_test

import openmmconstraints as mc

DIPEPTIDE = Path(__file__).parents[2] / "examples/alanine_dipeptide.pdb"


@pytest.fixture(scope="module")
def dipeptide():
    return app.PDBFile(str(DIPEPTIDE))


def make(pdb):
    return force_field(*AMBER14).createSystem(pdb.topology, constraints=None, rigidWater=False)


@pytest.mark.parametrize("start", ["applyConstraints", "step", "minimize"])
def test_the_message_names_what_contradicts(dipeptide, start):
    system = make(dipeptide)
    mc.constrain(system, dipeptide.topology, "all", "all")
    texts = set()
    for step in (0.002, 0.0001):
        integrator = mc.RattleIntegrator(step)
        context = mm.Context(system, integrator, under_test())
        context.setPositions(dipeptide.positions)
        calls = {
            "applyConstraints": integrator.applyConstraints,
            "step": lambda integrator=integrator: integrator.step(1),
            "minimize": lambda context=context: mc.minimize(context),
        }
        with pytest.raises(mm.OpenMMException, match="contradict each other") as error:
            calls[start]()
        texts.add(str(error.value))
    assert len(texts) == 1
    text = texts.pop()
    for part in (
        "The distances and angles of particles ",
        "1:ALA2:CA",
        "A least-squares fit leaves an error of ",
        "worst is distance ",
        "nm long, and is ",
        'lengths="positions"',
    ):
        assert part in text
    text = text.replace("the projection before step 1", "the projection")
    for word in ("step", "velocity", "turns", "rad "):
        assert word not in text


def test_health_says_the_same(dipeptide):
    system = make(dipeptide)
    mc.constrain(system, dipeptide.topology, "all", "all")
    text = str(mc.Health(system, dipeptide.positions, integrator=mc.RattleIntegrator(0.001)))
    assert "contradict each other" in text
    assert "A least-squares fit" in text
    assert "angular velocity" not in text


def test_the_remedy_works(dipeptide):
    system = make(dipeptide)
    mc.constrain(system, dipeptide.topology, "all", "all", lengths="positions", positions=dipeptide.positions)
    integrator = mc.RattleIntegrator(0.002)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(dipeptide.positions)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(10)
    assert integrator.getNumDegreesOfFreedom() == 6 + 7 - 3  # whose centre of mass stays
