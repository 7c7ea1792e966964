// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_TEXT_H_
#define OPENMM_CONSTRAINTS_CUSTOM_TEXT_H_

#include "ConstraintSet.h"
#include <string>

namespace ConstraintPlugin {

/** evaluateCustom(), customRate() and customCurvature(), with a case for every expression, for rows.cc. */
std::string customText(const ConstraintSet& set, bool hasJoints);

/** startCustomLocal() and evaluateCustomLocal(), with a case for every expression of particles, for
 *  subdomainExpressions.cc. customText() comes before it. */
std::string localCustomText(const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
