# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Make groups of atoms rigid, and take out of the System's Forces what acts within them only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints._proxies import keep_system
from openmmconstraints.helpers.counts import count_of
from openmmconstraints.helpers.exclusions import exclude_within, require_excludable, zero_exceptions
from openmmconstraints.helpers.indices import Atoms, indices_of
from openmmconstraints.helpers.terms import has_untreated_terms, internal_terms, is_treated, without_terms
from openmmconstraints.helpers.wholeness import whole_shapes
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.positions import positions_of
from openmmconstraints.wrapper import ConstraintForce

#: Atoms that are to be one body.
Group = Iterable[Atoms] | app.topology.Residue | app.topology.Chain

#: By which a body's shape may differ from a constraint of its atoms (docs/guide/rigid-bodies.md).
LARGEST_DEVIATION = 0.02

#: Bodies whose groups a summary lists.
MOST_NAMED = 3


@dataclass(frozen=True, repr=False)
class Rigid:
    """What makeRigid() has changed; str() is a sentence."""

    force: ConstraintForce  #: which has the bodies, in the order of the groups
    bodies: int  #: how many
    atoms: int  #: how many atoms are in bodies, each counted once
    removed: Mapping[str, int] = field(default_factory=dict)  #: name of a Force: how many terms are gone from it
    excluded: int = 0  #: how many pairs were excluded from each Force of pairs, beside those that were already
    zeroed: int = 0  #: how many 1-4 interactions of NonbondedForces are zero now
    constraints: int = 0  #: how many System constraints are gone, because their lengths are not those of the body
    untreated: tuple[str, ...] = ()  #: names of Forces that may have terms within bodies, and were left as they are
    merged: tuple[tuple[int, ...], ...] = ()  #: numbers of the groups that became one body, by body

    def __repr__(self) -> str:
        return f"Rigid({self})"

    def __str__(self) -> str:
        parts = [f"made {count_of(self.bodies, 'rigid body', 'rigid bodies')} of {count_of(self.atoms, 'atom')}"]
        if self.merged:
            parts.append(f"merged groups that overlap: {self._list_merged()}")
        if self.removed:
            terms = ", ".join(f"{number:,} of {name}" for name, number in self.removed.items())
            parts.append(f"removed terms within them: {terms}")
        if self.zeroed:
            parts.append(f"set {count_of(self.zeroed, '1-4 interaction')} to zero")
        if self.excluded:
            parts.append(f"excluded {count_of(self.excluded, 'pair')}")
        if self.constraints:
            parts.append(f"removed {count_of(self.constraints, 'constraint')} with other lengths")
        if self.untreated:
            parts.append(f"left as they are, though they may act within bodies: {', '.join(self.untreated)}")
        return "; ".join(parts)

    def _list_merged(self) -> str:
        """[0 and 2], [1, 3 and 4]"""
        named = [", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}" for numbers in self.merged[:MOST_NAMED]]
        further = len(self.merged) - len(named)
        return ", ".join(f"[{names}]" for names in named) + (f" and {further:,} more" if further else "")


def makeRigid(
    system: mm.System,
    groups: Iterable[Group],
    positions: Any,
    *,
    excludePairs: bool = False,
) -> Rigid:
    """Make each group of atoms a rigid body, and remove what acts within it only.

    The bodies go into a new ConstraintForce. From the System's Forces it removes

    - bonds, angles and torsions (harmonic, periodic, Ryckaert-Bellemans, CMAP, Custom) whose atoms are all in one body,
    - 1-4 interactions within a body: they become zero. All pairs that were excluded stay excluded.

    None of them has a net force or torque on the body, so the motion stays the same, and so do forces on all other
    atoms. The potential energy changes by a constant, the internal energy of the bodies. Interactions of other pairs in
    a body are still computed: they cancel, up to rounding. `excludePairs` leaves them out. Terms that depend on a
    global parameter stay. References to Forces stay valid, and so do the indices of Forces.

    Constraints of the System within a body are held by it if they agree with its shape within 2 %; others are removed.
    Groups may share atoms: one is a ball joint, two are a hinge, three that are not on a line make one body. A group is
    also one with another that contains it. `merged` tells which. Virtual sites follow the atoms that define them, and
    are left out.

    Call it when all Forces have been added and before a Context is created.

    >>> ligand = [atom for atom in topology.atoms() if atom.residue.name == "LIG"]  # doctest: +SKIP
    >>> print(mc.makeRigid(system, [ligand], positions))  # doctest: +SKIP
    made 1 rigid body of 44 atoms; removed terms within them: 46 of HarmonicBondForce, ...

    Parameters
    ----------
    system : openmm.System
        changed in place, unless an exception is thrown
    groups : iterable of groups
        each a residue or chain of the System's Topology, or an iterable of these, of atoms or of indices of particles
    positions : openmm.State, array of shape (numParticles, 3) (nm) or Quantity
        of all particles. They give the bodies their shapes. Where bonds of a group cross the periodic box, its atoms
        are put together along them; without bonds that do, positions are taken as they are
    excludePairs : bool, optional
        also exclude all pairs within a body from NonbondedForces and CustomNonbondedForces. That is faster with a plain
        cutoff, and slower with PME, where each excluded pair is a term of its own (docs: Rigid bodies)

    Returns
    -------
    Rigid
        what was changed

    Raises
    ------
    TypeError
        if a group holds anything but indices, atoms, residues and chains
    ValueError
        if there is no group, or one is empty, an index is out of range, a virtual site follows an atom beside its
        group, a position of a group's atom is not finite, positions seem to be in ångströms, or pairs cannot be
        excluded: beside a CustomGBForce with exclusions, in Forces with global parameters, or in a body that interacts
        with its own periodic images
    """
    require(mm.System, system, "makeRigid")
    count = system.getNumParticles()
    bodies = [_members(system, group, count) for group in _as_groups(groups)]
    if not bodies:
        raise ValueError("makeRigid: there is no group of atoms. Give a list of lists: [[0, 1, 2], [3, 4, 5]].")
    x, vectors = positions_of(system, positions, "makeRigid")
    in_bodies = np.unique(np.concatenate(bodies))
    lost = in_bodies[~np.all(np.isfinite(x[in_bodies]), axis=1)]
    if len(lost):
        raise ValueError(f"makeRigid: the position of particle {lost[0]} is {x[lost[0]]} nm, which is not finite.")
    bodies, merged = _merged(bodies, x)
    shapes, is_wrapped = whole_shapes(system, bodies, x, vectors)
    if excludePairs:
        require_excludable(system, shapes, vectors)
    bodies_of = _bodies_of(bodies, count)
    _require_nanometers(system, x, bodies_of)
    forces = list(enumerate(system.getForces()))
    treated = {f: internal_terms(force, bodies_of) for f, force in forces if is_treated(force)}
    untreated = tuple(force.getName() for _, force in forces if has_untreated_terms(force, bodies_of))

    result = ConstraintForce()
    result.setUsesPeriodicBoundaryConditions(is_wrapped)
    for atoms, shape in zip(bodies, shapes, strict=True):
        result.addRigidBody(atoms, shape)

    removed: Counter[str] = Counter()
    for f, terms in treated.items():
        if terms.numbers:
            force = system.getForce(f)
            without_terms(force, terms)
            removed[force.getName()] += len(terms.numbers)
    zeroed = sum(
        zero_exceptions(force, bodies_of) for force in system.getForces() if isinstance(force, mm.NonbondedForce)
    )
    excluded = exclude_within(system, bodies) if excludePairs else 0
    constraints = _remove_contradictory(system, bodies, shapes, bodies_of)
    system.addForce(result)
    keep_system(result, system)
    return Rigid(result, len(bodies), len(in_bodies), dict(removed), excluded, zeroed, constraints, untreated, merged)


def _as_groups(groups: Iterable[Group]) -> list[list[Atoms]]:
    result = []
    if isinstance(groups, (app.topology.Residue, app.topology.Chain)) or not isinstance(groups, Iterable):
        raise TypeError(f"makeRigid: groups is a list of groups of atoms, not {type(groups).__name__}. Give [group].")
    for group in groups:
        if isinstance(group, (app.topology.Residue, app.topology.Chain)):
            group = group.atoms()
        if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
            raise TypeError(
                "makeRigid: groups is a list of groups of atoms, [[0, 1, 2], [3, 4, 5]], and a group is not "
                f"{type(group).__name__}. Give one group as [[...]]."
            )
        result.append(list(group))
    return result


def _members(system: mm.System, group: list[Atoms], count: int) -> list[int]:
    atoms = indices_of(group, count, "makeRigid")
    inside = set(atoms)
    members = []
    for p in atoms:
        if not system.isVirtualSite(p):
            members.append(p)
            continue
        site = system.getVirtualSite(p)
        for n in range(site.getNumParticles()):
            if site.getParticle(n) not in inside:
                raise ValueError(
                    f"makeRigid: particle {p} is a virtual site and follows particle {site.getParticle(n)}, which is "
                    "not in its group. Add that, or leave the site out."
                )
    if not members:
        raise ValueError(
            "makeRigid: a group has no atoms (virtual sites do not count). Look at the selection, and at the names "
            "that it asks for."
        )
    return members


def _merged(groups: list[list[int]], x: np.ndarray) -> tuple[list[list[int]], tuple[tuple[int, ...], ...]]:
    """Groups that share three atoms which are not on a line, or all atoms of one of them, are one body.

    Returns
    -------
    the bodies, and the numbers of the groups of each that has several
    """
    merged: dict[int, set[int]] = {}
    numbers: dict[int, list[int]] = {}  # of the groups in each of these
    having: dict[int, set[int]] = {}  # of an atom: which of these have it
    for number, group in enumerate(groups):
        grown, own = set(group), [number]
        while (other := _fixed_to(grown, merged, having, x)) is not None:
            for p in merged[other]:
                having[p].discard(other)
            grown |= merged.pop(other)
            own += numbers.pop(other)
        merged[number], numbers[number] = grown, own
        for p in grown:
            having.setdefault(p, set()).add(number)
    several = tuple(tuple(sorted(own)) for own in numbers.values() if len(own) > 1)
    return [sorted(atoms) for atoms in merged.values()], several


def _fixed_to(group: set[int], merged: dict[int, set[int]], having: dict[int, set[int]], x: np.ndarray) -> int | None:
    shared = Counter(other for p in group for other in having.get(p, ()))
    for other, number in shared.items():
        if number == min(len(group), len(merged[other])):
            return other
        common = x[sorted(group & merged[other])] if number > 2 else x[:0]
        if len(common) > 2 and np.linalg.matrix_rank(common[1:] - common[0], tol=1e-3) > 1:
            return other
    return None


def _bodies_of(bodies: list[list[int]], count: int) -> list[frozenset[int]]:
    """[particles] the bodies that have each."""
    none: frozenset[int] = frozenset()
    result = [none] * count
    for b, atoms in enumerate(bodies):
        own = frozenset((b,))
        for p in atoms:
            result[p] = result[p] | own if result[p] else own
    return result


def _require_nanometers(system: mm.System, x: np.ndarray, bodies_of: list[frozenset[int]]) -> None:
    """:raises ValueError: if bonds within bodies are some ten times as long at the positions as in the System"""
    known = [system.getConstraintParameters(k) for k in range(system.getNumConstraints())]
    for force in system.getForces():
        if isinstance(force, mm.HarmonicBondForce):
            known += [force.getBondParameters(k)[:3] for k in range(force.getNumBonds())]
    ratios = [
        float(np.linalg.norm(x[i] - x[j])) / length.value_in_unit(unit.nanometer)
        for i, j, length in known
        if bodies_of[i] & bodies_of[j] and length._value > 0
    ]
    if ratios and 9 < np.median(ratios) < 11:
        raise ValueError(
            f"makeRigid: bonds of the groups are {np.median(ratios):.3g} times as long at the positions as in the "
            "System. Plain numbers are nm. Are these ångströms? Give positions*openmm.unit.angstrom."
        )


def _remove_contradictory(
    system: mm.System, bodies: list[list[int]], shapes: list[np.ndarray], bodies_of: list[frozenset[int]]
) -> int:
    """Remove System constraints within a body whose lengths are not those of its shape."""
    places: dict[int, dict[int, int]] = {}
    goes = []
    for k in range(system.getNumConstraints()):
        first, second, length = system.getConstraintParameters(k)
        shared = bodies_of[first] & bodies_of[second]
        if not shared:
            continue
        b = min(shared)
        if b not in places:
            places[b] = {p: n for n, p in enumerate(bodies[b])}
        place = places[b]
        actual = float(np.linalg.norm(shapes[b][place[first]] - shapes[b][place[second]]))
        target = length.value_in_unit(unit.nanometer)
        if abs(actual - target) > LARGEST_DEVIATION * target:
            goes.append(k)
    for k in reversed(goes):
        system.removeConstraint(k)
    return len(goes)
