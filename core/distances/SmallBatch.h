// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SMALL_BATCH_H_
#define CONSTRAINTS_CORE_DISTANCES_SMALL_BATCH_H_

#include "DistanceBatch.h"

namespace ConstraintPlugin {

/** How many clusters a small batch solves side by side on this machine: eight with AVX-512, else four. */
int lanesOfSmallBatches();

/** Whether there is a small batch for a pattern. */
bool hasSmallBatch(const DistancePattern& pattern);

/** A batch of any number of clusters of the most frequent shapes, with loops unrolled at compile time: stars of one to
 * four distances (methyl, amine, ammonium) and the triangle (water). Newton's method with a dense matrix for both
 * stages, and the closed form of RigidTriangle for the position stage of triangles.
 *  @param lanes     so many share lanes: 4 or 8
 *  @param like      as in DistanceData; a batch that this function made for the same pattern, or null */
std::unique_ptr<DistanceBatch> makeSmallBatch(int lanes, const DistancePattern& pattern,
                                              const std::vector<const DistanceCluster*>& clusters,
                                              const DistanceBatch* like);
/** The same with eight lanes, in a file of its own. */
std::unique_ptr<DistanceBatch> makeWideBatch(const DistancePattern& pattern,
                                             const std::vector<const DistanceCluster*>& clusters,
                                             const DistanceBatch* like);

} // namespace ConstraintPlugin

#endif
