# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What is printed of a mean force: of what it is, by atoms and their names, and in which unit."""

import re

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit
from platforms import under_test

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe
from openmmconstraints.reporters.blocking import MeanForce
from openmmconstraints.reporters.blue_moon_reporter import read_mean_force

NUMBER = r"-?\d+(\.\d+)? ± (\d+(\.\d+)?|nan)"
ATOMS = (("A", "ALA", "N", "CA", "C"), ("A", "ALA", "N", "CA"), ("B", "NA", "NA"))
PLACES = np.array([[0.1, 0.1, 0], [0.1, 0, 0], [0, 0, 0], [0, 0, 0.1], [0.1, 0, 0.2], [0.5, 0.5, 0.5]])


def topology_of(chains=True):
    topology, number = app.Topology(), 1
    for name, residue_name, *atoms in ATOMS:
        known = next((chain for chain in topology.chains() if chain.id == name), None)
        chain = known or topology.addChain(name if chains else " ")
        number += 1
        residue = topology.addResidue(residue_name, chain, id=str(number))
        for atom in atoms:
            topology.addAtom(atom, None, residue)
    return topology


def system_of():
    """Six particles on springs."""
    system, springs = mm.System(), mm.CustomExternalForce("50*((x-x0)^2+(y-y0)^2+(z-z0)^2)")
    for name in ("x0", "y0", "z0"):
        springs.addPerParticleParameter(name)
    for i, place in enumerate(PLACES):
        system.addParticle(10)
        springs.addParticle(i, place + 0.01)
    system.addForce(springs)
    return system


def printed(system, coordinates, topology=None):
    """What each of the coordinates of a short run prints."""
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    simulation = app.Simulation(topology or app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(PLACES)
    integrator.applyConstraints()
    reporter = mc.BlueMoonReporter(None, 1, coordinates)
    assert str(reporter.getMeanForce()) == "nan ± nan"  # nobody knows yet
    simulation.reporters = [reporter]
    simulation.step(40)
    return [str(reporter.getMeanForce(k)) for k in range(len(coordinates))]


def test_name_atoms_and_unit_of_each_kind():
    system = system_of()
    force, surface = mc.ConstraintForce(), mc.CustomConstraintForce(1, "z1-0.5")
    centres = PLACES[:2].mean(axis=0) - PLACES[3:].mean(axis=0)
    constraints = [
        force.addDihedral(0, 1, 2, 3, -np.pi / 2),
        force.addAngle(2, 3, 4, 3 * np.pi / 4),
        force.addDistance(0, 5, float(np.linalg.norm(PLACES[5] - PLACES[0]))),
        force.addCentroidDistance([0, 1], [3, 4, 5], float(np.linalg.norm(centres))),
        surface.addConstraint([5]),
    ]
    system.addForce(force)
    system.addForce(surface)
    long = system_of()
    groups = mc.CustomCentroidConstraintForce(1, "z1" + "+0.000" * 20)
    many = groups.addConstraint([groups.addGroup(range(2, -1, -1))])
    long.addForce(groups)
    expected = [
        ("dihedral 0-1-2-3", " (ALA2 N-CA-C, ALA3 N)", "kJ/mol/rad"),
        ("angle 2-3-4", " (ALA2 C, ALA3 N-CA)", "kJ/mol/rad"),
        ("distance 0-5", " (A:ALA2 N, B:NA4 NA)", "kJ/mol/nm"),
        ("distance of the centres of 2 and 3 particles", "", "kJ/mol/nm"),
        ("z1-0.5 of 5", " (NA4 NA)", "kJ/mol per unit of it"),
    ]
    for topology in (None, topology_of()):
        for text, (what, names, unit_name) in zip(printed(system, constraints, topology), expected, strict=True):
            names = names if topology else ""
            assert re.fullmatch(rf"dA/dxi of {re.escape(what + names)}: {NUMBER} {unit_name}", text)
    mc.setTopology(system, topology_of())
    assert "(ALA2 N-CA-C, ALA3 N)" in printed(system, constraints)[0]  # the System's own names
    mc.setTopology(system, topology_of(chains=False))
    assert "distance 0-5 (ALA2 N, NA4 NA)" in printed(system, constraints)[2]
    [text] = printed(long, [many])
    assert text.startswith("dA/dxi of z1" + ("+0.000" * 7)[:38] + "... of 2-1-0: ")


def test_the_sign_is_that_of_the_derivative():
    """A spring that is held stretched: A rises with the distance."""
    system = mm.System()
    system.addParticle(10)
    system.addParticle(10)
    spring = mm.HarmonicBondForce()
    spring.addBond(0, 1, 0.1, 1e5)
    system.addForce(spring)
    for length, sign in ((0.11, 1), (0.09, -1)):
        integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
        window = fe.run_window(system, [[0, 0, 0], [length, 0, 0]], fe.Distance(0, 1), length, integrator, 50)
        text = str(window.mean_force)
        value = float(re.fullmatch(rf"dA/dxi of distance 0-1: ({NUMBER}) kJ/mol/nm", text).group(1).split(" ")[0])
        assert value == pytest.approx(sign * 1000 - 2 * 8.314e-3 * 300 / length, rel=0.1)  # a short run


class Height(fe.Coordinate):
    """Of the last particle, given by an expression."""

    label = "height of the ion"

    def hold(self, system, value, rate=0.0):
        force = mc.CustomConstraintForce(1, f"z1-{value}")
        force.addConstraint([5])
        system.addForce(force)


def test_windows_print_the_coordinate():
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    system = system_of()
    mc.setTopology(system, topology_of())
    for coordinate, value, expected in (
        (fe.Dihedral(0, 1, 2, 3), -1.5, r"dihedral 0-1-2-3 \(ALA2 N-CA-C, ALA3 N\): .* kJ/mol/rad"),
        (fe.CentroidDistance([0, 1], [2, 3]), 0.1, "distance of the centres of 2 and 2 particles: .* kJ/mol/nm"),
        (Height(), 0.5, "height of the ion: .* kJ/mol/nm"),
    ):
        window = fe.run_window(system, PLACES, coordinate, value, integrator, 20)
        assert re.fullmatch(f"dA/dxi of {expected}", str(window.mean_force))
        profile = fe.MeanForceProfile(coordinate, 300.0, (window, fe.Window(2, MeanForce(1, 0.5, 9, 1), PLACES)))
        assert repr(profile).endswith(f"± 0.5 {window.mean_force.unit} at most)")


def test_a_file_tells_the_number_of_the_constraint(tmp_path):
    system = system_of()
    system.addConstraint(4, 5, 1)
    force = mc.ConstraintForce()
    dihedral = force.addDihedral(0, 1, 2, 3, -np.pi / 2)
    system.addForce(force)
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    simulation = app.Simulation(app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(PLACES)
    integrator.applyConstraints()
    simulation.reporters = [mc.BlueMoonReporter(tmp_path / "force.csv", 1, dihedral)]
    simulation.step(20)
    again = read_mean_force(tmp_path / "force.csv", 300 * unit.kelvin)
    assert re.fullmatch(f"dA/dxi of constraint 1: {NUMBER}", str(again))
