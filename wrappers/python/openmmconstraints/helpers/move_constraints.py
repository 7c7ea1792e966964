# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Move a System's own constraints into a ConstraintForce of their own."""

from __future__ import annotations

import openmm as mm
from openmm import app

from openmmconstraints._proxies import keep_system
from openmmconstraints.helpers.topology import keep_topology
from openmmconstraints.inspection.arguments import require
from openmmconstraints.inspection.labels import require_same_size
from openmmconstraints.wrapper import ConstraintForce, _moveConstraints


def moveConstraints(system: mm.System, topology: app.Topology | None = None) -> ConstraintForce | None:
    """Move all constraints of a System into a ConstraintForce of their own, which is added to the System.

    OpenMM builds its own constraint solver for everything in System.addConstraint(), whatever the integrator: that
    takes seconds to hours for large coupled sets, and cannot represent singular ones. Only this
    package's integrators see the constraints of a ConstraintForce.

    Call it when all other Forces have been added and before a Context is created. The constraints keep their order and
    their meaning. In a periodic System they use the minimum image, as System constraints do with this package's
    integrators, except those longer than half the shortest width of the default box, which have no minimum image: they
    go to a second ConstraintForce, without it. Forces that you have added stay as they are. A further call appends to
    the Force of an earlier one, which it knows by its name, "MovedConstraints", unless you have added anything but
    distances to that. System constraints between massless particles are ignored, and stay in the System: in a Force
    they would be checked. OpenMM's minimizer sees System constraints only; minimize() sees all.

    Parameters
    ----------
    system : openmm.System
        changed in place
    topology : openmm.app.Topology, optional
        of the System: errors then name atoms, as after setTopology()

    Returns
    -------
    ConstraintForce or None
        the Force that took the constraints (the periodic one, if there were two), owned by the System; None if there
        was nothing to move

    Raises
    ------
    ValueError
        if the topology has another number of atoms than the System has particles; nothing is changed
    """
    require(mm.System, system, "moveConstraints")
    if topology is not None:
        require_same_size(system, topology, "moveConstraints")
    force = keep_system(_moveConstraints(system), system)
    if force is not None and topology is not None:
        keep_topology(system, topology)
    return force
