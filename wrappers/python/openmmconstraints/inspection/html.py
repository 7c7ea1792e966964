# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Tables and pictures for notebooks and pages. Nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table of texts, which are escaped; lines of a cell stay lines."""
    first = f"<caption>{escape(caption)}</caption>" if caption else ""
    names = "".join(f"<th>{_cell(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{first}{f'<tr>{names}</tr>' if names else ''}{body}</table>"


def paragraph(text: str, bold: bool = False) -> str:
    """A text, escaped."""
    if bold:
        return f"<p><b>{_cell(text)}</b></p>"
    return f'<p style="overflow-wrap: anywhere">{_cell(text)}</p>'  # a long expression has no spaces


def picture(png: bytes, text: str) -> str:
    """A picture inside the page, with a text for those who do not see it."""
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return f'<img alt="{escape(text)}" style="max-width: 100%; height: auto" src="{source}">'


def _cell(value: object) -> str:
    return escape(str(value)).replace("\n", "<br>")
