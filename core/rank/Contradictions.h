// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONTRADICTIONS_H_
#define CONSTRAINTS_CORE_CONTRADICTIONS_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** Find distances between the same particles whose lengths differ by more than the tolerance (relative). In each pair,
 *  the second differs from the first that is listed. */
std::vector<std::array<int, 2>> findContradictoryPairs(const ConstraintSet& set, double tolerance);

/** Find distances that close a ring, a triangle at least, of which one is longer than all others together, by more than
 *  rounding; that one is then left out, so that it is in no other ring. Straight ones are rigid bodies
 *  (SingularBodies.cpp). Rings of very many distances, or through particles of very many, may be missed: time is
 * linear.
 *  @return of each ring the constraint indices by length, the longest last */
std::vector<std::vector<int>> findImpossibleRings(const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
