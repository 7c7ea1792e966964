# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Run one time step on the emulated CUDA platform, and write its launches: calls.jsonl and pages.bin of
tests/calls/Recorder.h.

    record.py SYSTEM.xml STATE.xml INTEGRATOR COPIES

The environment, which recordings.py sets, has the stand-ins for the driver and for NVRTC in LD_LIBRARY_PATH, and names
the folder.
"""

from __future__ import annotations

import ctypes
import sys
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


def copied(system: mm.System, copies: int) -> mm.System:
    """A System of so many copies, with their angles: OpenMM's CCMA reads these."""
    result = mm.XmlSerializer.clone(system)
    masses = [system.getParticleMass(i) for i in range(system.getNumParticles())]
    constraints = [system.getConstraintParameters(i) for i in range(system.getNumConstraints())]
    angles = next(force for force in result.getForces() if isinstance(force, mm.HarmonicAngleForce))
    parameters = [angles.getAngleParameters(i) for i in range(angles.getNumAngles())]
    for copy in range(1, copies):
        first = copy * len(masses)
        for mass in masses:
            result.addParticle(mass)
        for i, j, length in constraints:
            result.addConstraint(first + i, first + j, length)
        for i, j, k, angle, stiffness in parameters:
            angles.addAngle(first + i, first + j, first + k, angle, stiffness)
    return result


def side_by_side(state: mm.State, copies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and velocities of copies in a box of boxes, and its vectors."""
    box = np.array(state.getPeriodicBoxVectors(asNumpy=True)._value)
    number = round(copies ** (1 / 3) + 0.499)  # along each vector
    places = np.array(list(np.ndindex(number, number, number))[:copies])
    positions = np.array(state.getPositions(asNumpy=True)._value)
    velocities = np.array(state.getVelocities(asNumpy=True)._value)
    return np.concatenate([positions + place @ box for place in places]), np.tile(velocities, (copies, 1)), number * box


def main() -> None:
    """The second step is recorded: the first one has set-ups and projections of its own."""
    system_file, state_file, name, copies = sys.argv[1:]
    one = mm.XmlSerializer.deserialize(Path(system_file).read_text(encoding="utf-8"))
    state = mm.XmlSerializer.deserialize(Path(state_file).read_text(encoding="utf-8"))
    system = copied(one, int(copies))
    integrator = INTEGRATORS[name]()
    integrator.setConstraintTolerance(TOLERANCE)
    if hasattr(integrator, "setRandomNumberSeed"):
        integrator.setRandomNumberSeed(1)
    properties = {"Precision": "mixed", "DeterministicForces": "true"}
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), properties)
    positions, velocities, box = side_by_side(state, int(copies))
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
