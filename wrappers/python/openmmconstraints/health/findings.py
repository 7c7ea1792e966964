# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Findings of a check: one record for each problem, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a System, or worth knowing about it. Plain data."""

    severity: Severity  #: "error": it will not run, or not as meant; "warning": it may not; "note": good to know
    kind: str  #: a word for programs: "contradictory", "singular", "redundant", ...
    message: str  #: what was found, with particles and values
    remedy: str = ""  #: what to do about it; empty: nothing, or the message says it
    constraints: tuple[int, ...] = ()  #: indices in the order of ConstraintIntegrator.getMultipliers()
    particles: tuple[int, ...] = ()  #: of the worst case
    names: tuple[str, ...] = ()  #: of these particles, "" where not known
    values: Mapping[str, float] = field(default_factory=dict)  #: numbers in the message; units are in their names
    count: int = 1  #: how many like it there are; this is the first, or the worst

    def as_dict(self) -> dict[str, object]:
        """JSON-able."""
        return {
            "severity": self.severity,
            "kind": self.kind,
            "count": self.count,
            "message": self.message,
            "remedy": self.remedy,
            "constraints": list(self.constraints),
            "particles": list(self.particles),
            "names": list(self.names),
            "values": dict(self.values),
        }


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors, warnings, notes; within each in the order in which they were found."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    found = [finding.severity for finding in findings]
    return {severity: found.count(severity) for severity in SEVERITIES}
