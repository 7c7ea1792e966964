# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Run one time step on the emulated CUDA platform, and write its launches: calls.jsonl and pages.bin of
tests/calls/Recorder.h.

    record.py INTEGRATOR ANGLES EXPRESSIONS BODIES SYSTEM.xml STATE.xml COPIES [SYSTEM.xml STATE.xml COPIES ...]

ANGLES: so many angles and as many dihedrals of the whole system are held besides its constraints; likewise EXPRESSIONS
of three particles, and BODIES: carbons with their hydrogens, which bonds join to the rest.

The environment, which recordings.py sets, has the stand-ins for the driver and for NVRTC in LD_LIBRARY_PATH, and names
the folder.
"""

from __future__ import annotations

import ctypes
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc

STEP_SIZE = 0.002  # ps, of which the inputs' velocities are
TOLERANCE = 1e-5
INTEGRATORS = {
    "Rattle": lambda: mc.RattleIntegrator(STEP_SIZE),
    "Verlet": lambda: mm.VerletIntegrator(STEP_SIZE),
    "LangevinMiddle": lambda: mm.LangevinMiddleIntegrator(300, 1, STEP_SIZE),
}


def angles_of(system: mm.System) -> mm.HarmonicAngleForce:
    """The Force."""
    return next(force for force in system.getForces() if isinstance(force, mm.HarmonicAngleForce))


def joined(systems: list[mm.System]) -> mm.System:
    """All one after the other, with their angles: OpenMM's CCMA reads these."""
    result = mm.XmlSerializer.clone(systems[0])
    angles = angles_of(result)
    for system in systems[1:]:
        first = result.getNumParticles()
        for i in range(system.getNumParticles()):
            result.addParticle(system.getParticleMass(i))
        for n in range(system.getNumConstraints()):
            i, j, length = system.getConstraintParameters(n)
            result.addConstraint(first + i, first + j, length)
        added = angles_of(system)
        for n in range(added.getNumAngles()):
            i, j, k, angle, stiffness = added.getAngleParameters(n)
            angles.addAngle(first + i, first + j, first + k, angle, stiffness)
    return result


def spread(places: list, count: int, first: int = 0) -> list:
    """So many of them, from all over the system."""
    return places[first :: max(1, len(places) // count)][:count] if count > 0 else []


def hold_others(system: mm.System, positions: np.ndarray, counts: list[int]) -> None:
    """Hold angles and dihedrals, expressions and rigid bodies, each spread evenly, at their present values."""
    terms = angles_of(system)
    angles = [tuple(terms.getAngleParameters(n)[:3]) for n in range(terms.getNumAngles())]
    force = mc.ConstraintForce()
    bodies = hold_bodies(system, positions, counts[2], force)
    held = {i for body in bodies for i in body[1:]}
    angles = [angle for angle in angles if not held & {*angle}]
    hold_angles(angles, positions, counts[0], force)
    custom = mc.CustomConstraintForce(3, "distance(p1, p3) + 0.3*distance(p2, p3)^2 - q")
    custom.addPerConstraintParameter("q")
    for i, j, k in spread(angles, counts[1], 3):
        value = np.linalg.norm(positions[i] - positions[k]) + 0.3 * np.linalg.norm(positions[j] - positions[k]) ** 2
        custom.addConstraint([i, j, k], [float(value)])
    system.addForce(force)
    system.addForce(custom)


def hold_bodies(system: mm.System, positions: np.ndarray, count: int, force: mc.ConstraintForce) -> list[list[int]]:
    """Hold carbons with two or three hydrogens as rigid bodies; returns their particles."""
    hydrogens = {}
    for n in range(system.getNumConstraints()):
        pair = system.getConstraintParameters(n)[:2]
        light, heavy = sorted(pair, key=lambda i: system.getParticleMass(i)._value)
        if system.getParticleMass(light)._value < 2 and 11.5 < system.getParticleMass(heavy)._value < 12.5:
            hydrogens.setdefault(heavy, []).append(light)
    bodies = spread([[carbon, *some] for carbon, some in sorted(hydrogens.items()) if len(some) > 1], count)
    for body in bodies:
        force.addRigidBody(body, [mm.Vec3(*positions[i]) for i in body])
    return bodies


def hold_angles(angles: list, positions: np.ndarray, count: int, force: mc.ConstraintForce) -> None:
    """Hold angles and dihedrals that are spread evenly over the system, at their present values."""
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


def side_by_side(states: list[mm.State]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and velocities in a box of the first one's boxes, and its vectors."""
    box = np.array(states[0].getPeriodicBoxVectors(asNumpy=True)._value)
    number = round(len(states) ** (1 / 3) + 0.499)  # along each vector
    places = np.array(list(np.ndindex(number, number, number))[: len(states)])
    positions = [
        np.array(state.getPositions(asNumpy=True)._value) + place @ box
        for state, place in zip(states, places, strict=True)
    ]
    velocities = [np.array(state.getVelocities(asNumpy=True)._value) for state in states]
    return np.concatenate(positions), np.concatenate(velocities), number * box


def main() -> None:
    """The second step is recorded: the first one has set-ups and projections of its own."""
    name, angles, expressions, bodies, *molecules = sys.argv[1:]
    others = [int(angles), int(expressions), int(bodies)]
    systems, states = [], []
    for n in range(0, len(molecules), 3):
        system, state = (mm.XmlSerializer.deserialize(Path(file).read_text("utf-8")) for file in molecules[n : n + 2])
        systems += [system] * int(molecules[n + 2])
        states += [state] * int(molecules[n + 2])
    system = joined(systems)
    positions, velocities, box = side_by_side(states)
    if sum(others) > 0:
        hold_others(system, positions, others)
    integrator = INTEGRATORS[name]()
    integrator.setConstraintTolerance(TOLERANCE)
    if hasattr(integrator, "setRandomNumberSeed"):
        integrator.setRandomNumberSeed(1)
    properties = {"Precision": "mixed", "DeterministicForces": "true"}
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), properties)
    context.setPeriodicBoxVectors(*box)
    context.setPositions(positions)
    context.setVelocities(velocities)
    driver = ctypes.CDLL("libcuda.so.1")
    integrator.step(1)
    driver.recordLaunches(1)
    integrator.step(1)
    driver.recordLaunches(0)


if __name__ == "__main__":
    main()
