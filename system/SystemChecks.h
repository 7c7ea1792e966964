// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_
#define OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/Integrator.h"
#include "openmm/System.h"
#include "openmm/Vec3.h"
#include <optional>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Report Forces that would not do with these constraints, or with our integrators, what they are for:
 *  - what shifts or scales all positions where an expression fixes some in space, as a surface does: a CMMotionRemover
 *    would stop the motion along the surface, a barostat would move particles off it and judge the move by energies of
 *    another state;
 *  - a CMMotionRemover where a massless particle anchors massive ones, whose motion it would take away;
 *  - barostats that scale particles one by one, where a constraint joins some;
 *  - AndersenThermostat, which would sample constraints of Forces wrongly;
 *  - Drude particles, which need a heat bath of their own. */
void checkForces(const OpenMM::System& system, const ConstraintSet& set, const ProblemReport& report);

/** Report an integrator that does not solve what a Force declares, and children of a CompoundIntegrator. */
void checkIntegrator(const OpenMM::Integrator& integrator, const ProblemReport& report);
/** @param which  "The integrator of this Context" */
ConstraintProblem wrongIntegrator(const std::string& which);

/** Whether any Force is periodic: System constraints then take the minimum image. */
bool usesPeriodicBoundaries(const OpenMM::System& system);
Box defaultBox(const OpenMM::System& system);

/** Why a particle cannot take part in a constraint: its index is out of range, or it is a virtual site. The message is
 *  for the end of a sentence that names the constraint. */
std::optional<ConstraintProblem> whyNotConstrainable(const OpenMM::System& system, int particle);

/** @throws OpenMMException where there is not one position for each particle */
void requirePositions(const OpenMM::System& system, const std::vector<OpenMM::Vec3>& positions);

/** For a length that the periodic box cannot hold. */
extern const char* const useLargerBox;

} // namespace ConstraintPlugin

#endif
