# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Projections that move particles far: a warning tells of them."""

from __future__ import annotations

from functools import wraps
from typing import Any

from openmm import unit

from openmmconstraints._warnings import warn
from openmmconstraints.wrapper import ConstraintIntegrator

_apply_constraints = ConstraintIntegrator.applyConstraints

_MEANING = (
    "Look at the structure. If it was not meant to move, a constraint has wrong particles or a wrong value (plain "
    "numbers are nm and radians), a molecule is cut at the periodic box, or a Force lacks "
    "setUsesPeriodicBoundaryConditions(True)."
)


def project(integrator: ConstraintIntegrator) -> float:
    """What applyConstraints() does, without a warning: for moves that are meant, or that others warn of.

    :return: the largest displacement of a particle, nm
    """
    return _apply_constraints(integrator).value_in_unit(unit.nanometer)


def warn_of_move(move: float, integrator: ConstraintIntegrator, what: str, remedy: str) -> None:
    """Warn where a projection moved a particle farther than a step would.

    Parameters
    ----------
    move : float
        nm
    integrator : ConstraintIntegrator
        whose setMaxProjection() is the longest move without a warning
    what : str
        what was done to which particle: "applyConstraints moved a particle"
    remedy : str
        a sentence of what to do if the move was meant
    """
    bound = integrator.getMaxProjection().value_in_unit(unit.nanometer)
    if move > bound:
        warn(
            f"{what} by {move:.3g} nm, farther than a step may ({bound:g} nm, setMaxProjection()). {_MEANING} {remedy}"
        )


def warn_of_far_moves() -> None:
    """Let applyConstraints() warn of them."""

    @wraps(_apply_constraints)
    def applyConstraints(self):
        moved = _apply_constraints(self)
        warn_of_move(
            moved.value_in_unit(unit.nanometer),
            self,
            "applyConstraints: a particle was moved",
            "If it was, call openmmconstraints.minimize(context) before a run, since atoms may overlap, and "
            "setMaxProjection() with a longer way to silence this.",
        )
        return moved

    integrators: Any = ConstraintIntegrator
    integrators.applyConstraints = applyConstraints
