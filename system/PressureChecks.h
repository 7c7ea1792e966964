// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PRESSURE_CHECKS_H_
#define OPENMM_CONSTRAINTS_PRESSURE_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Report what has no pressure:
 *  - a System without a periodic box;
 *  - massless particles that are not virtual sites: they are fixed in space, and do not scale with the box;
 *  - a CustomExternalForce among these groups, whose energy depends on places in space. */
void checkPressure(const OpenMM::System& system, const ConstraintSet& set, int groups, const ProblemReport& report);

/** Report expressions that depend on places in space, as surfaces do. It takes longer. */
void checkPressureOfSurfaces(const ConstraintSet& set, const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
