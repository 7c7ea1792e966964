// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PEELING_H_
#define CONSTRAINTS_CORE_PEELING_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Constraints that single particles show to be independent of all others, and the rest: rings and bracing. */
struct Peeling {
    std::vector<int> independent; ///< constraint indices, in the order in which they were taken away
    std::vector<int> rest;        ///< in the order given
    double smallestPivot = 1;     ///< no independent one has a smaller squared distance (see below)
};

/** Take away particles that at most three constraints act on, with these constraints, one particle after another.
 *
 *  If the gradients with respect to one particle, of all the constraints that are left there, are independent of each
 *  other, then no combination of these constraints vanishes, whatever the others do. Time is linear in the number of
 *  constraints; rounding does not add up, since each particle is judged by itself. Trees, single rings, and chains with
 *  angles and dihedrals vanish wholly. (The rest of a graph of distances is its 4-core.)
 *
 *  @param constraints  with at least one movable particle
 *  @param positions    [numParticles] nm
 *  @param time         ps, of moving constraints
 *  @param threshold    what the squared distance of each of these gradients from the span of the others at the particle
 *                      has to exceed, relative to the squared length of the constraint's whole gradient
 */
Peeling peel(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions, const Box& box,
             double threshold, double time = 0);

} // namespace ConstraintPlugin

#endif
