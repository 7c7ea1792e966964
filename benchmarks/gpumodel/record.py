# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Run one time step on the emulated CUDA platform, and write its launches: calls.jsonl and pages.bin of
tests/calls/Recorder.h.

    record.py SYSTEM.xml STATE.xml INTEGRATOR

The environment, which recordings.py sets, has the stand-ins for the driver and for NVRTC in LD_LIBRARY_PATH, and names
the folder.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import openmm as mm

import openmmconstraints as mc

STEP_SIZE = 0.002  # ps, of which the inputs' velocities are
TOLERANCE = 1e-5
INTEGRATORS = {
    "Rattle": lambda: mc.RattleIntegrator(STEP_SIZE),
    "Verlet": lambda: mm.VerletIntegrator(STEP_SIZE),
    "LangevinMiddle": lambda: mm.LangevinMiddleIntegrator(300, 1, STEP_SIZE),
}


def main() -> None:
    """The second step is recorded: the first one has set-ups and projections of its own."""
    system_file, state_file, name = sys.argv[1:]
    system = mm.XmlSerializer.deserialize(Path(system_file).read_text(encoding="utf-8"))
    state = mm.XmlSerializer.deserialize(Path(state_file).read_text(encoding="utf-8"))
    integrator = INTEGRATORS[name]()
    integrator.setConstraintTolerance(TOLERANCE)
    if hasattr(integrator, "setRandomNumberSeed"):
        integrator.setRandomNumberSeed(1)
    properties = {"Precision": "mixed", "DeterministicForces": "true"}
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), properties)
    context.setPeriodicBoxVectors(*state.getPeriodicBoxVectors())
    context.setPositions(state.getPositions())
    context.setVelocities(state.getVelocities())
    driver = ctypes.CDLL("libcuda.so.1")
    integrator.step(1)
    driver.recordLaunches(1)
    integrator.step(1)
    driver.recordLaunches(0)


if __name__ == "__main__":
    main()
