// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintGraph.h"
#include "Cut.h"
#include "Parts.h"
#include "support/LargeSystems.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using Neighbours = std::vector<std::vector<int>>;

/** Rows of the one large cluster of a system. */
static Neighbours rowsOf(const TestSystem& system) {
    const ConstraintSet set = toConstraintSet(system);
    const ConstraintGraph graph(set, allConstraints(set), Method::MatrixInversion);
    EXPECT_EQ(graph.clusters.size(), 1u) << system.name;
    return neighboursIn(graph, graph.clusters[0]);
}

static Neighbours chainOf(int n) {
    Neighbours neighbours(n);
    for (int i = 1; i < n; i++) {
        neighbours[i].push_back(i - 1);
        neighbours[i - 1].push_back(i);
    }
    return neighbours;
}

static Neighbours starOf(int bonds) {
    Neighbours neighbours(bonds);
    for (int i = 0; i < bonds; i++)
        for (int j = 0; j < bonds; j++)
            if (j != i)
                neighbours[i].push_back(j);
    return neighbours;
}

static std::vector<std::pair<std::string, Neighbours>> largeGraphs() {
    return {{"chain", chainOf(1000)},
            {"protein", rowsOf(protein(120))},
            {"protein of random masses and shape", rowsOf(protein(333))},
            {"mesh", rowsOf(mesh(20))}};
}

/** Distance of each row from some, in hops, by relaxation over all rows. */
static std::vector<int> hopsFrom(const Neighbours& neighbours, const std::vector<int>& rows) {
    std::vector<int> hops(neighbours.size(), 1 << 30);
    for (int row : rows)
        hops[row] = 0;
    for (bool changes = true; changes;) {
        changes = false;
        for (std::size_t i = 0; i < neighbours.size(); i++)
            for (int j : neighbours[i])
                if (hops[j] + 1 < hops[i]) {
                    hops[i] = hops[j] + 1;
                    changes = true;
                }
    }
    return hops;
}

static PartLimits withHops(int hops) {
    PartLimits limits;
    limits.hops = hops;
    limits.mostRows = 100000;
    return limits;
}

TEST(Parts, EveryRowHasOneOwner) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        std::vector<int> owned;
        for (const Part& part : cutIntoParts(neighbours, withHops(2))) {
            EXPECT_TRUE(std::is_sorted(part.own.begin(), part.own.end()));
            owned.insert(owned.end(), part.own.begin(), part.own.end());
        }
        std::sort(owned.begin(), owned.end());
        std::vector<int> all(neighbours.size());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(owned, all) << name;
    }
}

TEST(Parts, SolveExactlyTheRowsWithinTheHopsAndAreSurroundedByTheirNeighbours) {
    for (const auto& [name, neighbours] : largeGraphs())
        for (int hops : {0, 1, 2, 5}) {
            SCOPED_TRACE(name + ", " + std::to_string(hops) + " hops");
            const std::vector<Part> parts = cutIntoParts(neighbours, withHops(hops));
            ASSERT_GT(parts.size(), 3u);
            for (const Part& part : parts) {
                const std::vector<int> distance = hopsFrom(neighbours, part.own);
                std::vector<int> solved, ring;
                for (int i = 0; i < (int) neighbours.size(); i++) {
                    if (distance[i] <= hops)
                        solved.push_back(i);
                    if (distance[i] == hops + 1)
                        ring.push_back(i);
                }
                std::vector<int> found = part.solved;
                std::sort(found.begin(), found.end());
                EXPECT_EQ(found, solved);
                EXPECT_EQ(part.ring, ring);
            }
        }
}

TEST(Parts, HaveTheFactorOfTheirRowsAmongThemselves) {
    for (const auto& [name, neighbours] : largeGraphs())
        for (const Part& part : cutIntoParts(neighbours, withHops(3))) {
            ASSERT_EQ(part.factor.size(), (int) part.solved.size());
            std::vector<int> position(neighbours.size(), -1);
            for (int k = 0; k < (int) part.solved.size(); k++)
                position[part.solved[k]] = k;
            Neighbours among(part.solved.size()); // in the order of elimination already
            for (int k = 0; k < (int) part.solved.size(); k++)
                for (int other : neighbours[part.solved[k]])
                    if (const int i = position[other]; i >= 0) {
                        among[k].push_back(i);
                        EXPECT_GE(part.factor.findEntry(std::max(i, k), std::min(i, k)), 0) << name;
                    }
            std::vector<int> inOrder(part.solved.size());
            std::iota(inOrder.begin(), inOrder.end(), 0);
            EXPECT_EQ(countFill(among, inOrder).entries, (double) part.factor.entryRow.size()) << name;
        }
}

TEST(Parts, AreOfNearlyEqualSize) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        std::size_t least = neighbours.size(), most = 0;
        for (const Part& part : cutIntoParts(neighbours, withHops(1))) {
            least = std::min(least, part.own.size());
            most = std::max(most, part.own.size());
        }
        EXPECT_LE(most, 160u) << name;
        EXPECT_GE(least, 80u) << name;
    }
}

TEST(Parts, OfAChainAndAProteinAreCutByOneRowEach) {
    for (int p : {1, 2, 3, 7, 16, 32})
        for (const Neighbours& neighbours : {chainOf(1000), rowsOf(protein(120)), rowsOf(protein(333))}) {
            const Cut cut(neighbours, p);
            EXPECT_EQ((int) cut.parts.size(), p);
            EXPECT_EQ((int) cut.separator.size(), p - 1);
        }
}

TEST(Parts, OfACutAreNotCoupledToEachOther) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        const Cut cut(neighbours, 7);
        std::vector<int> partOf(neighbours.size(), -1);
        for (int p = 0; p < (int) cut.parts.size(); p++)
            for (int row : cut.parts[p])
                partOf[row] = p;
        for (std::size_t i = 0; i < neighbours.size(); i++)
            for (int j : neighbours[i])
                EXPECT_TRUE(partOf[i] == partOf[j] || partOf[i] < 0 || partOf[j] < 0) << name;
    }
}

TEST(Parts, AreTheSameEachTime) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        const std::vector<Part> first = cutIntoParts(neighbours, withHops(4)),
                                second = cutIntoParts(neighbours, withHops(4));
        ASSERT_EQ(first.size(), second.size()) << name;
        for (std::size_t p = 0; p < first.size(); p++) {
            EXPECT_EQ(first[p].own, second[p].own) << name;
            EXPECT_EQ(first[p].solved, second[p].solved) << name;
            EXPECT_EQ(first[p].factor.updateTarget, second[p].factor.updateTarget) << name;
        }
    }
}

TEST(Parts, AClusterOfFewRowsIsOnePartWithoutHalo) {
    const PartLimits limits;
    for (const Neighbours& neighbours : {chainOf(1), chainOf(40), chainOf(160), starOf(40), rowsOf(protein(20))}) {
        const std::vector<Part> parts = cutIntoParts(neighbours, limits);
        ASSERT_EQ(parts.size(), 1u);
        EXPECT_EQ(parts[0].own.size(), neighbours.size());
        EXPECT_EQ(parts[0].solved.size(), neighbours.size());
        EXPECT_TRUE(parts[0].ring.empty());
        SymbolicFactor whole;
        eliminate(neighbours, whole);
        EXPECT_EQ(parts[0].solved, whole.order) << "the order is that of the cluster";
    }
    EXPECT_EQ(cutIntoParts(chainOf(161), limits).size(), 2u);
}

TEST(Parts, WhereAllRowsAreCoupledThereIsOnePart) {
    const std::vector<Part> parts = cutIntoParts(starOf(400));
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].own.size(), 400u);
    EXPECT_TRUE(cutIntoParts(starOf(513)).empty()) << "more rows than a thread block serves";
}

TEST(Parts, AreRefusedWhereTheyHaveTooManyRows) {
    const Neighbours chain = chainOf(1280);
    PartLimits limits;
    std::size_t most = 0;
    for (const Part& part : cutIntoParts(chain, limits))
        most = std::max(most, part.solved.size());
    limits.mostRows = (int) most;
    EXPECT_FALSE(cutIntoParts(chain, limits).empty());
    limits.mostRows--;
    EXPECT_TRUE(cutIntoParts(chain, limits).empty());
    // The halo of a mesh of many hops is larger than the part.
    limits = {};
    limits.hops = 16;
    EXPECT_TRUE(cutIntoParts(rowsOf(mesh(60)), limits).empty());
}

TEST(Parts, OfAGraphInSeveralPiecesHaveAllRows) {
    // Rows 0 ... 299 are a chain, the others are coupled to no row.
    Neighbours neighbours = chainOf(300);
    neighbours.resize(500);
    std::size_t owned = 0;
    for (const Part& part : cutIntoParts(neighbours))
        owned += part.own.size();
    EXPECT_EQ(owned, 500u);
}

TEST(Million, RowsOfAChainAreCutIntoParts) {
    const std::vector<Part> parts = cutIntoParts(chainOf(1000000));
    EXPECT_EQ(parts.size(), 7813u);
    std::size_t solved = 0;
    for (const Part& part : parts) {
        EXPECT_LE(part.own.size(), 160u);
        solved += part.solved.size();
    }
    EXPECT_EQ(solved, 1000000u + 2 * 4 * 7812);
}
