# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""openmmconstraints.minimize, and what OpenMM's own minimizer leaves."""

import sys

import numpy as np
import openmm as mm
import openmm.app as app
import pytest
from openmm import unit
from platforms import bound, under_test

import openmmconstraints as mc

#: Far starts are what some tests are about; test_far_moves.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore:minimize. the projection", "ignore:applyConstraints")

KINDS = [mc.RattleIntegrator, mc.ShakeIntegrator, lambda step: mc.RattleLangevinIntegrator(300, 1, step)]
REFERENCE = mm.Platform.getPlatform("Reference")


def positions_of(context):
    return context.getState(positions=True).getPositions(asNumpy=True)._value


def state_of(context):
    """Everything that minimize() may have changed."""
    state = context.getState(positions=True, velocities=True)
    vectors = state.getPositions(asNumpy=True)._value, state.getVelocities(asNumpy=True)._value
    integrator = mc.ConstraintIntegrator.cast(context.getIntegrator())
    multipliers = integrator.getMultipliers() if state.getStepCount() > 0 else ()
    settings = integrator.getConstraintTolerance(), integrator.getStepSize(), multipliers
    return *(v.tobytes() for v in vectors), state.getTime(), state.getStepCount(), *settings


def charges_on_a_sphere(number, seed=1):
    """Thomson's problem, with masses that differ, beside a fixed particle that pushes nobody."""
    system, charges = mm.System(), mm.CustomNonbondedForce("1/r")
    sphere = mc.CustomConstraintForce(1, "x1^2+y1^2+z1^2-1")
    for i in range(number):
        system.addParticle(1 + i % 3)
        sphere.addConstraint([i], [])
        charges.addParticle([])
    system.addParticle(0)
    charges.addParticle([])
    charges.addInteractionGroup(range(number), range(number))
    system.addForce(charges)
    system.addForce(sphere)
    return system, np.vstack([np.random.default_rng(seed).normal(size=(number, 3)), [[3, 0, 0]]])


def make(system, positions, integrator=mc.RattleIntegrator, platform=REFERENCE, step=0.001):
    integrator = integrator(step)
    context = mm.Context(system, integrator, platform)
    context.setPositions(positions)
    return context, integrator


@pytest.mark.platform
def test_charges_on_a_sphere_find_the_icosahedron():
    system, positions = charges_on_a_sphere(12)
    context, _ = make(system, positions, platform=under_test())
    context.setPositions(positions)  # off the sphere
    context.setVelocities(np.full((13, 3), 0.1))
    context.setTime(3)
    result = mc.minimize(context, bound(1e-5, mixed=1e-3, single=1e-2))
    assert result.converged
    assert result.energy._value == pytest.approx(49.165253058, rel=bound(1e-9, mixed=1e-6, single=1e-5))
    found = positions_of(context)
    assert np.linalg.norm(found[:12], axis=1) == pytest.approx(1, abs=bound(1e-8, mixed=1e-7, single=1e-6))
    assert np.array_equal(found[12], positions[12])
    state = context.getState(velocities=True, energy=True)
    velocities = state.getVelocities(asNumpy=True)._value
    assert state.getPotentialEnergy()._value == pytest.approx(result.energy._value, rel=1e-6)
    # what of them is along the sphere
    expected = 0.1 - found[:12] * 0.1 * found[:12].sum(axis=1, keepdims=True)
    assert velocities[:12] == pytest.approx(expected, abs=1e-5)
    assert context.getTime()._value == 3
    assert context.getStepCount() == 0


def all_kinds_of_constraints(periodic=False):
    """A chain at an anchor with constraints of an angle, a dihedral and a distance of centres, a planar rigid body on a
    plane with a charged virtual site, and charges, so that all particles interact."""
    system, nonbonded, well = mm.System(), mm.NonbondedForce(), mm.CustomExternalForce("300*((x-0.3)^2+2*y^2+z^2)")
    masses = [0, 12, 14, 1, 12, 12, 16, 1, 0]
    positions = [[0.01, 0.02, 0], [0.15, 0, 0], [0.2, 0.14, 0], [0.3, 0.15, 0.02], [0.36, 0.25, 0.1]]
    body = [[0.4, -0.3, 0.1], [0.55, -0.3, 0.1], [0.45, -0.45, 0.1]]
    for i, mass in enumerate(masses):
        system.addParticle(mass)
        nonbonded.addParticle([0.4, -0.5, 0.6, -0.3, 0.2, 0.5, -0.6, 0.3, -0.6][i], 0.2, 0.3)
        well.addParticle(i, [])
    system.setVirtualSite(8, mm.TwoParticleAverageSite(5, 7, 0.3, 0.7))
    for i, j in (
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (0, 2),
        (1, 3),
        (2, 4),
        (5, 6),
        (6, 7),
        (5, 7),
        (5, 8),
        (7, 8),
        (6, 8),
    ):
        nonbonded.addException(i, j, 0, 1, 0)
    if periodic:
        nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
        nonbonded.setCutoffDistance(0.9)
        system.setDefaultPeriodicBoxVectors([2, 0, 0], [0, 2, 0], [0, 0, 2])
    bend = mm.HarmonicAngleForce()  # straight, the dihedral would have no gradient
    bend.addAngle(2, 3, 4, 2.0, 300)
    for term in (nonbonded, well, bend):
        system.addForce(term)
    for i in (1, 2):
        system.addConstraint(i, i + 1, 0.15)
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(periodic)
    force.addDistance(0, 1, 0.15)
    force.addDistance(3, 4, 0.15)
    force.addAngle(1, 2, 3, 1.9)
    force.addDihedral(1, 2, 3, 4, 1.0)
    force.addCentroidDistance([1, 2], [5, 6, 7], 0.5)
    force.addRigidBody([5, 6, 7], body)
    system.addForce(force)
    plane = mc.CustomConstraintForce(1, "z1-0.1-0.3*x1")
    plane.addConstraint([5], [])
    system.addForce(plane)
    return system, [*positions, *body, [0, 0, 0]]


def energy_at(context, integrator, positions):
    context.setPositions(positions)
    integrator.applyConstraints()
    return context.getState(energy=True).getPotentialEnergy()._value


def assert_nothing_near_is_lower(context, integrator, distance=1e-3):
    """Of states on the constraints, by energies alone."""
    integrator.setConstraintTolerance(1e-10)
    found = positions_of(context)
    lowest, rng = energy_at(context, integrator, found), np.random.default_rng(9)
    for _ in range(50):
        shift = distance * rng.normal(size=found.shape)
        shift[0] = 0  # the anchor is fixed
        assert energy_at(context, integrator, found + shift) > lowest
    context.setPositions(found)


@pytest.mark.parametrize("kind", [*KINDS, mc.ConstraintForceIntegrator])
@pytest.mark.parametrize("solver", [mc.ConstraintIntegrator.Iterative, mc.ConstraintIntegrator.MatrixInversion])
def test_nothing_near_is_lower_with_constraints_of_all_kinds(kind, solver):
    context, integrator = make(*all_kinds_of_constraints(), kind)
    integrator.setSolver(solver)
    result = mc.minimize(context, 0.01)
    assert result.converged
    assert result.force._value <= 0.01
    assert result.evaluations > result.iterations > 10
    assert integrator.getConstraintTolerance() == 1e-5
    assert integrator.getStepSize()._value == 0.001
    found = positions_of(context)
    assert found[8] == pytest.approx(0.3 * found[5] + 0.7 * found[7])
    assert np.array_equal(found[0], [0.01, 0.02, 0])
    assert_nothing_near_is_lower(context, integrator)
    integrator.step(10)


def test_a_start_far_from_the_constraints():
    system, positions = all_kinds_of_constraints(periodic=True)
    start = np.array(positions) + np.random.default_rng(4).normal(size=(9, 3)) * 0.03
    start[0] = positions[0]
    context, integrator = make(system, start, platform=under_test())
    result = mc.minimize(context, bound(1e-3, mixed=0.5, single=2))
    assert result.converged
    before = positions_of(context)
    integrator.applyConstraints()
    assert np.array_equal(positions_of(context), before)
    integrator.step(1)


def test_moving_constraints_are_held_where_they_are():
    system, positions = all_kinds_of_constraints()
    context, _ = make(system, positions)
    mc.minimize(context)
    start = positions_of(context)
    force = mc.ConstraintForce.cast(system.getForce(3))
    force.setDistanceRate(1, 5)
    force.setDihedralRate(0, -10 * unit.radian / unit.picosecond)
    context, integrator = make(system, start)
    context.setTime(0.01)
    assert mc.minimize(context, 0.01).converged
    assert np.linalg.norm(np.diff(positions_of(context)[3:5], axis=0)) == pytest.approx(0.2, abs=1e-7)
    assert_nothing_near_is_lower(context, integrator)


def test_force_groups_of_the_integrator_are_what_is_minimized():
    system, positions = all_kinds_of_constraints()
    system.getForce(0).setForceGroup(3)
    context, integrator = make(system, positions)
    integrator.setIntegrationForceGroups({0})
    energy = mc.minimize(context, 0.01).energy
    assert energy == context.getState(energy=True, groups={0}).getPotentialEnergy()
    assert energy != context.getState(energy=True).getPotentialEnergy()


def test_inside_a_compound_integrator():
    compound = mm.CompoundIntegrator()
    for _ in range(2):
        compound.addIntegrator(mc.RattleIntegrator(0.001))
    system, positions = all_kinds_of_constraints()
    context = mm.Context(system, compound, REFERENCE)
    context.setPositions(positions)
    compound.setCurrentIntegrator(1)
    assert mc.minimize(context).converged
    compound.step(1)


@pytest.mark.long
def test_protein_in_water_with_a_clash():
    from openmmconstraints.benchmark.villin import build_villin

    villin = build_villin("AllBonds")
    mc.moveConstraints(villin.system)
    positions = villin.positions.copy()
    # the oxygen of the last water onto the first heavy atom of the protein, as near as a bad set-up brings it
    positions[-3:] += positions[0] + 0.05 - positions[-3]
    context, integrator = make(villin.system, positions, platform=mm.Platform.getPlatform("CPU"))
    start = context.getState(energy=True).getPotentialEnergy()._value
    result = mc.minimize(context, maxIterations=30)
    assert result.iterations == 30
    assert not result.converged
    assert start > 1e6
    assert result.energy._value < -120000
    integrator.step(5)


# ---- what it is told ---------------------------------------------------------------------------------------------


class Reporter(mm.MinimizationReporter):
    def __init__(self, action=lambda self: False):
        super().__init__()
        self.action = action
        self.seen = []

    def report(self, iteration, x, grad, args):
        self.seen.append((iteration, np.array(x), np.array(grad), dict(args)))
        return self.action(self)


def test_reporter_sees_every_iteration_and_may_stop():
    context, _ = make(*charges_on_a_sphere(20))
    reporter = Reporter(lambda self: len(self.seen) == 7)
    result = mc.minimize(context, 1e-3, reporter=reporter)
    assert result.iterations == 7
    assert not result.converged
    assert [seen[0] for seen in reporter.seen] == list(range(7))
    _, x, gradient, args = reporter.seen[-1]
    assert np.array_equal(x, positions_of(context).ravel())
    assert len(gradient) == len(x)
    assert np.sqrt(gradient @ gradient / 20) == pytest.approx(result.force._value)
    assert np.abs((x * gradient).reshape(-1, 3).sum(axis=1)).max() < 1e-6  # along the sphere
    energies = [seen[3]["system energy"] for seen in reporter.seen]
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] == result.energy._value
    assert set(args) == {"system energy", "restraint energy", "restraint strength", "max constraint error"}


def test_maxIterations_is_a_limit():
    context, _ = make(*charges_on_a_sphere(20))
    for most in (1, 5):
        assert mc.minimize(context, 1e-3 * unit.kilojoule_per_mole / unit.nanometer, most).iterations == most


def test_a_second_minimization_has_nothing_to_do():
    context, _ = make(*charges_on_a_sphere(20))
    first = mc.minimize(context, 1e-3)
    second = mc.minimize(context, 1.1e-3)
    assert second.iterations == 0
    assert second.energy._value == pytest.approx(first.energy._value, rel=1e-12)


def test_precision_that_is_reached_ends_it_with_a_warning():
    context, _ = make(*charges_on_a_sphere(20))
    with pytest.warns(RuntimeWarning, match=r"not converged after \d+ iterations.*1e-30"):
        result = mc.minimize(context, 1e-30)
    assert not result.converged
    assert result.iterations < 1000
    assert result.force._value < 1e-4


def test_a_fall_without_end_ends(monkeypatch):
    monkeypatch.setattr(sys.modules["openmmconstraints.minimization.minimize"], "MAX_ITERATIONS", 300)
    system, weight = mm.System(), mm.CustomExternalForce("100*z")
    system.addParticle(1)
    weight.addParticle(0, [])
    system.addForce(weight)
    context, _ = make(system, [[0, 0, 0]])
    with pytest.warns(RuntimeWarning, match="the energy has no minimum"):
        assert mc.minimize(context).iterations == 300


# ---- what goes wrong ---------------------------------------------------------------------------------------------


def interrupt(self):
    raise KeyboardInterrupt


def give_up(self):
    raise ZeroDivisionError


@pytest.mark.parametrize(("action", "error"), [(interrupt, KeyboardInterrupt), (give_up, ZeroDivisionError)])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_raised_leaves_the_state_as_it_was(action, error, kind):
    context, integrator = make(*charges_on_a_sphere(20), kind)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(3)
    before = state_of(context)
    with pytest.raises(error):
        mc.minimize(context, 1e-3, reporter=Reporter(lambda self: len(self.seen) > 3 and action(self)))
    assert state_of(context) == before


def named(system, names):
    topology = app.Topology()
    residue = topology.addResidue("GLY", topology.addChain("B"))
    for name in names:
        topology.addAtom(name, None, residue)
    mc.setTopology(system, topology)


def test_what_is_not_finite_at_the_start_is_named():
    system, positions = mm.System(), np.zeros((3, 3))
    bond, lennard_jones = mm.HarmonicBondForce(), mm.NonbondedForce()
    for i in range(3):
        system.addParticle(1)
        lennard_jones.addParticle(0, 0.3, 1)
        positions[i, 0] = 0.5 * i
    bond.addBond(0, 1, 0.1, 1000)
    system.addForce(bond)
    system.addForce(lennard_jones)
    named(system, ("N", "CA", "C"))
    context, _ = make(system, positions)
    positions[2, 0] = positions[1, 0]  # at one place
    context.setPositions(positions)
    before = state_of(context)
    with pytest.raises(mm.OpenMMException, match=r"force of particle 1 \(B:GLY1:CA\) \(and of 1 more\) is not finite"):
        mc.minimize(context)
    assert state_of(context) == before
    positions[2, 1] = np.nan
    context.setPositions(positions)
    with pytest.raises(mm.OpenMMException, match=r"position of particle 2 \(B:GLY1:C\) is not finite"):
        mc.minimize(context)


def test_an_energy_that_is_not_finite_though_forces_are():
    system, odd = mm.System(), mm.CustomExternalForce("step(x)/0+y")
    system.addParticle(1)
    odd.addParticle(0, [])
    system.addForce(odd)
    context, _ = make(system, [[1, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=r"energy at the start is (inf|nan).*particle 0"):
        mc.minimize(context)


@pytest.mark.parametrize("integrator", [mc.RattleIntegrator, mm.VerletIntegrator])
def test_a_context_without_positions_stays_without(integrator):
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(2):
        system.addParticle(12)
    force.addDistance(0, 1, 0.1)
    system.addForce(force)
    mc.replaceSolver(system)
    context = mm.Context(system, integrator(0.001), REFERENCE)
    context.setVelocities([[0, 0.1, 0], [0, -0.1, 0]])
    for _ in range(2):
        for action in (lambda: mc.minimize(context), lambda: context.getIntegrator().step(1)):
            with pytest.raises(mm.OpenMMException, match="Particle positions have not been set"):
                action()
    context.setPositions([[0, 0, 0], [0.11, 0, 0]])
    assert mc.minimize(context).converged
    assert positions_of(context) == pytest.approx(np.array([[0.005, 0, 0], [0.105, 0, 0]]), abs=1e-6)


def test_constraints_that_cannot_be_solved_at_the_start():
    system = mm.System()
    for _ in range(3):
        system.addParticle(1)
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.1)
    force.addDistance(1, 2, 0.1)
    system.addForce(force)
    context, _ = make(system, [[0, 0, 0], [0, 0, 0], [0.1, 0, 0]])
    before = state_of(context)
    with pytest.raises(mm.OpenMMException, match="projection of the positions"):
        mc.minimize(context)
    assert state_of(context) == before


def test_mistakes_in_arguments():
    system, positions = charges_on_a_sphere(3)
    context, _ = make(system, positions)
    for tolerance, error in (("10", TypeError), (1 * unit.nanometer, TypeError), (0, ValueError), (np.nan, ValueError)):
        with pytest.raises(error, match=r"minimize: .*tolerance"):
            mc.minimize(context, tolerance)
    for most, error in ((-1, ValueError), (2.5, TypeError), (None, TypeError)):
        with pytest.raises(error, match="minimize: maxIterations"):
            mc.minimize(context, maxIterations=most)
    with pytest.raises(TypeError, match=r"must be an openmm.MinimizationReporter, not function"):
        mc.minimize(context, reporter=lambda *args: False)
    free = mm.System()
    free.addParticle(1)
    context, _ = make(free, [[0, 0, 0]], mm.VerletIntegrator)
    with pytest.raises(TypeError, match=r"VerletIntegrator does not solve.*LocalEnergyMinimizer"):
        mc.minimize(context)
    context = mm.Context(system, mc.RattleIntegrator(0.001), REFERENCE)
    with pytest.raises(mm.OpenMMException, match="positions have not been set"):
        mc.minimize(context)


# ---- OpenMM's own minimizer --------------------------------------------------------------------------------------


def pair(in_system, distance, charge=0.5):
    """Two charges that attract each other."""
    topology, system, coulomb = app.Topology(), mm.System(), mm.NonbondedForce()
    residue = topology.addResidue("ION", topology.addChain())
    for sign in (1, -1):
        topology.addAtom("A", None, residue)
        system.addParticle(10)
        coulomb.addParticle(sign * charge, 0.1, 0.5)
    system.addForce(coulomb)
    if in_system:
        system.addConstraint(0, 1, distance)
    else:
        force = mc.ConstraintForce()
        force.addDistance(0, 1, distance)
        system.addForce(force)
    return topology, system


@pytest.mark.parametrize("kind", KINDS)
def test_steps_go_on_from_what_minimizeEnergy_leaves(kind):
    """System constraints it knows; those of a ConstraintForce it leaves, and stops once they are far off."""
    distance = 0.4
    topology, system = pair(True, distance)
    simulation = app.Simulation(topology, system, kind(0.001), REFERENCE)
    simulation.context.setPositions([[0, 0, 0], [0.5, 0, 0]])
    simulation.minimizeEnergy()
    left = np.linalg.norm(np.diff(positions_of(simulation.context), axis=0))
    assert left == pytest.approx(distance, rel=1e-4)
    simulation.step(1)
    assert np.linalg.norm(np.diff(positions_of(simulation.context), axis=0)) == pytest.approx(distance, rel=1e-5)


def test_minimize_goes_on_from_what_minimizeEnergy_leaves_far_off():
    topology, system = pair(False, 0.4)
    simulation = app.Simulation(topology, system, mc.RattleIntegrator(0.001), REFERENCE)
    simulation.context.setPositions([[0, 0, 0], [0.4, 0, 0]])
    with pytest.raises(mm.OpenMMException, match="minimizer ignores ConstraintForces"):
        simulation.minimizeEnergy()
    with pytest.raises(mm.OpenMMException, match="minimizer ignores ConstraintForces"):
        simulation.step(1)
    mc.minimize(simulation.context)
    simulation.step(1)


# ---- with integrators of OpenMM, whose solver is replaced -----------------------------------------------------------


def test_minimize_works_with_any_integrator_whose_solver_is_replaced():
    topology, system = pair(False, 0.4)
    mc.replaceSolver(system)
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    simulation = app.Simulation(topology, system, integrator, REFERENCE)
    simulation.context.setPositions([[0, 0, 0], [0.9, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=r"Call openmmconstraints\.minimize"):
        simulation.step(1)
    found = mc.minimize(simulation.context)
    assert found.converged
    assert np.linalg.norm(np.diff(positions_of(simulation.context), axis=0)) == pytest.approx(0.4, rel=1e-7)
    assert simulation.context.getState(energy=True).getPotentialEnergy()._value == pytest.approx(found.energy._value)
    simulation.step(1)
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(mm.NoseHooverIntegrator(300, 1, 0.001))
    compound.addIntegrator(mc.RattleIntegrator(0.001))
    context = mm.Context(system, compound, REFERENCE)
    context.setPositions([[0, 0, 0], [0.9, 0, 0]])
    assert mc.minimize(context).energy._value == pytest.approx(found.energy._value)
