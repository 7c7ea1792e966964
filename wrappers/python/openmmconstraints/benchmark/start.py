# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Starts of a system's runs: at 300 K, on the constraints to rounding.

They are made by this package's integrators on the CPU platform, because OpenMM's cannot start some of the systems.
"""

from __future__ import annotations

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.benchmark.model import Model
from openmmconstraints.benchmark.villin import FRICTION, SEED, STEP_SIZE, TEMPERATURE, StartState
from openmmconstraints.inspection.moves import project
from openmmconstraints.inspection.system import particle_masses

TOLERANCE = 1e-13
HEATING_STEP = 0.001  # ps

_VELOCITY = unit.nanometer / unit.picosecond
_FORCE = unit.kilojoule_per_mole / unit.nanometer


def relax(model: Model, iterations: int) -> np.ndarray:
    """Positions [numParticles, 3] (nm) without bad contacts: minimized without constraints if need be."""
    if model.is_relaxed:
        return model.positions
    context = mm.Context(model.create(None), mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatform("CPU"))
    context.setPositions(model.positions)
    mm.LocalEnergyMinimizer.minimize(context, maxIterations=iterations)
    return _read(context.getState(positions=True).getPositions(asNumpy=True), unit.nanometer)


def thermalize(system: mm.System, positions: np.ndarray, steps: int) -> StartState:
    """Bring a System whose constraints are in a ConstraintForce to 300 K.

    :param positions: [numParticles, 3] nm, roughly on the constraints
    """
    integrator = mc.RattleLangevinIntegrator(TEMPERATURE, FRICTION, HEATING_STEP)
    integrator.setRandomNumberSeed(SEED)
    integrator.setConstraintTolerance(1e-8)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CPU"))
    context.setPositions(positions)
    project(integrator)
    context.setVelocitiesToTemperature(TEMPERATURE, SEED)
    for done in range(0, steps, 10):  # a few at a time, so that Ctrl-C takes effect
        integrator.step(min(10, steps - done))
    integrator.setConstraintTolerance(TOLERANCE)
    project(integrator)
    context.setVelocitiesToTemperature(TEMPERATURE, SEED)
    integrator.applyVelocityConstraints()
    return _at_half_step(context, system)


def _at_half_step(context: mm.Context, system: mm.System) -> StartState:
    """v(t - dt/2) = P[v(t) - dt/2 f/m], so that P[v(t - dt/2) + dt/2 f/m] = v(t)."""
    state = context.getState(positions=True, velocities=True)
    positions = _read(state.getPositions(asNumpy=True), unit.nanometer)
    velocities = _read(state.getVelocities(asNumpy=True), _VELOCITY)
    context.setVelocities(velocities - 0.5 * STEP_SIZE * accelerations(context, system))
    context.getIntegrator().applyVelocityConstraints()
    half = _read(context.getState(velocities=True).getVelocities(asNumpy=True), _VELOCITY)
    return StartState(positions, velocities, half)


def accelerations(context: mm.Context, system: mm.System) -> np.ndarray:
    """f/m [numParticles, 3] (nm/ps^2) without constraint forces; 0 for what has no mass."""
    masses = particle_masses(system)[:, None]
    forces = _read(context.getState(forces=True).getForces(asNumpy=True), _FORCE)
    return forces * np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)


def _read(values: unit.Quantity, in_unit: unit.Unit) -> np.ndarray:
    return np.array(values.value_in_unit(in_unit))
