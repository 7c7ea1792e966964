// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NestedDissection.h"
#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Parts of so few rows are not divided further: their rows go in order of degree. */
constexpr std::size_t smallestPart = 8;
/** Neither half may have less than this share of a part, unless no separator does better. */
constexpr double smallestShare = 0.3;
/** Moves without gain that a refinement may make before it returns to the best it has seen. */
constexpr int longestWalk = 40;

class Dissector {
public:
    Dissector(const std::vector<std::vector<int>>& neighbours, Dissection& result)
        : neighbours(neighbours), result(result), part(neighbours.size(), 0), seen(neighbours.size(), -1) {
    }
    /** Put rows into the order. Rows of each piece that is left to do have its own number in `part`. */
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
            const Levels levels = longestLevels(piece[0]);
            std::vector<int> separator, first, second;
            std::size_t reached = 0;
            for (const auto& level : levels)
                reached += level.size();
            if (reached < piece.size()) { // it has several components
                for (const auto& level : levels)
                    first.insert(first.end(), level.begin(), level.end());
                numParts++;
                for (int row : first)
                    part[row] = numParts;
                for (int row : piece) // the others keep the number of the whole
                    if (part[row] != part[first[0]])
                        second.push_back(row);
            } else {
                if (levels.size() < 3) { // all but a clique
                    appendSmall(piece, reversed);
                    continue;
                }
                separate(levels, first, separator, second);
            }
            result.widestSeparator = std::max(result.widestSeparator, separator.size());
            if (separator.size() > widest)
                return;
            reversed.insert(reversed.end(), separator.rbegin(), separator.rend());
            toDo.push_back(std::move(first));
            toDo.push_back(std::move(second));
        }
        result.order.assign(reversed.rbegin(), reversed.rend());
    }

private:
    using Levels = std::vector<std::vector<int>>;

    /** Rows at distance 0, 1, 2... from a row, within its part. */
    Levels levelsFrom(int row) {
        search++;
        Levels levels = {{row}};
        for (seen[row] = search; !levels.back().empty();) {
            std::vector<int> next;
            for (int i : levels.back())
                for (int j : neighbours[i])
                    if (part[j] == part[row] && seen[j] != search) {
                        seen[j] = search;
                        next.push_back(j);
                    }
            levels.push_back(std::move(next));
        }
        levels.pop_back();
        return levels;
    }

    /** Levels from a row at one end of a part, found by searches from alternate ends. */
    Levels longestLevels(int row) {
        Levels levels = levelsFrom(row);
        for (;;) {
            const auto fewest = std::min_element(levels.back().begin(), levels.back().end(), [&](int i, int j) {
                return neighbours[i].size() < neighbours[j].size();
            });
            Levels other = levelsFrom(*fewest);
            if (other.size() <= levels.size())
                return levels;
            levels = std::move(other);
        }
    }

    void appendSmall(std::vector<int>& rows, std::vector<int>& reversed) {
        std::stable_sort(rows.begin(), rows.end(),
                         [&](int i, int j) { return neighbours[i].size() > neighbours[j].size(); });
        reversed.insert(reversed.end(), rows.begin(), rows.end());
        for (int row : rows)
            part[row] = -1;
    }

    /** Divide a connected part by the level with the best ratio of size to division, then refine it. */
    void separate(const Levels& levels, std::vector<int>& first, std::vector<int>& separator,
                  std::vector<int>& second) {
        std::size_t total = 0, before = 0, chosen = 1;
        for (const auto& level : levels)
            total += level.size();
        double least = 0;
        for (std::size_t l = 0; l + 1 < levels.size(); before += levels[l++].size()) {
            const double after = (double) (total - before - levels[l].size());
            const double cost = (double) levels[l].size() / ((double) before * after);
            if (l > 0 && (l == 1 || cost < least)) {
                chosen = l;
                least = cost;
            }
        }
        const int a = ++numParts, b = ++numParts, s = ++numParts;
        std::size_t sizes[2] = {0, 0};
        for (std::size_t l = 0; l < levels.size(); l++)
            for (int row : levels[l]) {
                part[row] = l < chosen ? a : l > chosen ? b : s;
                if (l != chosen)
                    sizes[l > chosen]++;
            }
        separator = levels[chosen];
        refine(separator, a, b, s, sizes);
        for (const auto& level : levels)
            for (int row : level) {
                if (part[row] == a)
                    first.push_back(row);
                else if (part[row] == b)
                    second.push_back(row);
            }
    }

    /** Move rows from the separator s into the half a or b; their neighbours in the other half join the separator. Each
     *  pass moves each row at most once. It may enlarge the separator for a limited number of moves. */
    void refine(std::vector<int>& separator, int a, int b, int s, std::size_t sizes[2]) {
        const auto total = (double) (sizes[0] + sizes[1] + separator.size());
        const auto worth = [&](std::size_t length) { // small: few rows that divide evenly
            const double smaller = (double) std::min(sizes[0], sizes[1]) / total;
            if (smaller == 0)
                return total; // no division at all
            return (double) length * (smaller < smallestShare ? 1 + (smallestShare - smaller) * 10 : 1);
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
                        inHalf[0] += part[j] == a;
                        inHalf[1] += part[j] == b;
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
                part[row] = half == 0 ? a : b;
                sizes[half]++;
                separator.erase(std::find(separator.begin(), separator.end(), row));
                for (int j : neighbours[row])
                    if (part[j] == (half == 0 ? b : a)) {
                        moves.emplace_back(j, part[j]);
                        part[j] = s;
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
                if (part[row] == s)
                    separator.erase(std::find(separator.begin(), separator.end(), row));
                else
                    sizes[part[row] == b]--;
                part[row] = from;
                if (from == s)
                    separator.push_back(row);
                else
                    sizes[from == b]++;
            }
        }
        std::sort(separator.begin(), separator.end());
    }

    const std::vector<std::vector<int>>& neighbours;
    Dissection& result;
    std::vector<int> part; // of each row; -1: in the order already
    std::vector<int> seen; // in which search
    int numParts = 0, search = 0;
};

} // namespace

Dissection::Dissection(const std::vector<std::vector<int>>& neighbours, std::size_t widest) {
    std::vector<int> all(neighbours.size());
    std::iota(all.begin(), all.end(), 0);
    Dissector(neighbours, *this).divide(all, widest);
}

} // namespace ConstraintPlugin
