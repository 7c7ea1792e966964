// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PARAMETER_WORK_H_
#define OPENMM_CONSTRAINTS_PARAMETER_WORK_H_

#include <map>

namespace ConstraintPlugin {

/** Work (kJ/mol) of constraints that a change of Context parameters moved: the energy after minus that before a
 *  projection. */
struct ParameterWork {
    std::map<int, double> each; ///< by constraint: of projections in which no other one moved
    double ofSeveral = 0;       ///< of all others
};

} // namespace ConstraintPlugin

#endif
