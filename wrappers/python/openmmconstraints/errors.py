# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mistakes of the user, told apart from faults of the program."""

import openmm as mm


class UserError(Exception):
    """Something the user gave cannot be used. Shown as one sentence on stderr; the exit status is 2."""


def check_tolerance(integrator: type[mm.Integrator], tolerance: float) -> None:
    """Ask an integrator whether it takes this constraint tolerance.

    :raises UserError: if not, in the integrator's words
    """
    try:
        integrator(0.001).setConstraintTolerance(tolerance)
    except mm.OpenMMException as error:
        raise UserError(f"--tolerance {tolerance:g}: {error}") from error
