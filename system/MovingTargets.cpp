// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MovingTargets.h"
#include "ConstraintErrors.h"
#include <limits>
#include <sstream>

namespace ConstraintPlugin {

namespace {

/** Limits that a target has to stay between. */
struct Limits {
    double low, high;
};

Limits limitsOf(const ConstraintSet& set, const Constraint& c) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (set.traitsOf(c).range) {
    case Range::Length:
        return {0, infinity};
    case Range::HalfTurn:
        return {0, M_PI};
    case Range::Number:
        return {0, set.custom[c.form]->largestValue()};
    default:
        return {-infinity, infinity};
    }
}

/** Distance of a target from the limit of its range in the direction of its rate, negative beyond it; infinite if there
 * is no limit. */
double distanceToEnd(const ConstraintSet& set, const Constraint& c, double time) {
    const Limits limits = limitsOf(set, c);
    const double target = c.targetAt(time);
    return c.rate < 0   ? target - limits.low
           : c.rate > 0 ? limits.high - target
                        : std::numeric_limits<double>::infinity();
}

bool isInRange(const ConstraintSet& set, const Constraint& c, double time) {
    const Limits limits = limitsOf(set, c);
    const double target = c.targetAt(time);
    // Between two values, limits are met within their rounding errors.
    const double rounding = c.parameter < 0 ? 0 : 1e-14 * (std::abs(c.target0) + std::abs(c.target1));
    return std::isfinite(target) && target > limits.low + rounding && target < limits.high - rounding;
}

/** The longest distance of which a constraint takes the minimum image (nm). */
double longestImageOf(const ConstraintSet& set, const Constraint& c, double time) {
    return set.hasLengthScale(c)              ? c.targetAt(time)
           : c.kind == CoordinateKind::Custom ? set.custom[c.form]->cutoff(set.parameters.data() + c.firstParameter)
                                              : 0;
}

} // namespace

std::optional<ConstraintProblem> findTooLong(const ConstraintSet& set, int k, const Box& box, double time,
                                             const std::string& useLarger) {
    const Constraint& c = set.constraints[k];
    const double length = c.periodic && c.force >= 0 ? longestImageOf(set, c, time) : 0;
    if (!(length > box.halfWidth()))
        return {};
    const bool isCutoff = !set.hasLengthScale(c);
    std::ostringstream why;
    why << describeConstraint(set, k) << ": " << (isCutoff ? "its cutoff " : "the distance ") << length << " nm"
        << (isCutoff ? "" : describeInterpolation(set, k)) << " exceeds half the shortest width of the periodic box ("
        << box.halfWidth() << " nm), so the minimum image cannot represent it.";
    const std::string remedy =
        isCutoff ? useLarger + " Or give a shorter cutoff (set" + set.traitsOf(c).method + "Parameters())."
                 : remedyForLength(set, k, useLarger);
    return problemOf(set, "box", {k}, why.str(), remedy, length, box.halfWidth());
}

void requireLengthsInBox(const ConstraintSet& set, const Box& box, double time) {
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (!set.isIgnored(set.constraints[k]))
            if (auto problem = findTooLong(set, k, box, time, "Use a larger box."))
                throwProblem(std::move(*problem));
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
    if (isInRange(set, c, time))
        return {};
    const Limits limits = limitsOf(set, c);
    const double target = c.targetAt(time);
    return problemOf(set, "moving", {k}, describeMotion(set, k, time) + ".", remedyForMotion(set, k), target,
                     std::isfinite(limits.high) && target > limits.low ? limits.high : 0);
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
    constexpr double largestLength = 0.05, largestOther = 0.5, steps = 5; // angles and numbers
    double closest = 1;
    int nearest = -1;
    for (int k : among) {
        const Constraint& c = set.constraints[k];
        const double largest = set.hasLengthScale(c) ? largestLength : largestOther,
                     part = distanceToEnd(set, c, time) / std::max(largest, steps * std::abs(c.rate) * stepSize);
        if (part < closest) {
            closest = part;
            nearest = k;
        }
    }
    return nearest;
}

std::string describeMotion(const ConstraintSet& set, int constraint, double time) {
    const Constraint& c = set.constraints[constraint];
    const std::string unit = unitOf(set, c);
    std::ostringstream out;
    out.precision(9); // of times of microseconds, in steps of femtoseconds
    out << describeConstraint(set, constraint) << " would be " << c.targetAt(time) << unit;
    if (c.rate != 0)
        out << " at " << time << " ps: it is " << c.target << unit << " at its startTime, " << c.startTime
            << " ps, and changes by " << c.rate << unit << "/ps";
    out << describeInterpolation(set, constraint) << ". It has to ";
    switch (set.traitsOf(c).range) {
    case Range::Length:
        out << "stay positive";
        break;
    case Range::HalfTurn:
        out << "stay between 0 and pi";
        break;
    case Range::Number:
        out << "stay between 0 and " << limitsOf(set, c).high << ", the number of its pairs";
        break;
    default:
        out << "be a number";
    }
    return out.str();
}

std::string describeInterpolation(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    if (c.parameter < 0)
        return "";
    const std::string unit = unitOf(set, c);
    std::ostringstream out;
    out << " with the Context parameter \"" << set.globals[c.parameter].name << "\" at "
        << set.globals[c.parameter].value << " (" << c.target0 << unit << " at 0, " << c.target1 << unit << " at 1)";
    return out.str();
}

/** "set<Name>Rate(0, " */
static std::string callOf(const ConstraintSet& set, const Constraint& c, const char* what) {
    return "set" + std::string(set.traitsOf(c).method) + what + "(" + std::to_string(c.index) + ", ";
}

/** "call context.setParameter("lambda", value) with another value, or setDistanceInterpolation(0, "lambda", ...) ..."
 */
static std::string remedyForInterpolation(const ConstraintSet& set, const Constraint& c) {
    const std::string name = "\"" + set.globals[c.parameter].name + "\"";
    return "call context.setParameter(" + name + ", value) with another value, or " + callOf(set, c, "Interpolation") +
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
    const std::string toMeet =
        set.traitsOf(c).range == Range::Length && std::isfinite(c.target) ? " " + remedyForNoLength(c) : "";
    if (c.rate == 0 && c.parameter >= 0)
        return remedyForInterpolation(set, c) + toMeet;
    return "take fewer steps, or call " + callOf(set, c, "Rate") +
           "rate, startTime) with others and updateParametersInContext(context)." + toMeet;
}

} // namespace ConstraintPlugin
