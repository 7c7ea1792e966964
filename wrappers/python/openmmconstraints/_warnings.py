# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Warnings that show the line of the user's script, whatever this package and OpenMM called on the way."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_OWN = "openmmconstraints"
_SCRIPTS = f"{_OWN}.run"  # it runs scripts of users, and replaces some of OpenMM's functions for them


def warn(message: str) -> None:
    """Issue a RuntimeWarning at the first line outside of this package and OpenMM."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in (_OWN, "openmm"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def warn_of_context(message: str) -> None:
    """The same for a Context that a user creates: the compiled wrapper calls it while one is created.

    Contexts that this package creates for itself are no matter of users; where they are, its functions say so.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (_package(frame) == "openmm" or _name(frame).startswith(_SCRIPTS)):
        frame = frame.f_back
    if frame is None or _package(frame) != _OWN:
        warn(message)


def _name(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""


def _package(frame: FrameType) -> str:
    return _name(frame).partition(".")[0]
