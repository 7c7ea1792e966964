# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Atoms without mass: what becomes of the System, and that a run goes on around them."""

from types import SimpleNamespace

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, force_field
from openmm import app, unit
from peptide import ring_in_water
from platforms import bound, under_test

import openmmconstraints as mc


@pytest.fixture(scope="module")
def model():
    topology, positions = ring_in_water()
    waters = [[atom.index for atom in r.atoms()] for r in topology.residues() if r.name == "HOH"]
    solute = [atom for atom in topology.atoms() if atom.residue.name != "HOH"]
    heavy = [atom.index for atom in solute if atom.element is not app.element.hydrogen]
    # PDB positions meet no constraint, and frozen atoms cannot be projected: put the hydrogens where they belong.
    system = force_field(*AMBER14).createSystem(topology, constraints=app.HBonds)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(positions)
    context.applyConstraints(1e-9)
    mm.LocalEnergyMinimizer.minimize(context, 10, 100)
    context.applyConstraints(1e-9)
    positions = context.getState(positions=True).getPositions(asNumpy=True)
    return SimpleNamespace(topology=topology, positions=positions, waters=waters, solute=solute, heavy=heavy)


def make_system(model, **options):
    return force_field(*AMBER14).createSystem(model.topology, constraints=app.HBonds, **options)


def pairs_of(system):
    """Every distance that is held, in nm."""
    held = [system.getConstraintParameters(n) for n in range(system.getNumConstraints())]
    for force in system.getForces():
        if mc.ConstraintForce.isinstance(force):
            force = mc.ConstraintForce.cast(force)
            held += [force.getDistanceParameters(n) for n in range(force.getNumDistances())]
    return [(i, j, d._value) for i, j, d in held]


def massless(system):
    return [p for p in range(system.getNumParticles()) if system.getParticleMass(p)._value == 0]


INTEGRATORS = {
    "Rattle": lambda: mc.RattleIntegrator(0.001),
    "Shake": lambda: mc.ShakeIntegrator(0.001),
    "Langevin": lambda: mc.RattleLangevinIntegrator(300, 5, 0.001),
    "Geodesic": lambda: geodesic(),
    "NoseHoover": lambda: mc.RattleNoseHooverIntegrator(300, 20, 0.001),
    "ConstraintForce": lambda: mc.ConstraintForceIntegrator(0.0005),
}


def geodesic():
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    integrator.setNumGeodesicSteps(2)
    return integrator


@pytest.mark.parametrize("make", INTEGRATORS.values(), ids=INTEGRATORS)
@pytest.mark.parametrize("what", ["solute", "parts"])
def test_frozen_atoms_stay_and_the_rest_holds(model, make, what):
    """All of a solute, or its heavy atoms and two waters' parts, whose bonds to what moves are anchored."""
    system = make_system(model)
    before = pairs_of(system)
    atoms = model.solute if what == "solute" else [*model.heavy, model.waters[0][0], *model.waters[1][1:]]
    summary = mc.freeze(system, atoms)
    frozen = massless(system)
    assert frozen == sorted(getattr(atom, "index", atom) for atom in atoms) == list(summary.atoms)
    held = pairs_of(system)
    among = [pair for pair in before if pair[0] in frozen and pair[1] in frozen]
    assert sorted(held) == sorted(set(before) - set(among))
    anchored = [pair for pair in held if pair[0] in frozen or pair[1] in frozen]
    assert (summary.removed, summary.moved) == (len(among), len(anchored))
    assert any(isinstance(force, mm.CMMotionRemover) for force in system.getForces()) == (what == "solute")

    integrator = make()
    integrator.setConstraintTolerance(1e-6)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(model.positions)
    context.setVelocitiesToTemperature(300 * unit.kelvin, 1)
    start = context.getState(positions=True).getPositions(asNumpy=True)._value
    integrator.step(50)
    moving = system.getNumParticles() - len(frozen)
    removed = 3 if what == "solute" else 0
    assert integrator.getNumDegreesOfFreedom() == 3 * moving - len(held) - removed
    end = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert np.array_equal(end[frozen], start[frozen])
    assert np.abs(end - start).max() > 0.005
    i, j, d = (np.array(column) for column in zip(*held, strict=True))
    errors = np.abs(np.linalg.norm(end[i] - end[j], axis=1) / d - 1)
    # ConstraintForceIntegrator drifts by what an explicit step leaves.
    assert errors.max() < bound(1e-3 if make is INTEGRATORS["ConstraintForce"] else 1.1e-6, single=1e-3)


def test_again_changes_nothing(model):
    system = make_system(model)
    first = mc.freeze(system, model.heavy)
    assert str(first) == (
        f"froze {len(model.heavy)} atoms; moved {first.moved} constraints to massless particles into a "
        "ConstraintForce; removed the CMMotionRemover, which would remove the motion about the anchors"
    )
    assert first.force.getNumDistances() == first.moved == len(model.solute) - len(model.heavy)
    xml = mm.XmlSerializer.serialize(system)
    assert str(mc.freeze(system, model.heavy)) == "froze 0 atoms"
    assert mm.XmlSerializer.serialize(system) == xml
    second = mc.freeze(system, np.array(model.waters[0]))
    assert str(second) == "froze 3 atoms; removed 3 constraints among massless particles"


def test_of_all_atoms_no_motion_is_left_to_be_removed(model):
    """Also where a virtual site is among them, which has no mass, but no atom that moves either."""
    system = make_system(model)
    system.addParticle(0)
    for force in system.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.addParticle(0, 1, 0)
    system.setVirtualSite(system.getNumParticles() - 1, mm.TwoParticleAverageSite(0, 1, 0.5, 0.5))
    frozen = mc.freeze(system, range(system.getNumParticles()))
    assert frozen.allAreMassless
    assert frozen.motionRemovers == 1
    assert str(frozen).endswith("; removed the CMMotionRemover, since nothing is left that moves")
    assert not any(isinstance(force, mm.CMMotionRemover) for force in system.getForces())
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    assert integrator.getNumDegreesOfFreedom() == 0
    del context
    assert str(mc.freeze(system, [0])) == "froze 0 atoms"


def test_masses_that_were_zero_already_are_seen_to(model):
    by_hand, at_once = make_system(model), make_system(model)
    for p in model.heavy:
        by_hand.setParticleMass(p, 0)
    mc.freeze(by_hand, [])
    mc.freeze(at_once, model.heavy)
    assert mm.XmlSerializer.serialize(by_hand) == mm.XmlSerializer.serialize(at_once)


def test_forces_lose_what_is_among_frozen_atoms_and_keep_the_rest():
    system = mm.System()
    for _ in range(8):
        system.addParticle(12)
    force = mc.ConstraintForce()
    force.setName("kept")
    force.setForceGroup(5)
    force.setParticleNames(["first"])
    force.setUsesPeriodicBoundaryConditions(True)
    force.addDistance(0, 1, 0.1)
    force.addDistance(1, 4, 0.1, 0.5)
    force.addAngle(0, 1, 2, 1.0)
    force.addAngle(4, 1, 2, 1.5)
    force.addDihedral(0, 1, 2, 3, 1.0)
    force.addDihedral(4, 5, 6, 7, 2.0, 0.25)
    force.addCentroidDistance([0, 1], [2, 3], 0.3)
    force.addCentroidDistance([4], [5, 6], 0.4)
    force.addRigidBody([0, 1, 2], [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    force.addRigidBody([3, 4, 5], [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0]])
    system.addForce(force)
    surface = mc.CustomConstraintForce(1, "z1 - h")
    surface.addPerConstraintParameter("h")
    for p, h in ((0, 0.1), (6, 0.2)):
        surface.addConstraint([p], [h])
    system.addForce(surface)

    summary = mc.freeze(system, range(4))
    assert (summary.removed, summary.moved, summary.force) == (6, 0, None)
    nm, rad = unit.nanometer, unit.radian
    kept = mc.ConstraintForce.cast(system.getForce(0))
    for seen in (kept, force):  # one object
        assert (seen.getName(), seen.getForceGroup(), list(seen.getParticleNames())) == ("kept", 5, ["first"])
        assert seen.usesPeriodicBoundaryConditions()
        numbers = seen.getNumDistances(), seen.getNumAngles(), seen.getNumDihedrals(), seen.getNumRigidBodies()
        assert (*numbers, seen.getNumCentroidDistances()) == (1, 1, 1, 1, 1)
        assert seen.getDistanceParameters(0) == [1, 4, 0.1 * nm]
        assert seen.getDistanceRate(0) == 0.5 * nm / unit.picosecond
        assert seen.getAngleParameters(0) == [4, 1, 2, 1.5 * rad]
        assert seen.getDihedralParameters(0) == [4, 5, 6, 7, 2.0 * rad]
        assert seen.getDihedralRate(0) == 0.25 * rad / unit.picosecond
        assert list(seen.getCentroidDistanceParameters(0)[0]) == [4]
        assert list(seen.getRigidBodyParameters(0)[0]) == [3, 4, 5]
    assert surface.getNumConstraints() == 1
    particles, parameters = surface.getConstraintParameters(0)
    assert (list(particles), list(parameters)) == ([6], [0.2])


def test_a_virtual_site_goes_with_its_parents():
    forcefield = force_field("amber14/tip4pew.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(forcefield, numAdded=8, model="tip4pew")
    system = forcefield.createSystem(modeller.topology)
    oxygen, *others, site = (atom.index for atom in next(modeller.topology.residues()).atoms())
    assert system.isVirtualSite(site)
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(ValueError, match=rf"particle {site} is a virtual site and follows particle {oxygen}, which"):
        mc.freeze(system, [site])
    with pytest.raises(ValueError, match=rf"follows particle {others[1]}, which moves. Freeze that too"):
        mc.freeze(system, [oxygen, others[0], site])
    assert mm.XmlSerializer.serialize(system) == before
    summary = mc.freeze(system, [oxygen, *others, site])
    assert (summary.atoms, summary.removed, summary.moved) == ((oxygen, *others), 3, 0)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(modeller.positions)
    context.computeVirtualSites()
    start = context.getState(positions=True).getPositions(asNumpy=True)._value
    context.getIntegrator().step(20)
    end = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert np.array_equal(start[:4], end[:4])
    assert not np.array_equal(start[4:], end[4:])


def test_mistakes_change_nothing():
    system = mm.System()
    for _ in range(4):
        system.addParticle(12)
    force = mc.ConstraintForce()
    force.addCentroidDistance([0, 1], [2, 3], 0.3)
    force.setParticleNames(["A", "B"])
    system.addForce(force)
    system.addConstraint(0, 1, 0.1)
    before = mm.XmlSerializer.serialize(system)
    for atoms, error, message in (
        ([4], ValueError, "no particle 4: the System has 4, 0 to 3"),
        ([0, -1], ValueError, "no particle -1"),
        ([True, False, False, True], TypeError, "not a mask"),
        (np.array([True, False]), TypeError, "not a mask"),
        (["CA"], TypeError, "not str"),
        ([1.0], TypeError, "not float"),
        ([0, 1], ValueError, r"centroid distance 0 .* would lose the weight of particles 0 and 1: A and B: without"),
    ):
        with pytest.raises(error, match=message):
            mc.freeze(system, atoms)
        assert mm.XmlSerializer.serialize(system) == before
    assert mc.freeze(system, range(4)).removed == 2


def test_nothing_that_moves_has_no_degrees_of_freedom():
    """Not three fewer, which a CMMotionRemover would take away."""
    system = mm.System()
    for _ in range(2):
        system.addParticle(0)
    system.addForce(mm.CMMotionRemover())
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(np.eye(3)[:2])
    assert integrator.getNumDegreesOfFreedom() == 0
    assert mc.Health(system).degreesOfFreedom == 0
    assert mc.replaceSolver(system).degrees == 0
