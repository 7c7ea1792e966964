// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_NETWORK_CHECKS_H_
#define OPENMM_CONSTRAINTS_NETWORK_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Report barostats that would change the box along an axis along which constraints or rigid bodies join a network to
 * its own periodic image. A barostat moves each molecule as a whole, so the ends of such a one would be moved apart,
 * and moves be accepted by the energy of broken constraints.
 *  @param positions  [numParticles] nm */
void checkNetworks(const OpenMM::System& system, const ConstraintSet& set, const Real3* positions, const Box& box,
                   const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
