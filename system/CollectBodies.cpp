// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CollectBodies.h"
#include "ConstraintChecks.h"
#include "MergedBodies.h"
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

} // namespace

bool recognizeBodies(std::vector<CollectedBody>& bodies, ConstraintSet& set, double tolerance, const Box& box,
                     const ProblemReport& report) {
    std::vector<char> mayReplace;
    for (const Constraint& c : set.constraints)
        mayReplace.push_back(c.isFixed() && !set.isIgnored(c));
    std::vector<int> braced;
    const std::vector<RigidSet> found = findRigidSets(set, tolerance, mayReplace, &braced);
    for (int k : braced)
        set.constraints[k].isBraced = true;
    if (found.empty())
        return false;
    for (const RigidSet& one : found)
        bodies.push_back(makeBody(set, one, (int) (&one - found.data()), box));
    mergeBodies(bodies, set, tolerance, report);
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
