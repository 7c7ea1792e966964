// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PEELING_H_
#define CONSTRAINTS_CORE_PEELING_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Constraints that are independent of all others because of a single particle or joined body, and the rest: rings and
 * braced sets. */
struct Peeling {
    std::vector<int> independent; ///< constraint indices, in the order of removal
    std::vector<int> rest;        ///< in the order given
    double smallestPivot = 1;     ///< lower bound of the squared distances of the independent ones (see below)
};

/** Remove particles on which at most three constraints act, and joined bodies on which at most six do, with these
 *  constraints, one after another.
 *
 *  If the gradients of all remaining constraints of a particle or body, with respect to its motion, are linearly
 * independent, then these constraints are independent of all others. Time is linear in the number of constraints.
 * Rounding errors do not accumulate, because each is examined separately. Trees, single rings, chains with angles and
 * dihedrals, and chains of bodies on hinges are removed completely. (For distances, the rest is the 4-core of their
 * graph.)
 *
 *  @param constraints  with at least one movable particle
 *  @param positions    [numParticles] nm
 *  @param time         ps, of moving constraints
 *  @param threshold    lower bound for the squared distance of each of these gradients from the span of the others at
 * the particle or body, relative to the squared length of the constraint's whole gradient
 */
Peeling peel(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions, const Box& box,
             double threshold, double time = 0);

} // namespace ConstraintPlugin

#endif
