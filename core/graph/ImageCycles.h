// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_IMAGE_CYCLES_H_
#define CONSTRAINTS_CORE_IMAGE_CYCLES_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Constraints and rigid bodies that lead from a particle to its own periodic image: what they join spans the box. */
struct ImageCycle {
    int constraint = -1, body = -1; ///< which closes it; the other one is -1
    Real3 shift;                    ///< nm, from the particle to its image
    std::vector<int> particles;     ///< of all that is joined to it, ascending
};

/** Of each network the cycles with linearly independent shifts, at most three. Constraints count that join neighbours
 * by the minimum image: distances, angles and dihedrals.
 *  @param positions  [numParticles] nm */
std::vector<ImageCycle> findImageCycles(const ConstraintSet& set, const Real3* positions, const Box& box);

} // namespace ConstraintPlugin

#endif
