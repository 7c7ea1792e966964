// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Cut.h"
#include "Bisection.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** The largest part determines the time of all: halves are to be equal, unless that costs another row. */
constexpr double slack = 0.02;

struct Piece {
    std::vector<int> rows;
    int numParts; // that it is to be divided into
};

/** One half may be empty. @return false if all rows, or nearly all, are coupled to each other */
bool divide(Bisector& bisector, const std::vector<int>& piece, const Balance& balance, Bisector::Halves& halves) {
    if (bisector.separateByOneRow(piece, balance, halves))
        return true;
    const Bisector::Levels levels = bisector.levelsOf(piece);
    if (levels.size() < 3)
        return false;
    halves = bisector.separate(levels, balance);
    return !halves.first.empty() || !halves.second.empty();
}

} // namespace

Cut::Cut(const std::vector<std::vector<int>>& neighbours, int numParts) {
    std::vector<int> all(neighbours.size());
    std::iota(all.begin(), all.end(), 0);
    Bisector bisector(neighbours);
    std::vector<Piece> toDo;
    toDo.push_back({std::move(all), numParts});
    while (!toDo.empty()) {
        Piece piece = std::move(toDo.back());
        toDo.pop_back();
        if (piece.rows.empty() && !neighbours.empty()) // nearly all of a piece are its separator
            continue;
        Balance balance;
        const int half = piece.numParts / 2;
        balance.share = (double) half / piece.numParts;
        balance.slack = balance.levelSlack = slack;
        Bisector::Halves halves;
        if (piece.numParts == 1 || piece.rows.size() < 3 || !divide(bisector, piece.rows, balance, halves)) {
            std::sort(piece.rows.begin(), piece.rows.end());
            parts.push_back(std::move(piece.rows));
            continue;
        }
        separator.insert(separator.end(), halves.separator.begin(), halves.separator.end());
        // Parts to either half by its size, whichever share it got.
        const double share = (double) halves.first.size() / (double) (halves.first.size() + halves.second.size());
        const int inFirst = std::clamp((int) std::lround(share * piece.numParts), 1, piece.numParts - 1);
        toDo.push_back({std::move(halves.second), piece.numParts - inFirst});
        toDo.push_back({std::move(halves.first), inFirst});
    }
    std::sort(separator.begin(), separator.end());
}

} // namespace ConstraintPlugin
