# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Copies of a script's integrators, and those that it reads from XML: they are as those that it makes itself."""

from __future__ import annotations

import copy
from functools import wraps
from typing import Any

import openmm as mm

from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.integrators import children_of, own_integrators
from openmmconstraints.run.choice import CHAIN, REPLACED
from openmmconstraints.run.refused import refuse_from_xml
from openmmconstraints.run.session import Session
from openmmconstraints.run.substitute import Substitute
from openmmconstraints.wrapper import ConstraintIntegrator

_ORIGINALS = {name: getattr(mm, name) for name in REPLACED}
_CHAIN = ("getChainLength", "getNumMultiTimeSteps", "getNumYoshidaSuzukiTimeSteps")


def copy_hooks(session: Session) -> list[tuple[object, str, object]]:
    """Replacements of OpenMM's methods that copy integrators, write and read them: (class, name, replacement)."""
    deserialize, serialize, clone = mm.XmlSerializer.deserialize, mm.XmlSerializer.serialize, mm.XmlSerializer.clone
    copy_any = mm.Integrator.__copy__

    @wraps(deserialize)
    def deserialized(text):
        found = deserialize(text)
        return _substitute(session, found) if isinstance(found, mm.Integrator) else found

    @wraps(serialize)
    def serialized(thing):
        """Without this package the file can be read, too."""
        has_original = isinstance(thing, Substitute) and not thing._replaced.has_groups
        return serialize(_original(thing) if has_original else thing)

    @wraps(clone)
    def cloned(thing):
        return copy.copy(thing) if isinstance(thing, (Substitute, mm.CompoundIntegrator)) else clone(thing)

    @wraps(copy_any)
    def copied(self):
        return _copy_compound(self) if isinstance(self, mm.CompoundIntegrator) else copy_any(self)

    functions: dict[str, Any] = {"deserialize": deserialized, "serialize": serialized, "clone": cloned}
    hooks: list[tuple[object, str, object]] = [(mm.Integrator, "__copy__", copied)]
    return hooks + [(mm.XmlSerializer, name, staticmethod(function)) for name, function in functions.items()]


def _substitute(session: Session, found: Any) -> mm.Integrator:
    """What replaces an integrator that was read; one of this package stays what it is.

    :raises UserError: if there is none
    """
    if ConstraintIntegrator.isinstance(found):
        return found if found.thisown else copy.copy(_own_type(found))  # a child belongs to the compound
    if isinstance(found, mm.CompoundIntegrator):
        return _compound_of(found, [_substitute(session, child) for child in children_of(found)])
    name = type(found).__name__
    if name not in REPLACED:
        refuse_from_xml(found, session.script)
    made = getattr(mm, name)(*_arguments(found))
    made.setIntegrationForceGroups(found.getIntegrationForceGroups())
    if session.tolerance is None:
        made.setConstraintTolerance(found.getConstraintTolerance())
    if hasattr(found, "getRandomNumberSeed"):
        made.setRandomNumberSeed(found.getRandomNumberSeed())
    return made


def _arguments(found: Any) -> list[object]:
    """Of the constructor that makes one like it."""
    if not isinstance(found, _ORIGINALS["NoseHooverIntegrator"]):
        bath = [found.getTemperature(), found.getFriction()] if hasattr(found, "getFriction") else []
        return [*bath, found.getStepSize()]
    if found.getNumThermostats() == 0:
        return [found.getStepSize()]
    if found.getNumThermostats() > 1 or found.hasSubsystemThermostats():
        raise UserError(
            "the script reads a NoseHooverIntegrator from XML that has thermostats for parts of the System: its "
            "substitute has one for all of it. Type NoseHooverIntegrator(temperature, collisionFrequency, stepSize)."
        )
    chain = found.getThermostat(0)
    lengths = [getattr(chain, name)() for name in _CHAIN]
    return [chain.getTemperature(), chain.getCollisionFrequency(), found.getStepSize(), *lengths]


def _original(substitute: Substitute) -> mm.Integrator:
    """The integrator of OpenMM that it replaces, with its settings."""
    given: Any = substitute
    arguments = [given.getStepSize()]
    if substitute._replaced.coupling is not None and getattr(given, "_thermostats", 1) > 0:
        arguments = [given.getTemperature(), given.getFriction(), *arguments]
        arguments += [given._arguments[name] for name in CHAIN if name in given._arguments]
    original = _ORIGINALS[substitute._replaced.name](*arguments)
    original.setIntegrationForceGroups(given.getIntegrationForceGroups())
    original.setConstraintTolerance(given.getConstraintTolerance())
    if hasattr(original, "setRandomNumberSeed"):
        original.setRandomNumberSeed(given.getRandomNumberSeed())
    return original


def _copy_compound(compound: Any) -> mm.CompoundIntegrator:
    parts = compound.__dict__.get("_parts") or children_of(compound)
    duplicate = _compound_of(compound, [copy.copy(_own_type(part)) for part in parts])
    attributes = {name: value for name, value in compound.__dict__.items() if name not in ("this", "_parts")}
    duplicate.__class__ = type(compound)
    duplicate.__dict__.update(copy.deepcopy(attributes))
    return duplicate


def _own_type(integrator: mm.Integrator) -> mm.Integrator:
    """OpenMM knows children of this package by their base class only."""
    return integrator if isinstance(integrator, Substitute) else (own_integrators(integrator) or [integrator])[0]


def _compound_of(compound: mm.CompoundIntegrator, children: list[mm.Integrator]) -> mm.CompoundIntegrator:
    """Another one with these children."""
    made = mm.CompoundIntegrator()
    for child in children:
        made.addIntegrator(child)
    made.setCurrentIntegrator(compound.getCurrentIntegrator())
    return made
