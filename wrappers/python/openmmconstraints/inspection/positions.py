# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Positions that users give, in nm."""

from __future__ import annotations

from typing import Any

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints._quantities import to_positions


def positions_of(system: mm.System, positions: Any, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions of all particles, and the vectors of the periodic box that belong to them, nm.

    Parameters
    ----------
    system : openmm.System
        which has the box, unless a State is given
    positions : openmm.State, array of shape (numParticles, 3) (nm) or Quantity
    method : str
        who asks, for errors

    Raises
    ------
    TypeError
        if positions are not lengths
    ValueError
        if a State has no positions, or their number is not that of particles
    """
    if positions is None:
        raise TypeError(f"{method}: positions of all particles are needed, not None.")
    if isinstance(positions, mm.Context):
        raise TypeError(
            f"{method}: positions or a State are needed, not a Context: give getState(positions=True) of it."
        )
    vectors = system.getDefaultPeriodicBoxVectors()
    if isinstance(positions, mm.State):
        state = positions
        vectors = state.getPeriodicBoxVectors()
        try:
            positions = state.getPositions(asNumpy=True)
        except mm.OpenMMException as error:
            raise ValueError(
                f"{method}: the State has no positions. Take one with getState(positions=True)."
            ) from error
    is_array = unit.is_quantity(positions) and isinstance(positions._value, np.ndarray)
    if is_array and positions.unit.is_compatible(unit.nanometer):  # other units are refused below
        positions = positions.value_in_unit(unit.nanometer)
    if not (isinstance(positions, np.ndarray) and positions.ndim == 2 and positions.shape[1] == 3):
        positions = np.array(to_positions(positions, method)).reshape(-1, 3)
    x = np.asarray(positions, dtype=float)
    if len(x) != system.getNumParticles():
        raise ValueError(f"{method}: there are {len(x)} positions and {system.getNumParticles()} particles.")
    return x, np.array([vector.value_in_unit(unit.nanometer) for vector in vectors])
