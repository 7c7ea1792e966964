// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HELD_PAIRS_H_
#define OPENMM_CONSTRAINTS_HELD_PAIRS_H_

#include "StagedProjection.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

/** Pairs of particles that keep their distance while constraints are taken far: bonds (HarmonicBondForce,
 *  CustomBondForce, ConstraintForce::getBonds()) and the ends of angles (HarmonicAngleForce, CustomAngleForce, two
 *  bonds of ConstraintForce::getBonds()). Virtual sites and pairs of immovable
 *  particles are none. */
std::vector<HeldPair> collectHeldPairs(const OpenMM::System& system);

} // namespace ConstraintPlugin

#endif
