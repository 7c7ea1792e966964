// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_JOINT_ERRORS_H_
#define OPENMM_CONSTRAINTS_JOINT_ERRORS_H_

#include "ConstraintSet.h"
#include "openmmconstraints/ConstraintProblem.h"
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** "the joint of rigid body 0 and rigid body 1 of the ConstraintForce with index 2 at particle 7 (ALA1:N)": of a
 *  constraint that is one. */
std::string describeJoint(const ConstraintSet& set, const Constraint& c);

/** "rigid bodies 0, 1 and 3 of the ConstraintForce with index 2": the bodies that some constraints move; long lists are
 *  cut. Empty if there is none. */
std::string describeJoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints);

/** Whether any of some constraints joins rigid bodies to each other, or to something else. */
bool haveJoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints);

/** The problem of constraints of joined bodies of which more are independent nearby than at given positions: no number
 *  of degrees of freedom is right there. */
ConstraintProblem singularJoints(const ConstraintSet& set, const std::vector<int>& constraints);

} // namespace ConstraintPlugin

#endif
