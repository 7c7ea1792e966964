// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Lanes.h"
#define CONSTRAINTS_CLONES_OF_LANES CONSTRAINTS_CLONES_WIDE
#include "SmallBatch.inc"

namespace ConstraintPlugin {

std::unique_ptr<DistanceBatch> makeWideBatch(const DistancePattern& pattern,
                                             const std::vector<const DistanceCluster*>& clusters,
                                             const DistanceBatch* like) {
    return makeOf<WideLanes>(pattern, clusters, like);
}

} // namespace ConstraintPlugin
