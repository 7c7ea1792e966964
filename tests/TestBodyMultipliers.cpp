// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Multipliers of the distances and angles that a recognized body holds, against Eigen's pseudoinverse and the forces.
#include "support/RecognizedSets.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** The multipliers of all absorbed constraints are the least ones that give the forces of all constraints. */
void expectLeastNorm(const Recognized& given, const ForceMultipliers& multipliers) {
    const std::vector<double> all = given.read(multipliers);
    const std::vector<int> absorbed = given.absorbed();
    Vector found(absorbed.size());
    for (std::size_t k = 0; k < absorbed.size(); k++)
        found(k) = all[absorbed[k]];
    std::vector<int> others;
    Vector ofOthers(all.size());
    for (int k = 0; k < given.set.numListed; k++)
        if (given.set.constraints[k].recognized < 0) {
            ofOthers(others.size()) = all[k];
            others.push_back(k);
        }
    Vector forces = given.forces(multipliers);
    if (!others.empty())
        forces -= apply(given.gradients(others), ofOthers.head(others.size()));
    const Matrix G = given.gradients(absorbed);
    EXPECT_GT(forces.norm(), 1e-3);
    EXPECT_LT((apply(G, found) - forces).norm(), 1e-12 * forces.norm());
    const Vector expected = leastSquares(G, forces, 1e-9);
    EXPECT_LT((found - expected).norm(), 1e-10 * expected.norm());
}

TEST(BodyMultipliers, OfClustersAtRandomAreOfLeastNorm) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const int n = 4 + (int) seed % 5;
        Recognized given(cloud(n, random), someMasses(n, random));
        given.addDistances(allPairs(0, n - 1));
        if (seed % 3 == 0) // a pair twice
            given.addDistances({{0, 1}});
        if (seed % 4 == 0)
            for (int i = 2; i < n; i++)
                given.add(CoordinateKind::Angle, {i, 0, 1});
        given.addBody(range(0, n - 1), 3);
        expectLeastNorm(given, given.solve(seed));
    }
}

TEST(BodyMultipliers, OfManyDistancesAreOfLeastNorm) {
    Random random(3);
    Recognized given(cloud(32, random), someMasses(32, random));
    given.addDistances(allPairs(0, 31));
    given.addBody(range(0, 31), 3);
    expectLeastNorm(given, given.solve(3));
}

TEST(BodyMultipliers, HoldTheAnchorsToo) {
    for (int anchors = 1; anchors <= 3; anchors++) {
        SCOPED_TRACE(anchors);
        Random random(anchors);
        std::vector<double> masses = someMasses(7, random);
        for (int i = 0; i < anchors; i++)
            masses[2 * i] = 0;
        Recognized given(cloud(7, random), masses);
        given.addDistances(allPairs(0, 6));
        given.addBody(range(0, 6), 3);
        expectLeastNorm(given, given.solve(anchors));
    }
}

TEST(BodyMultipliers, AcrossPeriodicBoundaries) {
    Random random(8);
    Recognized given(cloud(6, random), someMasses(6, random));
    given.addDistances(allPairs(0, 5));
    given.addBody(range(0, 5), 3);
    const std::vector<double> whole = given.read(given.solve(1));
    Recognized split(given.x, someMasses(6, random));
    split.set = given.set;
    for (Constraint& c : split.set.constraints)
        c.periodic = true;
    split.set.bodies[0].periodic = true;
    split.x[2] += Real3{5, 0, -5};
    split.x[4] += Real3{0, -10, 0};
    const std::vector<double> found = split.read(split.solve(1));
    for (std::size_t k = 0; k < whole.size(); k++)
        EXPECT_NEAR(found[k], whole[k], 1e-12 * std::abs(whole[0]) + 1e-12);
}

/** Tetrahedra on hinges, a bond to an atom, and a distance that two bodies have in common. */
TEST(BodyMultipliers, OfChainsOfBodiesAreOfLeastNorm) {
    for (unsigned seed = 1; seed <= 5; seed++) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Recognized given(cloud(10, random), someMasses(10, random));
        std::set<std::pair<int, int>> pairs;
        const std::vector<std::vector<int>> bodies{{0, 1, 2, 3, 4}, {3, 4, 5, 6}, {6, 5, 7, 8, 1}};
        for (const auto& body : bodies)
            for (int i : body)
                for (int j : body)
                    if (i < j)
                        pairs.insert({i, j});
        given.addDistances(Pairs(pairs.begin(), pairs.end()) + Pairs{{2, 9}});
        for (const auto& body : bodies)
            given.addBody(body, 3);
        const ForceMultipliers multipliers = given.solve(seed);
        EXPECT_NE(given.read(multipliers)[pairs.size()], 0) << "of the bond";
        expectLeastNorm(given, multipliers);
    }
}

TEST(BodyMultipliers, AreZeroWithoutForces) {
    Random random(2);
    Recognized given(cloud(6, random), someMasses(6, random));
    given.addDistances(allPairs(0, 5));
    given.addBody(range(0, 5), 3);
    const std::size_t count = given.set.constraints.size();
    EXPECT_EQ(given.read({std::vector<double>(count), std::vector<Real3>(6)}), std::vector<double>(count));
    EXPECT_EQ(given.read({std::vector<double>(count), {}}), std::vector<double>(count)) << "before the first step";
}

/** A rod that two particles span: all forces are carried to these. */
TEST(BodyMultipliers, OfALineAreThoseOfItsBase) {
    const Real3 axis{0.36, 0.48, 0.8};
    Points x;
    for (double s : {0.0, 0.1, 0.22, 0.3})
        x.push_back(s * axis);
    Recognized given(x, {16, 12, 2, 14});
    given.addDistances(allPairs(0, 3));
    given.addBody({0, 3, 1, 2}, 1, {0, 3});
    const ForceMultipliers multipliers = given.solve(4);
    const std::vector<double> found = given.read(multipliers);
    double expected = 0;
    for (int i = 0; i < 4; i++) {
        const double along = dot(multipliers.ofBodies[std::vector<int>{0, 2, 3, 1}[i]], axis);
        expected += -(1 - std::vector<double>{0, 0.1, 0.22, 0.3}[i] / 0.3) * along;
    }
    ASSERT_EQ(found.size(), 6u);
    for (int k = 0; k < 6; k++)
        EXPECT_NEAR(found[k], k == 2 ? expected : 0, 1e-13) << k;
    EXPECT_GT(std::abs(expected), 1e-3);
}

/** A plate that three particles span, against the same three distances with an equation for every other particle. */
TEST(BodyMultipliers, OfAPlateAreThoseOfItsBase) {
    Random random(5);
    const Real3 u{0.36, 0.48, 0.8}, v{0.8, -0.6, 0};
    Points x;
    for (const auto& [a, b] : {std::pair(0.0, 0.0), {0.2, 0.0}, {0.03, 0.17}, {0.1, 0.08}, {0.15, 0.2}})
        x.push_back(a * u + b * v);
    for (bool isComplete : {true, false}) {
        Recognized given(x, someMasses(5, random));
        given.addDistances({{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {1, 4}, {2, 4}, {0, 3}});
        if (isComplete)
            given.addDistances({{2, 1}, {0, 1}});
        given.addBody({3, 1, 0, 4, 2}, 2, {0, 1, 2});
        const ForceMultipliers multipliers = given.solve(4);
        const std::vector<double> found = given.read(multipliers);
        const Vector forces = given.forces(multipliers);
        Eigen::Matrix3d atBase = Eigen::Matrix3d::Zero(); // by column
        for (int i = 0; i < 5; i++) {
            Matrix A(4, 3);
            Vector b(4);
            for (int k = 0; k < 3; k++)
                A.col(k) << x[k].x, x[k].y, x[k].z, 1;
            b << x[i].x, x[i].y, x[i].z, 1;
            const Vector weights = leastSquares(A, b);
            for (int k = 0; k < 3; k++)
                atBase.col(k) += weights(k) * forces.segment<3>(3 * i);
        }
        Recognized three({x[0], x[1], x[2]}, {1, 1, 1});
        three.addDistances({{0, 1}, {0, 2}, {1, 2}});
        Vector right(9);
        right << atBase.col(0), atBase.col(1), atBase.col(2);
        const Vector expected = leastSquares(three.gradients({0, 1, 2}), right);
        EXPECT_GT(expected.cwiseAbs().minCoeff(), 1e-5);
        for (int k = 0; k < (int) found.size(); k++) {
            const double share = isComplete ? 0.5 : 1; // 0-1 is listed twice then
            const double value = k == 0 || k == 9 ? share * expected(0)
                                 : k == 1         ? expected(1)
                                 : k == 8         ? expected(2)
                                                  : 0;
            EXPECT_NEAR(found[k], value, 1e-13) << k;
        }
    }
}

} // namespace
