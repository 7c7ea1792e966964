# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Consoles and tables of the commands."""

from __future__ import annotations

import io
import sys
from typing import TextIO

from rich.console import Console
from rich.table import Table

WIDTH_WITHOUT_TERMINAL = 120


def make_console(stream: TextIO | None = None) -> Console:
    """A console on a stream. Where that is no terminal, it is 120 columns wide instead of rich's 80.

    :param stream: None: stdout
    """
    stream = sys.stdout if stream is None else stream
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets ? for ±
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, markup=False)


def make_table(title: str, left: list[str], right: list[str], caption: str | None = None) -> Table:
    """An empty table: columns of text to the left, columns of numbers to the right."""
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", overflow="fold")
    return table


def scientific(value: float | None, digits: int = 2) -> str:
    """A number for a table, as 1.2e-09, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits - 1}e}"
