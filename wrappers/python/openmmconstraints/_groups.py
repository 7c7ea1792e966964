# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Force groups with substeps, which C++ takes as pairs of whole numbers."""

from functools import wraps
from inspect import signature
from operator import index


def require_pairs(*classes) -> None:
    """Let constructors say what `groups` has to be, instead of the name of a C++ type."""
    for cls in classes:
        cls.__init__ = _checked(cls.__init__, cls.__name__)


def _checked(construct, name):
    place = [*signature(construct).parameters].index("groups") - 1  # without self

    @wraps(construct)
    def __init__(self, *args, **kwargs):
        if "groups" in kwargs:
            kwargs["groups"] = _to_pairs(kwargs["groups"], name)
        elif len(args) > place:
            args = (*args[:place], _to_pairs(args[place], name), *args[place + 1 :])
        construct(self, *args, **kwargs)

    return __init__


def _to_pairs(groups, name):
    """
    Raises
    ------
    TypeError
        if they are anything else
    """
    try:
        return [(index(group), index(substeps)) for group, substeps in groups]
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: groups must be a list of pairs (force group, substeps), such as [(1, 1), (0, 2)], not {groups!r}."
        ) from None
