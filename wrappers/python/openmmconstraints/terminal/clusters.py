# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The table of a System's clusters of constraints."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from openmmconstraints.terminal.table import make_table
from openmmconstraints.wrapper import ClusterInfo


def cluster_table(title: str, clusters: Iterable[ClusterInfo]) -> Table:
    """A row for each kind of cluster, with its solver, largest first."""
    table = make_table(
        title,
        ["Solver"],
        ["Clusters", "Constraints each", "Particles each", "Levels", "Factor entries"],
        caption="Levels: depth of the elimination tree. Factor entries: off-diagonal, fill included.",
    )
    for cluster in clusters:
        numbers = (cluster.count, cluster.constraints, cluster.particles, cluster.levels, cluster.factorEntries)
        table.add_row(cluster.solver, *(f"{number:,}" for number in numbers))
    return table
