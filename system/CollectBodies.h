// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_BODIES_H_
#define OPENMM_CONSTRAINTS_COLLECT_BODIES_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Recognize straight and flat sets among the listed constraints and let rigid bodies take their place: the distances
 *  among base particles stay (those that nobody listed are added), all others are marked as replaced, and the targets
 *  of all become those of the fitted shape. The set lists what was recognized. */
void convertSingularSets(ConstraintSet& set, double tolerance, const Box& box);

/** Add the rigid bodies of all ConstraintForces of a System.
 *  @param report  gets each whose particles or whose shape are not valid, which is left out */
void addRigidBodies(const OpenMM::System& system, ConstraintSet& set, const Box& box, const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
