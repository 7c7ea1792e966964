# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Runs the experiments: a table as Markdown and JSON, and plots. Exit status 1 if a check fails."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from openmmconstraints.inspection.versions import openmm_version, plugin_version
from validation import (
    bodies,
    drift,
    equipartition,
    every_integrator,
    interpolation,
    joints,
    kinetic,
    rounding,
    surface,
    temperature,
    time_step,
    trimer,
    volume,
)
from validation.checks import SIGNIFICANCE, Check
from validation.dynamics import PROGRESS

EXPERIMENTS = {
    "kinetic": kinetic,
    "equipartition": equipartition,
    "surface": surface,
    "volume": volume,
    "temperature": temperature,
    "trimer": trimer,
    "time-step": time_step,
    "drift": drift,
    "bodies": bodies,
    "joints": joints,
    "interpolation": interpolation,
    "rounding": rounding,
    "every-integrator": every_integrator,
}
FULL_MINUTES = 23.0  # the default of --time-budget: what all experiments take at size 1, on one core of 2026


def _number(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def summary(checks: Sequence[Check]) -> str:
    """How many checks there are, how they are judged, and which versions were run."""
    compared = [check for check in checks if check.p is not None]
    return (
        f"{len(compared)} comparisons, {sum(not check.passed for check in compared)} failed. p is the probability of "
        f"as large a deviation by chance; below {SIGNIFICANCE:g} a check fails. Errors are standard errors "
        f"that account for correlation in time. openmm-constraints {plugin_version()}, OpenMM {openmm_version()}, "
        f"{platform.machine()}, {time.strftime('%F')}."
    )


def markdown(checks: Sequence[Check]) -> str:
    """A table with a row for each check."""
    rows = [
        "| experiment | system | method | quantity | measured | expected | p | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for check in checks:
        measured = _number(check.value, 5) + (f" ± {_number(check.error, 2)}" if check.error is not None else "")
        verdict = "" if check.p is None else "passed" if check.passed else "**FAILED**"
        cells = [
            check.experiment,
            check.system,
            check.method,
            check.quantity.replace("|", "\\|"),
            measured,
            _number(check.expected, 5),
            _number(check.p, 2),
            verdict,
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(["# Validation", "", summary(checks), "", *rows, ""])


def write(checks: Sequence[Check], folder: Path) -> None:
    """Writes validation.md and validation.json with the checks so far."""
    (folder / "validation.md").write_text(markdown(checks), encoding="utf-8")
    results = [{**asdict(check), "passed": check.passed} for check in checks]
    (folder / "validation.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/validate.sh", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=EXPERIMENTS,
        default=list(EXPERIMENTS),
        metavar="NAME",
        help=f"the experiments to run (default: all), of {', '.join(EXPERIMENTS)}",
    )
    parser.add_argument(
        "--time-budget",
        type=float,
        default=FULL_MINUTES,
        metavar="MINUTES",
        help=f"rough time of all experiments (default: {FULL_MINUTES:g}); numbers of samples are in proportion",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("validation-output"), metavar="DIR", help="default: validation-output"
    )
    options = parser.parse_args(arguments)
    if not 0 < options.time_budget < float("inf"):
        parser.error(f"--time-budget {options.time_budget:g} is not a positive number of minutes")
    options.output.mkdir(parents=True, exist_ok=True)
    checks: list[Check] = []
    for name in options.only:
        started = time.monotonic()
        found = EXPERIMENTS[name].run(options.time_budget / FULL_MINUTES, options.output)
        failures = sum(not check.passed for check in found)
        PROGRESS.print(f"{name}: {len(found)} results, {failures} failed, {time.monotonic() - started:.0f} s")
        checks += found
        write(checks, options.output)
    failed = [check for check in checks if not check.passed]
    for check in failed:
        PROGRESS.print(f"FAILED: {check}", style="red")
    PROGRESS.print(f"{summary(checks)}\nResults: {options.output}", soft_wrap=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
