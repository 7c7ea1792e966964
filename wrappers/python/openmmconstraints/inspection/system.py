# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Numbers of a System."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import openmm as mm

from openmmconstraints.wrapper import ClusterInfo, ConstraintForce, ConstraintIntegrator, _particleMasses


def particle_masses(system: mm.System, particles: Iterable[int] | None = None) -> np.ndarray:
    """Masses of some or, by default, all particles (Da); 0 for virtual sites and fixed particles."""
    if particles is None:
        return np.array(_particleMasses(system), dtype=float)
    return np.array([system.getParticleMass(i)._value for i in particles], dtype=float)


def find_clusters(
    system: mm.System, integrator: ConstraintIntegrator, positions: np.ndarray
) -> tuple[ClusterInfo, ...]:
    """The clusters of a System's constraints at positions (nm), which may decide how many of them are independent.

    The integrator, which has no Context, chooses the solvers.
    """
    try:
        return tuple(integrator.getClusters(system))
    except mm.OpenMMException:  # positions decide, or the constraints cannot be used: then creating a Context raises
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(positions)
        return tuple(integrator.getClusters(system))


def replacing_force(system: mm.System) -> tuple[int, ConstraintForce] | None:
    """The Force, with its index, that lets other integrators use this package's solver; None: there is none."""
    for f, force in enumerate(system.getForces()):
        if ConstraintForce.isinstance(force) and ConstraintForce.cast(force).getReplacesSolver():
            return f, ConstraintForce.cast(force)
    return None


def temperature_factor(degrees: int, independent: int, counted: int) -> float:
    """True temperature over that which OpenMM reports, where so many degrees of freedom are left, and OpenMM counts so
    many of the independent constraints."""
    return (degrees + independent - counted) / degrees


def count_degrees_of_freedom(system: mm.System, clusters: Iterable[ClusterInfo]) -> int:
    """Those that the constraints of clusters leave."""
    return degrees_left(system, sum(cluster.count * cluster.constraints for cluster in clusters))


def degrees_left(system: mm.System, independent: int) -> int:
    """3 per massive particle, less the independent constraints, less 3 if the motion of the centre is removed."""
    massive = int(np.count_nonzero(particle_masses(system)))
    return 3 * massive - independent - 3 * removes_center_of_mass(system)


def removes_center_of_mass(system: mm.System) -> bool:
    """Whether a CMMotionRemover takes three degrees of freedom: of nothing that moves, it takes none."""
    has_remover = any(isinstance(force, mm.CMMotionRemover) for force in system.getForces())
    return has_remover and bool(np.any(particle_masses(system)))
