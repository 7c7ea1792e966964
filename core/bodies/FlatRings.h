// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_FLAT_RINGS_H_
#define CONSTRAINTS_CORE_FLAT_RINGS_H_

#include "RigidPieces.h"

namespace ConstraintPlugin {

/** Find rings that cannot leave a plane. A closed polygon turns by 360 degrees in all, or more, and by just that only
 *  where it is flat and convex (Fenchel, Math. Ann. 101, 238 (1929), doi 10.1007/BF01454836). So a ring of pieces on
 *  hinges, in which each has two neighbouring sides and the angle between them, is flat if its angles sum up to
 *  (n - 2) 180 degrees: benzene by its bonds and angles.
 *
 *  Sides are pairs of nodes that two pieces share; triangles of lengths count as pieces.
 *  @return rings in the plane z = 0 that meet all lengths among their nodes, and are in no piece yet */
std::vector<PlacedNodes> findFlatRings(const LengthGraph& graph, const RigidPieces& pieces, double tolerance);

} // namespace ConstraintPlugin

#endif
