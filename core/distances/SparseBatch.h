// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SPARSE_BATCH_H_
#define CONSTRAINTS_CORE_DISTANCES_SPARSE_BATCH_H_

#include "DistanceBatch.h"
#include "TaskRunner.h"

namespace ConstraintPlugin {

/** Workspace of a sparse batch. */
template <class Number>
struct SparseWorkspace {
    using Vector = typename LaneTraits<Number>::Vector;

    const void* owner = nullptr;       ///< the batch to which these bonds and this LDL^T factor belong
    Aligned<Vector> place;             ///< [particles] nm, the positions of bonds and factor
    Box box;                           ///< and the box
    Aligned<Vector> bond;              ///< [rows] nm
    Aligned<Vector> gradient;          ///< [rows] nm, of a later factor
    Aligned<Vector> moved;             ///< [particles] displacement (nm) or velocity (nm/ps)
    Aligned<Number> square;            ///< [rows] |bond|^2
    Aligned<Number> x;                 ///< [stored rows] residual, then correction of the multipliers
    Aligned<Number> diagonal, inverse; ///< [stored rows] pivots, and 1/pivots
    Aligned<Number> lower, upper;      ///< [stored entries] of the factor

    /** What a part has found, on a cache line of its own. */
    struct alignas(64) Finding {
        double largest = 0;       ///< error of sigma/L^2
        double sum = 0;           ///< of errors; not finite if any is not
        double farthest = -1;     ///< largest square of a displacement; -1: not known
        bool isNew = true;        ///< its bonds and factor, in this stage
        bool isRegular = true;    ///< its factor
        bool isForwarded = false; ///< x is on the way to the correction, and no residual any more
    };
    std::vector<Finding> findings; ///< [parts]
    Finding ofTop;
};

/** Workspace that the batches of a thread share, so that it stays in the cache. */
struct ThreadWorkspace {
    SparseWorkspace<Lanes> lanes;
    TaskRunner* runner = nullptr; ///< works on the parts of a large cluster; null: the calling thread does
};

/** A batch of any pattern: one cluster, or up to four equal ones side by side.
 *  @param useLanes  true: several clusters
 *  @param like      as in DistanceData; a batch that this function made for the same pattern in the same way, or null
 */
std::unique_ptr<DistanceBatch> makeSparseBatch(bool useLanes, const DistancePattern& pattern,
                                               const std::vector<const DistanceCluster*>& clusters,
                                               const DistanceBatch* like);

} // namespace ConstraintPlugin

#endif
