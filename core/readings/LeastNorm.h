// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LEAST_NORM_H_
#define CONSTRAINTS_CORE_LEAST_NORM_H_

#include "ConstraintSolver.h"

namespace ConstraintPlugin {

/** Where constraints depend on each other, many multipliers give the same forces; the solver's are 0 for those that it
 *  leaves out. Return the ones of least norm: a triangle counted twice shares its forces evenly.
 *
 *  Every dependent row d is J_d = sum_k a_k J_k, which gives a null vector n of J^T with n_d = 1, n_k = -a_k, and
 *  lambda' = lambda - N (N^T N)^-1 N^T lambda.
 *  @param positions  [numParticles] nm: where gradients were taken */
ForceMultipliers leastNorm(ConstraintSolver& solver, ForceMultipliers multipliers, const Real3* positions,
                           const Box& box, int maxIterations);

/** Whether leastNorm() gives a part of a constraint's force to others, because these hold its coordinate, too. */
bool sharesForce(ConstraintSolver& solver, int constraint, const Real3* positions, const Box& box, int maxIterations);

} // namespace ConstraintPlugin

#endif
