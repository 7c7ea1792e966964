# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Small Systems with clusters of every size and all kinds of constraints."""

import math
from collections.abc import Sequence

import numpy as np
import openmm

import openmmconstraints as mc
from openmmconstraints.inspection.coordination import coordination_number


class Assembly:
    """A System that grows by molecules, each of which is bound to the one before by a weak spring."""

    def __init__(self, moves: bool):
        self.moves = moves  # whether targets may move
        self.random = np.random.default_rng(5)
        self.system = openmm.System()
        self.constraints = mc.ConstraintForce()
        self.springs = openmm.HarmonicBondForce()
        self.forces: list[openmm.Force] = []
        self.positions: list[np.ndarray] = []
        self.add_force(self.constraints)
        self.add_force(self.springs)

    def add_force(self, force: openmm.Force):
        self.forces.append(force)
        self.system.addForce(force)

    def add(self, masses: Sequence[float], positions) -> list[int]:
        """Particles, at positions relative to a place of their own."""
        first = len(self.positions)
        place = np.array([0.4 * (first % 7), 0.3 * (first % 5), 0.2 * (first % 3)])
        for mass, position in zip(masses, positions, strict=True):
            self.system.addParticle(mass)
            self.positions.append(place + position)
        if first > 0:
            self.springs.addBond(first - 1, first, 0.3, 200)
        return list(range(first, len(self.positions)))

    def distance(self, i: int, j: int, rate: float = 0):
        self.constraints.addDistance(i, j, self.between([i], [j]), rate if self.moves else 0)

    def between(self, group1: Sequence[int], group2: Sequence[int]) -> float:
        """The distance between two centroids by mass."""
        centres = []
        for group in (group1, group2):
            masses = np.array([self.system.getParticleMass(p)._value or 1 for p in group])
            centres.append(masses @ np.array([self.positions[p] for p in group]) / masses.sum())
        return float(np.linalg.norm(centres[0] - centres[1]))

    def angle(self, i: int, j: int, k: int):
        u, v = self.positions[i] - self.positions[j], self.positions[k] - self.positions[j]
        cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
        self.constraints.addAngle(i, j, k, math.acos(max(-1.0, cosine)))

    def dihedral(self, i: int, j: int, k: int, m: int):
        b = [self.positions[q] - self.positions[p] for p, q in ((i, j), (j, k), (k, m))]
        n1, n2 = np.cross(b[0], b[1]), np.cross(b[1], b[2])
        phi = math.atan2(b[0] @ n2 * np.linalg.norm(b[1]), n1 @ n2)
        self.constraints.addDihedral(i, j, k, m, phi)

    def sum_of_distances(self, i: int, j: int, k: int):
        """A user's expression with parameters of both kinds."""
        force = mc.CustomConstraintForce(3, "distance(p1, p2) + scale*distance(p2, p3) - sum")
        force.addPerConstraintParameter("sum")
        force.addGlobalParameter("scale", 0.5)
        force.addConstraint([i, j, k], [self.between([i], [j]) + 0.5 * self.between([j], [k])])
        self.add_force(force)

    def height(self, group1: Sequence[int], group2: Sequence[int]):
        """An expression of centroids, one of them by given weights."""
        force = mc.CustomCentroidConstraintForce(2, "(z1 - z2)^2 + 0.1*distance(g1, g2) - h")
        force.addPerConstraintParameter("h")
        force.addGroup(group1)
        force.addGroup(group2, [1.0 + i for i in range(len(group2))])
        X = self.centre(group1, [self.system.getParticleMass(p)._value for p in group1])
        Y = self.centre(group2, [1.0 + i for i in range(len(group2))])
        force.addConstraint([0, 1], [float((X - Y)[2] ** 2 + 0.1 * np.linalg.norm(X - Y))])
        self.add_force(force)

    def centre(self, group: Sequence[int], weights: Sequence[float]) -> np.ndarray:
        return np.average([self.positions[p] for p in group], axis=0, weights=weights)

    def centroids(self, group1: Sequence[int], group2: Sequence[int], rate: float = 0):
        self.constraints.addCentroidDistance(group1, group2, self.between(group1, group2), rate if self.moves else 0)

    def coordination(self, group1: Sequence[int], group2: Sequence[int]):
        number = coordination_number(np.array(self.positions), group1, group2, r0=0.4, n=6, m=12, cutoff=1.5)
        self.constraints.addCoordinationNumber(group1, group2, number, 0.4, cutoff=1.5)

    def chain(self, bonds: int, mass: float = 12, straightness: float = 0.6) -> list[int]:
        steps = self.random.normal(size=(bonds, 3)) + np.array([straightness, 0, 0])
        steps *= 0.15 / np.linalg.norm(steps, axis=1)[:, None]
        particles = self.add([mass + (i % 3) for i in range(bonds + 1)], np.cumsum([[0, 0, 0], *steps], axis=0))
        for i in particles[1:]:
            self.distance(i - 1, i)
        return particles

    def star(self, arms: int) -> list[int]:
        ends = self.random.normal(size=(arms, 3))
        ends *= 0.11 / np.linalg.norm(ends, axis=1)[:, None]
        particles = self.add([12, *[1 + 0.1 * i for i in range(arms)]], [[0, 0, 0], *ends])
        for i in particles[1:]:
            self.distance(particles[0], i)
        return particles

    def water(self) -> list[int]:
        particles = self.add([16, 1, 1], [[0, 0, 0], [0.1, 0, 0], [-0.03, 0.095, 0]])
        for i, j in ((0, 1), (0, 2), (1, 2)):
            self.distance(particles[i], particles[j])
        return particles

    def tetrahedron(self, centre: bool) -> list[int]:
        """All distances: of five particles one is redundant."""
        corners = 0.063 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
        masses, places = [1, 1.5, 2, 2.5], list(corners)
        if centre:
            masses, places = [12, *masses], [np.zeros(3), *places]
        particles = self.add(masses, places)
        for i in particles:
            for j in range(particles[0], i):
                self.distance(j, i)
        return particles


def small(a: Assembly):
    """Clusters in registers, and particles without constraints."""
    for _ in range(3):
        a.add([23], [[0, 0, 0]])
        a.star(1)
        a.water()
        a.star(3)
    a.star(2)


def local(a: Assembly):
    """Clusters of four to eight distances, with numbers in local memory."""
    a.water()
    for size in (4, 5, 6, 7, 8):
        a.star(size)
        a.chain(size)
    a.tetrahedron(centre=False)


def anchored(a: Assembly):
    """Immovable particles, each shared by clusters of each size."""
    for sizes in ((0, 0, 1), (2, 4, 7), (0, 3, 12)):  # bonds besides that to the immovable one
        start = len(a.positions)
        a.add([0], [[0, 0, 0]])
        for size in sizes:
            chain = a.chain(size)
            a.distance(start, chain[0])


def kinds(a: Assembly):
    """Every kind of constraint, in clusters of few rows."""
    p = a.chain(2)
    a.angle(*p)
    p = a.chain(3)
    a.dihedral(*p)
    p = a.chain(3)
    a.sum_of_distances(*p[:3])
    a.sum_of_distances(*p[1:])
    p = a.add([1 + i for i in range(6)], 0.2 * a.random.normal(size=(6, 3)))
    a.centroids(p[:3], p[3:])
    p = a.add([1 + i for i in range(6)], 0.2 * a.random.normal(size=(6, 3)))
    a.height(p[:3], p[3:])
    p = a.chain(2)
    a.distance(p[0], p[2], 0.05)
    straight = [[0, 0, 0], [0.1, 0, 0], [0.25, 0, 0]]
    p = a.add([12, 14, 16], straight)
    a.angle(*p)
    a.distance(p[0], p[1])
    a.constraints.addRigidBody(a.add([12, 14, 16], straight), straight)
    planar = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0], [0.05, 0.05, 0]]
    a.constraints.addRigidBody(a.add([12, 1, 14, 1, 16], planar), planar)
    body = 0.1 * a.random.normal(size=(6, 3))
    a.constraints.addRigidBody(a.add([12, 1, 14, 1, 16, 2], body), body)


def large(a: Assembly):
    """Every kind of constraint in one cluster."""
    p = a.chain(24)
    a.angle(*p[0:3])
    a.angle(*p[4:7])
    a.dihedral(*p[8:12])
    a.sum_of_distances(*p[13:16])
    a.centroids(p[0:4], p[20:24])
    a.height(p[5:8], p[14:18])
    a.distance(p[17], p[19], 0.05)
    straight = [[0, 0, 0], [0.1, 0, 0], [0.25, 0, 0]]
    line = a.add([12, 14, 16], straight)
    a.angle(*line)
    a.distance(line[0], p[12])
    body = 0.1 * a.random.normal(size=(5, 3))
    rigid = a.add([12, 1, 14, 1, 16], body)
    a.constraints.addRigidBody(rigid, body)
    a.distance(rigid[0], p[22])


def chains(a: Assembly):
    """Clusters of thread blocks, of which oclgrind's device runs six at a time: the first block takes two in turn."""
    for _ in range(7):
        a.chain(9)


def branched(a: Assembly):
    """Distances only: more rows than a block has threads, on many levels, and a smaller cluster."""
    backbone = a.chain(90)
    for i in backbone[1:-1:2]:
        side = a.chain(1)
        a.distance(i, side[0])
    for i in range(0, 88, 11):
        a.distance(backbone[i], backbone[i + 2])
    p = a.chain(16)
    a.distance(p[0], p[2])


def redundant(a: Assembly):
    for _ in range(2):
        a.tetrahedron(centre=True)
    p = a.star(3)
    a.distance(p[0], p[1])


def bodies(a: Assembly):
    """Rigid bodies that no constraint joins: of a thread, of a block, and with anchors."""
    for size, anchors in ((3, 0), (2, 0), (5, 1), (6, 2), (21, 0), (70, 0)):
        shape = 0.1 * size ** (1 / 3) * a.random.normal(size=(size, 3))
        p = a.add([0 if i < anchors else 5 + i % 7 for i in range(size)], shape)
        a.constraints.addRigidBody(p, shape)
    a.add([23], [[0, 0, 0]])


def joints(a: Assembly):
    """Rigid bodies that share particles, and that constraints join: a thread or a block sums up their particles."""
    sizes = (4, 24, 5)
    p = [a.add([5 + i % 7 for i in range(n)], 0.1 * n ** (1 / 3) * a.random.normal(size=(n, 3))) for n in sizes]
    rigid = [p[0], p[0][2:] + p[1], p[1][:1] + p[2]]  # a hinge and a ball joint
    for body in rigid:
        a.constraints.addRigidBody(body, np.array([a.positions[i] for i in body]))
    free = a.add([14], [[0, 0, 0]])
    a.distance(p[2][1], free[0])
    a.angle(p[2][2], p[2][1], free[0])
    a.centroids(p[0][:2], free + p[1][1:3])
    a.height(p[0][:2] + free, p[2][3:5])
    anchored = a.add([0, 6, 7, 8], 0.1 * a.random.normal(size=(4, 3)))
    a.constraints.addRigidBody(anchored, np.array([a.positions[i] for i in anchored]))
    a.distance(anchored[1], p[0][0])


def row_of_bodies(a: Assembly):
    """Rigid bodies that share a particle with the next one or are joined to it by a distance: they can be cut."""
    last = -1
    for b in range(8):
        body = a.add([5, 6, 7, 8], 0.1 * a.random.normal(size=(4, 3)))
        if b % 2 == 1:
            body = [last, *body]
        elif b > 0:
            a.distance(last, body[0])
        a.constraints.addRigidBody(body, np.array([a.positions[i] for i in body]))
        last = body[-1]


def hinge(a: Assembly):
    """A cluster of few rows, and a free body."""
    p = a.add([5, 6, 7, 8, 9, 10], 0.1 * a.random.normal(size=(6, 3)))
    for body in (p[:4], p[2:]):
        a.constraints.addRigidBody(body, np.array([a.positions[i] for i in body]))
    shape = 0.1 * a.random.normal(size=(3, 3))
    a.constraints.addRigidBody(a.add([3, 4, 5], shape), shape)


def everything(a: Assembly):
    """Clusters of every range, for what happens between launches."""
    small(a)
    a.star(5)
    kinds(a)
    large(a)


def groups(a: Assembly):
    """Bordered rows: groups of waters, of a cluster of a block, and of free particles, some of which overlap."""
    waters = [i for _ in range(4) for i in a.water()]
    chain = a.chain(11)
    free = a.add([5, 6], [[0, 0, 0], [0.2, 0.1, 0]])
    a.height(waters[:7], waters[5:])
    a.centroids(waters[:6], chain[:5] + free)
    a.centroids(chain[:3], chain[8:], 0.05)
    a.height(free[:1], waters[9:])
    a.coordination(waters[::3] + free, chain + free[:1])


def groups_of_bodies(a: Assembly):
    """Bordered rows that reach joined bodies: two that share a particle, in a cluster with a chain, and one in none."""
    waters = [i for _ in range(3) for i in a.water()]
    chain = a.chain(9)
    sizes = (4, 18, 70)
    p = [a.add([5 + i % 7 for i in range(n)], 0.1 * n ** (1 / 3) * a.random.normal(size=(n, 3))) for n in sizes]
    for body in (p[0], p[0][3:] + p[1], p[2]):
        a.constraints.addRigidBody(body, np.array([a.positions[i] for i in body]))
    a.distance(chain[0], p[1][2])
    a.height(p[0] + waters[:4], chain)
    a.centroids(p[2] + waters[6:], p[1][5:9] + p[0][:1])


def stiff(a: Assembly):
    """Light particles between heavy ones, nearly in a line: pivots vanish in single precision."""
    n = 13
    places = np.zeros((n, 3))
    for i in range(1, n):
        places[i] = places[i - 1] + [0.15, 5e-5 * math.sin(i), 5e-5 * math.cos(3 * i)]
    p = a.add([1e-3 if i % 2 else 1e5 for i in range(n)], places)
    for i in p[1:]:
        a.distance(i - 1, i)
