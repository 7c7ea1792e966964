# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
from itertools import combinations

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, CHARMM36, force_field, villin_file
from held import held
from openmm import app, unit
from peptide import ring_in_water
from platforms import under_test

import openmmconstraints as mc


@pytest.fixture(scope="module")
def villin():
    """Villin with a few waters, and its force field."""
    pdb = villin_file()
    modeller = app.Modeller(pdb.topology, pdb.positions)
    waters = [residue for residue in modeller.topology.residues() if residue.name == "HOH"]
    modeller.delete(waters[20:])
    return force_field(*AMBER14), modeller.topology, modeller.positions


def _energy(system, positions):
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    return context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


FORCE_FIELDS = {
    "amber14": AMBER14,
    "amber19": ("amber19-all.xml", "amber19/opc3.xml"),
    "charmm36": CHARMM36,
    "charmm36_2024": ("charmm36_2024.xml", "charmm36_2024/water.xml"),
}


# The newest one takes longer to read than all others together.
MODELS = [
    pytest.param(names, id=name, marks=pytest.mark.long if name in ("amber19", "charmm36_2024") else ())
    for name, names in FORCE_FIELDS.items()
]


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return force_field(*request.param), *ring_in_water()


@pytest.mark.parametrize("rigid_water", [True, False], ids=["rigid", "flexible"])
@pytest.mark.parametrize("hydrogen_mass", [None, 3.0], ids=["masses", "repartitioned"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"bonds": "hydrogens"}, app.HBonds),
        ({"bonds": "all"}, app.AllBonds),
        ({"bonds": "all", "angles": "hydrogens"}, app.HAngles),
    ],
    ids=["HBonds", "AllBonds", "HAngles"],
)
def test_equals_openmm(model, ours, theirs, hydrogen_mass, rigid_water):
    forcefield, topology, positions = model
    system = forcefield.createSystem(topology, rigidWater=False, hydrogenMass=hydrogen_mass)
    force = mc.constrain(system, topology, rigidWater=rigid_water, **ours)
    expected = forcefield.createSystem(topology, constraints=theirs, rigidWater=rigid_water, hydrogenMass=hydrogen_mass)
    assert system.getNumConstraints() == 0
    assert force.getNumDistances() == expected.getNumConstraints()
    assert held(system) == pytest.approx(held(expected), abs=1e-12)
    # Terms that are constraints now are there no more, and no others.
    assert _energy(system, positions) == pytest.approx(_energy(expected, positions), abs=1e-6)


def test_the_length_of_a_urey_bradley_term_is_not_taken():
    """Wherever that spring is: in the Force of the bonds, or in one of its own as CharmmPsfFile puts it."""
    lengths = []
    for own_force in (False, True):
        system, topology, _positions = _ethane()
        bonds = next(force for force in system.getForces() if isinstance(force, mm.HarmonicBondForce))
        springs = mm.HarmonicBondForce() if own_force else bonds
        springs.addBond(1, 2, 0.19, 1e4)
        if own_force:
            system.addForce(springs)
        mc.constrain(system, topology, angles="hydrogens")
        lengths.append(held(system)[1, 2])
        assert springs.getBondParameters(springs.getNumBonds() - 1)[2]._value == 0.19
    assert lengths == pytest.approx(2 * [0.11 * np.sqrt(2 + 2 / 3)], abs=1e-15)


def test_a_triangle_of_bonds_needs_no_angle():
    """Rigid water as some files have it: a third bond between the hydrogens."""
    topology, system, bonds = app.Topology(), mm.System(), mm.HarmonicBondForce()
    residue = topology.addResidue("HOH", topology.addChain())
    elements = (app.element.oxygen, app.element.hydrogen, app.element.hydrogen)
    atoms = [topology.addAtom(f"A{i}", element, residue) for i, element in enumerate(elements)]
    for atom in atoms:
        system.addParticle(atom.element.mass)
    for (i, j), length in {(0, 1): 0.1, (0, 2): 0.1, (1, 2): 0.16}.items():
        bonds.addBond(i, j, length, 1e5)
        if i == 0:
            topology.addBond(atoms[i], atoms[j])
    system.addForce(bonds)
    mc.constrain(system, topology)
    assert held(system) == {(0, 1): 0.1, (0, 2): 0.1, (1, 2): 0.16}


def test_what_was_held_already_stays(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=app.HBonds)  # with rigid water, and no terms for those
    before = held(system)
    mc.constrain(system, topology, bonds="all")
    after = held(system)
    assert before.items() <= after.items()
    assert len(after) > len(before)
    assert mc.constrain(system, topology, bonds="all") is None  # nothing left to do
    assert held(system) == after


@pytest.mark.parametrize("bonds", ["all", "hydrogens"])
def test_what_finds_nothing_says_what_to_type(bonds):
    topology = app.Topology()
    residue = topology.addResidue("CH", topology.addChain())
    atoms = [topology.addAtom(name, app.Element.getBySymbol(name), residue) for name in "CH"]
    system = mm.System()
    for mass in (12, 1):
        system.addParticle(mass)
    with pytest.raises(ValueError, match=r'(?s)nothing to hold.*lengths="positions".*"covalent-hydrogens"'):
        mc.constrain(system, topology, bonds)
    topology.addBond(*atoms)
    with pytest.raises(ValueError, match=r'(?s)no HarmonicBondForce term.*lengths="positions"'):
        mc.constrain(system, topology, bonds)
    assert mc.constrain(system, topology, bonds=None) is None  # no water
    system.addConstraint(0, 1, 0.11)
    assert mc.constrain(system, topology, bonds).getNumDistances() == 1
    assert mc.constrain(system, topology, bonds) is None


def test_water_alone(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    assert mc.constrain(system, topology, bonds=None, rigidWater=False) is None
    force = mc.constrain(system, topology, bonds=None)
    assert force.getNumDistances() == 60
    assert held(system)[next(iter(held(system)))] == pytest.approx(0.09572)


def _ethane():
    """System, topology and positions of CH3-CH3 with tetrahedral angles."""
    topology, system = app.Topology(), mm.System()
    residue = topology.addResidue("ETH", topology.addChain())
    tilt, positions = 1 / 3, []
    for side, x in ((-1, 0.0), (1, 0.15)):
        positions.append((x, 0, 0))
        for angle in (0, 2 * np.pi / 3, 4 * np.pi / 3):
            along, across = 0.11 * tilt, 0.11 * np.sqrt(1 - tilt**2)
            positions.append((x + side * along, across * np.cos(angle), side * across * np.sin(angle)))
    atoms = [
        topology.addAtom(f"{element.symbol}{i}", element, residue)
        for i, element in enumerate(2 * [app.element.carbon, *3 * [app.element.hydrogen]])
    ]
    for atom in atoms:
        system.addParticle(atom.element.mass)
    bonds, angles = mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    for i, j in ((0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (4, 6), (4, 7)):
        topology.addBond(atoms[i], atoms[j])
        bonds.addBond(i, j, 0.15 if (i, j) == (0, 4) else 0.11, 1e5)
    for centre, around in ((0, (1, 2, 3, 4)), (4, (0, 5, 6, 7))):
        for i, j in combinations(around, 2):
            angles.addAngle(i, centre, j, np.arccos(-tilt), 300)
    system.addForce(bonds)
    system.addForce(angles)
    return system, topology, positions


def test_all_angles_are_held_and_counted_once():
    system, topology, positions = _ethane()
    force = mc.constrain(system, topology, angles="all")
    assert force.getNumDistances() == 7 + 12
    integrator = mc.RattleIntegrator(0.0005)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    context.setVelocitiesToTemperature(300 * unit.kelvin, 1)
    integrator.step(20)
    assert integrator.getNumDegreesOfFreedom() == 6 + 1  # as a whole, and one torsion
    state = context.getState(energy=True)
    assert state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole) == 0


def test_errors_name_the_atoms_and_change_nothing(villin):
    forcefield, topology, _ = villin
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False)
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(ValueError, match='bonds must be "all"'):
        mc.constrain(system, topology, bonds="AllBonds")
    with pytest.raises(ValueError, match="the topology has 0 atoms, the System 644 particles"):
        mc.constrain(system, app.Topology())
    assert mm.XmlSerializer.serialize(system) == before
    kinds = [type(force) for force in system.getForces()]
    system.removeForce(kinds.index(mm.HarmonicBondForce))
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(ValueError, match=r"no HarmonicBondForce term for the bond \w+:\w+ - \w+:\w+ \(particles"):
        mc.constrain(system, topology)
    assert mm.XmlSerializer.serialize(system) == before


def test_errors_of_the_integrator_name_the_atoms():
    system, topology, positions = _ethane()
    mc.constrain(system, topology)
    context = mm.Context(system, mc.RattleIntegrator(0.0005), under_test())
    positions[5] = positions[4]
    context.setPositions(positions)
    with pytest.raises(mm.OpenMMException, match=r"particles 4 and 5: (\w:)?ETH1:C4 and (\w:)?ETH1:H5\)"):
        context.getIntegrator().step(1)
