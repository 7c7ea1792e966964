# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What addDistance() and the like return knows whose it is, and everything that reads constraints asks it."""

import copy
import gc
import io
import json
import pickle
import warnings
import weakref

import numpy as np
import openmm as mm
import pytest
from molecules import topology_of
from openmm import app
from platforms import under_test

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

PLACES = np.array([[0.1, 0.1, 0], [0.1, 0, 0], [0, 0, 0], [0, 0, 0.1], [0.5, 0.5, 0.5]])


def chain():
    """Four bonded particles and a free one, without constraints, and their topology."""
    system = mm.System()
    for _ in PLACES:
        system.addParticle(10)
    return system, topology_of("CCHHO", [(0, 1), (1, 2), (2, 3)])


def held_in(system):
    """A Force with a distance, an angle and a dihedral, and what it returned for each."""
    force = mc.ConstraintForce()
    indices = [force.addDistance(3, 4, 0.75), force.addAngle(1, 2, 3, np.pi / 2)]
    indices.append(force.addDihedral(0, 1, 2, 3, -np.pi / 2))
    system.addForce(force)
    return force, indices


def simulate(system, integrator=None):
    integrator = integrator or mc.RattleLangevinIntegrator(300, 5, 0.001)
    simulation = app.Simulation(app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(PLACES)
    integrator.applyConstraints()
    return simulation


def column(simulation, *coordinates):
    """The index in the order of getMultipliers() that a reporter takes."""
    text = io.StringIO()
    simulation.reporters = [mc.BlueMoonReporter(text, 1, *coordinates)]
    simulation.step(1)
    return int(text.getvalue().split(",")[2].removeprefix("lambda_"))


# ---- an int --------------------------------------------------------------------------------------------------------


def test_each_kind_returns_an_int_that_knows_its_force():
    force, surface = mc.ConstraintForce(), mc.CustomConstraintForce(1, "z1")
    groups = mc.CustomCentroidConstraintForce(1, "z1")
    group = groups.addGroup([0, 1])
    added = [
        (force.addDistance(0, 1, distance=0.1), force, "distance"),
        (force.addAngle(0, 1, 2, 1), force, "angle"),
        (force.addDihedral(0, 1, 2, 3, 1), force, "dihedral"),
        (force.addCentroidDistance([0], [1], 1), force, "centroid distance"),
        (force.addRigidBody([0, 1], [[0, 0, 0], [0.1, 0, 0]]), force, "rigid body"),
        (surface.addConstraint([0]), surface, "expression"),
        (groups.addConstraint([group]), groups, "expression"),
    ]
    for index, its_force, kind in added:
        assert isinstance(index, mc.ConstraintIndex)
        assert (index, index.kind, repr(index), f"{index}", json.dumps(index)) == (0, kind, "0", "0", "0")
        assert index.force is its_force
        assert ["first"][index] == "first"
        assert type(index + 1) is int
    second = force.addDistance(1, 2, 0.2)
    assert second == 1
    force.addGlobalParameter("lambda", 0)
    force.setDistanceInterpolation(second, "lambda", 0.3)
    assert force.getDistanceParameters(second)[:2] == [1, 2]
    assert force.addCentroidDistance(np.array([second, 0]), [2], 1) == 1


class Mine(mc.ConstraintForce):
    """A class derived in Python."""

    def addDistance(self, *args):
        self.last = super().addDistance(*args)
        return self.last


def test_copies_and_pickles():
    force = Mine()
    force.addDistance(0, 1, 0.1)
    index = force.addDistance(1, 2, 0.1)
    assert copy.copy(index) is index
    assert copy.deepcopy([index])[0] is index
    again = pickle.loads(pickle.dumps(index))
    assert (type(again), again, again.kind, again.force) == (mc.ConstraintIndex, 1, "distance", None)
    for duplicate in (copy.copy, copy.deepcopy):
        twin = duplicate(force)
        assert (twin.last, twin.last.force is twin) == (1, True)
    assert pickle.loads(pickle.dumps(force)).last == 1


# ---- memory --------------------------------------------------------------------------------------------------------


def test_it_finds_its_force_when_no_other_name_of_it_is_left():
    system, _ = chain()
    force, (_, _, dihedral) = held_in(system)
    del force
    gc.collect()
    assert mc.multiplierIndex(system, dihedral) == 2
    alone = mc.ConstraintForce().addDihedral(0, 1, 2, 3, 1)
    gc.collect()
    assert alone.force.getNumDihedrals() == 1


def test_it_keeps_no_system_and_can_be_used_when_that_is_gone():
    system, _ = chain()
    other, _ = chain()
    held_in(other)
    _, indices = held_in(system)
    gone = weakref.ref(system)
    del system
    gc.collect()
    assert gone() is None
    for index in indices:
        assert (repr(index), pickle.loads(pickle.dumps(index)), copy.deepcopy(index)) == ("0", 0, 0)
        with pytest.raises(ValueError, match="not in the System"):
            mc.multiplierIndex(other, index)


def test_one_of_a_helper_keeps_the_system_of_its_force():
    system, topology = chain()
    index = mc.constrain(system, topology, lengths=lambda *atoms: 0.1).force.addDihedral(0, 1, 2, 3, 1)
    del system
    gc.collect()
    assert index.force.getNumDistances() == 3


# ---- whose constraint is number 0 ----------------------------------------------------------------------------------


@pytest.fixture
def bonded():
    """A System to which bonds were added after the Force of the user: bonds are 3, 4, 5, and its own 0, 1, 2."""
    system, topology = chain()
    force, indices = held_in(system)
    mc.constrain(system, topology, lengths=lambda *atoms: 0.1)
    return system, force, indices


def test_every_way_to_name_a_constraint(bonded):
    system, force, indices = bonded
    system.addConstraint(0, 4, float(np.linalg.norm(PLACES[0] - PLACES[4])))
    simulation = simulate(system)
    coordinates = (fe.Distance(4, 3), fe.Angle(3, 2, 1), fe.Dihedral(3, 2, 1, 0))
    for n, (index, coordinate) in enumerate(zip(indices, coordinates, strict=True)):
        ways = [index, (force, index), (force, index.kind, 0), (force, index.kind, -1), (force, n), (force, n - 3)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for way in [*ways, [index], coordinate, 1 + n, np.int64(1 + n)]:
                assert column(simulation, way) == 1 + n
        for way in [*ways, coordinate]:
            assert mc.multiplierIndex(system, way) == 1 + n
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert column(simulation) == 3  # the last that is no bond
        assert column(simulation, fe.Distance(4, 0)) == 0  # a System constraint, and meant
        assert column(simulation, fe.Distance(0, 1)) == 4
    for number, what in (
        (0, r"System constraint 0 \(particles 0 and 4"),
        (-1, "distance 2 of the ConstraintForce with"),
    ):
        with pytest.warns(UserWarning, match=rf"coordinates={number} is {what}.*addAngle"):
            column(simulation, number)


def test_groups_and_expressions():
    system, _ = chain()
    surface = mc.CustomConstraintForce(1, "z1-a")
    surface.addPerConstraintParameter("a")
    height = [surface.addConstraint([p], [float(PLACES[p, 2])]) for p in (0, 4)]
    force = mc.ConstraintForce()
    centres = PLACES[:2].mean(axis=0) - PLACES[2:4].mean(axis=0)
    apart = force.addCentroidDistance([0, 1], [2, 3], float(np.linalg.norm(centres)))
    system.addForce(surface)
    system.addForce(force)
    simulation = simulate(system)
    for way in (height[1], (surface, "expression", 1), (surface, 1)):
        assert column(simulation, way) == 1
    for way in (apart, (force, "centroid distance", 0), fe.CentroidDistance([3, 2], [0, 1])):
        assert column(simulation, way) == 2
    assert surface.getMultipliers(simulation.context)[height[1]] == simulation.integrator.getMultipliers()[1]


def test_the_last_is_taken_with_a_warning_where_there_are_only_bonds():
    system, topology = chain()
    mc.constrain(system, topology, lengths=lambda *atoms: 0.1)
    with pytest.warns(UserWarning, match="without coordinates= the last constraint is taken, which is distance 2"):
        assert column(simulate(system)) == 2


def test_readings(bonded):
    system, force, indices = bonded
    simulation = simulate(system)
    simulation.step(1)
    read, every = force.getMultipliers(simulation.context), simulation.integrator.getMultipliers()
    assert isinstance(read, tuple)
    assert len({*read}) == 3
    assert [read[index] for index in indices] == list(every[:3]) == list(read) == [*read[0:3]]
    assert [every[mc.multiplierIndex(system, index)] for index in indices] == list(read)
    assert pickle.loads(pickle.dumps(read)) == read
    assert force.getMultipliers(simulation.context, asNumpy=True) == pytest.approx(list(read))
    with pytest.raises(TypeError, match=r"angle 0 counts in its Force.*multiplierIndex\(system, index\)"):
        simulation.integrator.computeBlueMoon([indices[1]])
    assert simulation.integrator.computeBlueMoon([mc.multiplierIndex(system, indices[1])])
    other = mc.ConstraintForce()
    with pytest.raises(ValueError, match="distance 0 is not of this Force"):
        read[other.addDistance(0, 1, 1)]
    with pytest.raises(ValueError, match="rigid body 0 has no multiplier"):
        read[force.addRigidBody([0, 1], [[0, 0, 0], [0.1, 0, 0]])]


def test_mistakes(bonded):
    system, force, (distance, _, dihedral) = bonded
    pickled = pickle.loads(pickle.dumps(dihedral))
    other = mc.ConstraintForce()
    for wrong, message in [
        ((force, "dihedral", 1), "there is no dihedral 1; there are 1"),
        ((force, "expression", 0), "no constraints of the kind 'expression'"),
        ((force, "rigid body", 0), "rigid body 0 has no multiplier"),
        ((other, dihedral), "dihedral 0 is of another Force"),
        ((force, "angle", dihedral), "dihedral 0 is of another Force or kind"),
        ((other, 0), r"not in the System. A System that was copied.*\(force, \"angle\", 0\)"),
        (pickled, r"dihedral 0 has lost its Force when it was pickled. Give \(force, 'dihedral', 0\)"),
        (fe.Dihedral(0, 1, 2, 4), "dihedral 0-1-2-4: no constraint of the System holds it; there are 1 of this kind"),
        (6, "there is no constraint 6; there are 6"),
    ]:
        with pytest.raises(ValueError, match=message):
            mc.multiplierIndex(system, wrong)
    for wrong in ((force, "torsion", 0), "0", None, (force, 1.5), force):
        with pytest.raises(TypeError, match=r'neither an index nor .*\(force, "angle", 0\)'):
            mc.multiplierIndex(system, wrong)
    with pytest.raises(TypeError, match=r"multiplierIndex: an openmm\.System is needed"):
        mc.multiplierIndex(force, distance)
    simulation = simulate(system)
    force.addDistance(0, 4, 1)
    simulation.reporters = [mc.BlueMoonReporter(None, 1, dihedral)]
    with pytest.raises(ValueError, match="has 7 constraints, and its Context was created with 6"):
        simulation.step(1)


LATE = (
    r"the (System|ConstraintForce) has (7|4) constraints, and its Context was created with (6|3)\. "
    r"Call context\.reinitialize\(preserveState=True\), or change"
)


def test_readings_of_a_context_refuse_a_system_that_has_changed(bonded):
    """The late distance takes the place of the angle among the multipliers of the Context."""
    system, force, (distance, angle, _) = bonded
    simulation = simulate(system)
    simulation.step(1)
    context, integrator = simulation.context, simulation.integrator
    early = mc.multiplierIndex(system, distance)
    late = force.addDistance(0, 3, np.linalg.norm(PLACES[3] - PLACES[0]))
    stale = mc.multiplierIndex(system, late)
    file = io.StringIO()
    for read in (
        lambda: force.getMultipliers(context)[late],
        lambda: force.getMultipliers(context, asNumpy=True),
        lambda: integrator.computeBlueMoon([stale]),
        lambda: mc.computeConstraintForces(context),
        lambda: mc.computeConstraintVirial(context),
        lambda: report(simulation, mc.BlueMoonReporter(None, 1, late, 300)),
        lambda: report(simulation, mc.ConstraintReporter(file, 1, late)),
        lambda: report(simulation, mc.ConstraintReporter(file, 1)),
        lambda: report(simulation, mc.ConstraintStateReporter(file, 1, worstConstraint=True)),
    ):
        with pytest.raises(ValueError, match=LATE):
            read()
    assert len(file.getvalue().splitlines()) == 1  # a header
    assert integrator.computeBlueMoon([early])
    context.reinitialize(preserveState=True)
    simulation.reporters = []
    simulation.step(1)
    read = force.getMultipliers(context)
    assert read[late] == integrator.getMultipliers()[stale]
    assert read[angle] == integrator.getMultipliers()[mc.multiplierIndex(system, angle)]
    assert integrator.computeBlueMoon([stale])


def test_a_constraint_that_comes_between_two_rows_stops_the_reporter(bonded):
    system, force, (distance, *_) = bonded
    simulation, file = simulate(system), io.StringIO()
    report(simulation, mc.ConstraintReporter(file, 1, distance))
    force.addDistance(0, 3, np.linalg.norm(PLACES[3] - PLACES[0]))
    with pytest.raises(ValueError, match=LATE):
        simulation.step(1)
    assert len(file.getvalue().splitlines()) == 2


@pytest.mark.parametrize("reporter", [mc.ConstraintReporter, mc.BlueMoonReporter])
def test_a_context_that_was_created_anew_with_others_needs_a_new_reporter(bonded, reporter):
    """The angle is constraint 2 then, and the late distance 1."""
    system, force, (_, angle, _) = bonded
    simulation, file = simulate(system), io.StringIO()
    report(simulation, reporter(file, 1, angle))
    simulation.context.reinitialize(preserveState=True)
    simulation.step(1)
    force.addDistance(0, 3, np.linalg.norm(PLACES[3] - PLACES[0]))
    simulation.context.reinitialize(preserveState=True)
    name = reporter.__name__
    with pytest.raises(ValueError, match=f"has 7 constraints, and had 6 when this reporter began. Use a new {name}"):
        simulation.step(1)
    assert len(file.getvalue().splitlines()) == 3
    report(simulation, reporter(file, 1, angle))


def test_an_index_of_all_multipliers_can_be_pickled(bonded):
    system, _, indices = bonded
    index = mc.multiplierIndex(system, indices[1])
    for twin in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert (twin, twin.constraints) == (index, 6)
    assert json.dumps(index) == "1"


def report(simulation, reporter):
    simulation.reporters = [reporter]
    simulation.step(1)


# ---- free energies -------------------------------------------------------------------------------------------------


def window(system, coordinate):
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    integrator.setConstraintTolerance(1e-10)
    options = {"seed": 7, "platform": "Reference", "interval": 5}
    return fe.run_window(system, PLACES, coordinate, -1.5, integrator, 50, **options).mean_force.mean


@pytest.mark.filterwarnings("ignore:too few independent samples")
def test_windows_set_the_value_of_a_constraint_that_the_system_has():
    free, topology = chain()
    held, _ = chain()
    for system in (free, held):
        mc.constrain(system, topology, lengths=lambda *atoms: 0.1)
    force = mc.ConstraintForce()
    index = force.addDihedral(0, 1, 2, 3, -1.1, rate=3)
    held.addForce(force)
    for system in (free, held):  # behind the dihedral, or before it
        last = mc.ConstraintForce()
        last.addDistance(3, 4, float(np.linalg.norm(PLACES[3] - PLACES[4])))
        system.addForce(last)
    expected = pytest.approx(window(free, fe.Dihedral(0, 1, 2, 3)), rel=1e-6)
    for coordinate in (index, (force, "dihedral", 0), (force, 0)):
        assert window(held, coordinate) == expected
    assert force.getDihedralParameters(0)[-1]._value == -1.1  # runs take copies
    values = [-np.pi / 2, -1.5]
    options = {"seed": 7, "platform": "Reference", "progress": False, "pull_steps": 20, "equilibration": 5}
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    profiles = [
        fe.mean_force_profile(system, PLACES, coordinate, values, integrator, 20, **options)
        for system, coordinate in ((free, fe.Dihedral(0, 1, 2, 3)), (held, index))
    ]
    assert list(profiles[0].mean_force) == pytest.approx(list(profiles[1].mean_force), rel=1e-3)


def test_what_windows_cannot_take(bonded):
    system, force, (_, _, dihedral) = bonded
    with pytest.raises(TypeError, match=r"given as XML\. Give the System itself, or a coordinate"):
        window(mm.XmlSerializer.serialize(system), dihedral)
    with pytest.raises(TypeError, match=r"such as freeenergy.Distance\(0, 1\).*not 0"):
        window(system, 0)
    surface = mc.CustomConstraintForce(1, "z1")
    system.addForce(surface)
    with pytest.raises(ValueError, match="constraint 0 of the CustomConstraintForce has no value that could be set"):
        window(system, surface.addConstraint([0]))
    force.addGlobalParameter("lambda", 0)
    force.setDihedralInterpolation(dihedral, "lambda", 2)
    with pytest.raises(ValueError, match="dihedral 0 interpolates with a Context parameter"):
        window(system, dihedral)
