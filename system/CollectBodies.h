// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_BODIES_H_
#define OPENMM_CONSTRAINTS_COLLECT_BODIES_H_

#include "DeclaredBodies.h"
#include "RigidSets.h"

namespace ConstraintPlugin {

/** Recognize rigid bodies that distances and angles hold, and add them to declared ones. These constraints are marked
 * as absorbed, and their targets become those of the fitted shape. RecognizedBodies are added to the set.
 *  @param measured  where lengths were measured
 *  @param report    receives contradictions to shapes of declared bodies
 *  @return whether there are any */
bool recognizeBodies(std::vector<CollectedBody>& bodies, ConstraintSet& set, double tolerance, const Box& box,
                     const MeasuredPositions& measured, const ProblemReport& report);

/** Add rigid bodies to ConstraintSet::bodies, but those of one particle that constraints have.
 *  @param report  receives each body that the box cannot hold; such bodies are not added */
void addRigidBodies(const std::vector<CollectedBody>& bodies, ConstraintSet& set, const Box& box,
                    const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
