// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Lanes.h"
#include "TestHooks.h"
#define CONSTRAINTS_CLONES_OF_LANES CONSTRAINTS_CLONES_NARROW
#include "SmallBatch.inc"

namespace ConstraintPlugin {

int lanesOfSmallBatches() {
    constexpr int narrow = LaneTraits<Lanes>::width, wide = LaneTraits<WideLanes>::width;
    if (const int chosen = TestHooks::lanes.valueOr(0))
        return chosen == wide ? wide : narrow;
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? wide : narrow;
#else
    return narrow;
#endif
}

bool hasSmallBatch(const DistancePattern& pattern) {
    return isOf<Star<1>>(pattern) || isOf<Star<2>>(pattern) || isOf<Star<3>>(pattern) || isOf<Star<4>>(pattern) ||
           isOf<Triangle>(pattern);
}

std::unique_ptr<DistanceBatch> makeSmallBatch(int lanes, const DistancePattern& pattern,
                                              const std::vector<const DistanceCluster*>& clusters,
                                              const DistanceBatch* like) {
    return lanes == LaneTraits<Lanes>::width ? makeOf<Lanes>(pattern, clusters, like)
                                             : makeWideBatch(pattern, clusters, like);
}

} // namespace ConstraintPlugin
