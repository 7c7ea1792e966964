# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Atoms that users name by index, or as atoms of a Topology."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index

import numpy as np
from openmm import app


def indices_of(atoms: Iterable[int | app.topology.Atom], count: int, method: str) -> list[int]:
    """Indices of particles, ascending, each once.

    Raises
    ------
    TypeError
        if there is anything but indices and atoms
    ValueError
        if an index is not between 0 and `count` - 1
    """
    chosen = set()
    for atom in atoms:
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
