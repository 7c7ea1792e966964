// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SMALL_BATCH_H_
#define CONSTRAINTS_CORE_DISTANCES_SMALL_BATCH_H_

#include "DistanceBatch.h"

namespace ConstraintPlugin {

/** A batch of the most frequent shapes, with loops unrolled at compile time: stars of one to four distances (methyl,
 * amine, ammonium) and the triangle (water). Newton's method with a dense matrix for both stages.
 *  @param like  as in DistanceData; a batch that this function made for the same pattern, or null
 *  @return null if the pattern is none of these */
std::unique_ptr<DistanceBatch> makeSmallBatch(const DistancePattern& pattern,
                                              const std::vector<const DistanceCluster*>& clusters,
                                              const DistanceBatch* like);

} // namespace ConstraintPlugin

#endif
