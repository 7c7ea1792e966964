// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SUBDOMAIN_H_
#define CONSTRAINTS_CORE_SUBDOMAIN_H_

#include "Elimination.h"
#include <functional>
#include <vector>

namespace ConstraintPlugin {

/** A subdomain of a cluster: rows that it owns, and a halo of rows around them that it solves too. Rows are local to
 * the cluster: 0 ... n-1. */
struct Subdomain {
    std::vector<int> own;    ///< rows that it owns, ascending; every row has one owner
    std::vector<int> solved; ///< own rows and those within `hops` of them, in the order of elimination
    std::vector<int> ring;   ///< rows that are coupled to solved ones and are not solved, ascending
    SymbolicFactor factor;   ///< of the solved rows: its column k is row solved[k]
};

/** With 128 own rows and seven hops, a subdomain of a protein solves some 200 rows in 10-12 levels, as it would with
 * fewer, and Newton's method takes the corrections that it takes in one piece (tests/TestSubdomains.cpp;
 * benchmarks/subdomains.cpp). With six, the first correction of velocities left errors of up to half of 1e-5: too much
 * to leave out the next one.
 */
struct SubdomainLimits {
    int whole = 160;    ///< a cluster of at most so many rows is one subdomain, without halo
    int ownRows = 128;  ///< of a subdomain: no more on average
    int hops = 7;       ///< from own rows to the outermost row of the halo, from row to neighbour
    int mostRows = 512; ///< solved rows of a subdomain
};

/** Cut a large cluster into overlapping subdomains, each of which one thread block solves. Errors of a subdomain that
 * does not know the corrections of the rows around it decrease by a constant factor per hop, so with a halo its own
 * rows are nearly right (restricted additive Schwarz method: Cai and Sarkis, SIAM J. Sci. Comput. 21, 792 (1999),
 *  doi:10.1137/S106482759732678X). It depends on the graph only.
 *
 *  @param neighbours  [n][...] rows that share a movable particle with each row, without itself, ascending
 *  @param accepts     asked about each subdomain as soon as it is made; empty: all are accepted
 *  @return the subdomains; none if a subdomain would exceed the limits or is not accepted */
std::vector<Subdomain> cutIntoSubdomains(const std::vector<std::vector<int>>& neighbours,
                                         const SubdomainLimits& limits = {},
                                         const std::function<bool(const Subdomain&)>& accepts = {});

} // namespace ConstraintPlugin

#endif
