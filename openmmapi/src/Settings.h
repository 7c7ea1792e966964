// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SETTINGS_H_
#define OPENMM_CONSTRAINTS_SETTINGS_H_

#include "openmm/OpenMMException.h"
#include <sstream>
#include <string>

namespace ConstraintPlugin {

/** Refuse a number that a user has set.
 *  @param demand  "setStepSize: the step size has to be ..."
 *  @throws OpenMMException always, with the demand and what was given instead */
[[noreturn]] inline void refuseSetting(const std::string& demand, double given) {
    std::ostringstream out;
    out << demand << "; got " << given << ".";
    throw OpenMM::OpenMMException(out.str());
}

} // namespace ConstraintPlugin

#endif
