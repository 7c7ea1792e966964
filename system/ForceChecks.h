// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_FORCE_CHECKS_H_
#define OPENMM_CONSTRAINTS_FORCE_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Report Forces that do not work with these constraints or with our integrators:
 *  - a CMMotionRemover or a barostat if an expression, such as a surface, is fixed in space: a CMMotionRemover would
 * stop the motion along the surface, and a barostat would move particles off it and accept moves by the energy of such
 * a state;
 *  - a CMMotionRemover if massive particles are tied to an anchor: it would remove their motion;
 *  - barostats that scale particles one by one, if a constraint joins some of them;
 *  - AndersenThermostat, which would sample a wrong temperature with constraints of Forces that join particles which
 *    the System's own constraints do not;
 *  - with our integrators, Drude particles, which need a heat bath of their own. */
void checkForces(const OpenMM::System& system, const ConstraintSet& set, bool areIntegratorsOurs,
                 const ProblemReport& report);

/** Report Forces with constraints, or one that replaces the solver, within a CustomCVForce or an ATMForce: these
 * evaluate them in Contexts of their own, in which nothing is solved. */
void checkForcesWithin(const OpenMM::System& system, const ProblemReport& report);

/** Where a Force replaces the solver of others, report constraints that only our integrators solve, because they move
 * in time, and barostats that come after this Force and move groups of a constraint apart: nobody would project their
 * moves before the step. */
void checkReplaced(const OpenMM::System& system, const ConstraintSet& set, const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
