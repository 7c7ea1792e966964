// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PIECE_GROWTH_H_
#define CONSTRAINTS_CORE_PIECE_GROWTH_H_

#include "PlacedNodes.h"
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace ConstraintPlugin {

/** What a piece grows in. */
struct PieceSurroundings {
    const LengthGraph& graph;
    const std::vector<PlacedNodes>& pieces;
    const std::vector<std::vector<int>>& piecesOf; ///< [nodes]
    double tolerance;                              ///< relative difference of lengths
    std::vector<int>& placeOf;                     ///< [nodes] work space, all -1
};

/** A seed with all nodes and pieces that can be placed from it, one after another; see RigidPieces. Shapes are not
 *  fitted here: a node is where the lengths to those before it put it. */
class PieceGrowth {
public:
    /** @param own       the piece that the seed is, or -1
     *  @param excluded  nodes that are not to be taken in */
    PieceGrowth(const PieceSurroundings& around, const PlacedNodes& seed, int own, const std::vector<int>& excluded);

    /** The grown piece, its nodes ascending. */
    PlacedNodes sorted() const;
    /** Numbers of the pieces that it took in. */
    const std::vector<int>& takenPieces() const {
        return taken;
    }

private:
    void announce(int first, bool areAnchors);
    void insert(int node, const Real3& point);
    bool takePiece(int p);
    bool takeNode(int node, bool isLast);
    bool attach(const PlacedNodes& piece, const std::vector<int>& shared);
    bool isDecided(const PlacedNodes& piece, const std::vector<Real3>& places) const;
    bool isExcluded(int node) const;

    const PieceSurroundings around;
    const int own;
    const std::vector<int>& excluded;
    PlacedNodes grown; // in the order of growth
    std::vector<int> taken;
    std::unordered_map<int, int> count;                // lengths of nodes beside it
    std::unordered_map<int, int> tried;                // how many it had when it was tried
    std::unordered_map<int, std::vector<int>> sharing; // nodes that other pieces share
    std::vector<int> pieceQueue;
    std::queue<int> nodeQueue; // those that came first are close to many: errors then stay small
    std::queue<int> lastQueue; // nodes that three lengths hold in their plane: others may tell more later
    std::unordered_set<int> last;
};

} // namespace ConstraintPlugin

#endif
