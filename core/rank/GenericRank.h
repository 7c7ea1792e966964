// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_GENERIC_RANK_H_
#define CONSTRAINTS_CORE_GENERIC_RANK_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Which constraints are independent at positions in general, where rigid bodies have their shape. */
struct GenericRank {
    std::vector<int> independent; ///< constraint indices, ascending: a full-rank subset
    std::vector<int> dependent;   ///< the rest, ascending, without the undecided
    /** Coupled constraints some of which depend on the others: which ones to solve is a choice. [groups][...] */
    std::vector<std::vector<int>> redundant;
    std::vector<int> undecided; ///< ascending: those whose rank no gap told
};

/** Positions in general, the same on every machine, each draw others. Rigid bodies have their shape. */
std::vector<Real3> drawPositions(const ConstraintSet& set, int draw);

/** Find the rank at positions in general: no set of constraints that is independent anywhere is dependent there. It
 *  tells duplicates and redundant bracing from sets that are singular only in their own geometry.
 *
 *  What peel() leaves is judged cluster by cluster at positions drawn at random. A draw counts if a gap of 10^6 stands
 *  between the rows that it takes for independent and the others, measured by their distances from the span of those
 *  taken before. Since an accident can only lower the rank, the largest one that two draws agree on is it.
 *
 *  @param candidates  constraints with at least one movable particle
 */
GenericRank analyzeGenericRank(const ConstraintSet& set, const std::vector<int>& candidates);

} // namespace ConstraintPlugin

#endif
