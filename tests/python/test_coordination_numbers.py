# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""addCoordinationNumber(): units, values against PLUMED's formula, runs, messages, free energies."""

import copy
import pickle
from itertools import product

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit
from platforms import NAME, PROPERTIES, bound, under_test

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

kT = 0.00831446261815324 * 300
GROUPS = ([0, 1, 2], [2, 3, 4, 5, 6])
PLACES = np.random.default_rng(7).uniform(0, 0.5, (7, 3))


def rational(r, r0, n=6, m=12):
    return n / m if r == r0 else (1 - (r / r0) ** n) / (1 - (r / r0) ** m)


def stretched(r, r0, n=6, m=12, cutoff=None):
    """As COORDINATION of PLUMED has it, with D_MAX or without, farther than a tenth from its end."""
    end = cutoff or r0 * 0.00001 ** (1 / (n - m))
    at_end = rational(end, r0, n, m)
    return (rational(r, r0, n, m) - at_end) / (1 - at_end)


def expected(x, groups=GROUPS, **how):
    return sum(stretched(np.linalg.norm(x[i] - x[j]), **how) for i, j in product(*groups) if i != j)


def system_of(*forces, count=7):
    system = mm.System()
    for p in range(count):
        system.addParticle(12 + p)
    for force in forces:
        system.addForce(force)
    return system


def context_of(*forces, positions=PLACES, integrator=None):
    context = mm.Context(
        system_of(*forces, count=len(positions)), integrator or mc.RattleIntegrator(0.001), under_test()
    )
    context.setPositions(positions)
    return context


# ---- the Force -----------------------------------------------------------------------------------------------------


def test_parameters_have_units_and_names():
    force = mc.ConstraintForce()
    index = force.addCoordinationNumber(
        [0, 1], [2], 0.7, 3 * unit.angstrom, n=8, m=14, cutoff=9 * unit.angstrom, rate=0.1 / unit.picosecond
    )
    assert index == 0
    assert index.kind == "coordination number"
    *groups, number, r0, n, m, cutoff = force.getCoordinationNumberParameters(index)
    assert [list(group) for group in groups] == [[0, 1], [2]]
    assert (number, n, m) == (0.7, 8, 14)
    assert r0.value_in_unit(unit.nanometer) == pytest.approx(0.3)
    assert cutoff.value_in_unit(unit.nanometer) == pytest.approx(0.9)
    assert force.getCoordinationNumberRate(0) == 0.1 / unit.picosecond
    force.setCoordinationNumberRate(0, 5, startTime=2 * unit.picosecond)  # no angle: 5 is no mistake
    assert force.getCoordinationNumberStartTime(0) == 2 * unit.picosecond
    force.setCoordinationNumberParameters(0, [0], [1, 2], 0.5, r0=0.25)
    assert force.getCoordinationNumberParameters(0)[2:] == [0.5, 0.25 * unit.nanometer, 6, 12, 0 * unit.nanometer]
    force.addGlobalParameter("lambda", 0)
    force.setCoordinationNumberInterpolation(0, "lambda", 0.9)
    assert force.getCoordinationNumberInterpolation(0) == ["lambda", 0.9]
    assert repr(force) == "ConstraintForce(1 coordination number)"
    assert "coordination number" in force._repr_html_()
    for wrong in (
        lambda: force.addCoordinationNumber([0], [1], 0.5, 3 * unit.picosecond),
        lambda: force.addCoordinationNumber([0], [1], 0.5 * unit.nanometer, 0.3),
        lambda: force.setCoordinationNumberRate(0, 0.5 * unit.nanometer / unit.picosecond),
    ):
        with pytest.raises(TypeError, match="must be"):
            wrong()


def test_atoms_and_residues_stand_for_particles():
    topology = app.Topology()
    chain = topology.addChain()
    for name in ("NA", "HOH"):
        residue = topology.addResidue(name, chain)
        for atom in ("NA",) if name == "NA" else ("O", "H1", "H2"):
            topology.addAtom(atom, None, residue)
    atoms, residues = list(topology.atoms()), list(topology.residues())
    force = mc.ConstraintForce()
    force.addCoordinationNumber([atoms[0]], residues[1], 0.7, 0.3)
    assert [list(group) for group in force.getCoordinationNumberParameters(0)[:2]] == [[0], [1, 2, 3]]


def test_copies_and_files_keep_everything():
    force = mc.ConstraintForce()
    force.addGlobalParameter("lambda", 0)
    force.addCoordinationNumber(*GROUPS, 2.5, 0.25, 8, 20, 0.6, 0.5, 3)
    force.setCoordinationNumberInterpolation(0, "lambda", 3)
    force.addCoordinationNumber([0], [1], 0.5, 0.3)
    for other in (
        copy.deepcopy(force),
        pickle.loads(pickle.dumps(force)),
        mc.ConstraintForce.cast(mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(force))),
    ):
        assert other.getNumCoordinationNumbers() == 2
        for k in (0, 1):
            for what in ("Parameters", "Rate", "StartTime", "Interpolation"):
                read = f"getCoordinationNumber{what}"
                assert getattr(other, read)(k) == getattr(force, read)(k)
    assert 'version="7"' in mm.XmlSerializer.serialize(force)
    assert 'version="7"' not in mm.XmlSerializer.serialize(mc.ConstraintForce())  # earlier releases read it


# ---- values --------------------------------------------------------------------------------------------------------


@pytest.mark.platform
@pytest.mark.parametrize("how", [{"r0": 0.3}, {"r0": 0.25, "n": 8, "m": 20}, {"r0": 0.2, "n": 2, "m": 12}])
def test_values_are_those_of_plumed(how):
    force = mc.ConstraintForce()
    force.addCoordinationNumber(*GROUPS, 3, **how)
    context = context_of(force)
    [(name, value)] = force.getValues(context).items()
    assert name == "coordination number 0-1-2 | 2-3-4-5-6"
    assert value == pytest.approx(expected(PLACES, **how), rel=1e-6 if NAME != "Reference" else 1e-12)


def test_a_cutoff_is_that_of_d_max_up_to_its_last_tenth():
    force = mc.ConstraintForce()
    force.addCoordinationNumber([0], [1], 0.5, 0.3, cutoff=0.7)
    context = context_of(force, positions=[[0, 0, 0], [0.3, 0, 0]])

    def value(r):
        context.setPositions([[0, 0, 0], [0, 0.6 * r, 0.8 * r]])
        return next(iter(force.getValues(context).values()))

    for r in (0.1, 0.3, 0.5, 0.62, 0.63):
        assert value(r) == pytest.approx(stretched(r, 0.3, cutoff=0.7), rel=1e-9)
    for r in (0.64, 0.69, 0.7, 0.8):
        assert 0 <= value(r) <= max(0, stretched(r, 0.3, cutoff=0.7))


@pytest.mark.platform
def test_a_run_holds_it_and_reports_it(tmp_path):
    force, springs = mc.ConstraintForce(), mm.HarmonicBondForce()
    target = expected(PLACES, r0=0.25)
    index = force.addCoordinationNumber(*GROUPS, target, 0.25)
    bond = force.addDistance(0, 3, np.linalg.norm(PLACES[0] - PLACES[3]))
    for i in range(7):
        springs.addBond(i, (i + 2) % 7, 0.25, 2000)
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    integrator.setConstraintTolerance(1e-9)
    context = context_of(force, springs, integrator=integrator)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(100)
    x = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert expected(x, r0=0.25) == pytest.approx(target, abs=bound(1e-7, double=1e-6, mixed=1e-5, single=1e-4))
    assert integrator.getNumDegreesOfFreedom() == 21 - 2
    multipliers = force.getMultipliers(context)
    assert multipliers[index] == multipliers[1]
    assert multipliers[bond] == multipliers[0]
    assert mc.multiplierIndex(context.getSystem(), index) == 1
    forces = np.array(mc.computeConstraintForces(context)._value)
    assert np.abs(forces).max() > 1
    assert np.abs(forces.sum(axis=0)).max() < 1e-3 * np.abs(forces).max()


def test_health_knows_it():
    force = mc.ConstraintForce()
    force.addCoordinationNumber(*GROUPS, expected(PLACES, r0=0.25), 0.25, rate=0.1)
    system = system_of(force)
    text = str(mc.Health(system, PLACES))
    assert "coordination number 0 of the ConstraintForce with index 0" in text
    assert "moves by 0.1 per ps" in text


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([], [1], 0.5, 0.3), "a group has no particles"),
        (([0, 0], [1], 0.5, 0.3), "particle 0 is listed twice in a group"),
        (([0], [0], 0.5, 0.3), "makes no pair"),
        (([0], [7], 0.5, 0.3), "out of range"),
        (([0], [1], 0.5, 0.0), "r0 = 0 nm is not a positive number"),
        (([0], [1], 0.5, float("nan")), "r0 = nan nm"),
        (([0], [1], 0.5, 0.3, 6, 6), "n = 6 and m = 6 have to be even, and n at least 2 and less than m"),
        (([0], [1], 0.5, 0.3, 7, 12), "n = 7"),
        (([0], [1], 0.5, 0.3, 6, 13), "m = 13"),
        (([0], [1], 0.5, 0.3, 0, 12), "n = 0"),
        (([0], [1], 0.5, 0.3, 6, 12, 0.2), "its cutoff 0.2 nm has to be longer than r0 = 0.3 nm"),
        (([0], [1], 1.0, 0.3), "its value 1 is not between 0 and 1, the number of its pairs"),
        (([0, 1], [1, 2], 3.0, 0.3), "its value 3 is not between 0 and 3"),
        (([0], [1], 0.0, 0.3), "its value 0 is not between 0 and 1"),
        (([0], [1], float("nan"), 0.3), "its value nan"),
    ],
)
def test_bad_ones_are_refused_by_name(given, words):
    force = mc.ConstraintForce()
    force.addCoordinationNumber(*given)
    with pytest.raises(mm.OpenMMException) as error:
        context_of(force)
    assert "coordination number 0 of the ConstraintForce with index 0" in str(error.value)
    assert words in str(error.value)


def test_a_cutoff_has_to_fit_into_the_box():
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(True)
    force.addCoordinationNumber([0], [1], 0.5, 0.3)
    with pytest.raises(mm.OpenMMException, match=r"(?s)its cutoff 2.0438. nm exceeds half .*shorter cutoff"):
        context_of(force)


def test_a_target_that_leaves_its_range_is_named():
    force = mc.ConstraintForce()
    force.addCoordinationNumber([0], [1], 0.5, 0.3, rate=-100)
    context = context_of(force, positions=[[0, 0, 0], [0.3, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=r"(?s)between 0 and 1, the number of its pairs.*NumberRate"):
        context.getIntegrator().step(10)


def test_pairs_beyond_the_cutoff_have_no_gradient():
    force = mc.ConstraintForce()
    force.addCoordinationNumber([0], [1], 0.5, 0.3, cutoff=0.5)
    context = context_of(force, positions=[[0, 0, 0], [0.6, 0, 0]])
    with pytest.raises(mm.OpenMMException, match=r"(?s)no gradient.*closer than its cutoff.*NumberParameters"):
        context.getIntegrator().step(1)


def test_wrapped_molecules_need_images():
    force, other = mc.ConstraintForce(), mm.HarmonicBondForce()
    force.addCoordinationNumber([0], [1], stretched(0.3, 0.3, cutoff=0.9), 0.3, cutoff=0.9)
    other.setUsesPeriodicBoundaryConditions(True)
    context = context_of(force, other, positions=[[0.1, 0, 0], [0.7, 0, 0]])
    context.setPeriodicBoxVectors([1.9, 0, 0], [0, 1.9, 0], [0, 0, 1.9])
    context.setPositions([[0.1, 0, 0], [1.7, 0, 0]])
    with pytest.raises(mm.OpenMMException):
        context.getIntegrator().step(1)
    context.setPositions([[0.1, 0, 0], [0.95, 0, 0]])  # within the cutoff, and far off
    with pytest.raises(mm.OpenMMException, match=r"coordination number 0 .* is 0.0*[1-9].*, not 0.49"):
        context.getIntegrator().step(1)


# ---- what users do besides -------------------------------------------------------------------------------------------


def test_freezing_all_of_its_atoms_removes_it():
    force = mc.ConstraintForce()
    force.addCoordinationNumber([0], [1], 0.5, 0.3)
    force.addCoordinationNumber([2], [3, 4], 0.7, 0.3, 8, 14)
    system = system_of(force)
    mc.freeze(system, [0, 1, 2])
    assert force.getNumCoordinationNumbers() == 1
    assert [list(group) for group in force.getCoordinationNumberParameters(0)[:2]] == [[2], [3, 4]]  # 2 is an anchor
    assert force.getCoordinationNumberParameters(0)[4:6] == [8, 14]


@pytest.mark.platform
def test_a_far_value_is_reached_by_minimizing():
    force, springs = mc.ConstraintForce(), mm.HarmonicBondForce()
    force.addCoordinationNumber([0], [1, 2, 3, 4, 5, 6], 4.5, 0.3)
    for i in range(7):
        springs.addBond(i, (i + 2) % 7, 0.4, 500)
    places = 1.6 * PLACES
    assert expected(places, ([0], range(1, 7)), r0=0.3) < 1.5
    context = context_of(force, springs, positions=places)
    with pytest.raises(mm.OpenMMException, match=r"(?s)coordination number 0 .* not 4.5.*minimize"):
        context.getIntegrator().step(1)
    with pytest.warns(RuntimeWarning, match="moved particle"):
        mc.minimize(context)
    x = context.getState(positions=True).getPositions(asNumpy=True)._value
    assert expected(x, ([0], range(1, 7)), r0=0.3) == pytest.approx(4.5, abs=1e-3)


# ---- other integrators, free energies ------------------------------------------------------------------------------


def test_other_integrators_hold_it():
    force, springs = mc.ConstraintForce(), mm.HarmonicBondForce()
    target = expected(PLACES, r0=0.25)
    force.addCoordinationNumber(*GROUPS, target, 0.25)
    for i in range(7):
        springs.addBond(i, (i + 2) % 7, 0.25, 2000)
    system = system_of(force, springs)
    mc.replaceSolver(system)
    integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
    integrator.setConstraintTolerance(1e-9)
    for platform in ("Reference", "CPU"):
        context = mm.Context(system, copy.copy(integrator), mm.Platform.getPlatform(platform))
        context.setPositions(PLACES)
        context.setVelocitiesToTemperature(300, 1)
        context.getIntegrator().step(50)
        x = context.getState(positions=True).getPositions(asNumpy=True)._value
        assert expected(x, r0=0.25) == pytest.approx(target, abs=1e-4 if platform == "CPU" else 1e-7)


def ions():
    spring = mm.HarmonicBondForce()
    spring.addBond(0, 1, 0.3, 400)
    return system_of(spring, count=2)


@pytest.mark.statistics
def test_mean_force_of_a_pair_is_that_of_its_distance_by_the_chain_rule():
    """A(r) = k (r - r0)^2/2 - 2 kT ln r, and A(s) = A(r) + kT ln|ds/dr|."""
    coordinate = fe.CoordinationNumber((0,), (1,), 0.3 * unit.nanometer)
    radii, h = np.array([0.26, 0.3, 0.36]), 1e-5
    s = np.array([stretched(r, 0.3) for r in radii])
    slope = np.array([(stretched(r + h, 0.3) - stretched(r - h, 0.3)) / (2 * h) for r in radii])
    second = np.array([(stretched(r + h, 0.3) - 2 * stretched(r, 0.3) + stretched(r - h, 0.3)) / h**2 for r in radii])
    exact = (400 * (radii - 0.3) - 2 * kT / radii + kT * second / slope) / slope
    forces = fe.mean_force_profile(
        ions(),
        [[0, 0, 0], [0.26, 0, 0]],
        coordinate,
        s,
        mc.RattleLangevinIntegrator(300, 20, 0.002),
        20000,
        pull_steps=200,
        equilibration=200,
        interval=2,
        seed=3,
        platform=NAME,
        properties=PROPERTIES,
        progress=False,
    )
    assert np.all(np.abs(forces.mean_force - exact) < 4 * forces.error + 0.02 * np.abs(exact))
    assert coordinate.force_unit == "kJ/mol"
    assert "kJ/mol" in repr(forces)
    assert "dimensionless" not in repr(forces)
    assert forces.plot().get_xlabel() == "coordination number of 1 and 1 particles"


def test_a_coordinate_measures_and_finds_what_is_held():
    coordinate = fe.CoordinationNumber(*GROUPS, 2.5 * unit.angstrom, cutoff=0.6)
    force = mc.ConstraintForce()
    force.addCoordinationNumber(*GROUPS, 2, 0.3)
    held = force.addCoordinationNumber(*GROUPS, 2.5, 0.25, cutoff=6 * unit.angstrom)
    system = system_of(force)
    assert coordinate.find_in(system) == 1
    context = mm.Context(system, mc.RattleIntegrator(0.001), under_test())
    context.setPositions(PLACES)
    assert coordinate.measure(system, PLACES) == pytest.approx(list(force.getValues(context).values())[1])
    assert fe.CoordinationNumber(*GROUPS, 0.3).find_in(system) == 0
    with pytest.raises(ValueError, match="no constraint of the System holds it; there are 2 of this kind"):
        fe.CoordinationNumber(*GROUPS, 0.31).find_in(system)
    assert mc.multiplierIndex(system, held) == 1
    assert pickle.loads(pickle.dumps(coordinate)) == coordinate


def test_a_mean_force_is_printed_with_its_groups():
    system = ions()
    force = mc.ConstraintForce()
    held = force.addCoordinationNumber([0], [1], 0.5, 0.3)
    system.addForce(force)
    topology = app.Topology()
    residue = topology.addResidue("IONS", topology.addChain())
    for name in ("NA", "CL"):
        topology.addAtom(name, None, residue)
    simulation = app.Simulation(topology, system, mc.RattleLangevinIntegrator(300, 5, 0.002), under_test())
    simulation.context.setPositions([[0, 0, 0], [0.3, 0, 0]])
    reporter = mc.BlueMoonReporter("/dev/null", 1, coordinates=held)
    simulation.reporters.append(reporter)
    simulation.step(200)
    text = str(reporter.getMeanForce())
    assert text.startswith("dA/dxi of coordination number of 1 and 1 particles: ")
    assert text.endswith(" kJ/mol")
