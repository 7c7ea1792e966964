# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's numbers: on the terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from rich.console import Console

from openmmconstraints.demo.comparison import Outcome
from openmmconstraints.terminal.table import make_table, scientific

COLUMNS = [
    "constraints",
    "integrator",
    "solver",
    "step",
    "time_ps",
    "potential_kJ_per_mol",
    "kinetic_kJ_per_mol",
    "total_kJ_per_mol",
    "largest_bond_error",
    "iterations",
]


def print_results(console: Console, outcomes: list[Outcome], degrees_of_freedom: dict[str, int]) -> None:
    """One row per run, then the summary of each solver, then failures word for word."""
    table = make_table(
        "Same start, same step size, same tolerance",
        ["Constraints", "Integrator"],
        [
            "Steps",
            "Largest\nbond error",
            "Iter-\nations",
            "Energy drift\n(kT/ns/dof)",
            "in % of\nkinetic",
            "T (K)",
            "ns/day",
        ],
        caption="Largest bond error: |d - d0|/d0 from the positions of all samples. Iterations: largest of the sampled "
        "steps. Drift: least squares over this short time, ± its standard error; "
        "also as the change over the run in % of the kinetic energy.",
    )
    table.columns[1].no_wrap = True
    for number, outcome in enumerate(outcomes):
        table.add_row(
            *_row(outcome, degrees_of_freedom[outcome.constraints]),
            end_section=number + 1 < len(outcomes) and outcomes[number + 1].constraints != outcome.constraints,
        )
    console.print(table)
    for outcome in outcomes:
        if outcome.summary is not None:
            console.print(f"{outcome.constraints}, {outcome.candidate.label}: {outcome.summary}")
    for outcome in outcomes:
        if outcome.failure is not None:
            console.print(f"FAILED: {outcome.constraints}, {outcome.candidate.label}: {outcome.failure}", style="red")


def _row(outcome: Outcome, degrees_of_freedom: int) -> list[str]:
    name = outcome.candidate.label + (" FAILED" if outcome.failure else "")
    drift = outcome.energies.drift()
    temperature = outcome.energies.mean_temperature(degrees_of_freedom)
    return [
        outcome.constraints,
        name,
        f"{outcome.steps:,}",
        scientific(max(outcome.bond_error[1:], default=None), 3),
        "-" if outcome.largest_iterations is None else str(outcome.largest_iterations),
        "-" if drift is None else str(drift),
        "-" if drift is None else f"{drift.percent_of_kinetic:+.1g}",
        "-" if temperature is None else f"{temperature:.1f}",
        "-" if outcome.ns_per_day is None else f"{outcome.ns_per_day:.3g}",
    ]


def write_samples(outcomes: list[Outcome], path: Path) -> None:
    """All samples as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for outcome in outcomes:
            energies = outcome.energies
            columns = (outcome.step, energies.time, energies.potential, energies.kinetic, energies.total)
            for row in zip(*columns, outcome.bond_error, outcome.iterations, strict=True):
                writer.writerow([outcome.constraints, outcome.candidate.integrator, outcome.candidate.solver, *row])


def write_results(outcomes: list[Outcome], settings: dict, degrees_of_freedom: dict[str, int], path: Path) -> None:
    """Settings and one entry per run as JSON; null where there is no number."""
    runs = []
    for outcome in outcomes:
        drift = outcome.energies.drift()
        runs.append(
            {
                "constraints": outcome.constraints,
                "integrator": outcome.candidate.integrator,
                "solver": outcome.candidate.solver,
                "steps": outcome.steps,
                "largest_bond_error": max(outcome.bond_error[1:], default=None),
                "largest_iterations": outcome.largest_iterations,
                "drift_kT_per_ns_per_dof": drift and drift.kt_per_ns_dof,
                "drift_standard_error": drift and drift.error,
                "energy_change_percent_of_kinetic": drift and drift.percent_of_kinetic,
                "mean_temperature_K": outcome.energies.mean_temperature(degrees_of_freedom[outcome.constraints]),
                "ns_per_day": outcome.ns_per_day,
                "summary": outcome.summary,
                "failure": outcome.failure,
            }
        )
    path.write_text(json.dumps({"settings": settings, "runs": runs}, indent=2) + "\n", encoding="utf-8")
