// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PIECE_SEARCH_H_
#define CONSTRAINTS_CORE_PIECE_SEARCH_H_

#include "RigidPieces.h"

namespace ConstraintPlugin {

/** A rigid part of a graph of lengths. */
struct FoundPiece {
    PlacedNodes piece;
    std::vector<PlacedNodes> exact; ///< of one that is rounded: parts that are not
};

/** Find rigid parts, first those that are so if all lengths are exact, then what grows from these, or begins beside
 *  them, if lengths are rounded. A tetrahedron that is a little higher than a plane is just that in the first search;
 *  in the second it is flat.
 *  @param tolerance  relative difference of rounded lengths
 *  @param bend       the same for what is found flat, and is not linear, at least the tolerance */
std::vector<FoundPiece> findPieces(const LengthGraph& graph, double tolerance, double bend);

} // namespace ConstraintPlugin

#endif
