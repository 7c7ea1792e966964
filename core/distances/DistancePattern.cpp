// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DistancePattern.h"
#include "SplitTree.h"
#include <algorithm>
#include <numeric>
#include <tuple>

namespace ConstraintPlugin {

namespace {

/** Numbers of a cache line: what different threads write should not share one. */
constexpr int lineSize = 8;

int roundUp(int n) {
    return (n + lineSize - 1) / lineSize * lineSize;
}

} // namespace

DistancePattern::DistancePattern(const std::vector<LocalPair>& given, const std::vector<char>& movable,
                                 const SymbolicFactor& factor, const std::vector<int>& order)
    : isMovable(movable), positionOf(given.size()), givenRow(given.size()), particleNumber(movable.size()) {
    const int n = (int) given.size();
    auto length = [&](int k) { return factor.columnStart[k + 1] - factor.columnStart[k]; };
    std::vector<int> partOf;
    const bool hasImmovable =
        std::find(movable.begin(), movable.end(), 0) != movable.end(); // several parts may have it
    if (!hasImmovable)
        partOf = splitTree(factor);
    const bool isSplit = !partOf.empty();
    const int numParts = isSplit ? *std::max_element(partOf.begin(), partOf.end()) : 0;
    partOf.resize(n, numParts);
    std::vector<int> sorted(n), newOf(n); // position -> that in the given factor, and back
    std::iota(sorted.begin(), sorted.end(), 0);
    auto key = [&](int k) { return std::make_tuple(partOf[k], factor.level[k], length(k)); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return key(a) < key(b); });
    for (int k = 0; k < n; k++) {
        newOf[sorted[k]] = k;
        givenRow[k] = order[sorted[k]];
        positionOf[givenRow[k]] = k;
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
    for (int p = 0; p <= numParts; p++) {
        Part part{};
        part.beginRow = p == 0 ? 0 : parts.back().endRow;
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
    numberParticles();
    copyTop();
}

void DistancePattern::numberParticles() {
    // The parts that have a particle are one, or the top too.
    std::vector<int> owner(numParticles(), (int) parts.size());
    for (int p = (int) parts.size() - 1; p >= 0; p--)
        for (int k = parts[p].beginRow; k < parts[p].endRow; k++)
            owner[pairs[k].first] = owner[pairs[k].second] = p;
    std::vector<int> given(numParticles());
    std::iota(given.begin(), given.end(), 0);
    std::stable_sort(given.begin(), given.end(), [&](int a, int b) { return owner[a] < owner[b]; });
    for (int i = 0; i < numParticles(); i++)
        particleNumber[given[i]] = i;
    for (LocalPair& pair : pairs)
        pair = {particleNumber[pair.first], particleNumber[pair.second]};
    for (SharedParticle& shared : sharedParticles)
        shared.particle = particleNumber[shared.particle];
    int particle = 0;
    for (int p = 0; p <= (int) parts.size(); p++) {
        Part& part = p < (int) parts.size() ? parts[p] : top;
        part.beginParticle = particle;
        while (particle < numParticles() && owner[given[particle]] == p)
            particle++;
        part.endParticle = particle;
        part.beginTopEnd = (int) topEnds.size();
        for (int k = top.beginRow; k < top.endRow && isSplit(); k++)
            for (bool isFirst : {true, false}) {
                const int end = isFirst ? pairs[k].first : pairs[k].second;
                if (end >= part.beginParticle && end < part.endParticle)
                    topEnds.push_back({k, end, isFirst});
            }
        part.endTopEnd = (int) topEnds.size();
    }
}

void DistancePattern::copyTop() {
    const int topEntry = firstEntry(top);
    numStoredRows = numRows();
    numStoredEntries = numEntries();
    for (Part& part : parts) {
        part.copyRow = roundUp(numStoredRows);
        part.copyEntry = roundUp(numStoredEntries);
        numStoredRows = part.copyRow + top.endRow - top.beginRow;
        numStoredEntries = part.copyEntry + numEntries() - topEntry;
        for (int e = firstEntry(part); e < lastEntry(part); e++)
            if (entryRow[e] >= top.beginRow)
                entryRow[e] += part.copyRow - top.beginRow;
        const auto updatesBefore = [&](int run) {
            return run < (int) runs.size() ? runs[run].update : (long long) updateTarget.size();
        };
        for (long long u = updatesBefore(part.beginRun); u < updatesBefore(part.endRun); u++)
            if (updateTarget[u] >= topEntry)
                updateTarget[u] += part.copyEntry - topEntry;
    }
}

} // namespace ConstraintPlugin
