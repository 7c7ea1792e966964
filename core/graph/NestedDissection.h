// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_NESTED_DISSECTION_H_
#define CONSTRAINTS_CORE_NESTED_DISSECTION_H_

#include <cstddef>
#include <limits>
#include <vector>

namespace ConstraintPlugin {

/** Order of elimination by nested dissection: a small set of rows that separates the rest into halves comes last, and
 *  the halves are ordered likewise. For meshes, tubes and networks, where rounds of independent sets fill in.
 *  A. George, SIAM J. Numer. Anal. 10, 345 (1973), doi:10.1137/0710032. Separators are levels of a breadth-first search
 *  (George and Liu, SIAM J. Numer. Anal. 15, 1053 (1978), doi:10.1137/0715069), refined by moves of single rows
 *  (Ashcraft and Liu, SIAM J. Matrix Anal. Appl. 19, 325 (1998), doi:10.1137/S0895479896302692).
 *
 *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending
 *  @param widest      stop if a separator has more rows, because it becomes a dense block of the factor
 */
struct Dissection {
    explicit Dissection(const std::vector<std::vector<int>>& neighbours,
                        std::size_t widest = std::numeric_limits<std::size_t>::max());
    std::vector<int> order;          ///< [n] position in the elimination -> row; empty where it was given up
    std::size_t widestSeparator = 0; ///< of those found
};

} // namespace ConstraintPlugin

#endif
