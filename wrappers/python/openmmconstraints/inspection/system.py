# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Numbers of a System."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import openmm as mm

from openmmconstraints.wrapper import ClusterInfo, ConstraintIntegrator


def particle_masses(system: mm.System) -> np.ndarray:
    """Masses [numParticles] (Da); 0 for virtual sites and fixed particles."""
    # _value: OpenMM returns daltons, and a million conversions would take ten seconds.
    return np.array([system.getParticleMass(i)._value for i in range(system.getNumParticles())], dtype=float)


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


def count_degrees_of_freedom(system: mm.System, clusters: Iterable[ClusterInfo]) -> int:
    """3 per massive particle, less the independent constraints, less 3 if there is a CMMotionRemover."""
    independent = sum(cluster.count * cluster.constraints for cluster in clusters)
    removes_motion = any(isinstance(force, mm.CMMotionRemover) for force in system.getForces())
    return 3 * int(np.count_nonzero(particle_masses(system))) - independent - (3 if removes_motion else 0)
