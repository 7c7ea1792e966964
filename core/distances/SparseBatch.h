// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SPARSE_BATCH_H_
#define CONSTRAINTS_CORE_DISTANCES_SPARSE_BATCH_H_

#include "DistanceBatch.h"

namespace ConstraintPlugin {

/** What a sparse batch works on. */
template <class Number>
struct SparseWorkspace {
    using Vector = typename LaneTraits<Number>::Vector;

    const void* owner = nullptr;       ///< whose bonds and LDL^T factor these are
    Aligned<Vector> place;             ///< [particles] nm, where they were taken
    Aligned<Vector> bond;              ///< [rows] nm
    Aligned<Vector> gradient;          ///< [rows] nm, where a factor was made anew
    Aligned<Vector> moved;             ///< [particles] displacement (nm) or velocity (nm/ps)
    Aligned<Number> square;            ///< [rows] |bond|^2
    Aligned<Number> x;                 ///< [rows] residual, then correction of the multipliers
    Aligned<Number> diagonal, inverse; ///< [rows] pivots, and 1/pivots
    Aligned<Number> lower, upper;      ///< [entries] of the factor
};

/** What a thread's batches use in turns: it stays in the cache. */
struct ThreadWorkspace {
    SparseWorkspace<Lanes> lanes;
};

/** A batch of any pattern: one cluster, or up to numLanes equal ones side by side.
 *  @param useLanes  which of both
 *  @param like      as DistanceData; a batch that this function made of the same pattern in the same way, or null */
std::unique_ptr<DistanceBatch> makeSparseBatch(bool useLanes, const DistancePattern& pattern,
                                               const std::vector<const DistanceCluster*>& clusters,
                                               const DistanceBatch* like);

} // namespace ConstraintPlugin

#endif
