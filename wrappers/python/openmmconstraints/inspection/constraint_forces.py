# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraint forces and their virial at the present state of a Context."""

from __future__ import annotations

import copy

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.integrators import current_integrator, velocity_lag
from openmmconstraints.inspection.kinds import own_force
from openmmconstraints.inspection.numbering import require_unchanged
from openmmconstraints.inspection.system import particle_masses
from openmmconstraints.wrapper import ConstraintForceIntegrator


def computeConstraintForces(context: mm.Context) -> unit.Quantity:
    """The constraint forces at a Context's present state, those within rigid bodies too.

    They are sum_k lambda_k grad_i q_k with the multipliers of ConstraintIntegrator.computeMultipliers(), and what holds
    rigid bodies: mass times acceleration is the force of State.getForces() plus this one. They do not depend on the
    step size, and are there before the first step. ConstraintIntegrator.getConstraintForces() has what the last step
    applied instead. The call makes a Context on the Reference platform with the constraints and the forces alone: a
    reading for now and then, not for every step.

    Parameters
    ----------
    context : openmm.Context
        with an integrator of this package; of a CompoundIntegrator, the current child decides

    Returns
    -------
    openmm.unit.Quantity
        an array of shape (numParticles, 3) (kJ/mol/nm)

    Raises
    ------
    TypeError
        if the integrator is not one of this package's
    ValueError
        if the System has other constraints than when its Context was created
    openmm.OpenMMException
        if the constraints are singular, or a Context parameter was set and the positions have not been projected since
    """
    return _readings(context, "computeConstraintForces")[0]


def computeConstraintVirial(context: mm.Context) -> unit.Quantity:
    """The virial tensor of the constraint forces at a Context's present state, those within rigid bodies too.

    sum_k lambda_k sum_i r_i (x) grad_i q_k by minimum-image separations, with the forces of computeConstraintForces().
    ConstraintIntegrator.getConstraintVirial() has that of the last step instead.

    Parameters
    ----------
    context : openmm.Context
        as for computeConstraintForces()

    Returns
    -------
    openmm.unit.Quantity
        an array of shape (3, 3) (kJ/mol)

    Raises
    ------
    TypeError, ValueError, openmm.OpenMMException
        as computeConstraintForces()
    """
    return _readings(context, "computeConstraintVirial")[1]


def _readings(context: mm.Context, name: str) -> tuple[unit.Quantity, unit.Quantity]:
    """Forces and virial that a step of no length has from the present state: a ConstraintForceIntegrator reports
    exactly what acts at the start of its step."""
    require(mm.Context, context, name)
    integrator = current_integrator(
        context.getIntegrator(),
        f"{name}: the Context has {{}}, and constraint forces need an integrator of openmmconstraints. Use one: its "
        "computeMultipliers() and getConstraintForces() are readings, too.",
    )
    require_unchanged(context.getSystem(), integrator, name)
    groups = integrator.getIntegrationForceGroups()
    state = context.getState(positions=True, velocities=True, forces=True, groups=groups)
    masses = particle_masses(context.getSystem())
    forces = state.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    velocities = state.getVelocities(asNumpy=True).value_in_unit(unit.nanometer / unit.picosecond)
    movable = masses > 0
    velocities[movable] += velocity_lag(integrator) * forces[movable] / masses[movable, None]

    explicit = ConstraintForceIntegrator(0)  # which projects velocities that violate the constraints
    explicit.setStabilization(0, 0)
    explicit.setMaxDrift(1e300)  # positions are taken as they are, as computeMultipliers() does
    explicit.setConstraintTolerance(integrator.getConstraintTolerance())
    explicit.setMaxIterations(integrator.getMaxIterations())
    system = _bare_system(context.getSystem(), state, forces)
    bare = mm.Context(system, explicit, mm.Platform.getPlatform("Reference"))
    _take_state(bare, context, state, velocities)
    explicit.step(1)
    return explicit.getConstraintForces(asNumpy=True), explicit.getConstraintVirial(asNumpy=True)


def _bare_system(original: mm.System, state: mm.State, forces: np.ndarray) -> mm.System:
    """A System's particles and constraints, on which constant forces act. Virtual sites, on which no constraint acts,
    are particles without mass: their forces are among those on others already. Messages name a Force by its index, so
    an empty Force stands for each of another kind, and those that are added come last."""
    system = mm.System()
    for force in original.getForces():
        own = own_force(force)
        system.addForce(mm.HarmonicBondForce() if own is None else copy.deepcopy(own))
    field = mm.CustomExternalForce("-(fx*x+fy*y+fz*z)")
    for axis in "xyz":
        field.addPerParticleParameter(f"f{axis}")
    for i, force in enumerate(forces.tolist()):
        system.addParticle(original.getParticleMass(i))
        field.addParticle(i, force)
    for i in range(original.getNumConstraints()):
        system.addConstraint(*original.getConstraintParameters(i))
    system.setDefaultPeriodicBoxVectors(*state.getPeriodicBoxVectors())
    system.addForce(field)
    if original.usesPeriodicBoundaryConditions():
        images = mm.CustomBondForce("0")
        images.setUsesPeriodicBoundaryConditions(True)
        system.addForce(images)
    return system


def _take_state(bare: mm.Context, context: mm.Context, state: mm.State, velocities: np.ndarray) -> None:
    bare.setTime(state.getTime())
    for name in bare.getParameters():
        bare.setParameter(name, context.getParameter(name))
    bare.setPositions(state.getPositions(asNumpy=True))
    bare.setVelocities(velocities)
