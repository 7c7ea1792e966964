# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Bonds by distance: atoms closer than 1.25 times the sum of their covalent radii."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openmm import app

from openmmconstraints.helpers.neighbours import Crowd, close_pairs
from openmmconstraints.helpers.pairs import describe
from openmmconstraints.inspection.labels import atom_name

#: Radii (pm) of the elements 1 to 96: B. Cordero et al., Covalent radii revisited, Dalton Trans. 2008, 2832,
#: doi:10.1039/B801115J, table 2; of carbon that for sp3, of Mn, Fe and Co those of low spin.
RADII = (
    *(31, 28),
    *(128, 96, 84, 76, 71, 66, 57, 58),
    *(166, 141, 121, 111, 107, 105, 102, 106),
    *(203, 176, 170, 160, 153, 139, 139, 132, 126, 124, 132, 122, 122, 120, 119, 120, 120, 116),
    *(220, 195, 190, 175, 164, 154, 147, 146, 142, 139, 145, 144, 142, 139, 139, 138, 139, 140),
    *(244, 215, 207, 204, 203, 201, 199, 198, 198, 196, 194, 192, 192, 189, 190, 187, 187),
    *(175, 170, 162, 151, 144, 141, 136, 136, 132, 145, 146, 148, 140, 150, 150),
    *(260, 221, 215, 206, 200, 196, 190, 187, 180, 169),
)

#: Li, Na, K, Rb, Cs, Fr and Be, Mg, Ca, Sr, Ba, Ra are ions nearly always: what is around them is not bonded to them.
IONS = frozenset({3, 11, 19, 37, 55, 87, 4, 12, 20, 38, 56, 88})

#: Atoms closer than this times the sum of their radii are bonded; closer than the second one, they overlap.
BONDED, OVERLAPPING = 1.25, 0.5


def radius_of(element: app.Element | None) -> float | None:
    """nm; None where it is not known."""
    if element is None or not 1 <= element.atomic_number <= len(RADII):
        return None
    return RADII[element.atomic_number - 1] / 1000


def is_hydrogen(element: app.Element | None) -> bool:
    """Deuterium is hydrogen too."""
    return element is not None and element.atomic_number == 1


def covalent_bonds(
    atoms: Sequence[app.topology.Atom], searched: np.ndarray, x: np.ndarray, vectors: np.ndarray | None
) -> list[tuple[int, int]]:
    """Pairs of bonded atoms, in ascending order.

    Parameters
    ----------
    searched : indices of the atoms to search
    x, vectors : positions of all atoms, and vectors of the periodic box or None (nm)

    Raises
    ------
    ValueError
        if an atom has no element, radius or position, or two atoms overlap, or a hydrogen has two partners
    """
    radii = [radius_of(atoms[i].element) for i in searched]
    unknown = [i for i, radius in zip(searched, radii, strict=True) if radius is None]
    if unknown:
        why = "no element" if atoms[unknown[0]].element is None else f"the element {atoms[unknown[0]].element.symbol}"
        raise ValueError(
            f"constrain: there are {len(unknown)} atoms without a covalent radius, the first of which is "
            f'{describe(atoms, unknown[0])}, which has {why}. Add bonds to the topology, and use bonds="all".'
        )
    is_ion = np.array([atoms[i].element.atomic_number in IONS for i in searched], dtype=bool)
    chosen = searched[~is_ion]
    radius = np.array(radii, dtype=float)[~is_ion]
    if len(chosen) == 0:
        return []
    require_finite(atoms, chosen, x)
    try:
        first, second, distance = close_pairs(x[chosen], radius, BONDED, vectors)
    except Crowd as crowd:
        raise ValueError(_overlap(atoms, chosen[crowd.first], chosen[crowd.second], crowd.distance)) from None
    close = np.flatnonzero(distance < OVERLAPPING * (radius[first] + radius[second]))
    if len(close) > 0:
        worst = close[np.argmin(distance[close])]
        raise ValueError(_overlap(atoms, chosen[first[worst]], chosen[second[worst]], distance[worst]))
    found = np.sort(np.stack([chosen[first], chosen[second]], axis=1), axis=1)
    order = np.lexsort((found[:, 1], found[:, 0]))
    found, distance = found[order], distance[order]
    _require_one_partner(atoms, found, distance)
    return [(int(i), int(j)) for i, j in found]


def require_finite(atoms: Sequence[app.topology.Atom], chosen: np.ndarray, x: np.ndarray) -> None:
    """:raises ValueError: if a position of these atoms is not finite"""
    bad = chosen[~np.isfinite(x[chosen]).all(axis=1)]
    if len(bad) > 0:
        raise ValueError(f"constrain: the position of {describe(atoms, int(bad[0]))} is {x[bad[0]].tolist()}")


def _overlap(atoms: Sequence[app.topology.Atom], first: int, second: int, distance: float) -> str:
    return (
        f"constrain: {describe(atoms, int(first), int(second))} overlap: {distance:.3g} nm from each other. "
        "Bonds are found only at positions of a structure, in nm."
    )


def _require_one_partner(atoms: Sequence[app.topology.Atom], found: np.ndarray, distance: np.ndarray) -> None:
    partners = np.bincount(found.ravel(), minlength=len(atoms))
    for i in np.flatnonzero(partners > 1).tolist():
        if not is_hydrogen(atoms[i].element):
            continue
        bonds = np.flatnonzero((found == i).any(axis=1))
        each = " and ".join(
            f"{describe(atoms, int(found[k].sum()) - i)} at {distance[k]:.4g} nm" for k in bonds.tolist()
        )
        raise ValueError(
            f"constrain: the hydrogen {atom_name(atoms[i])} (particle {i}) has {len(bonds)} partners: {each}. "
            'Which bonds to hold is not plain then: add them to the topology, and use bonds="hydrogens" or "all".'
        )
