# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The benchmark's numbers, on the terminal and as JSON."""

from __future__ import annotations

import json
import math
import os
import platform as machine
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console

from openmmconstraints.benchmark.measure import Record, Setting
from openmmconstraints.benchmark.timing import Spread
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.benchmark.words import share, shares_in_words, why_no_numbers
from openmmconstraints.inspection.versions import openmm_version, plugin_version
from openmmconstraints.terminal.table import make_table, scientific

TIMES = ["Constraints\n(µs/step)", "Ratio to built-in", "Share\n(%)", "Whole step\n(ms)", "Ratio"]
COLUMNS = ["Tol.", "Solver", "Error", "Iter-\nations", "Set-up\n(s)", *TIMES]


def print_records(console: Console, records: Sequence[Record]) -> None:
    """A table of one system with one set of constraints, shares in words, and why numbers are missing."""
    first = records[0]
    title = f"{first.case}: {first.constraints:,} constraints, {first.particles:,} particles"
    table = make_table(title, COLUMNS[:2], COLUMNS[2:])
    for column in table.columns:
        column.no_wrap = True
    for number, record in enumerate(records):
        last = number + 1 == len(records) or records[number + 1].tolerance != record.tolerance
        table.add_row(*row(record), end_section=last)
    console.print(table)
    for sentence in shares_in_words(records):
        console.print(sentence)
    for sentence in why_no_numbers(records):
        console.print(sentence, style="red")


def row(record: Record) -> list[str]:
    """The cells of COLUMNS."""
    start = [f"{record.tolerance:.0e}".replace("e-0", "e-"), record.label]
    setup = "-" if record.setup_s is None else f"{record.setup_s + (record.first_step_s or 0):.2g}"
    if record.failure is not None:
        return [*start, "NaN" if record.failure == "NaN" else "failed", "-", setup, *["-"] * len(TIMES)]
    time = record.constraints_us
    return [
        *start,
        scientific(record.error),
        "-" if record.iterations is None else str(record.iterations),
        setup,
        "-" if time is None else "noise" if time.low <= 0 else f"{time.median:.4g}",
        ratio(record.constraints_ratio),
        share(record),
        "-" if record.step_ms is None else f"{record.step_ms.median:.4g}",
        "-" if record.step_ratio is None else f"{record.step_ratio.median:.3g}",
    ]


def ratio(value: Spread | None) -> str:
    """1.23 (1.2-1.3)"""
    return "-" if value is None else f"{value.median:.3g} ({value.low:.2g}-{value.high:.2g})"


def machine_names() -> dict[str, Any]:
    """Date, machine and versions of a measurement."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": f"{machine.system()} {machine.machine()}, {processor()}, {os.cpu_count()} cores",
        "openmm": openmm_version(),
        "openmm_constraints": plugin_version(),
    }


def describe(setting: Setting) -> dict[str, Any]:
    """What was measured, and where."""
    return {
        **machine_names(),
        "platform": setting.platform.getName(),
        "properties": setting.properties,
        "integrator": setting.integrator,
        "built_in": setting.partner,
        "step_size_ps": STEP_SIZE,
        "rounds": setting.rounds,
        "seconds_of_a_measurement": setting.seconds,
    }


def processor() -> str:
    """The name of the CPU, where it can be found."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else machine.processor() or "unknown processor"


def write_json(path: Path, settings: dict[str, Any], records: Sequence[Record]) -> None:
    """Settings, and one entry per solver and tolerance; null where there is no number, "NaN" where it is none."""
    described = {"settings": settings, "records": [asdict(record) for record in records]}
    path.write_text(json.dumps(_plain(described), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return str(value).replace("nan", "NaN") if isinstance(value, float) and not math.isfinite(value) else value
