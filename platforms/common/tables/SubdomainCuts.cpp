// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// How large clusters in ConstraintTables are cut into subdomains.
#include "ConstraintTables.h"
#include "TestHooks.h"
#include <algorithm>
#include <iterator>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** The first one is taken whose subdomains fit into shared memory; if there is none, the first. In a network the halo
 * grows as the square of the hops: with six, a subdomain of 128 rows of graphene solves 430. With narrower halos there
 * are more corrections, and each gains less (docs/results.md, "Meshes"), but they take a tenth of the time. */
constexpr ConstraintTables::Cut cuts[] = {{SubdomainLimits().ownRows, SubdomainLimits().hops, 8, 1, 50},
                                          {64, 6, 8, 1, 50},
                                          {32, 6, 24, 2, 85},
                                          {24, 4, 24, 2, 85},
                                          {16, 4, 24, 2, 85},
                                          {12, 4, 24, 2, 85}};

/** Bytes that a subdomain can have in double precision on most GPUs (compute capability 8.6 and 8.9: 99 KB, with
 * reports of all threads). A cut depends on the graph only, so it is the same everywhere. */
constexpr long long sharedMemory = 90 << 10;

/** What the subdomains of a cluster have. */
class SubdomainCounter {
public:
    SubdomainCounter(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster)
        : set(set), graph(graph), cluster(cluster) {
    }
    void add(const Subdomain& subdomain) {
        std::vector<int> constraints;
        for (const std::vector<int>* rows : {&subdomain.solved, &subdomain.ring})
            for (int r : *rows)
                constraints.push_back(graph.rows[cluster.begin + r]);
        add({set, constraints, subdomain.factor});
    }
    /** Count the cluster as one subdomain. */
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
        return areLocal && SubdomainLayout(largest).bytes(sizeof(double), sizeof(double)) <= sharedMemory;
    }
    std::vector<SubdomainCounts> counts() const {
        return areLocal ? all : std::vector<SubdomainCounts>();
    }

private:
    void add(const SubdomainCounts& next) {
        // Of distances alone, no two may share both particles.
        areLocal = areLocal && (next.slots > 0 || next.moreCouplings == 0);
        largest.include(next);
        all.push_back(next);
    }
    const ConstraintSet& set;
    const ConstraintGraph& graph;
    const Cluster& cluster;
    bool areLocal = true;
    std::vector<SubdomainCounts> all;
    SubdomainCounts largest;
};

} // namespace

ConstraintTables::Cut ConstraintTables::cutOf(int number) {
    Cut cut = cuts[number];
    cut.mostCorrections = TestHooks::corrections.valueOr(cut.mostCorrections);
    return cut;
}

ConstraintTables::InSubdomains ConstraintTables::subdomainsFor(const ConstraintSet& set, const ConstraintGraph& graph,
                                                               const Cluster& cluster, bool hasSubdomains) {
    SubdomainLimits limits;
    limits.whole = TestHooks::subdomains.valueOr(limits.whole);
    limits.ownRows = TestHooks::subdomains.valueOr(limits.ownRows);
    limits.hops = TestHooks::hops.valueOr(limits.hops);
    if (!hasSubdomains || cluster.factor < 0 || cluster.size() <= maxThreadRows || limits.ownRows == 0)
        return {};
    const std::vector<std::vector<int>> neighbours = neighboursIn(graph, cluster);
    InSubdomains first;
    SubdomainCounter counter(set, graph, cluster);
    first.subdomains = cutIntoSubdomains(neighbours, limits);
    if (first.subdomains.size() == 1)
        counter.addWhole();
    else
        for (const Subdomain& subdomain : first.subdomains)
            counter.add(subdomain);
    first.counts = counter.counts();
    const bool isOnlyCut = first.subdomains.size() == 1 || TestHooks::subdomains.isSet() || TestHooks::hops.isSet();
    if (isOnlyCut || !counter.canBeLocal() || (!first.subdomains.empty() && counter.fitEverywhere()))
        return first;
    for (int cut = 1; cut < (int) std::size(cuts); cut++) {
        limits.ownRows = cuts[cut].ownRows;
        limits.hops = cuts[cut].hops;
        SubdomainCounter finer(set, graph, cluster);
        const auto accept = [&](const Subdomain& subdomain) {
            finer.add(subdomain);
            return finer.fitEverywhere();
        };
        if (std::vector<Subdomain> subdomains = cutIntoSubdomains(neighbours, limits, accept); !subdomains.empty())
            return {std::move(subdomains), finer.counts(), cut};
    }
    return first;
}

} // namespace ConstraintPlugin
