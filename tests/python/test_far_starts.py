# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Starts that are far off the constraints: applyConstraints() goes there in stages. tests/TestFarStarts.cpp has the
same on every platform."""

import itertools
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from force_fields import AMBER14, force_field
from openmm import app, unit

import openmmconstraints as mc

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation.systems import ALANINE_DIPEPTIDE

#: Far starts are what some tests are about; test_far_moves.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore:applyConstraints")

PHI, PSI = ("ACE:C", "ALA:N", "ALA:CA", "ALA:C"), ("ALA:N", "ALA:CA", "ALA:C", "NME:N")


class Dipeptide:
    """Extended alanine dipeptide, as tLEaP builds it, with its backbone dihedrals held."""

    def __init__(self, constraints=None, bonded_terms=True):
        pdb = app.PDBFile(StringIO(ALANINE_DIPEPTIDE))
        self.topology = pdb.topology
        self.start = pdb.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
        self.system = force_field(*AMBER14).createSystem(pdb.topology, constraints=constraints)
        self.index = {f"{atom.residue.name}:{atom.name}": atom.index for atom in pdb.topology.atoms()}
        bonds = [(a.index, b.index) for a, b in pdb.topology.bonds()]
        ends = [{*one} ^ {*other} for one, other in itertools.combinations(bonds, 2)]
        self.kept = np.array(bonds + [sorted(pair) for pair in ends if len(pair) == 2])
        if not bonded_terms:
            for i in reversed(range(self.system.getNumForces())):
                if isinstance(self.system.getForce(i), mm.HarmonicBondForce | mm.HarmonicAngleForce):
                    self.system.removeForce(i)
        self.force = mc.ConstraintForce()

    def hold(self, phi, psi):
        for names, angle in ((PHI, phi), (PSI, psi)):
            self.force.addDihedral(*(self.index[name] for name in names), np.radians(angle))

    def make_context(self, has_force=False):
        if not has_force:
            self.system.addForce(self.force)
        self.integrator = mc.RattleIntegrator(0.001)
        self.context = mm.Context(self.system, self.integrator, mm.Platform.getPlatform("Reference"))
        self.context.setPositions(self.start)

    def positions(self):
        return self.context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)

    def lengths(self, positions):
        return np.linalg.norm(positions[self.kept[:, 0]] - positions[self.kept[:, 1]], axis=1)

    def distortion(self, positions):
        """How far bonds and distances of second neighbours are from those of the start (nm)."""
        return np.abs(self.lengths(positions) - self.lengths(self.start)).max()


def dihedral(points):
    """As PeriodicTorsionForce counts (degrees)."""
    first, second, third = np.diff(points, axis=0)
    left, right = np.cross(first, second), np.cross(second, third)
    return np.degrees(np.arctan2(np.linalg.norm(second) * first @ right, left @ right))


def off(dipeptide, names, angle):
    """Degrees from a dihedral's value."""
    points = dipeptide.positions()[[dipeptide.index[name] for name in names]]
    return abs((dihedral(points) - angle + 180) % 360 - 180)


@pytest.mark.parametrize("constraints", [None, app.HBonds], ids=["free-bonds", "HBonds"])
def test_every_backbone_of_the_dipeptide_is_reached_with_its_bonds(constraints):
    dipeptide = Dipeptide(constraints)
    dipeptide.hold(180, 180)
    dipeptide.make_context()
    grid = range(-180, 180, 60)
    for phi, psi in itertools.product(grid, grid):
        for k, (names, angle) in enumerate(((PHI, phi), (PSI, psi))):
            dipeptide.force.setDihedralParameters(k, *(dipeptide.index[name] for name in names), np.radians(angle))
        dipeptide.force.updateParametersInContext(dipeptide.context)
        dipeptide.context.setPositions(dipeptide.start)
        moved = dipeptide.integrator.applyConstraints()
        assert off(dipeptide, PHI, phi) < 1e-2
        assert off(dipeptide, PSI, psi) < 1e-2
        positions = dipeptide.positions()
        assert dipeptide.distortion(positions) < 1e-3, (phi, psi)
        farthest = np.linalg.norm(positions - dipeptide.start, axis=1).max()
        assert moved.value_in_unit(unit.nanometer) == pytest.approx(farthest, abs=1e-12)
    dipeptide.context.setVelocitiesToTemperature(300, 1)
    dipeptide.integrator.step(10)


def test_an_extended_dipeptide_becomes_a_helix():
    """phi = -60, psi = -45 degrees: one solve would stretch a bond to 4.5 nm."""
    dipeptide = Dipeptide()
    dipeptide.hold(-60, -45)
    dipeptide.make_context()
    dipeptide.integrator.applyConstraints()
    assert off(dipeptide, PHI, -60) < 1e-2
    assert off(dipeptide, PSI, -45) < 1e-2
    assert dipeptide.distortion(dipeptide.positions()) < 2e-6


def test_an_angle_opens_and_takes_its_second_neighbours_along():
    """What the constraint itself contradicts is let go: the ends of its angle, and one more of a centre of five."""
    for change in (-40, 20, 40):
        dipeptide = Dipeptide()
        particles = [dipeptide.index[name] for name in ("ALA:N", "ALA:CA", "ALA:C")]
        arms = dipeptide.start[particles[::2]] - dipeptide.start[particles[1]]
        cosine = arms[0] @ arms[1] / np.prod(np.linalg.norm(arms, axis=1))
        dipeptide.force.addAngle(*particles, np.arccos(cosine) + np.radians(change))
        dipeptide.make_context()
        dipeptide.integrator.applyConstraints()
        positions = dipeptide.positions()
        bonds = slice(0, dipeptide.topology.getNumBonds())
        assert np.abs(dipeptide.lengths(positions) - dipeptide.lengths(dipeptide.start))[bonds].max() < 1e-3


def test_a_step_does_not_go_there_unasked():
    dipeptide = Dipeptide()
    mc.setTopology(dipeptide.system, dipeptide.topology)
    dipeptide.force = mc.ConstraintForce.cast(dipeptide.system.getForce(dipeptide.system.getNumForces() - 1))
    dipeptide.hold(90, 180)
    dipeptide.make_context(has_force=True)
    before = dipeptide.positions()
    said = r"(?s)dihedral 0 of .*A:ACE1:C.* is 90 degrees from its value.*would move.*\(A:.*nm, .*applyConstraints"
    with pytest.raises(mm.OpenMMException, match=said):
        dipeptide.integrator.step(1)
    assert (dipeptide.positions() == before).all()
    dipeptide.integrator.applyConstraints()
    assert dipeptide.distortion(dipeptide.positions()) < 1e-3
    dipeptide.integrator.step(1)


def test_what_cannot_be_reached_is_named_and_changes_nothing():
    dipeptide = Dipeptide()
    dipeptide.hold(-60, -45)
    other = mc.CustomConstraintForce(4, "dihedral(p1, p2, p3, p4) - pi/3; pi=3.14159265358979")  # the same dihedral
    other.addConstraint([dipeptide.index[name] for name in PHI])
    dipeptide.system.addForce(other)
    dipeptide.make_context()
    before = dipeptide.positions()
    with pytest.raises(mm.OpenMMException, match="dihedral"):
        dipeptide.integrator.applyConstraints()
    assert (dipeptide.positions() == before).all()


def test_a_state_on_the_constraints_does_not_move():
    dipeptide = Dipeptide()
    dipeptide.hold(180, 180)
    dipeptide.make_context()
    dipeptide.integrator.applyConstraints()
    assert dipeptide.integrator.applyConstraints() == 0 * unit.nanometer


def test_a_topology_knows_the_bonds_that_no_force_has():
    for helper in (mc.setTopology, mc.moveConstraints):
        dipeptide = Dipeptide(app.HBonds if helper is mc.moveConstraints else None, bonded_terms=False)
        helper(dipeptide.system, dipeptide.topology)
        dipeptide.hold(-60, -45)
        dipeptide.make_context()
        dipeptide.integrator.applyConstraints()
        assert off(dipeptide, PHI, -60) < 1e-2
        assert dipeptide.distortion(dipeptide.positions()) < 1e-3
