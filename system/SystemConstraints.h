// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SYSTEM_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_SYSTEM_CONSTRAINTS_H_

#include "openmm/System.h"
#include "openmmconstraints/ConstraintForce.h"
#include <memory>

namespace ConstraintPlugin {

/** A System's own constraints in a copy of the System that has them in a Force instead, because the set-up of OpenMM's
 * own solver takes minutes for a cluster of 10^5. They are collected and named as System constraints. */
class SystemConstraints : public ConstraintForce {};

/** @return the Force of a System, or null */
const SystemConstraints* findSystemConstraints(const OpenMM::System& system);

/** A copy of a System with SystemConstraints. @throws OpenMMException if a Force cannot be copied */
std::unique_ptr<OpenMM::System> withoutOwnConstraints(const OpenMM::System& system);

/** Whether OpenMM's own set-up for a System's constraints takes noticeable time: a cluster of a thousand. */
bool isOwnSetupSlow(const OpenMM::System& system);

} // namespace ConstraintPlugin

#endif
