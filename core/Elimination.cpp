// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Elimination.h"
#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ConstraintPlugin {

int SymbolicFactor::findEntry(int row, int column) const {
    const auto first = entryRow.begin() + columnStart[column], last = entryRow.begin() + columnStart[column + 1];
    const auto found = std::lower_bound(first, last, row);
    return found != last && *found == row ? (int) (found - entryRow.begin()) : -1;
}

namespace {

/** Rows of one round: an independent set, taken in order of degree among the rows of low degree. */
std::vector<int> chooseRound(const std::vector<int>& remaining, const std::vector<std::vector<int>>& neighbours,
                             std::vector<int>& blockedInRound, int round) {
    std::size_t lowest = neighbours[remaining.front()].size();
    for (int row : remaining)
        lowest = std::min(lowest, neighbours[row].size());
    // Rows of the lowest degree alone would make many thin rounds; rows of any degree would make much fill.
    const std::size_t limit = std::max<std::size_t>(4, lowest + lowest / 4);
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

/** Find which entry each update of the factorization lands in. */
void findUpdateTargets(SymbolicFactor& factor) {
    for (int k = 0; k < factor.size(); k++)
        for (int a = factor.columnStart[k]; a < factor.columnStart[k + 1]; a++)
            for (int b = a + 1; b < factor.columnStart[k + 1]; b++)
                factor.updateTarget.push_back(factor.findEntry(factor.entryRow[b], factor.entryRow[a]));
}

} // namespace

bool eliminate(std::vector<std::vector<int>> neighbours, SymbolicFactor& factor, const EliminationLimits& limits) {
    const int n = (int) neighbours.size();
    factor = SymbolicFactor();
    std::vector<int> remaining(n), position(n, -1), blockedInRound(n, -1), merged;
    for (int i = 0; i < n; i++)
        remaining[i] = i;
    long long entries = 0, updates = 0;
    for (int round = 0; !remaining.empty(); round++) {
        for (int row : chooseRound(remaining, neighbours, blockedInRound, round)) {
            const long long degree = (long long) neighbours[row].size();
            entries += degree;
            updates += degree * (degree - 1) / 2;
            if (entries > limits.entries || updates > limits.updates)
                return false;
            position[row] = (int) factor.order.size();
            factor.order.push_back(row);
            eliminateRow(row, neighbours, merged);
        }
        remaining.erase(std::remove_if(remaining.begin(), remaining.end(), [&](int row) { return position[row] >= 0; }),
                        remaining.end());
    }
    // What was left of a row's neighbours when it was eliminated is its column of L.
    factor.columnStart.push_back(0);
    factor.entryRow.reserve(entries);
    factor.updateTarget.reserve(updates);
    for (int row : factor.order) {
        for (int other : neighbours[row])
            factor.entryRow.push_back(position[other]);
        std::sort(factor.entryRow.begin() + factor.columnStart.back(), factor.entryRow.end());
        factor.columnStart.push_back((int) factor.entryRow.size());
    }
    factor.level.assign(n, 0);
    for (int k = 0; k < n; k++) {
        factor.numLevels = std::max(factor.numLevels, factor.level[k] + 1);
        for (int e = factor.columnStart[k]; e < factor.columnStart[k + 1]; e++)
            factor.level[factor.entryRow[e]] = std::max(factor.level[factor.entryRow[e]], factor.level[k] + 1);
    }
    findUpdateTargets(factor);
    return true;
}

} // namespace ConstraintPlugin
