// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JOIN_BODIES_H_
#define CONSTRAINTS_CORE_JOIN_BODIES_H_

#include "ConstraintSet.h"

namespace ConstraintPlugin {

/** Join the bodies of a set to its constraints and to each other. To be called once, when all are in the set.
 *
 *  A body is joined if a constraint has one of its particles, or if another body has one. Where bodies share a particle
 *  with mass, each has a copy with an equal part of the mass. Constraints hold two copies together, that of the first
 * body and each other one: three for a first particle that both share, two for a second one. The particle then moves as
 * if it had all of its mass in one place. */
void joinBodies(ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
