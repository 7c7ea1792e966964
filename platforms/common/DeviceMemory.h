// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_
#define OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_

#include "ConstraintSolver.h"
#include "Device.h"

namespace ConstraintPlugin {

/** Make sure, before anything is allocated, that the tables and factors of ConstraintProgram fit into a device's
 * memory. The environment variable OPENMM_CONSTRAINTS_DEVICE_MEMORY is a smaller memory, in bytes.
 *  @throws OpenMMException if they do not: bytes needed, bytes there, the largest cluster, and what to do */
void requireDeviceMemory(Device& device, const ConstraintSolver& solver);

} // namespace ConstraintPlugin

#endif
