# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Values of the expressions of Forces at given positions, which OpenMM's own Forces of expressions evaluate."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.inspection.kinds import particles_of
from openmmconstraints.inspection.system import particle_masses
from openmmconstraints.wrapper import CustomCentroidConstraintForce, CustomConstraintForce


def evaluate_expressions(
    force: CustomConstraintForce | CustomCentroidConstraintForce,
    which: Sequence[int],
    positions: np.ndarray,
    box: np.ndarray,
    system: mm.System,
    variables: Mapping[str, float],
) -> np.ndarray:
    """The values of a Force's expression for some of its constraints, in one evaluation.

    OpenMM has the same parser and the same functions. The energy of constraint k is its expression times a coordinate
    of a particle that is added for it, so that the force on this particle is the negative value.

    :param which:     [n] indices of constraints
    :param positions: [particles, 3] nm
    :param box:       three vectors, nm
    :param system:    which has the masses
    :param variables: Context parameters, and t, the time (ps)
    :return:          [n]
    """
    if len(which) == 0:
        return np.empty(0)
    used = sorted({p for k in which for p in particles_of(force, k)} | _of_groups(force, which))
    place_of = {particle: place for place, particle in enumerate(used)}
    bare = mm.System()
    for mass in [*particle_masses(system, used), *np.ones(len(which))]:
        bare.addParticle(mass)
    bare.setDefaultPeriodicBoxVectors(*(mm.Vec3(*vector) for vector in box))
    meter, axis = _meter(force, variables)
    if isinstance(force, CustomConstraintForce):
        points_of = place_of
    else:
        points_of = {}
        for g in sorted({g for k in which for g in force.getConstraintParameters(k)[0]}):
            particles, weights = force.getGroupParameters(g)
            points_of[g] = meter.addGroup([place_of[p] for p in particles], weights)
    for i, k in enumerate(which):
        points, parameters = force.getConstraintParameters(k)
        added = len(used) + i
        if isinstance(force, CustomCentroidConstraintForce):
            added = meter.addGroup([added], [1.0])
        meter.addBond([*(points_of[p] for p in points), added], parameters)
    bare.addForce(meter)
    context = mm.Context(bare, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(np.concatenate([positions[used], np.ones((len(which), 3))]))
    forces = context.getState(forces=True).getForces(asNumpy=True)
    return -forces.value_in_unit(unit.kilojoule_per_mole / unit.nanometer)[len(used) :, axis]


def _of_groups(force: CustomConstraintForce | CustomCentroidConstraintForce, which: Sequence[int]) -> set[int]:
    """All particles of groups, those without weight too."""
    if isinstance(force, CustomConstraintForce):
        return set()
    groups = {g for k in which for g in force.getConstraintParameters(k)[0]}
    return {p for g in groups for p in force.getGroupParameters(g)[0]}


def _meter(
    force: CustomConstraintForce | CustomCentroidConstraintForce, variables: Mapping[str, float]
) -> tuple[mm.Force, int]:
    """A Force of OpenMM with the expression, parameters and tables of another one, for one point more, by a coordinate
    of which its energy is multiplied; and which coordinate that is, one that no parameter is called."""
    of_particles = isinstance(force, CustomConstraintForce)
    number = force.getNumParticlesPerConstraint() if of_particles else force.getNumGroupsPerConstraint()
    own = [force.getPerConstraintParameterName(i) for i in range(force.getNumPerConstraintParameters())]
    shared = [force.getGlobalParameterName(i) for i in range(force.getNumGlobalParameters())]
    axis = next(i for i in range(3) if f"{'xyz'[i]}{number + 1}" not in (*own, *shared))
    factor = f"{'xyz'[axis]}{number + 1}"
    # Parameters that are called as a coordinate of the added point get another name, which a definition gives back.
    added = {f"{sign}{number + 1}" for sign in "xyzp"}
    name_of = {name: f"parameter_{name}" if name in added else name for name in (*own, *shared, "t")}
    value, semicolon, definitions = force.getExpression().partition(";")
    text = "".join(f";{name}={other}" for name, other in name_of.items() if name != other)
    cls = mm.CustomCompoundBondForce if of_particles else mm.CustomCentroidBondForce
    meter = cls(number + 1, f"{factor}*({value}){semicolon}{definitions}{text}")
    for name in own:
        meter.addPerBondParameter(name_of[name])
    for name in (*shared, "t"):
        meter.addGlobalParameter(name_of[name], variables[name])
    for i in range(force.getNumTabulatedFunctions()):
        meter.addTabulatedFunction(force.getTabulatedFunctionName(i), copy.deepcopy(force.getTabulatedFunction(i)))
    meter.setUsesPeriodicBoundaryConditions(force.usesPeriodicBoundaryConditions())
    return meter, axis
