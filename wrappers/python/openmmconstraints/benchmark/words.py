# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a benchmark's numbers mean, and why some are missing, in words."""

from __future__ import annotations

from collections.abc import Sequence

from openmmconstraints.benchmark.measure import Record

CAPTION = (
    "Times: medians of the rounds; ratios: medians of each round's ratio to the built-in algorithm, with quartiles. "
    "Set-up: of a Context without forces, and its first step. Constraints: a step without forces, less one without "
    "constraints. Share: that time in a whole step; with 4 %, a step would be 4 % shorter if constraints cost nothing. "
    "Noise: the difference of the two times is less than their scatter. Error: largest |d - d0|/d0 at the end. "
    "Iterations: of the last step, the largest of all clusters."
)
NAN = "NaN"


def cases(records: Sequence[Record]) -> list[str]:
    """The systems with their sets of constraints, in order."""
    return list(dict.fromkeys(record.case for record in records))


def share(record: Record) -> str:
    """The part of a whole step that the constraints take, in %."""
    if record.share is None:
        return "-"
    if record.share.low <= 0:
        return "noise"
    percent = 100 * record.share.median
    return ">100" if percent > 100 else f"{percent:.0f}" if percent >= 9.5 else f"{percent:.1f}"


def shares_in_words(records: Sequence[Record]) -> list[str]:
    """A sentence on each tolerance of one case: what part of a whole step its constraints take."""
    sentences = []
    for tolerance in dict.fromkeys(record.tolerance for record in records):
        parts = [_share_in_words(r) for r in records if r.tolerance == tolerance and r.share is not None]
        if parts:
            sentences.append(f"At {tolerance:g} the constraints take, of a whole step: {'; '.join(parts)}.")
    return sentences


def _share_in_words(record: Record) -> str:
    value = share(record)
    if value == "noise":
        return f"{record.label} too little to be measured"
    if value == ">100":
        return f"{record.label} not known (in the run without forces they took longer than a whole step)"
    return f"{record.label} {value} %"


def short_reason(record: Record) -> str:
    """Why there is no number, for a plot."""
    if record.failure == NAN:
        return NAN
    return "set-up too long" if (record.failure or "").startswith("left out") else "fails"


def why_no_numbers(records: Sequence[Record]) -> list[str]:
    """A sentence for each row of one case that has a dash in place of a number, each reason once."""
    sentences: dict[tuple[str, str], str] = {}
    for record in records:
        where = f"{record.label}, {record.tolerance:g}: "
        if record.failure == NAN:
            text = "positions become NaN, without an error. Nothing can be compared with that."
        elif record.failure is not None:
            text = record.failure
        elif record.solver is not None and record.constraints_ratio is None and not _built_in_failed(record, records):
            text = why_no_ratio(record, records) + "."
        else:
            continue
        sentences.setdefault((record.label, text.splitlines()[0]), where + text)
    return list(sentences.values())


def why_no_ratio(record: Record, records: Sequence[Record]) -> str:
    """Why one row has no ratio to the built-in algorithm's time.

    :param records: of the same case
    """
    built_in = _built_in(record, records)
    if record.failure is not None:
        return f"{record.label}: {short_reason(record)}"
    if built_in is None or built_in.failure is not None:
        reason = "was not run" if built_in is None else {NAN: "gives NaN", "fails": "fails"}.get(short_reason(built_in))
        return f"no ratio: the built-in algorithm {reason or 'takes too long to set up'}"
    return "no ratio: the time of the built-in algorithm is less than its noise"


def _built_in(record: Record, records: Sequence[Record]) -> Record | None:
    """OpenMM's own algorithm at the same tolerance."""
    return next((r for r in records if r.solver is None and r.tolerance == record.tolerance), None)


def _built_in_failed(record: Record, records: Sequence[Record]) -> bool:
    """Whether a sentence on OpenMM's algorithm says why there is no ratio."""
    built_in = _built_in(record, records)
    return built_in is not None and built_in.failure is not None
