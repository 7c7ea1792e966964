// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HELD_PAIRS_H_
#define OPENMM_CONSTRAINTS_HELD_PAIRS_H_

#include "StagedProjection.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Pairs of particles whose distance is kept during a projection from far off: bonds (HarmonicBondForce,
 * CustomBondForce, ConstraintForce::getBonds()) and second neighbours (HarmonicAngleForce, CustomAngleForce, two bonds
 * of ConstraintForce::getBonds()), without virtual sites and pairs of immovable particles. */
std::vector<HeldPair> collectHeldPairs(const OpenMM::System& system);

} // namespace ConstraintPlugin

#endif
