# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
from importlib.resources import files

import openmm as mm
import pytest
from openmm import app, unit

import openmmconstraints as mc


@pytest.fixture(scope="module")
def villin():
    """Villin with a few waters, and its force field."""
    pdb = app.PDBFile(str(files("openmm.app") / "data/test.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    waters = [residue for residue in modeller.topology.residues() if residue.name == "HOH"]
    modeller.delete(waters[20:])
    return app.ForceField("amber14-all.xml", "amber14/tip3p.xml"), modeller.topology, modeller.positions


def _held(system):
    """Pairs and lengths (nm), from the System and from its ConstraintForces."""
    parameters = [system.getConstraintParameters(n) for n in range(system.getNumConstraints())]
    for force in system.getForces():
        if mc.ConstraintForce.isinstance(force):
            force = mc.ConstraintForce.cast(force)
            parameters += [force.getDistanceParameters(n) for n in range(force.getNumDistances())]
    return {tuple(sorted(p[:2])): p[2].value_in_unit(unit.nanometer) for p in parameters}


def _energy(system, positions):
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    return context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"bonds": "hydrogens"}, app.HBonds),
        ({"bonds": "all"}, app.AllBonds),
        ({"bonds": "all", "angles": "hydrogens"}, app.HAngles),
    ],
    ids=["HBonds", "AllBonds", "HAngles"],
)
def test_equals_openmm(villin, ours, theirs):
    forcefield, topology, positions = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    force = mc.constrain(system, topology, **ours)
    expected = forcefield.createSystem(topology, constraints=theirs)
    assert system.getNumConstraints() == 0
    assert force.getNumDistances() == expected.getNumConstraints()
    assert _held(system) == pytest.approx(_held(expected), abs=1e-12)
    # Terms that are constraints now are there no more, and no others.
    assert _energy(system, positions) == pytest.approx(_energy(expected, positions), abs=1e-6)


def test_what_was_held_already_stays(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=app.HBonds)  # with rigid water, and no terms for those
    before = _held(system)
    mc.constrain(system, topology, bonds="all")
    after = _held(system)
    assert before.items() <= after.items()
    assert len(after) > len(before)
    assert mc.constrain(system, topology, bonds="all") is None  # nothing left to do
    assert _held(system) == after


def test_water_alone(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    assert mc.constrain(system, topology, bonds=None, rigidWater=False) is None
    force = mc.constrain(system, topology, bonds=None)
    assert force.getNumDistances() == 60
    assert _held(system)[next(iter(_held(system)))] == pytest.approx(0.09572)


def test_all_angles_run(villin):
    forcefield, topology, positions = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    mc.constrain(system, topology, angles="all")
    integrator = mc.RattleIntegrator(0.0005)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300 * unit.kelvin, 1)
    integrator.step(5)
    assert integrator.getSolverSummary().converged
    dependent = len(_held(system)) - (3 * system.getNumParticles() - integrator.getNumDegreesOfFreedom())
    assert dependent > 50  # each tetrahedral atom has an angle too many, and rings have more


def test_errors_name_the_atoms_and_change_nothing(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(ValueError, match='bonds must be "all"'):
        mc.constrain(system, topology, bonds="AllBonds")
    with pytest.raises(ValueError, match="the topology has 0 atoms, the System 642 particles"):
        mc.constrain(system, app.Topology())
    assert mm.XmlSerializer.serialize(system) == before
    bond_force = next(force for force in system.getForces() if isinstance(force, mm.HarmonicBondForce))
    system.removeForce(list(system.getForces()).index(bond_force))
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(ValueError, match=r"no HarmonicBondForce term for the bond \w+:\w+-\w+ \(particles \d+-\d+\)"):
        mc.constrain(system, topology)
    assert mm.XmlSerializer.serialize(system) == before
