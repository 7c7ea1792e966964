// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Contradictory lengths, found before there are positions, however many others there are.
#include "Contradictions.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;

namespace {

ConstraintSet particles(int n) {
    ConstraintSet set;
    set.inverseMass.assign(n, 1.0);
    return set;
}

void add(ConstraintSet& set, int p, int q, double length) {
    Constraint c;
    c.particles = {p, q};
    c.target = length;
    set.constraints.push_back(c);
}

using Found = std::vector<int>;

Found pairIn(const ConstraintSet& set, double tolerance) {
    const auto pairs = findContradictoryPairs(set, tolerance);
    return pairs.empty() ? Found() : Found(pairs[0].begin(), pairs[0].end());
}

Found ringIn(const ConstraintSet& set) {
    const auto rings = findImpossibleRings(set);
    return rings.empty() ? Found() : rings[0];
}

/** A chain, and a hub that is bonded to all of it: triangles everywhere, all of them possible. */
ConstraintSet fan(int n) {
    ConstraintSet set = particles(n + 1);
    for (int i = 0; i + 1 < n; i++)
        add(set, i, i + 1, 0.1);
    for (int i = 0; i < n; i++)
        add(set, n, i, 0.1);
    return set;
}

} // namespace

TEST(Contradictions, TheOneAmongAMillionIsFound) {
    const int n = 500'000;
    ConstraintSet set = fan(n);
    EXPECT_EQ(pairIn(set, 1e-5), Found());
    EXPECT_EQ(ringIn(set), Found());
    const int last = n - 2; // of the chain
    set.constraints[last].target = 0.201;
    EXPECT_EQ(ringIn(set), (Found{2 * n - 3, 2 * n - 2, last}));
    set.constraints[last].target = 0.1;
    add(set, n - 1, n - 2, 0.1001);
    EXPECT_EQ(pairIn(set, 1e-5), (Found{last, 2 * n - 1}));
    EXPECT_EQ(pairIn(set, 1e-2), Found());
    EXPECT_EQ(ringIn(set), Found());
}

TEST(Contradictions, RingsOfMoreAreFound) {
    const int n = 100'000;
    ConstraintSet set = particles(n);
    for (int i = 0; i + 1 < n; i++)
        add(set, i, i + 1, 0.1);
    const Found chain = {70'000, 70'001, 70'002, 70'003, 70'004};
    add(set, 70'005, 70'000, 0.5);
    EXPECT_EQ(ringIn(set), Found()) << "straight, but possible";
    set.constraints.back().target = 0.5001;
    Found ring = chain;
    ring.push_back(n - 1);
    EXPECT_EQ(ringIn(set), ring);
    add(set, 70'000, 70'003, 0.1); // a shorter path
    EXPECT_EQ(ringIn(set), (Found{70'003, 70'004, n, n - 1}));
}

TEST(Contradictions, DuplicatesCountOnce) {
    ConstraintSet set = particles(3);
    for (int i = 0; i < 100; i++)
        add(set, i % 2, 1 - i % 2, 0.1);
    add(set, 1, 2, 0.1);
    EXPECT_EQ(pairIn(set, 1e-5), Found());
    EXPECT_EQ(ringIn(set), Found());
    add(set, 2, 0, 0.3);
    const Found ring = ringIn(set);
    ASSERT_EQ(ring.size(), 3u);
    EXPECT_EQ(ring.back(), 101);
}

TEST(Contradictions, WhatIsIgnoredContradictsNothing) {
    ConstraintSet set = particles(3);
    for (int i = 0; i < 3; i++)
        add(set, i, (i + 1) % 3, i == 0 ? 0.1 : 0.3);
    add(set, 1, 0, 0.9);
    EXPECT_NE(pairIn(set, 1e-5), Found());
    EXPECT_FALSE(ringIn(set).empty());
    set.inverseMass[0] = set.inverseMass[1] = 0;
    EXPECT_EQ(pairIn(set, 1e-5), Found());
    EXPECT_TRUE(ringIn(set).empty());
    for (int k : {0, 3}) // but not those of Forces
        set.constraints[k].force = 0;
    EXPECT_NE(pairIn(set, 1e-5), Found());
}

TEST(Contradictions, WhatMovesOrCannotMoveOrIsInABodyContradictsNothing) {
    ConstraintSet set = particles(3);
    for (int i = 0; i < 3; i++)
        add(set, i, (i + 1) % 3, i == 2 ? 0.3 : 0.1);
    EXPECT_EQ(ringIn(set), (Found{0, 1, 2}));
    for (const auto change : {+[](ConstraintSet& s) { s.constraints[2].rate = 0.1; },
                              +[](ConstraintSet& s) { s.constraints[2].isAbsorbed = true; },
                              +[](ConstraintSet& s) { s.inverseMass[2] = s.inverseMass[0] = 0; }}) {
        ConstraintSet other = set;
        change(other);
        EXPECT_EQ(ringIn(other), Found());
    }
}

TEST(Contradictions, AllAreFoundAtOnceAndEachOnlyOnce) {
    ConstraintSet set = particles(9);
    for (double length : {0.1, 0.2, 0.1, 0.3})
        add(set, 1, 0, length);
    for (int first : {3, 6}) {
        add(set, first, first + 1, 0.1);
        add(set, first + 1, first + 2, 0.1);
        add(set, first, first + 2, 0.3);
    }
    EXPECT_EQ(findContradictoryPairs(set, 1e-5), (std::vector<std::array<int, 2>>{{0, 1}, {0, 3}}));
    EXPECT_EQ(findImpossibleRings(set), (std::vector<Found>{{4, 5, 6}, {7, 8, 9}}));
}

TEST(Contradictions, TheLongestOfARingIsInNoOtherRing) {
    ConstraintSet set = particles(4);
    for (auto [p, q] : {std::pair(0, 1), {1, 2}, {0, 3}, {3, 2}})
        add(set, p, q, 0.1);
    add(set, 0, 2, 0.3); // two triangles end at it
    EXPECT_EQ(findImpossibleRings(set), (std::vector<Found>{{0, 1, 4}}));
}
