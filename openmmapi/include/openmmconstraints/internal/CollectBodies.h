// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_BODIES_H_
#define OPENMM_CONSTRAINTS_COLLECT_BODIES_H_

#include "ConstraintSet.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Recognize straight and flat sets among the listed constraints and let rigid bodies take their place: the distances
 *  among base particles stay (those that nobody listed are added), all others are marked as replaced, and the targets
 *  of all become those of the fitted shape. */
void convertSingularSets(ConstraintSet& set, double tolerance, const Box& box);

/** Add the rigid bodies of all ConstraintForces of a System.
 *  @throws OpenMMException naming the body, if its particles or its shape are not valid */
void addRigidBodies(const OpenMM::System& system, ConstraintSet& set, const Box& box);

} // namespace ConstraintPlugin

#endif
