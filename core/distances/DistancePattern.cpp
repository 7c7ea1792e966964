// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DistancePattern.h"
#include <algorithm>
#include <numeric>

namespace ConstraintPlugin {

DistancePattern::DistancePattern(const std::vector<LocalPair>& given, const std::vector<char>& movable,
                                 const SymbolicFactor& factor, const std::vector<int>& order)
    : isMovable(movable), positionOf(given.size()) {
    const int n = (int) given.size();
    auto length = [&](int k) { return factor.columnStart[k + 1] - factor.columnStart[k]; };
    std::vector<int> sorted(n), newOf(n); // position -> that in the given factor, and back
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) {
        return factor.level[a] != factor.level[b] ? factor.level[a] < factor.level[b] : length(a) < length(b);
    });
    for (int k = 0; k < n; k++) {
        newOf[sorted[k]] = k;
        positionOf[order[sorted[k]]] = k;
    }

    std::vector<int> columnStart{0};
    for (int k : sorted) {
        pairs.push_back(given[order[k]]);
        for (int e = factor.columnStart[k]; e < factor.columnStart[k + 1]; e++)
            entryRow.push_back(newOf[factor.entryRow[e]]);
        std::sort(entryRow.begin() + columnStart.back(), entryRow.end());
        columnStart.push_back((int) entryRow.size());
        maxColumn = std::max(maxColumn, length(k));
    }
    auto find = [&](int row, int column) {
        const auto end = entryRow.begin() + columnStart[column + 1];
        return (int) (std::lower_bound(entryRow.begin() + columnStart[column], end, row) - entryRow.begin());
    };

    for (int k = 0; k < n; k++) {
        if (k == 0 || length(sorted[k]) != runs.back().length || factor.level[sorted[k]] != factor.level[sorted[k - 1]])
            runs.push_back({k, k, length(sorted[k]), columnStart[k], (long long) updateTarget.size()});
        runs.back().end = k + 1;
        for (int a = columnStart[k]; a < columnStart[k + 1]; a++)
            for (int b = a + 1; b < columnStart[k + 1]; b++)
                updateTarget.push_back(find(entryRow[b], entryRow[a]));
    }

    std::vector<std::vector<int>> rowsAt(numParticles());
    for (int k = 0; k < n; k++)
        for (int p : {pairs[k].first, pairs[k].second})
            if (movable[p])
                rowsAt[p].push_back(k);
    for (int p = 0; p < numParticles(); p++)
        for (std::size_t a = 0; a < rowsAt[p].size(); a++)
            for (std::size_t b = 0; b < a; b++) {
                const int row = rowsAt[p][a], column = rowsAt[p][b];
                const bool isAlike = (pairs[row].first == p) == (pairs[column].first == p);
                meetings.push_back({find(row, column), row, column, p, isAlike ? 1.0 : -1.0});
            }
    std::sort(meetings.begin(), meetings.end(), [](const Meeting& a, const Meeting& b) { return a.entry < b.entry; });
}

} // namespace ConstraintPlugin
