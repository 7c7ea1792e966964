# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Pairs of atoms, and what messages call them."""

from __future__ import annotations

from collections.abc import Sequence

from openmm import app

from openmmconstraints.inspection.labels import atom_name

#: Indices of two atoms, the smaller one first.
Pair = tuple[int, int]
#: Indices of an angle's atoms, the vertex in the middle.
Triple = tuple[int, int, int]


def pair_of(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def describe(atoms: Sequence[app.topology.Atom], *indices: int) -> str:
    """A:ALA5:CA - A:ALA5:CB (particles 12-13)"""
    names = " - ".join(atom_name(atoms[i]) for i in indices)
    return f"{names} (particle{'s' if len(indices) > 1 else ''} {'-'.join(map(str, indices))})"
