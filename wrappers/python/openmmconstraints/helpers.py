# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Helpers that work on a System before a Context is made."""

from openmmconstraints.wrapper import ConstraintForce


def moveConstraints(system):
    """Move all constraints of a System into a ConstraintForce of that System.

    OpenMM builds its own constraint solver for everything in System.addConstraint(), whatever the integrator: that
    takes seconds to hours for large coupled sets, and cannot represent singular ones. What lies in a ConstraintForce is
    seen by this package's integrators only.

    Call it when all other Forces have been added and before a Context is created. The constraints keep their order and
    their meaning. In a periodic System they use the minimum image, as System constraints do with this package's
    integrators, except those longer than half the shortest width of the default box, which have no minimum image: they
    go to a second ConstraintForce, without it. A ConstraintForce that the System has already is used if its
    periodic setting is the right one. OpenMM's minimizer sees System constraints only, so minimize first.

    Parameters
    ----------
    system : openmm.System
        changed in place

    Returns
    -------
    ConstraintForce or None
        the Force that took the constraints (the periodic one, if there were two), owned by the System; None if the
        System had no constraints, which leaves it as it was
    """
    constraints = [system.getConstraintParameters(i) for i in range(system.getNumConstraints())]
    periodic = system.usesPeriodicBoundaryConditions()
    longest = _half_box_width(system) if periodic else None
    forces = {}
    for particle1, particle2, distance in constraints:
        minimum_image = periodic and distance <= longest
        if minimum_image not in forces:
            forces[minimum_image] = _constraint_force(system, minimum_image)
        forces[minimum_image].addDistance(particle1, particle2, distance)
    for i in reversed(range(len(constraints))):  # from the end: removing the first would move all others each time
        system.removeConstraint(i)
    return forces.get(True, forces.get(False))


def _half_box_width(system):
    """Half the shortest width of the default box, whose vectors are in OpenMM's reduced form."""
    return min(vector[i] for i, vector in enumerate(system.getDefaultPeriodicBoxVectors())) / 2


def _constraint_force(system, periodic):
    """The System's first ConstraintForce with this periodic setting, or a new one."""
    for force in system.getForces():
        if ConstraintForce.isinstance(force) and force.usesPeriodicBoundaryConditions() == periodic:
            return ConstraintForce.cast(force)
    force = ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(periodic)
    system.addForce(force)
    return force
