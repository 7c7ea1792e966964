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
    // Between two values, 0 and pi are met within their rounding errors.
    const double rounding = c.parameter < 0 ? 0 : 1e-14 * (std::abs(c.target0) + std::abs(c.target1));
    const bool isBelowPi = rangeOf(c) != Range::HalfTurn || target < M_PI - rounding;
    return std::isfinite(target) && (rangeOf(c) == Range::FullTurn || (target > rounding && isBelowPi));
}

} // namespace

void requireLengthsInBox(const ConstraintSet& set, const Box& box, double time) {
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (!set.isIgnored(c) && set.hasLengthScale(c) && c.periodic && c.force >= 0 &&
            c.targetAt(time) > box.halfWidth())
            throwProblem(problemOf(set, "box", {k},
                                   describeConstraint(set, k) + ": its distance " + std::to_string(c.targetAt(time)) +
                                       " nm" + describeInterpolation(set, k) +
                                       " exceeds half the shortest width of the periodic box, " +
                                       std::to_string(box.halfWidth()) + " nm.",
                                   remedyForLength(set, k, "Use a larger box."), c.targetAt(time), box.halfWidth()));
    }
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (const RigidBody& body = set.bodies[b]; body.periodic && body.radius > box.halfWidth())
            throwProblem(problemOfBody(set, "box", b,
                                       describeBody(set, b) + ": its radius " + std::to_string(body.radius) +
                                           " nm exceeds half the shortest width of the periodic box, " +
                                           std::to_string(box.halfWidth()) + " nm.",
                                       "Use a larger box.", body.radius, box.halfWidth()));
}

std::optional<ConstraintProblem> findTargetOutOfRange(const ConstraintSet& set, int k, double time) {
    const Constraint& c = set.constraints[k];
    if (isInRange(c, time))
        return {};
    const double target = c.targetAt(time);
    return problemOf(set, "moving", {k}, describeMotion(set, k, time) + ".", remedyForMotion(set, k), target,
                     rangeOf(c) == Range::HalfTurn && target > 0 ? M_PI : 0);
}

void requireTargetsInRange(const ConstraintSet& set, const Box& box, double time) {
    for (int k = 0; k < set.numListed; k++)
        if (!set.constraints[k].isFixed())
            if (auto problem = findTargetOutOfRange(set, k, time))
                throwProblem(std::move(*problem));
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
    out << describeConstraint(set, constraint) << " would be " << c.targetAt(time) << " " << unit;
    if (c.rate != 0)
        out << " at " << time << " ps: it is " << c.target << " " << unit << " at its startTime, " << c.startTime
            << " ps, and changes by " << c.rate << " " << unit << "/ps";
    out << describeInterpolation(set, constraint) << ". It has to "
        << (rangeOf(c) == Range::FullTurn   ? "be a number"
            : rangeOf(c) == Range::HalfTurn ? "stay between 0 and pi"
                                            : "stay positive");
    return out.str();
}

std::string describeInterpolation(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    if (c.parameter < 0)
        return "";
    const std::string unit = unitOf(c.kind);
    std::ostringstream out;
    out << " with the Context parameter \"" << set.globals[c.parameter].name << "\" at "
        << set.globals[c.parameter].value << " (" << c.target0 << " " << unit << " at 0, " << c.target1 << " " << unit
        << " at 1)";
    return out.str();
}

/** "set<Name>Rate(0, " */
static std::string callOf(const Constraint& c, const char* what) {
    const std::string name = c.kind == CoordinateKind::Custom ? "CentroidDistance" : traitsOf(c.kind).method;
    return "set" + name + what + "(" + std::to_string(c.index) + ", ";
}

/** "call context.setParameter("lambda", value) with another value, or setDistanceInterpolation(0, "lambda", ...) ..."
 */
static std::string remedyForInterpolation(const ConstraintSet& set, const Constraint& c) {
    const std::string name = "\"" + set.globals[c.parameter].name + "\"";
    return "call context.setParameter(" + name + ", value) with another value, or " + callOf(c, "Interpolation") +
           name + ", value at 1) with another one and updateParametersInContext(context).";
}

std::string remedyForLength(const ConstraintSet& set, int constraint, const std::string& ofAny) {
    const Constraint& c = set.constraints[constraint];
    return c.parameter < 0 ? ofAny : ofAny + " Or " + remedyForInterpolation(set, c);
}

std::string remedyForNoLength(const Constraint& c) {
    const bool ofCentroids = c.kind == CoordinateKind::Custom;
    return std::string("To hold two ") + (ofCentroids ? "centroids" : "particles") +
           " at one place, give three expressions: \"x1-x2\", \"y1-y2\" and \"z1-z2\", each a " +
           (ofCentroids ? "CustomCentroidConstraintForce." : "CustomConstraintForce; or make one a virtual site.");
}

std::string remedyForMotion(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    const std::string toMeet = rangeOf(c) == Range::Length && std::isfinite(c.target) ? " " + remedyForNoLength(c) : "";
    if (c.rate == 0 && c.parameter >= 0)
        return remedyForInterpolation(set, c) + toMeet;
    return "take fewer steps, or call " + callOf(c, "Rate") +
           "rate, startTime) with others and updateParametersInContext(context)." + toMeet;
}

} // namespace ConstraintPlugin
