# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A step's launches and waits in time: the device works through a queue that the host fills."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import constants as c


@dataclass(frozen=True)
class Event:
    """A launch with its time in µs, "record" of an event, or "wait" of the host: for that event, or for all."""

    what: str
    microseconds: float = 0.0


def total(events: Iterable[Event]) -> float:
    """µs by which these events lengthen a step, until the next kernel can begin.

    The host is ahead of the device at first, as it is while forces are computed. It is so again as soon as it has not
    waited for a while; the step's next kernels take long enough for that.
    """
    device = 0.0  # when it is done with what was launched
    host = -1e9  # when it is free to launch
    recorded: float | None = None
    for event in events:
        if event.what == "record":
            recorded = device
        elif event.what == "wait":
            host = max(host, (device if recorded is None else recorded) + c.TO_HOST)
            recorded = None
        else:
            host += c.HOST_LAUNCH
            begin = max(device + c.BETWEEN_LAUNCHES, host + c.TO_DEVICE)
            device = begin + event.microseconds
    next_kernel = max(device + c.BETWEEN_LAUNCHES, host + c.HOST_LAUNCH + c.TO_DEVICE)
    return next_kernel - c.BETWEEN_LAUNCHES
