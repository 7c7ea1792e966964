# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Freeze atoms: set their masses to zero, and adapt constraints to that."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import openmm as mm
from openmm import app

from openmmconstraints._proxies import keep_system
from openmmconstraints.helpers.counts import count_of
from openmmconstraints.helpers.indices import Atoms, indices_of
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.kinds import BODY, CENTROIDS, EXPRESSION, METHODS, Ours, own_force
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.molecules import what_moves_apart
from openmmconstraints.wrapper import ConstraintForce, _moveAnchoredConstraints

#: The lists of a Force's XML.
_LISTS = {**{kind: f"{name}s" for kind, name in enumerate(METHODS)}, EXPRESSION: "Constraints", BODY: "RigidBodies"}


@dataclass(frozen=True, repr=False)
class Frozen:
    """What freeze() has changed; str() is a sentence."""

    atoms: tuple[int, ...]  #: those that had a mass before
    removed: int  #: how many constraints and rigid bodies among massless particles are gone
    moved: int  #: how many System constraints between massless and massive particles went to a ConstraintForce
    force: ConstraintForce | None  #: which took them (the periodic one, if there are two); None: nothing was moved
    motionRemovers: int  #: how many CMMotionRemovers are gone
    allAreMassless: bool = False  #: whether no particle is left that has a mass

    def __repr__(self) -> str:
        return f"Frozen({self})"

    def __str__(self) -> str:
        atoms, constraints = count_of(len(self.atoms), "atom"), count_of(self.removed, "constraint")
        parts = [f"froze {atoms}"]
        if self.removed:
            parts.append(f"removed {constraints} among massless particles")
        if self.moved:
            parts.append(f"moved {count_of(self.moved, 'constraint')} to massless particles into a ConstraintForce")
        if self.motionRemovers and self.allAreMassless:
            parts.append("removed the CMMotionRemover, since nothing is left that moves")
        elif self.motionRemovers:
            parts.append("removed the CMMotionRemover, which would remove the motion about the anchors")
        return "; ".join(parts)


def freeze(system: mm.System, atoms: Iterable[Atoms] | app.topology.Residue | app.topology.Chain) -> Frozen:
    """Freeze atoms: set their masses to zero, and adapt the constraints of the System to that.

    Constraints and rigid bodies of massless particles only are removed, wherever they are listed. System constraints
    between a massless and a massive particle, which OpenMM refuses, move into a ConstraintForce of their own, where the
    massless particle is an anchor. If any constraint has an anchor, the System's CMMotionRemovers are removed: they
    would take away the motion about it. If no particle has a mass any more, they are removed, too. Rigid bodies with
    atoms that still move are kept. A second call with the same atoms changes nothing.

    Virtual sites follow the atoms that define them. They may be among `atoms` if those atoms are frozen too. A barostat
    moves frozen atoms with their molecules, as OpenMM does with massless particles. If they belong to several
    molecules, it changes their distances, and freeze() warns.

    Call it when all Forces have been added and before a Context is created. Where constraints of a Force are removed,
    the indices of those behind them change.

    >>> print(mc.freeze(system, [atom for atom in topology.atoms() if atom.residue.name != "HOH"]))  # doctest: +SKIP
    froze 582 atoms; removed 302 constraints among massless particles

    Parameters
    ----------
    system : openmm.System
        changed in place, unless an exception is thrown
    atoms : iterable of int, Atom, Residue or Chain
        indices of particles, or atoms, residues and chains of the System's Topology. It may be empty if masses are zero
        already

    Returns
    -------
    Frozen
        what was changed

    Raises
    ------
    TypeError
        if `atoms` holds anything but indices, atoms, residues and chains
    ValueError
        if there are no atoms, an index is out of range, a virtual site has a parent that still moves, or a constraint
        of centres of mass would lose some of its particles: massless ones have no weight
    """
    require(mm.System, system, "freeze")
    chosen = indices_of(atoms, system.getNumParticles(), "freeze")
    listing = Listing(system)
    massless = listing.masses == 0
    if not chosen and not np.any(massless & ~np.asarray(listing.is_site)):
        raise ValueError(
            "freeze: there are no atoms to freeze. Look at the selection, and at the names that it asks for."
        )
    massless[chosen] = True
    _require_still_sites(system, listing, chosen, massless)
    fixed, sizes = _count_fixed(listing, massless)
    is_gone, is_anchored = (fixed > 0) & (fixed == sizes), (fixed > 0) & (fixed < sizes)
    of_centroids = np.flatnonzero(is_anchored & np.isin(listing.kind, (CENTROIDS, EXPRESSION)))
    _require_weights(listing, of_centroids, chosen)
    for k in of_centroids.tolist():  # massless particles may have no weight there
        is_anchored[k] = any(massless[p] for p in set(listing.of(k)) - listing.by_mass(k))
    is_of_system = listing.force < 0
    lighter = [
        (force, _without(force, listing, np.flatnonzero(is_gone & (listing.force == f))))
        for f, force in _forces_of(system, listing.force[is_gone & ~is_of_system])
    ]
    newly = [p for p in chosen if listing.masses[p] != 0]
    for p in newly:
        system.setParticleMass(p, 0)
    for force, other in lighter:
        force._become(other)
    force = keep_system(_moveAnchoredConstraints(system), system)
    removers = [f for f, other in enumerate(system.getForces()) if isinstance(other, mm.CMMotionRemover)]
    removers = removers if np.any(is_anchored) or np.all(massless) else []
    for f in reversed(removers):
        system.removeForce(f)
    if apart := what_moves_apart(system, Listing(system)):
        warnings.warn(f"freeze: {apart[0]} {apart[1]}", stacklevel=2)
    removed, moved = (int(np.count_nonzero(which)) for which in (is_gone, is_anchored & is_of_system))
    return Frozen(tuple(newly), removed, moved, force, len(removers), bool(np.all(massless)))


def _require_still_sites(system: mm.System, listing: Listing, chosen: list[int], massless: np.ndarray) -> None:
    for site in chosen:
        if not listing.is_site[site]:
            continue
        definition = system.getVirtualSite(site)
        for n in range(definition.getNumParticles()):
            parent = definition.getParticle(n)
            if not massless[parent]:
                raise ValueError(
                    f"freeze: {listing.particles_text([site])} is a virtual site and follows "
                    f"{listing.particles_text([parent])}, which moves. Freeze that too, or leave the site out."
                )


def _count_fixed(listing: Listing, massless: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[K + bodies]: how many particles of each constraint are massless, and how many there are."""
    sizes = np.diff(listing.start)
    inside = (listing.particle >= 0) & (listing.particle < len(massless))  # what is outside is refused elsewhere
    is_fixed = np.zeros(len(listing.particle), dtype=int)
    is_fixed[inside] = massless[listing.particle[inside]]
    return np.bincount(np.repeat(np.arange(len(sizes)), sizes), is_fixed, len(sizes)).astype(int), sizes


def _require_weights(listing: Listing, distances: np.ndarray, chosen: list[int]) -> None:
    newly = {p for p in chosen if listing.masses[p] != 0}
    for k in distances.tolist():
        lost = sorted(newly & listing.by_mass(k))
        if lost:
            raise ValueError(
                f"freeze: {listing.describe(k)} would lose the weight of {listing.particles_text(lost)}: without mass "
                "an atom does not count in a centre of mass. Freeze all of its particles, or leave these out."
            )


def _forces_of(system: mm.System, indices: np.ndarray) -> list[tuple[int, Ours]]:
    return [(f, own) for f in np.unique(indices).tolist() if (own := own_force(system.getForce(f)))]


def _without(force: Ours, listing: Listing, constraints: np.ndarray) -> Ours:
    """A copy of a Force that lacks some of its constraints: by its XML, which has all of its settings."""
    root = ElementTree.fromstring(mm.XmlSerializer.serialize(force))
    for kind, name in _LISTS.items():
        goes = set(listing.index[constraints[listing.kind[constraints] == kind]].tolist())
        entries = root.find(name)
        if goes and entries is not None:
            entries[:] = [entry for i, entry in enumerate(entries) if i not in goes]
    return type(force)._fromXML(ElementTree.tostring(root, encoding="unicode"))
