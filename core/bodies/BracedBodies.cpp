// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BracedBodies.h"
#include "ConstraintGraph.h"
#include "GenericRank.h"
#include "Peeling.h"
#include "SelfStress.h"
#include <set>

namespace ConstraintPlugin {

/** Constraints that are solved, and of distances of one pair, as bodies that share it have, the first alone. */
static std::vector<int> findSolved(const ConstraintSet& set) {
    std::vector<int> solved;
    std::set<std::pair<int, int>> pairs;
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (!set.isMovable(c) || c.isReplaced || c.isAbsorbed)
            continue;
        if (c.kind != CoordinateKind::Distance || pairs.insert(std::minmax(c.particles[0], c.particles[1])).second)
            solved.push_back(k);
    }
    return solved;
}

std::vector<char> findBraced(const ConstraintSet& set, const std::vector<std::vector<int>>& rowsOf) {
    constexpr int mostDraws = 4;
    std::vector<char> isBraced(rowsOf.size());
    std::vector<int> bodyOf(set.constraints.size(), -1);
    for (int body = 0; body < (int) rowsOf.size(); body++)
        for (int k : rowsOf[body])
            bodyOf[k] = body;
    const auto belongsToABody = [&](int k) { return bodyOf[k] >= 0; };
    if (std::none_of(rowsOf.begin(), rowsOf.end(), [](const auto& rows) { return !rows.empty(); }))
        return isBraced;
    const std::vector<Real3> positions = drawPositions(set, 0);
    const std::vector<int> rest =
        peel(set, findSolved(set), positions.data(), Box(), clearDistance * clearDistance).rest;
    std::vector<std::vector<int>> open;
    for (std::vector<int>& cluster : findClusters(set, rest))
        if (std::any_of(cluster.begin(), cluster.end(), belongsToABody))
            open.push_back(std::move(cluster));
    for (int draw = 1; draw <= mostDraws && !open.empty(); draw++) {
        const std::vector<Real3> places = drawPositions(set, draw); // of all particles: once for all clusters
        std::vector<std::vector<int>> undecided;
        for (std::vector<int>& cluster : open) {
            Jacobian all(set, cluster);
            all.setStart(places.data(), Box());
            std::vector<int> present; // an expression may have no gradient
            for (int row = 0; row < all.numRows(); row++)
                if (all.hasGradient(row))
                    present.push_back(cluster[row]);
            Jacobian J(set, present);
            J.setUnitMasses();
            J.setStart(places.data(), Box());
            SplitMix random(draw);
            const auto stressed = findStressedRows(UnitRows(J, 0, J.numRows()), random);
            if (!stressed) {
                undecided.push_back(std::move(cluster));
                continue;
            }
            for (int row : *stressed)
                if (belongsToABody(present[row]))
                    isBraced[bodyOf[present[row]]] = 1;
        }
        open.swap(undecided);
    }
    return isBraced;
}

} // namespace ConstraintPlugin
