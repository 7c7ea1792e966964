# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Temperatures that reporters show."""

from __future__ import annotations

import io

import numpy as np
import pytest
from openmm import app
from platforms import bound

import openmmconstraints as mc


def assert_reporters_show(simulation: app.Simulation, masses: np.ndarray, degrees: int) -> None:
    """After two steps: twice the kinetic energy of the masses (amu), by kB and the number of degrees of freedom."""
    simulation.step(1)
    outputs = io.StringIO(), io.StringIO()
    simulation.reporters.append(app.StateDataReporter(outputs[0], 1, temperature=True))
    simulation.reporters.append(mc.ConstraintStateReporter(outputs[1], 1, temperature=True))
    simulation.step(1)
    v = simulation.context.getState(velocities=True).getVelocities(asNumpy=True)._value
    expected = (masses[:, None] * v * v).sum() / (degrees * 0.00831446261815324)
    for output in outputs:
        shown = float(output.getvalue().splitlines()[-1].split(",")[-1])
        assert shown == pytest.approx(expected, rel=bound(1e-9, mixed=1e-6))
