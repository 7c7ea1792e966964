// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JointErrors.h"
#include "ConstraintErrors.h"
#include <algorithm>
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
    const auto [first, second] = std::minmax(c.joint[0], c.joint[1]);
    const RigidBody &one = set.bodies[first], &other = set.bodies[second];
    if (one.force < 0 || other.force < 0)
        return "the joint of " + describeBody(set, first) + " and " + describeBody(set, second) + " at " +
               describeParticle(set, c.particles[0]);
    return "the joint of rigid body " + std::to_string(one.index) +
           (one.force == other.force ? "" : ofForce(one.force)) + " and rigid body " + std::to_string(other.index) +
           ofForce(other.force) + " at " + describeParticle(set, c.particles[0]);
}

std::string describeJoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints) {
    constexpr std::size_t most = 12;
    std::map<int, std::set<int>> bodiesOf; // by Force
    std::set<int> recognized;
    for (int k : constraints)
        for (int node : set.constraints[k].nodes)
            if (node >= set.numParticles()) {
                const int b = (node - set.numParticles()) / 2;
                const RigidBody& body = set.bodies[b];
                if (body.force < 0)
                    recognized.insert(b);
                else
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
    if (recognized.size() == 1)
        text += (text.empty() ? "" : ", ") + describeBody(set, *recognized.begin());
    else if (!recognized.empty())
        text += (text.empty() ? "" : ", ") + std::to_string(recognized.size()) +
                " rigid bodies that distances and angles hold";
    return text;
}

bool haveJoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints) {
    return std::any_of(constraints.begin(), constraints.end(), [&](int k) { return set.isJoined(set.constraints[k]); });
}

ConstraintProblem singularJoints(const ConstraintSet& set, const std::vector<int>& constraints) {
    return problemOf(set, "singular", constraints,
                     "The constraints that join " + describeJoinedBodies(set, constraints) +
                         " form a special set that is singular: at these positions more of them depend on each other "
                         "than after a small move, so no multipliers can maintain them, and the number of degrees of "
                         "freedom is not known. They are: " +
                         describeConstraints(set, constraints) + ".",
                     "start from positions where the bodies are not stretched to a line or a plane and the axes of "
                     "hinges do not meet or become parallel just there, or declare what cannot move as one body with "
                     "ConstraintForce.addRigidBody(particles, positions).");
}

} // namespace ConstraintPlugin
