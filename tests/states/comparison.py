# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How the runs of two records differ, system by system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from .recording import Case, Recorded

#: {column: names of arrays}
COLUMNS: dict[str, tuple[str, ...]] = {
    "positions": ("positions", "restored positions"),
    "velocities": ("velocities",),
    "multipliers": ("multipliers", "velocity multipliers", "instantaneous multipliers"),
    "forces": ("constraint forces",),
    "virial": ("constraint virial",),
    "energies": ("energies",),
    "work": ("constraint work",),
    "heat": ("heat", "heat bath energy"),
    "iterations": ("iterations",),
}
RELATIVE = ("multipliers", "forces", "virial", "energies")  # to the largest element
COLUMN_OF = {name: column for column, names in COLUMNS.items() for name in names}


def is_text(array: np.ndarray) -> bool:
    return array.dtype.kind == "U"


def is_same(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether two arrays are equal bit for bit."""
    return before.dtype == after.dtype and before.shape == after.shape and before.tobytes() == after.tobytes()


def difference(before: np.ndarray, after: np.ndarray, is_relative: bool) -> float:
    """The largest one of an element; infinite, where one is not finite and the other is something else."""
    if before.size == 0:
        return 0.0
    equal = before == after
    with np.errstate(invalid="ignore"):
        apart = np.where(equal | (np.isnan(before) & np.isnan(after)), 0.0, np.abs(after - before))
    largest = float(np.nan_to_num(apart, nan=np.inf).max())
    scale = float(np.nan_to_num(np.abs(before), nan=0, posinf=0).max())
    return largest / scale if is_relative and scale > 0 else largest


@dataclass
class Row:
    """Of a system: how many cases, and the worst of them."""

    system: str
    cases: int = 0
    equal: int = 0
    worst: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0.0))
    #: Of a case: what differs that is no number. {name: (before, after)}
    texts: dict[Case, dict[str, tuple[str, str]]] = field(default_factory=dict)
    missing: list[Case] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        """Whether more than numbers differ."""
        return bool(self.texts or self.missing)

    def add(self, case: Case, before: Recorded, after: Recorded) -> None:
        self.cases += 1
        others = dict(other_differences(before, after))
        if others:
            self.texts[case] = others
        elif all(is_same(before[name], after[name]) for name in before):
            self.equal += 1
        for name in before.keys() & after.keys() & COLUMN_OF.keys() - others.keys():
            column = COLUMN_OF[name]
            if not is_text(before[name]):
                found = difference(before[name], after[name], column in RELATIVE)
                self.worst[column] = max(self.worst[column], found)


def other_differences(before: Recorded, after: Recorded) -> Iterator[tuple[str, tuple[str, str]]]:
    """Texts that differ, arrays of other shapes, and what only one has."""

    def said(array: np.ndarray | None) -> str:
        if array is None:
            return "nothing"
        return str(array) if is_text(array) else f"an array {list(array.shape)}"

    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if one is not None and other is not None and not is_text(one) and not is_text(other):
            if one.shape != other.shape:
                yield name, (said(one), said(other))
        elif said(one) != said(other):
            yield name, (said(one), said(other))


def compare(before: Mapping[Case, Recorded], after: Mapping[Case, Recorded], systems: Iterable[str] = ()) -> list[Row]:
    """A row for each system, or for each of these."""
    wanted = [*systems]
    rows: dict[str, Row] = {}
    for case in [*before, *(case for case in after if case not in before)]:
        if wanted and case.system not in wanted:
            continue
        row = rows.setdefault(case.system, Row(case.system))
        if case in before and case in after:
            row.add(case, before[case], after[case])
        else:
            row.missing.append(case)
    return list(rows.values())
