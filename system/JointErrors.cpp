// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JointErrors.h"
#include "ConstraintErrors.h"
#include <map>
#include <set>
#include <sstream>

namespace ConstraintPlugin {

namespace {

std::string ofForce(int force) {
    return " of the ConstraintForce with index " + std::to_string(force);
}

} // namespace

std::string describeJoint(const ConstraintSet& set, const Constraint& c) {
    const FreeBody &one = set.bodies[c.joint[0]], &other = set.bodies[c.joint[1]];
    return "the joint of rigid body " + std::to_string(one.index) +
           (one.force == other.force ? "" : ofForce(one.force)) + " and rigid body " + std::to_string(other.index) +
           ofForce(other.force) + " at " + describeParticle(set, c.particles[0]);
}

std::string describeJoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints) {
    constexpr std::size_t most = 12;
    std::map<int, std::set<int>> bodiesOf; // by Force
    for (int k : constraints)
        for (int node : set.constraints[k].nodes)
            if (node >= set.numParticles()) {
                const FreeBody& body = set.bodies[(node - set.numParticles()) / 2];
                bodiesOf[body.force].insert(body.index);
            }
    std::string text;
    for (const auto& [force, bodies] : bodiesOf) {
        text += (text.empty() ? "" : ", ") + std::string(bodies.size() > 1 ? "rigid bodies " : "rigid body ");
        std::size_t i = 0;
        for (int index : bodies) {
            if (i < most)
                text += (i == 0 ? "" : i + 1 == bodies.size() ? " and " : ", ") + std::to_string(index);
            i++;
        }
        if (i > most)
            text += " and " + std::to_string(i - most) + " more";
        text += ofForce(force);
    }
    return text;
}

ConstraintProblem changingRank(const ConstraintSet& set, const std::vector<int>& constraints, int rankThere,
                               int rankNearby) {
    std::ostringstream out;
    out << "Of the constraints that join " << describeJoinedBodies(set, constraints) << ", " << rankThere
        << (rankThere == 1 ? " is" : " are") << " independent at these positions, but " << rankNearby
        << " after a small move along them, so the number of degrees of freedom is not known, and no multipliers can "
           "maintain the constraints on the way. They are: "
        << describeConstraints(set, constraints) << ".";
    return problemOf(set, "singular", constraints, out.str(),
                     "start from positions where the bodies are not stretched to a line or a plane and the axes of "
                     "hinges do not meet or become parallel just there, remove a constraint that only holds such a "
                     "place, or declare what cannot move as one body with ConstraintForce.addRigidBody().",
                     rankThere, rankNearby);
}

} // namespace ConstraintPlugin
