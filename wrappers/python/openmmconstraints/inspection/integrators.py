# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators with their own types, and the children of a CompoundIntegrator."""

from __future__ import annotations

import openmm as mm

from openmmconstraints.wrapper import (
    ConstraintIntegrator,
    RattleLangevinIntegrator,
    RattleMTSIntegrator,
    RattleMTSLangevinIntegrator,
    RattleNoseHooverIntegrator,
    ShakeIntegrator,
)


def current_integrator(integrator: mm.Integrator, problem: str) -> ConstraintIntegrator:
    """The integrator that takes the steps, with its own type: of a CompoundIntegrator the current child.

    :param problem: the message for another package's integrator, with {} for its class: "method: {} cannot ... Use ..."
    :raises TypeError: if it is not one of this package's
    """
    stepping = stepping_integrator(integrator)
    own = own_integrators(stepping)
    if not own:
        raise TypeError(problem.format(type(stepping).__name__))
    return own[0]


def stepping_integrator(integrator: mm.Integrator) -> mm.Integrator:
    """The integrator that takes the steps now: of a CompoundIntegrator the current child."""
    if isinstance(integrator, mm.CompoundIntegrator):
        return integrator.getIntegrator(integrator.getCurrentIntegrator())
    return integrator


def own_integrators(integrator: mm.Integrator) -> list[ConstraintIntegrator]:
    """The integrator, or the children of a CompoundIntegrator, without those of other packages."""
    return [_own_type(child) for child in children_of(integrator) if ConstraintIntegrator.isinstance(child)]


def children_of(integrator: mm.Integrator) -> list[mm.Integrator]:
    """The children of a CompoundIntegrator, or a list of the integrator itself."""
    if isinstance(integrator, mm.CompoundIntegrator):
        return [integrator.getIntegrator(i) for i in range(integrator.getNumIntegrators())]
    return [integrator]


def step_sizes(integrator: mm.Integrator) -> tuple[float, float]:
    """Of the fastest and of the slowest forces, ps: the same unless there are several time steps."""
    step = integrator.getStepSize()._value
    if not isinstance(integrator, (RattleMTSIntegrator, RattleMTSLangevinIntegrator)):
        return step, step
    substeps = [substeps for _, substeps in integrator.getGroups()]
    return step / max(substeps), step / min(substeps)


def velocity_lag(integrator: ConstraintIntegrator) -> float:
    """Time by which velocities are behind the positions (ps), as platforms/host/StepScheme.cpp has it."""
    has_lag = ShakeIntegrator.isinstance(integrator)
    if RattleLangevinIntegrator.isinstance(integrator) and not RattleMTSLangevinIntegrator.isinstance(integrator):
        has_lag = RattleLangevinIntegrator.cast(integrator).getNumGeodesicSteps() == 0
    return 0.5 * integrator.getStepSize()._value if has_lag else 0.0


def _own_type(integrator: mm.Integrator) -> ConstraintIntegrator:
    kinds = (
        RattleMTSIntegrator,
        RattleMTSLangevinIntegrator,
        RattleLangevinIntegrator,
        RattleNoseHooverIntegrator,
        ConstraintIntegrator,
    )
    return next(cls.cast(integrator) for cls in kinds if cls.isinstance(integrator))
