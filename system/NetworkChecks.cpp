// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NetworkChecks.h"
#include "ConstraintErrors.h"
#include "ScaledAxes.h"
#include "Windings.h"
#include "openmm/Force.h"
#include <algorithm>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** The windings of what all constraints and rigid bodies join. */
Windings windingsOf(const ConstraintSet& set, const Real3* positions, const Box& box) {
    std::vector<int> all;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (set.constraints[k].joint[0] < 0)
            all.push_back(k);
    std::vector<Bond> bonds = bondsOf(set, all, positions, box), ofBodies = bondsOfBodies(set, positions, box);
    bonds.insert(bonds.end(), ofBodies.begin(), ofBodies.end());
    return findWindings(bonds, positions, box);
}

/** All particles that are joined to one, ascending. */
std::vector<int> networkOf(const Windings& windings, int particle) {
    const auto place = std::lower_bound(windings.particles.begin(), windings.particles.end(), particle);
    const int network = windings.network[place - windings.particles.begin()];
    std::vector<int> particles;
    for (std::size_t p = 0; p < windings.particles.size(); p++)
        if (windings.network[p] == network)
            particles.push_back(windings.particles[p]);
    return particles;
}

/** The axis that changes a shift by box vectors most, of those that are scaled; -1: none does. */
int scaledAxisOf(const std::array<int, 3>& numbers, const Box& box, const Axes& scaled) {
    const Real3 shift = (double) numbers[0] * box.a + (double) numbers[1] * box.b + (double) numbers[2] * box.c;
    const double along[3] = {std::abs(shift.x), std::abs(shift.y), std::abs(shift.z)};
    int found = -1;
    for (int axis : {0, 1, 2})
        if (scaled[axis] && along[axis] > (found < 0 ? 0 : along[found]))
            found = axis;
    return found;
}

void reportNetwork(const ConstraintSet& set, const Bond& ring, const std::vector<int>& network, int axis,
                   const System& system, int force, const ProblemReport& report) {
    const int k = ring.constraint;
    const std::string name = system.getForce(force).getName(), along(1, "xyz"[axis]),
                      closing = k < 0 ? describeBody(set, ring.body) : describeConstraint(set, k);
    ConstraintProblem problem = problemOf(
        set, "combination", k < 0 ? std::vector<int>() : std::vector<int>{k},
        name + " (Force " + std::to_string(force) + " of the System) cannot change the box along " + along + ": " +
            closing + " joins a network of " + std::to_string(network.size()) +
            " particles to its own periodic image along " + along +
            ". A barostat moves a molecule as a whole and cannot scale one that spans the box: volume and pressure "
            "would be wrong.",
        "Keep the box fixed along " + along +
            " and read its pressure by computePressureTensor(context): remove the barostat, system.removeForce(" +
            std::to_string(force) + "), or take a MonteCarloAnisotropicBarostat that leaves " + along +
            " alone. Or hold the network by springs instead of constraints, with setScaleMoleculesAsRigid(False).");
    problem.particles = network;
    report(problem);
}

} // namespace

void checkNetworks(const System& system, const ConstraintSet& set, const Real3* positions, const Box& box,
                   const ProblemReport& report) {
    std::vector<int> barostats;
    for (int f = 0; f < system.getNumForces(); f++)
        if (scaledBy(system.getForce(f)) != Axes{})
            barostats.push_back(f);
    if (barostats.empty() ||
        !std::all_of(positions, positions + set.numParticles(), [](const Real3& r) { return isFinite(r); }))
        return; // positions that are not finite are reported by others
    const Windings windings = windingsOf(set, positions, box);
    for (int f : barostats)
        for (std::size_t n = 0; n < windings.numbers.size(); n++)
            if (const int axis = scaledAxisOf(windings.numbers[n], box, scaledBy(system.getForce(f))); axis >= 0) {
                const Bond& ring = windings.closing[n];
                reportNetwork(set, ring, networkOf(windings, ring.i), axis, system, f, report);
                break;
            }
}

} // namespace ConstraintPlugin
