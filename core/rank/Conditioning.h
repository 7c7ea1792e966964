// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONDITIONING_H_
#define CONSTRAINTS_CORE_CONDITIONING_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Coupled constraints whose gradients are nearly linearly dependent. */
struct IllConditioned {
    double condition = 1;         ///< of J M^-1 J^T scaled to a unit diagonal; rounding is multiplied by it
    std::vector<int> constraints; ///< in the linear combination of gradients that is nearly zero
};

/** Find rings and braced sets for which the condition number of J M^-1 J^T, scaled to a unit diagonal, exceeds a bound.
 * The condition number is the ratio of the extreme eigenvalues, by power iteration with a sparse factor; it is accurate
 * if it is large. Trees, chains and well conditioned rings, which peel() removes, and clusters whose factor would be
 * too large are not examined.
 *
 *  @param independent  constraints to examine, independent at generic positions
 *  @param positions    [numParticles] nm, finite
 *  @param time         ps, of moving constraints
 */
std::vector<IllConditioned> findIllConditioned(const ConstraintSet& set, const std::vector<int>& independent,
                                               const Real3* positions, const Box& box, double bound, double time = 0);

} // namespace ConstraintPlugin

#endif
