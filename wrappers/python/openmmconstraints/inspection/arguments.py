# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Checks of what users give to functions: each message says what to type instead."""

from __future__ import annotations

from functools import wraps
from inspect import isfunction, signature
from numbers import Real
from typing import Any

import numpy as np
import openmm as mm
from openmm import app

#: What is asked for: the attribute of others by which they have it, an example, and what to do with something else.
_ASKED: dict[type, tuple[str, str, dict[type, str]]] = {
    mm.System: (
        "system",
        "as forcefield.createSystem(...) returns it",
        {app.Topology: "make one: forcefield.createSystem(topology)", mm.Context: "give context.getSystem()"},
    ),
    app.Topology: ("topology", "as pdb.topology", {mm.System: "give that of the file that the System was made from"}),
    mm.Context: ("context", "as simulation.context", {}),
    mm.Force: ("force", "as system.getForce(0)", {mm.System: "give one of system.getForces()"}),
    mm.Integrator: ("integrator", "as context.getIntegrator()", {mm.Context: "give context.getIntegrator()"}),
}
#: What the methods of the compiled wrapper call them.
_NAMES = {"context": mm.Context, "system": mm.System}


def require(kind: type, value: Any, method: str) -> None:
    """Refuse anything but a System, a Topology, a Context, a Force or an Integrator.

    :raises TypeError: with what to give instead
    """
    if isinstance(value, kind):
        return
    part, example, others = _ASKED[kind]
    remedy = next((remedy for other, remedy in others.items() if isinstance(value, other)), "")
    if isinstance(getattr(value, part, None), kind):
        remedy = f"give its attribute, .{part}"
    name = f"openmm.{'app.' if kind is app.Topology else ''}{kind.__name__}"
    given = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    raise TypeError(f"{method}: an {name} is needed, {example}, not {given}{': ' if remedy else ''}{remedy}.")


def require_openmm_objects(cls: type, base: type) -> None:
    """Let the methods of a class of the compiled wrapper refuse another object in the place of a Context or a System,
    and cast() and isinstance() what is no `base` of OpenMM.

    :raises TypeError: what they do then: SWIG's own messages name types of C++
    """
    for name, attribute in list(vars(cls).items()):
        is_static = isinstance(attribute, staticmethod)
        function = attribute.__func__ if is_static else attribute
        if not isfunction(function) or name.startswith("_"):
            continue
        kinds = {"object": base} if name in ("cast", "isinstance") else _NAMES
        names = list(signature(function).parameters)
        places = {argument: (names.index(argument), kind) for argument, kind in kinds.items() if argument in names}
        if places:
            checked = _checking(function, f"{cls.__name__}.{name}" if is_static else name, places)
            setattr(cls, name, staticmethod(checked) if is_static else checked)


def _checking(function, method, places):
    @wraps(function)
    def checked(*args, **kwargs):
        for argument, (place, kind) in places.items():
            if place < len(args):
                require(kind, args[place], method)
            elif argument in kwargs:
                require(kind, kwargs[argument], method)
        return function(*args, **kwargs)

    return checked


def to_count(value: Any, method: str, name: str, least: int = 1) -> int:
    """A whole number, such as a number of steps; 1e5 is one.

    :raises TypeError, ValueError: if it is none, or less than `least`
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{method}: {name} must be a whole number, not {value!r}.")
    number = float(value)
    if not (number >= least and number.is_integer()):
        raise ValueError(f"{method}: {name} must be a whole number, {least} or more, not {value!r}.")
    return int(number)
