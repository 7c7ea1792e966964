# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""New constraints at given lengths, beside those that the System has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from openmmconstraints.helpers.chosen import Chosen
from openmmconstraints.helpers.force_field import Terms
from openmmconstraints.helpers.lengths import (
    FromFunction,
    FromPositions,
    FromTable,
    end_distance,
    require_close,
    require_plausible,
    require_triangle,
)
from openmmconstraints.helpers.pairs import Pair, Triple, describe, pair_of
from openmmconstraints.inspection.kinds import ANGLE, DISTANCE
from openmmconstraints.inspection.listing import Listing


class NewConstraints:
    """Chosen bonds and angles with their lengths. Nothing is changed before `terms.replace()`."""

    def __init__(
        self,
        terms: Terms,
        listing: Listing,
        chosen: Chosen,
        source: FromPositions | FromTable | FromFunction,
        positions: FromPositions | None,
    ) -> None:
        self.terms, self.source = terms, source
        self.bonds = self.angles = self.kept = 0
        self.largest_deviation = 0.0
        self.shape: tuple[float, float] | None = None
        which, particles = listing.of_kind(DISTANCE)
        is_changing = listing.is_changing
        self.moving = {pair_of(*p) for k, p in zip(which, particles.tolist(), strict=True) if is_changing[k]}
        which, particles = listing.of_kind(ANGLE)
        self.held_angles = {
            (pair_of(p[0], p[2]), p[1]): math.inf if is_changing[k] else float(listing.target[k])
            for k, p in zip(which, particles.tolist(), strict=True)
        }
        lengths = dict(zip(chosen.pairs, source.bonds(chosen.pairs), strict=True))
        for pair, length in lengths.items():
            require_plausible(terms.atoms, pair, length, source)
        waters = self._averaged(chosen.waters)
        bond = _average(lengths, [pair_of(o, h) for o, ends in waters.items() for h in ends])
        for pair, length in lengths.items():
            self._hold_bond(pair, length)
        distances = dict(zip(chosen.triples, source.angles(chosen.triples, terms.held), strict=True))
        if positions is not None and source is not positions:
            self._require_close({**lengths, **distances}, positions)
        ends = _average(distances, [(i, o, j) for o, (i, j) in waters.items()])
        for triple, distance in distances.items():
            self._hold_angle(triple, distance)
        if waters:
            self.shape = bond, ends
        averaged = {i for oxygen, ends in waters.items() for i in (oxygen, *ends)}
        #: nm, of what was measured and is new, but for waters
        self.measured = {pair: length for pair, length in terms.new.items() if pair[0] not in averaged}

    def _require_close(self, lengths: Mapping[tuple[int, ...], float], positions: FromPositions) -> None:
        """What moves keeps its length, whatever is given here."""
        chosen = {group: length for group, length in lengths.items() if not self._is_moving(group)}
        require_close(self.terms.atoms, list(chosen), list(chosen.values()), positions, self.source)

    def _is_moving(self, group: tuple[int, ...]) -> bool:
        if any(pair_of(i, j) in self.moving for i, j in combinations(group, 2)):
            return True
        return len(group) == 3 and self.held_angles.get((pair_of(group[0], group[2]), group[1])) == math.inf

    def _averaged(self, waters: Mapping[int, Pair]) -> dict[int, Pair]:
        """Waters that nothing holds yet. By positions, which may be rounded, each would have a shape of its own."""
        held = self.terms.held
        return {
            o: ends
            for o, ends in (waters.items() if isinstance(self.source, FromPositions) else ())
            if ends not in held and not any(pair_of(o, h) in held for h in ends) and (ends, o) not in self.held_angles
        }

    def _hold_bond(self, pair: Pair, length: float) -> None:
        if pair in self.terms.held:
            self._keep(pair, self.terms.held[pair], length, pair in self.moving)
        else:
            self.terms.hold(pair, length)
            self.bonds += 1

    def _hold_angle(self, triple: Triple, distance: float) -> None:
        i, centre, j = triple
        ends = pair_of(i, j)
        is_moving = ends in self.moving or any(pair_of(centre, end) in self.moving for end in ends)
        if not is_moving:
            require_triangle(self.terms.atoms, triple, distance, self.terms.held)
        if ends in self.terms.held:
            self._keep(triple, self.terms.held[ends], distance, is_moving)
        elif (ends, centre) in self.held_angles:
            angle = self.held_angles[ends, centre]
            is_moving = is_moving or angle == math.inf
            held = math.nan if is_moving else end_distance(angle, triple, self.terms.held)
            self._keep(triple, held, distance, is_moving)
        else:
            self.terms.hold(ends, distance)
            self.terms.replaced_angles.append((ends, centre))
            self.angles += 1

    def _keep(self, particles: Sequence[int], held: float, length: float, is_moving: bool) -> None:
        """
        Raises
        ------
        ValueError
            if there is another length already
        """
        self.kept += 1
        if is_moving:
            return
        deviation = abs(length - held) / held
        if not deviation <= self.source.deviation:
            what = "the ends of " if len(particles) == 3 else ""
            raise ValueError(
                f"constrain: {what}{describe(self.terms.atoms, *particles)} are held at {held:.6g} nm already, "
                f"and would get {length:.6g} nm now. Remove one, or give both the same length."
            )
        self.largest_deviation = max(self.largest_deviation, deviation)


def _average(lengths: dict, keys: Sequence) -> float:
    """Give all of them their mean. @return it"""
    mean = sum(lengths[key] for key in keys) / max(1, len(keys))
    lengths.update(dict.fromkeys(keys, mean))
    return mean
