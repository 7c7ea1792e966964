# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Pairs and triples of atoms, and what messages call them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from openmm import app

from openmmconstraints.inspection.labels import atom_name

#: Indices of two atoms, the smaller one first.
Pair = tuple[int, int]
#: Indices of an angle's atoms, the vertex in the middle.
Triple = tuple[int, int, int]


def pair_of(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def third_side(a: float, b: float, angle: float) -> float:
    """How far the ends of an angle (rad) between bonds of these lengths are from each other."""
    return math.sqrt(max(0.0, a * a + b * b - 2 * a * b * math.cos(angle)))


def holds_angle(which: str, hydrogens: int, is_oxygen: bool) -> bool:
    """Whether constrain(angles=which) holds an angle, by its ends and its vertex: "hydrogens" as OpenMM's HAngles."""
    return which == "all" or (which == "hydrogens" and (hydrogens == 2 or (hydrogens == 1 and is_oxygen)))


def describe(atoms: Sequence[app.topology.Atom], *indices: int) -> str:
    """A:ALA5:CA - A:ALA5:CB (particles 12-13)"""
    names = " - ".join(atom_name(atoms[i]) for i in indices)
    return f"{names} (particle{'s' if len(indices) > 1 else ''} {'-'.join(map(str, indices))})"
