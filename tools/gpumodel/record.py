# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Run one time step on the emulated CUDA platform, and write its launches: calls.jsonl and pages.bin of
tests/calls/Recorder.h.

    python -m gpumodel.record INTEGRATOR ANGLES EXPRESSIONS BODIES SYSTEM.xml STATE.xml COPIES [SYSTEM.xml ...]

ANGLES, EXPRESSIONS and BODIES are numbers of what is held besides the constraints of the whole system, as
benchmarks/other_kinds.py says.

The environment, which cases.py sets, has the stand-ins for the driver and for NVRTC in LD_LIBRARY_PATH, and names
the folder.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from other_kinds import angles_of, hold_others

STEP_SIZE = 0.002  # ps, of which the inputs' velocities are
TOLERANCE = 1e-5
INTEGRATORS = {
    "Rattle": lambda: mc.RattleIntegrator(STEP_SIZE),
    "RattleLangevin": lambda: mc.RattleLangevinIntegrator(300, 1, STEP_SIZE),
    "Shake": lambda: mc.ShakeIntegrator(STEP_SIZE),
    "Verlet": lambda: mm.VerletIntegrator(STEP_SIZE),
    "LangevinMiddle": lambda: mm.LangevinMiddleIntegrator(300, 1, STEP_SIZE),
}

REPLACED = "Replaced"  #: before the name of an integrator of OpenMM that has our solver


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
    others = int(angles), int(expressions), int(bodies)
    systems, states = [], []
    for n in range(0, len(molecules), 3):
        system, state = (mm.XmlSerializer.deserialize(Path(file).read_text("utf-8")) for file in molecules[n : n + 2])
        systems += [system] * int(molecules[n + 2])
        states += [state] * int(molecules[n + 2])
    system = joined(systems)
    positions, velocities, box = side_by_side(states)
    hold_others(system, positions, *others)
    if name.startswith(REPLACED):
        force = mc.ConstraintForce()
        force.setReplacesSolver(True)
        system.addForce(force)
    integrator = INTEGRATORS[name.removeprefix(REPLACED)]()
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
