# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraint errors measured from positions, independently of what an integrator reports."""

from __future__ import annotations

import numpy as np
import openmm as mm
from openmm import unit


def minimum_image(delta: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Displacements [..., 3] (nm) by the minimum image; box: three vectors in reduced, lower triangular form."""
    for vector in reversed(box):
        axis = np.flatnonzero(vector)[-1]
        delta = delta - np.rint(delta[..., axis] / vector[axis])[..., None] * vector
    return delta


class BondMeter:
    """Measures the System's constraints, by the minimum image."""

    def __init__(self, system: mm.System) -> None:
        rows = [system.getConstraintParameters(i) for i in range(system.getNumConstraints())]
        self.first = np.array([row[0] for row in rows], dtype=int)
        self.second = np.array([row[1] for row in rows], dtype=int)
        self.lengths = np.array([row[2].value_in_unit(unit.nanometer) for row in rows])
        self.periodic = system.usesPeriodicBoundaryConditions()

    def largest_error(self, state: mm.State) -> float:
        """Largest |d - d0|/d0 of all constraints; the State has positions."""
        if len(self.lengths) == 0:
            return 0.0
        positions = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
        delta = positions[self.second] - positions[self.first]
        if self.periodic:
            delta = minimum_image(delta, state.getPeriodicBoxVectors(asNumpy=True).value_in_unit(unit.nanometer))
        return float(np.max(np.abs(np.linalg.norm(delta, axis=1) / self.lengths - 1)))
