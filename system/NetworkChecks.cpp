// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NetworkChecks.h"
#include "ConstraintErrors.h"
#include "ImageCycles.h"
#include "ScaledAxes.h"
#include "openmm/Force.h"
#include <algorithm>

using namespace OpenMM;

namespace ConstraintPlugin {

static void reportNetwork(const ConstraintSet& set, const ImageCycle& cycle, int axis, const System& system, int force,
                          const ProblemReport& report) {
    const std::string name = system.getForce(force).getName(), along(1, "xyz"[axis]),
                      closing =
                          cycle.body < 0 ? describeConstraint(set, cycle.constraint) : describeBody(set, cycle.body);
    ConstraintProblem problem = problemOf(
        set, "combination", cycle.body < 0 ? std::vector<int>{cycle.constraint} : std::vector<int>(),
        name + " (Force " + std::to_string(force) + " of the System) cannot change the box along " + along + ": " +
            closing + " joins a network of " + std::to_string(cycle.particles.size()) +
            " particles to its own periodic image along " + along +
            ". A barostat moves a molecule as a whole and cannot scale one that spans the box: volume and pressure "
            "would "
            "be wrong.",
        "Keep the box fixed along " + along +
            " and read its pressure by computePressureTensor(context): remove the barostat, "
            "system.removeForce(" +
            std::to_string(force) + "), or take a MonteCarloAnisotropicBarostat that leaves " + along +
            " alone. Or hold the network by springs instead of constraints, with setScaleMoleculesAsRigid(False).");
    problem.particles = cycle.particles;
    report(problem);
}

void checkNetworks(const System& system, const ConstraintSet& set, const Real3* positions, const Box& box,
                   const ProblemReport& report) {
    std::vector<int> barostats;
    for (int f = 0; f < system.getNumForces(); f++)
        if (scaledBy(system.getForce(f)) != Axes{})
            barostats.push_back(f);
    if (barostats.empty())
        return;
    const std::vector<ImageCycle> cycles = findImageCycles(set, positions, box);
    for (int f : barostats) {
        const Axes scaled = scaledBy(system.getForce(f));
        const auto axisOf = [&](const ImageCycle& cycle) { // the one that changes the cycle most; -1: none does
            const double along[3] = {cycle.shift.x, cycle.shift.y, cycle.shift.z};
            double largest = 1e-3 * box.halfWidth();
            int found = -1;
            for (int axis : {0, 1, 2})
                if (scaled[axis] && std::abs(along[axis]) > largest) {
                    largest = std::abs(along[axis]);
                    found = axis;
                }
            return found;
        };
        for (const ImageCycle& cycle : cycles)
            if (const int axis = axisOf(cycle); axis >= 0) {
                reportNetwork(set, cycle, axis, system, f, report);
                break;
            }
    }
}

} // namespace ConstraintPlugin
