// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MovingTargets.h"
#include "ConstraintErrors.h"
#include <limits>
#include <sstream>

namespace ConstraintPlugin {

namespace {

/** What moves is a length, in a Custom coordinate that of centroids, or an angle. */
Range rangeOf(const Constraint& c) {
    return c.kind == CoordinateKind::Custom ? Range::Length : traitsOf(c.kind).range;
}

/** Distance of a target from the limit of its range in the direction of its rate, negative beyond it; infinite if there
 * is no limit. */
double distanceToEnd(const Constraint& c, double time) {
    const double target = c.targetAt(time);
    if (c.rate < 0 && rangeOf(c) != Range::FullTurn)
        return target;
    return c.rate > 0 && rangeOf(c) == Range::HalfTurn ? M_PI - target : std::numeric_limits<double>::infinity();
}

bool isInRange(const Constraint& c, double time) {
    const double target = c.targetAt(time);
    return std::isfinite(target) &&
           (rangeOf(c) == Range::FullTurn || (target > 0 && (rangeOf(c) != Range::HalfTurn || target < M_PI)));
}

} // namespace

void requireLengthsInBox(const ConstraintSet& set, const Box& box, double time) {
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (!set.isIgnored(c) && set.hasLengthScale(c) && c.periodic && c.force >= 0 &&
            c.targetAt(time) > box.halfWidth())
            throwProblem(problemOf(set, "box", {k},
                                   describeConstraint(set, k) + ": its distance " + std::to_string(c.targetAt(time)) +
                                       " nm exceeds half the shortest width of the periodic box, " +
                                       std::to_string(box.halfWidth()) + " nm.",
                                   "Use a larger box.", c.targetAt(time), box.halfWidth()));
    }
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (const RigidBody& body = set.bodies[b]; body.periodic && body.radius > box.halfWidth())
            throwProblem(problemOfBody(set, "box", b,
                                       describeBody(set, b) + ": its radius " + std::to_string(body.radius) +
                                           " nm exceeds half the shortest width of the periodic box, " +
                                           std::to_string(box.halfWidth()) + " nm.",
                                       "Use a larger box.", body.radius, box.halfWidth()));
}

void requireTargetsInRange(const ConstraintSet& set, const Box& box, double time) {
    for (int k = 0; k < set.numListed; k++)
        if (const Constraint& c = set.constraints[k]; c.rate != 0 && !isInRange(c, time)) {
            const double target = c.targetAt(time);
            throwProblem(problemOf(set, "moving", {k}, describeMotion(set, k, time) + ".", remedyForMotion(set, k),
                                   target, rangeOf(c) == Range::HalfTurn && target > 0 ? M_PI : 0));
        }
    requireLengthsInBox(set, box, time);
}

int findTargetNearLimit(const ConstraintSet& set, const std::vector<int>& among, double time, double stepSize) {
    // If the angular momentum is conserved, a bond rotates faster as it becomes shorter, and a bend as it becomes
    // straighter: hydrogen atoms fail at up to 0.03 nm or 0.3 rad with a step of 2 fs. For faster rates the bound is
    // five steps before the limit.
    constexpr double largestLength = 0.05, largestAngle = 0.5, steps = 5;
    double closest = 1;
    int nearest = -1;
    for (int k : among) {
        const Constraint& c = set.constraints[k];
        const double largest = rangeOf(c) == Range::HalfTurn ? largestAngle : largestLength,
                     part = distanceToEnd(c, time) / std::max(largest, steps * std::abs(c.rate) * stepSize);
        if (part < closest) {
            closest = part;
            nearest = k;
        }
    }
    return nearest;
}

std::string describeMotion(const ConstraintSet& set, int constraint, double time) {
    const Constraint& c = set.constraints[constraint];
    const std::string unit = unitOf(c.kind);
    std::ostringstream out;
    out.precision(9); // of times of microseconds, in steps of femtoseconds
    out << describeConstraint(set, constraint) << " would be " << c.targetAt(time) << " " << unit << " at " << time
        << " ps: it is " << c.target << " " << unit << " at its startTime, " << c.startTime << " ps, and changes by "
        << c.rate << " " << unit << "/ps. It has to "
        << (rangeOf(c) == Range::FullTurn   ? "be a number"
            : rangeOf(c) == Range::HalfTurn ? "stay between 0 and pi"
                                            : "stay positive");
    return out.str();
}

std::string remedyForMotion(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    const std::string name = c.kind == CoordinateKind::Custom ? "CentroidDistance" : traitsOf(c.kind).method;
    return "take fewer steps, or call set" + name + "Rate(" + std::to_string(c.index) +
           ", rate, startTime) with others and updateParametersInContext(context).";
}

} // namespace ConstraintPlugin
