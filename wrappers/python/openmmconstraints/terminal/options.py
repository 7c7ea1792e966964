# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Options of the commands that an integrator has to accept."""

from __future__ import annotations

from collections.abc import Callable

import openmm as mm
from openmm import unit

from openmmconstraints.inspection.errors import UserError

SHORTEST = 0.02  #: fs, of a time step; one of less than 20 fs that is given in ps is below that


def check_tolerance(integrator: type[mm.Integrator], tolerance: float) -> None:
    """Try whether an integrator accepts the value of --tolerance.

    :raises UserError: if it does not, with the integrator's message
    """
    _try_option(f"--tolerance {tolerance:g}", lambda: integrator(0.001).setConstraintTolerance(tolerance))


def check_step_size(integrator: type[mm.Integrator], femtoseconds: float) -> None:
    """Try whether an integrator accepts the value of --step-size.

    :raises UserError: if it does not, with the integrator's message, or if it looks like picoseconds
    """
    if 1e-4 <= femtoseconds < SHORTEST:
        raise UserError(
            f"--step-size {femtoseconds:g}: this is {femtoseconds:g} fs; did you mean {1e3 * femtoseconds:g}?"
        )
    _try_option(f"--step-size {femtoseconds:g}", lambda: integrator(femtoseconds * unit.femtosecond))


def _try_option(option: str, use: Callable[[], object]) -> None:
    try:
        use()
    except mm.OpenMMException as error:
        raise UserError(f"{option}: {error}") from error
