// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PARTS_H_
#define CONSTRAINTS_CORE_PARTS_H_

#include "Elimination.h"
#include <functional>
#include <vector>

namespace ConstraintPlugin {

/** A part of a cluster: rows that it owns, and a halo of rows around them that it solves too. Rows are local to the
 *  cluster: 0 ... n-1. */
struct Part {
    std::vector<int> own;    ///< rows that it owns, ascending; every row has one owner
    std::vector<int> solved; ///< own rows and those within `hops` of them, in the order of elimination
    std::vector<int> ring;   ///< rows that are coupled to solved ones and are not solved, ascending
    SymbolicFactor factor;   ///< of the solved rows: its column k is row solved[k]
};

/** With 128 own rows and seven hops, a part of a protein solves some 200 rows in 10-12 levels, as it would with fewer,
 * and Newton's method takes the corrections that it takes in one piece (tests/TestSubdomains.cpp;
 * benchmarks/subdomains.cpp). With six, the first correction of velocities left errors of up to half of 1e-5: too much
 * to leave out the next one.
 */
struct PartLimits {
    int whole = 160;    ///< a cluster of at most so many rows is one part, without halo
    int ownRows = 128;  ///< of a part: no more on average
    int hops = 7;       ///< from own rows to the outermost row of the halo, from row to neighbour
    int mostRows = 512; ///< solved rows of a part
};

/** Cut a large cluster into overlapping parts, each of which one thread block solves. Errors of a part that does not
 *  know the corrections of the rows around it decrease by a constant factor per hop, so with a halo its own rows
 *  are nearly right (restricted additive Schwarz method: Cai and Sarkis, SIAM J. Sci. Comput. 21, 792 (1999),
 *  doi:10.1137/S106482759732678X). It depends on the graph only.
 *
 *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending
 *  @param accepts     asked about each part as soon as it is made; empty: all are accepted
 *  @return the parts; none if a part would exceed the limits or is not accepted */
std::vector<Part> cutIntoParts(const std::vector<std::vector<int>>& neighbours, const PartLimits& limits = {},
                               const std::function<bool(const Part&)>& accepts = {});

} // namespace ConstraintPlugin

#endif
