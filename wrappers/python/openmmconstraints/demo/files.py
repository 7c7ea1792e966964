# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's numbers, as CSV and as JSON."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openmmconstraints.demo.comparison import Outcome, short_name
from openmmconstraints.demo.results import Results

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


def write_samples(outcomes: list[Outcome], path: Path) -> None:
    """All samples of runs as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for outcome in outcomes:
            energies = outcome.energies
            columns = (outcome.step, energies.time, energies.potential, energies.kinetic, energies.total)
            for row in zip(*columns, outcome.bond_error, outcome.iterations, strict=True):
                writer.writerow([outcome.system, outcome.candidate.integrator, outcome.candidate.solver, *row])


def write_results(results: Results, path: Path) -> None:
    """Settings, and all parts as JSON; null where there is no number."""
    forces = results.mean_forces
    described: dict[str, Any] = {
        "settings": results.settings,
        "runs": [_run(outcome, results.degrees_of_freedom[outcome.system]) for outcome in results.outcomes],
        "cost": [
            {
                "name": short_name(cost.candidate),
                "tolerance": cost.tolerance,
                "constraints": cost.constraints,
                "microseconds": asdict(cost.microseconds),
                "ratio": cost.ratio and asdict(cost.ratio),
            }
            for cost in results.cost
        ],
        "set_up": [
            {"constraints": entry.constraints, "seconds": {short_name(c): s for c, s in entry.seconds.items()}}
            for entry in results.set_ups
        ],
        "rigid": [_run(outcome, None) for outcome in results.rigid],
        "mean_force": forces
        and {
            "dihedral_rad": forces.profile.values.tolist(),
            "mean_kJ_per_mol_rad": forces.profile.mean_force.tolist(),
            "standard_error": forces.profile.error.tolist(),
            "exact": forces.exact.tolist(),
        },
    }
    path.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def _run(outcome: Outcome, degrees_of_freedom: int | None) -> dict[str, Any]:
    drift = outcome.energies.drift()
    return {
        "constraints": outcome.system,
        "integrator": outcome.candidate.integrator,
        "solver": outcome.candidate.solver,
        "steps": outcome.steps,
        "largest_bond_error": outcome.largest_error,
        "largest_iterations": outcome.largest_iterations,
        "drift_kT_per_ns_per_dof": drift and drift.kt_per_ns_dof,
        "drift_standard_error": drift and drift.error,
        "energy_change_percent_of_kinetic": drift and drift.percent_of_kinetic,
        "mean_temperature_K": degrees_of_freedom and outcome.energies.mean_temperature(degrees_of_freedom),
        "ns_per_day": outcome.ns_per_day,
        "summary": outcome.summary,
        "failure": outcome.failure,
        "failed_at": outcome.failed_at,
    }
