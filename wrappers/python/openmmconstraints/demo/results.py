# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What the demonstration found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.demo.butane import MeanForces
from openmmconstraints.demo.comparison import Outcome
from openmmconstraints.demo.cost import Cost
from openmmconstraints.demo.set_up import SetUp


@dataclass
class Results:
    """Filled part by part."""

    settings: dict[str, Any]  # machine, versions, platform, and what the user chose
    tolerance: float  # of the runs of villin
    outcomes: list[Outcome] = field(default_factory=list)  # villin in water
    degrees_of_freedom: dict[str, int] = field(default_factory=dict)  # by set of constraints
    cost: list[Cost] = field(default_factory=list)
    set_ups: list[SetUp] = field(default_factory=list)
    rigid: list[Outcome] = field(default_factory=list)
    mean_forces: MeanForces | None = None

    def costs_of(self, candidate: Candidate) -> list[Cost]:
        """By tolerance, loosest first."""
        return [cost for cost in self.cost if cost.candidate == candidate]


def by_system(outcomes: Sequence[Outcome]) -> dict[str, dict[Candidate, Outcome]]:
    """Outcomes of comparisons, in their order."""
    found: dict[str, dict[Candidate, Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.system, {})[outcome.candidate] = outcome
    return found
