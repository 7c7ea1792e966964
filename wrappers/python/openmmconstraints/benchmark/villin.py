# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's system: the protein villin in water, from the files that come with OpenMM."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints.inspection.platforms import runs_on_pocl
from openmmconstraints.inspection.system import particle_masses

TEMPERATURE = 300.0  # K
MINIMIZER_ITERATIONS = 30
FRICTION = 10.0  # 1/ps
STEP_SIZE = 0.002  # ps
SEED = 20260


@dataclass(frozen=True)
class Villin:
    """A System with positions [numParticles, 3] (nm)."""

    system: mm.System
    positions: np.ndarray


@dataclass(frozen=True)
class StartState:
    """Where every run of a set of constraints starts: positions and velocities on the constraints at time t."""

    positions: np.ndarray  # [numParticles, 3] nm
    velocities: np.ndarray  # [numParticles, 3] nm/ps, at t
    half_step_velocities: np.ndarray  # [numParticles, 3] nm/ps, at t - dt/2, for leapfrog


def build_villin(constraints: str) -> Villin:
    """amber14 and TIP3P with PME; constraints: "HBonds" or "AllBonds", and rigid water.

    The centre of mass is left alone, so that the integrators are compared and nothing else.
    """
    pdb = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))
    force_field = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
    system = force_field.createSystem(
        pdb.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=0.9 * unit.nanometer,
        constraints=getattr(app, constraints),
        rigidWater=True,
        removeCMMotion=False,
    )
    return Villin(system, np.array(pdb.getPositions(asNumpy=True).value_in_unit(unit.nanometer)))


def equilibrate(villin: Villin, platform: mm.Platform, properties: dict[str, str], steps: int) -> StartState:
    """Minimize briefly, run LangevinMiddleIntegrator briefly, and put the result on the constraints."""
    integrator = mm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, STEP_SIZE)
    integrator.setRandomNumberSeed(SEED)
    context = mm.Context(villin.system, integrator, platform, properties)
    if runs_on_pocl(platform):
        context.setPositions(_minimize(villin))
    else:
        context.setPositions(villin.positions)
        mm.LocalEnergyMinimizer.minimize(context, maxIterations=MINIMIZER_ITERATIONS)
    context.setVelocitiesToTemperature(TEMPERATURE, SEED)
    for done in range(0, steps, 10):  # a few at a time, so that Ctrl-C takes effect
        integrator.step(min(10, steps - done))
    return _start_state(context, villin.system)


def _minimize(villin: Villin) -> unit.Quantity:
    """Positions, minimized on the CPU platform: OpenMM's minimizer for OpenCL crashes with PoCL (3.1 was tried)."""
    context = mm.Context(villin.system, mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatformByName("CPU"))
    context.setPositions(villin.positions)
    mm.LocalEnergyMinimizer.minimize(context, maxIterations=MINIMIZER_ITERATIONS)
    return context.getState(positions=True).getPositions(asNumpy=True)


def _start_state(context: mm.Context, system: mm.System) -> StartState:
    """With x and v(t) on the constraints, v(t-dt/2) = P[v(t) - dt/2 f/m], so that P[v(t-dt/2) + dt/2 f/m] = v(t)."""
    tolerance = context.getIntegrator().getConstraintTolerance()
    context.applyConstraints(tolerance)
    context.applyVelocityConstraints(tolerance)
    state = context.getState(positions=True, velocities=True, forces=True)
    velocities = state.getVelocities(asNumpy=True).value_in_unit(unit.nanometer / unit.picosecond)
    forces = state.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    masses = particle_masses(system)[:, None]
    inverse = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
    context.setVelocities(velocities - 0.5 * STEP_SIZE * forces * inverse)
    context.applyVelocityConstraints(tolerance)
    half = context.getState(velocities=True).getVelocities(asNumpy=True)
    return StartState(
        np.array(state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)),
        np.array(velocities),
        np.array(half.value_in_unit(unit.nanometer / unit.picosecond)),
    )
