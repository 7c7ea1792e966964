# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The report of a Health in a notebook: verdict, findings, constraints that are off, numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmmconstraints.health.report import numbers, shown_findings, verdict
from openmmconstraints.inspection.html import paragraph, table
from openmmconstraints.terminal.table import scientific

if TYPE_CHECKING:
    from openmmconstraints.health import Health


def to_html(health: Health) -> str:
    """The verdict first: it is what one looks for."""
    parts = [paragraph(verdict(health)[0], bold=True)]
    shown, left_out = shown_findings(health)
    if shown:
        rows = [(f.severity, f.kind, f"{f.count:,}", "\n→ ".join(filter(None, (f.message, f.remedy)))) for f in shown]
        parts.append(table(("", "kind", "how many", "what, and what to do"), rows, left_out))
    if health.placement is not None and health.placement.worst:
        off = [
            ("-".join(map(str, w.particles)), f"{w.value:.6f}", f"{w.target:.6f}", scientific(w.error))
            for w in health.placement.worst
        ]
        parts.append(table(("particles", "value", "target", "error"), off, "Constraints farthest off (nm, rad)"))
    parts.append(table((), numbers(health)))
    return "".join(parts)
