# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators of OpenMM that have no substitute: why, and what to type."""

from __future__ import annotations

from typing import NoReturn

import openmm as mm

from openmmconstraints.inspection.errors import UserError
from openmmconstraints.run.choice import REPLACED

_VERLET = "VerletIntegrator(stepSize)"
_LANGEVIN = "LangevinMiddleIntegrator(temperature, friction, stepSize)"
_VARIABLE = "varies its step size while the constraint integrators keep theirs fixed"
_OTHER_FORCES = "changes the forces"
_DRUDE = "moves Drude particles by equations of its own"
#: Why, and what to type in the script instead; None: nothing does the same.
_REASONS: dict[str, tuple[str, str | None]] = {
    "VariableVerletIntegrator": (_VARIABLE, _VERLET),
    "VariableLangevinIntegrator": (_VARIABLE, _LANGEVIN),
    "BrownianIntegrator": ("has no inertia", _LANGEVIN),
    "CustomIntegrator": ("takes the steps that the script defines", f"{_VERLET} or {_LANGEVIN}"),
    "AMDIntegrator": (_OTHER_FORCES, None),
    "AMDForceGroupIntegrator": (_OTHER_FORCES, None),
    "DualAMDIntegrator": (_OTHER_FORCES, None),
    "DPDIntegrator": ("has friction between pairs of particles", None),
    "QTBIntegrator": ("has a quantum thermal bath", None),
    "RPMDIntegrator": ("moves several copies of the System", None),
    "DrudeLangevinIntegrator": (_DRUDE, None),
    "DrudeNoseHooverIntegrator": (_DRUDE, None),
    "DrudeSCFIntegrator": (_DRUDE, None),
}
_KEPT = ("Integrator", "DrudeIntegrator", "CompoundIntegrator")  # base classes, and what has children


def refused_classes(script: str) -> dict[str, type]:
    """Stand-ins for all other integrators of OpenMM; their constructor refuses.

    :param script: its path, for what to type
    """
    names = [name for name, kind in vars(mm).items() if isinstance(kind, type) and issubclass(kind, mm.Integrator)]
    return {name: _refuse(name, script) for name in names if name not in REPLACED and name not in _KEPT}


def refuse_from_xml(integrator: mm.Integrator, script: str) -> NoReturn:
    """Refuse one that the script has read from a file: it did not come from a constructor."""
    name = type(integrator).__name__
    read = f"reads a {name} from XML"
    if name == "CustomIntegrator":  # as which OpenMM writes its MTSIntegrator
        read += " (if it was a MTSIntegrator or MTSLangevinIntegrator, type its constructor in the script)"
    raise UserError(_reason(name, read, script))


def _reason(name: str, does: str, script: str) -> str:
    reason, remedy = _REASONS.get(name, ("has no substitute", None))
    do = f"Type {remedy} in the script instead." if remedy else f"To run it as it is, type: python {script}"
    return f"the script {does}, which {reason}; no integrator of openmm-constraints does that. {do}"


def _refuse(name: str, script: str) -> type:
    def __init__(self, *_args, **_kwargs):
        own = type(self).__name__
        what = name if own == name else f"{own} (a {name})"
        raise UserError(_reason(name, f"uses {what}", script))

    return type(name, (getattr(mm, name),), {"__init__": __init__})
