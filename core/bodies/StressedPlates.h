// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_STRESSED_PLATES_H_
#define CONSTRAINTS_CORE_STRESSED_PLATES_H_

#include "PlateFinder.h"
#include <vector>

namespace ConstraintPlugin {

/** Find plates that do not hang together by trilateration: rings of triangles or of smaller plates, such as the six
 *  carbon atoms of benzene with their bonds and the distances over one atom.
 *
 *  1. Sets of nodes that have more lengths than a plane needs (PebbleGame).
 *  2. A flat embedding of each: a node with two lengths to those placed has two places; further lengths choose.
 *  3. Proof that it is rigid, out of the plane as well (findBracedPoints).
 *
 *  The effort is bounded: no set of more than 60 nodes is tried, though its parts are, and none that leaves hundreds of
 *  embeddings open.
 *
 *  @param effort  how much is left, in units of some nanoseconds; when it is spent, the search ends
 *  @return sets proven rigid, each with its shape; the smallest only, so call again when they have grown */
std::vector<PlacedNodes> findStressedPlates(const PlateFinder& finder, double& effort);

} // namespace ConstraintPlugin

#endif
