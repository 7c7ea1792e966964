// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CUT_H_
#define CONSTRAINTS_CORE_CUT_H_

#include <vector>

namespace ConstraintPlugin {

/** Rows of a graph in parts that are not coupled to each other, and the rows that separate them. Trees and chains, and
 *  proteins, are cut into p parts by p - 1 rows. It depends on the graph only. */
struct Cut {
    /** Recursive bisection into parts of nearly equal size. There are fewer parts than asked for where rows cannot be
     *  separated.
     *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending
     *  @param numParts    at least 1 */
    Cut(const std::vector<std::vector<int>>& neighbours, int numParts);

    std::vector<std::vector<int>> parts; ///< rows of each, ascending; none is empty, unless there are no rows
    std::vector<int> separator;          ///< all other rows, ascending
};

} // namespace ConstraintPlugin

#endif
