// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintGraph.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

static std::vector<std::vector<int>> clustersOf(const ConstraintSet& set) {
    return findClusters(set, allConstraints(set));
}

static ConstraintGraph graphOf(const ConstraintSet& set, Method method, int maxDense = maxDenseCluster) {
    return ConstraintGraph(set, allConstraints(set), method, maxDense);
}

TEST(ConstraintGraph, FindsClustersInAnyOrderOfParticles) {
    const auto clusters = clustersOf(toConstraintSet(findSystem("disjoint")));
    // First water 0-2, second 3-5, bond 6, chain 7-8.
    ASSERT_EQ(clusters.size(), 4u);
    EXPECT_EQ(clusters[0], (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(clusters[1], (std::vector<int>{3, 4, 5}));
    EXPECT_EQ(clusters[2], (std::vector<int>{6}));
    EXPECT_EQ(clusters[3], (std::vector<int>{7, 8}));
}

TEST(ConstraintGraph, JoinsClustersThatMeetLate) {
    // Two pairs, then a bond between them: one cluster, ascending.
    const auto clusters = clustersOf(pattern(6, {{0, 1}, {4, 5}, {2, 3}, {3, 0}}));
    ASSERT_EQ(clusters.size(), 2u);
    EXPECT_EQ(clusters[0], (std::vector<int>{0, 2, 3}));
    EXPECT_EQ(clusters[1], (std::vector<int>{1}));
}

TEST(ConstraintGraph, DoesNotCoupleThroughImmovableParticles) {
    ConstraintSet set = pattern(5, {{0, 1}, {0, 2}, {3, 2}, {4, 0}});
    set.inverseMass[0] = 0;
    const auto clusters = clustersOf(set);
    ASSERT_EQ(clusters.size(), 3u);
    EXPECT_EQ(clusters[1], (std::vector<int>{1, 2}));
}

TEST(ConstraintGraph, ChoosesTheSolverByTheSizeOfTheCluster) {
    const auto kindOf = [](const char* name, Method method, int maxDense = maxDenseCluster) {
        return graphOf(toConstraintSet(findSystem(name)), method, maxDense).clusters.at(0).kind;
    };
    for (Method method : {Method::Automatic, Method::MatrixInversion}) {
        EXPECT_EQ(kindOf("OH", method), ClusterSolverKind::ClosedForm1);
        EXPECT_EQ(kindOf("CH2", method), ClusterSolverKind::ClosedForm2);
        EXPECT_EQ(kindOf("water", method), ClusterSolverKind::ClosedForm3);
        EXPECT_EQ(kindOf("ring", method), ClusterSolverKind::Dense);
        EXPECT_EQ(kindOf("chain", method), ClusterSolverKind::Sparse);
        EXPECT_EQ(kindOf("OH", method, 0), ClusterSolverKind::Sparse);
    }
    for (const char* name : {"OH", "ring", "chain"})
        EXPECT_EQ(kindOf(name, Method::Iterative), ClusterSolverKind::Iterative);
}

TEST(ConstraintGraph, RowsAreAPermutationAndClustersPartThem) {
    for (const TestSystem& system : systemTable())
        for (int maxDense : {0, maxDenseCluster}) {
            const ConstraintSet set = toConstraintSet(system);
            const ConstraintGraph graph = graphOf(set, Method::Automatic, maxDense);
            std::vector<int> rows = graph.rows;
            std::sort(rows.begin(), rows.end());
            EXPECT_EQ(rows, allConstraints(set)) << system.name;
            int next = 0;
            for (const Cluster& cluster : graph.clusters) {
                EXPECT_EQ(cluster.begin, next);
                next = cluster.end;
            }
            EXPECT_EQ(next, graph.numRows());
        }
}

TEST(ConstraintGraph, CouplingsAreTheSharedMovableParticlesOncePerPair) {
    for (const TestSystem& system : systemTable())
        for (int maxDense : {0, maxDenseCluster}) {
            const ConstraintSet set = toConstraintSet(system);
            const ConstraintGraph graph = graphOf(set, Method::Automatic, maxDense);
            // (constraint, constraint, particle), by brute force over all pairs
            std::set<std::array<int, 3>> expected, found;
            for (int a = 0; a < (int) set.constraints.size(); a++)
                for (int b = a + 1; b < (int) set.constraints.size(); b++)
                    for (int s = 0; s < 2; s++)
                        for (int t = 0; t < 2; t++) {
                            const int p = set.constraints[a].particles[s];
                            if (p == set.constraints[b].particles[t] && set.inverseMass[p] > 0)
                                expected.insert({a, b, p});
                        }
            for (const Cluster& cluster : graph.clusters)
                for (int i = cluster.couplingBegin; i < cluster.couplingEnd; i++) {
                    const Coupling& c = graph.couplings[i];
                    ASSERT_LT(c.column, c.row);
                    const int k = graph.rows[c.row], l = graph.rows[c.column];
                    const int p = set.constraints[k].particles[c.slotRow - graph.slotStart[c.row]];
                    ASSERT_EQ(p, set.constraints[l].particles[c.slotColumn - graph.slotStart[c.column]]);
                    EXPECT_TRUE(found.insert({std::min(k, l), std::max(k, l), p}).second) << "a term twice";
                    if (cluster.factor >= 0) {
                        const SymbolicFactor& factor = graph.factors[cluster.factor];
                        ASSERT_GE(c.entry, 0);
                        EXPECT_EQ(c.entry, factor.findEntry(c.row - cluster.begin, c.column - cluster.begin));
                    }
                }
            EXPECT_EQ(found, expected) << system.name;
        }
}

TEST(ConstraintGraph, ServesHundredThousandWaters) {
    ConstraintSet set;
    const int n = 100000;
    set.inverseMass.assign(3 * n, 1.0);
    for (int w = 0; w < n; w++)
        for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
            set.constraints.push_back({CoordinateKind::Distance, {3 * w + i, 3 * w + j}, 0.1, false, -1, 0});
    const ConstraintGraph graph = graphOf(set, Method::Automatic);
    ASSERT_EQ((int) graph.clusters.size(), n);
    EXPECT_EQ((int) graph.couplings.size(), 3 * n);
    for (const Cluster& cluster : graph.clusters)
        ASSERT_EQ(cluster.kind, ClusterSolverKind::ClosedForm3);
}

/** A star of so many bonds that its full factor exceeds the limits: all bonds share the centre. */
static ConstraintSet hugeStar() {
    std::vector<std::pair<int, int>> bonds;
    for (int i = 1; i <= 1000; i++)
        bonds.push_back({0, i});
    return pattern(1001, bonds);
}

TEST(ConstraintGraph, MatrixInversionRefusesExplosiveFill) {
    try {
        graphOf(hugeStar(), Method::MatrixInversion);
        FAIL() << "no exception";
    } catch (const FactorTooLarge& error) {
        const std::string message = error.what();
        EXPECT_EQ(error.particles.size(), 1001u);
        EXPECT_EQ(error.fill.entries, 499'500);
        EXPECT_NE(message.find("1000 constraints"), std::string::npos) << message;
        EXPECT_NE(message.find("particle 0"), std::string::npos) << message;
        EXPECT_NE(message.find("1001 particles"), std::string::npos) << message;
        EXPECT_NE(message.find("5e+05 entries and 1.7e+08 updates (0.67 GB)"), std::string::npos) << message;
        EXPECT_NE(error.remedy.find("setSolver(Automatic)"), std::string::npos) << error.remedy;
    }
}

TEST(ConstraintGraph, AutomaticFallsBackToIterativeForTheExplosiveClusterOnly) {
    ConstraintSet set = hugeStar();
    set.inverseMass.insert(set.inverseMass.end(), 2, 1.0);
    set.constraints.push_back({CoordinateKind::Distance, {1001, 1002}, 0.1, false, -1, 1000});
    const ConstraintGraph graph = graphOf(set, Method::Automatic);
    ASSERT_EQ(graph.clusters.size(), 2u);
    EXPECT_EQ(graph.clusters[0].kind, ClusterSolverKind::Iterative);
    EXPECT_EQ(graph.clusters[1].kind, ClusterSolverKind::ClosedForm1);
    EXPECT_EQ(graph.clusters[1].refused, -1);
    ASSERT_EQ(graph.clusters[0].refused, 0);
    EXPECT_EQ(graph.refused[0].entries, 1000.0 * 999 / 2);
    EXPECT_EQ(graph.refused[0].updates, 1000.0 * 999 * 998 / 6);
}
