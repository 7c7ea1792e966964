# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Atoms of a Topology wherever indices of particles are taken."""

from collections.abc import Iterable
from functools import wraps
from inspect import isfunction, signature

import numpy
from openmm import app

_SETS = (app.topology.Residue, app.topology.Chain)


def to_particle(atom):
    """The index of an atom; anything else as it is.

    Raises
    ------
    TypeError
        if it is a residue or a chain, whose index is that of no particle
    """
    if isinstance(atom, _SETS):
        raise TypeError(f"a particle is an index or an atom of a Topology, not {atom!r}: take one of its atoms.")
    return atom.index if isinstance(atom, app.topology.Atom) else atom


def to_particles(atoms):
    """Indices of a group of atoms, for which residues and chains stand, too; what is no group as it is."""
    if isinstance(atoms, _SETS):
        atoms = atoms.atoms()
    elif not isinstance(atoms, Iterable) or (isinstance(atoms, numpy.ndarray) and atoms.dtype != object):
        return atoms
    each = (one.atoms() if isinstance(one, _SETS) else (one,) for one in atoms)
    return [to_particle(atom) for some in each for atom in some]


def to_pairs(pairs):
    """Pairs of indices of pairs of atoms, or of bonds of a Topology; what is none as it is."""
    if not isinstance(pairs, Iterable) or isinstance(pairs, numpy.ndarray):
        return pairs
    return [tuple(map(to_particle, pair)) if isinstance(pair, (tuple, list)) else pair for pair in pairs]


def take_atoms(*classes) -> None:
    """Let methods take atoms in arguments that C++ calls particle1, particles, bonds, ..."""
    for cls in classes:
        for name, function in list(vars(cls).items()):
            if isfunction(function) and not name.startswith("_"):
                converters = {argument: _converter(argument) for argument in signature(function).parameters}
                if any(converters.values()):
                    setattr(cls, name, _converting(function, converters))


def _converter(argument):
    if argument.rstrip("0123456789") == "particles":
        return to_particles
    return to_particle if argument.startswith("particle") else {"bonds": to_pairs, "pairs": to_pairs}.get(argument)


def _converting(function, converters):
    places = [(place, convert) for place, convert in enumerate(converters.values()) if convert]
    first, last = places[0][0], places[-1][0] + 1

    @wraps(function)
    def method(*args, **kwargs):
        for given in args[first:last]:  # thousands of constraints are added by indices
            if type(given) is not int:
                break
        else:
            if not kwargs:
                return function(*args)
        changed = list(args)
        try:
            for place, convert in places:
                if place < len(changed):
                    changed[place] = convert(changed[place])
            for argument in kwargs:
                if convert := converters.get(argument):
                    kwargs[argument] = convert(kwargs[argument])
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from None
        return function(*changed, **kwargs)

    return method
