# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Functions that change a System before a Context is created."""

from openmmconstraints.helpers.constrain import constrain
from openmmconstraints.helpers.constrained import Constrained
from openmmconstraints.helpers.freeze import Frozen, freeze
from openmmconstraints.helpers.make_rigid import Rigid, makeRigid
from openmmconstraints.helpers.move_constraints import moveConstraints
from openmmconstraints.helpers.replace_solver import ReplacedSolver, replaceSolver
from openmmconstraints.helpers.topology import setTopology

__all__ = [
    "Constrained",
    "Frozen",
    "ReplacedSolver",
    "Rigid",
    "constrain",
    "freeze",
    "makeRigid",
    "moveConstraints",
    "replaceSolver",
    "setTopology",
]
