# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What makes the Python classes comfortable: names of solvers, arrays, stubs that editors show."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from openmm import unit

import openmmconstraints as mc
from openmmconstraints import wrapper

SOLVERS = ("Automatic", "Iterative", "MatrixInversion")


@pytest.mark.parametrize("number", range(3))
def test_a_solver_is_chosen_by_its_name_its_constant_or_its_number(number):
    name = SOLVERS[number]
    constant = getattr(mc.ConstraintIntegrator, name)
    assert constant == number
    assert isinstance(constant, int)
    for choice in (name, constant, number, np.int64(number)):
        integrator = mc.RattleIntegrator(0.001)
        integrator.setSolver(choice)
        assert integrator.getSolver() is constant
        for other in (copy.deepcopy(integrator), pickle.loads(pickle.dumps(integrator))):
            assert other.getSolver() is constant
    assert repr(constant) == f"ConstraintIntegrator.{name}"
    assert str(constant) == name
    assert pickle.loads(pickle.dumps(constant)) is constant


def test_numbers_of_solvers_are_those_of_the_library():
    from openmmconstraints import _wrapper

    for name in SOLVERS:
        assert getattr(mc.ConstraintIntegrator, name) == getattr(_wrapper, f"ConstraintIntegrator_{name}")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [("matrixinversion", ValueError), ("", ValueError), (1.0, TypeError), (None, TypeError), (7, mm.OpenMMException)],
)
def test_a_wrong_solver_gets_the_choices(wrong, error):
    integrator = mc.ShakeIntegrator(0.001)
    with pytest.raises(error, match=r"Automatic.*Iterative.*MatrixInversion"):
        integrator.setSolver(wrong)
    assert integrator.getSolver() == 0


@pytest.fixture(params=[mc.RattleIntegrator, mc.ShakeIntegrator])
def stretched(request):
    """Three particles that constraints hold against springs, after a step: (integrator, Context, Force)."""
    system = mm.System()
    springs, force = mm.HarmonicBondForce(), mc.ConstraintForce()
    for i in range(3):
        system.addParticle(10)
        if i > 0:
            springs.addBond(i - 1, i, 0.12, 1e4)
            force.addDistance(i - 1, i, 0.1)
    system.addForce(springs)
    system.addForce(force)
    integrator = request.param(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]])
    integrator.step(1)
    return integrator, context, force


def test_arrays_have_the_numbers_of_the_lists_and_their_unit(stretched):
    integrator, context, force = stretched
    per_length = unit.kilojoule_per_mole / unit.nanometer
    forces = integrator.getConstraintForces(asNumpy=True)
    assert forces.value_in_unit(per_length).shape == (3, 3)
    assert np.abs(forces.value_in_unit(per_length)).max() > 100
    assert np.array_equal(forces.value_in_unit(per_length), np.array(integrator.getConstraintForces()))
    virial = integrator.getConstraintVirial(asNumpy=True).value_in_unit(unit.kilojoule_per_mole)
    assert np.array_equal(virial, np.array(integrator.getConstraintVirial()))
    for read in (integrator.getMultipliers, integrator.getVelocityMultipliers, integrator.computeMultipliers):
        array = read(asNumpy=True)
        assert isinstance(array, np.ndarray)  # distances, angles: not of one unit
        assert array.shape == (2,)
        assert np.array_equal(array, np.array(read()))
    works = integrator.getConstraintWorks()
    assert works.value_in_unit(unit.kilojoule_per_mole) == (0, 0)  # neither moves
    assert (works[0] + works[1]).unit == unit.kilojoule_per_mole
    array = integrator.getConstraintWorks(asNumpy=True).value_in_unit(unit.kilojoule_per_mole)
    assert isinstance(array, np.ndarray)
    assert array.shape == (2,)
    own = force.getMultipliers(context, asNumpy=True)
    assert np.array_equal(own, integrator.getMultipliers(asNumpy=True))


def test_a_summary_counts_in_words(stretched):
    summary = stretched[0].getSolverSummary()
    noun = "iteration" if summary.iterations == 1 else "iterations"
    assert f"converged in {summary.iterations} {noun}, " in summary.str()
    assert "; 1 cluster, " in summary.str()


@pytest.mark.parametrize("kind", [mc.CustomConstraintForce, mc.CustomCentroidConstraintForce])
def test_multipliers_of_expressions_are_arrays_too(kind):
    system = mm.System()
    for _ in range(2):
        system.addParticle(10)
    force = kind(2, "distance(p1, p2) - 0.1" if kind is mc.CustomConstraintForce else "distance(g1, g2) - 0.1")
    if kind is mc.CustomCentroidConstraintForce:
        for particle in range(2):
            force.addGroup([particle])
    force.addConstraint([0, 1])
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0.0, 0, 0], [0.1, 0, 0]])
    context.setVelocities([[0.0, 0, 0], [0, 1, 0]])
    integrator.step(1)
    (multiplier,) = force.getMultipliers(context, asNumpy=True)
    assert multiplier == force.getMultipliers(context)[0] != 0


def test_free_energies_need_no_import_of_their_own():
    code = "import openmmconstraints as mc; print(mc.freeenergy.Dihedral(0, 1, 2, 3), 'freeenergy' in dir(mc))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Dihedral" in result.stdout
    assert "True" in result.stdout


def test_stubs_have_the_docstrings_of_the_module():
    text = Path(mc.__file__).with_name("wrapper.pyi").read_text()
    assert "std::" not in text, "types are those of Python"
    stub = ast.parse(text)
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    missing = []
    for name, node in classes.items():
        kind = getattr(wrapper, name)
        assert ast.get_docstring(node), name
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                documented = getattr(vars(kind)[member.name], "__doc__", None) or ""
                documented = re.sub(r":r?type\b.*", "", documented)
                text = ast.get_docstring(member)
                if documented.strip() and not (text and text.split()[:8] == documented.split()[:8]):
                    missing.append(f"{name}.{member.name}")
    assert missing == []
    forces = next(m for m in classes["ConstraintIntegrator"].body if getattr(m, "name", "") == "getConstraintForces")
    assert "asNumpy" in ast.get_docstring(forces)
