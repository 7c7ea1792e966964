// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_ABSORBED_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_ABSORBED_CONSTRAINTS_H_

#include "DeclaredBodies.h"

namespace ConstraintPlugin {

/** Mark constraints within one body as absorbed: the body holds them.
 *
 *  - Distances, angles and dihedrals of a body's particles may deviate from its shape by what a shift of each particle
 *    by 1 % of the shortest bond changes: 2 % of a distance, and of an angle of two equal bonds 0.04 rad. That covers
 *    coordinates rounded to 0.001 nm.
 *  - Expressions and distances of centroids whose particles with mass are in one body are absorbed if no rigid motion
 *    of it changes them. They have to hold in the shape within the tolerance. Others join the body to a place, or to
 *    other particles.
 *
 *  In a recognized body they have to hold as its own constraints do. One that holds in one of its mirror images only,
 *  as a dihedral, decides which it is.
 *
 *  The deviation and its constraint are written to the set.
 *  @param report  receives each constraint that contradicts a body's shape, or changes in time though the body holds
 * it; these are left out */
void absorbConstraints(ConstraintSet& set, std::vector<CollectedBody>& bodies, double tolerance,
                       const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
