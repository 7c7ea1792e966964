// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JOINT_LOOPS_H_
#define CONSTRAINTS_CORE_JOINT_LOOPS_H_

#include "ConstraintSet.h"

namespace ConstraintPlugin {

/** Whether it is known without positions how many constraints of joined rigid bodies are independent: all are where
 * they join bodies, particles and places in no closed loop. */
bool areJointsIndependent(const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
