// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STRAIGHT_ANGLE_H_
#define OPENMM_CONSTRAINTS_STRAIGHT_ANGLE_H_

#include "ConstraintSet.h"
#include "openmmconstraints/ConstraintProblem.h"
#include <array>
#include <optional>

namespace ConstraintPlugin {

/** Three neighbours in an angular constraint that come to lie on a line, where it has no gradient. */
struct StraightAngle {
    int constraint;
    std::array<int, 3> particles;
    double before, after; ///< rad, at the start of a step and where free particles would have it
};

/** The first in constraints that have one of some particles.
 *  @param x  [numParticles] nm, at the start of a step; v  nm/ps, 0 of immovable particles
 *  @param duration  ps, of the step */
std::optional<StraightAngle> findStraightAngle(const ConstraintSet& set, const std::vector<int>& particles,
                                               const Real3* x, const Real3* v, const Box& box, double duration);

/** The problem of a failed step. Its value is the angle at the start (rad). @param activity  "step 1041" */
ConstraintProblem becameStraight(const ConstraintSet& set, const StraightAngle& straight, const std::string& activity);

} // namespace ConstraintPlugin

#endif
