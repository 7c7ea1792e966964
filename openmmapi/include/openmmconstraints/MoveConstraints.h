// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_MOVE_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_MOVE_CONSTRAINTS_H_

#include "openmm/System.h"
#include "openmmconstraints/ConstraintForce.h"

namespace ConstraintPlugin {

/** Move all constraints of a System into a ConstraintForce of their own, which is added to the System and keeps their
 *  order and their meaning: in a periodic System they use the minimum image, except those longer than half the shortest
 *  width of the default box, which go to a second ConstraintForce, without it. Any other ConstraintForce of the System
 *  is left as it is. A further call appends to the Force of an earlier one, which it knows by its name,
 *  "MovedConstraints", unless anything but distances was added to that. Constraints between massless particles, which
 *  OpenMM ignores in a System but a Force would check, stay where they are.
 *
 *  @param system  changed in place; no Context of it may exist
 *  @return the Force that took the constraints (the periodic one, if there were two), owned by the System; nullptr if
 *          there were none, which leaves the System as it was
 */
ConstraintForce* moveConstraints(OpenMM::System& system);

/** Remove massless particles from a System's own constraints. Constraints between a massless and a massive particle,
 * for which OpenMM throws, move into a ConstraintForce as by moveConstraints(); the massless particle is an anchor
 * there. Constraints between massless particles are deleted.
 *
 *  @param system  changed in place; no Context of it may exist
 *  @return as moveConstraints()
 */
ConstraintForce* moveAnchoredConstraints(OpenMM::System& system);

} // namespace ConstraintPlugin

#endif
