# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Findings about particles of constraints (anchors, immovable ones, minimum images) and about slow clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import openmm as mm

from openmmconstraints.health.findings import Finding
from openmmconstraints.inspection.kinds import EXPRESSION, LENGTHS, symbol_of
from openmmconstraints.inspection.listing import Listing, is_ours, is_periodic
from openmmconstraints.inspection.molecules import what_moves_apart
from openmmconstraints.wrapper import ClusterInfo

#: Constraints of a cluster from which on OpenMM's set-up may be slow.
LARGE = 1000


def find_membership(system: mm.System, listing: Listing, clusters: Sequence[ClusterInfo], held: int) -> list[Finding]:
    """Findings that need neither positions nor the rank. `held`: how many System constraints a rigid body holds."""
    return [
        *_ignored(listing),
        *_anchors(listing),
        *_images(system, listing),
        *_moving(listing),
        *_moved_apart(system, listing),
        *_slow_setup(system, clusters, held),
        *(
            Finding("warning", "slow-solver", f"{c.constraints:,} constraints in a cluster: {c.note}.", count=c.count)
            for c in clusters
            if c.note
        ),
    ]


def _finding(listing: Listing, severity, kind, which: np.ndarray, message: str, remedy: str) -> Finding:
    """`which`: constraints, of which the first one is described."""
    particles = listing.of(int(which[0]))
    constraints = tuple(which[which < listing.count].tolist())
    return Finding(severity, kind, message, remedy, constraints, particles, listing.names(particles), {}, len(which))


def _ignored(listing: Listing) -> Iterator[Finding]:
    ignored = np.flatnonzero(listing.is_ignored)
    if len(ignored):
        message = f"{listing.describe(int(ignored[0]))} joins massless particles, so it is ignored, as in OpenMM."
        yield _finding(listing, "note", "ignored", ignored, message, "")


def _anchors(listing: Listing) -> Iterator[Finding]:
    massless = (listing.masses == 0) & ~listing.is_site
    if not np.any(massless):
        return
    fixed = np.zeros(len(listing.kind), dtype=int)
    sizes = np.diff(listing.start)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.repeat(listing.valid, sizes)  # indices of others may be out of range
    np.add.at(fixed, owner[inside], massless[listing.particle[inside.nonzero()[0]]])
    immovable = np.flatnonzero((fixed > 0) & (fixed == sizes))
    anchored = (fixed > 0) & (fixed < sizes)
    accepted = np.flatnonzero(anchored & (listing.force >= 0))
    if len(accepted):
        message = f"{listing.describe(int(accepted[0]))} has an anchor: an immovable particle (mass 0)."
        yield _finding(listing, "note", "anchor", accepted, message, "")
    if len(immovable):
        message = f"{listing.describe(int(immovable[0]))} joins immovable particles only: it is checked, not solved."
        remedy = "Give a particle mass, or remove the constraint. It is an error where positions violate it."
        yield _finding(listing, "warning", "immovable", immovable, message, remedy)


def _moved_apart(system: mm.System, listing: Listing) -> Iterator[Finding]:
    if apart := what_moves_apart(system, listing):
        message, remedy, particles = apart
        yield Finding("warning", "moved-apart", message, remedy, (), tuple(particles), listing.names(particles))


def _images(system: mm.System, listing: Listing) -> Iterator[Finding]:
    lengths = np.isin(listing.kind, LENGTHS) & listing.valid
    if listing.periodic_system:
        long = np.flatnonzero(lengths & ~listing.periodic & (listing.target > listing.half_width))
        if len(long):
            k = int(long[0])
            message = (
                f"{listing.describe(k)}: {listing.target[k]:.4g} nm is more than half the shortest width of the box "
                f"({listing.half_width:.4g} nm), so the minimum image is not used."
            )
            remedy = "Positions must not be wrapped between its two ends. A larger box is better."
            yield _finding(listing, "warning", "long", long, message, remedy)
    if any(is_periodic(force) for force in system.getForces() if not is_ours(force)):
        return
    idle = np.flatnonzero(listing.valid & listing.periodic & (listing.force >= 0) & (listing.kind != EXPRESSION))
    if len(idle):
        f = int(listing.force[idle[0]])
        name = system.getForce(f).getName()
        message = f"The {name} with index {f} takes the minimum image, but no other Force is periodic."
        remedy = "In vacuum, call setUsesPeriodicBoundaryConditions(False). Otherwise the default box acts on bonds."
        yield _finding(listing, "warning", "minimum-image", idle, message, remedy)


def is_own_setup_slow(system: mm.System, clusters: Sequence[ClusterInfo], held: int) -> bool:
    """Whether OpenMM's set-up for the System's own constraints may be slow."""
    return min(max(_largest(clusters), held), system.getNumConstraints()) >= LARGE


def _largest(clusters: Sequence[ClusterInfo]) -> int:
    return max((cluster.equations for cluster in clusters), default=0)


def _slow_setup(system: mm.System, clusters: Sequence[ClusterInfo], held: int) -> Iterator[Finding]:
    if is_own_setup_slow(system, clusters, held):
        largest = max(_largest(clusters), held)
        message = (
            f"{largest:,} constraints form one cluster. For those in the System, every Context sets up OpenMM's own "
            f"solver first, which takes seconds to hours."
        )
        remedy = "Call openmmconstraints.moveConstraints(system): then OpenMM sets nothing up."
        yield Finding("note", "slow-setup", message, remedy)


def _moving(listing: Listing) -> Iterator[Finding]:
    moving = np.flatnonzero(listing.valid & (listing.rate != 0))
    if len(moving):
        k = int(moving[0])
        message = f"{listing.describe(k)} moves by {listing.rate[k]:.3g} per ps, from {listing.start_time[k]:g} ps on."
        yield _finding(listing, "note", "moving", moving, message, "")
    interpolated = np.array([k for k in listing.parameter if listing.valid[k]], dtype=int)
    if len(interpolated):
        k = int(interpolated[0])
        message = (
            f'{listing.describe(k)} changes with the Context parameter "{listing.parameter[k]}"; at its default it is '
            f"{f'{listing.target[k]:.4g} {symbol_of(listing.kind[k])}'.strip()}."
        )
        yield _finding(listing, "note", "interpolated", interpolated, message, "")
