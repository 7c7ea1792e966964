// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeclaredBodies.h"
#include "ConstraintErrors.h"
#include "MergedBodies.h"
#include "OpenMMVectors.h"
#include "SharedParticles.h"
#include "SystemChecks.h"
#include "openmmconstraints/ConstraintForce.h"
#include <numeric>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

ConstraintProblem problemWith(const CollectedBody& body, const char* kind, const std::string& why,
                              const std::string& remedy = "", double value = ConstraintProblem::none,
                              double bound = ConstraintProblem::none) {
    return {kind, {}, body.particles, value, bound, nameOf(body) + ": " + why, remedy};
}

/** "particle 3 (ALA1:N) and particle 5 (ALA1:CA)"; long lists are cut */
std::string listed(const ConstraintSet& set, const std::vector<int>& particles) {
    constexpr std::size_t most = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, particles.size()); i++)
        text += (i == 0 ? "" : i + 1 == particles.size() ? " and " : ", ") + describeParticle(set, particles[i]);
    return text + (particles.size() > most ? " and " + std::to_string(particles.size() - most) + " more" : "");
}

/** Leave out bodies that are there already: with these particles, and this shape. */
void dropRepeated(std::vector<CollectedBody>& bodies, const ConstraintSet& set, double tolerance,
                  const ProblemReport& report) {
    std::map<std::vector<int>, std::size_t> known; // by particles
    std::vector<CollectedBody> kept;
    for (CollectedBody& body : bodies) {
        std::vector<int> particles = body.particles;
        std::sort(particles.begin(), particles.end());
        const auto [at, isNew] = known.emplace(std::move(particles), kept.size());
        if (!isNew && !SharedParticles(kept[at->second], body).findDisagreement(set, tolerance))
            report(problemWith(body, "particles",
                               "its particles are those of " + nameOf(kept[at->second]) + ": " +
                                   listed(set, body.particles) + ".",
                               "Add each body once."));
        else
            kept.push_back(std::move(body));
    }
    bodies.swap(kept);
}

} // namespace

std::string nameOf(const CollectedBody& body) {
    const auto name = [](int force, int index) {
        return "rigid body " + std::to_string(index) + " of the ConstraintForce with index " + std::to_string(force);
    };
    if (body.force < 0)
        return "the rigid body that distances and angles of these particles hold";
    std::string text = name(body.force, body.index);
    for (std::size_t i = 0; i < body.merged.size(); i++)
        text += (i == 0                        ? " (one with "
                 : i + 1 == body.merged.size() ? " and "
                                               : ", ") +
                name(body.merged[i][0], body.merged[i][1]);
    return text + (body.merged.empty() ? "" : ")");
}

CollectedBody mirrored(CollectedBody body, const std::vector<double>& inverseMass) {
    for (Real3& x : body.positions)
        x.z = -x.z;
    RigidBody image = makeRigidBody(body.particles, body.positions, inverseMass);
    image.force = body.closedForm.force;
    image.index = body.closedForm.index;
    image.periodic = body.closedForm.periodic;
    image.mayBeMirrored = body.closedForm.mayBeMirrored;
    image.lineShift = body.closedForm.lineShift;
    body.closedForm = std::move(image);
    return body;
}

std::map<std::array<int, 2>, int> countShared(const std::vector<CollectedBody>& bodies, int numParticles) {
    const BodyMembership membership(bodies, numParticles);
    std::map<std::array<int, 2>, int> count;
    for (int p = 0; p < numParticles; p++)
        for (const auto* one = membership.begin(p); one != membership.end(p); ++one)
            for (const auto* other = one + 1; other != membership.end(p); ++other)
                count[{one->body, other->body}]++;
    return count;
}

std::vector<CollectedBody> collectDeclaredBodies(const System& system, const ConstraintSet& set, double tolerance,
                                                 const ProblemReport& report) {
    std::vector<CollectedBody> bodies;
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        for (int i = 0; force != nullptr && i < force->getNumRigidBodies(); i++) {
            CollectedBody body;
            body.force = f;
            body.index = i;
            body.periodic = force->usesPeriodicBoundaryConditions();
            std::vector<Vec3> positions;
            force->getRigidBodyParameters(i, body.particles, positions);
            for (const Vec3& x : positions)
                body.positions.push_back(toReal3(x));
            std::optional<ConstraintProblem> why;
            for (int p : body.particles)
                if (!why)
                    why = whyNotConstrainable(system, p);
            if (why) {
                ConstraintProblem problem =
                    problemWith(body, "particles", why->message, why->remedy, why->value, why->bound);
                problem.particles = std::move(why->particles);
                report(std::move(problem));
                continue;
            }
            try {
                body.closedForm = makeRigidBody(body.particles, body.positions, set.inverseMass);
            } catch (const BadShape& fault) {
                report(problemWith(
                    body, "shape",
                    (fault.particles.empty() ? "a body " : listed(set, fault.particles) + " ") + fault.fault,
                    "Correct what addRigidBody(particles, positions) is given: one position (nm) for each particle."));
                continue;
            }
            body.closedForm.force = f;
            body.closedForm.index = i;
            body.closedForm.periodic = body.periodic;
            bodies.push_back(std::move(body));
        }
    }
    if (bodies.size() > 1) {
        dropRepeated(bodies, set, tolerance, report);
        mergeBodies(bodies, set, tolerance, report);
    }
    return bodies;
}

BodyMembership::BodyMembership(const std::vector<CollectedBody>& bodies, int numParticles) : start(numParticles + 1) {
    for (const CollectedBody& body : bodies)
        for (int p : body.particles)
            start[p + 1]++;
    std::partial_sum(start.begin(), start.end(), start.begin());
    entries.resize(start.back());
    std::vector<int> next(start.begin(), start.end() - 1);
    for (int b = 0; b < (int) bodies.size(); b++)
        for (int i = 0; i < (int) bodies[b].particles.size(); i++)
            entries[next[bodies[b].particles[i]]++] = {b, i};
}

int BodyMembership::placeIn(int body, int particle) const {
    const Entry* const found =
        std::find_if(begin(particle), end(particle), [&](const Entry& entry) { return entry.body == body; });
    return found == end(particle) ? -1 : found->place;
}

} // namespace ConstraintPlugin
