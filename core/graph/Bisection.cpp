// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Bisection.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** Moves without gain that a refinement may make before it returns to the best it has seen. */
constexpr int longestWalk = 40;

/** 1, and more where the smaller half has too small a share. */
double penaltyOf(std::size_t first, std::size_t second, double total, double share, double slack) {
    const double smaller = std::min((double) first / (2 * share), (double) second / (2 * (1 - share))) / total;
    const double missing = 0.5 - slack - smaller;
    return missing > 0 ? 1 + 10 * missing : 1;
}

} // namespace

Bisector::Bisector(const std::vector<std::vector<int>>& neighbours)
    : neighbours(neighbours), pieceOf(neighbours.size(), 0), seen(neighbours.size(), -1), place(neighbours.size()) {
}

Bisector::Levels Bisector::levelsFrom(int row) {
    search++;
    Levels levels;
    levels.rows.push_back(row);
    seen[row] = search;
    while (levels.start.back() < levels.rows.size()) {
        const std::size_t begin = levels.start.back(), end = levels.rows.size();
        levels.start.push_back(end);
        for (std::size_t k = begin; k < end; k++)
            for (int j : neighbours[levels.rows[k]])
                if (pieceOf[j] == pieceOf[row] && seen[j] != search) {
                    seen[j] = search;
                    levels.rows.push_back(j);
                }
    }
    return levels;
}

Bisector::Levels Bisector::levelsOf(int row) {
    Levels levels = levelsFrom(row);
    for (;;) {
        const auto last = levels.rows.begin() + (std::ptrdiff_t) levels.start[levels.size() - 1];
        const auto fewest = std::min_element(last, levels.rows.end(),
                                             [&](int i, int j) { return neighbours[i].size() < neighbours[j].size(); });
        Levels other = levelsFrom(*fewest);
        if (other.size() <= levels.size())
            return levels;
        levels = std::move(other);
    }
}

Bisector::Levels Bisector::levelsOf(const std::vector<int>& piece) {
    Levels all;
    const int whole = pieceOf[piece[0]];
    for (int row : piece) {
        if (pieceOf[row] != whole) // in the levels already
            continue;
        if (!all.rows.empty())
            all.start.push_back(all.rows.size());
        const Levels levels = levelsOf(row);
        for (std::size_t l = 0; l < levels.size(); l++)
            all.start.push_back(all.rows.size() + levels.start[l + 1]);
        all.rows.insert(all.rows.end(), levels.rows.begin(), levels.rows.end());
        numPieces++;
        for (int other : levels.rows)
            pieceOf[other] = numPieces;
    }
    return all;
}

std::vector<int> Bisector::setApart(const std::vector<int>& rows, const std::vector<int>& piece) {
    numPieces++;
    for (int row : rows)
        pieceOf[row] = numPieces;
    std::vector<int> others;
    for (int row : piece)
        if (pieceOf[row] != numPieces)
            others.push_back(row);
    return others;
}

Bisector::Halves Bisector::separate(const Levels& levels, const Balance& balance) {
    // The level with the best ratio of size to division.
    const std::size_t total = levels.rows.size();
    std::size_t chosen = 1;
    double least = 0;
    for (std::size_t l = 1; l + 1 < levels.size(); l++) {
        const std::size_t before = levels.start[l], after = total - levels.start[l + 1];
        const double size = (double) std::max<std::size_t>(levels.sizeOf(l), 1);
        const double division =
            std::pow((double) before, 2 * balance.share) * std::pow((double) after, 2 * (1 - balance.share));
        const double cost =
            size / division * penaltyOf(before, after, (double) total, balance.share, balance.levelSlack);
        if (l == 1 || cost < least) {
            chosen = l;
            least = cost;
        }
    }
    const int a = ++numPieces, b = ++numPieces, s = ++numPieces;
    std::size_t sizes[2] = {levels.start[chosen], total - levels.start[chosen + 1]};
    for (std::size_t k = 0; k < total; k++)
        pieceOf[levels.rows[k]] = k < levels.start[chosen] ? a : k < levels.start[chosen + 1] ? s : b;
    Halves halves;
    halves.separator.assign(levels.rows.begin() + (std::ptrdiff_t) levels.start[chosen],
                            levels.rows.begin() + (std::ptrdiff_t) levels.start[chosen + 1]);
    refine(halves.separator, a, b, s, sizes, balance);
    for (int row : levels.rows) {
        if (pieceOf[row] == a)
            halves.first.push_back(row);
        else if (pieceOf[row] == b)
            halves.second.push_back(row);
    }
    return halves;
}

/** Move rows from the separator s into the half a or b; their neighbours in the other half join the separator. Each
 *  pass moves each row at most once. It may enlarge the separator for a limited number of moves. */
void Bisector::refine(std::vector<int>& separator, int a, int b, int s, std::size_t sizes[2], const Balance& balance) {
    const auto total = (double) (sizes[0] + sizes[1] + separator.size());
    const auto worth = [&](std::size_t length) { // small: few rows that divide evenly
        if (sizes[0] == 0 || sizes[1] == 0)
            return total; // no division at all
        return (double) length * penaltyOf(sizes[0], sizes[1], total, balance.share, balance.slack);
    };
    for (bool improves = true; improves;) {
        improves = false;
        double best = worth(separator.size());
        search++;                               // seen[row] == search: it has moved in this pass
        std::vector<std::pair<int, int>> moves; // row, and the part it was in
        std::size_t bestLength = 0;
        for (int walk = 0; walk < longestWalk; walk++) {
            int row = -1, half = 0, gain = 0;
            for (int i : separator) {
                if (seen[i] == search)
                    continue;
                int inHalf[2] = {0, 0};
                for (int j : neighbours[i]) {
                    inHalf[0] += pieceOf[j] == a;
                    inHalf[1] += pieceOf[j] == b;
                }
                for (int to : {0, 1}) {
                    const int now = 1 - inHalf[1 - to];
                    if (row < 0 || now > gain || (now == gain && sizes[to] < sizes[half])) {
                        row = i;
                        half = to;
                        gain = now;
                    }
                }
            }
            if (row < 0)
                break;
            seen[row] = search;
            moves.emplace_back(row, s);
            pieceOf[row] = half == 0 ? a : b;
            sizes[half]++;
            separator.erase(std::find(separator.begin(), separator.end(), row));
            for (int j : neighbours[row])
                if (pieceOf[j] == (half == 0 ? b : a)) {
                    moves.emplace_back(j, pieceOf[j]);
                    pieceOf[j] = s;
                    sizes[1 - half]--;
                    separator.push_back(j);
                }
            if (worth(separator.size()) < best) {
                best = worth(separator.size());
                bestLength = moves.size();
                improves = true;
                walk = 0;
            }
        }
        // Back to the best.
        while (moves.size() > bestLength) {
            const auto [row, from] = moves.back();
            moves.pop_back();
            if (pieceOf[row] == s)
                separator.erase(std::find(separator.begin(), separator.end(), row));
            else
                sizes[pieceOf[row] == b]--;
            pieceOf[row] = from;
            if (from == s)
                separator.push_back(row);
            else
                sizes[from == b]++;
        }
    }
    std::sort(separator.begin(), separator.end());
}

} // namespace ConstraintPlugin
