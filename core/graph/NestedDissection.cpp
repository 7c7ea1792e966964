// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NestedDissection.h"
#include "Bisection.h"
#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Parts of so few rows are not divided further: their rows go in order of degree. */
constexpr std::size_t smallestPart = 8;

class Dissector {
public:
    Dissector(const std::vector<std::vector<int>>& neighbours, Dissection& result)
        : neighbours(neighbours), result(result), bisector(neighbours) {
    }
    /** Put rows into the order. */
    void divide(const std::vector<int>& rows, std::size_t widest) {
        std::vector<std::vector<int>> toDo = {rows}; // pieces in reverse: separators are put down first, and read last
        std::vector<int> reversed;
        while (!toDo.empty()) {
            std::vector<int> piece = std::move(toDo.back());
            toDo.pop_back();
            if (piece.empty())
                continue;
            if (piece.size() <= smallestPart) {
                appendSmall(piece, reversed);
                continue;
            }
            const Bisector::Levels levels = bisector.levelsOf(piece[0]);
            Bisector::Halves halves;
            if (levels.rows.size() < piece.size()) { // it has several components
                halves.first = levels.rows;
                halves.second = bisector.setApart(levels.rows, piece);
            } else if (levels.size() < 3) { // all but a clique
                appendSmall(piece, reversed);
                continue;
            } else
                halves = bisector.separate(levels);
            const std::vector<int>& separator = halves.separator;
            result.widestSeparator = std::max(result.widestSeparator, separator.size());
            if (separator.size() > widest)
                return;
            reversed.insert(reversed.end(), separator.rbegin(), separator.rend());
            toDo.push_back(std::move(halves.first));
            toDo.push_back(std::move(halves.second));
        }
        result.order.assign(reversed.rbegin(), reversed.rend());
    }

private:
    void appendSmall(std::vector<int>& rows, std::vector<int>& reversed) {
        std::stable_sort(rows.begin(), rows.end(),
                         [&](int i, int j) { return neighbours[i].size() > neighbours[j].size(); });
        reversed.insert(reversed.end(), rows.begin(), rows.end());
    }

    const std::vector<std::vector<int>>& neighbours;
    Dissection& result;
    Bisector bisector;
};

} // namespace

Dissection::Dissection(const std::vector<std::vector<int>>& neighbours, std::size_t widest) {
    std::vector<int> all(neighbours.size());
    std::iota(all.begin(), all.end(), 0);
    Dissector(neighbours, *this).divide(all, widest);
}

} // namespace ConstraintPlugin
