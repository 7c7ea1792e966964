# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints of other kinds that a benchmark holds besides the distances of a System."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import openmm as mm

import openmmconstraints as mc

MOST_OF_HYDROGEN = 4.1  # amu, with mass that is taken from its neighbour
EXPRESSION = "distance(p1, p3) + 0.3*distance(p2, p3)^2 - q"


def angles_of(system: mm.System) -> mm.HarmonicAngleForce:
    """The Force."""
    return next(force for force in system.getForces() if isinstance(force, mm.HarmonicAngleForce))


def hold_others(system: mm.System, positions: np.ndarray, angles: int, expressions: int, bodies: int) -> None:
    """Hold so many angles, as many dihedrals, expressions of three particles, and rigid bodies: atoms with
    their hydrogens, which bonds join to the rest. Each are spread evenly over the System, at their present values.

    :raises ValueError: if there are fewer
    """
    terms = angles_of(system)
    places = [tuple(terms.getAngleParameters(n)[:3]) for n in range(terms.getNumAngles())]
    force = mc.ConstraintForce()
    held = hold_bodies(system, positions, bodies, force)
    places = [place for place in places if not held & {*place}]
    hold_angles(places, positions, angles, force)
    custom = mc.CustomConstraintForce(3, EXPRESSION)
    custom.addPerConstraintParameter("q")
    for i, j, k in spread(places, expressions, 3):
        value = np.linalg.norm(positions[i] - positions[k]) + 0.3 * np.linalg.norm(positions[j] - positions[k]) ** 2
        custom.addConstraint([i, j, k], [float(value)])
    if angles > 0 or bodies > 0:
        system.addForce(force)
    if expressions > 0:
        system.addForce(custom)


def spread(places: list, count: int, first: int = 0) -> list:
    """So many of them, from all over the System."""
    found = places[first :: max(1, len(places) // count)][:count] if count > 0 else []
    if len(found) < count:
        raise ValueError(f"the System has {len(found)} of {count} places")
    return found


def hold_bodies(system: mm.System, positions: np.ndarray, count: int, force: mc.ConstraintForce) -> set[int]:
    """Hold atoms with two or three hydrogens as rigid bodies, but no water; returns the hydrogens."""
    hydrogens: dict[int, list[int]] = {}
    joined = set()  # to other atoms than hydrogens
    for n in range(system.getNumConstraints()):
        pair = system.getConstraintParameters(n)[:2]
        light, heavy = sorted(pair, key=lambda i: system.getParticleMass(i)._value)
        if system.getParticleMass(light)._value < MOST_OF_HYDROGEN:
            hydrogens.setdefault(heavy, []).append(light)
        else:
            joined |= {light, heavy}
    groups = [(atom, *some) for atom, some in sorted(hydrogens.items()) if len(some) > 1 and atom in joined]
    bodies = spread(groups, count)
    for body in bodies:
        force.addRigidBody(list(body), [mm.Vec3(*positions[i]) for i in body])
    return {i for body in bodies for i in body[1:]}


def hold_angles(angles: list, positions: np.ndarray, count: int, force: mc.ConstraintForce) -> None:
    """Hold angles and dihedrals."""
    ends = {}  # of angles, by the two particles that they end with
    for i, j, k in angles:
        ends.setdefault((i, j), k)
        ends.setdefault((k, j), i)
    dihedrals = [(i, j, k, ends[j, k]) for i, j, k in angles if ends.get((j, k), i) != i]
    for i, j, k in spread(angles, count):
        u, w = positions[i] - positions[j], positions[k] - positions[j]
        force.addAngle(i, j, k, float(np.arccos(u @ w / np.sqrt(u @ u * (w @ w)))))
    for particles in spread(dihedrals, count):
        a, b, c = (positions[one] - positions[other] for one, other in pairwise(particles))
        m, n = np.cross(a, b), np.cross(b, c)
        force.addDihedral(*particles, float(np.arctan2(-np.sqrt(b @ b) * (a @ n), m @ n)))
