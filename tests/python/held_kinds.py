# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A chain of six particles with each kind of constraint, and what replaceSolver() is to count of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import openmm as mm
from molecules import system_of, topology_of
from openmm import app
from their_integrators import dihedral, positions

import openmmconstraints as mc

REFERENCE = mm.Platform.getPlatform("Reference")
CHAIN = np.array([[0, 0.1, 0], [0, 0, 0], [0.12, 0, 0], [0.15, 0.1, 0.06], [0.25, 0.1, 0.1], [0.3, 0, 0.1]])


def length(i: int, j: int) -> float:
    return float(np.linalg.norm(CHAIN[i] - CHAIN[j]))


def angle(i: int, j: int, k: int) -> float:
    a, b = CHAIN[i] - CHAIN[j], CHAIN[k] - CHAIN[j]
    return float(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


class Held(NamedTuple):
    """What is held, and what is to be counted."""

    make: Callable[[mc.ConstraintForce, mm.System], object]  # adds constraints
    independent: int
    declared: int = 0
    moved: int = 0
    counted: int = 0
    uncounted: tuple[str, ...] = ()
    positions: np.ndarray = CHAIN


def bonds(force: mc.ConstraintForce, system: mm.System) -> None:
    for i in range(5):
        force.addDistance(i, i + 1, length(i, i + 1))


def bonds_and_angles(force: mc.ConstraintForce, system: mm.System) -> None:
    bonds(force, system)
    for i in range(4):
        force.addAngle(i, i + 1, i + 2, angle(i, i + 1, i + 2))


def all_distances(force: mc.ConstraintForce, system: mm.System) -> None:
    for i in range(6):
        for j in range(i):
            system.addConstraint(j, i, length(i, j))


def line(force: mc.ConstraintForce, system: mm.System) -> None:
    for i, j, distance in ((0, 1, 0.1), (1, 2, 0.12), (0, 2, 0.22)):
        system.addConstraint(i, j, distance)


def straight(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDistance(0, 1, 0.1)
    force.addDistance(1, 2, 0.12)
    force.addAngle(0, 1, 2, np.pi)


def others(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDihedral(0, 1, 2, 3, dihedral(CHAIN[:4]))
    force.addCentroidDistance(
        [0, 1, 2], [3, 4, 5], float(np.linalg.norm(CHAIN[:3].mean(axis=0) - CHAIN[3:].mean(axis=0)))
    )
    for particle in (3, 4):
        plane = mc.CustomConstraintForce(1, "z1 - 0.08")
        plane.addConstraint([particle], [])
        system.addForce(plane)


def angle_without_sides(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addAngle(0, 1, 2, 1.6)
    force.addDistance(0, 2, length(0, 2))


def followed(force: mc.ConstraintForce, system: mm.System) -> None:
    force.addDistance(0, 1, 0.1)
    force.addGlobalParameter("lambda", 0)
    force.setDistanceInterpolation(0, "lambda", 0.12)


def anchored(force: mc.ConstraintForce, system: mm.System) -> None:
    system.setParticleMass(0, 0)
    force.addDistance(0, 1, 0.1)


ON_A_LINE = np.array([[0, 0, 0], [0.1, 0, 0], [0.22, 0, 0], *CHAIN[3:]])
KINDS = {
    "System": Held(lambda force, system: system.addConstraint(0, 1, 0.1), 1, counted=1),
    "distances": Held(bonds, 5, declared=5, counted=5),
    "angles with their sides": Held(bonds_and_angles, 9, declared=9, counted=9),
    "angle": Held(lambda force, system: force.addAngle(0, 1, 2, 1.6), 1, uncounted=("1 angle",)),
    "angle beside the distance of its ends": Held(
        angle_without_sides, 2, declared=1, counted=1, uncounted=("1 angle",)
    ),
    "straight angle": Held(straight, 4, declared=2, counted=2, uncounted=("1 angle",), positions=ON_A_LINE),
    "body": Held(lambda force, system: force.addRigidBody(range(6), CHAIN), 12, declared=12, counted=12),
    "linear body": Held(
        lambda force, system: force.addRigidBody(range(3), ON_A_LINE[:3]),
        4,
        declared=3,
        counted=3,
        uncounted=("1 rigid body",),
        positions=ON_A_LINE,
    ),
    "redundant distances": Held(all_distances, 12, moved=3, counted=12),
    "line of distances": Held(line, 4, counted=3, uncounted=("1 linear rigid body",), positions=ON_A_LINE),
    "dihedral, centroids, planes": Held(others, 4, uncounted=("1 dihedral", "1 centroid distance", "2 expressions")),
    "distance that follows a parameter": Held(followed, 1, uncounted=("1 distance",)),
    "distance to an anchor": Held(anchored, 1, uncounted=("1 distance",)),
}
FIXED = ("dihedral, centroids, planes", "distance to an anchor")  # with which a CMMotionRemover is refused


def removers(kind: str, wanted: bool) -> list[mm.Force]:
    return [mm.CMMotionRemover()] if wanted and kind not in FIXED else []


def build(kind: str, *forces: mm.Force) -> tuple[app.Topology, mm.System]:
    topology = topology_of(["C"] * 6)
    system, force = system_of(topology), mc.ConstraintForce()
    KINDS[kind].make(force, system)
    for each in (force, *forces):
        system.addForce(each)
    return topology, system


def distance(context: mm.Context, i: int = 0, j: int = 1) -> float:
    x = positions(context)
    return float(np.linalg.norm(x[i] - x[j]))
