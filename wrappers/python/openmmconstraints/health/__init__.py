# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A check of a System's constraints before a run."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from types import NoneType
from typing import Any

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints.health.advice import TOLERANCES, check_step, check_tolerance, recommend_tolerance
from openmmconstraints.health.checker import Start, choose_integrator, diagnose, try_start, without_gpu
from openmmconstraints.health.dependence import find_dependence
from openmmconstraints.health.findings import Finding, worst_first
from openmmconstraints.health.held import count_held, find_held
from openmmconstraints.health.membership import find_membership, is_own_setup_slow
from openmmconstraints.health.openmm_solver import Solver, find_uncounted, find_unequal_waters, solver_of
from openmmconstraints.health.placement import Placement, Violation, lost_positions, place
from openmmconstraints.health.vibrations import Vibration, find_vibrations, recommend_step
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.kinds import BODY, RECOGNIZED
from openmmconstraints.inspection.labels import atom_name, require_same_size
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.platforms import PlatformSource, choose_platform
from openmmconstraints.inspection.positions import positions_of
from openmmconstraints.inspection.system import removes_center_of_mass, replacing_force
from openmmconstraints.wrapper import ClusterInfo, ConstraintIntegrator, RattleIntegrator

__all__ = ["Finding", "Health", "Vibration", "Violation"]


@dataclass(frozen=True)
class Counts:
    """Numbers of a System."""

    particles: int
    massive: int  #: with mass; the others are virtual sites or fixed
    virtualSites: int
    constraints: int  #: listed in the System and its Forces
    rigidBodies: int  #: declared
    recognizedBodies: int  #: rigid bodies that distances and angles hold
    joinedBodies: int  #: rigid bodies that constraints or other bodies join
    joints: int  #: particles that these share, once for each body beyond the first: a hinge has two
    independent: int | None  #: how many degrees of freedom they remove; None: they cannot be used, or positions decide
    redundant: int | None  #: how many follow from the others; None likewise
    removesCenterOfMass: bool


class Health:
    """A check of a System's constraints, with a time step and a tolerance to run it with.

    It finds everything that creating a Context would refuse, and much that a Context does not report: redundant and
    nearly straight constraints, anchors, missing minimum images, a time step that is too long. Given positions, it runs
    the System: it projects the positions onto the constraints and takes a few steps with all forces, in a Context of
    its own, and what that raises is a finding. The System is not changed. Villin in water takes half a second.

    >>> health = mc.Health(system, state, topology=pdb.topology)  # doctest: +SKIP
    >>> print(health)  # doctest: +SKIP
    >>> if not health.ok:  # doctest: +SKIP
    ...     raise SystemExit(1)

    Attributes
    ----------
    ok : bool
        whether there is no error
    findings : tuple of Finding
        worst first: severity, kind, message, remedy, constraints (in the order of getMultipliers()), particles, names,
        values
    counts : Counts
        numbers of particles and constraints
    clusters : tuple of ClusterInfo, or None
        the clusters of constraints, as of ConstraintIntegrator.getClusters(), without constraints that were refused;
        None if memory does not suffice for them, or if positions decide and none are given
    degreesOfFreedom : int or None
        3 per massive particle, less the independent constraints, less 3 with a CMMotionRemover; None if there are no
        clusters
    vibrations : tuple of Vibration
        the fastest harmonic bonds and angles that no constraint holds
    recommendedTolerance : float
        for constant-energy runs in this precision
    recommendedTimeStep : openmm.unit.Quantity or None
        ten steps a period of the fastest of these, see stepLimit; None if nothing can move
    stepLimit : str
        what limits it
    placement : Placement or None
        the constraints with the largest errors, how far projection moves particles (nm), and how many steps were taken
    """

    def __init__(
        self,
        system: mm.System,
        positions: Any = None,
        *,
        topology: app.Topology | None = None,
        integrator: mm.Integrator | None = None,
        precision: str = "mixed",
        platform: PlatformSource | None = None,
        steps: int = 3,
    ) -> None:
        """Check a System.

        Parameters
        ----------
        system : openmm.System
            is not changed
        positions : openmm.State, array of shape (numParticles, 3) (nm) or Quantity, optional
            where it starts. A State's box, time and velocities are taken too; else those are the System's default box,
            0 and none
        topology : openmm.app.Topology, optional
            of the System: findings then name atoms; without it, those of setTopology() do
        integrator : openmm.Integrator, optional
            that the run will use: its settings are checked, and a copy takes the steps. By default it is
            RattleIntegrator, or VerletIntegrator where replaceSolver() was called
        precision : "single", "mixed" or "double"
            of the Context that the run will use
        platform : str or openmm.Platform, optional
            on which steps are tried, by its name or itself: CPU by default
        steps : int
            how many are tried. With 0, the positions are projected only

        Raises
        ------
        ValueError
            for another precision, for a platform that is not there or does not work, and if positions or topology are
            not the System's
        TypeError
            if positions are not lengths, or another argument is of the wrong type
        """
        if precision not in TOLERANCES:
            raise ValueError(f"Health: precision must be one of {', '.join(TOLERANCES)}, not {precision!r}")
        if not isinstance(steps, Integral):
            raise TypeError(f"Health: steps must be a whole number, not {steps!r}")
        if steps < 0:
            raise ValueError(f"Health: steps must be 0 or more, not {steps!r}")
        require(mm.System, system, "Health")
        if not isinstance(integrator, (mm.Integrator, NoneType)):
            raise TypeError(
                f"Health: integrator is one that the run will use, such as RattleIntegrator(0.002), not {integrator!r}."
            )
        chosen = without_gpu() if platform is None else choose_platform(platform)
        names = None
        if topology is not None:
            require_same_size(system, topology, "Health")
            names = [atom_name(atom) for atom in topology.atoms()]
        start = None if positions is None else _start(system, positions)
        self.precision = precision
        self._check(system, Listing(system, names), start, integrator, chosen, steps)

    def _check(
        self,
        system: mm.System,
        listing: Listing,
        start: Start | None,
        integrator: mm.Integrator | None,
        platform: mm.Platform,
        steps: int,
    ) -> None:
        if integrator is None and replacing_force(system) is not None:
            integrator = mm.VerletIntegrator(0)  # any of OpenMM's, for which the solver is replaced
        planned = RattleIntegrator(0) if integrator is None else integrator
        tolerance = planned.getConstraintTolerance()
        diagnosis = diagnose(system, listing, planned, start if start is not None and start.is_finite else None)
        clusters = diagnosis.clusters
        listing.valid &= ~listing.is_ignored
        listing.valid[list(diagnosis.absorbed)] = False
        findings = [*diagnosis.findings, *find_held(listing, diagnosis)]
        held = count_held(listing, diagnosis.groups)
        findings += find_membership(system, listing, clusters or (), held)
        solver = solver_of(system, planned)
        findings += find_dependence(listing, diagnosis.groups, solver, diagnosis.held_twice)
        if solver is Solver.OPENMM:
            findings += find_unequal_waters(listing)
        vibrations, unseen = find_vibrations(system, listing)
        self.vibrations: tuple[Vibration, ...] = tuple(vibrations)
        self.recommendedTolerance = recommend_tolerance(self.precision)
        self.recommendedTimeStep: unit.Quantity | None = None
        self.stepLimit = "nothing moves"
        massive = listing.masses[(listing.masses > 0) & np.isfinite(listing.masses)]
        if clusters is None:
            self.stepLimit = "not known while the constraints cannot be used"
        elif len(massive):
            step, self.stepLimit = recommend_step(vibrations, float(np.min(massive)))
            self.recommendedTimeStep = step * unit.femtosecond
        self.placement: Placement | None = None
        if start is not None and not start.is_finite:
            self.placement = lost_positions(listing, start)
        elif start is not None and clusters is not None:
            trial = None
            is_ours = ConstraintIntegrator.isinstance(planned)
            if not any(finding.severity == "error" for finding in findings) and (
                is_ours or not is_own_setup_slow(system, clusters, held)
            ):
                stepping = choose_integrator(integrator, self.recommendedTimeStep)
                trial = try_start(system, listing, stepping, start, platform, steps)
            self.placement = place(listing, diagnosis, start, trial, is_ours)
        findings += [] if self.placement is None else self.placement.findings
        findings += check_tolerance(tolerance, self.precision, start)
        if clusters is not None:
            findings += check_step(integrator, vibrations, unseen)
        self._needs_positions = clusters is not None and diagnosis.independent is None
        known = None if self._needs_positions else clusters
        self.clusters: tuple[ClusterInfo, ...] | None = known
        self.counts = Counts(
            particles=len(listing.masses),
            massive=len(massive),
            virtualSites=int(np.count_nonzero(listing.is_site)),
            constraints=listing.count,
            rigidBodies=int(np.count_nonzero(listing.kind == BODY)),
            recognizedBodies=sum(group.kind in RECOGNIZED for group in diagnosis.groups),
            joinedBodies=diagnosis.joined_bodies,
            joints=diagnosis.joints,
            independent=None if known is None else diagnosis.independent,
            redundant=None if known is None else diagnosis.redundant,
            removesCenterOfMass=removes_center_of_mass(system),
        )
        self.degreesOfFreedom: int | None = None
        if known is not None and diagnosis.independent is not None:
            self.degreesOfFreedom = 3 * len(massive) - diagnosis.independent - 3 * self.counts.removesCenterOfMass
        if solver is Solver.REPLACED:
            findings += find_uncounted(listing, self.counts.independent, self.degreesOfFreedom, self._needs_positions)
        self.findings: tuple[Finding, ...] = worst_first(_without_repeats(findings))

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Everything as data for JSON. Lengths are in nm, angles in rad, periods and time steps in fs."""
        from openmmconstraints.health.report import to_dict

        return to_dict(self)

    def __str__(self) -> str:
        """The whole report: tables, worst findings first, and a last line with the verdict."""
        from openmmconstraints.health.report import to_text

        return to_text(self)

    def __repr__(self) -> str:
        """One line: the verdict."""
        from openmmconstraints.health.report import verdict

        return f"Health({verdict(self)[0].rstrip('.')})"

    def _repr_html_(self) -> str:
        """The same report, for Jupyter."""
        from openmmconstraints.health.html import to_html

        return to_html(self)


def _without_repeats(findings: list[Finding]) -> list[Finding]:
    """Without ill-conditioned sets that were refused as singular."""
    singular = {particle for finding in findings if finding.kind == "singular" for particle in finding.particles}
    return [f for f in findings if f.kind != "ill-conditioned" or singular.isdisjoint(f.particles)]


def _start(system: mm.System, positions: Any) -> Start:
    x, vectors = positions_of(system, positions, "Health")
    time, velocities = 0.0, None
    if isinstance(positions, mm.State):
        time = positions.getTime().value_in_unit(unit.picosecond)
        if positions.getDataTypes() & mm.State.Velocities:
            velocities = positions.getVelocities(asNumpy=True).value_in_unit(unit.nanometer / unit.picosecond)
    return Start(x, velocities, vectors, time)
