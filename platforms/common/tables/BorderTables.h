// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_BORDER_TABLES_H_
#define OPENMM_CONSTRAINTS_BORDER_TABLES_H_

#include "ConstraintGraph.h"
#include <array>
#include <functional>
#include <vector>

namespace ConstraintPlugin {

/** Threads of the largest block that has a bordered row. A thread of a larger one would have too few registers. */
constexpr int maxBorderBlock = 256;

/** The border of a graph (Border.h) as flat arrays: the nodes that bordered rows reach, and which row reaches each in
 *  each field of responses. Nodes are those of ConstraintTables. Bordered rows are numbered as in Border. They are the
 *  last general cluster of ConstraintTables, which no range has. */
class BorderTables {
public:
    int borderCluster = -1; ///< among the general clusters; -1: there is no border
    int numBordered = 0, numFields = 0;
    int numPlaces = 0;               ///< of nodes that any row reaches, ascending: particles first
    std::vector<int> borderParticle; ///< [places that are particles]
    std::vector<int> borderPlace;    ///< [numNodes] place of a node, -1: no row reaches it
    std::vector<int> fieldRow;       ///< [fields][places] the row whose response is there, -1: of none
    std::vector<int> fieldSlot;      ///< [fields][places] the slot of this row that is the node, or -1
    /** Places, fields, bordered rows, rows at the border; the first bordered row, and their cluster; particles. */
    std::vector<int> borderCounts;
    std::vector<int> fieldOfRow; ///< [bordered]
    /** Rows that a row is coupled to in S, itself first: [bordered + 1], and of each {row, entry of the factor}. */
    std::vector<int> coupledStart;
    std::vector<std::array<int, 2>> coupled;
    /** Rows of clusters at the border, each with the place of one of its nodes. */
    std::vector<std::array<int, 2>> rowsAtBorder;

    // Points (ConstraintTables::pointNodes) of joined bodies in bordered rows, by row and body, in pieces. A thread
    // sums up a piece, and then one the pieces of a body.
    static constexpr int pointsOfPiece = 64; ///< at most
    std::vector<int> borderPoints;
    std::vector<std::array<int, 2>> borderPieces; ///< first and last in borderPoints
    std::vector<std::array<int, 4>> borderBodies; ///< slots of the origin and of the turn, first and last piece
    std::vector<std::array<int, 4>> rowPieces;    ///< [bordered] first and last piece, first and last of borderBodies

    bool hasBorder() const {
        return numBordered > 0;
    }
    /** Whether any row reaches a movable node. */
    bool isAtBorder(int node) const {
        return hasBorder() && borderPlace[node] >= 0;
    }

protected:
    /** The nodes that rows reach. @param nodeOf  a node's number here, of that in the set */
    void addReach(const Border& border, int numParticles, int numNodes, const std::function<int(int)>& nodeOf);
    /** The rest. @param slotOf  (row, node) -> slot, -1: the row does not have it */
    void addFields(const Border& border, const std::function<int(int)>& nodeOf,
                   const std::function<int(int row, int node)>& slotOf);
};

} // namespace ConstraintPlugin

#endif
