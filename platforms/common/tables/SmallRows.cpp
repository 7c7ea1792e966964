// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The small clusters in ConstraintTables, and the particles without constraints.
#include "ConstraintTables.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** A cluster with its particles and rows in an order that equal molecules have in common. */
struct Canonical {
    SmallShape shape;
    std::vector<int> particles, constraints;
};

int placeIn(const std::vector<int>& list, int value) {
    return int(std::find(list.begin(), list.end(), value) - list.begin());
}

/** Particles of rows, each once: first one that all rows share, if there is one, then in the order of appearance. */
std::vector<int> particlesOf(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::vector<int> particles;
    for (int k : constraints)
        for (int p : set.constraints[k].particles)
            if (placeIn(particles, p) == (int) particles.size())
                particles.push_back(p);
    const auto isShared = [&](int p) {
        return std::all_of(constraints.begin(), constraints.end(), [&](int k) {
            const std::vector<int>& of = set.constraints[k].particles;
            return std::find(of.begin(), of.end(), p) != of.end();
        });
    };
    const auto shared = std::find_if(particles.begin(), particles.end(), isShared);
    if (shared != particles.end())
        std::rotate(particles.begin(), shared, shared + 1);
    return particles;
}

Canonical canonical(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) {
    std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    std::sort(constraints.begin(), constraints.end());
    Canonical result;
    result.particles = particlesOf(set, constraints);
    const auto places = [&](int k) {
        const std::vector<int>& of = set.constraints[k].particles;
        const int i = placeIn(result.particles, of[0]), j = placeIn(result.particles, of[1]);
        return std::pair(std::min(i, j), std::max(i, j));
    };
    std::stable_sort(constraints.begin(), constraints.end(), [&](int k, int l) { return places(k) < places(l); });
    result.shape.size = (int) constraints.size();
    result.shape.particles = (int) result.particles.size();
    for (int k = 0; k < result.shape.size; k++) {
        const auto [i, j] = places(constraints[k]);
        result.shape.firsts |= (unsigned) i << (4 * k);
        result.shape.seconds |= (unsigned) j << (4 * k);
        result.shape.periodic |= set.constraints[constraints[k]].periodic ? 1u << k : 0;
    }
    result.constraints = std::move(constraints);
    return result;
}

} // namespace

bool ConstraintTables::isSmall(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) {
    if (cluster.size() > maxSmallCluster)
        return false;
    std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    for (int k : constraints)
        if (set.constraints[k].kind != CoordinateKind::Distance || !set.constraints[k].isFixed() ||
            set.isJoined(set.constraints[k]))
            return false;
    return (int) particlesOf(set, constraints).size() <= cluster.size() + 1;
}

SmallShape ConstraintTables::shapeOf(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) {
    return canonical(set, graph, cluster).shape;
}

void ConstraintTables::addSmall(const ConstraintSet& set, const ConstraintGraph& graph, std::vector<char>& isTaken) {
    std::map<SmallShape, std::vector<Canonical>> byShape[2]; // at the border, too
    for (const Cluster& cluster : graph.clusters)
        if (smallInRegisters && isSmall(set, graph, cluster)) {
            Canonical one = canonical(set, graph, cluster);
            const SmallShape shape = one.shape;
            lengthsOfLane = std::max(lengthsOfLane, shape.lengthsOfLane());
            for (int p : one.particles)
                isTaken[p] = isTaken[p] || set.inverseMass[p] > 0;
            byShape[cluster.isAtBorder][shape].push_back(std::move(one));
        }
    const auto addBlocks = [&](int count) {
        smallLanes.resize(smallLanes.size() + (std::size_t)(smallBlock * count), {0, -1}); // nothing to do
        smallLengths.resize(smallLengths.size() + (std::size_t)(smallBlock * count * lengthsOfLane));
    };
    for (bool atBorder : {false, true}) {
        SmallBlocks& blocks = atBorder ? smallAtBorder : small;
        blocks.first = numSmallBlocks();
        for (const auto& [shape, clusters] : byShape[atBorder]) {
            const int number = (int) smallShapes.size(), ofBlock = shape.ofBlock(), first = numSmallBlocks();
            blocks.shapes.push_back(number);
            smallShapes.push_back(shape);
            smallPlaces.push_back({first, numSmallClusters, numRows, 0});
            addBlocks(shape.blocks((int) clusters.size()));
            for (std::size_t n = 0; n < clusters.size(); n++) {
                const int block = first + (int) n / ofBlock, firstLane = (int) n % ofBlock * shape.particles;
                for (int i = 0; i < shape.particles; i++) {
                    const int p = clusters[n].particles[i];
                    const bool isOwn = set.inverseMass[p] > 0;
                    smallLanes[block * smallBlock + firstLane + i] = {isOwn ? p : ~p, 16 * (number + 1) + i};
                }
                for (int k = 0; k < shape.size; k++) {
                    const int lane = firstLane + k % shape.particles,
                              place = block * lengthsOfLane + k / shape.particles;
                    smallLengths[place * smallBlock + lane] = set.constraints[clusters[n].constraints[k]].target;
                    ownRows.push_back((int) constraintOf.size());
                    constraintOf.push_back(clusters[n].constraints[k]);
                }
            }
            numSmallClusters += (int) clusters.size();
            numRows += shape.size * (int) clusters.size();
        }
        // Particles without constraints and immovable ones, whether or not clusters have them.
        std::vector<int> alone;
        for (int p = 0; p < set.numParticles(); p++)
            if (!isTaken[p] && isAtBorder(p) == atBorder)
                alone.push_back(p);
        const int first = numSmallBlocks();
        addBlocks(((int) alone.size() + smallBlock - 1) / smallBlock);
        for (std::size_t n = 0; n < alone.size(); n++)
            smallLanes[first * smallBlock + n] = {alone[n], 0};
        blocks.last = numSmallBlocks();
    }
}

} // namespace ConstraintPlugin
