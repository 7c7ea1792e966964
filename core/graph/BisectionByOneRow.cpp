// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Bisection.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** A depth-first search of a piece: no edge joins two branches. Rows are numbered in the order of the search, so those
 *  below a row are its next ones. */
struct Search {
    std::vector<int> rows;
    std::vector<int> parent;
    std::vector<int> size; ///< of the branch that begins with a row
    /** Branches that only the row that they hang on joins to the rest: the first of each row, then the next one. */
    std::vector<int> firstLoose, nextLoose;
};

/** Sizes of what is left in pieces when a row is taken out. */
using Sides = std::vector<std::pair<int, int>>; // size, and first row of the branch; 0: all that is not in a branch

Sides sidesOf(const Search& search, int k) {
    Sides sides;
    int others = (int) search.rows.size() - 1;
    for (int branch = search.firstLoose[k]; branch >= 0; branch = search.nextLoose[branch]) {
        sides.emplace_back(search.size[branch], branch);
        others -= search.size[branch];
    }
    if (others > 0)
        sides.emplace_back(others, 0);
    std::sort(sides.begin(), sides.end(), std::greater<>());
    return sides;
}

/** Put the sides, the largest first, where more rows are missing. visit(side, whether it is in the first half)
 *  @return by how many rows the first half differs from its share */
template <class Visit>
double distribute(const Sides& sides, double share, Visit visit) {
    double total = 0;
    for (const auto& [size, branch] : sides)
        total += size;
    double missing[2] = {share * total, (1 - share) * total};
    for (const auto& [size, branch] : sides) {
        const bool isFirst = missing[0] >= missing[1];
        missing[isFirst ? 0 : 1] -= size;
        visit(branch, isFirst);
    }
    return std::abs(missing[0]);
}

} // namespace

bool Bisector::separateByOneRow(const std::vector<int>& piece, const Balance& balance, Halves& halves) {
    const int n = (int) piece.size(), whole = pieceOf[piece[0]];
    Search s;
    std::vector<std::size_t> next(n, 0); // neighbour to look at
    search++;
    const auto enter = [&](int row, int parent) {
        seen[row] = search;
        place[row] = (int) s.rows.size();
        s.rows.push_back(row);
        s.parent.push_back(parent);
    };
    enter(piece[0], -1);
    for (int k = 0; k >= 0;) {
        const std::vector<int>& around = neighbours[s.rows[k]];
        while (next[k] < around.size() && (pieceOf[around[next[k]]] != whole || seen[around[next[k]]] == search))
            next[k]++;
        if (next[k] < around.size()) {
            enter(around[next[k]], k);
            k = (int) s.rows.size() - 1;
        } else
            k = s.parent[k];
    }
    if ((int) s.rows.size() < n) // it has several components
        return false;
    // The first row that each branch is joined to (Tarjan, SIAM J. Comput. 1, 146 (1972), doi:10.1137/0201010).
    std::vector<int> reaches(n);
    s.size.assign(n, 1);
    s.firstLoose.assign(n, -1);
    s.nextLoose.assign(n, -1);
    for (int k = 0; k < n; k++) {
        reaches[k] = k;
        for (int other : neighbours[s.rows[k]])
            if (pieceOf[other] == whole)
                reaches[k] = std::min(reaches[k], place[other]);
    }
    for (int k = n - 1; k > 0; k--) {
        const int parent = s.parent[k];
        s.size[parent] += s.size[k];
        reaches[parent] = std::min(reaches[parent], reaches[k]);
        if (reaches[k] >= parent) {
            s.nextLoose[k] = s.firstLoose[parent];
            s.firstLoose[parent] = k;
        }
    }
    int best = -1;
    double least = 0;
    for (int k = 0; k < n; k++) {
        if (s.firstLoose[k] < 0)
            continue;
        const Sides sides = sidesOf(s, k);
        const double difference = distribute(sides, balance.share, [](int, bool) {});
        if (sides.size() > 1 && (best < 0 || difference < least)) {
            best = k;
            least = difference;
        }
    }
    if (best < 0 || least > (balance.slack + balance.oneRowSlack) * n)
        return false;
    std::vector<int> isFirst(n, -1); // -1: as all that is not in a branch
    bool isRestFirst = false;
    distribute(sidesOf(s, best), balance.share, [&](int branch, bool first) {
        if (branch == 0)
            isRestFirst = first;
        else
            std::fill_n(isFirst.begin() + branch, s.size[branch], (int) first);
    });
    halves = {};
    const int a = ++numPieces, b = ++numPieces;
    for (int k = 0; k < n; k++) {
        if (k == best)
            continue;
        const bool first = isFirst[k] < 0 ? isRestFirst : isFirst[k] != 0;
        (first ? halves.first : halves.second).push_back(s.rows[k]);
        pieceOf[s.rows[k]] = first ? a : b;
    }
    halves.separator.push_back(s.rows[best]);
    pieceOf[s.rows[best]] = ++numPieces;
    return true;
}

} // namespace ConstraintPlugin
