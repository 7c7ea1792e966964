// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceMemory.h"
#include "KernelArguments.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

void requireDeviceMemory(Device& device, const ConstraintSolver& solver, const ArraySizes& sizes) {
    const MemoryNeed need(DeviceArrays(sizes), numberBytes(device.context()));
    const char* limit = std::getenv("OPENMM_CONSTRAINTS_DEVICE_MEMORY");
    const double there = limit == nullptr ? (double) device.memory() : std::atof(limit);
    const bool isCountable = need.maxElements < INT_MAX; // kernels count with ints
    if (need.total <= there && need.largestArray <= (double) device.largestArray() && isCountable)
        return;
    const bool mixedIsDouble = numberBytes(device.context()).mixed == sizeof(double);
    int largestCluster = 0;
    for (const Cluster& cluster : solver.getGraph().clusters)
        largestCluster = std::max(largestCluster, cluster.size());
    std::ostringstream out;
    out << std::fixed;
    out.precision(0);
    out << "The constraints need up to " << need.total << " bytes of the device's memory for tables and factors, "
        << need.largestArray << " of them in one array; the device has " << there << " bytes, and "
        << (double) device.largestArray() << " for one array"
        << (isCountable ? "" : ", whose elements have to be fewer than 2^31") << ". The largest cluster has "
        << largestCluster << " coupled constraints.\nRemedy: "
        << (solver.getMethod() == Method::Iterative ? "" : "setSolver(Iterative), which needs no factor; ")
        << (mixedIsDouble ? "single precision instead of mixed or double; " : "")
        << "another device; or the CPU or Reference platform.";
    throw OpenMMException(out.str());
}

} // namespace ConstraintPlugin
