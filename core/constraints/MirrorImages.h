// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_MIRROR_IMAGES_H_
#define CONSTRAINTS_CORE_MIRROR_IMAGES_H_

#include "ConstraintSet.h"

namespace ConstraintPlugin {

/** Bodies that were recognized from lengths, which are those of a shape and of its mirror image, and that positions
 *  [numParticles] (nm) show to be the mirror image of their shape. */
std::vector<int> findMirrored(const ConstraintSet& set, const Real3* positions, const Box& box);

/** Make the shapes of some bodies their mirror images, and with them the axes of their joints. */
void mirror(ConstraintSet& set, const std::vector<int>& bodies);

} // namespace ConstraintPlugin

#endif
