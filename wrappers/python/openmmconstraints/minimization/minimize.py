# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Energy minimization on the constraint surface."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isfinite
from operator import index

import numpy as np
import openmm as mm
from openmm import unit

from openmmconstraints._quantities import to_number
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.integrators import current_integrator, own_integrators, stepping_integrator
from openmmconstraints.inspection.labels import particle_label, particle_names
from openmmconstraints.inspection.moves import project, warn_of_move
from openmmconstraints.inspection.system import particle_masses, replacing_force
from openmmconstraints.minimization.lbfgs import Point, descend, dot
from openmmconstraints.wrapper import ConstraintIntegrator, RattleIntegrator

MAX_ITERATIONS = 100_000  # of maxIterations=0: the energy may have no minimum
#: Errors of the projection are noise in the energy, which hides descents of less than force * tolerance * length.
TOLERANCE = 1e-8
SMALLEST_TOLERANCE = 1e-14  # that ConstraintIntegrator takes
#: Forces are scaled to velocities of at most this size to be projected: well above the tolerance, and as fast as atoms.
SPEED = 10.0  # nm/ps

_FOREIGN = (
    "minimize: {} does not solve the constraints of ConstraintForces. Use openmm.LocalEnergyMinimizer, an integrator "
    "of openmmconstraints, or openmmconstraints.replaceSolver(system)."
)


@dataclass(frozen=True)
class Minimum:
    """Where a minimization ended."""

    converged: bool  #: whether the force is within the tolerance
    energy: unit.Quantity  #: potential energy
    force: unit.Quantity  #: root-mean-square force along the constraint surface
    iterations: int
    evaluations: int  #: how many times forces were computed
    largestMove: unit.Quantity  #: how far the projection at the start moved a particle


def minimize(
    context: mm.Context,
    tolerance: float | unit.Quantity = 10 * unit.kilojoule_per_mole / unit.nanometer,
    maxIterations: int = 0,
    reporter: mm.MinimizationReporter | None = None,
) -> Minimum:
    """Search a local minimum of the potential energy without leaving the constraints: those of the System and of every
    ConstraintForce and CustomConstraintForce. Massless particles stay where they are.

    Positions off the constraints are projected first. Then L-BFGS steps along the surface, each projected onto it
    (see lbfgs.py), in the Context itself: no copy, no restraints. For an integrator of OpenMM it is a Context beside
    it, with an integrator of this package. Moving constraints have their values at the Context's time. Time and step
    count do not change; velocities are projected. Any exception, KeyboardInterrupt included, leaves the Context as it
    was; to stop early and keep what has been reached, let the reporter return True.

    >>> mc.minimize(simulation.context, 1 * unit.kilojoule_per_mole / unit.nanometer)  # doctest: +SKIP

    Parameters
    ----------
    context : openmm.Context
        with positions, and an integrator of this package, or any where replaceSolver() was called; of a
        CompoundIntegrator the current child counts
    tolerance : float or Quantity
        of the force F + sum_k lambda_k grad sigma_k (kJ/mol/nm): sqrt(sum of squares / number of massive particles),
        as OpenMM's minimizer counts
    maxIterations : int
        0: until it has converged
    reporter : openmm.MinimizationReporter or None
        its report(iteration, x, grad, args) is called after each iteration with positions and the gradient along the
        surface as flat arrays, and args as from OpenMM's minimizer, whose entries on restraints are 0

    Returns
    -------
    Minimum
        what was reached

    Warns
    -----
    RuntimeWarning
        if it has not converged, and neither maxIterations nor the reporter stopped it: the platform's precision hides
        any further descent, or the energy has no minimum; and if the projection at the start moves a particle farther
        than the integrator's setMaxProjection(), 0.05 nm by default: it is named

    Raises
    ------
    TypeError, ValueError
        if an argument is of the wrong kind, or the integrator not this package's, and nothing replaces its solver
    OpenMMException
        if there are no positions, if positions, forces or energy are not finite at the start, or if the constraints
        cannot be solved there
    """
    require(mm.Context, context, "minimize")
    wanted = _check_tolerance(tolerance)
    most = _check_iterations(maxIterations)
    if reporter is not None and not isinstance(reporter, mm.MinimizationReporter):
        raise TypeError(f"minimize: the reporter must be an openmm.MinimizationReporter, not {type(reporter).__name__}")
    if _is_replaced(context):
        _require_positions(context)
        with _beside(context) as other:
            return _minimize(other, wanted, most, reporter)
    return _minimize(context, wanted, most, reporter)


def _minimize(context: mm.Context, wanted: float, most: int, reporter: mm.MinimizationReporter | None) -> Minimum:
    integrator = current_integrator(context.getIntegrator(), _FOREIGN)
    _require_positions(context)
    velocities = context.getState(positions=True, velocities=True).getVelocities(asNumpy=True)
    with _restored_if_raised(context), _tightened(integrator):
        surface = _Surface(context, integrator)
        point, iterations, stopped = surface.start(), 0, False
        path = descend(point, surface.visit)
        while surface.force(point) > wanted and iterations < (most or MAX_ITERATIONS) and not stopped:
            lower = next(path, None)
            if lower is None:
                break
            point = lower
            stopped = reporter is not None and surface.report(reporter, iterations, point)
            iterations += 1
        context.setPositions(surface.all_positions(point))
        project(integrator)
        context.setVelocities(velocities)
        integrator.applyVelocityConstraints()
    force = surface.force(point)
    if force > wanted and not stopped and iterations != most:
        warnings.warn(
            f"minimize: not converged after {iterations} iterations: the force is {force:.3g} kJ/mol/nm, the tolerance "
            f"{wanted:g}. The precision of the platform hides any further descent, or the energy has no minimum. "
            "Increase the tolerance, or use a platform of higher precision.",
            RuntimeWarning,
            stacklevel=3,
        )
    return Minimum(
        force <= wanted,
        point.energy * unit.kilojoule_per_mole,
        force * unit.kilojoule_per_mole / unit.nanometer,
        iterations,
        surface.evaluations,
        surface.largest_move * unit.nanometer,
    )


def _require_positions(context: mm.Context) -> None:
    """Refuse a Context without positions: those read are zeros, and a checkpoint that is loaded counts as positions.
    Only forces make OpenMM look; of no group here, so that none are computed.

    :raises OpenMMException: if positions have not been set
    """
    if not np.any(context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)):
        context.getState(forces=True, groups=0)


def _is_replaced(context: mm.Context) -> bool:
    """Whether another package's integrator takes the steps, with this package's solver."""
    is_theirs = not own_integrators(stepping_integrator(context.getIntegrator()))
    return is_theirs and replacing_force(context.getSystem()) is not None


@contextmanager
def _beside(context: mm.Context) -> Iterator[mm.Context]:
    """A Context of the same System and state with an integrator of this package; the state where it ends is taken."""
    theirs = stepping_integrator(context.getIntegrator())
    ours = RattleIntegrator(0.001)
    ours.setConstraintTolerance(max(theirs.getConstraintTolerance(), SMALLEST_TOLERANCE))
    ours.setIntegrationForceGroups(theirs.getIntegrationForceGroups())
    platform = context.getPlatform()
    properties = {name: platform.getPropertyValue(context, name) for name in platform.getPropertyNames()}
    other = mm.Context(context.getSystem(), ours, platform, properties)
    other.setState(context.getState(positions=True, velocities=True, parameters=True))
    yield other
    end = other.getState(positions=True, velocities=True)
    context.setPositions(end.getPositions())
    context.setVelocities(end.getVelocities())


def _check_tolerance(tolerance: float | unit.Quantity) -> float:
    value = to_number(tolerance, "kilojoule_per_mole_per_nanometer", "minimize", "tolerance")
    if not 0 < value < inf:
        raise ValueError(f"minimize: the tolerance must be a positive force (kJ/mol/nm), not {value:g}")
    return value


def _check_iterations(iterations: int) -> int:
    try:
        number = index(iterations)
    except TypeError as error:
        raise TypeError(f"minimize: maxIterations must be an integer, not {type(iterations).__name__}") from error
    if number < 0:
        raise ValueError(f"minimize: maxIterations must be 0 (as many as it takes) or more, not {number}")
    return number


@contextmanager
def _restored_if_raised(context: mm.Context) -> Iterator[None]:
    before = context.createCheckpoint()
    try:
        yield
    except BaseException:
        context.loadCheckpoint(before)
        raise


@contextmanager
def _tightened(integrator: ConstraintIntegrator) -> Iterator[None]:
    """Set a tight tolerance, and a time step of 0. With another step ShakeIntegrator shifts velocities for the kinetic
    energy, which comes with each potential energy, and evaluates forces a second time."""
    tolerance, step = integrator.getConstraintTolerance(), integrator.getStepSize()
    integrator.setConstraintTolerance(min(tolerance, TOLERANCE))
    integrator.setStepSize(0)
    try:
        yield
    finally:
        integrator.setConstraintTolerance(tolerance)
        integrator.setStepSize(step)


class _Surface:
    """The constraint surface of a Context, for its massive particles. Calls change the Context's state."""

    def __init__(self, context: mm.Context, integrator: ConstraintIntegrator) -> None:
        self.evaluations = 0
        self.largest_move = 0.0  # of a massive particle in the projection at the start, nm
        self._context = context
        self._integrator = integrator
        self._groups = integrator.getIntegrationForceGroups()
        masses = particle_masses(context.getSystem())
        self._moves = masses > 0
        self._masses = masses[self._moves, None]
        self._start = np.zeros((len(masses), 3))
        self._has_rates = False

    def start(self) -> Point:
        """The projected positions of the Context.

        :raises OpenMMException: if anything there is not finite
        """
        positions = self._positions(self._context.getState(positions=True))
        self._require_finite(positions, "position")
        project(self._integrator)
        self._note_moves(positions)
        self._has_rates = bool(self._projected(np.zeros_like(self._masses)).any())
        state = self._evaluate()
        self._start = self._positions(state)
        forces = self._forces(state)
        self._require_finite(forces, "force")
        if not isfinite(self._energy(state)):
            largest = int(np.argmax((forces * forces).sum(axis=1)))
            raise mm.OpenMMException(
                f"minimize: the potential energy at the start is {self._energy(state)} kJ/mol. The largest force acts "
                f"on {self._name(largest)}. Look for overlapping particles."
            )
        return self._point(state)

    def visit(self, positions: np.ndarray) -> Point:
        """The point that positions are projected to; of infinite energy if the projection fails."""
        try:
            self._context.setPositions(self._all(positions, self._start))
            project(self._integrator)
            state = self._evaluate()
            if isfinite(self._energy(state)) and np.isfinite(self._forces(state)[self._moves]).all():
                return self._point(state)
        except mm.OpenMMException:  # too far off, or a Force raised it: the search takes a shorter step
            pass
        return Point(positions, inf, np.zeros_like(positions))

    def all_positions(self, point: Point) -> np.ndarray:
        """[numParticles, 3] nm, virtual sites as at the start."""
        return self._all(point.positions, self._start)

    def force(self, point: Point) -> float:
        """Root mean square over the massive particles (kJ/mol/nm)."""
        return (dot(point.gradient, point.gradient) / max(1, len(point.positions))) ** 0.5

    def report(self, reporter: mm.MinimizationReporter, iteration: int, point: Point) -> bool:
        """Whether the reporter wants to stop."""
        args = {
            "system energy": point.energy,
            "restraint energy": 0.0,
            "restraint strength": 0.0,
            "max constraint error": self._integrator.getSolverSummary().maxError,
        }
        positions = self._positions(self._context.getState(positions=True))  # virtual sites too
        gradient = self._all(point.gradient, np.zeros_like(positions))
        return bool(reporter.report(iteration, positions.ravel(), gradient.ravel(), args))

    def _note_moves(self, before: np.ndarray) -> None:
        after = self._positions(self._context.getState(positions=True))
        moves = np.where(self._moves, np.linalg.norm(after - before, axis=1), 0.0)
        self.largest_move = float(moves.max(initial=0.0))
        if self.largest_move > 0:
            warn_of_move(
                self.largest_move,
                self._integrator,
                f"minimize: the projection onto the constraints moved {self._name(int(np.argmax(moves)))}",
                "If it was, setMaxProjection() of this package's integrators silences this.",
            )

    def _evaluate(self) -> mm.State:
        self.evaluations += 1
        return self._context.getState(positions=True, energy=True, forces=True, groups=self._groups)

    def _point(self, state: mm.State) -> Point:
        forces = self._forces(state)[self._moves]
        return Point(self._positions(state)[self._moves], self._energy(state), -self._tangent(forces))

    def _tangent(self, forces: np.ndarray) -> np.ndarray:
        """F + J^T lambda, J M^-1 (F + J^T lambda) = 0: as velocities M^-1 F are projected, so are forces."""
        accelerations = forces / self._masses
        largest = np.abs(accelerations).max(initial=0.0)
        if largest == 0.0:
            return np.zeros_like(forces)
        scale = SPEED / largest
        tangent = self._projected(scale * accelerations)
        if self._has_rates:  # velocities that moving constraints require
            tangent -= self._projected(np.zeros_like(self._masses))
        return tangent * self._masses / scale

    def _projected(self, velocities: np.ndarray) -> np.ndarray:
        self._context.setVelocities(self._all(velocities, np.zeros_like(self._start)))
        self._integrator.applyVelocityConstraints()
        projected = self._context.getState(velocities=True).getVelocities(asNumpy=True)
        return projected.value_in_unit(unit.nanometer / unit.picosecond)[self._moves]

    def _all(self, of_massive: np.ndarray, others: np.ndarray) -> np.ndarray:
        vectors = others.copy()
        vectors[self._moves] = of_massive
        return vectors

    def _positions(self, state: mm.State) -> np.ndarray:
        return state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)

    def _forces(self, state: mm.State) -> np.ndarray:
        return state.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)

    def _energy(self, state: mm.State) -> float:
        return state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)

    def _require_finite(self, vectors: np.ndarray, what: str) -> None:
        bad = np.flatnonzero(self._moves & ~np.isfinite(vectors).all(axis=1))
        if len(bad) > 0:
            more = "" if len(bad) == 1 else f" (and of {len(bad) - 1} more)"
            raise mm.OpenMMException(
                f"minimize: the {what} of {self._name(int(bad[0]))}{more} is not finite at the start. Look for "
                "overlapping particles."
            )

    def _name(self, particle: int) -> str:
        label = particle_label(particle_names(self._context.getSystem()), particle)
        return f"particle {particle}" if label == str(particle) else f"particle {particle} ({label})"
