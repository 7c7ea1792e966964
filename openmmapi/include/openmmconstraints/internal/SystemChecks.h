// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_
#define OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_

#include "ConstraintSet.h"
#include "openmm/System.h"
#include <string>

namespace ConstraintPlugin {

/** Refuse Forces that would not do with these constraints, or with our integrators, what they are for:
 *  - what shifts or scales all positions where an expression fixes some in space, as a surface does: a CMMotionRemover
 *    would stop the motion along the surface, a barostat would move particles off it and judge the move by energies of
 *    another state;
 *  - a CMMotionRemover where a massless particle anchors massive ones, whose motion it would take away;
 *  - barostats that scale particles one by one, where a constraint joins some;
 *  - Drude particles, which need a heat bath of their own.
 *  @throws OpenMMException that names the Force, the constraint and a remedy */
void refuseForces(const OpenMM::System& system, const ConstraintSet& set);

/** Whether any Force is periodic: System constraints then take the minimum image. */
bool usesPeriodicBoundaries(const OpenMM::System& system);
Box defaultBox(const OpenMM::System& system);

/** Why a particle cannot take part in a constraint: its index is out of range, or it is a virtual site. Empty if it
 * can. */
std::string whyNotConstrainable(const OpenMM::System& system, int particle);

} // namespace ConstraintPlugin

#endif
