# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Inputs of single applications of constraints, for benchmarks/applications.cpp.

A folder holds for each case, such as villin-HBonds (a size is part of it: chain:50-AllBonds is chain_50-AllBonds):

    CASE.system.xml    the System: masses, its constraints as System constraints, its angles
    CASE.N.state.xml   States of successive steps, N = 0, 1, ...: positions (nm) on the constraints to rounding, and the
                       velocities (nm/ps) that ShakeIntegrator's step of STEP_SIZE ps gives without constraints. Their
                       product is the displacement to be constrained.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.measure import Case
from openmmconstraints.benchmark.start import TOLERANCE, accelerations
from openmmconstraints.benchmark.timing import without_forces
from openmmconstraints.benchmark.villin import STEP_SIZE

FRAMES = 4


def case_name(case: Case) -> str:
    """Its part of file names."""
    return f"{case.chosen.name}-{case.set}".replace(":", "_")


def write_input(case: Case, folder: Path) -> list[Path]:
    """Write the files of a case; returns their paths."""
    stem = case_name(case)
    system = folder / f"{stem}.system.xml"
    system.write_text(mm.XmlSerializer.serialize(without_forces(case.system)), encoding="utf-8")
    return [system, *_write_states(case, folder, stem)]


def _write_states(case: Case, folder: Path, stem: str) -> list[Path]:
    integrator = mc.ShakeIntegrator(STEP_SIZE)
    integrator.setConstraintTolerance(TOLERANCE)
    run = mm.Context(case.moved, integrator, mm.Platform.getPlatform("CPU"))
    run.setPositions(case.start.positions)
    run.setVelocities(case.start.half_step_velocities)
    carrier = _carrier(case)
    paths = []
    for frame in range(FRAMES):
        state = run.getState(positions=True, velocities=True)
        velocities = np.array(state.getVelocities(asNumpy=True)._value) + STEP_SIZE * accelerations(run, case.moved)
        carrier.setPositions(state.getPositions())
        carrier.setVelocities(velocities)
        carrier.setPeriodicBoxVectors(*state.getPeriodicBoxVectors())
        path = folder / f"{stem}.{frame}.state.xml"
        path.write_text(mm.XmlSerializer.serialize(carrier.getState(positions=True, velocities=True)), encoding="utf-8")
        paths.append(path)
        integrator.step(1)
    return paths


def _carrier(case: Case) -> mm.Context:
    """A Context that only makes States: no constraints, no forces."""
    system = mm.System()
    for i in range(case.system.getNumParticles()):
        system.addParticle(case.system.getParticleMass(i))
    system.setDefaultPeriodicBoxVectors(*case.system.getDefaultPeriodicBoxVectors())
    return mm.Context(system, mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatform("Reference"))
