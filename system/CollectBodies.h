// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_BODIES_H_
#define OPENMM_CONSTRAINTS_COLLECT_BODIES_H_

#include "DeclaredBodies.h"

namespace ConstraintPlugin {

/** Recognize linear and planar sets among the declared constraints and replace them with rigid bodies: the distances
 * among base particles remain (missing ones are added), all other constraints are marked as replaced, and all targets
 * become those of the fitted shape. RecognizedSets are added to the set. */
void convertSingularSets(ConstraintSet& set, double tolerance, const Box& box);

/** Add declared rigid bodies to ConstraintSet::bodies, but those of one particle that constraints have.
 *  @param report  receives each body that the box cannot hold; such bodies are not added */
void addRigidBodies(const std::vector<DeclaredBody>& bodies, ConstraintSet& set, const Box& box,
                    const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
