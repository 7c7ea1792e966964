// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WINDINGS_H_
#define CONSTRAINTS_CORE_WINDINGS_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** How rings of bonds wind around the periodic box at some positions. */
struct Windings {
    std::vector<int> particles;   ///< of the bonds, ascending
    std::vector<Real3> unwrapped; ///< [particles] nm, at the images where the bonds of a spanning tree join them
    /** Of each other bond, by how many box vectors its ring fails to close. */
    std::vector<std::array<int, 3>> numbers;

    /** Whether any ring winds: bonds join particles to their own images. */
    bool areAny() const;
};

/** @param constraints  of particles
 *  @param positions    [numParticles] nm, finite */
Windings findWindings(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions,
                      const Box& box);

} // namespace ConstraintPlugin

#endif
