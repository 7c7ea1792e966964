# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Where lengths of constraints come from that no force field gives: positions, a table, or a function."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from openmm import app, unit

from openmmconstraints._quantities import ask_for_angstroms, to_number
from openmmconstraints.helpers.counts import count_of
from openmmconstraints.helpers.covalent import radius_of, require_finite
from openmmconstraints.helpers.pairs import Pair, Triple, describe, pair_of, third_side
from openmmconstraints.inspection.bonds import minimum_image

#: Elements of a bond, or of an angle with its vertex in the middle; in either order.
Key = tuple["app.Element | str", ...]
Lengths = Literal["positions"] | Mapping[Key, Any] | Callable[..., Any]

#: A length beyond this times the sum of the covalent radii, or below that part of it, is in another unit, or the
#: molecule is broken. Atoms that stand for beads, as alpha carbons do, are up to three times as far from each other.
PLAUSIBLE = 5

#: A length that differs from the distance at the positions by more than this, relative, is warned of.
UNUSUAL = 0.1
#: One that is longer, or shorter, than that by more than this factor is refused.
WRONG = 1.5
#: And where a plain number is so many times as long, angstroms may be meant.
ANGSTROMS = 3


def source_of(lengths: Lengths, atoms: Sequence[app.topology.Atom], positions: FromPositions | None) -> Source:
    """
    Raises
    ------
    TypeError, ValueError
        if `lengths` is nothing that gives lengths, or positions are missing
    """
    if isinstance(lengths, str) and lengths == "positions":
        if positions is None:
            raise ValueError('constrain: lengths="positions" needs positions=, those of all particles.')
        return positions
    if isinstance(lengths, Mapping):
        return FromTable(atoms, lengths)
    if callable(lengths):
        return FromFunction(atoms, lengths)
    raise TypeError(
        'constrain: lengths must be "positions", a table such as {("O", "H"): 0.0957}, or a function of two atoms '
        f"that returns their distance, not {lengths!r}"
    )


class FromPositions:
    """As far apart as atoms are at the start."""

    deviation = 0.02  #: by which other constraints may differ: rounded coordinates explain as much

    def __init__(self, atoms: Sequence[app.topology.Atom], x: np.ndarray, vectors: np.ndarray | None) -> None:
        self.atoms, self.x, self.vectors = atoms, x, vectors

    def bonds(self, pairs: Sequence[Pair]) -> list[float]:
        if not pairs:
            return []
        pairs = np.array(pairs)
        require_finite(self.atoms, np.unique(pairs), self.x)
        return np.linalg.norm(self.between(pairs[:, 0], pairs[:, 1]), axis=1).tolist()

    def is_plain(self, group: tuple[int, ...]) -> bool:
        """Whether the user gave the length of this bond, or distance of the ends, as a number without a unit."""
        return False

    def angles(self, triples: Sequence[Triple], length_of: Mapping[Pair, float]) -> list[float]:
        """Distances of the ends. Bonds have the minimum image, ends need not."""
        if not triples:
            return []
        i, centre, j = np.array(triples).T
        require_finite(self.atoms, np.unique(triples), self.x)
        return np.linalg.norm(self.between(centre, i) - self.between(centre, j), axis=1).tolist()

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """From i to j, to the nearest image."""
        difference = self.x[j] - self.x[i]
        return difference if self.vectors is None else minimum_image(difference, self.vectors)


class FromTable:
    """By elements."""

    deviation = 0.001

    def __init__(self, atoms: Sequence[app.topology.Atom], table: Mapping[Key, Any]) -> None:
        self.atoms = atoms
        self.values: dict[tuple[str, ...], Any] = {}
        for key, value in table.items():
            symbols = _symbols_of(key)
            _require_number(value, f"lengths[{key!r}]", may_be_angle=len(symbols) == 3)
            if self.values.setdefault(symbols, value) != value:
                raise ValueError(f"constrain: lengths has two values for {_text(symbols)}: in both orders")

    def bonds(self, pairs: Sequence[Pair]) -> list[float]:
        return [_distance(value) for value in self._look_up(pairs)]

    def angles(self, triples: Sequence[Triple], length_of: Mapping[Pair, float]) -> list[float]:
        values = self._look_up(triples)
        return [_of_ends(value, triple, length_of) for value, triple in zip(values, triples, strict=True)]

    def is_plain(self, group: tuple[int, ...]) -> bool:
        return not unit.is_quantity(self._look_up([group])[0])

    def _look_up(self, groups: Sequence[tuple[int, ...]]) -> list[Any]:
        """All that is missing is named, by one example of each."""
        keys, missing = [], {}
        for group in groups:
            elements = [self.atoms[i].element for i in group]
            without = [i for i, element in zip(group, elements, strict=True) if element is None]
            if without:
                raise ValueError(
                    f"constrain: {describe(self.atoms, without[0])} has no element to look up in a table. "
                    'Give lengths="positions", or a function of atoms.'
                )
            keys.append(_ordered(tuple(element.symbol for element in elements)))
            if keys[-1] not in self.values:
                missing.setdefault(keys[-1], group)
        if missing:
            each = "; ".join(f"{_text(key)}, for {describe(self.atoms, *group)}" for key, group in missing.items())
            raise ValueError(f"constrain: lengths lacks {each}")
        return [self.values[key] for key in keys]


class FromFunction:
    """What a user's function returns for two or three atoms."""

    deviation = FromTable.deviation

    def __init__(self, atoms: Sequence[app.topology.Atom], function: Callable[..., Any]) -> None:
        self.atoms, self.function = atoms, function
        self._plain: set[tuple[int, ...]] = set()

    def bonds(self, pairs: Sequence[Pair]) -> list[float]:
        return [_distance(self._call(pair)) for pair in pairs]

    def angles(self, triples: Sequence[Triple], length_of: Mapping[Pair, float]) -> list[float]:
        return [_of_ends(self._call(triple), triple, length_of) for triple in triples]

    def is_plain(self, group: tuple[int, ...]) -> bool:
        return group in self._plain

    def _call(self, group: tuple[int, ...]) -> Any:
        where = f"lengths(atom{', atom' * (len(group) - 1)}) for {describe(self.atoms, *group)}"
        try:
            value = self.function(*(self.atoms[i] for i in group))
        except TypeError as error:
            raise TypeError(f"constrain: {where} raised an exception: {error}") from error
        _require_number(value, where, may_be_angle=len(group) == 3)
        if not unit.is_quantity(value):
            self._plain.add(group)
        return value


Source = FromPositions | FromTable | FromFunction


def require_plausible(atoms: Sequence[app.topology.Atom], pair: Pair, length: float, source: Source) -> None:
    """:raises ValueError: if a bond of these elements cannot be so long, or so short"""
    if length == 0:
        raise ValueError(f"constrain: {describe(atoms, *pair)} are in one place: a bond has a length")
    radii = [radius for i in pair if (radius := radius_of(atoms[i].element)) is not None]
    if len(radii) < 2 or 1 / PLAUSIBLE <= length / sum(radii) <= PLAUSIBLE:
        return
    asked = ask_for_angstroms(length) if length > sum(radii) and source.is_plain(pair) else ""
    raise ValueError(
        f"constrain: {asked}{length:.4g} nm cannot be the length of the bond {describe(atoms, *pair)}, whose covalent "
        f"radii add up to {sum(radii):.3g} nm. Plain numbers are nm. Where a molecule crosses the periodic box, the "
        "System has to be periodic (System.usesPeriodicBoundaryConditions())."
    )


def require_close(
    atoms: Sequence[app.topology.Atom],
    groups: Sequence[tuple[int, ...]],
    lengths: Sequence[float],
    at: FromPositions,
    source: Source,
) -> None:
    """Compare lengths of bonds and distances of the ends of angles with those at the positions; warn of `UNUSUAL` ones.

    Parameters
    ----------
    groups : pairs, then triples
    lengths : nm, of these

    Raises
    ------
    ValueError
        if one is `WRONG`
    """
    actual = [*at.bonds([g for g in groups if len(g) == 2]), *at.angles([g for g in groups if len(g) == 3], {})]
    far = [k for k, (given, now) in enumerate(zip(lengths, actual, strict=True)) if abs(given - now) > UNUSUAL * now]
    if not far:
        return

    def ratio(k: int) -> float:
        return max(lengths[k], actual[k]) / min(lengths[k], actual[k]) if actual[k] > 0 else math.inf

    worst = max(far, key=ratio)
    what = "the ends of " if len(groups[worst]) == 3 else ""
    pair = (
        f"{what}{describe(atoms, *groups[worst])} would be {lengths[worst]:.4g} nm from each other, and are "
        f"{actual[worst]:.4g} nm at the positions"
    )
    if ratio(worst) > WRONG:
        is_long = lengths[worst] > ANGSTROMS * actual[worst]
        asked = ask_for_angstroms(lengths[worst]) if is_long and source.is_plain(groups[worst]) else ""
        raise ValueError(
            f"constrain: {asked}{pair}, more than a factor of {WRONG}. Plain numbers are nm. Correct "
            "the length, or the positions."
        )
    warnings.warn(
        f"constrain: {count_of(len(far), 'length')} of {len(groups):,} differ by more than {100 * UNUSUAL:.0f} % from "
        f"the distances at the positions. The worst: {pair}.",
        stacklevel=6,
    )


def require_triangle(
    atoms: Sequence[app.topology.Atom], triple: Triple, distance: float, length_of: Mapping[Pair, float]
) -> None:
    """:raises ValueError: if no angle has this distance between its ends"""
    a, b = _sides(triple, length_of)
    if not abs(a - b) * (1 - 1e-6) <= distance <= (a + b) * (1 + 1e-6) or distance == 0:
        raise ValueError(
            f"constrain: the ends of {describe(atoms, *triple)} cannot be {distance:.6g} nm from each other: the bonds "
            f"are {a:.4g} and {b:.4g} nm long. Give a distance in nm, or an angle with its unit: 104.5*unit.degrees."
        )


def end_distance(angle: float, triple: Triple, length_of: Mapping[Pair, float]) -> float:
    """How far the ends of an angle (rad) are from each other."""
    return third_side(*_sides(triple, length_of), angle)


def _symbols_of(key: Any) -> tuple[str, ...]:
    if isinstance(key, str) or not isinstance(key, Sequence) or len(key) not in (2, 3):
        raise TypeError(
            f"constrain: keys of lengths are two or three elements, as in {{('O', 'H'): 0.0957}}, not {key!r}"
        )
    symbols = []
    for element in key:
        if isinstance(element, str):
            try:
                element = app.Element.getBySymbol(element)
            except KeyError:
                raise ValueError(f"constrain: there is no element {element!r}, as in the key {key!r}") from None
        if not isinstance(element, app.Element):
            raise TypeError(f"constrain: keys of lengths are elements or their symbols, not {element!r}")
        symbols.append(element.symbol)
    return _ordered(tuple(symbols))


def _ordered(symbols: tuple[str, ...]) -> tuple[str, ...]:
    return min(symbols, symbols[::-1])


def _text(symbols: tuple[str, ...]) -> str:
    return f"({', '.join(repr(symbol) for symbol in symbols)})"


def _is_angle(value: Any) -> bool:
    return unit.is_quantity(value) and value.unit.is_compatible(unit.radian)


def _require_number(value: Any, what: str, may_be_angle: bool) -> None:
    if may_be_angle and _is_angle(value):
        angle = value.value_in_unit(unit.radian)
        if not 0 < angle <= math.pi * (1 + 1e-9):
            raise ValueError(f"constrain: {what} is {value}: an angle is above 0 and up to 180 degrees")
    elif not 0 < to_number(value, "nanometer", "constrain", what) < math.inf:
        raise ValueError(f"constrain: {what} is {value}: a length is positive and finite")


def _distance(value: Any) -> float:
    return to_number(value, "nanometer", "constrain", "a length")


def _of_ends(value: Any, triple: Triple, length_of: Mapping[Pair, float]) -> float:
    """A distance of the ends, or that at an angle."""
    if not _is_angle(value):
        return _distance(value)
    return end_distance(value.value_in_unit(unit.radian), triple, length_of)


def _sides(triple: Triple, length_of: Mapping[Pair, float]) -> tuple[float, float]:
    i, centre, j = triple
    return length_of[pair_of(i, centre)], length_of[pair_of(centre, j)]
