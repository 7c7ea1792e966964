# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constraints at lengths that do not come from a force field."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import openmm as mm
from openmm import app

from openmmconstraints.helpers.chosen import choose
from openmmconstraints.helpers.constrained import Constrained
from openmmconstraints.helpers.covalent import IONS, covalent_bonds, is_hydrogen
from openmmconstraints.helpers.force_field import Terms, Which
from openmmconstraints.helpers.lengths import FromPositions, Lengths, source_of
from openmmconstraints.helpers.move_constraints import moveConstraints
from openmmconstraints.helpers.new_constraints import NewConstraints
from openmmconstraints.helpers.pairs import Pair, describe, pair_of
from openmmconstraints.helpers.reference import Reference, has_straight
from openmmconstraints.helpers.topology import keep_topology
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.positions import positions_of

COVALENT = ("covalent", "covalent-hydrogens")

#: nm, by which constraints at the positions may move an atom without a word: rounding of computed lengths.
NOTICEABLE = 1e-9


def hold_lengths(
    system: mm.System,
    topology: app.Topology,
    bonds: str | None,
    angles: Which,
    rigid_water: bool,
    lengths: Lengths,
    positions: Any,
) -> Constrained:
    """Add constraints to a System at lengths that are given, and move all into a ConstraintForce of their own."""
    terms, listing = Terms(system, topology), Listing(system)
    atoms, x, vectors = terms.atoms, None, None
    if positions is not None:
        x, vectors = positions_of(system, positions, "constrain")
        vectors = vectors if listing.periodic_system else None
    at = None if x is None else FromPositions(atoms, x, vectors)
    source = source_of(lengths, atoms, at)
    is_covalent = bonds in COVALENT
    known = _bonds_by_distance(atoms, listing, x, vectors) if is_covalent else list(dict.fromkeys(terms.bonds))
    waters = (() if is_covalent else terms.waters) if rigid_water else None
    chosen = choose(atoms, known, listing.masses, bonds, angles, waters)
    if bonds is not None and not known and not chosen.pairs:
        raise ValueError(_no_bonds(atoms, listing, is_covalent, x))
    has_bond = {i for pair in [*known, *chosen.pairs] for i in pair}
    unbound = [a for a in atoms if bonds is not None and is_hydrogen(a.element) and a.index not in has_bond]
    if is_covalent and unbound and topology.getPeriodicBoxVectors() is not None and not listing.periodic_system:
        raise ValueError(_no_box(atoms, unbound))
    new = NewConstraints(terms, listing, chosen, source, at)
    move, moved = 0.0, ""
    reference = None
    if source is at and new.measured:
        reference = Reference(at, [pair for pair in chosen.pairs if pair in new.measured], new.measured)
        angles = [triple for triple in chosen.triples if pair_of(triple[0], triple[2]) in new.measured]
        if has_straight(at, angles):  # nothing else is fitted
            move, particle = reference.largest_move(listing.masses)
            moved = describe(atoms, particle) if move > NOTICEABLE else ""
    terms.replace()
    force = moveConstraints(system, topology)
    if reference is not None and force is not None:
        reference.keep(force)
    if is_covalent and force is not None:
        keep_topology(system, topology, known)
    return Constrained(
        force=force,
        bonds=new.bonds,
        angles=new.angles,
        waters=len(chosen.waters),
        waterShape=new.shape,
        found=_kinds(atoms, known) if is_covalent else {},
        kept=new.kept,
        keptDeviation=new.largest_deviation,
        move=move,
        moved=moved,
        leftOut=chosen.left_out,
        ions=tuple(sorted({a.element.symbol for a in atoms if _is_ion(a)})) if is_covalent else (),
        unbound=tuple(describe(atoms, atom.index) for atom in unbound),
    )


def _bonds_by_distance(
    atoms: list[app.topology.Atom], listing: Listing, x: np.ndarray | None, vectors: np.ndarray | None
) -> list[Pair]:
    if x is None:
        raise ValueError("constrain: to find covalent bonds takes positions=, those of all particles.")
    is_site = listing.is_site | [atom.element is None for atom in atoms] & (listing.masses == 0)
    return covalent_bonds(atoms, np.flatnonzero(~is_site), x, vectors)


def _no_bonds(atoms: list[app.topology.Atom], listing: Listing, is_covalent: bool, x: np.ndarray | None) -> str:
    if not is_covalent:
        return (
            "constrain: the topology has no bonds. Add them with topology.addBond(atom1, atom2), or use "
            'bonds="covalent" or "covalent-hydrogens", which find bonds by distance.'
        )
    hint = ""
    try:
        # As many as atoms or so, if these are the positions of a structure in another unit.
        if len(_bonds_by_distance(atoms, listing, x / 10, None)) > len(atoms) // 4:
            hint = " At a tenth of these coordinates they would be: plain numbers are nm. Are these ångströms?"
    except ValueError:
        pass
    return f"constrain: no two atoms are as close as bonded atoms are.{hint}"


def _no_box(atoms: list[app.topology.Atom], unbound: list[app.topology.Atom]) -> str:
    return (
        f"constrain: {len(unbound)} hydrogens have no bond, the first of which is {describe(atoms, unbound[0].index)}. "
        "The topology has a periodic box, but no Force of the System is periodic: bonds that cross the box are not "
        "found. Add all Forces before, or remove the topology's box."
    )


def _is_ion(atom: app.topology.Atom) -> bool:
    return atom.element is not None and atom.element.atomic_number in IONS


def _kinds(atoms: list[app.topology.Atom], bonds: list[Pair]) -> dict[str, int]:
    """How many bonds of which elements: "C-H", the most frequent first."""
    count: Counter[str] = Counter()
    for pair in bonds:
        elements = sorted((atoms[i].element for i in pair), key=lambda element: (is_hydrogen(element), element.symbol))
        count["-".join(element.symbol for element in elements)] += 1
    return dict(count.most_common())
