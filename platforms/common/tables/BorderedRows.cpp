// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The bordered rows in ConstraintTables, and how their threads share sums over the points of joined bodies.
#include "ConstraintTables.h"
#include <algorithm>

namespace ConstraintPlugin {

int ConstraintTables::borderPlaceOf(const ConstraintSet& set, int constraint) const {
    for (int node : set.nodesOf(set.constraints[constraint]))
        if (isAtBorder(nodeOf(node)))
            return borderPlace[nodeOf(node)];
    return -1;
}

/** The bordered rows as a cluster, which has the factor of S, but no particles and no couplings of its own. */
void ConstraintTables::addBorder(const ConstraintSet& set, const ConstraintGraph& graph) {
    for (int row : ownRows)
        if (const int place = borderPlaceOf(set, constraintOf[row]); place >= 0)
            rowsAtBorder.push_back({row, place});
    const int first = numRows;
    for (int row = graph.borderBegin(); row < graph.numRows(); row++) {
        rowOwner.push_back((int) rowOwner.size());
        rowWhole.push_back((int) rowWhole.size());
        addRow(set, graph.rows[row], true);
    }
    numRows = (int) rowOwner.size();
    solvedEnd.push_back(numRows);
    particleStart.push_back((int) clusterParticle.size());
    rowIsLeaf.resize(numRows);
    addFactor(graph.border.factor, {}, first);
    subdomainsOfCluster.push_back({numGeneralClusters, numGeneralClusters + 1, numGeneralClusters, 0});
    clusterBodyStart.push_back((int) clusterBody.size());
    borderCluster = numGeneralClusters;
    endCluster(1);
    borderCounts = {numPlaces,
                    numFields,
                    numBordered,
                    (int) rowsAtBorder.size(),
                    first,
                    borderCluster,
                    (int) borderParticle.size()};
    std::vector<int> slotOf(numNodes(), -1); // of the last row that was asked for
    int ofRow = -1;
    const auto slotIn = [&](int b, int node) {
        if (ofRow != b) {
            std::fill(slotOf.begin(), slotOf.end(), -1);
            for (int s = slotStart[first + b]; s < slotStart[first + b + 1]; s++)
                slotOf[slotParticle[s]] = s;
            ofRow = b;
        }
        return slotOf[node];
    };
    addFields(
        graph.border, [this](int node) { return nodeOf(node); }, slotIn);
    addPieces(first);
}

/** Cut the points that bordered rows have in joined bodies into pieces. */
void ConstraintTables::addPieces(int firstRow) {
    for (int b = 0; b < numBordered; b++) {
        const int row = firstRow + b, firstPiece = (int) borderPieces.size(), firstBody = (int) borderBodies.size();
        std::vector<int> ofRow;
        if (!rowPoints.empty() && isJoinedRow[row])
            for (int n = rowPoints[row][0]; n < rowPoints[row][1]; n++)
                if (pointNodes[n][2] >= 0)
                    ofRow.push_back(n);
        std::stable_sort(ofRow.begin(), ofRow.end(), [&](int m, int n) { return pointNodes[m][2] < pointNodes[n][2]; });
        for (std::size_t i = 0; i < ofRow.size(); i++) {
            const Int4& nodes = pointNodes[ofRow[i]];
            const bool isNew = i == 0 || nodes[2] != pointNodes[ofRow[i - 1]][2];
            const int n = (int) borderPoints.size(), piece = (int) borderPieces.size();
            if (isNew)
                borderBodies.push_back({nodes[0], nodes[1], piece, piece});
            if (isNew || n - borderPieces.back()[0] == pointsOfPiece) {
                borderPieces.push_back({n, n});
                borderBodies.back()[3]++;
            }
            borderPoints.push_back(ofRow[i]);
            borderPieces.back()[1]++;
        }
        rowPieces.push_back({firstPiece, (int) borderPieces.size(), firstBody, (int) borderBodies.size()});
    }
}

} // namespace ConstraintPlugin
