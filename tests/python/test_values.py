# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""getValues(): what the coordinates of constraints are now, against formulas of whole molecules."""

import math

import numpy as np
import openmm as mm
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc

MASSES = np.array([12.0, 1.0, 14.0, 16.0, 12.0, 32.0, 1.0, 15.0])
BOX = np.array([[2.0, 0, 0], [0.6, 1.9, 0], [-0.7, 0.5, 1.8]])
#: A molecule that leaves the box in each direction, nm.
WHOLE = np.array([1.9, 1.8, 1.7]) + np.cumsum(np.random.default_rng(4).normal(0, 0.12, (8, 3)), axis=0)


def wrapped(x):
    """Each particle by itself in the box."""
    return x - np.floor(x @ np.linalg.inv(BOX)) @ BOX


def context_of(*forces, positions, masses=MASSES, time=0.0):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*(mm.Vec3(*vector) for vector in BOX))
    for force in forces:
        system.addForce(force)
    context = mm.Context(system, mc.RattleIntegrator(0.001), under_test())
    context.setPositions(positions)
    context.setTime(time)
    return context


def numbers(values):
    return [value._value if unit.is_quantity(value) else value for value in values.values()]


def dihedral(p):
    """By its projections onto the plane across the bond, with IUPAC's sign."""
    axis = (p[2] - p[1]) / np.linalg.norm(p[2] - p[1])
    u, v = (w - (w @ axis) * axis for w in (p[0] - p[1], p[3] - p[2]))
    return math.atan2(np.cross(axis, u) @ v, u @ v)


def all_kinds():
    force = mc.ConstraintForce()
    force.addCentroidDistance([0, 1], [6, 7], 0.3)  # listed last
    force.addDihedral(2, 3, 4, 5, 1.0)
    force.addDihedral(5, 4, 3, 1, -2.0)
    force.addAngle(1, 2, 3, 2.0)
    force.addDistance(0, 1, 0.2)
    force.addDistance(1, 2, 0.2)
    return force


def expected(x):
    u, v = x[1] - x[2], x[3] - x[2]
    return {
        "distance 0-1": math.dist(x[0], x[1]),
        "distance 1-2": math.dist(x[1], x[2]),
        "angle 1-2-3": math.acos(u @ v / np.linalg.norm(u) / np.linalg.norm(v)),
        "dihedral 2-3-4-5": dihedral(x[[2, 3, 4, 5]]),
        "dihedral 5-4-3-1": dihedral(x[[5, 4, 3, 1]]),
        "centroid distance 0-1 | 6-7": math.dist(
            np.average(x[:2], axis=0, weights=MASSES[:2]), np.average(x[6:], axis=0, weights=MASSES[6:])
        ),
    }


@pytest.mark.platform
def test_all_kinds_in_the_order_of_the_multipliers():
    force = all_kinds()
    context = context_of(force, positions=WHOLE)
    values = force.getValues(context)
    assert list(values) == list(expected(WHOLE))
    assert len(values) == len(context.getIntegrator().computeMultipliers())
    assert numbers(values) == pytest.approx(list(expected(WHOLE).values()), abs=bound(1e-13, single=1e-5))
    assert values["distance 0-1"].unit == unit.nanometer
    assert values["dihedral 2-3-4-5"].unit == unit.radian


@pytest.mark.platform
def test_wrapped_molecules_in_a_triclinic_box():
    force = all_kinds()
    force.setUsesPeriodicBoundaryConditions(True)
    x = WHOLE.copy()
    assert np.ptp(np.floor(x @ np.linalg.inv(BOX)), axis=0).max() > 0  # it crosses a face
    x[:2], x[6:] = wrapped(x[:2].mean(axis=0)) - x[:2].mean(axis=0) + x[:2], x[6:]  # groups stay whole
    x[2:6] = wrapped(x[2:6])
    values = force.getValues(context_of(force, positions=x))
    assert numbers(values) == pytest.approx(list(expected(WHOLE).values()), abs=bound(1e-13, single=1e-5))


def test_without_the_periodic_flag_positions_are_taken_as_they_are():
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.2)
    x = WHOLE.copy()
    x[1] += BOX[2]
    [value] = numbers(force.getValues(context_of(force, positions=x)))
    assert value == pytest.approx(math.dist(x[0], x[1]), abs=1e-13)


def test_straight_angles_are_exact():
    force = mc.ConstraintForce()
    force.addAngle(0, 1, 2, math.pi)
    x = WHOLE.copy()
    x[:3] = [[0, 0, 0], [0.1, 0, 0], [0.2, 1e-9, 0]]
    [value] = numbers(force.getValues(context_of(force, positions=x)))
    assert math.pi - value == pytest.approx(1e-8, rel=1e-6)


def test_bodies_have_no_value_and_the_same_particles_have_two_names():
    force = mc.ConstraintForce()
    force.addRigidBody([0, 1, 2], WHOLE[:3])
    assert force.getValues(context_of(force, positions=WHOLE)) == {}
    custom = mc.CustomConstraintForce(1, "z1-z0")
    custom.addPerConstraintParameter("z0")
    custom.addConstraint([5], [1.25])
    custom.addConstraint([5], [1.0])
    context = context_of(custom, positions=WHOLE)  # not projected: one of the two holds at most
    z = WHOLE[5, 2]
    assert custom.getValues(context) == pytest.approx({"expression 5": z - 1.25, "expression 5 (2)": z - 1.0})


def test_expressions_with_everything_that_they_may_have():
    """A table, parameters of both sorts, definitions, the time, functions of particles in a periodic box."""
    custom = mc.CustomConstraintForce(3, "a*distance(p1,p2)+table(z4)-s*t+u; u=scale*angle(p1,p2,p3)+x1*y2^2-z3")
    custom.addPerConstraintParameter("a")
    custom.addPerConstraintParameter("z4")  # a name that a fourth particle would have
    custom.addGlobalParameter("scale", 1.0)
    custom.addGlobalParameter("s", 0.25)
    custom.addTabulatedFunction("table", mm.Continuous1DFunction([0.0, 1.0, 4.0, 9.0], 0.0, 3.0))
    custom.addConstraint([0, 1, 2], [2.0, 1.0])
    custom.addConstraint([4, 3, 5], [-1.0, 2.0])
    custom.setUsesPeriodicBoundaryConditions(True)
    x = wrapped(WHOLE)
    context = context_of(custom, positions=x, time=3.0)
    context.setParameter("scale", 1.5)

    def formula(a, table, i, j, k):
        u, v = WHOLE[i] - WHOLE[j], WHOLE[k] - WHOLE[j]
        angle = math.acos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
        return a * math.dist(WHOLE[i], WHOLE[j]) + table - 0.75 + 1.5 * angle + x[i, 0] * x[j, 1] ** 2 - x[k, 2]

    assert custom.getValues(context) == pytest.approx(
        {"expression 0-1-2": formula(2, 1, 0, 1, 2), "expression 4-3-5": formula(-1, 4, 4, 3, 5)}, abs=1e-12
    )


def test_expressions_of_centroids():
    """By masses and by weights, one of which is 0."""
    custom = mc.CustomCentroidConstraintForce(2, "z1-z2+k*distance(g1,g2)")
    custom.addPerConstraintParameter("k")
    first, second = custom.addGroup([0, 1, 2]), custom.addGroup([4, 3, 7], [1.0, 3.0, 0.0])
    custom.addConstraint([second, first], [0.5])
    custom.setUsesPeriodicBoundaryConditions(True)
    moved = WHOLE.copy()
    moved[[3, 4, 7]] += BOX[1]
    c1 = np.average(WHOLE[:3], axis=0, weights=MASSES[:3])
    c2 = (WHOLE[4] + 3 * WHOLE[3]) / 4
    expected = (c2 + BOX[1])[2] - c1[2] + 0.5 * math.dist(c1, c2)
    values = custom.getValues(context_of(custom, positions=moved))
    assert values == pytest.approx({"expression of groups 1-0": expected}, abs=1e-12)


def test_a_virtual_site_in_a_group_has_no_mass():
    system = mm.System()
    for mass in (12, 4, 0, 16):
        system.addParticle(mass)
    system.setVirtualSite(2, mm.TwoParticleAverageSite(0, 1, 0.5, 0.5))
    force = mc.ConstraintForce()
    force.addCentroidDistance([0, 1, 2], [3], 1.0)
    system.addForce(force)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0], [0.4, 0, 0], [0.2, 0, 0], [1.0, 0, 0]])
    assert numbers(force.getValues(context)) == pytest.approx([0.9], abs=1e-14)


def test_what_is_no_context_of_the_force_is_refused():
    force = all_kinds()
    context = context_of(force, positions=WHOLE)
    with pytest.raises(TypeError, match=r"getValues: an openmm\.Context is needed, as simulation\.context"):
        force.getValues(context.getSystem())
    with pytest.raises(ValueError, match="not in the System of the Context"):
        all_kinds().getValues(context)
