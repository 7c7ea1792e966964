# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Holonomic constraints for OpenMM: integrators that solve them jointly and report when they cannot.

>>> import openmm as mm, openmm.unit as u
>>> import openmmconstraints as mc
>>> force = mc.ConstraintForce()
>>> force.addDistance(0, 1, 0.1 * u.nanometer)
0
>>> integrator = mc.RattleIntegrator(1 * u.femtosecond)
>>> integrator.setSolver(mc.ConstraintIntegrator.MatrixInversion)
"""

import openmm

from openmmconstraints import _openmm, freeenergy
from openmmconstraints._atoms import take_atoms
from openmmconstraints._build_info import VERSION as __version__
from openmmconstraints._constraint_index import ConstraintIndex, refuse_indices_of_forces, return_indices
from openmmconstraints._groups import require_pairs
from openmmconstraints._rates import require_radian_rates
from openmmconstraints.health import Health
from openmmconstraints.helpers import (
    Constrained,
    Frozen,
    ReplacedSolver,
    Rigid,
    constrain,
    freeze,
    makeRigid,
    moveConstraints,
    replaceSolver,
    setTopology,
)
from openmmconstraints.inspection.arguments import require_openmm_objects
from openmmconstraints.inspection.constraint_forces import computeConstraintForces, computeConstraintVirial
from openmmconstraints.inspection.display import add_representations
from openmmconstraints.inspection.moves import warn_of_far_moves
from openmmconstraints.inspection.numbering import multiplierIndex
from openmmconstraints.inspection.pressure import computePressure, computePressureTensor
from openmmconstraints.inspection.values import add_values
from openmmconstraints.minimization.minimize import Minimum, minimize
from openmmconstraints.reporters.blocking import MeanForce
from openmmconstraints.reporters.blue_moon_reporter import BlueMoonReporter
from openmmconstraints.reporters.constraint_reporter import ConstraintReporter
from openmmconstraints.reporters.state_reporter import ConstraintStateReporter
from openmmconstraints.wrapper import (
    ClusterInfo,
    ConstraintForce,
    ConstraintForceIntegrator,
    ConstraintIntegrator,
    CustomCentroidConstraintForce,
    CustomConstraintForce,
    ExpressionConstraintForce,
    RattleIntegrator,
    RattleLangevinIntegrator,
    RattleMTSIntegrator,
    RattleMTSLangevinIntegrator,
    RattleNoseHooverIntegrator,
    ShakeIntegrator,
    SolverSummary,
)

_openmm.load_plugins()
add_representations()
return_indices(ConstraintForce, CustomConstraintForce, CustomCentroidConstraintForce)
refuse_indices_of_forces(ConstraintIntegrator)
take_atoms(ConstraintForce, CustomConstraintForce, CustomCentroidConstraintForce)
require_radian_rates(ConstraintForce)
add_values(ConstraintForce, CustomConstraintForce, CustomCentroidConstraintForce)
for _class in (ConstraintForce, ExpressionConstraintForce, CustomConstraintForce, CustomCentroidConstraintForce):
    require_openmm_objects(_class, openmm.Force)
for _class in (ConstraintIntegrator, *ConstraintIntegrator.__subclasses__(), RattleMTSLangevinIntegrator):
    require_openmm_objects(_class, openmm.Integrator)
warn_of_far_moves()
require_pairs(RattleMTSIntegrator, RattleMTSLangevinIntegrator)

__all__ = [
    "BlueMoonReporter",
    "ClusterInfo",
    "Constrained",
    "ConstraintForce",
    "ConstraintForceIntegrator",
    "ConstraintIndex",
    "ConstraintIntegrator",
    "ConstraintReporter",
    "ConstraintStateReporter",
    "CustomCentroidConstraintForce",
    "CustomConstraintForce",
    "Frozen",
    "Health",
    "MeanForce",
    "Minimum",
    "RattleIntegrator",
    "RattleLangevinIntegrator",
    "RattleMTSIntegrator",
    "RattleMTSLangevinIntegrator",
    "RattleNoseHooverIntegrator",
    "ReplacedSolver",
    "Rigid",
    "ShakeIntegrator",
    "SolverSummary",
    "__version__",
    "computeConstraintForces",
    "computeConstraintVirial",
    "computePressure",
    "computePressureTensor",
    "constrain",
    "freeenergy",
    "freeze",
    "makeRigid",
    "minimize",
    "moveConstraints",
    "multiplierIndex",
    "replaceSolver",
    "setTopology",
]


def __dir__() -> list[str]:
    """What is public, and no module of the package besides."""
    return __all__
