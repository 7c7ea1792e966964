// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_FILL_COUNT_H_
#define CONSTRAINTS_CORE_FILL_COUNT_H_

#include <vector>

namespace ConstraintPlugin {

/** Size of a factor, known before it is made. */
struct FillCount {
    double entries = 0; ///< below the diagonal
    double updates = 0; ///< of an entry by two others
    /** Memory for numbers in double precision and structure: L, U and the row of each entry, and a target per update.
     */
    double bytes() const {
        return 20 * entries + 4 * updates;
    }
};

/** Count the fill of an order of elimination without making it, in time almost linear in the pattern. A row of L is a
 *  subtree of the elimination tree, which is determined by its leaves and the points where their paths join.
 *  Source: Gilbert, Ng, Peyton, SIAM J. Matrix Anal. Appl. 15, 1075 (1994), doi:10.1137/S0895479892236921.
 *
 *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself
 *  @param order       [n] position in the elimination -> row
 */
FillCount countFill(const std::vector<std::vector<int>>& neighbours, const std::vector<int>& order);

} // namespace ConstraintPlugin

#endif
