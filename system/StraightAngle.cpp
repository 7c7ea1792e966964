// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StraightAngle.h"
#include "ConstraintErrors.h"
#include <sstream>

namespace ConstraintPlugin {

/** Sine of an angle so near 0 or 180 degrees that a step may pass it. */
static constexpr double sineOfStraight = 0.05;

static double angleBetween(const Real3& a, const Real3& b) {
    return std::atan2(norm(cross(a, b)), dot(a, b));
}

std::optional<StraightAngle> findStraightAngle(const ConstraintSet& set, const std::vector<int>& particles,
                                               const Real3* x, const Real3* v, const Box& box, double duration) {
    for (int k = 0; k < set.numListed; k++) {
        const Constraint& c = set.constraints[k];
        const bool isAmong = std::any_of(c.particles.begin(), c.particles.end(), [&](int p) {
            return std::find(particles.begin(), particles.end(), p) != particles.end();
        });
        if (!isAmong || !isAngular(c.kind) || c.isAbsorbed)
            continue;
        for (std::size_t s = 0; s + 2 < c.particles.size(); s++) {
            const std::array<int, 3> three = {c.particles[s], c.particles[s + 1], c.particles[s + 2]};
            const auto bond = [&](int end) {
                const Real3 b = x[three[end]] - x[three[1]];
                return c.periodic ? box.minimumImage(b) : b;
            };
            const auto later = [&](int end) { return bond(end) + duration * (v[three[end]] - v[three[1]]); };
            const double before = angleBetween(bond(0), bond(2)), after = angleBetween(later(0), later(2));
            const bool passes = dot(cross(bond(0), bond(2)), cross(later(0), later(2))) < 0;
            if (passes || std::min(std::sin(before), std::sin(after)) < sineOfStraight)
                return StraightAngle{k, three, before, after};
        }
    }
    return {};
}

ConstraintProblem becameStraight(const ConstraintSet& set, const StraightAngle& straight, const std::string& activity) {
    const auto& [constraint, three, before, after] = straight;
    const auto degrees = [](double angle) { return angle * 180 / M_PI; };
    const bool isOfFour = set.constraints[constraint].size() == 4;
    const std::string end = before > 1 ? "180" : "0";
    const std::string which =
        std::to_string(three[0]) + ", " + std::to_string(three[1]) + " and " + std::to_string(three[2]);
    std::ostringstream out;
    out.precision(4);
    out << "The constraints could not be solved in " << activity << ": " << describeConstraint(set, constraint)
        << " has no gradient where the angle of particles " << which << " is " << end
        << " degrees, and near there a small motion turns it far. That angle is " << degrees(before)
        << " degrees at the start of the step, and free particles would take it to " << degrees(after) << ".";
    const std::string keep =
        isOfFour ? "keep the angle of particles " + which + " away from " + end + " degrees: hold it too (addAngle())"
                 : "keep it away from " + end +
                       " degrees (an angle of exactly 180 degrees can be held): reduce the "
                       "step size";
    return problemOf(set, "no-gradient", {constraint}, out.str(),
                     keep + ", give it a stiffer potential, or minimize the energy if it is fast because of large "
                            "forces (openmmconstraints.minimize(context)).",
                     before);
}

} // namespace ConstraintPlugin
