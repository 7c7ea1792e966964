// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceMemory.h"
#include "KernelArguments.h"
#include "TestHooks.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

double largestArrayOf(Device& device) {
    const double largest = std::min((double) device.largestArray(), maxArrayBytes);
    return std::min(largest, TestHooks::largestArray.valueOr(largest));
}

void requireDeviceMemory(Device& device, const ConstraintSolver& solver, const ArraySizes& sizes) {
    const double largest = largestArrayOf(device);
    const MemoryNeed need(DeviceArrays(sizes), numberBytes(device.context()), largest);
    const double there = TestHooks::deviceMemory.valueOr((double) device.memory());
    if (need.total <= there && need.largestArray <= largest)
        return;
    const bool mixedIsDouble = numberBytes(device.context()).mixed == sizeof(double);
    int largestCluster = 0;
    for (const Cluster& cluster : solver.getGraph().clusters)
        largestCluster = std::max(largestCluster, cluster.size());
    std::ostringstream out;
    out << std::fixed;
    out.precision(0);
    out << "The constraints need up to " << need.total << " bytes of the device's memory for tables and factors; the "
        << "device has " << there << " bytes. The largest table, \"" << need.largestName << "\", has "
        << need.largestNumbers << " numbers; the array with it needs " << need.largestArray << " bytes and may have "
        << largest << (largest == maxArrayBytes ? " (OpenMM counts them in 32 bits)" : "")
        << ". The largest cluster has " << largestCluster << " coupled constraints.\nRemedy: "
        << (solver.getMethod() == Method::Iterative ? "" : "setSolver(Iterative), which needs no factor; ")
        << (mixedIsDouble ? "single precision instead of mixed or double; " : "")
        << "another device; or the CPU or Reference platform.";
    throw OpenMMException(out.str());
}

} // namespace ConstraintPlugin
