# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A chain of four united atoms in vacuum, the free energy of its dihedral by quadrature, and a user's own coordinate.

They are in a module, so that worker processes can import what they receive.
"""

from dataclasses import dataclass

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe
from openmmconstraints.inspection.energy import BOLTZMANN

MASSES = (15.0, 14.0, 5.0, 15.0)  # one is light: the determinant of the bonds varies strongly
BONDS = (0.153, 0.17, 0.153)
ANGLE, ANGLE_STIFFNESS = 1.95, 60.0
ENDS, ENDS_STIFFNESS = 0.35, 300.0  # a spring between the first and the last particle
TORSIONS = ((3, 0.0, 3.0), (1, 0.6, 2.0))


def chain() -> mm.System:
    """Rigid bonds, soft angles, a torsion, and a spring that couples all of them."""
    system = mm.System()
    for mass in MASSES:
        system.addParticle(mass)
    for i, length in enumerate(BONDS):
        system.addConstraint(i, i + 1, length)
    angles, torsions, ends = mm.HarmonicAngleForce(), mm.PeriodicTorsionForce(), mm.HarmonicBondForce()
    for i in (0, 1):
        angles.addAngle(i, i + 1, i + 2, ANGLE, ANGLE_STIFFNESS)
    for torsion in TORSIONS:
        torsions.addTorsion(0, 1, 2, 3, *torsion)
    ends.addBond(0, 3, ENDS, ENDS_STIFFNESS)
    for force in (angles, torsions, ends):
        system.addForce(force)
    return system


def chain_positions(theta1, theta2, phi):
    """Positions [4, 3, ...] of given angles and dihedral."""
    zero = 0 * theta1
    first = [BONDS[0] * np.sin(theta1), zero, BONDS[0] * np.cos(theta1)]
    radius = BONDS[2] * np.sin(theta2)
    last = [radius * np.cos(phi), radius * np.sin(phi), BONDS[1] - BONDS[2] * np.cos(theta2)]
    return np.array([first, [zero] * 3, [zero, zero, zero + BONDS[1]], last])


def free_energy(phi: float, temperature: float) -> float:
    """A(phi) up to a constant: -kT ln of the integral over both angles of sin sin |Z_bonds|^(1/2) exp(-U/kT)."""
    kT = BOLTZMANN * temperature
    node, weight = np.polynomial.legendre.leggauss(80)
    theta1, theta2 = np.meshgrid(*(2 * [np.pi / 2 * (node + 1)]), indexing="ij")
    x = chain_positions(theta1, theta2, phi)
    energy = ANGLE_STIFFNESS / 2 * ((theta1 - ANGLE) ** 2 + (theta2 - ANGLE) ** 2)
    energy += ENDS_STIFFNESS / 2 * (np.sqrt(((x[3] - x[0]) ** 2).sum(axis=0)) - ENDS) ** 2
    m = [1 / mass for mass in MASSES]
    outer = (m[0] + m[1], m[2] + m[3])
    determinant = outer[0] * ((m[1] + m[2]) * outer[1] - (np.cos(theta2) * m[2]) ** 2)
    determinant -= (np.cos(theta1) * m[1]) ** 2 * outer[1]
    measure = np.outer(weight, weight) * np.sin(theta1) * np.sin(theta2) * np.sqrt(determinant)
    torsion = sum(k * (1 + np.cos(n * phi - phase)) for n, phase, k in TORSIONS)
    return torsion - kT * np.log((measure * np.exp(-energy / kT)).sum())


def mean_force(phi: float, temperature: float, h: float = 1e-4) -> float:
    """dA/dphi"""
    return (free_energy(phi + h, temperature) - free_energy(phi - h, temperature)) / (2 * h)


TEMPERATURE = 400.0
DIHEDRAL = fe.Dihedral(0, 1, 2, 3)
START = chain_positions(1.95, 1.95, np.pi)


def made_up(values, forces, errors, coordinate=DIHEDRAL):
    """A profile of mean forces that nothing has measured."""
    windows = [
        fe.Window(x, fe.MeanForce(f, e, 100, 2.0), START) for x, f, e in zip(values, forces, errors, strict=True)
    ]
    return fe.MeanForceProfile(coordinate, TEMPERATURE, tuple(windows))


@dataclass(frozen=True)
class CylinderRadius(fe.Coordinate):
    """A coordinate that the package does not have: the distance of a particle from the z axis."""

    particle: int

    @property
    def label(self) -> str:
        return "radius"

    def hold(self, system: mm.System, value: float, rate: float = 0.0) -> None:
        target = f"{value} + {rate}*t" if rate else f"{value}"  # an expression with t counts as moving
        force = mc.CustomConstraintForce(1, f"sqrt(x1^2+y1^2) - ({target})")
        force.addConstraint([self.particle], [])
        system.addForce(force)
