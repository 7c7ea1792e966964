# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Pairs within rigid bodies in Forces between pairs of particles."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import openmm as mm

from openmmconstraints.helpers.terms import has_parameters
from openmmconstraints.inspection.listing import is_periodic


def excluded_pairs(force: mm.Force) -> list[tuple[int, int]] | None:
    """Pairs that a Force between pairs leaves out, or treats apart; None: it is no such Force."""
    if isinstance(force, mm.NonbondedForce):
        return [tuple(force.getExceptionParameters(k)[:2]) for k in range(force.getNumExceptions())]
    if isinstance(force, mm.CustomNonbondedForce):
        return [tuple(force.getExclusionParticles(k)) for k in range(force.getNumExclusions())]
    return None


def zero_exceptions(force: mm.NonbondedForce, bodies_of: list[frozenset[int]]) -> int:
    """Set interactions of excepted pairs within a body to zero, but for those that a parameter shifts."""
    offset = {force.getExceptionParameterOffset(k)[1] for k in range(force.getNumExceptionParameterOffsets())}
    zeroed = 0
    for k in range(force.getNumExceptions()):
        if k in offset:
            continue
        first, second, charge, sigma, epsilon = force.getExceptionParameters(k)
        if bodies_of[first].isdisjoint(bodies_of[second]) or (charge._value == 0 and epsilon._value == 0):
            continue
        force.setExceptionParameters(k, first, second, 0 * charge, sigma, 0 * epsilon)
        zeroed += 1
    return zeroed


def require_excludable(system: mm.System, shapes: list[np.ndarray], vectors: np.ndarray) -> None:
    """Check that pairs can be excluded: their forces have to cancel, and their energy has to be constant.

    Raises
    ------
    ValueError
        if that is not so, or if another Force has exclusions, which devices need to be those of all Forces
    """
    longest = max(2 * np.linalg.norm(shape - shape.mean(axis=0), axis=1).max() for shape in shapes)
    for force in system.getForces():
        if isinstance(force, mm.CustomGBForce) and force.getNumExclusions() > 0:
            why = "it would need the same exclusions, and its energy is not a sum over pairs"
        elif not isinstance(force, (mm.NonbondedForce, mm.CustomNonbondedForce)):
            continue
        elif has_parameters(force):
            why = "its energy depends on global parameters"
        elif is_periodic(force) and longest + force.getCutoffDistance()._value > np.diag(vectors).min():
            why = f"a body is up to {longest:.3g} nm long, and interacts with its own images in the periodic box"
        else:
            continue
        raise ValueError(f"makeRigid: excludePairs is not possible in the {force.getName()}: {why}. Leave it out.")


def exclude_within(system: mm.System, bodies: list[list[int]]) -> int:
    """Exclude all pairs of each body from all Forces of pairs. @return how many were not excluded in the first one"""
    counts = []
    for force in system.getForces():
        pairs = excluded_pairs(force)
        if pairs is None:
            continue
        known = {(min(pair), max(pair)) for pair in pairs}
        before = len(known)
        for atoms in bodies:
            for pair in combinations(atoms, 2):
                if pair in known:
                    continue
                known.add(pair)
                if isinstance(force, mm.NonbondedForce):
                    force.addException(*pair, 0, 1, 0)
                else:
                    force.addExclusion(*pair)
        counts.append(len(known) - before)
    return max(counts, default=0)
