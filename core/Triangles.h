// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TRIANGLES_H_
#define CONSTRAINTS_CORE_TRIANGLES_H_

#include "ConstraintSet.h"
#include <array>
#include <optional>

namespace ConstraintPlugin {

/** Three distances that close a triangle which cannot be solved. */
struct BadTriangle {
    std::array<int, 3> constraints; ///< the longest last
    bool impossible;                ///< longer than the other two together; else straight within 1e-4
};

/** Find a triangle of distances that is impossible or straight, from the lengths alone. */
std::optional<BadTriangle> findBadTriangle(const ConstraintSet& set);

/** Find two distances between the same particles whose lengths differ by more than the tolerance (relative). */
std::optional<std::array<int, 2>> findContradictoryPair(const ConstraintSet& set, double tolerance);

} // namespace ConstraintPlugin

#endif
