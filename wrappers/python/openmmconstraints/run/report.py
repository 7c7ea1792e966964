# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The table at the end of `openmm-constraints run`."""

from __future__ import annotations

from rich.console import Console

from openmmconstraints.run.observer import CHUNK, Observation
from openmmconstraints.run.session import Session
from openmmconstraints.terminal.table import make_table, scientific

SECONDS_PER_DAY = 86400


def print_report(console: Console, session: Session, has_failed: bool) -> None:
    """One column per integrator that took steps. Where there is none, the message of a script that failed says why."""
    seen = [observation for observation, _ in session.observed if observation.steps > 0]
    for name in sorted(session.untouched):
        console.print(f"openmm-constraints run: {name} was not replaced.")
    if not seen and has_failed:
        return
    if not seen:
        package = "OpenMM" if session.is_solver_only else "openmm-constraints"
        what = f"an integrator of {package}" if session.chosen is None else session.chosen.__name__
        console.print(
            f"openmm-constraints run: no step was taken with {what} in this process. Others that the script starts are "
            "not in the table."
        )
        return
    table = make_table(
        "openmm-constraints run",
        ["", *map(_title, seen)],
        [],
        caption=f"Errors and iterations: of the last of every {CHUNK} steps, or of fewer where reading them is slow. "
        "Drift: of the conserved energy, least squares, ± its standard error.",
    )
    for row in zip(*(_lines(observation) for observation in seen), strict=True):
        table.add_row(row[0][0], *(value for _, value in row))
    console.print(table)
    if not has_failed:  # else the script's own error says why
        for observation in seen:
            if observation.unread:
                console.print(f"Not all of {observation.script_name} could be read: {observation.unread}")


def _title(seen: Observation) -> str:
    return f"{seen.script_name}\n{seen.name if seen.replaced else f'-> {seen.name}'}"


def _lines(seen: Observation) -> list[tuple[str, str]]:
    temperature = seen.energies.mean_temperature(seen.degrees_of_freedom)
    drift, percent = _drift(seen)
    replaced = [("solver replaced", seen.replaced)] if seen.replaced else []
    return [
        ("platform", seen.platform),
        *replaced,
        ("solver", seen.solver),
        ("clusters", f"{seen.clusters:,}"),
        ("steps", f"{seen.steps:,}"),
        ("largest constraint error", scientific(seen.max_error)),
        ("largest iterations", str(seen.max_iterations)),
        ("worst constraint", _worst(seen)),
        ("energy drift (kT/ns/dof)", drift),
        ("energy change (% of kinetic)", percent),
        ("mean temperature (K)", "-" if temperature is None else f"{temperature:.1f}"),
        ("energy samples", str(len(seen.energies.time))),
        ("ns/day", _speed(seen)),
    ]


def _speed(seen: Observation) -> str:
    if seen.seconds <= 0:
        return "-"
    speed = seen.simulated / 1000 / seen.seconds * SECONDS_PER_DAY
    return f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}"


def _worst(seen: Observation) -> str:
    if seen.worst_constraint < 0:
        return "joint of rigid bodies" if seen.worst_is_joint else "-"
    if seen.worst_particles is None:
        return str(seen.worst_constraint)
    return f"{seen.worst_constraint} (particles {seen.worst_particles[0]} and {seen.worst_particles[1]})"


def _drift(seen: Observation) -> tuple[str, str]:
    if seen.disturbed_by is not None:
        return f"not meaningful: {seen.disturbed_by} may give and take energy", "-"
    drift = seen.energies.drift()
    if drift is None:
        return f"too few samples ({len(seen.energies.time)})", "-"
    return str(drift), f"{drift.percent_of_kinetic:+.2g}"
