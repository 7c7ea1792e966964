// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintChecks.h"
#include "ConstraintErrors.h"
#include "ExpressionText.h"
#include "MovingTargets.h"
#include "SystemChecks.h"
#include <map>
#include <set>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Angles (rad) this close to pi count as pi. Angles up to the other limit are too close to pi to have a usable
 * gradient. */
constexpr double roundingOfAngles = 1e-4, nearlyStraight = 1e-3;

Found problemWith(const ConstraintSet& set, int k, const char* kind, const std::string& why, const std::string& remedy,
                  double value = ConstraintProblem::none, double bound = ConstraintProblem::none) {
    return problemOf(set, kind, {k}, describeConstraint(set, k) + ": " + why, remedy, value, bound);
}

/** Of the value that a constraint asks for. */
Found findTargetProblem(const ConstraintSet& set, int k) {
    const Constraint& c = set.constraints[k];
    std::ostringstream why;
    const auto problem = [&](double value, double bound = ConstraintProblem::none) {
        return problemWith(set, k, "target", why.str(), "", value, bound);
    };
    if (!std::isfinite(c.rate)) {
        why << "the rate " << c.rate << " is not a number.";
        return problem(c.rate);
    }
    if (!std::isfinite(c.startTime)) {
        why << "the start time " << c.startTime << " ps of its rate is not a number.";
        return problem(c.startTime);
    }
    if (c.parameter >= 0) {
        const GlobalParameter& p = set.globals[c.parameter];
        if (!std::isfinite(p.value)) {
            why << "the Context parameter \"" << p.name << "\", with which it changes, is " << p.value << ".";
            return problem(p.value);
        }
        for (double end : {c.target0, c.target1})
            if (!std::isfinite(end)) {
                why << "the value " << end << " between which and another the Context parameter \"" << p.name
                    << "\" interpolates is not a number.";
                return problem(end);
            }
        return findTargetOutOfRange(set, k, c.startTime);
    }
    if (set.traitsOf(c).range == Range::Number) {
        const double numPairs = set.custom[c.form]->largestValue();
        if (!(c.target > 0 && c.target < numPairs)) {
            why << "its value " << c.target << " is not between 0 and " << numPairs
                << ", the number of its pairs, each of which adds less than 1.";
            return problem(c.target, c.target > 0 ? numPairs : 0);
        }
    }
    if (set.hasLengthScale(c) && (!(c.target > 0) || std::isinf(c.target))) {
        why << "the distance " << c.target << " nm is not a positive number.";
        return problemWith(set, k, "target", why.str(), c.target == 0 ? remedyForNoLength(c) : "", c.target, 0);
    }
    if (c.kind == CoordinateKind::Angle && isLinearAngle(c.target) && c.rate != 0) {
        why << "an angle that changes in time cannot start from pi, where it has no gradient.";
        return problem(c.target, M_PI);
    }
    if (c.kind == CoordinateKind::Angle && !isLinearAngle(c.target) &&
        !(c.target > nearlyStraight && c.target < M_PI - nearlyStraight)) {
        why << "the angle " << c.target << " rad has to be pi, or to lie between 0 and pi by at least "
            << nearlyStraight << " rad: closer, it has no usable gradient.";
        return problem(c.target, c.target > 1 ? M_PI - nearlyStraight : nearlyStraight);
    }
    if (traitsOf(c.kind).range == Range::FullTurn && !std::isfinite(c.target)) {
        why << "the " << traitsOf(c.kind).name << " " << c.target << " rad is not a number.";
        return problem(c.target);
    }
    return {};
}

/** Particles that rigid bodies hold on lines. */
class LinesOfBodies {
public:
    explicit LinesOfBodies(const ConstraintSet& set) : set(set), places(set.numParticles()) {
        for (int b = 0; b < (int) set.bodies.size(); b++)
            for (int i = 0; i < set.bodies[b].size(); i++)
                places[set.bodies[b].particles[i]].push_back({b, i});
    }
    /** Whether a body holds three particles on one line. */
    bool haveOnOne(int p, int q, int r) const {
        constexpr double rounding = 1e-6;
        for (const auto& [body, place] : places[p]) {
            const int second = placeIn(body, q), third = placeIn(body, r);
            if (second < 0 || third < 0)
                continue;
            const std::vector<Real3>& shape = set.bodies[body].shape;
            const Real3 a = shape[second] - shape[place], b = shape[third] - shape[second], normal = cross(a, b);
            if (dot(normal, normal) <= rounding * rounding * dot(a, a) * dot(b, b))
                return true;
        }
        return false;
    }

private:
    struct Place {
        int body, place;
    };
    int placeIn(int body, int particle) const {
        for (const Place& place : places[particle])
            if (place.body == body)
                return place.place;
        return -1;
    }
    const ConstraintSet& set;
    std::vector<std::vector<Place>> places; // of each particle
};

} // namespace

int findRepeated(const std::vector<int>& particles) {
    constexpr std::size_t few = 8;
    if (particles.size() <= few) {
        for (auto p = particles.begin(); p != particles.end(); ++p)
            if (std::find(particles.begin(), p, *p) != p)
                return *p;
        return -1;
    }
    std::vector<int> sorted = particles;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    return twice == sorted.end() ? -1 : *twice;
}

bool isLinearAngle(double angle) {
    return std::abs(angle - M_PI) <= roundingOfAngles;
}

void leaveOut(ConstraintSet& set, int k) {
    Constraint refused;
    refused.force = set.constraints[k].force;
    refused.index = set.constraints[k].index;
    set.constraints[k] = refused;
}

Found findProblem(const System& system, const ConstraintSet& set, int k, const Box& box) {
    const Constraint& c = set.constraints[k];
    for (int p : c.particles) {
        if (const auto why = whyNotConstrainable(system, p))
            return problemWith(set, k, "particles", why->message, why->remedy, why->value, why->bound);
        const double mass = system.getParticleMass(p);
        if (!(mass >= 0) || std::isinf(mass))
            return problemWith(set, k, "particles",
                               "the mass of " + describeParticle(set, p) + " is negative or not a number.", "", mass,
                               0);
    }
    const int twice = findRepeated(c.particles);
    if (twice >= 0)
        return problemWith(set, k, "particles",
                           "a constraint cannot join " + describeParticle(set, twice) + " to itself.", "", twice);
    if (Found found = findTargetProblem(set, k))
        return found;
    if (c.kind == CoordinateKind::Custom)
        for (std::size_t i = 0; i < set.custom[c.form]->numParameters(); i++)
            if (const double value = set.parameters[c.firstParameter + i]; !std::isfinite(value))
                return problemWith(set, k, "parameter", "its parameter " + std::to_string(i) + " is NaN or infinite.",
                                   "", value);
    return findTooLong(set, k, box, c.startTime, useLargerBox);
}

void checkDihedrals(ConstraintSet& set, const ProblemReport& report) {
    const auto isDihedral = [](const Constraint& c) { return c.kind == CoordinateKind::Dihedral && !c.isAbsorbed; };
    if (std::none_of(set.constraints.begin(), set.constraints.end(), isDihedral))
        return;
    std::map<std::vector<int>, std::set<int>> lines; // by an angle's particles, or a straight body's base
    for (const Constraint& c : set.constraints)
        if (c.kind == CoordinateKind::LinearAngle)
            lines[c.particles].insert(c.particles.begin(), c.particles.end());
        else if (c.kind == CoordinateKind::AffinePosition && set.affine[c.form].weights.size() == 2)
            lines[{c.particles[1], c.particles[2]}].insert(c.particles.begin(), c.particles.end());
    std::map<int, std::vector<const std::set<int>*>> linesOf;
    for (const auto& line : lines)
        for (int p : line.second)
            linesOf[p].push_back(&line.second);
    const auto isHeldOnALine = [&](int a, int b, int c) {
        const auto& through = linesOf[a];
        return std::any_of(through.begin(), through.end(),
                           [&](const std::set<int>* line) { return line->count(b) && line->count(c); });
    };
    const LinesOfBodies linesOfBodies(set);
    for (int k = 0; k < set.numListed; k++)
        for (int first = 0; isDihedral(set.constraints[k]) && first < 2; first++) {
            const int* p = &set.constraints[k].particles[first];
            if (!isHeldOnALine(p[0], p[1], p[2]) && !linesOfBodies.haveOnOne(p[0], p[1], p[2]))
                continue;
            report(*problemWith(set, k, "straight",
                                describeParticle(set, p[0]) + ", " + describeParticle(set, p[1]) + " and " +
                                    describeParticle(set, p[2]) +
                                    " are held on one line, where a dihedral has no value.",
                                "Remove it, or choose particles beyond the line."));
            leaveOut(set, k);
        }
}

std::vector<std::pair<int, double>> weightsIn(const ConstraintSet& set, const CustomCentroidConstraintForce& force,
                                              int group) {
    std::vector<int> particles;
    std::vector<double> weights;
    force.getGroupParameters(group, particles, weights);
    const bool areMasses = weights.empty();
    double total = 0;
    for (std::size_t i = 0; i < particles.size(); i++) {
        if (areMasses)
            weights.push_back(set.inverseMass[particles[i]] > 0 ? 1 / set.inverseMass[particles[i]] : 0);
        total += weights[i];
    }
    std::vector<std::pair<int, double>> result;
    for (std::size_t i = 0; i < particles.size(); i++)
        if (weights[i] != 0)
            result.emplace_back(particles[i], weights[i] / total);
    return result;
}

Found findGroupProblem(const System& system, const ConstraintSet& set, const CustomCentroidConstraintForce& force,
                       const Constraint& c, const std::vector<int>& groups) {
    const std::string name = "constraint " + std::to_string(c.index) + " of the " + force.getClassName() +
                             " with index " + std::to_string(c.force) + ", " + shortened(force.getExpression()) +
                             " = 0: ";
    const auto problem = [&](const char* kind, const std::vector<int>& particles, const std::string& why,
                             const std::string& remedy, double value, double bound = ConstraintProblem::none) {
        return ConstraintProblem{kind, {(int) set.constraints.size()}, particles, value, bound, name + why, remedy};
    };
    for (int group : groups) {
        const std::string which = "its group " + std::to_string(group);
        if (group < 0 || group >= force.getNumGroups())
            return problem("particles", {},
                           which + " does not exist: the Force has " + std::to_string(force.getNumGroups()) +
                               " groups, and the first has index 0.",
                           "Define it by addGroup().", group, force.getNumGroups() - 1);
        if (std::count(groups.begin(), groups.end(), group) > 1)
            return problem("particles", {}, which + " is listed twice.", "Give each of its groups once.", group);
        std::vector<int> particles;
        std::vector<double> weights;
        force.getGroupParameters(group, particles, weights);
        const bool areMasses = weights.empty();
        const std::string setThem = "setGroupParameters(" + std::to_string(group) + ", particles, weights)";
        if (particles.empty())
            return problem("particles", {}, which + " has no particles.", setThem + ".", 0, 1);
        if (const int twice = findRepeated(particles); twice >= 0)
            return problem("particles", {twice}, describeParticle(set, twice) + " is listed twice in " + which + ".",
                           "List it once, with the sum of its weights: " + setThem + ".", twice);
        double sum = 0, size = 0;
        for (std::size_t i = 0; i < particles.size(); i++) {
            const int p = particles[i];
            const auto why = whyNotConstrainable(system, p);
            const bool isSite = why && p >= 0 && p < set.numParticles();
            const double weight = !areMasses ? weights[i] : why ? 0 : system.getParticleMass(p);
            if (why && !(isSite && weight == 0))
                return problem("particles", {p}, "in " + which + ", " + why->message,
                               isSite ? "Give it the weight 0, and weights to the particles that define it."
                                      : why->remedy,
                               p, why->bound);
            if (!std::isfinite(weight) || (areMasses && weight < 0))
                return problem("parameter", {p},
                               "in " + which + ", the " + (areMasses ? "mass" : "weight") + " of " +
                                   describeParticle(set, p) + " is " + (areMasses ? "negative" : "infinite") +
                                   " or not a number.",
                               setThem + ".", weight);
            sum += weight;
            size += std::abs(weight);
        }
        if (!(std::abs(sum) > 1e-10 * size))
            return problem("parameter", particles,
                           which + (areMasses ? " has no particle with mass, so it has no centre of mass."
                                              : " has weights that sum to zero, so it has no centroid."),
                           areMasses ? "Give weights: " + setThem + "." : "Correct them: " + setThem + ".", sum, 0);
    }
    return {};
}

} // namespace ConstraintPlugin
