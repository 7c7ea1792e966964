// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONTRADICTIONS_H_
#define CONSTRAINTS_CORE_CONTRADICTIONS_H_

#include "ConstraintSet.h"
#include <array>
#include <optional>

namespace ConstraintPlugin {

/** Find two distances between the same particles whose lengths differ by more than the tolerance (relative). */
std::optional<std::array<int, 2>> findContradictoryPair(const ConstraintSet& set, double tolerance);

/** Find distances that close a ring, a triangle at least, of which one is longer than all others together, by more than
 *  rounding. Straight ones are rigid bodies (SingularBodies.cpp). Rings of very many distances, or through particles of
 *  very many, may be missed: time is linear.
 *  @return constraint indices by length, the longest last; empty if there is none */
std::vector<int> findImpossibleRing(const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
