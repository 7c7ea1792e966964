# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Projections that move a particle far: applyConstraints() and minimize() go there, and warn."""

import pickle
import warnings

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import EVERYWHERE, named

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe
from openmmconstraints.helpers.reference import Reference

REFERENCE = mm.Platform.getPlatform("Reference")
QUIET = {"platform": "Reference", "progress": False}


def pair_system():
    """Two named particles at 0.3 nm; the second one moves by three quarters of the way there."""
    topology, system, force = app.Topology(), mm.System(), mc.ConstraintForce()
    residue = topology.addResidue("GLY", topology.addChain("B"))
    for name, mass in (("N", 30), ("CA", 10)):
        topology.addAtom(name, None, residue)
        system.addParticle(mass)
    force.addDistance(0, 1, 0.3)
    system.addForce(force)
    mc.setTopology(system, topology)
    return system


def pair(start=0.1, kind=mc.RattleIntegrator):
    integrator = kind(0.001)
    context = mm.Context(pair_system(), integrator, REFERENCE)
    context.setPositions([[0, 0, 0], [start, 0, 0]])
    return context, integrator


@pytest.fixture(autouse=True)
def _no_other_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("kind", [mc.RattleIntegrator, mc.ShakeIntegrator, mc.ConstraintForceIntegrator])
def test_applyConstraints_warns_of_a_far_move_where_it_is_called(kind):
    _, integrator = pair(kind=kind)
    with pytest.warns(RuntimeWarning, match=r"a particle was moved by 0\.15 nm.*\(0\.05 nm, setMaxProjection") as seen:
        moved = integrator.applyConstraints()
    assert moved.value_in_unit(unit.nanometer) == pytest.approx(0.15)
    [warning] = seen
    assert warning.filename == __file__
    said = str(warning.message)
    for remedy in ("setUsesPeriodicBoundaryConditions(True)", "minimize(context)", "Look at the structure"):
        assert remedy in said


def test_minimize_names_the_particle_that_moved_farthest():
    context, _ = pair()
    with pytest.warns(RuntimeWarning, match=r"particle 1 \(B:GLY1:CA\) by 0\.15 nm") as seen:
        found = mc.minimize(context)
    [warning] = seen
    assert warning.filename == __file__
    assert found.largestMove.value_in_unit(unit.nanometer) == pytest.approx(0.15)
    assert "largestMove=0.15" in repr(found)
    assert pickle.loads(pickle.dumps(found)) == found
    assert mc.minimize(context).largestMove == 0 * unit.nanometer


def test_minimize_with_a_replaced_solver_warns_too():
    system = pair_system()
    mc.replaceSolver(system)
    context = mm.Context(system, mm.VerletIntegrator(0.001), REFERENCE)
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    with pytest.warns(RuntimeWarning, match=r"particle 1 \(B:GLY1:CA\) by 0\.15 nm") as seen:
        assert mc.minimize(context).largestMove.value_in_unit(unit.nanometer) == pytest.approx(0.15)
    assert seen[0].filename == __file__


def test_a_warning_that_is_an_error_leaves_the_state_of_minimize():
    context, _ = pair()
    with pytest.raises(RuntimeWarning):
        mc.minimize(context)
    assert context.getState(positions=True).getPositions(asNumpy=True)._value.tolist() == [[0, 0, 0], [0.1, 0, 0]]


@pytest.mark.parametrize("start", [0.24, 0.3])
def test_what_a_step_would_project_is_no_matter(start):
    context, integrator = pair(start=start)
    assert integrator.applyConstraints()._value < 0.05
    context.setPositions([[0, 0, 0], [start, 0, 0]])
    assert mc.minimize(context).largestMove._value == pytest.approx(0.75 * (0.3 - start))


def test_setMaxProjection_allows_moves_that_are_meant():
    context, integrator = pair()
    integrator.setMaxProjection(0.2)
    assert integrator.applyConstraints()._value == pytest.approx(0.15)
    context.setPositions([[0, 0, 0], [0.1, 0, 0]])
    assert mc.minimize(context).largestMove._value == pytest.approx(0.15)


def grow_box(context, _):
    context.setPeriodicBoxVectors([3.5, 0, 0], [0, 3.5, 0], [0, 0, 3.5])


def lengthen(context, force):
    force.setDistanceParameters(0, 0, 1, 0.4)
    force.updateParametersInContext(context)


def go_to_another_time(context, _):
    context.setTime(0.3)


@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.parametrize("change", [grow_box, lengthen, go_to_another_time])
def test_forces_raise_whatever_has_put_constraints_far_off(name, change):
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(2):
        system.addParticle(10)
    system.setDefaultPeriodicBoxVectors([3, 0, 0], [0, 3, 0], [0, 0, 3])
    force.addDistance(0, 1, 0.15, rate=1 if change is go_to_another_time else 0)
    force.setUsesPeriodicBoundaryConditions(True)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, named(name))
    context.setPositions([[0, 0, 0], [3.15, 0, 0]])  # in the next image
    integrator.step(1)
    context.getState(forces=True)
    change(context, force)
    with pytest.raises(mm.OpenMMException, match="before the forces are used"):
        context.getState(forces=True)


def test_massless_particles_do_not_count():
    """A virtual site follows; it may be far off before."""
    system = mm.System()
    for mass in (1, 1, 0):
        system.addParticle(mass)
    system.setVirtualSite(2, mm.TwoParticleAverageSite(0, 1, 0.5, 0.5))
    system.addConstraint(0, 1, 0.11)
    context = mm.Context(system, mc.RattleIntegrator(0.001), REFERENCE)
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [5, 0, 0]])
    assert mc.minimize(context).largestMove._value == pytest.approx(0.005)


# ---- within the package ------------------------------------------------------------------------------------------


def spring():
    system, bond = mm.System(), mm.HarmonicBondForce()
    for _ in range(3):
        system.addParticle(12)
    bond.addBond(0, 1, 0.2, 5000)
    system.addForce(bond)
    system.addConstraint(1, 2, 0.1)
    return system


def langevin():
    return mc.RattleLangevinIntegrator(300, 5, 0.001)


AT = np.array([[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0]])


def test_a_window_whose_start_is_far_away_warns_and_names_pull():
    held = fe.Distance(0, 1)
    with pytest.warns(RuntimeWarning, match=r"start at distance 0-1 = 0\.4 was moved by .*: pull\(\) makes") as seen:
        fe.run_window(spring, AT, held, 0.4, langevin(), 20, **{"platform": "Reference"})
    assert seen[0].filename == __file__


class Measured(fe.Distance):
    pass


class Unmeasured(fe.Distance):
    def measure(self, system, positions):
        return None


@pytest.mark.parametrize(("held", "steps"), [(Unmeasured(0, 1), 10), (Measured(0, 1), 0)])
def test_a_pull_that_begins_by_projection_is_meant(held, steps):
    fe.pull(spring, AT, held, [0.4], langevin(), steps, seed=1, **QUIET)


def test_a_pull_from_positions_that_violate_other_constraints_warns():
    far = AT + np.array([[0, 0, 0], [0, 0, 0], [0, 0.2, 0]])
    with pytest.warns(RuntimeWarning, match=r"Minimize before the pull"):
        fe.pull(spring, far, fe.Distance(0, 1), [0.21, 0.22], langevin(), 10, seed=1, **QUIET)


def test_lengths_that_are_fitted_warn_of_nothing():
    class At:
        x, vectors = np.array([[0, 0, 0], [0.1, 0, 0]]), None

    move, _ = Reference(At, [(0, 1)], {(0, 1): 0.3}).largest_move([10, 10])
    assert move == pytest.approx(0.1)
