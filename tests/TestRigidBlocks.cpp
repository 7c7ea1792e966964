// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBlocks.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;

namespace {

using Blocks = std::vector<std::vector<int>>;

/** Two squares with one diagonal each, that share a corner: particles 0 to 3 and 3 to 6. */
ConstraintSet twoSquares() {
    ConstraintSet set;
    set.inverseMass.assign(7, 1.0);
    for (auto [i, j] : std::vector<std::pair<int, int>>{
             {0, 1}, {3, 4}, {1, 3}, {4, 6}, {3, 2}, {6, 5}, {2, 0}, {5, 3}, {0, 3}, {3, 6}}) {
        Constraint c;
        c.particles = {i, j};
        c.target = 1;
        set.constraints.push_back(c);
    }
    return set;
}

const std::vector<Real3> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {2, 2, 0}};
const Blocks apart{{0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}}, together{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};

Blocks blocksOf(const ConstraintSet& set, const std::vector<Real3>& positions = corners, const Box& box = Box()) {
    std::vector<int> all;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        all.push_back(k);
    Blocks blocks = findRigidBlocks(set, all, positions.data(), box);
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

TEST(RigidBlocks, ShareOneParticle) {
    EXPECT_EQ(blocksOf(twoSquares()), apart);
}

TEST(RigidBlocks, AreOneWhereASecondConstraintJoinsThem) {
    ConstraintSet set = twoSquares();
    Constraint c;
    c.particles = {2, 5};
    set.constraints.push_back(c);
    Blocks all = together;
    all[0].push_back(10);
    EXPECT_EQ(blocksOf(set), all);
}

TEST(RigidBlocks, AreOneWhereBothAreHeldInPlace) {
    ConstraintSet set = twoSquares();
    set.inverseMass[0] = 0;
    EXPECT_EQ(blocksOf(set), apart);
    set.inverseMass[6] = 0;
    EXPECT_EQ(blocksOf(set), together);
}

TEST(RigidBlocks, AreOneWhereBothCrossTheBox) {
    ConstraintSet set = twoSquares();
    for (Constraint& c : set.constraints)
        c.periodic = true;
    const Box box{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}};
    EXPECT_EQ(blocksOf(set, corners, box), apart);
    std::vector<Real3> wrapped = corners;
    wrapped[0].x += 5;
    EXPECT_EQ(blocksOf(set, wrapped, box), apart);
    wrapped[6].y -= 5;
    EXPECT_EQ(blocksOf(set, wrapped, box), together);
}

TEST(RigidBlocks, OfALongChainAreItsConstraints) {
    constexpr int n = 200'000; // a search by recursion would exhaust the stack
    ConstraintSet set;
    set.inverseMass.assign(n + 1, 1.0);
    std::vector<Real3> positions;
    for (int i = 0; i <= n; i++) {
        positions.push_back({0.1 * i, 0, 0});
        Constraint c;
        c.particles = {i, i + 1};
        if (i < n)
            set.constraints.push_back(c);
    }
    const Blocks blocks = blocksOf(set, positions);
    ASSERT_EQ((int) blocks.size(), n);
    EXPECT_EQ(blocks[17], std::vector<int>{17});
}

} // namespace
