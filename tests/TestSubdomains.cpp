// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CollectConstraints.h"
#include "ConstraintGraph.h"
#include "ConstraintSolver.h"
#include "Cut.h"
#include "Subdomain.h"
#include "support/LargeSystems.h"
#include "support/Simulation.h"
#include "support/SubdomainNewton.h"
#include <algorithm>
#include <array>
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
            {"longer protein", rowsOf(protein(333))},
            {"bonds and angles", rowsOf(bentChain(700, 111, true))},
            {"mesh", rowsOf(mesh(20))}};
}

/** Distance of each row from some, in hops, by a loop over all rows per hop; -1: more than `most`. */
static std::vector<int> hopsFrom(const Neighbours& neighbours, const std::vector<int>& rows, int most) {
    std::vector<int> hops(neighbours.size(), -1);
    for (int row : rows)
        hops[row] = 0;
    for (int hop = 1; hop <= most; hop++)
        for (std::size_t i = 0; i < neighbours.size(); i++)
            if (hops[i] < 0 &&
                std::any_of(neighbours[i].begin(), neighbours[i].end(), [&](int j) { return hops[j] == hop - 1; }))
                hops[i] = hop;
    return hops;
}

static SubdomainLimits withHops(int hops) {
    SubdomainLimits limits;
    limits.hops = hops;
    limits.mostRows = 100000;
    return limits;
}

TEST(Subdomains, EveryRowHasOneOwner) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        std::vector<int> owned;
        for (const Subdomain& subdomain : cutIntoSubdomains(neighbours, withHops(2))) {
            EXPECT_FALSE(subdomain.own.empty()); // other subdomains wait for what it finds in them
            EXPECT_TRUE(std::is_sorted(subdomain.own.begin(), subdomain.own.end()));
            owned.insert(owned.end(), subdomain.own.begin(), subdomain.own.end());
        }
        std::sort(owned.begin(), owned.end());
        std::vector<int> all(neighbours.size());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(owned, all) << name;
    }
}

TEST(Subdomains, SolveExactlyTheRowsWithinTheHopsAndAreSurroundedByTheirNeighbours) {
    for (const auto& [name, neighbours] : largeGraphs())
        for (int hops : {0, 1, 2, 5}) {
            SCOPED_TRACE(name + ", " + std::to_string(hops) + " hops");
            const std::vector<Subdomain> subdomains = cutIntoSubdomains(neighbours, withHops(hops));
            ASSERT_GT(subdomains.size(), 3u);
            for (const Subdomain& subdomain : subdomains) {
                const std::vector<int> distance = hopsFrom(neighbours, subdomain.own, hops + 1);
                std::vector<int> solved, ring;
                for (int i = 0; i < (int) neighbours.size(); i++) {
                    if (distance[i] >= 0 && distance[i] <= hops)
                        solved.push_back(i);
                    if (distance[i] == hops + 1)
                        ring.push_back(i);
                }
                std::vector<int> found = subdomain.solved;
                std::sort(found.begin(), found.end());
                EXPECT_EQ(found, solved);
                EXPECT_EQ(subdomain.ring, ring);
            }
        }
}

TEST(Subdomains, HaveTheFactorOfTheirRowsAmongThemselves) {
    for (const auto& [name, neighbours] : largeGraphs())
        for (const Subdomain& subdomain : cutIntoSubdomains(neighbours, withHops(3))) {
            ASSERT_EQ(subdomain.factor.size(), (int) subdomain.solved.size());
            std::vector<int> position(neighbours.size(), -1);
            for (int k = 0; k < (int) subdomain.solved.size(); k++)
                position[subdomain.solved[k]] = k;
            Neighbours among(subdomain.solved.size()); // in the order of elimination already
            for (int k = 0; k < (int) subdomain.solved.size(); k++)
                for (int other : neighbours[subdomain.solved[k]])
                    if (const int i = position[other]; i >= 0) {
                        among[k].push_back(i);
                        EXPECT_GE(subdomain.factor.findEntry(std::max(i, k), std::min(i, k)), 0) << name;
                    }
            std::vector<int> inOrder(subdomain.solved.size());
            std::iota(inOrder.begin(), inOrder.end(), 0);
            EXPECT_EQ(countFill(among, inOrder).entries, (double) subdomain.factor.entryRow.size()) << name;
        }
}

TEST(Subdomains, AreOfNearlyEqualSize) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        std::size_t least = neighbours.size(), most = 0;
        for (const Subdomain& subdomain : cutIntoSubdomains(neighbours, withHops(1))) {
            least = std::min(least, subdomain.own.size());
            most = std::max(most, subdomain.own.size());
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

/** A tree of rows, each coupled to one earlier row, nearby or anywhere. */
static Neighbours treeOf(int n, unsigned seed, int reach) {
    Random random(seed);
    Neighbours neighbours(n);
    for (int i = 1; i < n; i++) {
        const int j = i - 1 - random.below(std::min(i, reach));
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
    }
    for (auto& list : neighbours)
        std::sort(list.begin(), list.end());
    return neighbours;
}

/** Every row is in one part or in the separator, and rows of different parts are not coupled. */
static void expectParted(const Neighbours& neighbours, const Cut& cut, const std::string& what) {
    SCOPED_TRACE(what);
    std::vector<int> partOf(neighbours.size(), -2);
    for (int row : cut.separator)
        partOf[row] = -1;
    std::size_t numRows = cut.separator.size();
    for (int p = 0; p < (int) cut.parts.size(); p++) {
        EXPECT_FALSE(cut.parts[p].empty());
        EXPECT_TRUE(std::is_sorted(cut.parts[p].begin(), cut.parts[p].end()));
        numRows += cut.parts[p].size();
        for (int row : cut.parts[p])
            partOf[row] = p;
    }
    EXPECT_EQ(numRows, neighbours.size());
    for (std::size_t i = 0; i < neighbours.size(); i++) {
        ASSERT_NE(partOf[i], -2) << "row " << i << " is nowhere";
        for (int j : neighbours[i])
            EXPECT_TRUE(partOf[i] == partOf[j] || partOf[i] < 0 || partOf[j] < 0);
    }
}

TEST(Parts, OfACutAreNotCoupledToEachOther) {
    for (int p : {1, 2, 5, 7, 16}) {
        for (const auto& [name, neighbours] : largeGraphs())
            expectParted(neighbours, Cut(neighbours, p), name);
        for (unsigned seed = 0; seed < 20; seed++) {
            const int n = 40 + 37 * (int) seed;
            for (int reach : {1, 3, 30, n}) {
                const Neighbours tree = treeOf(n, seed, reach);
                expectParted(tree, Cut(tree, p), "tree " + std::to_string(seed) + " " + std::to_string(reach));
            }
        }
    }
}

TEST(Parts, OfThreeArmsAreCutWhereTheArmsMeet) {
    // Row 0 joins three arms of 40 rows.
    Neighbours arms(121);
    for (int i = 1; i <= 120; i++) {
        const int before = i % 40 == 1 ? 0 : i - 1;
        arms[i].push_back(before);
        arms[before].push_back(i);
    }
    for (auto& list : arms)
        std::sort(list.begin(), list.end());
    const Cut cut(arms, 3);
    EXPECT_EQ(cut.separator, std::vector<int>{0});
    ASSERT_EQ(cut.parts.size(), 3u);
    for (const auto& part : cut.parts)
        EXPECT_EQ(part.size(), 40u);
}

TEST(Parts, OfARingAreCutByAsManyRows) {
    Neighbours ring = chainOf(1000);
    ring[0].push_back(999);
    ring[999].insert(ring[999].begin(), 0);
    for (int p : {2, 3, 8}) {
        const Cut cut(ring, p);
        expectParted(ring, cut, "ring");
        EXPECT_EQ((int) cut.parts.size(), p);
        EXPECT_EQ((int) cut.separator.size(), p);
    }
}

TEST(Subdomains, AreTheSameEachTime) {
    for (const auto& [name, neighbours] : largeGraphs()) {
        const std::vector<Subdomain> first = cutIntoSubdomains(neighbours, withHops(4)),
                                     second = cutIntoSubdomains(neighbours, withHops(4));
        ASSERT_EQ(first.size(), second.size()) << name;
        for (std::size_t p = 0; p < first.size(); p++) {
            EXPECT_EQ(first[p].own, second[p].own) << name;
            EXPECT_EQ(first[p].solved, second[p].solved) << name;
            EXPECT_EQ(first[p].factor.updateTarget, second[p].factor.updateTarget) << name;
        }
    }
}

TEST(Subdomains, AClusterOfFewRowsIsOneSubdomainWithoutHalo) {
    const SubdomainLimits limits;
    for (const Neighbours& neighbours : {chainOf(1), chainOf(40), chainOf(160), starOf(40), rowsOf(protein(20))}) {
        const std::vector<Subdomain> subdomains = cutIntoSubdomains(neighbours, limits);
        ASSERT_EQ(subdomains.size(), 1u);
        EXPECT_EQ(subdomains[0].own.size(), neighbours.size());
        EXPECT_EQ(subdomains[0].solved.size(), neighbours.size());
        EXPECT_TRUE(subdomains[0].ring.empty());
        SymbolicFactor whole;
        eliminate(neighbours, whole);
        EXPECT_EQ(subdomains[0].solved, whole.order) << "the order is that of the cluster";
    }
    EXPECT_EQ(cutIntoSubdomains(chainOf(161), limits).size(), 2u);
}

TEST(Subdomains, WhereAllRowsAreCoupledThereIsOneSubdomain) {
    const std::vector<Subdomain> subdomains = cutIntoSubdomains(starOf(400));
    ASSERT_EQ(subdomains.size(), 1u);
    EXPECT_EQ(subdomains[0].own.size(), 400u);
    EXPECT_TRUE(cutIntoSubdomains(starOf(513)).empty()) << "more rows than a thread block serves";
}

/** A part without rows would keep the others waiting. */
TEST(Parts, NeverLackRows) {
    // Two rows that a wide separator joins; and random graphs with up to ten neighbours a row.
    std::vector<Neighbours> graphs{{{1, 2, 3}, {0, 2, 3, 4}, {0, 1, 3, 4}, {0, 1, 2, 4}, {1, 2, 3}}};
    Random random(5);
    for (int n = 5; n < 60; n++) {
        std::vector<std::set<int>> coupled(n);
        for (int i = 1; i < n; i++)
            for (int k = 0; k < 1 + n % 5; k++) {
                const int j = std::min((int) random.uniform(std::max(0, i - 7), i), i - 1);
                coupled[i].insert(j);
                coupled[j].insert(i);
            }
        Neighbours graph;
        for (const std::set<int>& each : coupled)
            graph.emplace_back(each.begin(), each.end());
        graphs.push_back(graph);
    }
    for (const Neighbours& graph : graphs)
        for (int numParts = 2; numParts < 9; numParts++) {
            const Cut cut(graph, numParts);
            std::size_t rows = cut.separator.size();
            for (const std::vector<int>& part : cut.parts) {
                EXPECT_FALSE(part.empty()) << graph.size() << " rows, " << numParts << " parts";
                rows += part.size();
            }
            EXPECT_EQ(rows, graph.size());
        }
}

TEST(Subdomains, AreRefusedWhereTheyHaveTooManyRows) {
    const Neighbours chain = chainOf(1280);
    SubdomainLimits limits;
    std::size_t most = 0;
    for (const Subdomain& subdomain : cutIntoSubdomains(chain, limits))
        most = std::max(most, subdomain.solved.size());
    limits.mostRows = (int) most;
    EXPECT_FALSE(cutIntoSubdomains(chain, limits).empty());
    limits.mostRows--;
    EXPECT_TRUE(cutIntoSubdomains(chain, limits).empty());
    // The halo of a mesh of many hops is larger than the subdomain.
    limits = {};
    limits.hops = 16;
    EXPECT_TRUE(cutIntoSubdomains(rowsOf(mesh(60)), limits).empty());
}

TEST(Subdomains, AreMadeNoFurtherOnceOneIsNotAccepted) {
    const Neighbours chain = chainOf(1280);
    int made = 0;
    const auto until = [&](int most) {
        made = 0;
        return cutIntoSubdomains(chain, {}, [&, most](const Subdomain&) { return ++made < most; });
    };
    EXPECT_TRUE(until(3).empty());
    EXPECT_EQ(made, 3);
    EXPECT_EQ(until(100).size(), 10u);
}

TEST(Subdomains, OfAGraphInSeveralPiecesHaveAllRows) {
    // Rows 0 ... 299 are a chain, the others are coupled to no row.
    Neighbours neighbours = chainOf(300);
    neighbours.resize(500);
    std::size_t owned = 0;
    for (const Subdomain& subdomain : cutIntoSubdomains(neighbours))
        owned += subdomain.own.size();
    EXPECT_EQ(owned, 500u);
}

// ---- convergence: the evidence for the number of hops ----
// benchmarks/subdomains.cpp prints the same for more of them, and for DHFR.

/** The most corrections to 1e-5, 1e-8 and 1e-12 from three starts. */
using Counts = std::array<int, 3>;

struct Convergence {
    Counts thermal;  ///< position stage, from velocities that are not on the constraints
    Counts tangent;  ///< the same after a velocity stage
    Counts velocity; ///< that stage
};

static void note(Counts& counts, const std::vector<double>& errors) {
    const double tolerances[] = {1e-5, 1e-8, 1e-12};
    for (int t = 0; t < 3; t++) {
        const int n = correctionsTo(tolerances[t], errors);
        counts[t] = std::max(counts[t], n < 0 ? 99 : n);
    }
}

static Convergence measure(const TestSystem& system, SubdomainLimits limits) {
    const double stepSize = 0.002;
    limits.mostRows = 100000;
    SubdomainNewton subdomains(toConstraintSet(system), limits);
    subdomains.setStart(system.positions, system.box);
    Convergence result{};
    for (unsigned seed : {1, 2, 3}) {
        std::vector<Real3> velocities = thermalVelocities(system, seed), delta;
        for (const Real3& v : velocities)
            delta.push_back(stepSize * v);
        note(result.thermal, subdomains.solvePositions(delta, 20));
        note(result.velocity, subdomains.solveVelocities(velocities, stepSize, 20));
        delta.clear();
        for (const Real3& v : velocities)
            delta.push_back(stepSize * v);
        note(result.tangent, subdomains.solvePositions(delta, 20));
    }
    return result;
}

static SubdomainLimits inOnePiece() {
    SubdomainLimits limits;
    limits.whole = 100000;
    return limits;
}

static void expectAtMost(const Counts& found, const Counts& most, const std::string& what) {
    for (int t = 0; t < 3; t++)
        EXPECT_LE(found[t], most[t]) << what << ", tolerance " << t;
}

static Counts oneMore(Counts counts) {
    for (int& n : counts)
        n++;
    return counts;
}

TEST(SubdomainsConverge, AsInOnePieceWithSixHopsOrWithOneCorrectionMore) {
    for (const TestSystem& system :
         {protein(300), bentChain(1000, 111), bentChain(1000, 140), bentChain(1000, 111, true)}) {
        const Convergence whole = measure(system, inOnePiece()), subdomains = measure(system, SubdomainLimits());
        expectAtMost(subdomains.thermal, oneMore(whole.thermal), system.name + " thermal");
        expectAtMost(subdomains.tangent, oneMore(whole.tangent), system.name + " tangent");
        expectAtMost(subdomains.velocity, {2, 3, 4}, system.name + " velocity");
        EXPECT_EQ(subdomains.tangent[0], whole.tangent[0]) << system.name;
    }
}

TEST(SubdomainsConverge, InFewerCorrectionsTheMoreHopsTheyHave) {
    // Protein: the error of a subdomain's own rows decreases by 0.35 per hop.
    const TestSystem system = protein(300);
    const std::pair<int, Counts> rows[] = {{1, {5, 8, 13}}, {2, {3, 5, 8}}, {4, {2, 3, 4}}, {6, {2, 3, 4}}};
    for (const auto& [hops, most] : rows) {
        const Convergence subdomains = measure(system, withHops(hops));
        expectAtMost(subdomains.thermal, most, std::to_string(hops) + " hops, thermal");
        expectAtMost(subdomains.velocity, most, std::to_string(hops) + " hops, velocity");
    }
    EXPECT_GT(measure(system, withHops(1)).velocity[2], measure(system, withHops(4)).velocity[2]);
}

TEST(SubdomainsConverge, SlowlyInNearlyStraightChainsButShowIt) {
    // Per hop by (1 - sin a)/|cos a|: 0.70, 0.84 and 0.93 at angles a of 160, 170 and 176 degrees.
    expectAtMost(measure(bentChain(1000, 160), withHops(6)).tangent, {2, 3, 5}, "160 degrees");
    expectAtMost(measure(bentChain(1000, 170), withHops(6)).tangent, {3, 6, 10}, "170 degrees");
    const Convergence straight = measure(bentChain(1000, 176), withHops(6));
    expectAtMost(straight.tangent, {8, 16, 99}, "176 degrees");
    EXPECT_EQ(straight.velocity[2], 99) << "residuals are true ones: they do not hide slow convergence";
    expectAtMost(measure(mesh(24), withHops(6)).tangent, {4, 9, 16}, "mesh");
    EXPECT_TRUE(cutIntoSubdomains(rowsOf(mesh(24))).empty()) << "with its wide halo the mesh stays in one piece";
}

/** With a halo that fits into shared memory a correction gains less, the more a network is crumpled. */
TEST(SubdomainsConverge, SlowlyInNetworksWithANarrowHalo) {
    const auto corrections = [](int edge, int ownRows) {
        SubdomainLimits limits = withHops(4);
        limits.ownRows = ownRows;
        const Convergence subdomains = measure(honeycomb(edge), limits);
        return std::max({subdomains.thermal[0], subdomains.tangent[0], subdomains.velocity[0]});
    };
    EXPECT_LE(corrections(20, 24), 10);
    EXPECT_LE(corrections(20, 16), 11);
    EXPECT_LE(corrections(20, 12), 11);
    EXPECT_LE(corrections(40, 12), 16);
}

/** Every fifth residue holds a rigid body by its last hydrogen, and an angle. */
TEST(SubdomainsConverge, WithJoinedBodiesToWhatTheSolverFinds) {
    TestSystem system = protein(60);
    Random random(3);
    const std::unique_ptr<OpenMM::System> made = toOpenMM(system, Declared::InForce);
    auto& force = dynamic_cast<ConstraintForce&>(made->getForce(0));
    const auto toVec3 = [](const Real3& r) { return OpenMM::Vec3(r.x, r.y, r.z); };
    for (int k = 0; k < 60; k += 5) {
        const int C = 1 + 7 * k, B = C + 1, H = C + 2, HO = C + 5;
        const Real3 a = system.positions[H] - system.positions[C], b = system.positions[B] - system.positions[C];
        force.addAngle(H, C, B, std::acos(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b))));
        std::vector<int> body{HO};
        std::vector<OpenMM::Vec3> shape{toVec3(system.positions[HO])};
        for (int i = 0; i < 3; i++) {
            body.push_back(made->addParticle(6 + i));
            system.masses.push_back(6 + i);
            system.positions.push_back(system.positions[HO] + random.inCube(0.1));
            shape.push_back(toVec3(system.positions.back()));
        }
        force.addRigidBody(body, shape);
    }
    const ConstraintSet set = collectConstraints(*made, 1e-5);
    ConstraintSolver solver(set, Method::MatrixInversion);
    solver.chooseIndependent(system.positions.data(), system.box);
    SubdomainNewton subdomains(set, withHops(6));
    EXPECT_EQ(subdomains.numSubdomains(), 4);
    subdomains.setStart(system.positions, system.box);
    const double stepSize = 0.002;
    const auto apart = [](const std::vector<Real3>& x, const std::vector<Real3>& y) {
        double most = 0;
        for (std::size_t i = 0; i < x.size(); i++)
            most = std::max(most, std::sqrt(dot(x[i] - y[i], x[i] - y[i])));
        return most;
    };
    std::vector<Real3> velocities = thermalVelocities(system, 1), expected = velocities, delta;
    Counts counts{};
    note(counts, subdomains.solveVelocities(velocities, stepSize, 20));
    solver.solveVelocities(system.positions.data(), system.box, expected.data(), stepSize, 1e-13, 20);
    EXPECT_LT(apart(velocities, expected), 1e-9);
    for (const Real3& v : velocities)
        delta.push_back(stepSize * v);
    expected = delta;
    note(counts, subdomains.solvePositions(delta, 20));
    solver.solvePositions(system.positions.data(), system.box, expected.data(), 1e-13, 20);
    EXPECT_LT(apart(delta, expected), 1e-12);
    expectAtMost(counts, {2, 3, 4}, "with bodies");
}

TEST(Million, RowsOfAChainAreCutIntoSubdomains) {
    const std::vector<Subdomain> subdomains = cutIntoSubdomains(chainOf(1000000));
    EXPECT_EQ(subdomains.size(), 7813u);
    std::size_t solved = 0;
    for (const Subdomain& subdomain : subdomains) {
        EXPECT_LE(subdomain.own.size(), 160u);
        solved += subdomain.solved.size();
    }
    EXPECT_EQ(solved, 1000000u + 2 * SubdomainLimits().hops * 7812);
}
