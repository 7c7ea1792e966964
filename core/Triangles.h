// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TRIANGLES_H_
#define CONSTRAINTS_CORE_TRIANGLES_H_

#include "ConstraintSet.h"
#include <array>
#include <optional>

namespace ConstraintPlugin {

/** Find three distances that close a triangle of which one is longer than the others together, by more than rounding.
 *  Straight ones are rigid bodies (SingularBodies.cpp).
 *  @return constraint indices, the longest last */
std::optional<std::array<int, 3>> findImpossibleTriangle(const ConstraintSet& set);

/** Find two distances between the same particles whose lengths differ by more than the tolerance (relative). */
std::optional<std::array<int, 2>> findContradictoryPair(const ConstraintSet& set, double tolerance);

} // namespace ConstraintPlugin

#endif
