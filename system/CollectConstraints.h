// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COLLECT_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_COLLECT_CONSTRAINTS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/Force.h"
#include "openmm/System.h"
#include <functional>
#include <map>
#include <string>

namespace ConstraintPlugin {

/** The particles of each constraint and rigid body of such a Force, in turn.
 *  @param ofGroupsToo  whether constraints of groups are among them: their particles do not count as bonded */
void forEachConstrainedGroup(const OpenMM::Force& force, const std::function<void(const std::vector<int>&)>& visit,
                             bool ofGroupsToo = true);

/** Values of Context parameters by name. */
using ParameterValues = std::map<std::string, double>;

/** Collect the constraints of a System and of all its Forces that declare some, System constraints first.
 *
 *  @param tolerance  relative; two lengths given for the same particles may differ by no more
 *  @param report     gets each constraint that has an index out of range, the same particle twice, a virtual site, a
 *                    length that is not positive, a length that the periodic box cannot hold, or lengths that
 *                    contradict each other. If it does not throw, the constraint stays in the set, without particles.
 *                    It also gets Forces whose constraints nobody solves (checkForcesWithin)
 *  @param parameters  of the Context, for targets that interpolate; null: the Forces' defaults
 */
ConstraintSet collectConstraints(const OpenMM::System& system, double tolerance,
                                 const ProblemReport& report = throwProblem,
                                 const ParameterValues* parameters = nullptr);

} // namespace ConstraintPlugin

#endif
