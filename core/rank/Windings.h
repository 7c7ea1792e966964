// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WINDINGS_H_
#define CONSTRAINTS_CORE_WINDINGS_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** What joins two particles: a leg of a constraint, or a rigid body. */
struct Bond {
    int i, j;
    Real3 vector;                   ///< nm, r_i - r_j of the images that it joins
    int constraint = -1, body = -1; ///< one of them is -1
};

/** The bond vectors that Jacobian::setStart() takes. @param positions  [numParticles] nm, finite */
std::vector<Bond> bondsOf(const ConstraintSet& set, const std::vector<int>& constraints, const Real3* positions,
                          const Box& box);
/** From the reference particle of each rigid body to its others. */
std::vector<Bond> bondsOfBodies(const ConstraintSet& set, const Real3* positions, const Box& box);

/** How rings of bonds wind around the periodic box at some positions. */
struct Windings {
    std::vector<int> particles;   ///< of the bonds, ascending
    std::vector<Real3> unwrapped; ///< [particles] nm, at the images where the bonds of a spanning tree join them
    std::vector<int> network;     ///< [particles] the same number for all that bonds join to each other
    std::vector<Bond> closing;    ///< bonds that are not of the tree
    /** [closing] by how many box vectors the ring of each fails to close. */
    std::vector<std::array<int, 3>> numbers;

    /** Whether any ring winds: bonds join particles to their own images. */
    bool areAny() const;
};

/** @param positions  [numParticles] nm, with which the bonds were made */
Windings findWindings(const std::vector<Bond>& bonds, const Real3* positions, const Box& box);

} // namespace ConstraintPlugin

#endif
