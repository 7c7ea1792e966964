# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The benchmark as one HTML file, with its plots inside, that can be sent to somebody."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from openmmconstraints.benchmark.measure import Record
from openmmconstraints.benchmark.others import warning
from openmmconstraints.benchmark.report import COLUMNS, row
from openmmconstraints.benchmark.words import CAPTION, cases, shares_in_words, why_no_numbers
from openmmconstraints.inspection.html import paragraph, picture, table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1250px; margin: 0 auto; padding: 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; } .wide th { white-space: normal; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
.key td:first-child { font-weight: 600; } .key td { text-align: left; white-space: normal; }
img { min-width: 44rem; } /* else no label can be read on a telephone, where one scrolls */
.note { color: #555; font-size: 0.9rem; } li { overflow-wrap: anywhere; }
"""
PLOTS = (
    ("ratios.png", "Time of the constraints against the built-in algorithm: left of 1 is faster"),
    ("errors.png", "Time of the constraints against the error that is left: lower left is better"),
)
HEAD = [name.replace("-\n", "").replace("\n", " ") for name in COLUMNS]  # a page is wider than a terminal


def write_page(path: Path, settings: dict[str, Any], records: Sequence[Record]) -> None:
    """Write the page; the plots are read from its folder.

    :param settings: what was measured and where, as report.describe() says
    """
    plots = "".join(
        f'<h2>{escape(text)}</h2><div class="wide">{picture((path.parent / name).read_bytes(), text)}</div>'
        for name, text in PLOTS
    )
    tables = "".join(_case([record for record in records if record.case == case]) for case in cases(records))
    busy = paragraph(warning(settings["cores_used_by_other_programs"]) or "")
    title = f"{settings['integrator']} of openmm-constraints against OpenMM's {settings['built_in']}"
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>{_key(settings)}{busy}{plots}{tables}"
        f'<p class="note">{escape(CAPTION)}</p></body></html>\n',
        encoding="utf-8",
    )


def _key(settings: dict[str, Any]) -> str:
    """Machine, versions and settings."""
    lines = {
        "date": settings["date"],
        "machine": settings["machine"],
        "OpenMM": settings["openmm"],
        "openmm-constraints": settings["openmm_constraints"],
        "platform": ", ".join([settings["platform"], *(f"{k} {v}" for k, v in settings["properties"].items())]),
        "time step": f"{1000 * settings['step_size_ps']:g} fs",
        "measured": f"{settings['rounds']} rounds of {settings['seconds_of_a_measurement']:g} s, alternately",
    }
    return f'<div class="key">{table((), lines.items())}</div>'


def _case(records: Sequence[Record]) -> str:
    """The table of one system with one set of constraints, and what it means."""
    first = records[0]
    title = f"{first.case}: {first.constraints:,} constraints, {first.particles:,} particles"
    numbers = table(HEAD, map(row, records))
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*shares_in_words(records), *why_no_numbers(records)))
    return f'<h2>{escape(title)}</h2><div class="wide">{numbers}</div><ul>{notes}</ul>'
