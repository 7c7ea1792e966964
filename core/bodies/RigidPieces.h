// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_PIECES_H_
#define CONSTRAINTS_CORE_RIGID_PIECES_H_

#include "PlacedNodes.h"

namespace ConstraintPlugin {

/** Rigid parts of a graph of lengths, by trilateration. A piece begins as a line, four nodes with all six lengths, or
 *  a flat ring (FlatRings), and grows by
 *
 *  - nodes with four lengths or more to it, or with three that are in one plane with them. A node with just three
 *    lengths in general is not taken in: its lengths are independent of each other, and leave two places for it;
 *  - pieces that share three nodes not on one line with it, lines that share two. Of two pieces in space that share a
 *    plane, lengths between them have to tell the sides on which they are.
 *
 *  A length that contradicts a node's others, which agree on its place, is left out.
 *
 *  Two pieces share at most two nodes, or nodes on one line. */
class RigidPieces {
public:
    /** @param graph      lengths, those between nodes of a line included. It has to outlive this
     *  @param tolerance  relative difference of lengths up to which a fitted shape meets them */
    RigidPieces(const LengthGraph& graph, const std::vector<PlacedNodes>& lines, double tolerance);

    /** Take in a piece that is rigid. */
    void take(const PlacedNodes& piece);
    /** Begin with all sets of four nodes with six lengths, and grow.
     *  @param effort  for what comes to nothing, 1: as a search among rounded lengths needs */
    void growFromTetrahedra(double effort);
    /** Add a piece, and grow all. @return false if it is in another already, or does not fit */
    bool add(const PlacedNodes& seed);
    /** Grow until nothing changes; then, of pieces that share a plane and yet are not one, only the largest stay. */
    void finish();

    const std::vector<PlacedNodes>& all() const {
        return pieces;
    }
    /** Whether some nodes are in one piece. */
    bool haveTogether(const std::vector<int>& nodes) const;
    /** The length between two nodes, given or in a piece; negative if it is not known. */
    double knownLength(int i, int j) const;
    /** [nodes] pieces that have each */
    const std::vector<std::vector<int>>& piecesOf() const {
        return ownersOf;
    }

private:
    bool grow(const PlacedNodes& seed, int own = -1);
    bool growExisting();
    WorstFit fit(PlacedNodes& body) const;
    std::vector<PointOnLine> pointsOnLines(const std::vector<int>& nodes) const;
    bool isLineAndOneMore(const std::vector<int>& nodes) const;
    void enlist(int piece);
    void retire(int piece);

    const LengthGraph& graph;
    const std::vector<PlacedNodes> lines;
    const double tolerance;
    std::vector<PlacedNodes> pieces; // those that others took in are empty
    std::vector<std::vector<int>> ownersOf, linesOf;
    std::vector<int> placeOf; // [nodes] PieceSurroundings::placeOf
    long long effortLeft = 0; // for seeds that come to nothing: a clique with a wrong length has many
};

} // namespace ConstraintPlugin

#endif
