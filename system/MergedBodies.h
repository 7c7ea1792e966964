// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_MERGED_BODIES_H_
#define OPENMM_CONSTRAINTS_MERGED_BODIES_H_

#include "DeclaredBodies.h"

namespace ConstraintPlugin {

/** Make one body of those that are fixed to each other by particles that they share (SharedParticles::fixBodies()), in
 *  any number. Of bodies that stay apart and share two or more particles, the axis of a hinge, these are moved onto one
 *  line, with the same distances in both: rounded coordinates would hold the hinge. Bodies that share any are periodic
 *  if one of them is.
 *  @param report  receives each body that contradicts others, or what they have become, about particles that both have,
 *                 and those with two particles at one place; such bodies are left out */
void mergeBodies(std::vector<CollectedBody>& bodies, const ConstraintSet& set, double tolerance,
                 const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
