# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Classes that stand in for OpenMM's integrators while a user's script runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

import openmm as mm
import openmm.app  # binds OpenMM's own names for its internal use before ours are put in place
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.run.observer import Observation

VARIABLE_STEP = ("VariableVerletIntegrator", "VariableLangevinIntegrator")
STATE_CHANGES = (
    "setState",
    "setPositions",
    "setVelocities",
    "setVelocitiesToTemperature",
    "setPeriodicBoxVectors",
    "setParameter",
    "loadCheckpoint",
    "reinitialize",
)


@dataclass
class Session:
    """One run of a script: settings of the substitutes, and what was observed of them."""

    base: type[mc.ConstraintIntegrator]
    solver: int
    tolerance: float | None = None
    observed: list[tuple[Observation, mc.ConstraintIntegrator]] = field(default_factory=list)
    untouched: set[str] = field(default_factory=set)  # kinds of integrators that ran as they are
    _latest: mm.Context | None = None  # kept until the next one, so that its last energy can be read
    _warned: set[str] = field(default_factory=set)

    def warn_once(self, sentence: str) -> None:
        """Print a warning on stderr, unless it was printed before."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            print(f"openmm-constraints run: WARNING: {sentence}", file=sys.stderr, flush=True)

    def observe(self, script_name: str, integrator: mc.ConstraintIntegrator) -> Observation:
        """Observe a new integrator."""
        observation = Observation(script_name, self.base.__name__)
        self.observed.append((observation, integrator))
        return observation

    def attach(self, context: mm.Context, integrator: mm.Integrator) -> None:
        """A Context was created."""
        for part in getattr(integrator, "_parts", [integrator]):
            if hasattr(part, "_observation"):
                part._observation.attach(context)
            else:
                self.untouched.add(type(part).__name__)
        self._latest = context

    def finish(self) -> None:
        """Take the last samples, and release the Context."""
        for observation, integrator in self.observed:
            observation.finish(integrator)
        self._latest = None

    def start_stretch(self, context: mm.Context) -> None:
        """The script changed the state of this Context, so that its energy may jump."""
        for observation, _ in self.observed:
            if observation.belongs_to(context):
                observation.energies.start_stretch()


@contextmanager
def substituted(session: Session):
    """While it is open, OpenMM's names lead to this package's integrators."""
    with ExitStack() as stack:
        for name, kind in {**_substitutes(session), **_refused(session)}.items():
            for module in (mm, mm.openmm):
                stack.enter_context(_replaced(module, name, kind))
        for owner, name, value in _hooks(session):
            stack.enter_context(_replaced(owner, name, value))
        yield


@contextmanager
def _replaced(owner: object, name: str, value: object):
    original = vars(owner)[name]  # not getattr: a staticmethod has to come back as one
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _in_md_units(value: Any) -> float:
    return value.value_in_unit_system(unit.md_unit_system) if unit.is_quantity(value) else value


def _signature(*names: str, **defaults: object) -> Signature:
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature(
        [Parameter(name, kind) for name in names]
        + [Parameter(name, kind, default=value) for name, value in defaults.items()]
    )


def _substitutes(session: Session) -> dict[str, type]:
    """The classes by the names of those that they replace."""

    base: Any = session.base
    has_bath = issubclass(base, mc.RattleLangevinIntegrator)

    class Substitute(base):
        """An integrator of this package under the name of one of OpenMM's. It is observed."""

        _signature = _signature("stepSize")

        def __init__(self, *args, **kwargs):
            try:
                self._arguments = self._bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}: {error}") from None
            super().__init__(*(_in_md_units(value) for value in self._make_arguments()))
            super().setSolver(session.solver)
            if session.tolerance is not None:
                super().setConstraintTolerance(session.tolerance)
            self._observation = session.observe(type(self).__name__, self)

        def _make_arguments(self) -> list[object]:
            """The arguments of this package's constructor. Zero friction turns a heat bath off."""
            return [0.0, 0.0, self._arguments["stepSize"]] if has_bath else [self._arguments["stepSize"]]

        def _bind(self, *args, **kwargs) -> dict[str, object]:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.arguments

        def setConstraintTolerance(self, tolerance):
            """The script's tolerance, unless the command line has set another."""
            if session.tolerance is None:
                super().setConstraintTolerance(tolerance)
            else:
                session.warn_once(f"the script's setConstraintTolerance() is overridden by {session.tolerance:g}.")

        def step(self, steps):
            """Take steps."""
            self._observation.step(super().step, self, steps)

    class WithThermostat(Substitute):
        """Has the heat bath of this package's integrator, with the temperature and the random seed of the script."""

        _coupling = "frictionCoeff"

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._observation.disturbed_by = base.__name__

        def _make_arguments(self):
            return [self._arguments[name] for name in ("temperature", self._coupling, "stepSize")]

        def getTemperature(self, *_chain):
            """Of the heat bath."""
            return super().getTemperature()

        def setTemperature(self, temperature, *_chain):
            """Of the heat bath."""
            super().setTemperature(temperature)

        def getFriction(self, *_chain):
            """How strongly the heat bath couples."""
            return super().getFriction()

        def setFriction(self, friction, *_chain):
            """How strongly the heat bath couples."""
            super().setFriction(friction)

    class WithoutThermostat(Substitute):
        """Accepts the settings of a thermostat, without effect, and warns of that."""

        _coupling = "frictionCoeff"

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._seed = 0
            session.warn_once(
                f"the thermostat of {type(self).__name__} is DROPPED: {session.base.__name__} runs at constant energy, "
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
            return _in_md_units(self._arguments[self._coupling]) / unit.picosecond

        def setFriction(self, friction, *_chain):
            """Remembered, without effect."""
            self._arguments[self._coupling] = friction

    Thermostatted: Any = WithThermostat if has_bath else WithoutThermostat

    class VerletIntegrator(Substitute):
        """Stands in for openmm.VerletIntegrator."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if has_bath:
                session.warn_once(
                    f"VerletIntegrator has no temperature: {base.__name__} runs in its place without friction, at "
                    "constant energy."
                )

    class LangevinMiddleIntegrator(Thermostatted):
        """Stands in for openmm.LangevinMiddleIntegrator."""

        _signature = _signature("temperature", "frictionCoeff", "stepSize")

    class LangevinIntegrator(LangevinMiddleIntegrator):
        """Stands in for openmm.LangevinIntegrator, which is a LangevinMiddleIntegrator there, too."""

    class NoseHooverIntegrator(Thermostatted):
        """Stands in for openmm.NoseHooverIntegrator."""

        _signature = _signature(
            "temperature", "collisionFrequency", "stepSize", chainLength=3, numMTS=3, numYoshidaSuzuki=7
        )
        _coupling = "collisionFrequency"

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if has_bath:
                session.warn_once(
                    f"the thermostat of NoseHooverIntegrator is replaced by that of {base.__name__}, whose friction is "
                    "the collision frequency."
                )

        getCollisionFrequency = Thermostatted.getFriction
        setCollisionFrequency = Thermostatted.setFriction

        def _bind(self, *args, **kwargs):
            if len(args) + len(kwargs) == 1:  # NoseHooverIntegrator(stepSize)
                return {"temperature": 0.0, "collisionFrequency": 0.0} | _signature("stepSize").bind(
                    *args, **kwargs
                ).arguments
            return super()._bind(*args, **kwargs)

        def addThermostat(self, temperature, collisionFrequency, *_chain):
            """As if the constructor had been given them."""
            self.setTemperature(temperature)
            self.setFriction(collisionFrequency)
            return 0

        def computeHeatBathEnergy(self):
            """There is no heat bath."""
            return 0.0 * unit.kilojoule_per_mole

    classes = (VerletIntegrator, LangevinMiddleIntegrator, LangevinIntegrator, NoseHooverIntegrator)
    return {kind.__name__: kind for kind in classes}


def _refused(session: Session) -> dict[str, type]:
    """Classes whose constructor says why they have no substitute."""

    def refuse(name: str, reason: str) -> type:
        def __init__(self, *_args, **_kwargs):
            raise UserError(f"the script uses {name}, which {reason}; {session.base.__name__} cannot replace it.")

        return type(name, (getattr(mm, name),), {"__init__": __init__})

    reasons = dict.fromkeys(VARIABLE_STEP, "varies its step size while the constraint integrators keep theirs fixed")
    reasons["BrownianIntegrator"] = "has no inertia"
    return {name: refuse(name, reason) for name, reason in reasons.items()}


def _hooks(session: Session) -> list[tuple[object, str, Callable]]:
    """Replacements of OpenMM's methods that notify the session of a Context's changes: (class, name, replacement)."""
    create, add, step = mm.Context.__init__, mm.CompoundIntegrator.addIntegrator, mm.CompoundIntegrator.step

    @wraps(create)
    def created(self, *args):
        session.finish()
        create(self, *args)
        if len(args) > 1:
            session.attach(self, args[1])

    @wraps(add)
    def added(self, integrator):
        index = add(self, integrator)
        self.__dict__.setdefault("_parts", []).append(integrator)
        return index

    @wraps(step)
    def stepped(self, steps):
        part = self.__dict__.get("_parts", [])[self.getCurrentIntegrator()]
        if hasattr(part, "_observation"):
            part._observation.step(lambda chunk: step(self, chunk), part, steps)
        else:
            step(self, steps)

    def announced(original: Callable) -> Callable:
        @wraps(original)
        def call(self, *args, **kwargs):
            session.start_stretch(self)
            return original(self, *args, **kwargs)

        return call

    minimize = mm.LocalEnergyMinimizer.minimize

    @wraps(minimize)
    def minimized(context, *args, **kwargs):
        session.start_stretch(context)
        return minimize(context, *args, **kwargs)

    hooks = [(mm.Context, name, announced(getattr(mm.Context, name))) for name in STATE_CHANGES]
    hooks += [(mm.Context, "__init__", created), (mm.LocalEnergyMinimizer, "minimize", staticmethod(minimized))]
    hooks += [(mm.CompoundIntegrator, "addIntegrator", added), (mm.CompoundIntegrator, "step", stepped)]
    return hooks
