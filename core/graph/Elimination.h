// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_ELIMINATION_H_
#define CONSTRAINTS_CORE_ELIMINATION_H_

#include "FillCount.h"
#include <vector>

namespace ConstraintPlugin {

/** Symbolic factor of a matrix with symmetric pattern: the order of elimination and the pattern of L (and of U, its
 *  transpose), fill included. Column k's entries are entryRow[columnStart[k]] ... entryRow[columnStart[k+1]-1], all >
 * k. */
struct SymbolicFactor {
    std::vector<int> order;       ///< [n] position in the elimination -> row as given
    std::vector<int> columnStart; ///< [n+1]
    std::vector<int> entryRow;    ///< [entries] position of the row, ascending within a column
    std::vector<int> level;       ///< [n] height in the elimination tree: columns of one level are independent
    int numLevels = 0;
    long long numUpdates = 0;
    bool isDissected = false; ///< whether the order is of nested dissection, or else of rounds
    /** For each column k in turn, for each pair a < b of its entries: which entry (row b, column a) it updates. */
    std::vector<int> updateTarget;

    int size() const {
        return (int) order.size();
    }
    /** Index of the entry (row, column), row > column, both positions; -1 if it is not in the pattern. */
    int findEntry(int row, int column) const;
};

/** Largest number of entries and updates of a factor. A larger factor is not made. */
struct EliminationLimits {
    long long entries = 20'000'000;
    long long updates = 100'000'000;
    bool allow(const FillCount& fill) const {
        return fill.entries <= (double) entries && fill.updates <= (double) updates;
    }
};

/** Order and factor a symmetric pattern symbolically, with few levels and little fill. Each round eliminates an
 * independent set of rows of low degree (cyclic reduction, generalized to trees). A tree-like graph of n rows has O(log
 * n) levels. On meshes, tubes and networks this leads to much fill; nested dissection is used there if it costs less.
 *
 *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending
 *  @param[out] factor the result
 *  @param[out] fill   its size
 *  @return false if the fill exceeds the limits; the factor is then incomplete, and `fill` is an estimate or a lower
 * bound
 */
bool eliminate(const std::vector<std::vector<int>>& neighbours, SymbolicFactor& factor, FillCount& fill,
               const EliminationLimits& limits = {});
bool eliminate(const std::vector<std::vector<int>>& neighbours, SymbolicFactor& factor,
               const EliminationLimits& limits = {});

/** The factor of matrices that are not coupled to each other: rows and entries of each follow those of the one before,
 *  and columns of a level of all of them are eliminated at once. */
SymbolicFactor sideBySide(const std::vector<const SymbolicFactor*>& factors);

} // namespace ConstraintPlugin

#endif
