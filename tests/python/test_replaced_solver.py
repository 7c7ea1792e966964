# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""replaceSolver(): this package's solver under every integrator of OpenMM, and of openmmtools where that is installed.

On Reference and CPU, and on the device under test those that C++ tests do not have: all others there in check.sh.
TestReplacedStates.cpp has states, failures and refusals; test_replaced_counting.py has degrees of freedom,
test_replaced_contexts.py what the interface does, and test_replaced_devices.py what solves without a wait change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from chains import START, chain
from force_fields import AMBER14, force_field
from molecules import HH, water
from openmm import app, unit
from periodic_networks import helix
from platforms import HOSTS, NAME, bound
from test_joined_bodies import PLACES, hinged
from test_minimize import all_kinds_of_constraints, charges_on_a_sphere
from test_periodic_networks import system_of
from their_integrators import (
    DRUDE,
    INSTALLED,
    SEED,
    THEIRS,
    WITH_OURS,
    errors_of,
    on_constraints,
    positions,
    prepare,
    start,
    take_step,
)

import openmmconstraints as mc
from openmmconstraints.benchmark.generated import benzene, carbon_dioxide
from openmmconstraints.inspection.energy import BOLTZMANN

# What C++ tests do not have: integrators that are classes of Python or of plugins, and the newest ones. One of a kind.
ONLY_HERE = {"MTS", "DPD", "QTB", "DrudeLangevin", "DrudeSCF", "BesideOurs"}
# With PoCL they choose wrong steps, whoever solves.
WRONG_WITH_POCL = {"VariableVerlet", "VariableLangevin"}


def with_platforms(*names: str, long: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """On both hosts, and on the device under test."""
    cases = []
    for name in (*names, *long):
        cases += [pytest.param(name, host, marks=[pytest.mark.long] * (name in long)) for host in HOSTS]
        if NAME not in HOSTS and not (NAME == "OpenCL" and name in WRONG_WITH_POCL):
            mark = pytest.mark.platform if name in ONLY_HERE else pytest.mark.precisions
            cases.append(pytest.param(name, NAME, marks=mark))
    return pytest.mark.parametrize(("name", "platform"), cases)


Model = tuple[mm.System, np.ndarray]

# ---- every kind of constraint ----------------------------------------------------------------------------------------


def add_pair_and_drude_particles(model: Model, parents: tuple[int, ...] = (), drude_mass: float = 0.4) -> Model:
    """Two particles on a spring, and Drude particles."""
    system, x = model[0], [*model[1]]
    nonbonded = next(force for force in system.getForces() if isinstance(force, mm.NonbondedForce))
    spring = mm.HarmonicBondForce()
    for place in ([1.0, 0.5, 0.1], [1.1, 0.55, 0.1]):
        x.append(place)
        system.addParticle(12)
        nonbonded.addParticle(0, 0.2, 0.3)
    spring.addBond(len(x) - 2, len(x) - 1, 0.11, 1000)
    system.addForce(spring)
    polarization = mm.DrudeForce()
    for parent in parents:
        drude = system.addParticle(drude_mass)
        system.setParticleMass(parent, system.getParticleMass(parent)._value - drude_mass)
        x.append(np.add(x[parent], [0.001, 0, 0]))
        charge, sigma, epsilon = nonbonded.getParticleParameters(parent)
        nonbonded.setParticleParameters(parent, charge._value + 0.8, sigma, epsilon)
        nonbonded.addParticle(-0.8, 1, 0)
        exceptions = [nonbonded.getExceptionParameters(i)[:2] for i in range(nonbonded.getNumExceptions())]
        for other in {parent, *(i for pair in exceptions if parent in pair for i in pair)}:
            nonbonded.addException(drude, other, 0, 1, 0)
        polarization.addParticle(drude, parent, -1, -1, -1, -0.8, 1e-3, 1, 1)
    if parents:
        system.addForce(polarization)
    for force in system.getForces():  # for multiple time steps
        if isinstance(force, (mm.HarmonicBondForce, mm.HarmonicAngleForce)):
            force.setForceGroup(1)
    pull = mm.CustomExternalForce("pull*z")  # for nonequilibrium integrators
    pull.addGlobalParameter("pull", 0)
    pull.addParticle(1, [])
    system.addForce(pull)
    return system, np.array(x)


@cache
def every_kind(parents: tuple[int, ...] = (), drude_mass: float = 0.4) -> tuple[mm.System, np.ndarray]:
    """With replaced solver, and positions on the constraints. Drude particles: of the chain and of the rigid body."""
    system, far_off = all_kinds_of_constraints()
    system, x = add_pair_and_drude_particles((system, on_constraints(system, far_off)), parents, drude_mass)
    mc.replaceSolver(system)
    return system, x


def with_cutoff(system: mm.System, distance: float) -> mm.System:
    system = mm.XmlSerializer.clone(system)
    for force in system.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.setNonbondedMethod(mm.NonbondedForce.CutoffNonPeriodic)
            force.setCutoffDistance(distance)
    return system


def model_for(name: str, make: Callable[[tuple[int, ...], float], Model]) -> Model:
    return make((3, 6), 0.0 if name == "DrudeSCF" else 0.4) if name in DRUDE else make((), 0.4)


@with_platforms(*THEIRS, *DRUDE, *WITH_OURS, long=tuple(INSTALLED))
def test_all_values_hold_after_every_step(name, platform, record_property):
    system, x = model_for(name, every_kind)
    if name == "DPD" and platform not in HOSTS:
        system = with_cutoff(system, 0.5)  # OpenMM's device looks for neighbours within one distance
    integrator = (THEIRS | DRUDE | WITH_OURS | INSTALLED)[name](0.0005)
    tolerance = bound(1e-8, single=1e-6)
    context = start(system, x, prepare(integrator, tolerance), platform)
    tolerance = bound(1.0001 * tolerance, mixed=1.1 * tolerance, single=3e-6)  # positions are rounded
    before, worst = positions(context), 0.0
    for step in range(20):
        take_step(integrator, step)
        now = positions(context)
        worst = max(worst, *errors_of(system, now))
        assert worst < tolerance, step
        assert abs(now[5, 2] - 0.1 - 0.3 * now[5, 0]) < tolerance * math.hypot(1, 0.3), step
    assert np.array_equal(now[0], before[0])  # the anchor
    assert np.linalg.norm(now - before, axis=1)[1:8].max() > 1e-4
    site = 0.3 * now[5] + 0.7 * now[7]
    if name == "Metropolized" and platform not in HOSTS:  # OpenMM leaves it behind where its last move is no solve
        site = now[8]
    assert now[8] == pytest.approx(site, abs=bound(1e-9, mixed=1e-8, single=1e-6))
    record_property(name, f"{worst:.1e}")  # for tests/replaced_table.py


# ---- where OpenMM's own algorithms can solve a System ----------------------------------------------------------------


@cache
def chain_and_waters(parents: tuple[int, ...] = (), drude_mass: float = 0.4) -> Model:
    """A chain of rigid bonds with soft angles and charges, and three rigid waters.

    OpenMM keeps the lengths of waters in single precision, which they are rounded to.
    """
    system, x = chain(), [*START]
    nonbonded = mm.NonbondedForce()
    for charge in (0.3, -0.2, 0.1, -0.2):
        nonbonded.addParticle(charge, 0.3, 0.5)
    for i, j in combinations(range(4), 2):
        nonbonded.addException(i, j, 0, 1, 0)
    for oxygen in ([0.3, 0.35, 0], [-0.1, -0.35, 0.1], [-0.25, 0.25, 0.2]):
        first = len(x)
        x += [*water(oxygen)]
        for mass, charge in ((15.999, -0.834), (1.008, 0.417), (1.008, 0.417)):
            system.addParticle(mass)
            nonbonded.addParticle(charge, 0.3151, 0.6364 if charge < 0 else 0)
        for i, j, length in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, HH)):
            system.addConstraint(first + i, first + j, float(np.float32(length)))
            nonbonded.addException(first + i, first + j, 0, 1, 0)
    system.addForce(nonbonded)
    return add_pair_and_drude_particles((system, np.array(x)), parents, drude_mass)


@pytest.mark.parametrize("name", [*(name for name in THEIRS if name != "NoseHooverSubsystems"), *DRUDE])
def test_trajectories_are_those_of_the_built_in_solver(name, record_property):
    original, x = chain_and_waters((1, 2), 0.0 if name == "DrudeSCF" else 0.4) if name in DRUDE else chain_and_waters()
    replaced = mm.XmlSerializer.clone(original)
    assert mc.replaceSolver(replaced).declared == 0
    velocities = 0.4 * np.random.default_rng(SEED).normal(size=x.shape)
    ends = []
    for system in (original, replaced):
        integrator = prepare((THEIRS | DRUDE)[name](0.0005), 1e-10)
        context = start(system, x, integrator)
        context.setVelocities(velocities)
        context.applyVelocityConstraints(1e-10)
        for step in range(40):
            take_step(integrator, step)
        ends.append(positions(context))
    assert np.linalg.norm(ends[0] - x, axis=1).max() > 1e-3
    apart = np.linalg.norm(ends[0] - ends[1], axis=1).max()
    assert apart < 1e-8
    record_property(name, f"{apart:.1e}")


# ---- what OpenMM's algorithms cannot solve ---------------------------------------------------------------------------


def of_molecules(molecules) -> Model:
    """All distances of each molecule, declared in the System."""
    return molecules.create("Rigid"), molecules.positions


def free(masses: list[float], force: mm.Force, places: list[list[float]]) -> Model:
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    system.addForce(force)
    return system, np.array(places)


def cholesterol() -> Model:
    """Shaped as in Martini: two triangles with a common side, nearly flat, a virtual site, and a tail on a spring."""
    lengths = {(0, 1): 0.4904, (0, 2): 0.6019, (1, 2): 0.2719, (1, 3): 0.7237, (2, 3): 0.5376}
    side = lengths[1, 2]

    def apex(to_first: float, to_second: float) -> tuple[float, float]:
        along = (to_first**2 - to_second**2 + side**2) / (2 * side)
        return along, math.sqrt(to_first**2 - along**2)

    (x0, y0), (x3, y3), fold = apex(0.4904, 0.6019), apex(0.7237, 0.5376), math.radians(0.3)
    places = [[x0, y0, 0], [0, 0, 0], [side, 0, 0], [x3, -y3 * math.cos(fold), y3 * math.sin(fold)]]
    torsion = mm.CustomTorsionForce("25*min(d, 2*3.14159265-d)^2; d=abs(theta-3.1363)")
    torsion.addTorsion(0, 1, 2, 3, [])
    system, x = free([72, 60, 60, 72, 72, 0], torsion, [*places, np.add(places[3], [0.4, 0.1, 0]), [0, 0, 0]])
    system.setVirtualSite(5, mm.ThreeParticleAverageSite(0, 1, 2, 0.4, 0.3, 0.3))
    for (i, j), length in lengths.items():
        system.addConstraint(i, j, length)
    tail = mm.HarmonicBondForce()
    tail.addBond(3, 4, 0.425, 1250)
    system.addForce(tail)
    return system, x


def straight_angle() -> Model:
    force = mc.ConstraintForce()
    force.addDistance(0, 1, 0.12)
    force.addDistance(1, 2, 0.14)
    force.addAngle(0, 1, 2, math.pi)
    return free([12, 14, 16], force, [[-0.12, 0, 0], [0, 0, 0], [0.14, 0, 0]])


def held_dihedral() -> Model:
    system, force = chain(), mc.ConstraintForce()
    force.addDihedral(0, 1, 2, 3, 2.5)
    system.addForce(force)
    x = np.array(START)
    x[3] = x[2] + [0.142 * math.cos(2.5), 0.142 * math.sin(2.5), 0.057]
    return system, x


@cache
def ligand_in_water() -> Model:
    """Alanine dipeptide as a rigid body, and the waters next to it, rigid by constraints of the System."""
    pdb = app.PDBFile(str(Path(__file__).parents[2] / "examples" / "dipeptide_in_water.pdb"))
    places = np.array(pdb.positions.value_in_unit(unit.nanometer))
    modeller, residues = app.Modeller(pdb.topology, pdb.positions), list(pdb.topology.residues())
    ligand = [atom.index for residue in residues if residue.name != "HOH" for atom in residue.atoms()]
    middle = places[ligand].mean(axis=0)
    modeller.delete(
        [
            residue
            for residue in residues
            if residue.name == "HOH" and np.linalg.norm(places[next(residue.atoms()).index] - middle) > 0.6
        ]
    )
    system = force_field(*AMBER14).createSystem(modeller.topology, constraints=app.HBonds, removeCMMotion=False)
    mc.makeRigid(system, [ligand], modeller.positions)
    return system, np.array(modeller.positions.value_in_unit(unit.nanometer))


UNSOLVABLE: dict[str, tuple[Callable[[], Model], float]] = {
    "carbon dioxide": (lambda: of_molecules(carbon_dioxide(8)), 0.002),
    "benzene": (lambda: of_molecules(benzene(3)), 0.002),
    "cholesterol": (cholesterol, 0.02),
    "straight angle": (straight_angle, 0.002),
    "dihedral": (held_dihedral, 0.001),
    "surface": (lambda: charges_on_a_sphere(12), 0.002),
    "ligand in water": (ligand_in_water, 0.002),
    "hinge": (lambda: (hinged(True), PLACES), 0.002),
    "network": (lambda: (system_of(helix(True), in_system=True), helix(True).x), 0.001),
}


@pytest.mark.parametrize("platform", HOSTS)
@pytest.mark.parametrize("name", ["LangevinMiddle", "BAOAB", "NoseHoover"])
@pytest.mark.parametrize("held", UNSOLVABLE)
def test_what_openmm_cannot_solve(held, name, platform):
    make, dt = UNSOLVABLE[held]
    system, x = make()
    system, x = mm.XmlSerializer.clone(system), on_constraints(system, x)
    added = mc.replaceSolver(system)
    tolerance = 1e-8
    integrator = prepare(THEIRS[name](dt), tolerance)
    context = start(system, x, integrator, platform)
    for _ in range(5):
        integrator.step(4)
        now = positions(context)
        assert np.isfinite(now).all()
        assert max(errors_of(system, now), default=0) < 1.0001 * tolerance
        if held == "surface":
            assert np.linalg.norm(now[:12], axis=1) == pytest.approx(1, abs=tolerance)
    assert np.linalg.norm(now - x, axis=1).max() > 1e-3
    summary = added.force.getSolverSummary(context)
    assert summary.converged
    assert summary.maxError <= summary.tolerance == tolerance


@pytest.mark.parametrize("held", ["carbon dioxide", "cholesterol"])
def test_a_hundred_starts_with_our_integrators_have_the_temperature_that_is_asked_for(held):
    """Nothing is replaced by name: System constraints, on which OpenMM's own algorithms fail."""
    make, _ = UNSOLVABLE[held]
    system, x = make()
    x = on_constraints(system, x)
    context = start(system, x, integrator := mc.RattleIntegrator(0.001))
    degrees, energies = integrator.getNumDegreesOfFreedom(), []
    for seed in range(1, 101):
        context.setVelocitiesToTemperature(300, seed)
        energies.append(context.getState(energy=True).getKineticEnergy()._value)
    in_kT = np.array(energies) / (BOLTZMANN * 300)
    assert in_kT.max() < 0.5 * degrees + 8 * math.sqrt(0.5 * degrees)
    assert in_kT.mean() == pytest.approx(0.5 * degrees, abs=5 * math.sqrt(0.5 * degrees / 100))
