// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_THERMOSTAT_DEGREES_H_
#define OPENMM_CONSTRAINTS_THERMOSTAT_DEGREES_H_

#include "openmm/Integrator.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintKernels.h"

namespace ConstraintPlugin {

/** Correct the degrees of freedom of Nose-Hoover chains, which OpenMM has counted by the System's own constraints:
 *  redundant ones too, and none of Forces.
 *  @throws ConstraintException if a chain has only some of the particles that constraints join */
void countDegreesOfFreedom(const OpenMM::System& system, OpenMM::Integrator& integrator,
                           const std::vector<RankOfGroup>& ranks);

} // namespace ConstraintPlugin

#endif
