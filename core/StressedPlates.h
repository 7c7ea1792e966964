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
 *  2. A flat embedding of each: a node with two lengths to those placed has two places, of which further lengths
 * choose.
 *  3. Proof that it is rigid, out of the plane as well (findBracedPoints).
 *
 *  The effort is bounded: sets of more than 60 nodes are tried in parts, and rings that leave hundreds of embeddings
 * open are not tried.
 *
 *  @return sets proven rigid, each with its shape; the smallest only: call again when they have grown. Empty if there
 * is none left */
std::vector<PlacedNodes> findStressedPlates(const PlateFinder& finder, double& effort);

} // namespace ConstraintPlugin

#endif
