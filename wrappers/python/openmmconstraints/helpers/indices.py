# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Atoms that users name by index, or as atoms, residues or chains of a Topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, TypeAlias

import numpy as np
from openmm import app

#: A particle, or all of a residue's or a chain's.
Atoms: TypeAlias = int | app.topology.Atom | app.topology.Residue | app.topology.Chain
_SETS = (app.topology.Residue, app.topology.Chain)


def indices_of(
    atoms: Iterable[Atoms] | app.topology.Residue | app.topology.Chain, count: int, method: str
) -> list[int]:
    """Indices of particles, ascending, each once.

    Raises
    ------
    TypeError
        if there is anything but indices, atoms, residues and chains
    ValueError
        if an index is not between 0 and `count` - 1
    """
    chosen = set()
    for atom in _each(atoms, method):
        if isinstance(atom, (bool, np.bool_)):
            raise TypeError(
                f"{method}: atoms are indices or atoms of a Topology, not a mask; use numpy.flatnonzero(mask)"
            )
        try:
            chosen.add(index(getattr(atom, "index", atom)))
        except TypeError:
            raise TypeError(f"{method}: atoms are indices or atoms of a Topology, not {type(atom).__name__}") from None
    outside = [p for p in chosen if not 0 <= p < count]
    if outside:
        raise ValueError(f"{method}: there is no particle {min(outside)}: the System has {count}, 0 to {count - 1}")
    return sorted(chosen)


def _each(atoms: Iterable[Atoms] | app.topology.Residue | app.topology.Chain, method: str) -> Iterator[Any]:
    """Residues and chains have indices, too, which are not those of particles: their atoms are meant."""
    if isinstance(atoms, _SETS):
        yield from atoms.atoms()
        return
    if isinstance(atoms, str) or not isinstance(atoms, Iterable):
        raise TypeError(
            f"{method}: atoms are a list of indices, or of atoms of a Topology, not {atoms!r}. Type, for example, "
            '[atom for atom in topology.atoms() if atom.residue.name == "LIG"].'
        )
    for atom in atoms:
        if isinstance(atom, _SETS):
            yield from atom.atoms()
        else:
            yield atom
