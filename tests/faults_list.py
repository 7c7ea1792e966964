# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Faults as a tired developer makes them, for faults.py: one or more in each folder of sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A text that occurs once in a file, and what stands there with the fault."""

    name: str
    what: str  # is wrong then
    file: str
    before: str
    after: str


FAULTS = (
    # ---- core --------------------------------------------------------------------------------------------------------
    Fault(
        "box",
        "which vectors need no image is asked of another edge of the box along z",
        "core/basics/Box.h",
        "std::abs(r.z) < 0.5 * c.z)",
        "std::abs(r.z) < 0.5 * b.y)",
    ),
    Fault(
        "exception",
        "an exception of a task is thrown again by all later ones",
        "core/basics/PoolRunner.cpp",
        "std::exchange(failure, nullptr)",
        "failure",
    ),
    Fault(
        "self-pairs",
        "a particle of both groups of a coordination number is a pair with itself",
        "core/constraints/CoordinationNumber.cpp",
        "if (!(R >= f.end) && i != j) {",
        "if (!(R >= f.end)) {",
    ),
    Fault(
        "turn-gradient",
        "a factor of two is left out in the gradient of a linear body's turn",
        "core/rigid/rigidMotion.cc",
        "return (1 / (1 - 2 * dot(v, v))) * angularMomentOf(",
        "return (1 / (1 - dot(v, v))) * angularMomentOf(",
    ),
    Fault(
        "shared-particle",
        "a particle that several bodies share gets the whole change of its velocity from each",
        "core/rigid/RigidBodySolver.cpp",
        "velocity[p] += (perTime / body.sharers[i]) * change;",
        "velocity[p] += perTime * change;",
    ),
    Fault(
        "moving-target",
        "a length that moves does not follow its parameter",
        "core/constraints/Jacobian.cpp",
        "        if (moving != movingRows.end() && moving->row == row)\n            moving->target = target[row];\n",
        "",
    ),
    Fault(
        "level",
        "a row is in the level of the last row that it waits for",
        "core/graph/Elimination.cpp",
        "factor.level[parent] = std::max(factor.level[parent], factor.level[k] + 1);",
        "factor.level[parent] = std::max(factor.level[parent], factor.level[k]);",
    ),
    Fault(
        "no-correction",
        "what is within the tolerance at the start of a solve is not corrected",
        "core/solvers/MatrixInversionSolver.cpp",
        "(report.maxError <= input.tolerance && iteration > 0)",
        "report.maxError <= input.tolerance",
    ),
    Fault(
        "longest-bond",
        "only the last bond of a molecule decides whether any needs an image",
        "core/distances/SmallBatch.inc",
        "longest = larger(inner(state.bond[k], state.bond[k]), longest);",
        "longest = inner(state.bond[k], state.bond[k]);",
    ),
    Fault(
        "flat-triangle",
        "the three distances of a flat triangle count as too many",
        "core/rank/RankAnalysis.cpp",
        "return (int) circuit.size() > (immovable",
        "return (int) circuit.size() >= (immovable",
    ),
    Fault(
        "affine-weight",
        "a weight of places in a planar body has the wrong sign",
        "core/bodies/SpanningBase.cpp",
        "v1 = dot(cross(d, v), n)",
        "v1 = dot(cross(v, d), n)",
    ),
    Fault(
        "moving-rate",
        "velocities are measured as if no constraint moved in time",
        "core/projection/ConstraintMeasures.cpp",
        "fieldOf(*J, row, velocity)) + J->timeDerivative[row];",
        "fieldOf(*J, row, velocity));",
    ),
    Fault(
        "extrapolation",
        "both differences of an extrapolation are exchanged",
        "core/readings/ForceVirial.cpp",
        "(4 * narrow - wide) / 3",
        "(4 * wide - narrow) / 3",
    ),
    Fault(
        "chain-mass",
        "the second thermostat does not know the mass of the first",
        "core/heatbath/thermostatChain.cc",
        "(j == 1 ? degreesOfFreedom : 1) * v[j - 1]",
        "v[j - 1]",
    ),
    # ---- expressions, system, interface ------------------------------------------------------------------------------
    Fault(
        "last-bonds",
        "a value is taken for the last one although z has changed",
        "expressions/PointFunctions.cpp",
        "bonds[s] == last->bonds[s];",
        "bonds[s].x == last->bonds[s].x && bonds[s].y == last->bonds[s].y;",
    ),
    Fault(
        "anchor-particle",
        "a problem does not name its particle",
        "system/PressureChecks.cpp",
        "            problem.particles = {i};\n",
        "",
    ),
    Fault(
        "noise-of-children",
        "children of a CompoundIntegrator with one seed draw the same numbers",
        "openmmapi/src/RattleLangevinIntegrator.cpp",
        "(uint32_t) langevin.child}",
        "0}",
    ),
    Fault(
        "start-time",
        "the start time of a centroid distance is not read",
        "serialization/src/ConstraintForceProxy.cpp",
        'readProperty<double>(child, "rate"), readStartTime(child));',
        'readProperty<double>(child, "rate"));',
    ),
    Fault(
        "end-images",
        "ends of an angle have the minimum image, instead of its bonds",
        "wrappers/python/openmmconstraints/helpers/lengths.py",
        "self.between(centre, i) - self.between(centre, j)",
        "self.between(i, j)",
    ),
    # ---- platforms ---------------------------------------------------------------------------------------------------
    Fault(
        "end-time",
        "a checkpoint lacks the time at the end of the step",
        "platforms/host/StepRecord.cpp",
        "    field(saved.reading.endTime);\n",
        "",
    ),
    Fault(
        "chain-restored",
        "a step that fails leaves the thermostats where it came to",
        "platforms/reference/ReferenceRattleNoseHooverStep.cpp",
        "        chain = start;\n        throw;",
        "        throw;",
    ),
    Fault(
        "slow-forces",
        "slow forces act in every innermost step once they have acted",
        "platforms/common/steps/CommonMTSSteps.cpp",
        '    this->program->arguments.set("hasSlowForces", 0);\n',
        "",
    ),
    Fault(
        "last-block",
        "threads that do not fill a block are not launched",
        "platforms/cuda/CudaDevice.cpp",
        "blocks = (threads + blockSize - 1) / blockSize;",
        "blocks = threads / blockSize;",
    ),
    # ---- kernels -----------------------------------------------------------------------------------------------------
    Fault(
        "feedback",
        "a factor of two is left out in the feedback on velocities",
        "platforms/common/small/smallStages.cc",
        "feedback = 2 * a->alpha * rate",
        "feedback = a->alpha * rate",
    ),
    Fault(
        "barrier",
        "a barrier is left out between the rounds of a search among threads",
        "platforms/common/rows/threadGroups.cc",
        "        others = threads;\n        SYNC_THREADS\n",
        "        others = threads;\n",
    ),
    Fault(
        "work-of-subdomains",
        "the work of distances that move has the wrong sign in subdomains",
        "platforms/common/subdomains/subdomainDistances.cc",
        "+ sub.i[AT_FIRST_ROW] + k] = -rate;",
        "+ sub.i[AT_FIRST_ROW] + k] = rate;",
    ),
    Fault(
        "rounding-of-bodies",
        "what rounding moved a particle of a body is not corrected",
        "platforms/common/bodies/bodies.cc",
        "    p->d = p->d + wayToPlace(a, body, i, s);\n",
        "",
    ),
    Fault(
        "sum-of-turns",
        "multipliers of bordered rows are those of the last turn",
        "platforms/common/border/border.cc",
        "a->borderSum[b] = (LATER_TURN ? a->borderSum[b] : 0) + change;",
        "a->borderSum[b] = change;",
    ),
    Fault(
        "chain-copied",
        "only half of the thermostats' numbers goes on to the next step",
        "platforms/common/steps/heatBath.cc",
        "for (int n = 0; n < 2 * length; n++)",
        "for (int n = 0; n < length; n++)",
    ),
    Fault(
        "joined-turn",
        "a joined body that turns too far stays where it is",
        "platforms/common/joined/joinedBodies.cc",
        "v = make_mixed3(nan, nan, nan);",
        "v = make_mixed3(0, 0, 0);",
    ),
)
