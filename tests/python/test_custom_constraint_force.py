# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""CustomConstraintForce from Python; tests/TestCustomConstraintForce.cpp covers expressions and malformed files."""

import copy
import gc
import pickle

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc


def a_table():
    return mm.Continuous1DFunction([0.0, 1.0, 4.0, 9.0], 0.0, 3.0)


@pytest.fixture
def custom():
    """A CustomConstraintForce in which no setting has its default."""
    force = mc.CustomConstraintForce(2, "distance(p1,p2) - a*b - g + shape(h) + level(h)")
    force.setName("rods")
    force.setForceGroup(3)
    force.setUsesPeriodicBoundaryConditions(True)
    force.addPerConstraintParameter("a")
    force.addPerConstraintParameter("b")
    force.addGlobalParameter("g", 1 / 3)
    force.addGlobalParameter("h", 0.5)
    force.addTabulatedFunction("shape", a_table())
    force.addTabulatedFunction("level", mm.Discrete1DFunction([1, 2, 3]))
    force.addConstraint([0, 1], [1, 2])
    force.addConstraint((2, 0), (0.25, 1 / 7))
    return force


def read(force):
    functions = [force.getTabulatedFunction(i) for i in range(force.getNumTabulatedFunctions())]
    return (
        force.getName(),
        force.getForceGroup(),
        force.usesPeriodicBoundaryConditions(),
        force.getNumParticlesPerConstraint(),
        force.getExpression(),
        [force.getPerConstraintParameterName(i) for i in range(force.getNumPerConstraintParameters())],
        [
            (force.getGlobalParameterName(i), force.getGlobalParameterDefaultValue(i))
            for i in range(force.getNumGlobalParameters())
        ],
        [force.getConstraintParameters(i) for i in range(force.getNumConstraints())],
        [force.getTabulatedFunctionName(i) for i in range(force.getNumTabulatedFunctions())],
        [(type(function), function.getFunctionParameters()) for function in functions],
    )


def test_gives_back_what_it_was_given(custom):
    assert read(custom) == (
        "rods",
        3,
        True,
        2,
        "distance(p1,p2) - a*b - g + shape(h) + level(h)",
        ["a", "b"],
        [("g", 1 / 3), ("h", 0.5)],
        [[(0, 1), (1.0, 2.0)], [(2, 0), (0.25, 1 / 7)]],
        ["shape", "level"],
        [
            (mm.Continuous1DFunction, [(0.0, 1.0, 4.0, 9.0), 0.0, 3.0]),
            (mm.Discrete1DFunction, (1.0, 2.0, 3.0)),
        ],
    )


def test_takes_changes(custom):
    custom.setExpression("x1 - c - i")
    custom.setPerConstraintParameterName(0, "c")
    custom.setGlobalParameterName(0, "i")
    custom.setGlobalParameterDefaultValue(0, 1 * unit.angstrom)
    custom.setConstraintParameters(1, [1, 2], parameters=[3, 4])
    custom.getTabulatedFunction(0).setFunctionParameters([1, 2, 3], 0, 1)
    assert custom.getExpression() == "x1 - c - i"
    assert custom.getPerConstraintParameterName(0) == "c"
    assert (custom.getGlobalParameterName(0), custom.getGlobalParameterDefaultValue(0)) == ("i", 0.1)
    assert custom.getConstraintParameters(1) == [(1, 2), (3.0, 4.0)]
    assert custom.getTabulatedFunction(0).getFunctionParameters() == [(1.0, 2.0, 3.0), 0.0, 1.0]


PARTICLES = [[3, 5], (3, 5), np.array([3, 5]), np.array([3, 5], np.int32), range(3, 6, 2)]
PARAMETERS = [
    [0.5, 2],
    (0.5, 2),
    np.array([0.5, 2]),
    np.array([0.5, 2], np.float32),
    [5 * unit.angstrom, 2 * unit.kilojoule_per_mole],
    [5, 20] * unit.angstrom,
    np.array([5, 20]) * unit.angstrom,
]


@pytest.mark.parametrize("particles", PARTICLES)
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_takes_every_kind_of_sequence(custom, particles, parameters):
    index = custom.addConstraint(particles, parameters)
    custom.setConstraintParameters(0, particles=particles, parameters=parameters)
    for i in (0, index):
        found_particles, found_parameters = custom.getConstraintParameters(i)
        assert found_particles == (3, 5)
        assert found_parameters == pytest.approx([0.5, 2], rel=1e-15)


def test_parameters_may_be_left_out_where_there_are_none():
    force = mc.CustomConstraintForce(1, "z1")
    assert force.addConstraint([7]) == 0
    force.setConstraintParameters(0, [8])
    assert force.getConstraintParameters(0) == [(8,), ()]


@pytest.mark.parametrize(
    "call",
    [
        lambda force: force.addConstraint([0.5, 1], [1, 2]),
        lambda force: force.addConstraint(["0", 1], [1, 2]),
        lambda force: force.addConstraint(3, [1, 2]),
        lambda force: force.addConstraint([0, 1], ["low", 2]),
        lambda force: force.addConstraint([0, 1], 3.5),
        lambda force: force.addConstraint([0, 1], [None, 2]),
        lambda force: force.addGlobalParameter("a", "low"),
        lambda force: force.addPerConstraintParameter(5),
        lambda force: force.addTabulatedFunction("f", [1, 2, 3]),
        lambda force: force.addTabulatedFunction("f", None),
        lambda force: mc.CustomConstraintForce("z1", 1),
        lambda force: mc.CustomConstraintForce("z1"),
    ],
)
def test_wrong_types_are_type_errors(custom, call):
    before = read(custom)
    with pytest.raises(TypeError):
        call(custom)
    assert read(custom) == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda force: force.addConstraint([0], [1, 2]), "2 particles, but 1 were given"),
        (lambda force: force.addConstraint([0, 1]), "2 parameters, but 0 were given"),
        (lambda force: force.setConstraintParameters(0, [0, 1], [1]), "2 parameters, but 1 were given"),
        (lambda force: force.getConstraintParameters(2), "range"),
        (lambda force: force.getTabulatedFunction(-1), "range"),
        (lambda force: mc.CustomConstraintForce(0, "z1"), "at least one particle"),
    ],
)
def test_what_cplusplus_refuses_is_an_openmm_exception(custom, call, message):
    with pytest.raises(mm.OpenMMException, match=message):
        call(custom)


def test_a_force_owns_its_tables():
    table = a_table()
    force = mc.CustomConstraintForce(1, "z1 - f(x1)")
    force.addTabulatedFunction("f", table)
    assert not table.thisown
    with pytest.raises(ValueError, match="belongs to another Force"):
        mc.CustomConstraintForce(1, "z1").addTabulatedFunction("f", table)
    with pytest.raises(ValueError, match="belongs to another Force"):
        force.addTabulatedFunction("g", force.getTabulatedFunction(0))
    other = mc.CustomConstraintForce(1, "z1 - f(x1)")
    other.addTabulatedFunction("f", copy.copy(table))
    del table, force
    gc.collect()
    assert other.getTabulatedFunction(0).getFunctionParameters() == a_table().getFunctionParameters()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda force: pickle.loads(pickle.dumps(force))])
def test_copies_are_independent(custom, duplicate):
    twin = duplicate(custom)
    assert type(twin) is mc.CustomConstraintForce
    assert read(twin) == read(custom)
    twin.addConstraint([0, 2], [1, 1])
    assert custom.getNumConstraints() == 2


def test_a_system_keeps_it(custom):
    expected = read(custom)
    system = mm.System()
    system.addForce(custom)
    system = pickle.loads(pickle.dumps(system))
    base = system.getForce(0)
    assert mc.CustomConstraintForce.isinstance(base)
    assert not mc.ConstraintForce.isinstance(base)
    assert read(mc.CustomConstraintForce.cast(base)) == expected
    with pytest.raises(TypeError, match="not a CustomConstraintForce but ConstraintPlugin::ConstraintForce"):
        mc.CustomConstraintForce.cast(mc.ConstraintForce())


def test_every_method_is_documented():
    for name, method in vars(mc.CustomConstraintForce).items():
        if callable(method) and not name.startswith("_"):
            assert method.__doc__, name
    assert "sigma" in mc.CustomConstraintForce.__doc__
    assert ":param parameters:" in mc.CustomConstraintForce.addConstraint.__doc__


def sphere(integrator, expression="x1^2 + y1^2 + z1^2 - r^2"):
    system = mm.System()
    gravity = mm.CustomExternalForce("50*z")
    force = mc.CustomConstraintForce(1, expression)
    force.addPerConstraintParameter("r")
    force.addGlobalParameter("swelling", 0)
    for i in range(2):
        system.addParticle(10 * (i + 1))
        gravity.addParticle(i)
        force.addConstraint([i], [i + 1])
    system.addForce(gravity)
    system.addForce(force)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[1, 0, 0.1], [0, 2.04, 0]])
    return context, force


def radii(context):
    return np.linalg.norm(context.getState(positions=True).getPositions(asNumpy=True)._value, axis=1)


def energy(context):
    state = context.getState(energy=True)
    return (state.getPotentialEnergy() + state.getKineticEnergy()) / unit.kilojoule_per_mole


@pytest.mark.parametrize("cls", [mc.RattleIntegrator, mc.ShakeIntegrator])
def test_particles_roll_down_spheres(cls):
    integrator = cls(1 * unit.femtosecond)
    integrator.setConstraintTolerance(1e-10)
    context, force = sphere(integrator)
    integrator.step(1)
    start = energy(context)
    integrator.step(500)
    assert radii(context) == pytest.approx([1, 2], abs=bound(1e-10, single=2e-7))
    # A radius solved to 1e-6 nm may leave 1e-3 nm/ps across the sphere each step, which becomes heat: m v^2/2 = 5e-6.
    assert energy(context) == pytest.approx(start, abs=bound(1e-4, single=500 * 5e-6))
    assert context.getState(positions=True).getPositions(asNumpy=True)._value[0, 2] < 0.05
    assert len(force.getMultipliers(context)) == 2
    assert force.getMultipliers(context) == integrator.getMultipliers()


def test_parameters_change_while_it_runs():
    integrator = mc.RattleIntegrator(0.001)
    context, force = sphere(integrator, "sqrt(x1^2 + y1^2 + z1^2) - r - swelling")
    integrator.step(1)
    assert radii(context) == pytest.approx([1, 2], abs=1e-5)
    context.setParameter("swelling", 0.04)
    integrator.step(1)
    assert radii(context) == pytest.approx([1.04, 2.04], abs=1e-5)
    force.setConstraintParameters(1, [1], [1.5])
    force.updateParametersInContext(context)
    integrator.applyConstraints()  # half a nanometre: farther than a step goes
    integrator.step(1)
    assert radii(context) == pytest.approx([1.04, 1.54], abs=1e-5)


def test_a_wrong_expression_is_named_when_the_context_is_created():
    with pytest.raises(mm.OpenMMException, match=r'CustomConstraintForce "z1 - q": .*nknown variable'):
        sphere(mc.RattleIntegrator(0.001), "z1 - q")
