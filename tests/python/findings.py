# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Systems for checks, and what is found in them."""

from __future__ import annotations

import math

import numpy as np
import openmm as mm
from force_fields import villin_file, villin_system
from openmm import app

import openmmconstraints as mc

CO2 = [(0, 1, 0.116), (1, 2, 0.116), (0, 2, 0.232)]
STRAIGHT = [[-0.116, 0, 0], [0, 0, 0], [0.116, 0, 0]]
METHANE = np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.109 / math.sqrt(3)


def make_system(masses, distances=(), periodic=False):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    for i, j, length in distances:
        system.addConstraint(i, j, length)
    if periodic:
        force = mm.HarmonicBondForce()
        force.setUsesPeriodicBoundaryConditions(True)
        system.addForce(force)
    return system


def all_distances(x):
    return [(i, j, float(np.linalg.norm(x[i] - x[j]))) for j in range(len(x)) for i in range(j)]


def add_force(system, distances=(), angles=(), dihedrals=(), periodic=False):
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(periodic)
    for distance in distances:
        force.addDistance(*distance)
    for angle in angles:
        force.addAngle(*angle)
    for dihedral in dihedrals:
        force.addDihedral(*dihedral)
    system.addForce(force)
    return system


def kinds(health, severity=None):
    return [finding.kind for finding in health.findings if severity in (None, finding.severity)]


def only(health, kind):
    found = [finding for finding in health.findings if finding.kind == kind]
    assert len(found) == 1, health
    return found[0]


def villin_in_water():
    return villin_system(nonbondedMethod=app.PME, constraints=app.AllBonds), villin_file()
