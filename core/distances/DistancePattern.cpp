// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DistancePattern.h"
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace ConstraintPlugin {

namespace {

/** Cut the elimination tree into subtrees of similar size, and deal them out. @return [columns] part, or numParts: the
 *  top; empty if the top would be too large to leave to one thread */
std::vector<int> splitTree(const SymbolicFactor& factor, int numParts) {
    const int n = factor.size();
    auto parentOf = [&](int k) {
        return factor.columnStart[k] < factor.columnStart[k + 1] ? factor.entryRow[factor.columnStart[k]] : n;
    };
    std::vector<int> size(n + 1, 1); // of the subtree; n: above all roots
    std::vector<std::vector<int>> children(n + 1);
    for (int k = 0; k < n; k++) {
        size[parentOf(k)] += size[k];
        children[parentOf(k)].push_back(k);
    }
    using Subtree = std::pair<int, int>; // size, root
    std::priority_queue<Subtree> largest;
    largest.push({size[n], n});
    int numTop = 0;
    while (largest.top().first > n / (2 * numParts)) {
        const int root = largest.top().second;
        largest.pop();
        numTop++;
        for (int child : children[root])
            largest.push({size[child], child});
        if (numTop > n / 10 || largest.empty())
            return {};
    }
    std::vector<int> part(n + 1, numParts), load(numParts);
    for (; !largest.empty(); largest.pop()) {
        const auto lightest = std::min_element(load.begin(), load.end());
        *lightest += largest.top().first;
        part[largest.top().second] = (int) (lightest - load.begin());
    }
    for (int k = n - 1; k >= 0; k--)
        if (part[k] == numParts)
            part[k] = part[parentOf(k)];
    part.pop_back();
    return part;
}

} // namespace

DistancePattern::DistancePattern(const std::vector<LocalPair>& given, const std::vector<char>& movable,
                                 const SymbolicFactor& factor, const std::vector<int>& order)
    : isMovable(movable), positionOf(given.size()) {
    const int n = (int) given.size();
    auto length = [&](int k) { return factor.columnStart[k + 1] - factor.columnStart[k]; };
    std::vector<int> partOf;
    const bool hasImmovable =
        std::find(movable.begin(), movable.end(), 0) != movable.end(); // several parts may have it
    if (n >= minSplitRows && !hasImmovable)
        partOf = splitTree(factor, numParts);
    const bool isSplit = !partOf.empty();
    partOf.resize(n, numParts);
    std::vector<int> sorted(n), newOf(n); // position -> that in the given factor, and back
    std::iota(sorted.begin(), sorted.end(), 0);
    auto key = [&](int k) { return std::make_tuple(partOf[k], factor.level[k], length(k)); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return key(a) < key(b); });
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
    }
    auto find = [&](int row, int column) {
        const auto end = entryRow.begin() + columnStart[column + 1];
        return (int) (std::lower_bound(entryRow.begin() + columnStart[column], end, row) - entryRow.begin());
    };

    for (int k = 0; k < n; k++) {
        if (k == 0 || key(sorted[k]) != key(sorted[k - 1]))
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
    std::vector<std::pair<SharedElement, SharedParticle>> found;
    for (int p = 0; p < numParticles(); p++)
        for (std::size_t a = 0; a < rowsAt[p].size(); a++)
            for (std::size_t b = 0; b < a; b++) {
                const int row = rowsAt[p][a], column = rowsAt[p][b];
                const bool isAlike = (pairs[row].first == p) == (pairs[column].first == p);
                found.push_back({{find(row, column), row, column}, {p, isAlike ? 1.0 : -1.0}});
            }
    std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.first.entry < b.first.entry; });
    for (const auto& [element, place] : found) {
        sharedElements.push_back(element);
        sharedParticles.push_back(place);
    }

    int run = 0, element = 0;
    for (int p = isSplit ? 0 : numParts; p <= numParts; p++) {
        Part part{};
        part.beginRow = p == 0 || !isSplit ? 0 : parts.back().endRow;
        part.endRow = part.beginRow;
        while (part.endRow < n && partOf[sorted[part.endRow]] == p)
            part.endRow++;
        part.beginRun = run;
        while (run < (int) runs.size() && runs[run].begin < part.endRow)
            run++;
        part.endRun = run;
        part.beginShared = element;
        while (element < (int) sharedElements.size() && sharedElements[element].entry < columnStart[part.endRow])
            element++;
        part.endShared = element;
        (p < numParts ? parts.emplace_back() : top) = part;
    }
}

} // namespace ConstraintPlugin
