// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MovingTargets.h"
#include "ConstraintErrors.h"
#include <limits>
#include <sstream>

namespace ConstraintPlugin {

namespace {

/** Distance of a target from the limit of its range in the direction of its rate, negative beyond it; infinite if there
 * is no limit. */
double distanceToEnd(const Constraint& c, double time) {
    const double target = c.targetAt(time);
    const bool isAngle = c.kind == CoordinateKind::Angle;
    if (c.rate == 0 || c.kind == CoordinateKind::Dihedral || (c.rate > 0 && !isAngle))
        return std::numeric_limits<double>::infinity();
    return c.rate < 0 ? target : M_PI - target;
}

bool isInRange(const Constraint& c, double time) {
    const double target = c.targetAt(time);
    const bool isAngle = c.kind == CoordinateKind::Angle, isDihedral = c.kind == CoordinateKind::Dihedral;
    return std::isfinite(target) && (isDihedral || (target > 0 && (!isAngle || target < M_PI)));
}

} // namespace

void requireTargetsInRange(const ConstraintSet& set, double time) {
    for (int k = 0; k < set.numListed; k++)
        if (const Constraint& c = set.constraints[k]; c.rate != 0 && !isInRange(c, time)) {
            const double target = c.targetAt(time);
            throwProblem(problemOf(set, "moving", {k}, describeMotion(set, k, time) + ".", remedyForMotion(set, k),
                                   target, c.kind == CoordinateKind::Angle && target > 0 ? M_PI : 0));
        }
}

int findEndingTarget(const ConstraintSet& set, const std::vector<int>& among, double time, double stepSize) {
    // If the angular momentum is conserved, a bond rotates faster as it becomes shorter, and a bend as it becomes
    // straighter: hydrogen atoms fail at up to 0.03 nm or 0.3 rad with a step of 2 fs. For faster rates the bound is
    // five steps before the limit.
    constexpr double largestLength = 0.05, largestAngle = 0.5, steps = 5;
    double closest = 1;
    int ending = -1;
    for (int k : among) {
        const Constraint& c = set.constraints[k];
        const double largest = c.kind == CoordinateKind::Angle ? largestAngle : largestLength,
                     part = distanceToEnd(c, time) / std::max(largest, steps * std::abs(c.rate) * stepSize);
        if (part < closest) {
            closest = part;
            ending = k;
        }
    }
    return ending;
}

std::string describeMotion(const ConstraintSet& set, int constraint, double time) {
    const Constraint& c = set.constraints[constraint];
    const std::string unit = unitOf(c.kind);
    std::ostringstream out;
    out.precision(9); // of times of microseconds, in steps of femtoseconds
    out << describeConstraint(set, constraint) << " would be " << c.targetAt(time) << " " << unit << " at " << time
        << " ps: it is " << c.target << " " << unit << " at its startTime, " << c.startTime << " ps, and changes by "
        << c.rate << " " << unit << "/ps. It has to "
        << (c.kind == CoordinateKind::Dihedral ? "be a number"
            : c.kind == CoordinateKind::Angle  ? "stay between 0 and pi"
                                               : "stay positive");
    return out.str();
}

std::string remedyForMotion(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    const std::string name = c.kind == CoordinateKind::Dihedral   ? "Dihedral"
                             : c.kind == CoordinateKind::Angle    ? "Angle"
                             : c.kind == CoordinateKind::Distance ? "Distance"
                                                                  : "CentroidDistance";
    return "take fewer steps, or call set" + name + "Rate(" + std::to_string(c.index) +
           ", rate, startTime) with others and updateParametersInContext(context).";
}

} // namespace ConstraintPlugin
