# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which integrator of this package replaces which of OpenMM's, and what that changes."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, Signature

import openmmconstraints as mc
from openmmconstraints.inspection.errors import UserError

AUTO = "auto"
INTEGRATORS = ("Rattle", "Shake", "RattleLangevin", "RattleNoseHoover", "RattleMTS", "RattleMTSLangevin")
_LAGGING = (mc.ShakeIntegrator, mc.RattleLangevinIntegrator)  # velocities are half a step behind the positions
_BATHS = (mc.RattleLangevinIntegrator, mc.RattleNoseHooverIntegrator)
_SEVERAL_STEPS = (mc.RattleMTSIntegrator, mc.RattleMTSLangevinIntegrator)


def make_signature(*names: str, **defaults: object) -> Signature:
    """Of a constructor: names of arguments, those with a default last."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature(
        [Parameter(name, kind) for name in names]
        + [Parameter(name, kind, default=value) for name, value in defaults.items()]
    )


@dataclass(frozen=True)
class Replaced:
    """An integrator of OpenMM: its constructor, and what stands in for it by itself."""

    name: str
    signature: Signature
    partner: type[mc.ConstraintIntegrator]
    step_size: str = "stepSize"  # names of its arguments
    coupling: str | None = None  # friction of a heat bath; None: it has none
    lags: bool = True  # whether its velocities are half a step behind the positions

    @property
    def has_groups(self) -> bool:
        """Whether it has several time steps."""
        return "groups" in self.signature.parameters


#: Arguments of a NoseHooverIntegrator, with their defaults.
CHAIN = {"chainLength": 3, "numMTS": 3, "numYoshidaSuzuki": 7}
_ALL = (
    Replaced("VerletIntegrator", make_signature("stepSize"), mc.RattleIntegrator),
    Replaced(
        "LangevinMiddleIntegrator",
        make_signature("temperature", "frictionCoeff", "stepSize"),
        mc.RattleLangevinIntegrator,
        coupling="frictionCoeff",
    ),
    Replaced(
        "LangevinIntegrator",  # a LangevinMiddleIntegrator in OpenMM, too
        make_signature("temperature", "frictionCoeff", "stepSize"),
        mc.RattleLangevinIntegrator,
        coupling="frictionCoeff",
    ),
    Replaced(
        "NoseHooverIntegrator",
        make_signature("temperature", "collisionFrequency", "stepSize", **CHAIN),
        mc.RattleNoseHooverIntegrator,
        coupling="collisionFrequency",
    ),
    Replaced("MTSIntegrator", make_signature("dt", "groups"), mc.RattleMTSIntegrator, step_size="dt", lags=False),
    Replaced(
        "MTSLangevinIntegrator",
        make_signature("temperature", "friction", "dt", "groups"),
        mc.RattleMTSLangevinIntegrator,
        step_size="dt",
        coupling="friction",
        lags=False,
    ),
)
REPLACED = {entry.name: entry for entry in _ALL}


def find_integrator(name: str) -> type[mc.ConstraintIntegrator] | None:
    """The class of a name of the command line, in any case, with or without "Integrator"; None: `auto`.

    :raises UserError: if there is none of that name
    """
    plain = name.lower().removesuffix("integrator")
    if plain == AUTO:
        return None
    for own in INTEGRATORS:
        if plain == own.lower():
            return getattr(mc, f"{own}Integrator")
    offered = ", ".join((AUTO, *INTEGRATORS[:-1]))
    raise UserError(f"there is no integrator '{name}'; choose {offered} or {INTEGRATORS[-1]}.")


def partner_of(replaced: Replaced, chosen: type[mc.ConstraintIntegrator] | None) -> type[mc.ConstraintIntegrator]:
    """What stands in for an integrator of OpenMM.

    :param chosen: for all integrators; None: each has its own
    :raises UserError: if the chosen one needs what the script's integrator does not say
    """
    if chosen is None:
        return replaced.partner
    problem = None
    if replaced.has_groups and not issubclass(chosen, _SEVERAL_STEPS):
        problem = f"which has several time steps; {chosen.__name__} has one."
    elif issubclass(chosen, _SEVERAL_STEPS) and not replaced.has_groups:
        problem = f"which has no force groups with substeps; {chosen.__name__} needs them."
    elif issubclass(chosen, mc.RattleNoseHooverIntegrator) and replaced.coupling is None:
        problem = f"which has no temperature; {chosen.__name__} needs one."
    if problem is not None:
        own = replaced.partner.__name__.removesuffix("Integrator")
        raise UserError(f"the script uses {replaced.name}, {problem} Type --integrator {own}, or leave it out.")
    return chosen


def describe_changes(replaced: Replaced, base: type[mc.ConstraintIntegrator]) -> str:
    """What differs from the script's integrator besides the constraints, in one line."""
    changes = [_velocities(replaced, base)]
    has_bath = replaced.coupling is not None and issubclass(base, _BATHS)
    if has_bath and issubclass(base, mc.RattleNoseHooverIntegrator):
        changes.append("one chain acts on all degrees of freedom that the constraints leave")
    elif has_bath:
        changes.append("the bath has other random numbers")
    if replaced.has_groups:
        changes.append("velocities are constrained after each kick, not once a step")
    return "; ".join(changes)


def _velocities(replaced: Replaced, base: type[mc.ConstraintIntegrator]) -> str:
    lags = issubclass(base, _LAGGING) and not issubclass(base, _SEVERAL_STEPS)
    ours = "velocities lag half a step" if lags else "velocities are those at time t"
    if lags == replaced.lags:
        return f"{ours}, as those of {replaced.name}"
    return f"{ours}, those of {replaced.name} {'lag half a step' if replaced.lags else 'are those at time t'}"
