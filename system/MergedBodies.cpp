// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MergedBodies.h"
#include "ConstraintErrors.h"
#include "SharedParticles.h"
#include <queue>

namespace ConstraintPlugin {

namespace {

/** Leave out bodies that contradict others about particles that both have. */
void dropContradictions(std::vector<CollectedBody>& bodies, const ConstraintSet& set, double tolerance,
                        const ProblemReport& report) {
    std::vector<char> isRefused(bodies.size());
    for (const auto& [pair, shared] : countShared(bodies, set.numParticles())) {
        if (shared < 2 || isRefused[pair[0]] || isRefused[pair[1]])
            continue;
        if (auto problem = SharedParticles(bodies[pair[0]], bodies[pair[1]]).findDisagreement(set, tolerance)) {
            report(std::move(*problem));
            isRefused[pair[1]] = 1;
        }
    }
    std::size_t kept = 0;
    for (std::size_t b = 0; b < bodies.size(); b++)
        if (!isRefused[b]) {
            if (kept != b)
                bodies[kept] = std::move(bodies[b]);
            kept++;
        }
    bodies.resize(kept);
}

/** Bodies with which each shares particles. */
std::vector<std::vector<int>> findNeighbours(const std::vector<CollectedBody>& bodies, int numParticles) {
    std::vector<std::vector<int>> neighbours(bodies.size());
    for (const auto& [pair, count] : countShared(bodies, numParticles)) {
        neighbours[pair[0]].push_back(pair[1]);
        neighbours[pair[1]].push_back(pair[0]);
    }
    return neighbours;
}

/** Its closed form, from its positions. @return false if it was reported, because it has none */
bool makeClosedForm(CollectedBody& body, const ConstraintSet& set, const ProblemReport& report) {
    const bool mayBeMirrored = body.closedForm.mayBeMirrored;
    try {
        body.closedForm = makeRigidBody(body.particles, body.positions, set.inverseMass);
    } catch (const BadShape& fault) {
        std::string message = nameOf(body) + ": ";
        for (std::size_t i = 0; i < fault.particles.size(); i++)
            message += (i == 0 ? "" : " and ") + describeParticle(set, fault.particles[i]);
        report({"shape",
                {},
                fault.particles,
                ConstraintProblem::none,
                ConstraintProblem::none,
                message + " " + fault.fault,
                "Correct what addRigidBody(particles, positions) is given for these bodies, which share particles."});
        return false;
    }
    body.closedForm.lineShift = std::max(body.closedForm.lineShift, body.lineShift);
    body.closedForm.force = body.force;
    body.closedForm.index = body.index;
    body.closedForm.periodic = body.periodic;
    body.closedForm.mayBeMirrored = mayBeMirrored;
    return true;
}

/** A body with all others that are fixed to it, one after another.
 *  @param[in,out] isTaken  [bodies] */
CollectedBody grow(int start, const std::vector<CollectedBody>& bodies, const std::vector<std::vector<int>>& neighbours,
                   std::vector<char>& isTaken, const ConstraintSet& set, double tolerance,
                   const ProblemReport& report) {
    CollectedBody grown = bodies[start];
    isTaken[start] = 1;
    std::queue<int> ends;
    for (ends.push(start); !ends.empty(); ends.pop())
        for (int next : neighbours[ends.front()]) {
            if (isTaken[next])
                continue;
            const SharedParticles shared(grown, bodies[next]);
            if (!shared.fixBodies())
                continue;
            isTaken[next] = 1;
            if (auto problem = shared.findDisagreement(set, tolerance)) {
                report(std::move(*problem));
                continue;
            }
            grown = shared.mergedBody();
            ends.push(next);
        }
    return grown;
}

/** One pass over all bodies. @return whether any were merged or left out */
bool mergeOnce(std::vector<CollectedBody>& bodies, const ConstraintSet& set, double tolerance,
               const ProblemReport& report) {
    const std::vector<std::vector<int>> neighbours = findNeighbours(bodies, set.numParticles());
    std::vector<char> isTaken(bodies.size());
    std::vector<CollectedBody> merged;
    for (int b = 0; b < (int) bodies.size(); b++) {
        if (isTaken[b])
            continue;
        if (neighbours[b].empty()) {
            merged.push_back(std::move(bodies[b]));
            continue;
        }
        CollectedBody body = grow(b, bodies, neighbours, isTaken, set, tolerance, report);
        if (body.particles.size() == bodies[b].particles.size() && body.merged.size() == bodies[b].merged.size())
            merged.push_back(std::move(bodies[b]));
        else if (makeClosedForm(body, set, report))
            merged.push_back(std::move(body));
    }
    std::swap(bodies, merged);
    return bodies.size() < merged.size();
}

/** Give the axes of hinges the same places in both bodies. */
void alignHinges(std::vector<CollectedBody>& bodies, const ConstraintSet& set, const ProblemReport& report) {
    std::vector<char> isHinged(bodies.size());
    for (const auto& [pair, count] : countShared(bodies, set.numParticles())) {
        if (count < 2)
            continue;
        CollectedBody &one = bodies[pair[0]], &other = bodies[pair[1]];
        const double shift = SharedParticles(one, other).alignOnLine(one, other);
        for (int b : pair) {
            bodies[b].lineShift = std::max(bodies[b].lineShift, shift);
            isHinged[b] = 1;
        }
    }
    for (std::size_t b = 0; b < bodies.size(); b++)
        if (isHinged[b])
            makeClosedForm(bodies[b], set, report);
}

/** Bodies that share particles are periodic if one of them is: their places in each other's shape are. */
void sharePeriodicity(std::vector<CollectedBody>& bodies, int numParticles) {
    const std::vector<std::vector<int>> neighbours = findNeighbours(bodies, numParticles);
    std::vector<int> ends;
    for (int b = 0; b < (int) bodies.size(); b++)
        if (bodies[b].periodic)
            ends.push_back(b);
    while (!ends.empty()) {
        const int b = ends.back();
        ends.pop_back();
        for (int next : neighbours[b])
            if (!bodies[next].periodic) {
                bodies[next].periodic = bodies[next].closedForm.periodic = true;
                ends.push_back(next);
            }
    }
}

/** Of a recognized body that shares more than a plane with a declared one, take the mirror image that fits. */
void orient(std::vector<CollectedBody>& bodies, const ConstraintSet& set) {
    for (const auto& [pair, shared] : countShared(bodies, set.numParticles())) {
        CollectedBody &one = bodies[pair[0]], &other = bodies[pair[1]];
        if (shared > 3 && one.recognized < 0 && other.recognized >= 0 && SharedParticles(one, other).isMirrored())
            other = mirrored(std::move(other), set.inverseMass);
    }
}

} // namespace

void mergeBodies(std::vector<CollectedBody>& bodies, const ConstraintSet& set, double tolerance,
                 const ProblemReport& report) {
    orient(bodies, set);
    do
        dropContradictions(bodies, set, tolerance, report);
    while (mergeOnce(bodies, set, tolerance, report));
    alignHinges(bodies, set, report);
    sharePeriodicity(bodies, set.numParticles());
}

} // namespace ConstraintPlugin
