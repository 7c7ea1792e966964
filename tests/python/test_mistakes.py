# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What one types by mistake late at night: the exception says what is wrong, and what to type."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

REFERENCE = mm.Platform.getPlatform("Reference")


class File:
    """As PDBFile: it has a topology and positions."""

    def __init__(self, topology, positions):
        self.topology, self.positions = topology, positions


@pytest.fixture
def model():
    """Two residues of two atoms each: (System, Topology, positions)."""
    system, topology = mm.System(), app.Topology()
    chain = topology.addChain("A")
    bonds = mm.HarmonicBondForce()
    for name in ("ONE", "TWO"):
        residue = topology.addResidue(name, chain)
        atoms = [topology.addAtom(f"C{i}", app.element.carbon, residue) for i in range(2)]
        topology.addBond(*atoms)
        bonds.addBond(*(system.addParticle(12) for _ in atoms), 0.15, 1e5)
    system.addForce(bonds)
    return system, topology, np.array([[0, 0, 0], [0.15, 0, 0], [0.5, 0, 0], [0.65, 0, 0]])


@pytest.fixture
def simulation(model):
    system, topology, x = model
    made = app.Simulation(topology, system, mc.RattleLangevinIntegrator(300, 1, 0.001), REFERENCE)
    made.context.setPositions(x)
    return made


def test_residues_and_chains_stand_for_their_atoms(model):
    """A residue has an index, too, that of no particle."""
    system, topology, x = model
    _, second = topology.residues()
    for given in (second, [second], [2, *second.atoms()]):
        assert mc.freeze(mm.XmlSerializer.clone(system), given).atoms == (2, 3)
    assert mc.freeze(mm.XmlSerializer.clone(system), topology.chains()).atoms == (0, 1, 2, 3)
    for groups in ([second], [[second]], topology.residues()):
        made = mc.makeRigid(mm.XmlSerializer.clone(system), groups, x)
        assert made.force.getRigidBodyParameters(made.bodies - 1)[0] == (2, 3)
    assert mc.makeRigid(system, [[*topology.residues()]], x).atoms == 4


@pytest.mark.parametrize(
    ("atoms", "error", "match"),
    [
        ([], ValueError, "freeze: there are no atoms to freeze. Look at the selection"),
        (3, TypeError, r"freeze: atoms are a list.*not 3. Type, for example, \[atom for atom in topology.atoms\(\) if"),
        ("LIG", TypeError, r"freeze: atoms are a list.*not 'LIG'. Type"),
        (None, TypeError, r"freeze: atoms are a list.*not None. Type"),
    ],
)
def test_a_selection_that_is_none_is_refused(model, atoms, error, match):
    with pytest.raises(error, match=match):
        mc.freeze(model[0], atoms)


def test_what_has_a_part_that_was_meant_is_told_its_name(model, simulation):
    system, topology, x = model
    pdb = File(topology, x)
    with pytest.raises(
        TypeError, match=r"minimize: an openmm.Context is needed, as .*, not Simulation: give .*\.context\."
    ):
        mc.minimize(simulation)
    with pytest.raises(TypeError, match=r"computePressure: an openmm.Context is needed.*\.context\."):
        mc.computePressure(simulation)
    for function, arguments in (
        (mc.constrain, (topology,)),
        (mc.setTopology, (topology,)),
        (mc.moveConstraints, ()),
        (mc.freeze, ([0],)),
        (mc.makeRigid, ([[0, 1]], x)),
    ):
        name = function.__name__
        with pytest.raises(
            TypeError, match=rf"{name}: an openmm.System is needed, as .*, not Simulation: give .*\.system\."
        ):
            function(simulation, *arguments)
        with pytest.raises(TypeError, match=rf"{name}: an openmm.System is needed.*not Topology: make one: forcef"):
            function(topology, *arguments)
    for function in (mc.constrain, mc.setTopology, mc.moveConstraints):
        name = function.__name__
        with pytest.raises(
            TypeError, match=rf"{name}: an openmm.app.Topology is needed, as .*, not File: give .*\.topology"
        ):
            function(system, pdb)
    with pytest.raises(
        TypeError, match=r"makeRigid: positions must be .*, not File: give its attribute, \.positions\."
    ):
        mc.makeRigid(system, [[0, 1]], pdb)
    with pytest.raises(TypeError, match=r"makeRigid: .*not a Context: give getState\(positions=True\)"):
        mc.makeRigid(system, [[0, 1]], simulation.context)


@pytest.mark.parametrize(
    ("positions", "error", "match"),
    [
        (5, TypeError, "must be an array of shape .* not int"),
        ([0.0, 0.1, 0.2], TypeError, "must be an array of shape .* not float"),
        ("start.pdb", TypeError, "must be an array of shape .* not str"),
        (5 * unit.nanometer, TypeError, "must be an array of shape .* not int"),
        ([[0, 0], [1, 1]], ValueError, "a row has 2 numbers"),
        ([[1, 2, 3] * unit.kelvin], TypeError, "must be lengths, not a Quantity in kelvin"),
        ([[1, 2, 3], [1, 2]], ValueError, "a row has 2 numbers"),
    ],
)
def test_positions_that_are_none(positions, error, match):
    for use in (mc.ConstraintForce().addRigidBody, lambda atoms, x: mc.makeRigid(two_particles(), [atoms], x)):
        with pytest.raises(error, match=match):
            use([0, 1], positions)


def two_particles():
    system = mm.System()
    for _ in range(2):
        system.addParticle(12)
    return system


@pytest.mark.parametrize(
    ("interval", "error"), [(0, ValueError), (-5, ValueError), (2.5, ValueError), ("10", TypeError), (None, TypeError)]
)
def test_intervals_of_reporters(interval, error, tmp_path):
    for kind in (mc.BlueMoonReporter, mc.ConstraintStateReporter):
        with pytest.raises(error, match=rf"{kind.__name__}: reportInterval must be a whole number.*not {interval!r}"):
            kind(str(tmp_path / "log.csv"), interval)
    assert not list(tmp_path.iterdir()), "no file is begun"


def test_positions_in_angstroms_are_noticed_by_bonds_ten_times_too_long(model):
    system, topology, x = model
    before = mm.XmlSerializer.serialize(system)
    with pytest.raises(
        ValueError, match=r"bonds of the groups are 10 times as long .* Give positions\*openmm.unit.ang"
    ):
        mc.makeRigid(system, topology.residues(), 10 * x)
    assert mm.XmlSerializer.serialize(system) == before
    assert mc.makeRigid(system, topology.residues(), 10 * x * unit.angstrom).bodies == 2


def test_records_of_what_was_done_are_one_line(model):
    """However many atoms there are."""
    system, topology, x = model
    made = mc.makeRigid(mm.XmlSerializer.clone(system), topology.residues(), x)
    frozen = mc.freeze(mm.XmlSerializer.clone(system), range(4))
    held = mc.constrain(system, topology, "all", lengths="positions", positions=x)
    assert [repr(made), repr(frozen), repr(held)] == [f"Rigid({made})", f"Frozen({frozen})", f"Constrained({held})"]
    assert repr(frozen) == "Frozen(froze 4 atoms)"


def test_a_topology_without_bonds_holds_nothing_which_is_said(model):
    system, topology, _ = model
    bare = app.Topology()
    residue = bare.addResidue("ONE", bare.addChain())
    for atom in topology.atoms():
        bare.addAtom(atom.name, atom.element, residue)
    before = mm.XmlSerializer.serialize(system)
    for bonds in ("all", "hydrogens"):
        with pytest.raises(ValueError, match=r"no bonds, the System has 2. Give the topology .* topology.addBond"):
            mc.constrain(system, bare, bonds)
    assert mc.constrain(system, bare, None) is None
    assert mm.XmlSerializer.serialize(system) == before


@pytest.mark.parametrize(
    ("bonds", "here"),
    [
        (app.HBonds, 'HBonds of OpenMM type bonds="hydrogens"'),
        ("AllBonds", 'AllBonds of OpenMM type bonds="all"'),
        (app.HAngles, 'HAngles of OpenMM type bonds="all", angles="hydrogens"'),
    ],
)
def test_names_of_openmm_for_sets_of_constraints_are_translated(model, bonds, here):
    with pytest.raises(ValueError, match=here):
        mc.constrain(*model[:2], bonds)


def test_forces_that_helpers_return_outlive_the_last_name_of_their_system(model):
    """A Force that a System has deleted crashes whatever asks it, a notebook too."""
    system, topology, x = model

    def clone():
        return mm.XmlSerializer.clone(system)

    held = mc.constrain(clone(), topology)
    bodies = mc.makeRigid(clone(), topology.residues(), x).force
    anchored = clone()
    anchored.addConstraint(0, 1, 0.15)
    frozen = mc.freeze(anchored, [0]).force
    del anchored
    gc.collect()
    assert [held.getNumDistances(), bodies.getNumRigidBodies(), frozen.getNumDistances()] == [2, 2, 1]
    for other in (copy.deepcopy(held), pickle.loads(pickle.dumps(held))):
        assert other.getNumDistances() == 2
        assert not hasattr(other, "_system")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"integrator": "Rattle"}, r"Health: integrator is one .*, such as RattleIntegrator.*not 'Rattle'"),
        ({"platform": 3}, r'platform is a name such as "CPU", or itself, as openmm.Platform\..*, not 3'),
        ({"steps": "3"}, "Health: steps must be a whole number, not '3'"),
    ],
)
def test_arguments_of_health(model, arguments, match):
    system, topology, x = model
    with pytest.raises(TypeError, match=match):
        mc.Health(system, x, topology=topology, **arguments)
    with pytest.raises(TypeError, match=r"Health: an openmm.System is needed.*, not Topology"):
        mc.Health(topology)


@pytest.mark.parametrize("groups", [[0, 1], {0: 1}, "01", 2, [(0, 1.5)], [(0, 1, 2)], None])
def test_groups_that_are_no_pairs(groups):
    for make in (
        lambda: mc.RattleMTSIntegrator(0.004, groups),
        lambda: mc.RattleMTSLangevinIntegrator(300, 1, 0.004, groups=groups),
    ):
        with pytest.raises(
            TypeError, match=r"Integrator: groups must be a list of pairs .*\[\(1, 1\), \(0, 2\)\], not"
        ):
            make()
    pairs = np.array([[1, 1], [0, 2]])
    assert mc.RattleMTSIntegrator(0.004, pairs).getGroups() == ((1, 1), (0, 2))


@pytest.mark.filterwarnings("error")
def test_a_reporter_with_a_misspelt_argument_leaves_no_second_error(tmp_path):
    with pytest.raises(TypeError, match="constrainterror"):
        mc.ConstraintStateReporter(str(tmp_path / "log.csv"), 10, constrainterror=True)
    gc.collect()


# ---- free energies -----------------------------------------------------------------------------------------------


def test_coordinates_take_atoms_of_a_topology(model):
    _, topology, _ = model
    atoms = list(topology.atoms())
    assert fe.Distance(atoms[0], atoms[3]) == fe.Distance(0, 3)
    assert fe.CentroidDistance(atoms[:2], [2, 3]) == fe.CentroidDistance((0, 1), (2, 3))
    assert fe.CentroidDistance(*topology.residues()) == fe.CentroidDistance((0, 1), (2, 3))
    assert fe.Dihedral(*map(np.int64, range(4))).label == "dihedral 0-1-2-3"


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: fe.Distance("C1", "C2"), TypeError, r"Distance: particles are indices, or atoms .*, not 'C1'\."),
        (lambda: fe.Distance(0, -1), ValueError, "Distance: there is no particle -1"),
        (lambda: fe.Dihedral(0, 1, 2, 1), ValueError, "Dihedral: a particle is given twice: 0, 1, 2, 1"),
        (lambda: fe.CentroidDistance(0, 1), TypeError, "CentroidDistance: a group is a list of indices.*, not 0"),
        (lambda: fe.CentroidDistance([0], []), ValueError, "CentroidDistance: a group has no particles. Look at"),
    ],
)
def test_coordinates_that_cannot_be(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        (0.3, TypeError, r"values must be a list or an array, not 0.3. Type \[0.3\]"),
        (0.3 * unit.nanometer, TypeError, "values must be a list or an array"),
        ("0.3", TypeError, "values must be a list or an array"),
        ([0.3, "0.4"], TypeError, "each value must be a number .in nanometer. or a Quantity .*, not str"),
        ([1, 2] * unit.kelvin, TypeError, "each value must be .*, not a Quantity in kelvin"),
        ([0.3, np.nan], ValueError, "a value is nan, which is not finite"),
    ],
)
def test_values_that_are_none(values, error, match):
    with pytest.raises(error, match=rf"distance 0-1: {match}"):
        fe.Distance(0, 1).to_numbers(values)


def test_a_list_of_quantities_is_a_list_of_values():
    assert fe.Distance(0, 1).to_numbers([0.3 * unit.nanometer, 4 * unit.angstrom, 0.5]) == pytest.approx(
        [0.3, 0.4, 0.5]
    )


def profile(model, **changes):
    system, _, x = model
    arguments = {
        "system": system,
        "positions": x,
        "coordinate": fe.Distance(0, 2),
        "values": [0.5, 0.51],
        "integrator": mc.RattleLangevinIntegrator(300, 1, 0.001),
        "steps": 20,
        "pull_steps": 2,
        "equilibration": 2,
        "platform": "Reference",
        "progress": False,
    }
    return fe.mean_force_profile(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"system": "system.xml"}, ValueError, "'system.xml' is not the XML of a System. Of a file, give Path"),
        ({"system": None}, TypeError, "an openmm.System is needed, .* not NoneType"),
        ({"system": lambda: None}, TypeError, "an openmm.System is needed, .* not NoneType"),
        ({"positions": np.zeros((3, 3))}, ValueError, "there are 3 positions and 4 particles"),
        ({"values": []}, ValueError, r"two or more values are needed.*not \[\]"),
        ({"steps": "1000"}, TypeError, "steps must be a whole number, not '1000'"),
        ({"steps": 5}, ValueError, "a sample every 10 steps, 5 steps give none. Take more steps"),
        ({"interval": 0}, ValueError, "interval must be a whole number, 1 or more, not 0"),
        ({"equilibration": -1}, ValueError, "equilibration must be a whole number, 0 or more, not -1"),
        ({"pull_steps": 1.5}, ValueError, "steps from one value to the next must be a whole number"),
        ({"executor": 4}, TypeError, r"executor is one of concurrent.futures, such as ProcessPoolExecutor\(4\)"),
        (
            {"coordinate": (0, 2)},
            TypeError,
            r"such as freeenergy.Distance\(0, 1\), or .*, not \(0, 2\)",
        ),
        (
            {"coordinate": fe.Distance(0, 9)},
            ValueError,
            "distance 0-9: there is no particle 9: the System has 4, 0 to 3",
        ),
        ({"coordinate": fe.CentroidDistance([0], [9, 1])}, ValueError, "there is no particle 9: the System has 4"),
        ({"integrator": mc.RattleLangevinIntegrator}, TypeError, r"not the class. Type RattleLangevinIntegrator\("),
        ({"platform": "CUDAA"}, Exception, "platform 'CUDAA' is not available here; choose from"),
    ],
)
def test_mistakes_in_a_profile(model, changes, error, match):
    with pytest.raises(error, match=match):
        profile(model, **changes)


@pytest.mark.filterwarnings("ignore:too few independent samples")
def test_numbers_of_steps_may_be_typed_as_powers_of_ten(model):
    with ThreadPoolExecutor(1) as executor:
        for where in (None, executor):
            made = profile(model, steps=2e1, interval=1e1, pull_steps=2.0, executor=where)
            assert [window.mean_force.samples for window in made.windows] == [2, 2]


def test_a_value_of_a_window_may_be_a_quantity(model):
    system, _, x = model
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    made = fe.run_window(system, x, fe.Distance(0, 2), 5 * unit.angstrom, integrator, 10, platform="Reference")
    assert made.value == pytest.approx(0.5)
