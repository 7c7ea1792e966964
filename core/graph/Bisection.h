// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BISECTION_H_
#define CONSTRAINTS_CORE_BISECTION_H_

#include <cstddef>
#include <vector>

namespace ConstraintPlugin {

/** How a bisection is to divide the rows of a piece. */
struct Balance {
    double share = 0.5; ///< of the first half
    /** The smaller half may have less than its share by this much, relative to the whole, without a penalty: */
    double slack = 0.2;
    double oneRowSlack = 0.1; ///< a single row that separates is taken in spite of so much more
    double levelSlack = 0.5;  ///< the same for the level that is refined; by default there is no penalty
};

/** Divides the rows of a graph into halves and a small set of rows that separates them. Separators are levels of a
 *  breadth-first search (George and Liu, SIAM J. Numer. Anal. 15, 1053 (1978), doi:10.1137/0715069), refined by moves
 * of single rows (Ashcraft and Liu, SIAM J. Matrix Anal. Appl. 19, 325 (1998), doi:10.1137/S0895479896302692).
 *
 *  It knows which piece each row is in. All rows are one piece at first. */
class Bisector {
public:
    /** @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending. The
     *                     object refers to them. */
    explicit Bisector(const std::vector<std::vector<int>>& neighbours);

    /** Rows at distance 0, 1, 2... from one end of a piece. */
    struct Levels {
        std::vector<int> rows;             ///< by level
        std::vector<std::size_t> start{0}; ///< [levels+1]

        std::size_t size() const {
            return start.size() - 1;
        }
        std::size_t sizeOf(std::size_t level) const {
            return start[level + 1] - start[level];
        }
    };
    /** Levels of the component of a row, within its piece, found by searches from alternate ends. */
    Levels levelsOf(int row);
    /** Levels of all components of a piece, one component after the other, with an empty level in between. */
    Levels levelsOf(const std::vector<int>& piece);

    struct Halves {
        std::vector<int> first, separator, second;
    };
    /** Divide the rows of three levels or more. Each half becomes a piece of its own. */
    Halves separate(const Levels& levels, const Balance& balance = {});
    /** Divide a piece by the one row that does so most evenly, as in trees. Several pieces that are not coupled make a
     * half.
     *  @return false if it has several components, or there is no such row, or only one that divides it unevenly */
    bool separateByOneRow(const std::vector<int>& piece, const Balance& balance, Halves& halves);
    /** Divide a piece into the given rows of it and all others, which are returned. */
    std::vector<int> setApart(const std::vector<int>& rows, const std::vector<int>& piece);

private:
    Levels levelsFrom(int row);
    void refine(std::vector<int>& separator, int a, int b, int s, std::size_t sizes[2], const Balance& balance);

    const std::vector<std::vector<int>>& neighbours;
    std::vector<int> pieceOf; // of each row
    std::vector<int> seen;    // in which search
    std::vector<int> place;   // in a search by depth
    int numPieces = 0, search = 0;
};

} // namespace ConstraintPlugin

#endif
