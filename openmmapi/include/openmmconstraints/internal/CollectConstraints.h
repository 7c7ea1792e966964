// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_COLLECT_CONSTRAINTS_H_

#include "ConstraintSet.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintForce.h"

namespace ConstraintPlugin {

/** The constraints of one ConstraintForce: distances, angles, dihedrals, each by index.
 *  @param forceIndex  its index in the System */
std::vector<Constraint> constraintsOf(const ConstraintForce& force, int forceIndex);

/** Collect the constraints of a System and of all its ConstraintForces, System constraints first.
 *
 *  @param tolerance  relative; two lengths given for the same particles may differ by no more
 *  @throws OpenMMException naming the constraint, if one has an index out of range, the same particle twice, a virtual
 *          site, a length that is not positive, a length that the periodic box cannot hold, or if the lengths of a
 *          pair or a triangle contradict each other or make it straight
 */
ConstraintSet collectConstraints(const OpenMM::System& system, double tolerance);

} // namespace ConstraintPlugin

#endif
