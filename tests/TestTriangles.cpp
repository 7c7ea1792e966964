// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Contradictory lengths, found before there are positions, however many others there are.
#include "Triangles.h"
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

template <class Result>
Found sorted(const Result& result) {
    Found list = result ? Found(result->begin(), result->end()) : Found();
    std::sort(list.begin(), list.end());
    return list;
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

TEST(Triangles, TheOneContradictionAmongAMillionIsFound) {
    const int n = 500'000;
    ConstraintSet set = fan(n);
    EXPECT_FALSE(findContradictoryPair(set, 1e-5));
    EXPECT_FALSE(findImpossibleTriangle(set));
    const int last = n - 2; // of the chain
    set.constraints[last].target = 0.201;
    EXPECT_EQ(sorted(findImpossibleTriangle(set)), (Found{last, 2 * n - 3, 2 * n - 2}));
    set.constraints[last].target = 0.1;
    add(set, n - 1, n - 2, 0.1001);
    EXPECT_EQ(sorted(findContradictoryPair(set, 1e-5)), (Found{last, 2 * n - 1}));
    EXPECT_FALSE(findContradictoryPair(set, 1e-2));
    EXPECT_FALSE(findImpossibleTriangle(set));
}

TEST(Triangles, DuplicatesCountOnce) {
    ConstraintSet set = particles(3);
    for (int i = 0; i < 100'000; i++)
        add(set, i % 2, 1 - i % 2, 0.1);
    add(set, 1, 2, 0.1);
    add(set, 2, 0, 0.3);
    EXPECT_FALSE(findContradictoryPair(set, 1e-5));
    EXPECT_EQ(sorted(findImpossibleTriangle(set)), (Found{0, 100'000, 100'001}));
}

TEST(Triangles, WhatMovesOrCannotMoveOrIsReplacedContradictsNothing) {
    ConstraintSet set = particles(3);
    for (int i = 0; i < 3; i++)
        add(set, i, (i + 1) % 3, i == 2 ? 0.3 : 0.1);
    add(set, 0, 1, 0.1);
    EXPECT_EQ(sorted(findImpossibleTriangle(set)), (Found{0, 1, 2}));
    for (const auto change : {+[](ConstraintSet& s) { s.constraints[2].rate = 0.1; },
                              +[](ConstraintSet& s) { s.constraints[2].isReplaced = true; },
                              +[](ConstraintSet& s) { s.inverseMass[2] = s.inverseMass[0] = 0; }}) {
        ConstraintSet other = set;
        change(other);
        EXPECT_FALSE(findImpossibleTriangle(other));
    }
}
