// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Elimination.h"
#include "NestedDissection.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace ConstraintPlugin {

int SymbolicFactor::findEntry(int row, int column) const {
    const auto first = entryRow.begin() + columnStart[column], last = entryRow.begin() + columnStart[column + 1];
    const auto found = std::lower_bound(first, last, row);
    return found != last && *found == row ? (int) (found - entryRow.begin()) : -1;
}

namespace {

/** Rows of one round: an independent set, taken in order of degree among the rows of low degree.
 *  @param alwaysLow  a degree that is low in any round */
std::vector<int> chooseRound(const std::vector<int>& remaining, const std::vector<std::vector<int>>& neighbours,
                             std::size_t alwaysLow, std::vector<int>& blockedInRound, int round) {
    std::vector<std::size_t> degrees;
    degrees.reserve(remaining.size());
    for (int row : remaining)
        degrees.push_back(neighbours[row].size());
    // Taking only rows of the lowest degree, such as the ends of a chain, would lead to many small rounds. Taking rows
    // of any degree would lead to much fill.
    const auto low = degrees.begin() + (std::ptrdiff_t)(degrees.size() / 16);
    std::nth_element(degrees.begin(), low, degrees.end());
    const std::size_t limit = std::max(alwaysLow, *low + *low / 4);
    std::vector<std::vector<int>> byDegree(limit + 1);
    for (int row : remaining)
        if (neighbours[row].size() <= limit)
            byDegree[neighbours[row].size()].push_back(row);
    std::vector<int> chosen;
    for (const auto& rows : byDegree)
        for (int row : rows)
            if (blockedInRound[row] != round) {
                chosen.push_back(row);
                for (int other : neighbours[row])
                    blockedInRound[other] = round;
            }
    return chosen;
}

/** Remove a row from the graph and join its neighbours: the fill of eliminating it. */
void eliminateRow(int row, std::vector<std::vector<int>>& neighbours, std::vector<int>& merged) {
    const std::vector<int>& front = neighbours[row];
    for (int other : front) {
        merged.clear();
        std::set_union(neighbours[other].begin(), neighbours[other].end(), front.begin(), front.end(),
                       std::back_inserter(merged));
        auto last = std::remove_if(merged.begin(), merged.end(), [&](int i) { return i == row || i == other; });
        neighbours[other].assign(merged.begin(), last);
    }
}

/** Rounds of independent sets. @param widest  give up before a row with more neighbours is eliminated
 *  @return [n] position in the elimination -> row; empty where it was given up, or updates exceed the limit */
std::vector<int> orderByRounds(std::vector<std::vector<int>> neighbours, std::size_t alwaysLow, std::size_t widest,
                               long long maxUpdates) {
    const int n = (int) neighbours.size();
    std::vector<int> order, remaining(n), blockedInRound(n, -1), merged;
    std::iota(remaining.begin(), remaining.end(), 0);
    std::vector<char> isEliminated(n);
    long long updates = 0;
    for (int round = 0; !remaining.empty(); round++) {
        for (int row : chooseRound(remaining, neighbours, alwaysLow, blockedInRound, round)) {
            const std::size_t degree = neighbours[row].size();
            updates += (long long) (degree * (degree - 1) / 2);
            if (degree > widest || updates > maxUpdates)
                return {};
            order.push_back(row);
            isEliminated[row] = 1;
            eliminateRow(row, neighbours, merged);
        }
        remaining.erase(std::remove_if(remaining.begin(), remaining.end(), [&](int row) { return isEliminated[row]; }),
                        remaining.end());
    }
    return order;
}

/** Columns of L in a given order: what the matrix has there, and what earlier columns leave. A column passes its fill
 * on to its parent in the elimination tree, its first entry.
 *  @return false if it exceeds the limits */
bool findColumns(const std::vector<std::vector<int>>& neighbours, std::vector<int> order, SymbolicFactor& factor,
                 const EliminationLimits& limits) {
    const int n = (int) neighbours.size();
    factor = SymbolicFactor();
    factor.order = std::move(order);
    std::vector<int> position(n), inColumn(n, -1), firstChild(n, -1), nextChild(n, -1);
    for (int k = 0; k < n; k++)
        position[factor.order[k]] = k;
    factor.columnStart.push_back(0);
    factor.level.assign(n, 0);
    for (int k = 0; k < n; k++) {
        const auto add = [&](int row) {
            if (row > k && inColumn[row] != k) {
                inColumn[row] = k;
                factor.entryRow.push_back(row);
            }
        };
        for (int other : neighbours[factor.order[k]])
            add(position[other]);
        for (int child = firstChild[k]; child >= 0; child = nextChild[child])
            for (int e = factor.columnStart[child]; e < factor.columnStart[child + 1]; e++)
                add(factor.entryRow[e]);
        const long long entries = (long long) factor.entryRow.size(), length = entries - factor.columnStart[k];
        factor.numUpdates += length * (length - 1) / 2;
        if (entries > limits.entries || factor.numUpdates > limits.updates)
            return false;
        const auto first = factor.entryRow.begin() + factor.columnStart[k];
        std::sort(first, factor.entryRow.end());
        factor.columnStart.push_back((int) entries);
        factor.numLevels = std::max(factor.numLevels, factor.level[k] + 1);
        if (length > 0) {
            const int parent = *first;
            nextChild[k] = firstChild[parent];
            firstChild[parent] = k;
            factor.level[parent] = std::max(factor.level[parent], factor.level[k] + 1);
        }
    }
    return true;
}

/** Find the entry that each update of the factorization changes. */
void findUpdateTargets(SymbolicFactor& factor) {
    factor.updateTarget.reserve(factor.numUpdates);
    for (int k = 0; k < factor.size(); k++)
        for (int a = factor.columnStart[k]; a < factor.columnStart[k + 1]; a++)
            for (int b = a + 1; b < factor.columnStart[k + 1]; b++)
                factor.updateTarget.push_back(factor.findEntry(factor.entryRow[b], factor.entryRow[a]));
}

/** Nested dissection and its fill, exactly unless that is far beyond the limits. @return false if it exceeds them */
bool orderByDissection(const std::vector<std::vector<int>>& neighbours, const EliminationLimits& limits,
                       std::vector<int>& order, FillCount& fill) {
    constexpr double hopeless = 100; // times the limit
    Dissection dissection(neighbours, (std::size_t) std::cbrt(6 * hopeless * (double) limits.updates) + 2);
    order = std::move(dissection.order);
    if (!order.empty())
        fill = countFill(neighbours, order);
    else {
        const double n = (double) dissection.widestSeparator;
        fill = {n * (n - 1) / 2, n * (n - 1) * (n - 2) / 6};
    }
    return limits.allow(fill);
}

/** Rows of a tree-like graph have at most so many neighbours when they are eliminated. No other order is then tried. */
constexpr std::size_t widestOfTrees = 12;

/** Cost of a factorization in multiply-adds. Levels add to it, because they cannot be computed in parallel. */
double costOf(const SymbolicFactor& factor) {
    return (double) factor.numUpdates + (double) factor.entryRow.size() + 200.0 * factor.numLevels;
}

/** The cheaper one of two kinds of rounds. Where a row with many neighbours is among rows with few, as an angle among
 * bonds, rows beside it would wait for many rounds if only the least degrees were low. @return false if there is none
 */
bool factorByRounds(const std::vector<std::vector<int>>& neighbours, std::size_t widest, long long maxUpdates,
                    const EliminationLimits& limits, SymbolicFactor& factor) {
    constexpr std::size_t mostForBoth = 512; // rows: levels take most of the time of few rows, updates of many
    std::vector<std::size_t> lowDegrees = {4};
    if (neighbours.size() <= mostForBoth)
        lowDegrees.push_back(6);
    bool isFound = false;
    for (std::size_t alwaysLow : lowDegrees) {
        std::vector<int> rounds = orderByRounds(neighbours, alwaysLow, widest, maxUpdates);
        SymbolicFactor next;
        if (!rounds.empty() && findColumns(neighbours, std::move(rounds), next, limits) &&
            (!isFound || costOf(next) < costOf(factor))) {
            factor = std::move(next);
            isFound = true;
        }
    }
    return isFound;
}

} // namespace

bool eliminate(const std::vector<std::vector<int>>& neighbours, SymbolicFactor& factor,
               const EliminationLimits& limits) {
    FillCount fill;
    return eliminate(neighbours, factor, fill, limits);
}

bool eliminate(const std::vector<std::vector<int>>& neighbours, SymbolicFactor& factor, FillCount& fill,
               const EliminationLimits& limits) {
    factor = SymbolicFactor();
    factor.columnStart.push_back(0);
    if (neighbours.empty())
        return true;
    bool isFound = factorByRounds(neighbours, widestOfTrees, limits.updates, limits, factor);
    if (!isFound) {
        std::vector<int> order;
        isFound = orderByDissection(neighbours, limits, order, fill) &&
                  findColumns(neighbours, std::move(order), factor, limits);
        factor.isDissected = true;
        // Rounds may still be cheaper. They stop as soon as they are not.
        const long long most = isFound ? factor.numUpdates : limits.updates;
        SymbolicFactor other;
        if (factorByRounds(neighbours, neighbours.size(), most, limits, other) &&
            (!isFound || costOf(other) < costOf(factor))) {
            factor = std::move(other);
            isFound = true;
        }
    }
    if (isFound) {
        findUpdateTargets(factor);
        fill = {(double) factor.entryRow.size(), (double) factor.numUpdates};
    }
    return isFound;
}

SymbolicFactor sideBySide(const std::vector<const SymbolicFactor*>& factors) {
    SymbolicFactor all;
    all.columnStart = {0};
    for (const SymbolicFactor* factor : factors) {
        const int firstRow = all.size(), firstEntry = (int) all.entryRow.size();
        const auto append = [](std::vector<int>& to, const std::vector<int>& from, int shift,
                               std::ptrdiff_t first = 0) {
            std::transform(from.begin() + first, from.end(), std::back_inserter(to), [&](int i) { return i + shift; });
        };
        append(all.order, factor->order, firstRow);
        append(all.columnStart, factor->columnStart, firstEntry, 1);
        append(all.entryRow, factor->entryRow, firstRow);
        append(all.level, factor->level, 0);
        append(all.updateTarget, factor->updateTarget, firstEntry);
        all.numLevels = std::max(all.numLevels, factor->numLevels);
        all.numUpdates += factor->numUpdates;
        all.isDissected = all.isDissected || factor->isDissected;
    }
    return all;
}

} // namespace ConstraintPlugin
