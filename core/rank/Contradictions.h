// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONTRADICTIONS_H_
#define CONSTRAINTS_CORE_CONTRADICTIONS_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** Find constraints of the same coordinate whose values differ by more than the tolerance (relative for distances, else
 * rad), or that change at different rates. Each pair contains the first declared constraint of a coordinate and one
 * that differs from it. */
std::vector<std::array<int, 2>> findContradictoryPairs(const ConstraintSet& set, double tolerance);

/** Find rings of three or more distances that cannot close: one distance exceeds the sum of all others by more than
 *  rounding. That distance is then ignored, so that it is in no other ring. If the longest distance equals the sum, the
 * ring is a linear rigid body (SingularBodies.cpp). Rings of very many distances, or through particles with very many
 *  distances, may not be found, because the search takes linear time.
 *  @param box  around which a ring may close whose lengths add up to its smallest width or more
 *  @return of each ring the constraint indices by length, the longest last */
std::vector<std::vector<int>> findImpossibleRings(const ConstraintSet& set, const Box& box = {});

} // namespace ConstraintPlugin

#endif
