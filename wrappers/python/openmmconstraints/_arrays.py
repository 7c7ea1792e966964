# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`asNumpy=True`, as in openmm.State, for methods that return many numbers."""

import numpy

from openmmconstraints._quantities import to_quantity

#: What is added to their docstrings, and to those of the stubs (wrappers/python/document_stubs.py).
AS_NUMPY = """

:type asNumpy: boolean, optional
:param asNumpy:  return a numpy array, a Quantity of one where all its numbers have the same unit"""


def add_arrays(cls, name, unit=None) -> None:
    """Let a method return an array.

    Parameters
    ----------
    unit : str or None
        of all its numbers; None: they have different ones, and the array is not a Quantity
    """
    original = getattr(cls, name)

    def method(self, *args, asNumpy=False):
        return _to_array(original(self, *args), unit) if asNumpy else original(self, *args)

    def of_integrator(self, asNumpy=False):
        return method(self, asNumpy=asNumpy)

    def of_force(self, context, asNumpy=False):
        return method(self, context, asNumpy=asNumpy)

    wrapped = of_integrator if original.__code__.co_argcount == 1 else of_force
    wrapped.__name__, wrapped.__qualname__ = original.__name__, original.__qualname__
    wrapped.__module__, wrapped.__doc__ = original.__module__, original.__doc__ + AS_NUMPY
    setattr(cls, name, wrapped)


def _to_array(values, unit):
    array = numpy.array(getattr(values, "_value", values), dtype=float)  # which may be a Quantity
    return array if unit is None else to_quantity(array, unit)
