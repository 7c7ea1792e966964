# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Let any integrator solve constraints by this package, and count degrees of freedom as OpenMM counts them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import openmm as mm
from openmm import app

from openmmconstraints._proxies import keep_system
from openmmconstraints._warnings import warn
from openmmconstraints.helpers.counts import count_of
from openmmconstraints.helpers.held_pairs import held_pairs, name_uncounted, pairs_of
from openmmconstraints.helpers.known_rank import KnownRank, rank_without_positions
from openmmconstraints.helpers.pairs import Pair
from openmmconstraints.helpers.topology import keep_topology
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.kinds import RECOGNIZED, REDUNDANT
from openmmconstraints.inspection.labels import require_same_size
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.molecules import BAROSTATS, molecules_of
from openmmconstraints.inspection.positions import positions_of
from openmmconstraints.inspection.system import degrees_left, replacing_force, temperature_factor
from openmmconstraints.wrapper import ConstraintForce, RattleIntegrator, _diagnose


@dataclass(frozen=True, repr=False)
class ReplacedSolver:
    """What replaceSolver() has changed; str() is a sentence.

    Attributes
    ----------
    force : ConstraintForce
        replaces the solver, and has the System constraints that were moved
    declared : int
        distances that were added to the System for OpenMM to count: other constraints or rigid bodies hold them
    moved : int
        System constraints that were moved into the Force, because they are redundant or OpenMM refuses them
    independent : int or None
        degrees of freedom that all constraints and rigid bodies take; None where positions decide
    counted : int
        of these, how many OpenMM counts: the System's constraints between particles with mass
    degrees : int or None
        of freedom that are left, less three if the System has a CMMotionRemover
    uncounted : tuple of str
        kinds of what OpenMM does not count: ("2 angles", "1 rigid body")
    """

    force: ConstraintForce
    declared: int
    moved: int
    independent: int | None
    counted: int
    degrees: int | None
    uncounted: tuple[str, ...] = ()

    @property
    def temperature_factor(self) -> float:
        """True temperature over that which OpenMM reports (StateDataReporter): 1 where all is counted, NaN where it is
        not known."""
        if not self.degrees or self.independent is None:
            return math.nan
        return temperature_factor(self.degrees, self.independent, self.counted)

    def __repr__(self) -> str:
        return f"ReplacedSolver({self})"

    def __str__(self) -> str:
        parts = ["any integrator solves the constraints"]
        if self.independent is not None:
            parts = [f"any integrator solves constraints of {count_of(self.independent, 'degree')} of freedom"]
        if self.declared:
            parts.append(f"declared {count_of(self.declared, 'distance')} in the System, for OpenMM to count")
        if self.moved:
            parts.append(f"moved {count_of(self.moved, 'redundant System constraint')} into the Force")
        if self.independent is None:
            parts.append(
                f"OpenMM counts {count_of(self.counted, 'constraint')}; how many are independent depends on positions: "
                "call replaceSolver(system, positions=...) for right temperatures"
            )
        elif self.counted > self.independent:
            parts.append(
                f"OpenMM counts {self.counted - self.independent:,} too many: multiply temperatures of "
                f"StateDataReporter by {self.temperature_factor:.6g}"
            )
        elif self.uncounted:
            missing = count_of(self.independent - self.counted, "degree")
            parts.append(
                f"OpenMM does not count {missing} of freedom of {', '.join(self.uncounted)}: multiply temperatures of "
                f"StateDataReporter by {self.temperature_factor:.6g}"
            )
        return "; ".join(parts)


def replaceSolver(system: mm.System, topology: app.Topology | None = None, *, positions: Any = None) -> ReplacedSolver:
    """Let any integrator of OpenMM solve the constraints of a System by this package, in place of SETTLE and CCMA.

    It adds a ConstraintForce with setReplacesSolver(True). From then on LangevinMiddleIntegrator, CustomIntegrator,
    NoseHooverIntegrator and all others solve everything that is held: constraints of the System, and of each
    ConstraintForce, CustomConstraintForce and CustomCentroidConstraintForce, unless it moves in time. It works on the
    Reference, CPU, OpenCL and CUDA platforms.

    OpenMM counts degrees of freedom by the System's own constraints. So that temperatures are right, distances that
    other constraints hold are declared there too, and redundant ones are moved into the Force, until there are as many
    as are independent. What cannot be declared (angles, dihedrals, expressions) is named in the result, with the factor
    by which a reported temperature is off. Thermostats of a NoseHooverIntegrator are corrected in any case, and
    Langevin integrators count nothing.

    Where positions decide how many constraints of a molecule are independent, and none are given, distances of that
    molecule are declared only as long as they close no ring, and a RuntimeWarning names it. All other molecules are
    counted.

    On OpenCL and CUDA a CustomIntegrator asks for constraints only if the System itself has one. Where none can be
    declared that is held anyway, a distance between two massless particles is, which takes no degree of freedom. Where
    there are no such particles either, creating a Context with a CustomIntegrator raises an exception there.

    Call it last, when all Forces and constraints have been added, and before a Context is created.

    >>> import openmm as mm, openmmconstraints as mc
    >>> system = mm.System()
    >>> for mass in (16.0, 1.0, 1.0):
    ...     index = system.addParticle(mass)
    >>> force = mc.ConstraintForce()
    >>> body = force.addRigidBody([0, 1, 2], [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    >>> index = system.addForce(force)
    >>> print(mc.replaceSolver(system))
    any integrator solves constraints of 3 degrees of freedom; declared 3 distances in the System, for OpenMM to count
    >>> integrator = mm.LangevinMiddleIntegrator(300, 1, 0.002)

    Parameters
    ----------
    system : openmm.System
        changed in place
    topology : openmm.app.Topology, optional
        of the System: errors then name atoms, as after setTopology()
    positions : openmm.State, array of shape (numParticles, 3) (nm) or Quantity, optional
        at which the constraints hold, or nearly. They are needed only where the number of independent constraints
        depends on them: rigid bodies joined in a loop, and redundant constraints that may go around the periodic box

    Returns
    -------
    ReplacedSolver
        what was changed

    Raises
    ------
    ValueError
        if the System has a Force that replaces the solver already, or the topology has another number of atoms than the
        System has particles, or there is not one position for each; nothing is changed
    TypeError
        if positions are not lengths
    """
    require(mm.System, system, "replaceSolver")
    if topology is not None:
        require_same_size(system, topology, "replaceSolver")
    if (earlier := replacing_force(system)) is not None:
        raise ValueError(
            f"replaceSolver: the Force with index {earlier[0]} replaces the solver of this System already. To count "
            f"anew, call system.removeForce({earlier[0]}) first, and remove the System constraints of its "
            "getCountedPairs()."
        )
    listing = Listing(system)
    x, box = (None, listing.box) if positions is None else positions_of(system, positions, "replaceSolver")
    found = _diagnose(system, RattleIntegrator(0.001), x, box, 0.0)
    listing.valid[list(found["refused"])] = False  # a Context says why
    independent = found["independent"] if found["isComplete"] and found["isRankKnown"] else None

    before = system.getNumConstraints()
    force = ConstraintForce()
    force.setName("ReplacedSolver")
    force.setReplacesSolver(True)
    force.setUsesPeriodicBoundaryConditions(listing.periodic_system)
    known = _known_rank(system, listing, independent)
    moved = _move(system, listing, force, _to_be_moved(listing, found, known))
    number_moved = before - system.getNumConstraints()
    counted = set(pairs_of(listing, listing.counted)) - moved
    declared = _declare(system, listing, counted, known)
    asked_by = _declare_of_massless(system, listing, x) if system.getNumConstraints() == 0 else set()
    force.setCountedPairs(sorted(declared | asked_by))
    system.addForce(force)
    keep_system(force, system)
    if topology is not None:
        keep_topology(system, topology)
    number = len(counted | declared)
    degrees = None if independent is None else degrees_left(system, independent)
    uncounted: tuple[str, ...] = ()
    if independent is None:
        warn(_unknown_number(listing, known, number, x is not None))
    elif number != independent:
        uncounted = name_uncounted(system, listing, found, counted | declared)
        if not uncounted and number < independent:
            uncounted = ("other constraints",)
    return ReplacedSolver(
        force,
        len(declared),
        number_moved,
        independent,
        number,
        degrees,
        uncounted,
    )


def _known_rank(system: mm.System, listing: Listing, independent: int | None) -> KnownRank:
    """Of all constraints, if it is known how many are independent."""
    if independent is None:
        return rank_without_positions(system, listing)
    return KnownRank(np.ones(len(listing.kind), dtype=bool), independent, ())


def _unknown_number(listing: Listing, known: KnownRank, counted: int, has_positions: bool) -> str:
    """A warning."""
    of = ""
    if known.undecided:
        first = listing.particles_text(known.undecided[:3])
        of = f" for {count_of(len(known.undecided), 'particle')}, {first} among them"
    remedy = (
        "Give positions at which the constraints hold" if has_positions else "Call replaceSolver(system, positions=x)"
    )
    return (
        f"replaceSolver: how many constraints are independent depends on positions{of}. OpenMM counts "
        f"{counted:,} in all, so temperatures of StateDataReporter may be wrong. {remedy}."
    )


def _to_be_moved(listing: Listing, found: Mapping[str, Any], rank: KnownRank) -> list[int]:
    """System constraints that OpenMM refuses, repeated ones and those with an anchor, and others that follow from the
    rest, as many as there are beyond the independent ones."""
    known: set[Pair] = set()
    counted = listing.counted.tolist()
    refused = sorted(set(listing.own.tolist()).difference(counted))
    for k, pair in zip(counted, pairs_of(listing, counted), strict=True):
        if pair in known:
            refused.append(k)
        known.add(pair)
    surplus = len(_own_pairs(listing, rank.is_of)) - rank.independent
    following = set(found["absorbed"])
    for group in found["groups"]:
        of_system = [k for k in group["constraints"] if listing.force[k] < 0]
        if group["kind"] == REDUNDANT:
            following.update(of_system)
        elif group["kind"] in RECOGNIZED:
            following.update(_beyond_three(listing, of_system))
    others = sorted(k for k in following.intersection(counted).difference(refused) if rank.is_of[k])
    return sorted(refused + (others[-surplus:] if surplus > 0 else []))


def _move(system: mm.System, listing: Listing, force: ConstraintForce, constraints: list[int]) -> set[Pair]:
    """Move System constraints into a Force.

    Returns
    -------
    pairs that the System has no longer
    """
    for k in constraints:
        first, second = listing.of(k)
        force.addDistance(first, second, float(listing.target[k]))
    for index in sorted((int(listing.index[k]) for k in constraints), reverse=True):
        system.removeConstraint(index)
    return set(pairs_of(listing, constraints)) - set(pairs_of(listing, np.setdiff1d(listing.own, constraints)))


def _declare(system: mm.System, listing: Listing, counted: set[Pair], known: KnownRank) -> set[Pair]:
    """Declare distances that are held, until there are as many as are independent. Where positions decide how many
    are, declare those that close no ring: they are independent anywhere."""
    declared: set[Pair] = set()

    def declare(pair: Pair, length: float) -> None:
        system.addConstraint(*pair, length)
        declared.add(pair)

    def may_be(pair: Pair) -> bool:
        return pair not in counted and pair not in declared and min(listing.masses[list(pair)]) > 0

    wanted = known.independent - len(counted & _own_pairs(listing, known.is_of))
    for pair, length in held_pairs(system, listing, known.is_of):
        if len(declared) >= wanted:
            break
        if may_be(pair):
            declare(pair, length)
    if not np.all(known.is_of):
        joined = known.joined(listing)
        for pair in counted:
            joined.join(pair)
        for pair, length in held_pairs(system, listing, ~known.is_of):
            if may_be(pair) and joined.join(pair):
                declare(pair, length)
    return declared


def _own_pairs(listing: Listing, among: np.ndarray) -> set[Pair]:
    """Of some constraints those of the System."""
    counted = listing.counted
    return set(pairs_of(listing, counted[among[counted]]))


def _declare_of_massless(system: mm.System, listing: Listing, x: np.ndarray | None) -> set[Pair]:
    """Declare a distance that takes no degree of freedom and that nobody solves, so that the System has one.

    It makes its particles one molecule, which barostats move as a whole: they have to be of one already where there is
    a barostat, and are where they can. Its length is that between the positions x (nm), if they are given, since
    OpenMM's minimizer looks at it.
    """
    still = np.flatnonzero((listing.masses == 0) & ~listing.is_site)
    if len(still) < 2:
        return set()
    molecule = molecules_of(system, listing)[still]
    order = np.argsort(molecule, kind="stable")
    same = np.flatnonzero(np.diff(molecule[order]) == 0)
    if len(same):
        first, second = sorted(still[order[same[0] : same[0] + 2]].tolist())
    elif any(isinstance(force, BAROSTATS) for force in system.getForces()):
        return set()
    else:
        first, second = still[:2].tolist()
    apart = 0.0 if x is None else float(np.linalg.norm(x[first] - x[second]))
    system.addConstraint(first, second, apart or 0.1)
    return {(first, second)}


def _beyond_three(listing: Listing, constraints: list[int]) -> list[int]:
    """Distances of a body beyond three to each particle from those before it, which hold it but for mirror images."""
    known: Counter[int] = Counter()
    rest = []
    for k in sorted(constraints, key=lambda k: max(listing.of(k))):
        last = max(listing.of(k))
        known[last] += 1
        if known[last] > 3:
            rest.append(k)
    return rest
