# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Checks of what users give to functions: each message says what to type instead."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import openmm as mm
from openmm import app

#: What users give by mistake, and the attribute of it that was meant.
_PARTS = {mm.System: "system", app.Topology: "topology", mm.Context: "context"}
_EXAMPLES = {
    mm.System: "as forcefield.createSystem(...) returns it",
    app.Topology: "as pdb.topology",
    mm.Context: "as simulation.context",
}


def require(kind: type, value: Any, method: str) -> None:
    """Refuse anything but a System, a Topology or a Context.

    :raises TypeError: with the attribute that was meant, where what was given has one
    """
    if isinstance(value, kind):
        return
    part, given = _PARTS[kind], type(value).__name__
    remedy = f": give its attribute, .{part}" if isinstance(getattr(value, part, None), kind) else ""
    name = f"openmm.{'app.' if kind is app.Topology else ''}{kind.__name__}"
    raise TypeError(f"{method}: an {name} is needed, {_EXAMPLES[kind]}, not {given}{remedy}.")


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
