// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SCALED_AXES_H_
#define OPENMM_CONSTRAINTS_SCALED_AXES_H_

#include "FixedAxes.h"
#include "openmm/Force.h"

namespace ConstraintPlugin {

/** The axes along which a barostat of OpenMM changes the box; none of another Force, or of one whose frequency is 0,
 * which is there to be asked for the pressure. */
Axes scaledBy(const OpenMM::Force& force);

} // namespace ConstraintPlugin

#endif
