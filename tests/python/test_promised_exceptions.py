# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Exceptions that docstrings and pages promise, as far as no other test asks for them: a row each."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit
from openmm_series import since

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

REFERENCE = mm.Platform.getPlatform("Reference")
X = np.array([[0, 0, 0], [0.1, 0, 0], [0.15, 0.1, 0], [0.25, 0.12, 0.05]])
PAIRS = [(0, 1), (1, 2)]  # force groups with their substeps


def model(force=None):
    """Four particles; a spring is not at rest."""
    system, bonds = mm.System(), mm.HarmonicBondForce()
    for _ in X:
        system.addParticle(12)
    bonds.addBond(0, 1, 0.12, 1e4)
    system.addForce(bonds)
    for one in () if force is None else (force,):
        system.addForce(one)
    return system


def held(rate=0.0):
    """A Force with one distance, which may move."""
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1, rate)
    return force


def following():
    """A distance that follows the Context parameter "way"."""
    force = held()
    force.addGlobalParameter("way", 0)
    force.setDistanceInterpolation(0, "way", 0.11)
    return force


def make_context(force=None, integrator=None, positions=X):
    context = mm.Context(model(force), integrator or mc.RattleIntegrator(0.001), REFERENCE)
    if positions is not None:
        context.setPositions(positions)
    return context


def simulate(reporter, integrator=None, force=None):
    integrator = integrator or mc.RattleLangevinIntegrator(300, 1, 0.001)
    simulation = app.Simulation(app.Topology(), model(force or held()), integrator, REFERENCE)
    simulation.context.setPositions(X)
    simulation.reporters.append(reporter)
    simulation.step(10)
    return simulation


# ---- indices -----------------------------------------------------------------------------------------------------


def filled_forces():
    """Forces with one of everything."""
    force = following()
    force.addAngle(0, 1, 2, 1.9)
    force.addDihedral(0, 1, 2, 3, 1)
    force.addCentroidDistance([0, 1], [2, 3], 0.2)
    force.addCoordinationNumber([0, 1], [2, 3], 1.5, 0.2)
    force.addRigidBody([0, 1, 2], X[:3])
    particles, groups = mc.CustomConstraintForce(1, "a*x1 - g"), mc.CustomCentroidConstraintForce(1, "a*x1 - g")
    for one in (particles, groups):
        one.addPerConstraintParameter("a")
        one.addGlobalParameter("g", 0)
        one.addTabulatedFunction("f", mm.Continuous1DFunction([0, 1, 2], 0, 1))
    particles.addConstraint([0], [1])
    groups.addGroup([0, 1])
    groups.addConstraint([0], [1])
    return force, particles, groups


#: Values that methods take besides the index.
FITTING: dict[str, Any] = {
    "distance": 0.1, "distance1": 0.1, "angle": 1.0, "angle1": 1.0, "rate": 0.0, "startTime": 0.0, "parameter": "way",
    "number": 1.5, "number1": 1.6, "r0": 0.2, "n": 6, "m": 12, "cutoff": 0.0,
    "particles": [0], "particles1": [0], "particles2": [1], "positions": X[:1], "name": "b", "defaultValue": 0.0,
    "groups": [0], "weights": [1.0], "parameters": [1.0],
}  # fmt: skip
INDEXED = sorted(
    {
        (cls.__name__, name)
        for cls in (mc.ConstraintForce, mc.CustomConstraintForce, mc.CustomCentroidConstraintForce)
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if "index" in inspect.signature(method).parameters and not name.startswith("_")
    }
)


def test_all_methods_with_an_index_are_asked():
    assert len(INDEXED) > 45
    assert {cls for cls, _ in INDEXED} == {type(force).__name__ for force in filled_forces()}


@pytest.mark.parametrize(("cls", "name"), INDEXED)
def test_an_index_that_is_there_is_taken_and_no_other(cls, name):
    [force] = [one for one in filled_forces() if type(one).__name__ == cls]
    method = getattr(force, name)
    names = [key for key in inspect.signature(method).parameters if key not in ("index", "self")]
    others = [int(key[-1]) - 1 if key.startswith("particle") and key[8:].isdigit() else FITTING[key] for key in names]
    if name == "setRigidBodyParameters":
        others = [[0, 1], X[:2]]
    method(0, *others)
    for index in (-1, 1, 7):
        with pytest.raises(mm.OpenMMException):
            method(index, *others)


# ---- settings ----------------------------------------------------------------------------------------------------

NO_NUMBERS = (-1.0, math.inf, math.nan)
#: Constructors with one value in its place, and the least number that fits.
SETTINGS: dict[str, Callable[[Any], object]] = {
    "temperature of Langevin": lambda v: mc.RattleLangevinIntegrator(v, 1, 0.001),
    "friction of Langevin": lambda v: mc.RattleLangevinIntegrator(300, v, 0.001),
    "setTemperature of Langevin": lambda v: mc.RattleLangevinIntegrator(300, 1, 0.001).setTemperature(v),
    "setFriction": lambda v: mc.RattleLangevinIntegrator(300, 1, 0.001).setFriction(v),
    "temperature of MTS Langevin": lambda v: mc.RattleMTSLangevinIntegrator(v, 1, 0.001, PAIRS),
    "temperature of Nose-Hoover": lambda v: mc.RattleNoseHooverIntegrator(v, 1, 0.001),
    "frequency of Nose-Hoover": lambda v: mc.RattleNoseHooverIntegrator(300, v, 0.001),
    "setTemperature of Nose-Hoover": lambda v: mc.RattleNoseHooverIntegrator(300, 1, 0.001).setTemperature(v),
    "setCollisionFrequency": lambda v: mc.RattleNoseHooverIntegrator(300, 1, 0.001).setCollisionFrequency(v),
    "step size": lambda v: mc.RattleIntegrator(v),
    "setStepSize": lambda v: mc.ShakeIntegrator(0.001).setStepSize(v),
    "setConstraintTolerance": lambda v: mc.RattleIntegrator(0.001).setConstraintTolerance(v),
    "setMaxProjection": lambda v: mc.RattleIntegrator(0.001).setMaxProjection(v),
    "alpha": lambda v: mc.ConstraintForceIntegrator(0.001).setStabilization(v, 1),
    "beta": lambda v: mc.ConstraintForceIntegrator(0.001).setStabilization(1, v),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_are_finite_and_not_negative(setting):
    SETTINGS[setting](0.5)
    for value in NO_NUMBERS:
        with pytest.raises(mm.OpenMMException):
            SETTINGS[setting](value)


# ---- readings before there is anything to read -------------------------------------------------------------------

INTEGRATORS: dict[str, Callable[[], mc.ConstraintIntegrator]] = {
    "Rattle": lambda: mc.RattleIntegrator(0.001),
    "Shake": lambda: mc.ShakeIntegrator(0.001),
    "Langevin": lambda: mc.RattleLangevinIntegrator(300, 1, 0.001),
    "MTS": lambda: mc.RattleMTSIntegrator(0.001, [(0, 1)]),
    "MTSLangevin": lambda: mc.RattleMTSLangevinIntegrator(300, 1, 0.001, [(0, 1)]),
    "NoseHoover": lambda: mc.RattleNoseHooverIntegrator(300, 1, 0.001),
    "ConstraintForce": lambda: mc.ConstraintForceIntegrator(0.001),
}
OF_A_STEP = ("getMultipliers", "getVelocityMultipliers", "getConstraintForces", "getConstraintVirial")


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        (name, reading)
        for name in INTEGRATORS
        for reading in OF_A_STEP
        if not (name.startswith("MTS") and reading == "getVelocityMultipliers")
    ],
)
def test_what_a_step_leaves_is_not_there_before_it(name, reading):
    integrator = INTEGRATORS[name]()
    context = make_context(held(), integrator)
    other = r"computeMultipliers\(\)" if "Multipliers" in reading else r"computeConstraintForces\(context\)"
    with pytest.raises(mm.OpenMMException, match=rf"{reading}\(\).*none has been taken in this Context.*{other}"):
        getattr(integrator, reading)()
    integrator.step(1)
    getattr(integrator, reading)()
    del context


@pytest.mark.parametrize("name", ["MTS", "MTSLangevin"])
def test_several_velocity_stages_have_no_multipliers_of_their_own(name):
    integrator = INTEGRATORS[name]()
    context = make_context(held(), integrator)
    for _ in range(2):
        with pytest.raises(mm.OpenMMException, match=r"several velocity stages\. getMultipliers\(\) has the impulses"):
            integrator.getVelocityMultipliers()
        integrator.step(1)
    del context


# ---- rows --------------------------------------------------------------------------------------------------------


def parameter_set():
    """A Context whose positions are not those of its parameter."""
    context = make_context(following())
    context.setParameter("way", 1)
    return context


def replaced(force):
    """A Context whose solver a Force replaces."""
    force.setReplacesSolver(True)
    return make_context(force, mm.LangevinMiddleIntegrator(300, 1, 0.001))


def with_global_parameter():
    pairs = mm.CustomNonbondedForce("lambda*r")
    pairs.addGlobalParameter("lambda", 1)
    for _ in X:
        pairs.addParticle([])
    return model(pairs)


def change_temperature():
    reporter = mc.BlueMoonReporter(None, 5)
    simulation = simulate(reporter)
    simulation.integrator.setTemperature(310)
    simulation.step(5)


def mean_force_of(index):
    reporter = mc.BlueMoonReporter(None, 5)
    simulate(reporter)
    reporter.getMeanForce(index)


def foreign_reporter():
    simulate(mc.BlueMoonReporter(None, 5, 0), mm.VerletIntegrator(0.001), mm.HarmonicBondForce())


def derivative_of_unprojected():
    context = parameter_set()
    context.getIntegrator().computeParameterDerivatives()


def blue_moon(constraints, rate=0.0):
    integrator = mc.RattleIntegrator(0.001)
    context = make_context(held(rate), integrator)
    integrator.computeBlueMoon(constraints)
    del context


def named_twice(force):
    force.addGlobalParameter("one", 0)
    force.addGlobalParameter("two", 0)
    return force


def add_null_table():
    mc.CustomConstraintForce(1, "x1").addTabulatedFunction("f", None)


def run_window(**changes):
    arguments: dict[str, Any] = {"steps": 10, "platform": "Reference", "coordinate": fe.Distance(0, 2), "value": 0.18}
    arguments |= changes
    return fe.run_window(model(), X, integrator=mc.RattleLangevinIntegrator(300, 1, 0.001), **arguments)


Row = tuple[Callable[[Any], object], type[Exception] | tuple[type[Exception], ...], str]
#: What is promised, how to bring it about (given a folder), the exception, and what it says.
PROMISES: dict[str, Row] = {
    # ConstraintForce and the Forces of expressions
    "a second Context parameter of a name": (
        lambda _: following().addGlobalParameter("way", 0), mm.OpenMMException, "way"
    ),
    "a Context parameter without a name": (
        lambda _: mc.ConstraintForce().addGlobalParameter("", 0), mm.OpenMMException, "name"
    ),
    "a Context parameter that gets another one's name": (
        lambda _: named_twice(mc.ConstraintForce()).setGlobalParameterName(0, "two"), mm.OpenMMException, "two"
    ),
    "interpolation with a parameter that is not there": (
        lambda _: held().setDistanceInterpolation(0, "way", 0.11), mm.OpenMMException, "way"
    ),
    "a CustomConstraintForce of no particles": (
        lambda _: mc.CustomConstraintForce(0, "1"), mm.OpenMMException, "at least 1|positive|one"
    ),
    "a CustomCentroidConstraintForce of no groups": (
        lambda _: mc.CustomCentroidConstraintForce(0, "1"), mm.OpenMMException, "at least 1|positive|one"
    ),
    "a table that is none": (lambda _: add_null_table(), TypeError, "must be an openmm.TabulatedF"),
    # Context parameters: energies and forces of positions that are off the constraints
    "an energy after setParameter()": (
        lambda _: parameter_set().getState(energy=True), mm.OpenMMException, '"way"'
    ),
    "forces after setParameter()": (
        lambda _: parameter_set().getState(forces=True), mm.OpenMMException, '"way"'
    ),
    "computeParameterDerivatives() after setParameter()": (
        lambda _: derivative_of_unprojected(), mm.OpenMMException, '"way"'
    ),
    "computeConstraintForces() after setParameter()": (
        lambda _: mc.computeConstraintForces(parameter_set()), mm.OpenMMException, '"way"'
    ),
    "computeConstraintVirial() after setParameter()": (
        lambda _: mc.computeConstraintVirial(parameter_set()), mm.OpenMMException, '"way"'
    ),
    # a replaced solver
    "moving constraints under a replaced solver": (
        lambda _: replaced(held(rate=0.1)), mm.OpenMMException, "move|moving|time"
    ),
    # mean forces
    "a temperature that changes": (lambda _: change_temperature(), ValueError, "changed from 300 to 310 K"),
    "no temperature": (
        lambda _: simulate(mc.BlueMoonReporter(None, 5), mc.RattleIntegrator(0.001)), ValueError, "has no temperature"
    ),
    "a coordinate that the reporter has not": (
        lambda _: mean_force_of(1), IndexError, "getMeanForce: there is no coordinate 1: this reporter has 1, 0 to 0"
    ),
    "an integrator that reports no multipliers": (lambda _: foreign_reporter(), TypeError, "VerletIntegrator reports"),
    "a constraint that moves": (lambda _: blue_moon([0], rate=0.1), mm.OpenMMException, "move in time"),
    "a constraint that is not there": (lambda _: blue_moon([1]), mm.OpenMMException, "there is no constraint 1"),
    "a file that cannot be written": (
        lambda folder: mc.BlueMoonReporter(str(folder / "none" / "f.csv"), 5), OSError, "f.csv"
    ),
    "the file of a window that cannot be written": (
        lambda folder: run_window(file=folder / "none" / "f.csv"), OSError, "f.csv"
    ),
    # helpers
    "pairs of a body in a Force with global parameters": (
        lambda _: mc.makeRigid(with_global_parameter(), [[0, 1, 2]], X, excludePairs=True),
        ValueError,
        "its energy depends on global parameters",
    ),
    "a body at positions that are not finite": (
        lambda _: mc.makeRigid(model(), [[0, 1, 2]], np.where(X == 0.1, np.nan, X)), ValueError, "not finite|nan"
    ),
    "positions of a State that has none": (
        lambda _: mc.Health(model(), make_context().getState(energy=True)), ValueError, "positions"
    ),
    "minimize() without positions": (
        lambda _: mc.minimize(make_context(held(), positions=None)), mm.OpenMMException, "positions"
    ),
    "pressure without an integrator of the package": (
        lambda _: mc.computePressureTensor(make_context(None, mm.VerletIntegrator(0.001))), TypeError, "has Verlet"
    ),
}  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES)
def test_what_is_promised_is_raised(promise, tmp_path):
    act, error, text = PROMISES[promise]
    with pytest.raises(error, match=text):
        act(tmp_path)


def test_what_rows_do_is_right_otherwise():
    """So that it is what they say that is refused."""
    context = make_context(following())
    context.getState(energy=True, forces=True)
    context.getIntegrator().computeParameterDerivatives()
    mc.computeConstraintForces(context)
    blue_moon([0])
    simulate(mc.BlueMoonReporter(None, 5, temperature=300 * unit.kelvin), mc.RattleIntegrator(0.001))
    mean_force_of(0)
    mc.makeRigid(model(), [[0, 1, 2]], X)
    mc.minimize(make_context(held()), maxIterations=2)
    context = replaced(held())
    context.getIntegrator().step(1)
    assert run_window().value == pytest.approx(0.18)


@pytest.mark.parametrize(("name", "run"), [("ReplicaExchangeSampler", "simulate"), ("ExpandedEnsembleSampler", "step")])
@since("8.6", "samplers over states")
def test_samplers_over_a_parameter_of_a_constraint_stop(name, run):
    """They compute energies of one state at several values of it. Over temperatures they go on."""
    for values in ((0, 0), (0, 1)):
        integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
        simulation = app.Simulation(app.Topology(), model(following()), integrator, REFERENCE)
        simulation.context.setPositions(X)
        states = [{"temperature": (300 + 10 * k) * unit.kelvin, "way": way} for k, way in enumerate(values)]
        go = getattr(getattr(app, name)(states, simulation, 5), run)
        if values[0] == values[1]:
            go(5)
            continue
        with pytest.raises(mm.OpenMMException, match='"way"'):
            go(5)
