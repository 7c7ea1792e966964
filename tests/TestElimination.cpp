// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Elimination.h"
#include "support/SystemTable.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using Neighbours = std::vector<std::vector<int>>;

static Neighbours fromPairs(int n, const std::vector<std::pair<int, int>>& pairs) {
    std::vector<std::set<int>> sets(n);
    for (const auto& [i, j] : pairs) {
        sets[i].insert(j);
        sets[j].insert(i);
    }
    Neighbours neighbours;
    for (const auto& s : sets)
        neighbours.emplace_back(s.begin(), s.end());
    return neighbours;
}

/** Rows of a linear chain: each bond shares a particle with the next. */
static Neighbours path(int n) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 1; i < n; i++)
        pairs.push_back({i - 1, i});
    return fromPairs(n, pairs);
}

static Neighbours ringOf(int n) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < n; i++)
        pairs.push_back({i, (i + 1) % n});
    return fromPairs(n, pairs);
}

/** A grid of rows x columns: much fill. */
static Neighbours grid(int rows, int columns) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            if (i > 0)
                pairs.push_back({(i - 1) * columns + j, i * columns + j});
            if (j > 0)
                pairs.push_back({i * columns + j - 1, i * columns + j});
        }
    return fromPairs(rows * columns, pairs);
}

/** Points of a cubic lattice: fill that explodes. */
static Neighbours cube(int n) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < n * n * n; i++)
        for (int step : {1, n, n * n})
            if (i / step % n > 0)
                pairs.push_back({i - step, i});
    return fromPairs(n * n * n, pairs);
}

static Neighbours complete(int n) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            pairs.push_back({i, j});
    return fromPairs(n, pairs);
}

static Neighbours randomGraph(int n, int bonds, unsigned seed) {
    Random random(seed);
    std::vector<std::pair<int, int>> pairs;
    for (int b = 0; b < bonds; b++) {
        const int i = random.below(n), j = random.below(n);
        if (i != j)
            pairs.push_back({i, j});
    }
    return fromPairs(n, pairs);
}

/** Bonds of a lattice of hexagons, a brick wall of so many columns and rows of atoms; rolled up: a tube. */
static Neighbours hexagons(int columns, int rows, bool isTube) {
    std::vector<std::vector<int>> bondsAt(columns * rows);
    int numBonds = 0;
    const auto bond = [&](int i, int j) {
        bondsAt[i].push_back(numBonds);
        bondsAt[j].push_back(numBonds++);
    };
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            if (x + 1 < columns || isTube)
                bond(y * columns + x, y * columns + (x + 1) % columns);
            if (y + 1 < rows && (x + y) % 2 == 0)
                bond(y * columns + x, (y + 1) * columns + x);
        }
    std::vector<std::pair<int, int>> pairs;
    for (const auto& bonds : bondsAt)
        for (std::size_t a = 0; a < bonds.size(); a++)
            for (std::size_t b = 0; b < a; b++)
                pairs.emplace_back(bonds[a], bonds[b]);
    return fromPairs(numBonds, pairs);
}

/** Everything a factor promises, by brute force on a dense pattern in the factor's own order. */
static void expectBruteForce(const SymbolicFactor& factor, const Neighbours& neighbours) {
    const int n = (int) neighbours.size();
    const FillCount counted = countFill(neighbours, factor.order);
    EXPECT_EQ(counted.entries, (double) factor.entryRow.size());
    EXPECT_EQ(counted.updates, (double) factor.numUpdates);
    std::vector<int> sorted = factor.order, position(n);
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < n; i++)
        ASSERT_EQ(sorted[i], i) << "the order is no permutation";
    for (int i = 0; i < n; i++)
        position[factor.order[i]] = i;
    std::vector<std::vector<char>> filled(n, std::vector<char>(n, 0));
    for (int i = 0; i < n; i++)
        for (int j : neighbours[i])
            filled[position[i]][position[j]] = 1;
    std::vector<int> expectedTargets;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = i + 1; j < n && filled[i][k]; j++)
                if (filled[j][k])
                    filled[i][j] = filled[j][i] = 1;
    for (int k = 0; k < n; k++) {
        std::vector<int> column;
        for (int i = k + 1; i < n; i++)
            if (filled[i][k])
                column.push_back(i);
        EXPECT_EQ(std::vector<int>(factor.entryRow.begin() + factor.columnStart[k],
                                   factor.entryRow.begin() + factor.columnStart[k + 1]),
                  column)
            << "column " << k;
        for (std::size_t a = 0; a < column.size(); a++)
            for (std::size_t b = a + 1; b < column.size(); b++) {
                const int target = factor.findEntry(column[b], column[a]);
                ASSERT_GE(target, factor.columnStart[column[a]]);
                ASSERT_EQ(factor.entryRow[target], column[b]);
                expectedTargets.push_back(target);
            }
        int level = 0;
        for (int j = 0; j < k; j++)
            if (filled[k][j]) {
                EXPECT_LT(factor.level[j], factor.level[k]) << "rows of one level depend on each other";
                level = std::max(level, factor.level[j] + 1);
            }
        EXPECT_EQ(factor.level[k], level) << "a row waits longer than it has to";
    }
    EXPECT_EQ(factor.updateTarget, expectedTargets);
    EXPECT_EQ(factor.numLevels, n == 0 ? 0 : *std::max_element(factor.level.begin(), factor.level.end()) + 1);
}

static void expectBruteForceFactor(const Neighbours& neighbours, const std::string& what) {
    SCOPED_TRACE(what);
    SymbolicFactor factor;
    FillCount fill;
    ASSERT_TRUE(eliminate(neighbours, factor, fill));
    EXPECT_EQ(fill.entries, (double) factor.entryRow.size());
    EXPECT_EQ(fill.updates, (double) factor.numUpdates);
    expectBruteForce(factor, neighbours);
}

TEST(Elimination, EqualsBruteForceFillOfTheSameOrder) {
    expectBruteForceFactor({}, "nothing");
    expectBruteForceFactor(path(1), "one row");
    expectBruteForceFactor(path(2), "two rows");
    expectBruteForceFactor(path(57), "path");
    expectBruteForceFactor(ringOf(3), "triangle");
    expectBruteForceFactor(ringOf(40), "ring");
    expectBruteForceFactor(complete(12), "star of 12 bonds");
    expectBruteForceFactor(grid(7, 9), "grid");
    expectBruteForceFactor(grid(14, 17), "dissected grid");
    expectBruteForceFactor(hexagons(12, 14, true), "tube");
    for (unsigned seed = 0; seed < 8; seed++)
        expectBruteForceFactor(randomGraph(60, 40 + 15 * seed, seed), "random graph " + std::to_string(seed));
}

TEST(Elimination, ChainOfTenThousandIsShallowAndSparse) {
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(path(10000), factor));
    EXPECT_LE(factor.numLevels, 16);
    EXPECT_LE(factor.entryRow.size(), 2.2 * 10000);
}

TEST(Elimination, AChainWithAnglesIsShallowAndSparse) {
    // Only rows at its ends have few neighbours: taken one after the other they would make n/4 rounds.
    const int n = 20000;
    std::vector<std::pair<int, int>> pairs;
    std::vector<std::vector<int>> rowsOf(n); // bonds and angles of each particle
    for (int row = 0; row < 2 * n - 3; row++) {
        const int first = row < n - 1 ? row : row - (n - 1);
        for (int p = first; p <= first + (row < n - 1 ? 1 : 2); p++) {
            for (int other : rowsOf[p])
                pairs.push_back({other, row});
            rowsOf[p].push_back(row);
        }
    }
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(fromPairs(2 * n - 3, pairs), factor));
    EXPECT_LE(factor.numLevels, 100);
    EXPECT_LE(factor.entryRow.size(), 20u * n);
}

TEST(Elimination, ACH2ChainWithLongerRowsIsShallow) {
    // Every third row of three carbons joins up to twelve bonds. With four as the lowest limit of degrees, bonds beside
    // it would wait for rounds: 21 levels.
    const int n = 44; // carbons, each with two hydrogens behind it
    std::vector<std::vector<int>> rows;
    for (int i = 0; i < n; i++) {
        if (i > 0)
            rows.push_back({3 * i - 3, 3 * i});
        rows.push_back({3 * i, 3 * i + 1});
        rows.push_back({3 * i, 3 * i + 2});
    }
    for (int i = 1; i < n - 3; i += 3)
        rows.push_back({3 * i - 3, 3 * i, 3 * i + 6});
    std::vector<std::pair<int, int>> pairs;
    std::vector<std::vector<int>> rowsOf(3 * n);
    for (int row = 0; row < (int) rows.size(); row++)
        for (int p : rows[row]) {
            for (int other : rowsOf[p])
                if (other != row)
                    pairs.push_back({other, row});
            rowsOf[p].push_back(row);
        }
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(fromPairs((int) rows.size(), pairs), factor));
    EXPECT_LE(factor.numLevels, 13);
}

TEST(Elimination, RingOfTenThousandIsShallowAndSparse) {
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(ringOf(10000), factor));
    EXPECT_LE(factor.numLevels, 17);
    EXPECT_LE(factor.entryRow.size(), 2.2 * 10000);
}

TEST(Elimination, MeshesAreDissected) {
    // Compare: minimum degree gives 437 and 468 levels for such a flake and such a tube.
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(hexagons(40, 80, false), factor));
    EXPECT_TRUE(factor.isDissected);
    EXPECT_LE(factor.numLevels, 150);
    EXPECT_LE(factor.entryRow.size(), 12.0 * factor.size());
    ASSERT_TRUE(eliminate(hexagons(40, 100, true), factor));
    EXPECT_TRUE(factor.isDissected);
    EXPECT_LE(factor.numLevels, 170);
    EXPECT_LE(factor.entryRow.size(), 14.0 * factor.size());
    ASSERT_TRUE(eliminate(path(1000), factor));
    EXPECT_FALSE(factor.isDissected);
}

TEST(Elimination, StarHasAFullFactorAndNoMore) {
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(complete(20), factor));
    EXPECT_EQ(factor.entryRow.size(), 20u * 19 / 2);
    EXPECT_EQ(factor.numLevels, 20);
}

TEST(Elimination, SameGraphSameFactor) {
    SymbolicFactor first, second;
    ASSERT_TRUE(eliminate(randomGraph(200, 300, 3), first));
    ASSERT_TRUE(eliminate(randomGraph(200, 300, 3), second));
    EXPECT_EQ(first.order, second.order);
    EXPECT_EQ(first.updateTarget, second.updateTarget);
}

TEST(Elimination, FactorsSideBySideAreTheFactorOfAll) {
    const std::vector<Neighbours> graphs{path(57), complete(12), path(1), randomGraph(60, 70, 3), ringOf(40)};
    Neighbours all;
    std::vector<SymbolicFactor> factors(graphs.size());
    std::vector<const SymbolicFactor*> pointers;
    for (std::size_t i = 0; i < graphs.size(); i++) {
        ASSERT_TRUE(eliminate(graphs[i], factors[i]));
        pointers.push_back(&factors[i]);
        const int first = (int) all.size();
        for (std::vector<int> others : graphs[i]) {
            for (int& other : others)
                other += first;
            all.push_back(others);
        }
    }
    expectBruteForce(sideBySide(pointers), all);
    expectBruteForce(sideBySide({}), {});
}

TEST(Elimination, StopsWhereTheFillExceedsTheLimits) {
    SymbolicFactor factor;
    EliminationLimits limits;
    limits.entries = 20 * 19 / 2;
    EXPECT_TRUE(eliminate(complete(20), factor, limits));
    limits.entries--;
    EXPECT_FALSE(eliminate(complete(20), factor, limits));
    limits = EliminationLimits();
    limits.updates = 20 * 19 * 18 / 6;
    EXPECT_TRUE(eliminate(complete(20), factor, limits));
    limits.updates--;
    EXPECT_FALSE(eliminate(complete(20), factor, limits));
}

TEST(Elimination, PredictsTheFillThatItRefuses) {
    SymbolicFactor factor;
    FillCount made, refused;
    ASSERT_TRUE(eliminate(cube(8), factor, made));
    ASSERT_TRUE(factor.isDissected);
    EliminationLimits limits;
    limits.updates = 20'000;
    EXPECT_FALSE(eliminate(cube(8), factor, refused, limits));
    EXPECT_EQ(refused.entries, made.entries);
    EXPECT_EQ(refused.updates, made.updates);
    // Far beyond, the widest separator alone is reason enough.
    limits.updates = 100;
    EXPECT_FALSE(eliminate(cube(8), factor, refused, limits));
    EXPECT_LT(refused.updates, made.updates);
    EXPECT_GT(refused.updates, 100 * limits.updates);
}

TEST(Elimination, FindsNoEntryWhereThereIsNone) {
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(path(3), factor));
    // The ends are eliminated first; they are not coupled.
    EXPECT_EQ(factor.findEntry(1, 0), -1);
    EXPECT_GE(factor.findEntry(2, 0), 0);
}
