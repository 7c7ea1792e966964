# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Classes that stand in for OpenMM's integrators while a user's script runs."""

from __future__ import annotations

import copy
from typing import Any

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.run.choice import REPLACED, Replaced, describe_changes, make_signature, partner_of
from openmmconstraints.run.observer import Observation
from openmmconstraints.run.session import Session

_serialize = mm.XmlSerializer.serialize  # not that which a session puts in its place
_PLACEHOLDER = {"temperature": 300.0, "collisionFrequency": 1.0}  # until the script adds a thermostat


def make_substitutes(session: Session) -> dict[str, type]:
    """The classes by the names of those that they replace."""
    made: dict[str, type] = {}
    settings = {"_session": session, "__module__": "openmm"}  # where a pickle looks for the class
    for name, replaced in REPLACED.items():
        try:
            base = partner_of(replaced, session.chosen)
        except UserError as error:
            made[name] = type(name, (_Impossible,), {"_error": error})
            continue
        traits = _traits(replaced, base)
        bases = (made["LangevinMiddleIntegrator"],) if name == "LangevinIntegrator" else (*traits, base)
        made[name] = type(name, bases, {**settings, "_replaced": replaced, "_base": base})
    return made


def _traits(replaced: Replaced, base: type[mc.ConstraintIntegrator]) -> tuple[type, ...]:
    """What it has to accept from the script, besides what `base` has."""
    if replaced.coupling is None:
        return (_WithoutTemperature,) if issubclass(base, mc.RattleLangevinIntegrator) else (Substitute,)
    if not issubclass(base, (mc.RattleLangevinIntegrator, mc.RattleNoseHooverIntegrator)):
        bath: type = _WithoutThermostat
    else:
        bath = _WithThermostat
    return (_Chains, bath) if replaced.name == "NoseHooverIntegrator" else (bath,)


class _Impossible:
    """The chosen integrator cannot replace it."""

    _error: UserError

    def __init__(self, *_args, **_kwargs):
        raise self._error


class Substitute:
    """An integrator of this package under the name of one of OpenMM's. It is observed."""

    _session: Session
    _replaced: Replaced
    _base: type[mc.ConstraintIntegrator]

    def __init__(self, *args, **kwargs):
        session = self._session
        try:
            self._arguments = self._bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        super().__init__(*self._make_arguments())
        super().setSolver(session.solver)
        if session.tolerance is not None:
            super().setConstraintTolerance(session.tolerance)
        self._observe()

    def _observe(self):
        self._observation = self._session.observe(Observation(self._replaced.name, self._base.__name__), self)

    def __copy__(self):
        """Observed for itself, as one that the script makes."""
        make, (xml,), state = self.__reduce__()
        duplicate = make(xml)
        duplicate.__setstate__(copy.deepcopy(state))
        return duplicate

    def __reduce__(self):
        return type(self)._fromXML, (_serialize(self),), self.__getstate__()

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "_observation"}

    def __setstate__(self, attributes):
        super().__setstate__(attributes)
        self._observe()

    def _bind(self, *args, **kwargs) -> dict[str, object]:
        bound = self._replaced.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def _make_arguments(self) -> list[object]:
        """The arguments of this package's constructor. Zero friction turns a heat bath off."""
        given, base = self._arguments, self._base
        arguments: list[object] = [_in_md_units(given[self._replaced.step_size])]
        if issubclass(base, (mc.RattleLangevinIntegrator, mc.RattleNoseHooverIntegrator)):
            coupling = self._replaced.coupling
            bath = [0.0, 0.0] if coupling is None else [_in_md_units(given[key]) for key in ("temperature", coupling)]
            arguments = [*bath, *arguments]
        if self._replaced.has_groups:
            arguments.append([(int(group), int(substeps)) for group, substeps in given["groups"]])
        if issubclass(base, mc.RattleNoseHooverIntegrator):
            arguments += [given[name] for name in ("chainLength", "numMTS", "numYoshidaSuzuki") if name in given]
        return arguments

    def _start(self, context):
        """A Context was created with it: say what was chosen."""
        changes = describe_changes(self._replaced, self._base)
        self._session.say_once(f"{self._replaced.name} -> {self._base.__name__}: {changes}.")
        self._observation.attach(context)

    def setConstraintTolerance(self, tolerance):
        """The script's tolerance, unless the command line has set another."""
        session = self._session
        if session.tolerance is None or session.is_minimizing:
            super().setConstraintTolerance(tolerance)
        else:
            session.warn_once(f"the script's setConstraintTolerance() is overridden by {session.tolerance:g}.")

    def step(self, steps):
        """Take steps."""
        self._observation.step(super().step, self, steps)

    def _add_bath(self):
        """The script has given it a thermostat."""


class _WithoutTemperature(Substitute):
    """Has a heat bath that the script's integrator has not: it is off."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._session.warn_once(
            f"{self._replaced.name} has no temperature: {self._base.__name__} runs in its place without friction, at "
            "constant energy."
        )


class _WithThermostat(Substitute):
    """Has the heat bath of this package's integrator, with the temperature and the random seed of the script."""

    def _observe(self):
        super()._observe()
        if issubclass(self._base, mc.RattleLangevinIntegrator):
            self._observation.disturbed_by = self._base.__name__

    def getTemperature(self, *_chain):
        """Of the heat bath."""
        return super().getTemperature()

    def setTemperature(self, temperature, *_chain):
        """Of the heat bath."""
        super().setTemperature(temperature)

    def getFriction(self, *_chain):
        """How strongly the heat bath couples."""
        return super().getFriction() if hasattr(self._base, "getFriction") else super().getCollisionFrequency()

    def setFriction(self, friction, *_chain):
        """How strongly the heat bath couples."""
        if hasattr(self._base, "setFriction"):
            super().setFriction(friction)
        else:
            super().setCollisionFrequency(friction)

    def getRandomNumberSeed(self):
        """Of the heat bath; a Nose-Hoover chain has none."""
        return super().getRandomNumberSeed() if hasattr(self._base, "getRandomNumberSeed") else 0

    def setRandomNumberSeed(self, seed):
        """Of the heat bath; a Nose-Hoover chain has none."""
        if hasattr(self._base, "setRandomNumberSeed"):
            super().setRandomNumberSeed(seed)


class _WithoutThermostat(Substitute):
    """Accepts the settings of a thermostat, without effect, and warns of that."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._seed = 0
        if getattr(self, "_thermostats", 1) > 0:
            self._add_bath()

    def _add_bath(self):
        self._session.warn_once(
            f"the thermostat of {self._replaced.name} is DROPPED: {self._base.__name__} runs at constant energy, "
            "and temperature, friction and random seed have no effect."
        )

    def getTemperature(self, *_chain):
        """The temperature that the script has set; it has no effect."""
        return _in_md_units(self._arguments["temperature"]) * unit.kelvin

    def setTemperature(self, temperature, *_chain):
        """Remembered, without effect."""
        self._arguments["temperature"] = temperature

    def getRandomNumberSeed(self):
        """What the script has set."""
        return self._seed

    def setRandomNumberSeed(self, seed):
        """Remembered, without effect."""
        self._seed = seed

    def getFriction(self, *_chain):
        """What the script has set; there is no friction."""
        return _in_md_units(self._arguments[self._replaced.coupling]) / unit.picosecond

    def setFriction(self, friction, *_chain):
        """Remembered, without effect."""
        self._arguments[self._replaced.coupling] = friction


class _Chains:
    """What a NoseHooverIntegrator has besides: thermostats that are added later, or act on parts of the System."""

    _session: Session
    _replaced: Replaced
    _base: type[mc.ConstraintIntegrator]
    _arguments: dict[str, Any]
    _thermostats = 1

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if issubclass(self._base, mc.RattleLangevinIntegrator):
            self._session.warn_once(
                f"the thermostat of NoseHooverIntegrator is replaced by that of {self._base.__name__}, whose friction "
                "is the collision frequency."
            )

    def _bind(self, *args, **kwargs):
        if len(args) + len(kwargs) > 1:
            return super()._bind(*args, **kwargs)
        self._thermostats = 0
        bath = _PLACEHOLDER if self._is_chain() else dict.fromkeys(_PLACEHOLDER, 0.0)
        return {**bath, **make_signature("stepSize").bind(*args, **kwargs).arguments}

    def _is_chain(self) -> bool:
        return issubclass(self._base, mc.RattleNoseHooverIntegrator)

    def _check(self):
        """A Context is created."""
        if self._is_chain() and self._thermostats == 0:
            raise UserError(
                "the script uses NoseHooverIntegrator without a thermostat, at constant energy: type --integrator "
                "Rattle."
            )

    def getNumThermostats(self):
        """How many the script has added."""
        return self._thermostats

    def hasSubsystemThermostats(self):
        """There are none."""
        return False

    def addThermostat(self, temperature, collisionFrequency, *chain):
        """As if the constructor had been given them."""
        if self._thermostats > 0:
            raise UserError(
                "the script adds a second thermostat to NoseHooverIntegrator: its substitute has one. Remove "
                "addThermostat()."
            )
        if self._is_chain() and tuple(chain) not in ((), (3,), (3, 3), (3, 3, 7)):
            self._session.warn_once(
                f"the chain of addThermostat() has its default length, 3, and substeps, 3 and 7, instead of {chain}: "
                "give them to the constructor of NoseHooverIntegrator."
            )
        self.setTemperature(temperature)
        self.setFriction(collisionFrequency)
        self._thermostats = 1
        self._add_bath()
        return 0

    def addSubsystemThermostat(self, *_args, **_kwargs):
        """Not for a part of the System."""
        raise UserError(
            "the script adds a thermostat for a part of the System to NoseHooverIntegrator: its substitute has one for "
            "all of it. Type addThermostat(temperature, collisionFrequency) instead."
        )

    def getCollisionFrequency(self, *_chain):
        """Of the thermostat."""
        return self.getFriction()

    def setCollisionFrequency(self, frequency, *_chain):
        """Of the thermostat."""
        self.setFriction(frequency)

    def computeHeatBathEnergy(self):
        """Of the chain; other integrators have none."""
        return super().computeHeatBathEnergy() if self._is_chain() else 0.0 * unit.kilojoule_per_mole


def _in_md_units(value: Any) -> float:
    return value.value_in_unit_system(unit.md_unit_system) if unit.is_quantity(value) else value
