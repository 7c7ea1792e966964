# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""constrain(lengths=...): potentials that have no harmonic bonds."""

from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from force_fields import force_field, villin_file, villin_system
from held import held
from molecules import HH, WATER, system_of, topology_of, water
from openmm import app, unit
from openmm_series import since
from platforms import bound, under_test

import openmmconstraints as mc

DIPEPTIDE = Path(__file__).parents[2] / "examples/alanine_dipeptide.pdb"
TRICLINIC = np.array([[1.2, 0, 0], [0.5, 1.1, 0], [-0.4, 0.3, 1.0]])
ROUNDED = 2e-4  # nm, of distances in PDB files


@pytest.fixture(scope="module")
def villin():
    """In water, by a force field: topology, positions and a System for any constraints."""

    def make(**options):
        return villin_system(nonbondedMethod=app.CutoffPeriodic, **options)

    return villin_file().topology, villin_file().positions, make


SETS = {
    "HBonds": ({"bonds": "hydrogens"}, app.HBonds),
    "AllBonds": ({"bonds": "all"}, app.AllBonds),
    "HAngles": ({"bonds": "all", "angles": "hydrogens"}, app.HAngles),
}
QUICK = ("HBonds-topology", "HAngles-covalent")


@pytest.mark.parametrize(
    ("ours", "theirs", "covalent"),
    [
        pytest.param(*pair, where == "covalent", id=name, marks=() if name in QUICK else pytest.mark.long)
        for key, pair in SETS.items()
        for where in ("topology", "covalent")
        for name in [f"{key}-{where}"]
    ],
)
def test_the_same_pairs_as_openmm(villin, ours, theirs, covalent):
    topology, positions, make = villin
    expected = held(make(constraints=theirs))
    if covalent:
        ours = {**ours, "bonds": {"hydrogens": "covalent-hydrogens", "all": "covalent"}[ours["bonds"]]}
    system = make(rigidWater=False)
    made = mc.constrain(system, topology, **ours, lengths="positions", positions=positions)
    found = held(system)
    assert found.keys() == expected.keys()
    assert made.bonds + made.angles == len(expected)
    assert made.waters == sum(residue.name == "HOH" for residue in topology.residues())
    waters = {i for residue in topology.residues() if residue.name == "HOH" for i in (a.index for a in residue.atoms())}
    for pair in found.keys() & {pair for pair in found if pair[0] in waters}:
        assert found[pair] == pytest.approx(expected[pair], abs=ROUNDED)
    assert sum(made.found.values()) == (topology.getNumBonds() if covalent else 0)


def test_names_and_bonds_are_kept():
    """For errors, and for projections, which keep bonds; of a topology without bonds, those that were found."""
    topology = topology_of("OHH")
    system = system_of(topology)
    made = mc.constrain(system, topology, "covalent", lengths="positions", positions=water())
    root = mm.XmlSerializer.serialize(made.force)
    assert "A:MOL1:O0" in root
    assert '<Bonds particles="0 1 0 2"' in root


def test_lengths_are_those_of_the_positions():
    pdb = app.PDBFile(str(DIPEPTIDE))
    x = pdb.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    system = system_of(pdb.topology)
    made = mc.constrain(system, pdb.topology, angles="all", lengths="positions", positions=pdb.positions)
    assert (made.bonds, made.angles) == (21, 36)
    for (i, j), length in held(system).items():
        assert length == pytest.approx(np.linalg.norm(x[i] - x[j]), abs=1e-15)
    assert str(made) == "constrained 21 bonds and 36 angles"


def test_positions_are_on_the_constraints():
    """All bonds and angles, many of which are redundant, of coordinates that are rounded."""
    pdb = app.PDBFile(str(DIPEPTIDE))
    system = system_of(pdb.topology)
    mc.constrain(system, pdb.topology, angles="all", lengths="positions", positions=pdb.positions)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(pdb.positions)
    integrator.applyConstraints()
    moved = context.getState(positions=True).getPositions(asNumpy=True) - pdb.getPositions(asNumpy=True)
    assert np.abs(moved._value).max() < 2e-5
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(50)
    assert integrator.getNumDegreesOfFreedom() == 6 + 7  # as a whole, and about single bonds


@pytest.mark.parametrize("whole", [True, False])
def test_nearest_images(whole):
    """Waters and a chain in a triclinic box, whole or with each atom in any image: the same lengths."""
    rng = np.random.default_rng(1)
    chain = np.array([0.6, 0.6, 0.6]) + 0.12 * np.arange(4)[:, None] * [0.6, 0.64, -0.48]
    x = np.concatenate([water([0.01, 0.02, 0.98]), chain])
    topology = topology_of("OHHCCCC", [(0, 1), (0, 2), (3, 4), (4, 5), (5, 6)])
    moved = x if whole else x + rng.integers(-2, 3, (7, 3)) @ TRICLINIC
    for bonds in ("all", "covalent"):
        system = system_of(topology, TRICLINIC)
        mc.constrain(system, topology, bonds, "all", lengths="positions", positions=moved)
        expected = {(0, 1): 0.09572, (0, 2): 0.09572, (1, 2): HH}
        expected |= {(i, i + 1): 0.12 for i in (3, 4, 5)} | {(i, i + 2): 0.24 for i in (3, 4)}
        assert held(system) == pytest.approx(expected, abs=1e-12)


def test_ends_further_apart_than_half_the_box():
    """Bonds have nearest images, their ends need not: those of a straight chain are two bonds from each other."""
    topology = topology_of("CCC", [(0, 1), (1, 2)])
    system = system_of(topology, np.eye(3))
    mc.constrain(system, topology, angles="all", lengths="positions", positions=[[0, 0, 0], [0.38, 0, 0], [0.76, 0, 0]])
    assert held(system) == pytest.approx({(0, 1): 0.38, (1, 2): 0.38, (0, 2): 0.76}, abs=1e-12)


def test_the_box_of_a_state_is_that_of_its_positions():
    topology = topology_of("OHH")
    system = system_of(topology, 3 * TRICLINIC)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPeriodicBoxVectors(*TRICLINIC)
    x = water()
    x[1] += TRICLINIC[2]
    context.setPositions(x)
    made = mc.constrain(system, topology, "covalent", lengths="positions", positions=context.getState(positions=True))
    assert made.waters == 1


def test_rigid_waters_get_one_shape():
    """Rounded as in PDB files, or with thermal vibrations, each would have its own."""
    rng = np.random.default_rng(2)
    shapes = [(0.0957 + 0.002 * rng.normal(), 1.824 + 0.05 * rng.normal()) for _ in range(20)]
    x = np.concatenate([water([0.4 * n, 0, 0], *shape) for n, shape in enumerate(shapes)])
    topology = topology_of("OHH" * 20)
    system = system_of(topology)
    made = mc.constrain(system, topology, "covalent", lengths="positions", positions=x)
    found = held(system)
    mean = np.mean([length for length, _ in shapes])
    ends = np.mean([2 * length * np.sin(angle / 2) for length, angle in shapes])
    assert made.waterShape == pytest.approx((mean, ends), rel=1e-12)
    assert len(set(found.values())) == 2
    assert f"20 waters are rigid, O-H {mean:.5f} nm and H-H {ends:.5f} nm on average" in str(made)
    flexible = system_of(topology)
    mc.constrain(flexible, topology, "covalent", rigidWater=False, lengths="positions", positions=x)
    assert len({round(length, 12) for length in held(flexible).values()}) == 20


@pytest.mark.parametrize("symbols", ["OHH", "ODD", "OHD"])
@pytest.mark.parametrize("bonds", [[(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2)]], ids=["bonds", "triangle"])
def test_what_water_is(symbols, bonds):
    """By bonds, whatever the residues are; the bond between hydrogens that some topologies have needs no length."""
    topology = topology_of(symbols * 2, [*bonds, *((i + 3, j + 3) for i, j in bonds)])
    system = system_of(topology)
    made = mc.constrain(system, topology, "hydrogens", lengths=lambda *atoms: 0.1 if len(atoms) == 2 else 0.16)
    assert (made.waters, made.bonds, made.angles) == (2, 4, 2)
    assert set(held(system).values()) == {0.1, 0.16}


def test_no_other_molecule_is_water():
    """Hydronium, hydroxide and methanol."""
    topology = topology_of("OHHHOHCOHHHH", [(0, 1), (0, 2), (0, 3), (4, 5), (6, 7), (7, 8), (6, 9), (6, 10), (6, 11)])
    made = mc.constrain(system_of(topology), topology, "hydrogens", lengths=lambda *atoms: 0.1)
    assert (made.waters, made.bonds, made.angles) == (0, 8, 0)
    topology = topology_of("OHHO", [(0, 1), (0, 2), (2, 3)])  # a hydrogen between two
    assert mc.constrain(system_of(topology), topology, lengths=lambda *atoms: 0.1).waters == 0


def test_water_of_residues_without_bonds():
    topology = topology_of("OHH" * 2, residues=2)
    made = mc.constrain(system_of(topology), topology, None, lengths=WATER)
    assert (made.waters, made.bonds, made.angles) == (2, 4, 2)
    with pytest.raises(ValueError, match=r"topology has no bonds. Add them .*, or use bonds=\"covalent\""):
        mc.constrain(system_of(topology), topology, rigidWater=False, lengths=WATER)


@pytest.mark.parametrize(
    "table",
    [
        WATER,
        {(app.element.hydrogen, app.element.oxygen): 0.9572 * unit.angstrom, ("h", "O", "H"): HH},
        {("H", app.element.oxygen): 95.72 * unit.picometer, ("H", "O", "H"): HH * 10 * unit.angstrom},
    ],
)
def test_tables(table):
    topology = topology_of("OHH", [(0, 1), (0, 2)])
    system = system_of(topology)
    assert mc.constrain(system, topology, lengths=table).waters == 1
    assert held(system) == pytest.approx({(0, 1): 0.09572, (0, 2): 0.09572, (1, 2): HH}, abs=1e-9)


def test_what_a_table_lacks_is_all_named():
    pdb = app.PDBFile(str(DIPEPTIDE))
    system = system_of(pdb.topology)
    with pytest.raises(ValueError, match="lengths lacks") as error:
        mc.constrain(system, pdb.topology, lengths={("C", "H"): 0.109, ("O", "C"): 0.123})
    assert "('C', 'C'), for 1:ACE1:CH3 - 1:ACE1:C (particles 1-4)" in str(error.value)
    assert "('C', 'N'), for " in str(error.value)
    assert "('H', 'N'), for " in str(error.value)
    water_topology = topology_of("OHH", [(0, 1), (0, 2)])
    with pytest.raises(ValueError, match=r"lacks \('H', 'O', 'H'\), for A:MOL1:H1 - A:MOL1:O0 - A:MOL1:H2 \(particles"):
        mc.constrain(system_of(water_topology), water_topology, lengths={("O", "H"): 0.1})
    made = mc.constrain(system_of(water_topology), water_topology, rigidWater=False, lengths={("O", "H"): 0.1})
    assert made.bonds == 2


def test_a_ring_of_three_needs_no_angles():
    topology = topology_of("CCC", [(0, 1), (1, 2), (0, 2)])
    made = mc.constrain(system_of(topology), topology, angles="all", lengths={("C", "C"): 0.151})
    assert (made.bonds, made.angles, made.kept) == (3, 0, 0)


def test_functions_get_atoms():
    topology = topology_of("CCO", [(0, 1), (1, 2)])
    calls = []

    def lengths(*atoms):
        calls.append(tuple(atom.name for atom in atoms))
        return 1.5 * unit.angstrom if len(atoms) == 2 else 109.5 * unit.degrees

    system = system_of(topology)
    mc.constrain(system, topology, angles="all", lengths=lengths)
    assert calls == [("C0", "C1"), ("C1", "O2"), ("C0", "C1", "O2")]
    assert held(system)[0, 2] == pytest.approx(0.3 * np.sin(np.radians(109.5) / 2), rel=1e-12)


@pytest.mark.parametrize("lengths", ["positions", lambda first, second: 0.38])
def test_beads_without_elements(lengths):
    topology = topology_of([None] * 10, [(i, i + 1) for i in range(9)])
    system = system_of(topology)
    x = 0.38 * np.arange(10)[:, None] * [0.6, 0, 0.8] + 0.05 * (np.arange(10) % 2)[:, None]
    x = x if lengths == "positions" else 0.38 * np.arange(10)[:, None] * [0.6, 0, 0.8]
    made = mc.constrain(system, topology, lengths=lengths, positions=x)
    assert str(made) == "constrained 9 bonds and 0 angles"
    integrator = mc.RattleIntegrator(0.01)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(x)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(20)
    y = context.getState(positions=True).getPositions(asNumpy=True)._value
    expected = np.linalg.norm(np.diff(x, axis=0), axis=1)
    assert np.linalg.norm(np.diff(y, axis=0), axis=1) == pytest.approx(expected, rel=bound(1e-5, single=1e-5))
    with pytest.raises(ValueError, match=r"10 atoms without a covalent radius.* A:MOL1:B0 \(particle 0\)"):
        mc.constrain(system, topology, "covalent", lengths="positions", positions=x)
    with pytest.raises(ValueError, match=r"A:MOL1:B0 \(particle 0\) has no element to look up"):
        mc.constrain(system, topology, lengths={("C", "C"): 0.38})


def test_alpha_carbons_are_beads():
    """They have an element, and are further from each other than bonded atoms are."""
    topology = topology_of("CCC", [(0, 1), (1, 2)])
    system = system_of(topology)
    mc.constrain(system, topology, lengths="positions", positions=[[0, 0, 0], [0.38, 0, 0], [0.38, 0.38, 0]])
    assert held(system) == {(0, 1): 0.38, (1, 2): 0.38}


def test_four_sites_of_water_and_massless_atoms():
    """A virtual site has no element; a frozen atom has one."""
    symbols = ["O", "H", "H", None, "C", "H"]
    topology = topology_of(symbols, [(0, 1), (0, 2), (0, 3), (4, 5)])
    for bonds in ("hydrogens", "all", "covalent"):
        system = system_of(topology)
        for particle in (3, 4):
            system.setParticleMass(particle, 0)
        system.setVirtualSite(3, mm.ThreeParticleAverageSite(0, 1, 2, 0.78, 0.11, 0.11))
        x = np.concatenate([water(), [[0, 0.01, 0]], [[1, 0, 0], [1.1, 0, 0]]])
        made = mc.constrain(system, topology, bonds, lengths="positions", positions=x)
        assert set(held(system)) == {(0, 1), (0, 2), (1, 2)}
        left = 1 if bonds == "covalent" else 2
        assert made.leftOut == left
        assert f"left out {left} bond{'s' if left > 1 else ''} of virtual sites or massless atoms" in str(made)
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))


def test_water_that_is_rigid_already_stays():
    """With the shape of its model, which differs from rounded positions; other bonds are new."""
    x = np.concatenate([water().round(4), [[1, 0, 0], [1.1, 0, 0]]])
    topology = topology_of("OHHCH", [(0, 1), (0, 2), (3, 4)])
    system = system_of(topology)
    for i, j, length in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, HH)):
        system.addConstraint(i, j, length)
    made = mc.constrain(system, topology, lengths="positions", positions=x)
    assert (made.bonds, made.angles, made.kept, made.waters) == (1, 0, 3, 1)
    assert made.waterShape is None
    assert 0 < made.keptDeviation < 1e-3
    assert "kept 3 constraints that the System had, whose lengths differ by up to 0.0" in str(made)
    assert held(system) == pytest.approx({(0, 1): 0.09572, (0, 2): 0.09572, (1, 2): HH, (3, 4): 0.1}, abs=1e-12)
    again = mc.constrain(system, topology, lengths="positions", positions=x)
    assert (again.force, again.bonds, again.angles, again.kept) == (None, 0, 0, 4)


def test_an_angle_that_is_held_already():
    for degrees, is_right in ((104.52, True), (109.47, False)):
        topology = topology_of("OHH", [(0, 1), (0, 2)])
        system = system_of(topology)
        force = mc.ConstraintForce()
        force.addAngle(1, 0, 2, degrees * unit.degrees)
        system.addForce(force)
        if is_right:
            made = mc.constrain(system, topology, lengths=WATER)
            assert (made.bonds, made.angles, made.kept) == (2, 0, 1)
        else:
            with pytest.raises(ValueError, match=r"the ends of A:MOL1:H1 - A:MOL1:O0 - A:MOL1:H2.* are held at 0\.156"):
                mc.constrain(system, topology, lengths=WATER)


def test_what_moves_keeps_moving():
    topology = topology_of("CCCC", [(0, 1), (1, 2), (2, 3)])
    system = system_of(topology)
    force = mc.ConstraintForce()
    force.addDistance(1, 0, 0.3, rate=-0.01)
    force.addAngle(1, 2, 3, 1.0, rate=0.1)
    system.addForce(force)
    made = mc.constrain(system, topology, angles="all", lengths=lambda *atoms: 0.15 if len(atoms) == 2 else 0.25)
    assert (made.bonds, made.angles, made.kept) == (2, 1, 2)
    assert held(system) == {(0, 1): 0.3, (1, 2): 0.15, (2, 3): 0.15, (0, 2): 0.25}


def test_bonds_of_a_rigid_body_are_held_by_it():
    topology = topology_of("OHHCH", [(0, 1), (0, 2), (3, 4)])
    x = np.concatenate([water(), [[1, 0, 0], [1.1, 0, 0]]])
    system = system_of(topology)
    force = mc.ConstraintForce()
    force.addRigidBody([0, 1, 2], x[:3])
    system.addForce(force)
    mc.constrain(system, topology, lengths="positions", positions=x.round(4))
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(x)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(10)
    assert integrator.getNumDegreesOfFreedom() == 6 + 5


def test_harmonic_terms_of_new_constraints_are_replaced():
    topology = topology_of("OHH", [(0, 1), (0, 2)])
    system = system_of(topology)
    bonds, angles = mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    bonds.addBond(0, 1, 0.1, 1e5)
    bonds.addBond(0, 2, 0.1, 1e5)
    angles.addAngle(1, 0, 2, 1.8, 300)
    system.addForce(bonds)
    system.addForce(angles)
    mc.constrain(system, topology, lengths=WATER)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(water())
    assert context.getState(energy=True).getPotentialEnergy()._value == 0


@pytest.mark.parametrize("angles", [None, "hydrogens"])
def test_amoeba(angles):
    """Whose bonds are CustomBondForces. On the Reference platform: OpenMM's AmoebaMultipoleForce crashes in PoCL."""
    pdb = app.PDBFile(str(DIPEPTIDE))
    system = force_field("amoeba2018.xml").createSystem(pdb.topology)
    slow = ("AmoebaOutOfPlaneBendForce", "AmoebaInPlaneAngleForce")  # OpenMM takes ten seconds to set up each
    for f in reversed([f for f, force in enumerate(system.getForces()) if force.getName() in slow]):
        system.removeForce(f)
    with pytest.raises(ValueError, match="no HarmonicBondForce term for the bond"):
        mc.constrain(system, pdb.topology)
    made = mc.constrain(system, pdb.topology, "hydrogens", angles, lengths="positions", positions=pdb.positions)
    assert (made.bonds, made.angles) == (12, 6 + 3 if angles else 0)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(pdb.positions)
    context.setVelocitiesToTemperature(300, 1)
    energies = []
    for _ in range(10):
        integrator.step(2)
        state = context.getState(energy=True)
        energies.append((state.getPotentialEnergy() + state.getKineticEnergy())._value)
    assert np.ptp(energies) < 1  # without constraints 1.8


@since("8.5", "PythonForce")
@pytest.mark.platform
def test_a_potential_in_python():
    """Methane in a box, by a function of distances, from elements and positions alone."""
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
    topology = topology_of("CHHHH")
    system = system_of(topology)

    def compute(state):
        x = state.getPositions(asNumpy=True)._value
        bonds = x[1:] - x[0]
        stretch = np.linalg.norm(bonds, axis=1, keepdims=True) - 0.109
        pull = 1e5 * stretch * bonds / (stretch + 0.109)
        return 5e4 * np.sum(stretch**2), np.concatenate([[pull.sum(axis=0)], -pull])

    system.addForce(mm.PythonForce(compute))
    x = np.concatenate([[[0, 0, 0]], 0.109 * tetrahedron])
    made = mc.constrain(system, topology, "covalent", lengths="positions", positions=x * unit.nanometer)
    assert str(made) == "found 4 bonds by distance: 4 C-H; constrained 4 bonds and 0 angles"
    integrator = mc.RattleIntegrator(0.002)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(x)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(20)
    assert context.getState(energy=True).getPotentialEnergy()._value == pytest.approx(0, abs=bound(1e-4, single=1e-3))


def test_ions_and_lonely_hydrogens_are_mentioned():
    topology = topology_of(["O", "H", "H", "Na", "Ca", "H"])
    x = np.concatenate([water(), [[0, -0.24, 0], [0.5, 0, 0], [0.6, 0, 0]]])
    made = mc.constrain(system_of(topology), topology, "covalent", lengths="positions", positions=x)
    assert made.found == {"O-H": 2}
    assert str(made).endswith("took Ca, Na for ions without bonds; 1 hydrogen without a bond: A:MOL1:H5 (particle 5)")


@pytest.mark.long
def test_a_hundred_thousand_atoms():
    edge = 34
    places = np.array(np.meshgrid(*3 * [np.arange(edge) * 0.31])).reshape(3, -1).T[:33_000]
    x = np.concatenate([water()[None] + place for place in places]).reshape(-1, 3)
    topology = topology_of("OHH" * len(places))
    system = system_of(topology)
    made = mc.constrain(system, topology, "covalent", lengths="positions", positions=x)
    assert (made.waters, made.bonds, made.angles) == (33_000, 66_000, 33_000)


def test_lengths_far_from_the_positions_are_warned_of_once():
    """With the worst of them; without positions there is nothing to compare."""
    topology = topology_of("OHHOHHCH", [(0, 1), (0, 2), (3, 4), (3, 5), (6, 7)])
    x = np.concatenate([water(length=0.11), water([1, 0, 0], 0.1), [[2, 0, 0], [2, 0, 0.12]]])
    table = {**WATER, ("C", "H"): 0.1}
    with pytest.warns(UserWarning, match="4 lengths of 7 differ by more than 10 %") as caught:
        made = mc.constrain(system_of(topology), topology, lengths=table, positions=x)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "The worst: A:MOL1:C6 - A:MOL1:H7 (particles 6-7) would be 0.1 nm from each other, and are 0.12 nm" in text
    assert caught[0].filename == __file__
    assert made.bonds == 5


@pytest.mark.filterwarnings("error")
def test_lengths_near_the_positions_are_not():
    topology = topology_of("OHHCH", [(0, 1), (0, 2), (3, 4)])
    x = np.concatenate([water(length=0.1), [[2, 0, 0], [2, 0, 0.115]]])
    for lengths in ({**WATER, ("C", "H"): 0.109}, lambda *atoms: 0.109 if len(atoms) == 2 else 0.16):
        mc.constrain(system_of(topology), topology, lengths=lengths, positions=x)
    system = system_of(topology)
    force = mc.ConstraintForce()
    force.addDistance(3, 4, 0.115, rate=0.1)  # it keeps what it has
    system.addForce(force)
    mc.constrain(system, topology, lengths={**WATER, ("C", "H"): 0.3}, positions=x)
    mc.constrain(system_of(topology), topology, lengths={**WATER, ("C", "H"): 0.3})
