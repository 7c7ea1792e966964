// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceMemory.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Numbers in the arrays of ConstraintProgram::addArrays(): in the pools of ints and of `mixed`, and in other arrays.
 */
struct Numbers {
    double ints = 0, mixed = 0, others = 0;
    void add(double count, double intsEach, double mixedEach, double othersEach = 0) {
        ints += count * intsEach;
        mixed += count * mixedEach;
        others += count * othersEach;
    }
};

/** At most: updates may have fewer targets than sources. */
Numbers numbersOf(const ConstraintSet& set, const ConstraintGraph& graph) {
    Numbers numbers;
    numbers.add(1, 3000, 1100); // whatever the set
    numbers.add(set.numParticles(), 2, 7, 30);
    numbers.add(graph.numRows(), 7, 15, 4);
    numbers.add(graph.slotStart.back(), 3, 11);
    numbers.add((double) graph.couplings.size(), 2, 0);
    std::size_t longest = 0;
    for (const SymbolicFactor& factor : graph.factors)
        longest = std::max(longest, factor.entryRow.size());
    const int triple = longest > 1 << 16 ? 4 : 2;
    for (const Cluster& cluster : graph.clusters) {
        const double n = cluster.kind == ClusterSolverKind::Iterative ? 0 : cluster.size();
        double entries = n * (n - 1) / 2, updates = n * (n - 1) * (n - 2) / 6;
        if (cluster.factor >= 0) {
            entries = (double) graph.factors[cluster.factor].entryRow.size();
            updates = (double) graph.factors[cluster.factor].numUpdates;
        }
        numbers.add(entries, 1 + triple, 2);
        numbers.add(entries + updates, triple + 2, 0);
    }
    return numbers;
}

} // namespace

void requireDeviceMemory(Device& device, const ConstraintSolver& solver) {
    const ConstraintGraph& graph = solver.getGraph();
    const Numbers numbers = numbersOf(solver.getSet(), graph);
    ComputeContext& cc = device.context();
    const bool isDouble = cc.getUseDoublePrecision() || cc.getUseMixedPrecision();
    const double bytes = isDouble ? sizeof(double) : sizeof(float),
                 largest = std::max(4 * numbers.ints, bytes * numbers.mixed);
    const double needed = 4 * numbers.ints + bytes * (numbers.mixed + numbers.others);
    const char* limit = std::getenv("OPENMM_CONSTRAINTS_DEVICE_MEMORY");
    const double there = limit == nullptr ? (double) device.memory() : std::atof(limit);
    const bool isCountable = std::max(numbers.ints, numbers.mixed) < INT_MAX; // kernels count with ints
    if (needed <= there && largest <= (double) device.largestArray() && isCountable)
        return;
    int mostRows = 0;
    for (const Cluster& cluster : graph.clusters)
        mostRows = std::max(mostRows, cluster.size());
    std::ostringstream out;
    out << std::fixed;
    out.precision(0);
    out << "The constraints need up to " << needed << " bytes of the device's memory for tables and factors, "
        << largest << " of them in one array; the device has " << there << " bytes, and "
        << (double) device.largestArray() << " for one array"
        << (isCountable ? "" : ", whose elements have to be fewer than 2^31") << ". The largest cluster has "
        << mostRows << " coupled constraints.\nRemedy: "
        << (solver.getMethod() == Method::Iterative ? "" : "setSolver(Iterative), which needs no factor; ")
        << (cc.getUseDoublePrecision() || cc.getUseMixedPrecision() ? "single precision instead of mixed or double; "
                                                                    : "")
        << "another device; or the CPU or Reference platform.";
    throw OpenMMException(out.str());
}

} // namespace ConstraintPlugin
