// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONDITIONING_H_
#define CONSTRAINTS_CORE_CONDITIONING_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Coupled constraints whose gradients nearly depend on each other. */
struct IllConditioned {
    double condition = 1;         ///< of J M^-1 J^T scaled to a unit diagonal; rounding is multiplied by it
    std::vector<int> constraints; ///< that take part in the combination of gradients which nearly vanishes
};

/** Find rings and bracing whose matrix J M^-1 J^T, scaled to a unit diagonal, has a condition number over a bound: the
 *  ratio of its extreme eigenvalues, by power iteration with a sparse factor, accurate where it is large. Trees, chains
 *  and clear rings (peel()) and clusters whose factor would be too large are left out.
 *
 *  @param independent  constraints to look at, none of which depends on the others in general
 *  @param positions    [numParticles] nm, finite
 *  @param time         ps, of moving constraints
 */
std::vector<IllConditioned> findIllConditioned(const ConstraintSet& set, const std::vector<int>& independent,
                                               const Real3* positions, const Box& box, double bound, double time = 0);

} // namespace ConstraintPlugin

#endif
