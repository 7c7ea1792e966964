// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_
#define OPENMM_CONSTRAINTS_DEVICE_MEMORY_H_

#include "Device.h"
#include "DeviceArrays.h"

namespace ConstraintPlugin {

/** Most bytes of an array on a device. */
double largestArrayOf(Device& device);

/** Make sure, before anything is allocated, that the arrays of ConstraintProgram fit into a device's memory.
 *  @param sizes  at least those of the tables that will be made
 *  @throws OpenMMException if they do not, with the bytes needed and available, the largest array and cluster, and a
 * remedy */
void requireDeviceMemory(Device& device, const ConstraintSolver& solver, const ArraySizes& sizes);

} // namespace ConstraintPlugin

#endif
