# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Rates of angles, which as plain numbers have to be ones that may be meant in radians."""

from functools import wraps
from inspect import isfunction, signature

from openmmconstraints._quantities import require_radians_per_picosecond


def require_radian_rates(cls) -> None:
    """Let the methods of a Force that take the rate of an angle refuse one that must be in degrees: all that take a
    rate, but those of distances and numbers, as in quantities.i."""
    for name, function in list(vars(cls).items()):
        is_angular = "Distance" not in name and "Number" not in name
        if isfunction(function) and "rate" in signature(function).parameters and is_angular:
            setattr(cls, name, _checked(function))


def _checked(function):
    place = [*signature(function).parameters].index("rate")

    @wraps(function)
    def method(*args, **kwargs):
        if len(args) > place:
            require_radians_per_picosecond(args[place], function.__name__)
        elif "rate" in kwargs:
            require_radians_per_picosecond(kwargs["rate"], function.__name__)
        return function(*args, **kwargs)

    return method
