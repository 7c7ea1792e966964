// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The smallest set of lengths that contradict each other.
#include "LengthConflict.h"
#include "support/Bodies.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Carbons in a zigzag, each with two hydrogens. */
std::vector<Real3> chain(int carbons) {
    std::vector<Real3> x;
    for (int i = 0; i < carbons; i++) {
        const double side = i % 2 == 0 ? 1 : -1;
        const Real3 carbon{0.125 * i, 0.044 * side, 0};
        x.push_back(carbon);
        x.push_back(carbon + Real3{0, 0.063 * side, 0.089});
        x.push_back(carbon + Real3{0, 0.063 * side, -0.089});
    }
    return x;
}

ConstraintSet distancesWithin(const std::vector<Real3>& x, double reach) {
    ConstraintSet set;
    set.inverseMass.assign(x.size(), 1.0 / 12);
    for (int j = 1; j < (int) x.size(); j++)
        for (int i = 0; i < j; i++)
            if (const double length = norm(x[i] - x[j]); length < reach) {
                Constraint c;
                c.particles = {i, j};
                c.target = length;
                c.force = 0;
                c.index = (int) set.constraints.size();
                set.constraints.push_back(c);
            }
    set.numListed = (int) set.constraints.size();
    return set;
}

int findPair(const ConstraintSet& set, int i, int j) {
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (set.constraints[k].particles == std::vector<int>{i, j})
            return k;
    return -1;
}

TEST(LengthConflict, IsASmallestSet) {
    const std::vector<Real3> x = chain(12);
    ConstraintSet set = distancesWithin(x, 0.26);
    EXPECT_FALSE(findLengthConflict(set, x.data(), {}, {0}, 1e-6));
    // Two of the three lengths that hold a carbon's hydrogens to it and to each other do not tell the third: of five
    // particles with ten lengths one follows from the others.
    const int wrong = findPair(set, 19, 20);
    ASSERT_GE(wrong, 0);
    set.constraints[wrong].target *= 1.002;
    const auto conflict = findLengthConflict(set, x.data(), {}, {0}, 1e-6);
    ASSERT_TRUE(conflict);
    EXPECT_LE(conflict->particles.size(), 5u);
    for (int p : {19, 20})
        EXPECT_TRUE(std::binary_search(conflict->particles.begin(), conflict->particles.end(), p)) << p;
    EXPECT_TRUE(std::count(conflict->constraints.begin(), conflict->constraints.end(), wrong));
    ASSERT_GE(conflict->worst, 0);
    EXPECT_TRUE(std::count(conflict->constraints.begin(), conflict->constraints.end(), conflict->worst));
    EXPECT_GT(conflict->error, 1e-6);
    EXPECT_LT(conflict->error, 4e-4); // 0.002 of 0.178 nm
    // Every set of particles with one less holds.
    for (std::size_t out = 0; out < conflict->particles.size(); out++) {
        ConstraintSet rest = set;
        for (int k : conflict->constraints) {
            Constraint& c = rest.constraints[k];
            if (std::count(c.particles.begin(), c.particles.end(), conflict->particles[out]))
                c.particles.clear();
        }
        std::vector<Constraint> kept;
        for (int k : conflict->constraints)
            if (!rest.constraints[k].particles.empty())
                kept.push_back(rest.constraints[k]);
        rest.constraints = kept;
        EXPECT_FALSE(findLengthConflict(rest, x.data(), {}, {0}, 1e-6)) << out;
    }
}

TEST(LengthConflict, IsFoundInABoxAndFromPositionsThatDoNotFit) {
    std::vector<Real3> x = chain(4);
    ConstraintSet set = distancesWithin(x, 0.26);
    const Box box{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (std::size_t p = 0; p < x.size(); p++)
        x[p] += Real3{(double) (p % 3) - 1 + 0.01 * std::sin(3.0 * p), (double) (p % 2), 0.01 * std::cos(5.0 * p)};
    EXPECT_FALSE(findLengthConflict(set, x.data(), box, {}, 1e-6));
    set.constraints[findPair(set, 4, 5)].target *= 1.01;
    EXPECT_TRUE(findLengthConflict(set, x.data(), box, {}, 1e-6));
}

TEST(LengthConflict, IsNoneWherePositionsAreWrong) {
    const std::vector<Real3> right = chain(4);
    const ConstraintSet set = distancesWithin(right, 0.26);
    std::vector<Real3> wrong = right;
    for (std::size_t p = 0; p < wrong.size(); p++)
        wrong[p] = {0.2 * std::sin(7.0 * (double) p), 0.2 * std::sin(11.0 * (double) p + 1), 0};
    EXPECT_FALSE(findLengthConflict(set, wrong.data(), {}, {}, 1e-6));
    wrong[5].x = std::nan("");
    EXPECT_FALSE(findLengthConflict(set, wrong.data(), {}, {}, 1e-6));
}

TEST(LengthConflict, OfAnglesInAPlaneHasTheirVertex) {
    const std::vector<Real3> x = {{0, 0, 0}, {0.14, 0, 0}, {-0.07, 0.12, 0}, {-0.07, -0.12, 0}};
    ConstraintSet set;
    set.inverseMass.assign(4, 1.0 / 12);
    const auto add = [&](CoordinateKind kind, std::vector<int> particles, double target) {
        Constraint c;
        c.kind = kind;
        c.particles = std::move(particles);
        c.target = target;
        c.force = 0;
        set.constraints.push_back(c);
    };
    for (int p : {1, 2, 3})
        add(CoordinateKind::Distance, {0, p}, 0.14);
    const double third = 2 * std::acos(-1.0) / 3;
    add(CoordinateKind::Angle, {1, 0, 2}, third);
    add(CoordinateKind::Angle, {2, 0, 3}, third);
    add(CoordinateKind::Angle, {1, 0, 3}, third - 0.01); // a little out of the plane
    EXPECT_FALSE(findLengthConflict(set, x.data(), {}, {0}, 1e-6));
    set.constraints.back().target = third + 0.01;
    const auto conflict = findLengthConflict(set, x.data(), {}, {0}, 1e-6);
    ASSERT_TRUE(conflict);
    EXPECT_EQ(conflict->particles, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(conflict->constraints.size(), 6u);
}

} // namespace
