// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_
#define OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_

#include "Device.h"
#include "DeviceArrays.h"

namespace ConstraintPlugin {

/** Make sure, before anything is allocated, that the arrays of ConstraintProgram fit into a device's memory. The
 *  environment variable OPENMM_CONSTRAINTS_DEVICE_MEMORY is a smaller memory, in bytes.
 *  @param sizes  at least those of the tables that will be made
 *  @throws OpenMMException if they do not: bytes needed, bytes there, the largest cluster, and what to do */
void requireDeviceMemory(Device& device, const ConstraintSolver& solver, const ArraySizes& sizes);

} // namespace ConstraintPlugin

#endif
