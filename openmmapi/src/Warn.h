// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_WARN_H_
#define OPENMM_CONSTRAINTS_WARN_H_

#include "ConstraintSet.h"
#include "openmm/System.h"
#include <string>

namespace ConstraintPlugin {

/** Tell the WarningHandler of coordinates that are held twice. */
void warnOf(const OpenMM::System& system, const ConstraintSet& set);

/** Tell it of anything else. */
void warnOf(const std::string& text);

} // namespace ConstraintPlugin

#endif
