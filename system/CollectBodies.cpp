// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CollectBodies.h"
#include "ConstraintChecks.h"
#include "ConstraintGraph.h"
#include "MergedBodies.h"
#include "PossibleWindings.h"
#include "SpanningBase.h"
#include "SystemChecks.h"

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Make the targets of a body's constraints those of its shape. */
void absorb(ConstraintSet& set, const std::vector<int>& constraints, const CollectedBody& body, int recognized) {
    for (int k : constraints) {
        Constraint& c = set.constraints[k];
        const double fitted = valueInShape(c, body.particles, body.positions).value(),
                     deviation = std::abs(fitted - c.target) / set.scale(c);
        if (deviation > set.fitDeviation || set.fittedConstraint < 0) {
            set.fitDeviation = deviation;
            set.fittedConstraint = k;
        }
        c.target = fitted;
        c.isAbsorbed = true;
        c.recognized = recognized;
    }
}

CollectedBody makeBody(const ConstraintSet& set, const RigidSet& found, int number, const Box& box) {
    CollectedBody body;
    body.particles = found.particles;
    body.positions = found.shape;
    body.recognized = number;
    body.closedForm = makeRigidBody(body.particles, body.positions, set.inverseMass);
    body.periodic =
        body.closedForm.radius <= box.halfWidth() && std::any_of(found.constraints.begin(), found.constraints.end(),
                                                                 [&](int k) { return set.constraints[k].periodic; });
    body.closedForm.periodic = body.periodic;
    body.closedForm.mayBeMirrored =
        std::any_of(found.shape.begin(), found.shape.end(), [](const Real3& r) { return r.z != 0; });
    return body;
}

/** Distances that may join particles of parts that have bodies to their own periodic images: shapes do not tell. */
struct Winding {
    std::vector<int> distances;
    std::vector<char> isOfPart; ///< [numParticles] whether distances join a particle to any of these
};

/** @param mayReplace  [constraints] whether a body may be made of a constraint */
Winding findWinding(const ConstraintSet& set, const std::vector<RigidSet>& bodies, const std::vector<char>& mayReplace,
                    const Box& box) {
    const auto isPeriodic = [&](const RigidSet& body) {
        return std::any_of(body.constraints.begin(), body.constraints.end(),
                           [&](int k) { return set.constraints[k].periodic; });
    };
    Winding winding{{}, std::vector<char>(set.numParticles())};
    if (std::none_of(bodies.begin(), bodies.end(), isPeriodic))
        return winding;
    std::vector<char> isOfBody(set.numParticles());
    for (const RigidSet& body : bodies)
        for (int p : body.particles)
            isOfBody[p] = 1;
    std::vector<int> distances;
    for (int k = 0; k < (int) set.constraints.size(); k++)
        if (mayReplace[k] && set.constraints[k].kind == CoordinateKind::Distance && set.isMovable(set.constraints[k]))
            distances.push_back(k);
    for (const std::vector<int>& part : findClusters(set, distances)) {
        if (std::none_of(part.begin(), part.end(), [&](int k) { return isOfBody[set.constraints[k].particles[0]]; }))
            continue;
        const std::vector<int> ofPart = findPossibleWindings(set, part, box);
        winding.distances.insert(winding.distances.end(), ofPart.begin(), ofPart.end());
        for (int k : ofPart.empty() ? std::vector<int>() : part)
            for (int p : set.constraints[k].particles)
                winding.isOfPart[p] = 1;
    }
    return winding;
}

/** Whether any two places are farther apart than that: then one of them is no good reference for minimum images. */
bool isLongerThan(double length, const std::vector<Real3>& places) {
    for (const Real3& a : places)
        for (const Real3& b : places)
            if (norm(a - b) > length)
                return true;
    return false;
}

/** Leave out the bodies that some distances join to their own periodic images, because their lengths differ from those
 *  in the shape, and those in the same parts that the box cannot hold. @return whether there were any */
bool leaveOutWound(const ConstraintSet& set, const std::vector<CollectedBody>& bodies, const Winding& winding,
                   double tolerance, const Box& box, std::vector<RigidSet>& found) {
    const BodyMembership membership(bodies, set.numParticles());
    std::vector<char> isWound(set.numParticles()); // all particles of such a body
    for (int k : winding.distances) {
        const Constraint& c = set.constraints[k];
        for (const auto* entry = membership.begin(c.particles[0]); entry != membership.end(c.particles[0]); ++entry) {
            const CollectedBody& body = bodies[entry->body];
            const int other = membership.placeIn(entry->body, c.particles[1]);
            if (body.recognized < 0 || other < 0)
                continue;
            const double length = norm(body.positions[entry->place] - body.positions[other]);
            if (std::abs(length - c.target) > std::max(tolerance, flatnessBound) * c.target)
                for (int p : body.particles)
                    isWound[p] = 1;
        }
    }
    for (const CollectedBody& body : bodies)
        if (body.recognized >= 0 && isLongerThan(box.halfWidth(), body.positions) &&
            std::any_of(body.particles.begin(), body.particles.end(), [&](int p) { return winding.isOfPart[p]; }))
            for (int p : body.particles)
                isWound[p] = 1;
    const auto isLeftOut = [&](const RigidSet& one) {
        return std::all_of(one.particles.begin(), one.particles.end(), [&](int p) { return isWound[p]; });
    };
    const auto end = std::remove_if(found.begin(), found.end(), isLeftOut);
    const bool isAny = end != found.end();
    found.erase(end, found.end());
    return isAny;
}

} // namespace

bool recognizeBodies(std::vector<CollectedBody>& bodies, ConstraintSet& set, double tolerance, const Box& box,
                     const MeasuredPositions& measured, const ProblemReport& report) {
    std::vector<char> mayReplace;
    for (const Constraint& c : set.constraints)
        mayReplace.push_back(c.isFixed() && !set.isIgnored(c));
    std::vector<int> braced;
    std::vector<RigidSet> found = findRigidSets(set, tolerance, mayReplace, measured, &braced);
    const Winding winding = findWinding(set, found, mayReplace, box);
    if (!winding.distances.empty()) {
        for (int k : winding.distances)
            mayReplace[k] = 0;
        braced.clear();
        found = findRigidSets(set, tolerance, mayReplace, measured, &braced);
    }
    for (int k : braced)
        set.constraints[k].isBraced = true;
    if (found.empty())
        return false;
    const std::vector<CollectedBody> declared = bodies;
    do {
        bodies = declared;
        for (const RigidSet& one : found)
            bodies.push_back(makeBody(set, one, (int) (&one - found.data()), box));
        mergeBodies(bodies, set, tolerance, report);
    } while (leaveOutWound(set, bodies, winding, tolerance, box, found));
    if (found.empty())
        return false;
    set.fitBound = std::max(tolerance, flatnessBound);
    std::vector<char> isLeft(found.size());
    for (CollectedBody& body : bodies)
        if (body.recognized >= 0 && body.merged.empty()) {
            const RigidSet& from = found[body.recognized];
            isLeft[body.recognized] = 1;
            body.recognized = (int) set.recognized.size();
            set.recognized.push_back(
                {from.constraints, from.dimension, from.dimension < 3 ? chooseBase(set, from) : std::vector<int>()});
            absorb(set, from.constraints, body, body.recognized);
        } else
            body.recognized = -1;
    for (std::size_t i = 0; i < found.size(); i++)
        if (!isLeft[i]) // it is a part of a declared body
            for (int k : found[i].constraints)
                set.constraints[k].isAbsorbed = true;
    return true;
}

namespace {

/** What is wrong with a body that the periodic box cannot hold. */
Found tooLarge(const CollectedBody& body, const Box& box) {
    const double radius = body.closedForm.radius;
    if (!body.periodic || radius <= box.halfWidth())
        return {};
    return ConstraintProblem{"box",
                             {},
                             body.particles,
                             radius,
                             box.halfWidth(),
                             nameOf(body) + ": its radius " + std::to_string(radius) +
                                 " nm exceeds half the shortest width of the periodic box (" +
                                 std::to_string(box.halfWidth()) + " nm), so the minimum image cannot represent it.",
                             useLargerBox};
}

} // namespace

void addRigidBodies(const std::vector<CollectedBody>& bodies, ConstraintSet& set, const Box& box,
                    const ProblemReport& report) {
    std::vector<char> isConstrained(set.numParticles());
    for (const Constraint& c : set.constraints)
        for (int p : set.isIgnored(c) ? std::vector<int>() : c.particles)
            isConstrained[p] = 1;
    for (const CollectedBody& body : bodies) {
        if (Found problem = tooLarge(body, box)) {
            report(std::move(*problem));
            continue;
        }
        if (body.particles.size() == 1 && isConstrained[body.particles[0]]) // it is that particle
            continue;
        if (body.recognized >= 0)
            set.recognized[body.recognized].body = (int) set.bodies.size();
        set.bodies.push_back(body.closedForm);
    }
}

} // namespace ConstraintPlugin
