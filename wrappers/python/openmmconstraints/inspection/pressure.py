# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The instantaneous pressure of a Context, by scaling atoms."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.integrators import current_integrator
from openmmconstraints.wrapper import ConstraintIntegrator


@overload
def computePressure(context: mm.Context, *, returnError: Literal[False] = ...) -> unit.Quantity: ...
@overload
def computePressure(context: mm.Context, *, returnError: Literal[True]) -> tuple[unit.Quantity, unit.Quantity]: ...
def computePressure(context, *, returnError=False):
    """The instantaneous pressure at a Context's present state.

    P = (2 K + sum_i F_i.r_i + sum_k lambda_k sum_i r_i.grad_i xi_k) / (3 V): the positions of atoms are scaled with the
    box, not those of molecules. The average is the same where molecules are finite, and it exists for networks that
    span the box, too. The kinetic energy K and the multipliers lambda_k belong to the velocities whose temperature
    computeSystemTemperature() returns. The virial of the forces is -3V dU/dV, by central differences of the potential
    energy over changes of all lengths by 1e-3 and 5e-4, with Richardson's extrapolation: four energies. The Context's
    state is the same afterwards, bit for bit.

    Parameters
    ----------
    context : openmm.Context
        with an integrator of this package; of a CompoundIntegrator, the current child decides
    returnError : bool
        whether to return the error too: how far the differences over 1e-3 and 5e-4 are apart. Of energies without
        jumps it is much larger than the error of the result; where energies are rounded to floats, of its size

    Returns
    -------
    openmm.unit.Quantity
        the pressure (bar); with returnError a tuple of it and the error (bar)

    Raises
    ------
    TypeError
        if the integrator is not one of this package's
    openmm.OpenMMException
        if there is no periodic box, or if something is fixed in space: massless particles that are no virtual sites,
        expressions of absolute coordinates, a CustomExternalForce
    """
    pressure, error = (value * unit.bar for value in _integrator(context, "computePressure")._pressure())
    return (pressure, error) if returnError else pressure


@overload
def computePressureTensor(context: mm.Context, *, returnError: Literal[False] = ...) -> unit.Quantity: ...
@overload
def computePressureTensor(
    context: mm.Context, *, returnError: Literal[True]
) -> tuple[unit.Quantity, unit.Quantity]: ...
def computePressureTensor(context, *, returnError=False):
    """The instantaneous pressure tensor at a Context's present state.

    As computePressure(), one direction or shear of the box at a time: 24 energies. OpenCL and CUDA refuse to turn a
    rectangular box into a triclinic one; there the off-diagonal elements come from energies of a Context on the CPU
    platform, which is made for each call from the System as it is at that time.

    Parameters
    ----------
    context : openmm.Context
        as for computePressure()
    returnError : bool
        whether to return the errors too

    Returns
    -------
    openmm.unit.Quantity
        an array of shape (3, 3), symmetric (bar); with returnError a tuple of it and the errors, of the same shape

    Raises
    ------
    TypeError, openmm.OpenMMException
        as computePressure()
    """
    values = np.array(_integrator(context, "computePressureTensor")._pressureTensor()).reshape(2, 3, 3)
    pressure, error = (unit.Quantity(array, unit.bar) for array in values)
    return (pressure, error) if returnError else pressure


def _integrator(context: mm.Context, name: str) -> ConstraintIntegrator:
    require(mm.Context, context, name)
    return current_integrator(
        context.getIntegrator(),
        f"{name}: the Context has {{}}, and the pressure needs an integrator of openmmconstraints. Use one, or a "
        "barostat of OpenMM: MonteCarloBarostat.computeCurrentPressure(context).",
    )
