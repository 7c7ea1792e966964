# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's table: on the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.demo import rigid
from openmmconstraints.demo.comparison import BUILT_IN, CANDIDATES, Outcome, short_name
from openmmconstraints.demo.cost import Cost
from openmmconstraints.demo.results import Results, by_system
from openmmconstraints.demo.words import number, of_run, seconds
from openmmconstraints.terminal.table import make_table, scientific

HEAD = ["", *(short_name(candidate) for candidate in CANDIDATES)]
CAPTION = (
    "In brackets: the time over OpenMM's (less is faster), the median of stretches or passes in turns; ns/day of ours "
    "are OpenMM's over it. Bond error: largest |d - d0|/d0. Drift: least squares over this short run, ± its standard "
    "error. Bonds alone: of the protein, a step without forces less one without constraints; RATTLE solves for "
    "velocities too. Set-up: bonds and angles of hydrogens in polyethylene, Context and first step. Both: processor "
    "time of one thread. Mean force: on butane's dihedral, kJ/mol/rad, by RattleLangevinIntegrator on the Reference "
    "platform."
)
Row = list[str]


def sections(results: Results) -> Iterator[list[Row]]:
    """Rows that belong together; each has a name and a cell for OpenMM, SHAKE and RATTLE."""
    for constraints, runs in by_system(results.outcomes).items():
        yield _villin(constraints, runs, results.tolerance)
    yield _cost(results)
    yield [
        [
            f"set-up of {entry.constraints:,} constraints",
            *(seconds(entry.seconds[candidate]) for candidate in CANDIDATES),
        ]
        for entry in results.set_ups[-1:]
    ]
    yield [
        [f"{name} ({rigid.DISTANCES[name]} distances)", *(_ran(runs[candidate]) for candidate in CANDIDATES)]
        for name, runs in by_system(results.rigid).items()
    ]
    yield _mean_force(results)


def _villin(constraints: str, runs: dict[Candidate, Outcome], tolerance: float) -> list[Row]:
    def row(name: str, cell: Callable[[Outcome], str]) -> Row:
        cells = (cell(runs[c]) if c in runs else "-" for c in CANDIDATES)
        return [f"villin, {constraints}: {name}", *cells]

    def speed(outcome: Outcome) -> str:
        reference = runs[BUILT_IN].ns_per_day
        ratio = None if outcome.candidate == BUILT_IN else outcome.time_ratio(runs[BUILT_IN])
        if ratio is None or reference is None:
            return "-" if outcome.ns_per_day is None else f"{outcome.ns_per_day:.3g} ns/day"
        return f"{reference / ratio.median:.3g} ns/day ({ratio.median:.2f})"

    return [
        row("whole steps", speed),
        row(f"bond error at {number(tolerance)}", lambda o: scientific(o.largest_error)),
        row("drift, kT/ns/dof", _drift),
    ]


def _drift(outcome: Outcome) -> str:
    drift = outcome.energies.drift()
    if drift is None:
        return "-"
    return f"{drift.kt_per_ns_dof:+.2g}" + ("" if drift.error is None else f" ± {drift.error:.1g}")


def _cost(results: Results) -> list[Row]:
    tolerances = sorted({cost.tolerance for cost in results.cost}, reverse=True)
    chosen = sorted({tolerances[i] for i in (0, len(tolerances) // 2, -1)}, reverse=True) if tolerances else []
    rows = []
    for tolerance in chosen:
        found = {cost.candidate: cost for cost in results.cost if cost.tolerance == tolerance}
        size = next(iter(found.values())).constraints
        name = f"{size} bonds alone, {number(tolerance)}"
        rows.append([name, *(_microseconds(found.get(candidate)) for candidate in CANDIDATES)])
    return rows


def _microseconds(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    return f"{cost.microseconds.median:.3g} µs" + ("" if cost.ratio is None else f" ({cost.ratio.median:.2f})")


def _ran(outcome: Outcome) -> str:
    return of_run(outcome) if outcome.failure else f"ran, error {scientific(outcome.largest_error, 1)}"


def _mean_force(results: Results) -> list[Row]:
    found = results.mean_forces
    if found is None:
        return []
    steepest = int(np.argmax(np.abs(found.exact)))
    window, exact = found.profile.windows[steepest], found.exact[steepest]
    name = f"mean force at {np.degrees(window.value):.0f}° (exact: {exact:.2f})"
    force = window.mean_force
    return [[name, "cannot be held", "-", f"{force.mean:.2f} ± {force.error:.2f}"]]


def print_table(console: Console, results: Results) -> None:
    """The table to be copied."""
    table = make_table("OpenMM and openmm-constraints, side by side", HEAD[:1], HEAD[1:], caption=CAPTION)
    for rows in sections(results):
        for place, row in enumerate(rows):
            table.add_row(*row, end_section=place + 1 == len(rows))
    console.print(table)


def write_markdown(results: Results, title: str, path: Path) -> None:
    """The same for a report."""
    lines = [title.replace("\n", "; "), "", f"| {' | '.join(HEAD)} |", "|---|" + 3 * "---:|"]
    lines += [f"| {' | '.join(row)} |" for rows in sections(results) for row in rows]
    path.write_text("\n".join([*lines, "", CAPTION]) + "\n", encoding="utf-8")
