// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LengthChecks.h"
#include "ConstraintChecks.h"
#include "ConstraintErrors.h"
#include "Contradictions.h"
#include "HeldCoordinates.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintForce.h"
#include <map>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** While it exists, a set has distances between points besides: those of centroids, where a group is a point behind
 *  the particles, and those that rigid bodies hold. */
class LengthsBetweenPoints {
public:
    LengthsBetweenPoints(const System& system, ConstraintSet& set)
        : set(set), numParticles(set.inverseMass.size()), numConstraints((int) set.constraints.size()) {
        addCentroids(system);
    }
    ~LengthsBetweenPoints() {
        set.inverseMass.resize(numParticles);
        set.constraints.resize(numConstraints);
    }
    LengthsBetweenPoints(const LengthsBetweenPoints&) = delete;
    /** Among particles at which distances end or other bodies begin. */
    void addBodies();
    /** The distance of centroids that a distance between points stands for; of any other constraint itself. */
    int given(int constraint) const {
        const int i = constraint - numConstraints;
        return i >= 0 && i < (int) centroids.size() ? centroids[i] : constraint;
    }
    bool haveCentroids() const {
        return !centroids.empty();
    }
    void leaveOut(int constraint) {
        ConstraintPlugin::leaveOut(set, constraint);
        if (given(constraint) != constraint)
            ConstraintPlugin::leaveOut(set, given(constraint));
    }

private:
    void addCentroids(const System& system);
    /** Weights are masses: groups with the same massive particles have the same centroid. */
    int pointOf(std::vector<int> group) {
        const auto isMassless = [&](int p) { return set.inverseMass[p] == 0; };
        group.erase(std::remove_if(group.begin(), group.end(), isMassless), group.end());
        if (group.size() == 1)
            return group[0];
        std::sort(group.begin(), group.end());
        const auto [known, isNew] = points.emplace(std::move(group), (int) set.inverseMass.size());
        if (isNew)
            set.inverseMass.push_back(1); // some, since it moves
        return known->second;
    }
    ConstraintSet& set;
    std::size_t numParticles;
    int numConstraints;
    std::map<std::vector<int>, int> points;
    std::vector<int> centroids; // constraints
};

void LengthsBetweenPoints::addCentroids(const System& system) {
    for (int k = 0; k < set.numListed; k++) {
        if (set.constraints[k].kind != CoordinateKind::Custom || !set.hasLengthScale(set.constraints[k]) ||
            set.isIgnored(set.constraints[k]))
            continue;
        Constraint c = set.constraints[k];
        std::vector<int> groups[2];
        double distance;
        dynamic_cast<const ConstraintForce&>(system.getForce(c.force))
            .getCentroidDistanceParameters(c.index, groups[0], groups[1], distance);
        c.kind = CoordinateKind::Distance;
        c.particles = {pointOf(std::move(groups[0])), pointOf(std::move(groups[1]))};
        centroids.push_back(k);
        set.constraints.push_back(std::move(c));
    }
}

void LengthsBetweenPoints::addBodies() {
    constexpr int most = 30; // ends of a body: their pairs are 435
    std::vector<char> isEnd(set.bodies.empty() ? 0 : set.numParticles());
    std::vector<int> numBodies(isEnd.size());
    for (const Constraint& c : set.constraints)
        if (!isEnd.empty() && c.kind == CoordinateKind::Distance && c.isFixed() && !set.isIgnored(c))
            isEnd[c.particles[0]] = isEnd[c.particles[1]] = 1;
    for (const RigidBody& body : set.bodies)
        for (int p : body.particles)
            numBodies[p]++;
    for (const RigidBody& body : set.bodies) {
        std::vector<int> ends;
        for (int i = 0; i < body.size() && (int) ends.size() < most; i++)
            if (isEnd[body.particles[i]] || numBodies[body.particles[i]] > 1)
                ends.push_back(i);
        for (std::size_t j = 1; j < ends.size(); j++)
            for (std::size_t i = 0; i < j; i++) {
                const Real3 r = body.shape[ends[i]] - body.shape[ends[j]];
                Constraint c;
                c.particles = {body.particles[ends[i]], body.particles[ends[j]]};
                c.target = std::sqrt(dot(r, r));
                c.force = body.force;
                c.index = body.index;
                set.constraints.push_back(std::move(c));
            }
    }
}

/** Of two constraints of the same coordinate. */
ConstraintProblem differingTargets(const ConstraintSet& set, int first, int second, double tolerance) {
    const Constraint &a = set.constraints[first], &b = set.constraints[second];
    const std::string both = describeConstraint(set, first) + " and " + describeConstraint(set, second);
    const std::string coordinate = b.kind == CoordinateKind::LinearAngle ? "angle" : nameOf(set, b);
    const std::string unit = unitOf(set, b);
    std::ostringstream out;
    if (a.rate != b.rate) {
        out << both << " change the same " << coordinate << " at different rates, " << a.rate << " and " << b.rate
            << unit << "/ps.";
        return problemOf(set, "contradictory", {first, second}, out.str(), "Remove one of them.",
                         std::abs(a.rate - b.rate), 0);
    }
    const double one = declaredTarget(a), other = declaredTarget(b), scale = set.hasLengthScale(b) ? other : 1;
    const bool ofPair = a.kind == CoordinateKind::Distance || b.kind == CoordinateKind::Distance;
    out << both << " give the same "
        << (!set.hasLengthScale(b) ? coordinate + " different values"
                                   : (ofPair ? "pair" : "two groups") + std::string(" different distances"))
        << ", " << one << " and " << other << unit << ", that differ by more than the tolerance " << tolerance << ".";
    return problemOf(set, "contradictory", {first, second}, out.str(), "Remove one of them.",
                     std::abs(wrapResidual(b.kind, one - other)) / scale, tolerance);
}

/** "a, b and c" */
template <class Item>
std::string listed(const std::vector<int>& constraints, Item item) {
    std::ostringstream out;
    for (std::size_t i = 0; i < constraints.size(); i++)
        out << (i == 0 ? "" : i == constraints.size() - 1 ? " and " : ", ") << item(constraints[i]);
    return out.str();
}

} // namespace

void checkLengths(const System& system, ConstraintSet& set, double tolerance, const Box& box,
                  const ProblemReport& report) {
    for (const auto& [first, second] : findContradictoryPairs(set, tolerance)) {
        report(differingTargets(set, first, second, tolerance));
        leaveOut(set, second);
        for (int k = set.numListed; k < (int) set.constraints.size(); k++)
            if (set.constraints[k].owner == second) // the other component of a bend
                leaveOut(set, k);
    }
    LengthsBetweenPoints points(system, set);
    if (points.haveCentroids()) // a second look at a million constraints would take long
        for (const auto& [first, second] : findContradictoryPairs(set, tolerance)) {
            report(differingTargets(set, points.given(first), points.given(second), tolerance));
            points.leaveOut(second);
        }
    points.addBodies();
    for (std::vector<int> ring : findImpossibleRings(set, box)) {
        const int longest = ring.back();
        const double length = set.constraints[longest].target;
        double others = -length;
        for (int& k : ring) {
            others += set.constraints[k].target;
            k = points.given(k);
        }
        report(problemOf(set, "contradictory", ring,
                         listed(ring, [&](int k) { return describeConstraint(set, k); }) + " with distances " +
                             listed(ring, [&](int k) { return set.constraints[k].target; }) +
                             " nm contradict each other: the longest exceeds the sum of the others, so no positions "
                             "can hold all " +
                             (ring.size() == 3 ? "three" : std::to_string(ring.size())) + ".",
                         "Correct or remove one of them.", length, others));
        points.leaveOut(longest);
    }
}

} // namespace ConstraintPlugin
