# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a step asks of a device, where the library of tests/calls that notes it is preloaded."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import openmm as mm

STEPS = 20


@dataclass(frozen=True)
class Calls:
    """Of a step, on average."""

    launches: float
    launches_besides_forces: float
    waits: float  #: in a call of many steps
    waits_alone: float  #: in calls of one step each


def take_calls() -> list[tuple[str, str]] | None:
    """Calls to the device since the last time, as ("launch" or "wait", name); None where calls are not noted."""
    function = getattr(ctypes.CDLL(None), "takeCalls", None)
    if function is None:
        return None
    function.restype = ctypes.c_char_p
    return [(words[0], words[2]) for words in (line.partition(" ") for line in function().decode().splitlines())]


def count_calls(context: mm.Context) -> Calls | None:
    """Launches and waits of a step; None where they are not noted. What forces need is told by the kernels' names."""
    take_calls()
    context.getState(forces=True)
    forces = take_calls()
    if forces is None:
        return None
    context.getIntegrator().step(STEPS)
    calls = take_calls() or []
    for _ in range(STEPS):
        context.getIntegrator().step(1)
    alone = take_calls() or []
    launches = [name for what, name in calls if what == "launch"]
    for_forces = {name for what, name in forces if what == "launch"}
    return Calls(
        len(launches) / STEPS,
        sum(name not in for_forces for name in launches) / STEPS,
        (len(calls) - len(launches)) / STEPS,
        sum(what == "wait" for what, _ in alone) / STEPS,
    )
