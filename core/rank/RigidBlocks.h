// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_BLOCKS_H_
#define CONSTRAINTS_CORE_RIGID_BLOCKS_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Split constraints into sets of which no constraint depends on those of another set: the rings of a chain of joined
 *  bodies, one by one.
 *
 *  The sets are the blocks (biconnected components) of the graph of particles, joined bodies and the constraints
 *  between them. Where two blocks have only one particle or body in common, forces of a block balance each other at
 *  all its other particles and bodies if its constraints depend on each other. A rigid motion changes no distance,
 *  angle or joint, so these forces have neither resultant nor torque: they balance there, too, and the other block has
 *  no part in the dependence. Constraints that a rigid motion may change (those to immovable particles, expressions,
 *  across the faces of the box, of bodies that have an anchor or are across the faces) are in one block.
 *
 *  @param positions  [numParticles] nm
 *  @return sets of constraint indices, each ascending */
std::vector<std::vector<int>> findRigidBlocks(const ConstraintSet& set, const std::vector<int>& constraints,
                                              const Real3* positions, const Box& box);

} // namespace ConstraintPlugin

#endif
