// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HELD_TWICE_H_
#define OPENMM_CONSTRAINTS_HELD_TWICE_H_

#include "ConstraintSet.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintProblem.h"
#include <vector>

namespace ConstraintPlugin {

/** Warnings of coordinates that constraints hold already, as where a Force was added twice: at most one of each kind of
 *  cause, about the first case. They are solved as they should be, but readings of them mislead. */
std::vector<ConstraintProblem> findHeldTwice(const OpenMM::System& system, const ConstraintSet& set);

/** Constraints that hold the coordinate of one that depends on others, or do so together with it; empty where that is
 * not seen from what is declared. */
std::vector<int> othersThatHold(const ConstraintSet& set, int constraint);

/** The problem of a constraint that cannot be a reaction coordinate, since it depends on others, or they on it. */
ConstraintProblem noReactionCoordinate(const ConstraintSet& set, int constraint);

} // namespace ConstraintPlugin

#endif
