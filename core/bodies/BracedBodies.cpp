// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BracedBodies.h"
#include "ConstraintGraph.h"
#include "GenericRank.h"
#include "OrthonormalBasis.h"
#include "Peeling.h"
#include "SelfStress.h"
#include <set>

namespace ConstraintPlugin {

namespace {

/** Constraints that are solved, and of distances of one pair, as bodies that share it have, the first alone. */
std::vector<int> findSolved(const ConstraintSet& set) {
    std::vector<int> solved;
    std::set<std::pair<int, int>> pairs;
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (!set.isMovable(c) || c.isAbsorbed)
            continue;
        if (c.kind != CoordinateKind::Distance || pairs.insert(std::minmax(c.particles[0], c.particles[1])).second)
            solved.push_back(k);
    }
    return solved;
}

/** As many distances of a body's particles as hold it at positions in general, those of hinges first.
 *  @param isShared  [particles] whether several bodies have it */
std::vector<std::pair<int, int>> holdingPairs(const RigidSet& body, const std::vector<char>& isShared,
                                              const std::vector<Real3>& positions) {
    const int n = (int) body.particles.size();
    const auto isHinge = [&](int i, int j) { return isShared[body.particles[i]] && isShared[body.particles[j]]; };
    std::vector<std::pair<int, int>> candidates, chosen;
    for (bool hinges : {true, false})
        for (int j = 1; j < n; j++)
            for (int i = 0; i < j; i++)
                if (isHinge(i, j) == hinges && (hinges || i < 6))
                    candidates.emplace_back(i, j);
    OrthonormalBasis basis(3 * n);
    for (const auto& [i, j] : candidates) {
        if ((int) chosen.size() == std::max(1, 3 * n - 6))
            break;
        std::vector<double> row(3 * n);
        const Real3 d = positions[body.particles[i]] - positions[body.particles[j]];
        const double e[3] = {d.x, d.y, d.z};
        for (int axis = 0; axis < 3; axis++) {
            row[3 * i + axis] = e[axis];
            row[3 * j + axis] = -e[axis];
        }
        if (const double threshold = 1e-8 * basis.inner(row.data(), row.data());
            basis.add(row.data(), threshold) > threshold)
            chosen.emplace_back(body.particles[i], body.particles[j]);
    }
    return chosen;
}

} // namespace

std::vector<char> findBraced(const ConstraintSet& given, const std::vector<RigidSet>& bodies,
                             const std::vector<char>& isAsked) {
    constexpr int mostDraws = 4;
    constexpr std::size_t largest = 300; // particles of a body that is held by distances here
    std::vector<char> isBraced(bodies.size());
    if (std::none_of(isAsked.begin(), isAsked.end(), [](char asked) { return asked; }))
        return isBraced;
    ConstraintSet set = given;
    const std::vector<Real3> positions = drawPositions(set, 0);
    std::vector<char> isShared(set.numParticles()), isIn(set.numParticles());
    for (const RigidSet& body : bodies)
        for (int p : body.particles) {
            isShared[p] = isIn[p];
            isIn[p] = 1;
        }
    std::vector<int> bodyOf(set.constraints.size(), -1);
    for (std::size_t b = 0; b < bodies.size(); b++) {
        if (bodies[b].particles.size() > largest)
            continue;
        for (int k : bodies[b].constraints)
            set.constraints[k].isAbsorbed = true;
        for (const auto& [p, q] : holdingPairs(bodies[b], isShared, positions)) {
            Constraint c;
            c.particles = {p, q};
            c.force = 0;
            set.constraints.push_back(std::move(c));
            bodyOf.push_back(isAsked[b] ? (int) b : -1);
        }
    }
    const auto belongsToABody = [&](int k) { return bodyOf[k] >= 0; };
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
