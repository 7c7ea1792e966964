// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_
#define OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_

#include "ConstraintSet.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Refuse what shifts or scales all positions where an expression fixes some in space, as a surface does: a
 *  CMMotionRemover would stop the motion along the surface, a barostat would move particles off it and judge the move
 * by energies of another state.
 *  @throws OpenMMException that names both */
void refuseShiftsOfSurfaces(const OpenMM::System& system, const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
