// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_GENERIC_RANK_H_
#define CONSTRAINTS_CORE_GENERIC_RANK_H_

#include "ConstraintSet.h"
#include "Windings.h"
#include <optional>
#include <vector>

namespace ConstraintPlugin {

/** Which constraints are independent at generic positions, at which rigid bodies have their shape. */
struct GenericRank {
    std::vector<int> independent; ///< constraint indices, ascending: a full-rank subset
    std::vector<int> dependent;   ///< the rest, ascending, without the undecided
    /** Coupled constraints some of which depend on the others, so that there is a choice which to solve. [groups][...]
     */
    std::vector<std::vector<int>> redundant;
    std::vector<int> undecided; ///< ascending: constraints of clusters whose rank could not be determined
};

/** Random positions, at which rigid bodies have their shape. Each draw gives other positions, the same on every
 * machine. */
std::vector<Real3> drawPositions(const ConstraintSet& set, int draw);

/** Find the rank at generic positions, which is the largest rank that the constraints have at any positions. It
 *  distinguishes redundant constraints from sets that are singular only in their own geometry.
 *
 *  The constraints that peel() does not remove are examined cluster by cluster at random positions. A draw counts if
 * there is a gap of 10^6 between independent and other rows, measured by their distances from the span of the rows
 * chosen before. The result is the largest rank on which two draws agree, because special positions can only lower the
 * rank.
 *
 *  @param candidates  constraints with at least one movable particle
 */
GenericRank analyzeGenericRank(const ConstraintSet& set, const std::vector<int>& candidates);

/** The same for coupled constraints whose bonds join particles to their own periodic images: at generic displacements
 *  from some positions, while each bond keeps its image. Up to three more of them are independent than without the box,
 *  because the network cannot turn, and many more where the box holds the network together.
 *
 *  @param group      coupled constraints
 *  @param positions  [numParticles] nm
 *  @param windings   of the group there
 *  @return a full-rank subset, ascending; nothing if the rank could not be determined */
std::optional<std::vector<int>> chooseGenerically(const ConstraintSet& set, const std::vector<int>& group,
                                                  const Real3* positions, const Box& box, const Windings& windings);

} // namespace ConstraintPlugin

#endif
