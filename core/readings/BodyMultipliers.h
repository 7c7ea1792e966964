// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BODY_MULTIPLIERS_H_
#define CONSTRAINTS_CORE_BODY_MULTIPLIERS_H_

#include "ConstraintSet.h"
#include "Multipliers.h"

namespace ConstraintPlugin {

/** Set the multipliers of the distances and angles that rigid bodies were recognized from.
 *
 *  Of a body of full dimension they are the ones of least norm that give the forces of the body on its particles, sum_k
 *  lambda_k grad_i xi_k = f_i: f is balanced, so there are such multipliers unless the gradients are singular at these
 *  positions, where they come as close as they can. Bodies that have a constraint in common are solved together.
 *
 *  Forces perpendicular to a linear or planar body are none of distances. There, forces on particles outside the base
 *  are carried to it with their affine weights, and the distances among the base have the multipliers that give these.
 *  Distances of the base that are not listed, and all other constraints of the body, are left out.
 *  @param multipliers  [constraints], of the constraints that are solved, and forces on the bodies' particles
 *  @param positions    [numParticles] nm: where gradients are taken
 *  @param time         ps, of moving constraints */
ForceMultipliers withBodyMultipliers(const ConstraintSet& set, ForceMultipliers multipliers, const Real3* positions,
                                     const Box& box, double time);

} // namespace ConstraintPlugin

#endif
