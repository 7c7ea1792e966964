# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mistakes of the user, told apart from faults of the program."""

from collections.abc import Callable

import openmm as mm
from openmm import unit


class UserError(Exception):
    """Something the user gave cannot be used. Shown as one sentence on stderr; the exit status is 2."""


def check_tolerance(integrator: type[mm.Integrator], tolerance: float) -> None:
    """Ask an integrator whether it takes this constraint tolerance.

    :raises UserError: if not, in the integrator's words
    """
    _ask(f"--tolerance {tolerance:g}", lambda: integrator(0.001).setConstraintTolerance(tolerance))


def check_step_size(integrator: type[mm.Integrator], femtoseconds: float) -> None:
    """Ask an integrator whether it takes this step size.

    :raises UserError: if not, in the integrator's words
    """
    _ask(f"--step-size {femtoseconds:g}", lambda: integrator(femtoseconds * unit.femtosecond))


def _ask(option: str, use: Callable[[], object]) -> None:
    try:
        use()
    except mm.OpenMMException as error:
        raise UserError(f"{option}: {error}") from error
