# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Molecules as OpenMM's barostats see them, and immovable ones that a barostat would move apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import openmm as mm

from openmmconstraints.inspection.listing import Listing

BAROSTATS = (
    mm.MonteCarloBarostat,
    mm.MonteCarloAnisotropicBarostat,
    mm.MonteCarloMembraneBarostat,
    mm.MonteCarloFlexibleBarostat,
)


def molecules_of(system: mm.System, listing: Listing) -> np.ndarray:
    """[particles] the first particle of each one's molecule: all that constraints, bonds and virtual sites join, but
    for constraints of groups."""
    pairs = [pair for group in _joined(system, listing) for pair in itertools.pairwise(group)]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    label = np.arange(system.getNumParticles())
    while True:  # each round halves the way to the smallest index, at least
        smaller = np.minimum(label[first], label[second])
        new = label.copy()
        for ends in (label[first], label[second], first, second):
            np.minimum.at(new, ends, smaller)
        new = new[new]
        if np.array_equal(new, label):
            return label
        label = new


def _joined(system: mm.System, listing: Listing) -> Iterator[Sequence[int]]:
    n = len(listing.masses)
    for k in range(len(listing.kind)):
        particles = listing.of(k)
        if not listing.is_of_groups(k) and all(0 <= p < n for p in particles):
            yield particles
    for site in np.flatnonzero(listing.is_site).tolist():
        definition = system.getVirtualSite(site)
        yield [site, *(definition.getParticle(i) for i in range(definition.getNumParticles()))]
    for force in system.getForces():
        if isinstance(force, mm.HarmonicBondForce | mm.CustomBondForce):
            for i in range(force.getNumBonds()):
                yield force.getBondParameters(i)[:2]
        elif isinstance(force, mm.CustomCompoundBondForce):
            for i in range(force.getNumBonds()):
                yield force.getBondParameters(i)[0]


def what_moves_apart(system: mm.System, listing: Listing) -> tuple[str, str, list[int]] | None:
    """Message, remedy and particles of two molecules, where a barostat would change the distances of immovable
    particles (mass 0) that belong to several molecules; else None."""
    still = np.flatnonzero((listing.masses == 0) & ~listing.is_site)
    forces = [
        (f, force)
        for f, force in enumerate(system.getForces())
        if isinstance(force, BAROSTATS) and force.getFrequency()
    ]
    if len(still) < 2 or not forces:
        return None
    molecules, first = np.unique(molecules_of(system, listing)[still], return_index=True)
    if len(molecules) < 2:
        return None
    f, force = forces[0]
    message = (
        f"{force.getName()} (Force {f} of the System) moves each molecule as a whole, immovable particles too: those "
        f"without mass belong to {len(molecules):,} molecules, whose distances it changes with the box."
    )
    remedy = (
        "Take a MonteCarloAnisotropicBarostat that scales only an axis across them, or make them one molecule: bonds "
        "without a force, HarmonicBondForce.addBond(i, j, 0, 0), join particles for a barostat."
    )
    return message, remedy, still[first[:2]].tolist()
