# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The integrators behind the one that a Context was given."""

from __future__ import annotations

import openmm as mm

from openmmconstraints.wrapper import ConstraintIntegrator, RattleLangevinIntegrator, RattleNoseHooverIntegrator


def current_integrator(integrator: mm.Integrator, problem: str) -> ConstraintIntegrator:
    """The one that takes the steps, a child where there are several, as what it is.

    :param problem: what is said of a foreign one: "Class.method: {} cannot ... Use ..."
    :raises TypeError: if it is not one of this package's
    """
    if isinstance(integrator, mm.CompoundIntegrator):
        integrator = integrator.getIntegrator(integrator.getCurrentIntegrator())
    own = own_integrators(integrator)
    if not own:
        raise TypeError(problem.format(type(integrator).__name__))
    return own[0]


def own_integrators(integrator: mm.Integrator) -> list[ConstraintIntegrator]:
    """It, or all of its children, as far as they are this package's."""
    return [_own_type(child) for child in children_of(integrator) if ConstraintIntegrator.isinstance(child)]


def children_of(integrator: mm.Integrator) -> list[mm.Integrator]:
    """What a CompoundIntegrator holds; any other alone."""
    if isinstance(integrator, mm.CompoundIntegrator):
        return [integrator.getIntegrator(i) for i in range(integrator.getNumIntegrators())]
    return [integrator]


def _own_type(integrator: mm.Integrator) -> ConstraintIntegrator:
    kinds = (RattleLangevinIntegrator, RattleNoseHooverIntegrator, ConstraintIntegrator)
    return next(cls.cast(integrator) for cls in kinds if cls.isinstance(integrator))
