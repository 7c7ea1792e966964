# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Enumerations of the C++ classes: numbers with names."""

from enum import IntEnum
from operator import index


class Solver(IntEnum):
    """How the multipliers of a cluster of coupled constraints are computed."""

    Automatic = 0
    Iterative = 1
    MatrixInversion = 2

    def __repr__(self) -> str:
        return f"ConstraintIntegrator.{self.name}"

    def __str__(self) -> str:
        return self.name


def name_solvers(cls) -> None:
    """Give an integrator class constants with names, and methods that take and return them."""
    choose, ask = cls.setSolver, cls.getSolver

    def setSolver(self, solver):
        choose(self, _to_solver(solver))

    def getSolver(self):
        return Solver(ask(self))

    for function, original in ((setSolver, choose), (getSolver, ask)):
        function.__doc__, function.__qualname__ = original.__doc__, original.__qualname__
        setattr(cls, function.__name__, function)
    for solver in Solver:
        setattr(cls, solver.name, solver)


def _to_solver(solver):
    """A number for C++, which refuses numbers that are no solver.

    Raises
    ------
    ValueError
        if there is no solver of that name
    TypeError
        if it is neither a name nor a whole number
    """
    choices = "Choose from " + ", ".join(f'"{name}"' for name in Solver.__members__) + "."
    if isinstance(solver, str):
        if solver not in Solver.__members__:
            raise ValueError(f"setSolver: there is no solver '{solver}'. {choices}")
        return int(Solver[solver])
    try:
        return index(solver)
    except TypeError:
        raise TypeError(f"setSolver: {solver!r} is no solver. {choices}") from None
