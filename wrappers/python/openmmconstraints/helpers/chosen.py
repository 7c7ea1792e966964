# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which bonds, angles and water molecules to hold, by bonds alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from openmm import app

from openmmconstraints.helpers.covalent import is_hydrogen
from openmmconstraints.helpers.pairs import Pair, Triple, holds_angle, pair_of


@dataclass(frozen=True)
class Chosen:
    """Bonds and angles to hold, those of rigid waters included."""

    pairs: list[Pair]
    triples: list[Triple]
    waters: dict[int, Pair]  #: hydrogens of rigid waters, by their oxygens
    left_out: int  #: how many of all bonds have a massless atom


def choose(
    atoms: Sequence[app.topology.Atom],
    bonds: Sequence[Pair],
    masses: np.ndarray,
    which_bonds: str | None,
    which_angles: str | None,
    waters: Iterable[tuple[int, Pair]] | None,
) -> Chosen:
    """
    Parameters
    ----------
    bonds : all bonds
    which_bonds, which_angles : as in constrain()
    waters : oxygens and hydrogens of molecules that are known to be water, besides those that bonds show to be; None:
        no water is to be rigid
    """
    is_movable = (masses > 0).tolist()
    movable = [(i, j) for i, j in bonds if is_movable[i] and is_movable[j]]
    graph = _Graph(atoms, movable)
    rigid: dict[int, Pair] = {}
    if waters is not None:
        rigid = {o: ends for o, ends in waters if is_movable[o] and is_movable[ends[0]] and is_movable[ends[1]]}
        rigid.update(graph.waters())
    pairs = graph.pairs(which_bonds, rigid)
    return Chosen(pairs, graph.triples(pairs, which_angles, rigid), rigid, len(bonds) - len(movable))


class _Graph:
    def __init__(self, atoms: Sequence[app.topology.Atom], bonds: Sequence[Pair]) -> None:
        self.bonds = bonds
        self.is_hydrogen = [is_hydrogen(atom.element) for atom in atoms]
        self.is_oxygen = [atom.element is app.element.oxygen for atom in atoms]

    def waters(self) -> dict[int, Pair]:
        """Of each oxygen with two hydrogens, of which neither has another partner."""
        partners = _partners(self.bonds)
        waters = {}
        for oxygen, around in partners.items():
            is_water = self.is_oxygen[oxygen] and len(around) == 2 and all(self.is_hydrogen[i] for i in around)
            if is_water and all(partners[i] <= around | {oxygen} for i in around):
                waters[oxygen] = pair_of(*around)
        return waters

    def pairs(self, which: str | None, waters: dict[int, Pair]) -> list[Pair]:
        """Bonds; not that between the hydrogens of a rigid water, which some topologies have: it counts as an angle."""
        ends = set(waters.values())
        only_hydrogens = which in ("hydrogens", "covalent-hydrogens")
        pairs = [
            (i, j)
            for i, j in (self.bonds if which is not None else ())
            if (i, j) not in ends and (not only_hydrogens or self.is_hydrogen[i] or self.is_hydrogen[j])
        ]
        pairs += [pair_of(oxygen, hydrogen) for oxygen, hydrogens in waters.items() for hydrogen in hydrogens]
        return list(dict.fromkeys(pairs))

    def triples(self, pairs: Sequence[Pair], which: str | None, waters: dict[int, Pair]) -> list[Triple]:
        """Two of these bonds that share an atom. Where a third one joins their ends, that holds them."""
        bonded = set(pairs)
        triples = [(i, oxygen, j) for oxygen, (i, j) in waters.items()]
        for centre, partners in (_partners(pairs) if which is not None else {}).items():
            triples += [
                (i, centre, j)
                for i, j in combinations(sorted(partners), 2)
                if holds_angle(which, self.is_hydrogen[i] + self.is_hydrogen[j], self.is_oxygen[centre])
            ]
        return [triple for triple in dict.fromkeys(triples) if (triple[0], triple[2]) not in bonded]


def _partners(bonds: Iterable[Pair]) -> dict[int, set[int]]:
    partners: dict[int, set[int]] = {}
    for i, j in bonds:
        partners.setdefault(i, set()).add(j)
        partners.setdefault(j, set()).add(i)
    return partners
