# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The report of a Health, on the terminal and as data: worst findings first, the verdict last."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING, Any

from openmm import unit
from rich.console import Console
from rich.table import Table
from rich.text import Text

from openmmconstraints.health.advice import TOLERANCES
from openmmconstraints.health.findings import Finding, count_severities
from openmmconstraints.terminal.clusters import cluster_table
from openmmconstraints.terminal.table import WIDTH_WITHOUT_TERMINAL, make_table, scientific

if TYPE_CHECKING:
    from openmmconstraints.health import Counts, Health

#: Rows of one kind in the table.
MAX_OF_A_KIND = 3
_STYLES = {"error": "bold red", "warning": "yellow", "note": ""}


def print_report(console: Console, health: Health, name: str = "the System") -> None:
    """Findings, positions, clusters, numbers, advice, verdict."""
    if health.findings:
        console.print(_findings_table(health, name))
    if health.placement is not None and health.placement.worst:
        console.print(_violations_table(health))
    if health.clusters:
        console.print(cluster_table("Clusters of constraints", health.clusters))
    for label, text in numbers(health):
        console.print(Text(f"{label + ':':<21}{text}"), soft_wrap=True)
    text, style = verdict(health)
    console.print(Text(text, style=style), soft_wrap=True)


def to_text(health: Health) -> str:
    """The report without colours."""
    out = io.StringIO()
    # In Jupyter, rich would display what it should write.
    plain = Console(
        file=out, width=WIDTH_WITHOUT_TERMINAL, highlight=False, markup=False, color_system=None, force_jupyter=False
    )
    print_report(plain, health)
    return out.getvalue().rstrip("\n")


def _findings_table(health: Health, name: str) -> Table:
    table = make_table(f"What was found in {name}", ["", "Kind"], ["How many"])
    table.add_column("What, and what to do", overflow="fold")
    shown, left_out = shown_findings(health)
    for finding in shown:
        text = Text(finding.message)
        if finding.remedy:
            text.append(f"\n→ {finding.remedy}", style="italic")
        style = _STYLES[finding.severity]
        table.add_row(Text(finding.severity, style=style), finding.kind, f"{finding.count:,}", text)
    table.caption = left_out or None
    return table


def shown_findings(health: Health) -> tuple[list[Finding], str]:
    """The first ones of each kind, and a sentence on others, empty where there are none."""
    seen: Counter[tuple[str, str]] = Counter()
    shown = []
    for finding in health.findings:
        seen[finding.severity, finding.kind] += 1
        if seen[finding.severity, finding.kind] <= MAX_OF_A_KIND:
            shown.append(finding)
    more = sum(max(0, count - MAX_OF_A_KIND) for count in seen.values())
    return shown, f"{more} more of these kinds are not shown; Health.findings and --json have them." if more else ""


def _violations_table(health: Health) -> Table:
    assert health.placement is not None
    table = make_table("Constraints farthest off (nm, rad)", ["Particles", "Atoms"], ["Value", "Target", "Error"])
    for worst in health.placement.worst:
        table.add_row(
            "-".join(map(str, worst.particles)),
            " - ".join(worst.names),
            f"{worst.value:.6f}",
            f"{worst.target:.6f}",
            scientific(worst.error),
        )
    return table


def numbers(health: Health) -> list[tuple[str, str]]:
    """What is counted and recommended: (name, text)."""
    counts = health.counts
    of_these = f", {counts.virtualSites:,} of them virtual sites" if counts.virtualSites else ""
    without = counts.particles - counts.massive
    rows = [
        ("particles", f"{counts.particles:,}" + (f" ({without:,} without mass{of_these})" if without else "")),
        ("constraints", f"{counts.constraints:,}" + _details(health)),
    ]
    if health.degreesOfFreedom is not None:
        removed = " - 3 (CMMotionRemover)" if counts.removesCenterOfMass else ""
        how = f"3 x {counts.massive:,} - {counts.independent:,}{removed}"
        rows.append(("degrees of freedom", f"{health.degreesOfFreedom:,} = {how}"))
    elif health._needs_positions:
        rows.append(("degrees of freedom", "depend on the positions, which were not given"))
    if health.placement is not None and health.placement.shift is not None:
        rows.append(("projection", f"moves no particle by more than {health.placement.shift:.2g} nm"))
    if health.placement is not None and health.placement.steps:
        rows.append(("run", f"{health.placement.steps} steps with all forces, without an exception"))
    tolerance, why = TOLERANCES[health.precision]
    rows.append(("tolerance", f"{tolerance:.0e} for constant energy in {health.precision} precision: {why}"))
    if health.recommendedTimeStep is not None:
        step = health.recommendedTimeStep.value_in_unit(unit.femtosecond)
        rows.append(("time step", f"{step:.2g} fs; limited by {health.stepLimit}"))
    return rows


def _details(health: Health) -> str:
    counts = health.counts
    parts = [bodies + _joints(counts)] if (bodies := _bodies(counts)) else []
    if counts.redundant:
        parts.append(f"{counts.redundant:,} redundant")
    if counts.independent is not None:
        parts.append(f"{counts.independent:,} independent")
    return f" ({', '.join(parts)})" if parts else ""


def _bodies(counts: Counts) -> str:
    """Those that are declared and those that are recognized."""
    both = counts.rigidBodies and counts.recognizedBodies
    numbers = {" declared" if both else "": counts.rigidBodies, " recognized": counts.recognizedBodies}
    return " and ".join(f"{n:,} rigid bod{'ies' if n != 1 else 'y'}{how}" for how, n in numbers.items() if n)


def _joints(counts: Counts) -> str:
    if not counts.joinedBodies:
        return ""
    joints = f" with {counts.joints:,} joint{'s' if counts.joints > 1 else ''} at shared particles"
    return f" ({counts.joinedBodies:,} joined{joints if counts.joints else ''})"


def verdict(health: Health) -> tuple[str, str]:
    """The last line, and its colour."""
    counts = count_severities(health.findings)
    listed = ", ".join(f"{n} {word}{'s' if n != 1 else ''}" for word, n in counts.items() if n)
    if counts["error"]:
        return f"Not ready to run: {listed}.", "bold red"
    if health.placement is None or health.placement.steps == 0:
        why = "no positions were given" if health.placement is None else "no step was tried"
        style = "bold yellow" if counts["warning"] else "bold green"
        return f"No error was found{f': {listed}' if listed else ''}. It was not run, because {why}.", style
    if counts["warning"]:
        return f"Will run, but look at the warnings: {listed}.", "bold yellow"
    return f"Healthy{f': {listed}' if listed else ''}.", "bold green"


def to_dict(health: Health) -> dict[str, Any]:
    """Plain data."""
    step = health.recommendedTimeStep
    clusters = (
        *("count", "constraints", "particles", "solver", "levels", "factorEntries", "note"),
        *("equations", "rigidBodies"),
    )
    placement = health.placement
    return {
        "ok": health.ok,
        "precision": health.precision,
        "findings": [finding.as_dict() for finding in health.findings],
        "counts": vars(health.counts),
        "degreesOfFreedom": health.degreesOfFreedom,
        "clusters": None
        if health.clusters is None
        else [{name: getattr(c, name) for name in clusters} for c in health.clusters],
        "vibrations": [vibration.as_dict() for vibration in health.vibrations],
        "recommendedTolerance": health.recommendedTolerance,
        "recommendedTimeStep": None if step is None else step.value_in_unit(unit.femtosecond),
        "stepLimit": health.stepLimit,
        "placement": None
        if placement is None
        else {
            "worst": [worst.as_dict() for worst in placement.worst],
            "shift": placement.shift,
            "steps": placement.steps,
        },
    }
