# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Distances that a System holds."""

import openmm as mm
from openmm import unit

import openmmconstraints as mc


def held(system: mm.System) -> dict[tuple[int, int], float]:
    """Pairs and lengths (nm), from the System and from its ConstraintForces."""
    parameters = [system.getConstraintParameters(n) for n in range(system.getNumConstraints())]
    for force in system.getForces():
        if mc.ConstraintForce.isinstance(force):
            force = mc.ConstraintForce.cast(force)
            parameters += [force.getDistanceParameters(n) for n in range(force.getNumDistances())]
    return {tuple(sorted(p[:2])): p[2].value_in_unit(unit.nanometer) for p in parameters}
