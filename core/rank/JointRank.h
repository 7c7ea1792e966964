// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JOINT_RANK_H_
#define CONSTRAINTS_CORE_JOINT_RANK_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** The independent ones of coupled constraints of joined bodies. */
struct JointRows {
    std::vector<std::vector<int>> independent; ///< [groups], ascending
    /** [groups] Whether the others hold within ConstraintSet::fitBound only: rings of recognized bodies, whose shapes
     *  are fitted to rounded lengths, close no better. */
    std::vector<char> areLoose;
};

/** Choose the independent ones of coupled constraints of joined bodies at given positions.
 *
 *  Bodies are joined by more constraints than are independent: four hinges in a ring are 20, of rank 17 if their axes
 * are parallel, else 18. Random positions, at which the rank of distances is taken, cannot satisfy these. So positions
 * are first moved onto the constraints, as a step does it, and the rank is taken there. Where that does not succeed,
 * the choice is a guess.
 *
 *  @param groups     constraints that are coupled: [groups][...]
 *  @param positions  [numParticles] nm, where bodies have their shapes
 *  @param time       ps, of moving constraints */
JointRows chooseJointRows(const ConstraintSet& set, const std::vector<std::vector<int>>& groups, const Real3* positions,
                          const Box& box, double time);

/** Which constraints of coupled joined bodies are independent, and whether they are so at all positions nearby. */
struct JointRank {
    JointRows rows; ///< as chooseJointRows()
    /** Groups that are singular where they are: after a small move along the constraints more of them are independent,
     *  or they do not hold. */
    std::vector<int> singular;
};

/** The same, and the rank again after a small random move along the constraints. If both agree, it is that of all
 *  positions nearby. */
JointRank findJointRank(const ConstraintSet& set, const std::vector<std::vector<int>>& groups, const Real3* positions,
                        const Box& box, double time);

} // namespace ConstraintPlugin

#endif
