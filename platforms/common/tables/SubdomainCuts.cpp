// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// How large clusters in ConstraintTables are cut into parts.
#include "ConstraintTables.h"
#include "TestHooks.h"
#include <algorithm>
#include <iterator>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** The first one is taken whose parts fit into shared memory; if there is none, the first. In a network the halo grows
 * as the square of the hops: with six, a part of 128 rows of graphene solves 430. With narrower halos there are more
 *  corrections, and each gains less (docs/results.md, "Meshes"), but they take a tenth of the time. */
constexpr ConstraintTables::Cut cuts[] = {{PartLimits().ownRows, PartLimits().hops, 8, 1, 50},
                                          {64, 6, 8, 1, 50},
                                          {32, 6, 24, 2, 85},
                                          {24, 4, 24, 2, 85},
                                          {16, 4, 24, 2, 85},
                                          {12, 4, 24, 2, 85}};

/** Bytes that a part can have in double precision on most GPUs (compute capability 8.6 and 8.9: 99 KB, with reports of
 *  all threads). A cut depends on the graph only, so it is the same everywhere. */
constexpr long long sharedMemory = 90 << 10;

/** What the parts of a cluster have. */
class PartCounter {
public:
    PartCounter(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster)
        : set(set), graph(graph), cluster(cluster) {
    }
    void add(const Part& part) {
        std::vector<int> constraints;
        for (const std::vector<int>* rows : {&part.solved, &part.ring})
            for (int r : *rows)
                constraints.push_back(graph.rows[cluster.begin + r]);
        add({set, constraints, part.factor});
    }
    /** Count the cluster as one part. */
    void addWhole() {
        add({set,
             {graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end},
             graph.factors[cluster.factor]});
    }
    /** Whether they can be in shared memory, if it is large enough. */
    bool canBeLocal() const {
        return areLocal;
    }
    bool fitEverywhere() const {
        return areLocal && PartLayout(largest).bytes(sizeof(double), sizeof(double)) <= sharedMemory;
    }
    std::vector<PartCounts> counts() const {
        return areLocal ? all : std::vector<PartCounts>();
    }

private:
    void add(const PartCounts& next) {
        // Of distances alone, no two may share both particles.
        areLocal = areLocal && (next.slots > 0 || next.moreCouplings == 0);
        largest.include(next);
        all.push_back(next);
    }
    const ConstraintSet& set;
    const ConstraintGraph& graph;
    const Cluster& cluster;
    bool areLocal = true;
    std::vector<PartCounts> all;
    PartCounts largest;
};

} // namespace

ConstraintTables::Cut ConstraintTables::cutOf(int number) {
    Cut cut = cuts[number];
    cut.mostCorrections = TestHooks::corrections.valueOr(cut.mostCorrections);
    return cut;
}

ConstraintTables::InParts ConstraintTables::partsFor(const ConstraintSet& set, const ConstraintGraph& graph,
                                                     const Cluster& cluster, bool hasParts) {
    PartLimits limits;
    limits.whole = TestHooks::parts.valueOr(limits.whole);
    limits.ownRows = TestHooks::parts.valueOr(limits.ownRows);
    limits.hops = TestHooks::hops.valueOr(limits.hops);
    if (!hasParts || cluster.factor < 0 || cluster.size() <= maxThreadRows || limits.ownRows == 0)
        return {};
    const std::vector<std::vector<int>> neighbours = neighboursIn(graph, cluster);
    InParts first;
    PartCounter counter(set, graph, cluster);
    first.parts = cutIntoParts(neighbours, limits);
    if (first.parts.size() == 1)
        counter.addWhole();
    else
        for (const Part& part : first.parts)
            counter.add(part);
    first.counts = counter.counts();
    const bool isOnlyCut = first.parts.size() == 1 || TestHooks::parts.isSet() || TestHooks::hops.isSet();
    if (isOnlyCut || !counter.canBeLocal() || (!first.parts.empty() && counter.fitEverywhere()))
        return first;
    for (int cut = 1; cut < (int) std::size(cuts); cut++) {
        limits.ownRows = cuts[cut].ownRows;
        limits.hops = cuts[cut].hops;
        PartCounter finer(set, graph, cluster);
        const auto accept = [&](const Part& part) {
            finer.add(part);
            return finer.fitEverywhere();
        };
        if (std::vector<Part> parts = cutIntoParts(neighbours, limits, accept); !parts.empty())
            return {std::move(parts), finer.counts(), cut};
    }
    return first;
}

} // namespace ConstraintPlugin
