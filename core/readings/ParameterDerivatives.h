// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PARAMETER_DERIVATIVES_H_
#define CONSTRAINTS_CORE_PARAMETER_DERIVATIVES_H_

#include "ConstraintSet.h"
#include <map>

namespace ConstraintPlugin {

/** The constraints' part of dA/dp for each Context parameter p that constraints depend on, at one state: the sum of
 *  lambda_k (target1_k - target0_k) over interpolated targets, less that of lambda_k d sigma_k/dp over expressions.
 *
 *  @param multipliers  [listed] lambda_k, kJ/mol per unit of q or sigma
 *  @param positions    [numParticles] nm, unwrapped
 *  @param time         ps
 *  @return by the name of p, kJ/mol per unit of p */
std::map<std::string, double> parameterDerivatives(const ConstraintSet& set, const std::vector<double>& multipliers,
                                                   const Real3* positions, const Box& box, double time);

} // namespace ConstraintPlugin

#endif
