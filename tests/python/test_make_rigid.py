# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""makeRigid: what it takes out of Forces, and that forces on bodies and on all other atoms stay as they were."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, CHARMM36, force_field, villin_file, villin_system
from openmm import app, unit
from peptide import ring_in_water
from platforms import bound, under_test

import openmmconstraints as mc

FORCE_FIELDS = {"amber14": AMBER14, "charmm36": CHARMM36}
ROUNDING = 1e-9  # of forces, relative: they are computed in another order


@pytest.fixture(scope="module")
def model():
    topology, positions = ring_in_water()
    x = np.array(positions.value_in_unit(unit.nanometer))
    x = x - x.min(axis=0) + 0.1
    topology.setPeriodicBoxVectors(np.diag(x.max(axis=0) + 0.3))
    residues = list(topology.residues())
    atoms = [[atom.index for atom in residue.atoms()] for residue in residues]
    return SimpleNamespace(topology=topology, x=x, atoms=atoms, residues=residues)


def make_system(model, name="amber14", method=app.PME, constraints=app.HBonds, **options):
    options = {"nonbondedCutoff": 0.5, "constraints": constraints, **options}
    return force_field(*FORCE_FIELDS[name]).createSystem(model.topology, nonbondedMethod=method, **options)


def forces_at(system, x, platform="Reference"):
    """Forces without those of constraints."""
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform(platform))
    context.setPositions(x)
    return context.getState(forces=True).getForces(asNumpy=True)._value


def of_class(system, kind):
    return next(force for force in system.getForces() if isinstance(force, kind))


def excluded(system):
    force = of_class(system, mm.NonbondedForce)
    return [tuple(force.getExceptionParameters(k)[:2]) for k in range(force.getNumExceptions())]


def run(system, x, steps=20, integrator=None, platform=None):
    integrator = integrator or mc.RattleIntegrator(0.0005)
    integrator.setConstraintTolerance(1e-8)
    context = mm.Context(system, integrator, platform or mm.Platform.getPlatform("Reference"))
    context.setPositions(x)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(steps)
    return context, integrator


def positions(context):
    return context.getState(positions=True).getPositions(asNumpy=True)._value


@pytest.mark.parametrize("method", [app.PME, app.CutoffPeriodic, app.NoCutoff], ids=str)
@pytest.mark.parametrize("name", ["amber14", "charmm36"])
def test_forces_on_bodies_and_on_others_stay(model, name, method):
    groups = [model.atoms[0] + model.atoms[1] + model.atoms[2], model.atoms[4]]  # what is beside them is flexible
    before = make_system(model, name, method)
    expected = forces_at(before, model.x)
    system = make_system(model, name, method)
    made = mc.makeRigid(system, groups, model.x)
    found = forces_at(system, model.x)
    size = np.abs(expected).max()
    inside = np.concatenate(groups)
    beside = np.setdiff1d(np.arange(len(model.x)), inside)
    assert found[beside] == pytest.approx(expected[beside], abs=ROUNDING * size)
    for group in groups:
        for moment in (lambda f: f, lambda f: np.cross(model.x, f)):
            sums = [moment(forces)[group].sum(axis=0) for forces in (found, expected)]
            assert sums[0] == pytest.approx(sums[1], abs=10 * ROUNDING * size)
    assert np.abs(found[inside] - expected[inside]).max() > 100  # their bonds are gone
    assert excluded(system) == excluded(before)
    assert made.bodies == 2
    assert made.atoms == len(inside)
    assert made.zeroed > 10
    names = {"HarmonicBondForce", "HarmonicAngleForce", "PeriodicTorsionForce"}
    names |= {"CMAPTorsionForce", "CustomTorsionForce"} if name == "charmm36" else set()
    assert names <= set(made.removed)
    assert made.untreated == ()


def internal(particles, groups):
    return any(set(particles) <= set(group) for group in groups)


def test_terms_within_a_body_are_gone_and_no_others(model):
    groups = [model.atoms[1] + model.atoms[2]]
    system = make_system(model)
    bonds, angles = of_class(system, mm.HarmonicBondForce), of_class(system, mm.HarmonicAngleForce)
    torsions, nonbonded = of_class(system, mm.PeriodicTorsionForce), of_class(system, mm.NonbondedForce)
    bonds.setForceGroup(3)
    bonds.setName("bonds")

    def listed():
        return (
            [tuple(bonds.getBondParameters(k)[:2]) for k in range(bonds.getNumBonds())],
            [tuple(angles.getAngleParameters(k)[:3]) for k in range(angles.getNumAngles())],
            [tuple(torsions.getTorsionParameters(k)[:4]) for k in range(torsions.getNumTorsions())],
        )

    before = listed()
    made = mc.makeRigid(system, groups, model.x)
    for old, new in zip(before, listed(), strict=True):  # by references from before
        assert new == [particles for particles in old if not internal(particles, groups)]
        assert len(new) < len(old)
    assert made.removed["bonds"] == len(before[0]) - bonds.getNumBonds()
    assert bonds.getForceGroup() == 3
    for k in range(nonbonded.getNumExceptions()):
        first, second, charge, _, epsilon = nonbonded.getExceptionParameters(k)
        if internal((first, second), groups):
            assert charge._value == 0
            assert epsilon._value == 0
    text = str(made)
    for words in (f"of {len(groups[0])} atoms", "of bonds", "1-4 interactions to zero"):
        assert words in text
    assert made.force.getNumRigidBodies() == 1
    again = mc.makeRigid(system, [model.atoms[4]], model.x)
    assert "bonds" in again.removed


def test_a_rigid_part_of_a_flexible_molecule_keeps_its_shape_and_the_energy(model):
    system = make_system(model, method=app.NoCutoff)
    group = model.atoms[0] + model.atoms[1]
    mc.makeRigid(system, [group], model.x)
    context, integrator = run(system, model.x, 0, platform=under_test())
    mc.minimize(context, 100)
    context.setVelocitiesToTemperature(300, 1)
    assert integrator.getNumDegreesOfFreedom() < 3 * len(model.x) - 3 * len(group) + 6
    start = context.getState(energy=True)
    start = (start.getKineticEnergy() + start.getPotentialEnergy())._value
    integrator.step(200)
    end = context.getState(energy=True)
    assert end.getKineticEnergy()._value > 1
    assert (end.getKineticEnergy() + end.getPotentialEnergy())._value == pytest.approx(start, abs=bound(2, single=10))
    now = positions(context)
    for i, j in combinations(group[::4], 2):
        expected = np.linalg.norm(model.x[i] - model.x[j])
        assert np.linalg.norm(now[i] - now[j]) == pytest.approx(expected, rel=bound(1e-6, single=1e-5))


def test_groups_that_share_two_atoms_are_hinged(model):
    named = ({atom.name: atom.index for atom in residue.atoms()} for residue in model.residues)
    backbone = next(names for names in named if "CG" in names)
    shared = [backbone["CA"], backbone["CB"]]
    side = [i for name, i in backbone.items() if name not in ("N", "H", "HA", "C", "O")]
    main = [backbone[name] for name in ("N", "H", "HA", "C", "O")] + shared
    system = make_system(model, constraints=None)
    made = mc.makeRigid(system, [side, main], model.x)
    assert made.atoms == len(backbone)
    torsions = of_class(system, mm.PeriodicTorsionForce)
    listed = [set(torsions.getTorsionParameters(k)[:4]) for k in range(torsions.getNumTorsions())]
    across = {backbone["N"], backbone["CA"], backbone["CB"], backbone["CG"]}
    assert across in listed
    context, _ = run(system, model.x)
    now = positions(context)
    for group in (side, main):
        for i, j in combinations(group, 2):
            expected = np.linalg.norm(model.x[i] - model.x[j])
            assert np.linalg.norm(now[i] - now[j]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("triclinic", [False, True])
def test_wrapped_positions_give_the_same_shape(model, triclinic):
    box = 4 * np.eye(3)
    if triclinic:
        box[1, 0], box[2, 0], box[2, 1] = 1.5, -1.2, 1.8
    topology = model.topology
    topology.setPeriodicBoxVectors(box)
    system = make_system(model, constraints=None)
    bonded = [f for f in system.getForces() if isinstance(f, (mm.HarmonicBondForce, mm.HarmonicAngleForce))]
    bonded.append(of_class(system, mm.PeriodicTorsionForce))
    for force in bonded:
        force.setUsesPeriodicBoundaryConditions(True)
    group = model.atoms[0] + model.atoms[1]
    whole = model.x + (box.sum(axis=0) - model.x[group].mean(axis=0))
    wrapped = whole.copy()
    for axis in (2, 1, 0):
        wrapped -= np.floor(wrapped[:, axis : axis + 1] / box[axis, axis]) * box[axis]
    assert np.abs(wrapped - whole).max() > 1
    made = mc.makeRigid(system, [group], wrapped)
    assert all(force.usesPeriodicBoundaryConditions() for force in bonded)
    shape = np.array(made.force.getRigidBodyParameters(0)[1]._value)
    lengths = [np.linalg.norm(y[3] - y[:20], axis=1) for y in (shape, whole[group])]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-12)
    assert made.force.usesPeriodicBoundaryConditions()
    context, _ = run(system, wrapped)
    assert np.isfinite(positions(context)).all()
    whole_system = make_system(model, constraints=None)
    assert not mc.makeRigid(whole_system, [group], whole).force.usesPeriodicBoundaryConditions()


def test_constraints_with_other_lengths_go(model):
    x = model.x.copy()
    hydrogens = [a.index for a in model.residues[0].atoms() if a.element is app.element.hydrogen]
    system = make_system(model)
    count = system.getNumConstraints()
    heavy = next(
        (i if j == hydrogens[0] else j)
        for i, j, _ in map(system.getConstraintParameters, range(count))
        if hydrogens[0] in (i, j)
    )
    x[hydrogens[0]] = x[heavy] + 1.06 * (x[hydrogens[0]] - x[heavy])
    made = mc.makeRigid(system, [model.atoms[0]], x)
    assert made.constraints == count - system.getNumConstraints() >= 1
    assert "constraint" in str(made)
    run(system, x)


def test_atoms_and_sites_of_a_topology():
    """A water of four sites: its virtual site follows, and is left out."""
    modeller = app.Modeller(app.Topology(), [])
    field = force_field("amber14/tip4pew.xml")
    modeller.addSolvent(field, boxSize=mm.Vec3(1.9, 1.9, 1.9), model="tip4pew")
    topology = modeller.topology
    system = field.createSystem(topology, nonbondedMethod=app.PME, nonbondedCutoff=0.9, rigidWater=False)
    water = next(topology.residues())
    made = mc.makeRigid(system, [water], modeller.positions)
    assert made.atoms == 3
    again = mc.makeRigid(
        system, [list(residue.atoms()) for residue in list(topology.residues())[1:3]], modeller.positions
    )
    assert (again.bodies, again.atoms) == (2, 6)
    run(system, modeller.positions, 2)
    last = [atom.index for atom in water.atoms()][-1]
    with pytest.raises(ValueError, match=rf"particle {last} is a virtual site and follows particle \d+, which is not"):
        mc.makeRigid(system, [[last, last + 1]], modeller.positions)


def test_what_cannot_be_treated_is_named_and_stays(model):
    system = make_system(model, method=app.NoCutoff)
    group = model.atoms[1]
    compound = mm.CustomCompoundBondForce(2, "distance(p1,p2)")
    compound.addBond(group[:2], [])
    derivative = mm.CustomBondForce("k*r")
    derivative.addGlobalParameter("k", 1)
    derivative.addEnergyParameterDerivative("k")
    derivative.addBond(group[0], group[1], [])
    for force in (compound, derivative, mm.CMMotionRemover(), mm.MonteCarloBarostat(1, 300)):
        system.addForce(force)
    nonbonded = of_class(system, mm.NonbondedForce)
    nonbonded.addGlobalParameter("scale", 1)
    pairs = (nonbonded.getExceptionParameters(k) for k in range(nonbonded.getNumExceptions()))
    shifted = next(k for k, e in enumerate(pairs) if internal(e[:2], [group]) and e[4]._value > 0)
    nonbonded.addExceptionParameterOffset("scale", shifted, 0.1, 0, 0)
    made = mc.makeRigid(system, [group], model.x)
    assert made.untreated == ("NonbondedForce", "CustomCompoundBondForce", "CustomBondForce")
    assert "CustomCompoundBondForce, CustomBondForce" in str(made)
    assert derivative.getNumBonds() == 1
    assert nonbonded.getExceptionParameters(shifted)[4]._value > 0


@pytest.mark.parametrize("name", ["amber14", "charmm36"])  # CHARMM's has a CustomNonbondedForce, too
def test_excluded_pairs_have_no_forces_on_anything(model, name):
    groups = [model.atoms[0] + model.atoms[1]]
    system, other = (make_system(model, name, app.CutoffPeriodic) for _ in range(2))
    plain, made = mc.makeRigid(system, groups, model.x), mc.makeRigid(other, groups, model.x, excludePairs=True)
    size = len(groups[0])
    assert made.excluded == size * (size - 1) // 2 - sum(internal(pair, groups) for pair in excluded(system))
    assert plain.excluded == 0
    assert f"excluded {made.excluded:,} pairs" in str(made)
    expected, found = forces_at(system, model.x), forces_at(other, model.x)
    beside = np.setdiff1d(np.arange(len(model.x)), groups[0])
    assert found[beside] == pytest.approx(expected[beside], abs=ROUNDING * np.abs(expected).max())
    total = expected[groups[0]].sum(axis=0)
    assert found[groups[0]].sum(axis=0) == pytest.approx(total, abs=10 * ROUNDING * np.abs(expected).max())
    for force in other.getForces():
        if isinstance(force, mm.CustomNonbondedForce):
            assert force.getNumExclusions() == of_class(other, mm.NonbondedForce).getNumExceptions()


def test_pairs_beside_generalized_born_cannot_be_excluded(model):
    system = make_system(model, method=app.NoCutoff)
    born = mm.CustomGBForce()
    for _ in model.x:
        born.addParticle([])
    born.addExclusion(0, 1)
    system.addForce(born)
    with pytest.raises(ValueError, match="CustomGBForce"):
        mc.makeRigid(system, [[0, 1, 2]], model.x, excludePairs=True)


@pytest.mark.long
def test_a_rigid_protein_in_water():
    pdb = villin_file()
    options = {"nonbondedMethod": app.PME, "constraints": app.HBonds, "removeCMMotion": False}
    before, system = (villin_system(**options) for _ in range(2))
    protein = [atom for atom in pdb.topology.atoms() if atom.residue.name not in ("HOH", "Cl")]
    made = mc.makeRigid(system, [protein], pdb.positions)
    assert made.atoms == 582
    assert of_class(system, mm.HarmonicBondForce).getNumBonds() == 0
    expected, found = (forces_at(s, pdb.positions, "CPU") for s in (before, system))
    scale = np.abs(expected).max()
    assert found[582:] == pytest.approx(expected[582:], abs=1e-5 * scale)  # of single precision
    assert found[:582].sum(axis=0) == pytest.approx(expected[:582].sum(axis=0), abs=1e-4 * scale)
    _, integrator = run(system, pdb.positions, 5, platform=mm.Platform.getPlatform("CPU"))
    waters = sum(residue.name == "HOH" for residue in pdb.topology.residues())
    ions = system.getNumParticles() - 582 - 3 * waters
    assert integrator.getNumDegreesOfFreedom() == 6 + 6 * waters + 3 * ions


def test_many_bodies_of_beads():
    """Beads without bonds: no term to remove, the same forces."""
    rng = np.random.default_rng(3)
    shape = rng.normal(size=(20, 3)) * 0.2
    centres = np.array(np.meshgrid(*3 * [np.arange(3) * 2.0])).reshape(3, -1).T
    x = (centres[:, None, :] + shape).reshape(-1, 3)
    system = mm.System()
    beads = mm.CustomNonbondedForce("exp(-2*r)")
    for _ in x:
        system.addParticle(10)
        beads.addParticle([])
    system.addForce(beads)
    groups = np.arange(len(x)).reshape(-1, 20)
    made = mc.makeRigid(system, groups, x * unit.nanometer)
    assert str(made) == "made 27 rigid bodies of 540 atoms"
    _, integrator = run(system, x)
    assert integrator.getNumDegreesOfFreedom() == 27 * 6


def chain_of_beads(count, box, bonds=True):
    """A straight chain with bonds of 0.11 nm, whole, in a periodic box."""
    system = mm.System()
    system.setDefaultPeriodicBoxVectors(*(box * np.eye(3)))
    pairs, springs = mm.NonbondedForce(), mm.HarmonicBondForce()
    pairs.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    pairs.setCutoffDistance(0.4)
    for i in range(count):
        system.addParticle(12)
        pairs.addParticle(0.1 * (-1) ** i, 0.2, 0.1)
        if bonds and i > 0:
            springs.addBond(i - 1, i, 0.11, 1000)
            pairs.addException(i - 1, i, 0, 1, 0)
    system.addForce(pairs)
    system.addForce(springs)
    return system, np.array([0.3, 0.5, 0.7]) + 0.11 * np.arange(count)[:, None] * [0.9, 0.3, 0.3]


def shapes_of(made):
    return [np.array(made.force.getRigidBodyParameters(b)[1]._value) for b in range(made.bodies)]


@pytest.mark.parametrize("bonds", [True, False])
def test_whole_positions_stay_as_they_are_however_long_the_body_is(bonds):
    system, x = chain_of_beads(15, 2, bonds)
    restraint = mm.HarmonicBondForce()
    restraint.addBond(0, 14, 1.5, 10)  # longer than half the box
    system.addForce(restraint)
    for _ in range(2):  # the second time bonds are gone
        made = mc.makeRigid(system, [range(15)], x)
        assert shapes_of(made)[0] == pytest.approx(x, abs=1e-12)
        assert not made.force.usesPeriodicBoundaryConditions()


def test_a_molecule_beside_another_comes_next_to_it():
    system, x = chain_of_beads(14, 2)
    springs, pairs = of_class(system, mm.HarmonicBondForce), of_class(system, mm.NonbondedForce)
    springs.setBondParameters(6, 6, 7, 0.11, 0)
    cut = mm.HarmonicBondForce()
    for k in range(springs.getNumBonds()):
        if k != 6:
            cut.addBond(*springs.getBondParameters(k))
    system.removeForce(1)
    system.addForce(cut)
    pairs.setExceptionParameters(6, 0, 2, 0, 1, 0)
    shifted = x.copy()
    shifted[:3] += [2, 0, 0]  # a part of the first molecule
    shape = shapes_of(mc.makeRigid(system, [range(14)], shifted))[0]
    assert np.linalg.norm(shape[1:] - shape[:-1], axis=1) == pytest.approx(np.linalg.norm(x[1:] - x[:-1], axis=1))


def test_groups_with_three_atoms_in_common_are_one_body(model):
    atoms = model.atoms[1]
    system, other = make_system(model), make_system(model)
    made = mc.makeRigid(system, [atoms[:12], atoms[7:], model.atoms[3]], model.x)
    whole = mc.makeRigid(other, [atoms, model.atoms[3]], model.x)
    assert made.bodies == whole.bodies == 2
    assert made.removed == whole.removed
    assert made.zeroed == whole.zeroed


def test_terms_with_a_global_parameter_stay(model):
    system = make_system(model, method=app.NoCutoff)
    first, second, third = model.atoms[1][:3]
    scaled, elsewhere = mm.CustomBondForce("scale*r"), mm.CustomBondForce("scale*r")
    for force, particle in ((scaled, second), (elsewhere, model.atoms[4][0])):
        force.addGlobalParameter("scale", 1)
        force.addBond(first, particle, [])
        system.addForce(force)
    elsewhere.setName("elsewhere")
    made = mc.makeRigid(system, [[first, second, third]], model.x)
    assert made.untreated == ("CustomBondForce",)
    assert scaled.getNumBonds() == elsewhere.getNumBonds() == 1


def test_pairs_of_a_body_that_meets_its_own_images_cannot_be_excluded():
    system, x = chain_of_beads(15, 1.6)
    with pytest.raises(ValueError, match=r"NonbondedForce: a body is up to 1\.\d+ nm long, and interacts with its own"):
        mc.makeRigid(system, [range(15)], x, excludePairs=True)
    system, x = chain_of_beads(15, 3)
    mc.makeRigid(system, [range(15)], x, excludePairs=True)


@pytest.mark.long
def test_set_up_is_linear_in_the_size_of_a_body():
    """So many constraints and atoms would take minutes if each constraint read the whole body."""
    system, x = chain_of_beads(60_000, 1e5, bonds=False)
    for i in range(0, 60_000, 2):
        system.addConstraint(i, i + 1, float(np.linalg.norm(x[i + 1] - x[i])))
    assert mc.makeRigid(system, [range(60_000)], x).constraints == 0
    made = mc.makeRigid(system, np.arange(60_000).reshape(-1, 3), x)  # nor may each group read all others
    assert made.bodies == 20_000


@pytest.mark.parametrize(
    ("groups", "error", "match"),
    [
        ([], ValueError, "no group"),
        ([[]], ValueError, "has no atoms"),
        (None, TypeError, "not NoneType"),
        ([0, 1, 2], TypeError, r"groups is a list of groups of atoms.*not int"),
        (["012"], TypeError, "not str"),
        ([[0, 1.5]], TypeError, "not float"),
        ([[True, False]], TypeError, "not a mask"),
        ([[0, 100000]], ValueError, "no particle 100000"),
        ([[-1, 0]], ValueError, "no particle -1"),
    ],
)
def test_mistakes_change_nothing(model, groups, error, match):
    system = make_system(model, method=app.NoCutoff)
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(error, match=match):
        mc.makeRigid(system, groups, model.x)
    assert mm.XmlSerializer.serialize(system) == before


def test_positions_that_do_not_fit(model):
    system = make_system(model, method=app.NoCutoff)
    with pytest.raises(ValueError, match=r"makeRigid: there are 3 positions"):
        mc.makeRigid(system, [[0, 1, 2]], model.x[:3])
    with pytest.raises(TypeError, match=r"makeRigid: positions must be lengths, not a Quantity in kelvin"):
        mc.makeRigid(system, [[0, 1, 2]], model.x * unit.kelvin)
    x = model.x.copy()
    x[2, 1] = np.nan
    with pytest.raises(ValueError, match="the position of particle 2"):
        mc.makeRigid(system, [[0, 1, 2]], x)
    mc.makeRigid(system, [[0, 1, 3]], x)


def test_groups_that_overlap_are_merged_and_the_summary_says_which(model):
    """Those that are equal, or one in another, whatever their size; beside them is a hinge."""
    first, second = model.atoms[0], model.atoms[1]
    pair = second[:2]
    groups = [first, pair, second[3:6], first + second[:1], pair, pair[::-1], second[4:6]]
    system = make_system(model)
    made = mc.makeRigid(system, groups, model.x)
    assert sorted(made.merged) == [(0, 3), (1, 4, 5), (2, 6)]
    assert made.bodies == 3
    for numbers in ("[0 and 3]", "[1, 4 and 5]", "[2 and 6]"):
        assert numbers in str(made)
    assert "merged groups that overlap" in str(made)
    run(system, model.x)
    assert mc.makeRigid(make_system(model), [first, second], model.x).merged == ()


def test_a_body_that_is_there_already_is_refused_by_name(model):
    system = make_system(model)
    for _ in range(2):
        made = mc.makeRigid(system, [model.atoms[0][:4]], model.x)
    index = [force.getName() for force in system.getForces()].index(made.force.getName())
    with pytest.raises(mm.OpenMMException, match=f"its particles are those of rigid body 0 .* index {index}"):
        mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
