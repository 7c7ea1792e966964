// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LENGTH_CHECKS_H_
#define OPENMM_CONSTRAINTS_LENGTH_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Report constraints of one coordinate whose values differ, and lengths that contradict each other; ignore the last
 *  of each contradiction, or the longest of a ring. A group that ends several distances of centroids is one point
 * there, and one with a single massive particle is that.
 */
void checkLengths(const OpenMM::System& system, ConstraintSet& set, double tolerance, const Box& box,
                  const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
