// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeclaredBodies.h"
#include "ConstraintErrors.h"
#include "SystemChecks.h"
#include "openmmconstraints/ConstraintForce.h"
#include <map>
#include <numeric>
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

double length(const Real3& a, const Real3& b) {
    const Real3 r = a - b;
    return std::sqrt(dot(r, r));
}

ConstraintProblem problemWith(const DeclaredBody& body, const char* kind, const std::string& why,
                              const std::string& remedy = "", double value = ConstraintProblem::none,
                              double bound = ConstraintProblem::none) {
    return {kind, {}, body.particles, value, bound, nameOf(body) + ": " + why, remedy};
}

/** "particle 3 (ALA1:N) and particle 5 (ALA1:CA)" */
std::string listed(const ConstraintSet& set, const std::vector<int>& particles) {
    std::string text;
    for (std::size_t i = 0; i < particles.size(); i++)
        text += (i == 0 ? "" : i + 1 == particles.size() ? " and " : ", ") + describeParticle(set, particles[i]);
    return text;
}

/** The particle of some that is farthest by a measure. */
template <class Measure>
int farthest(const std::vector<int>& particles, Measure measure) {
    return *std::max_element(particles.begin(), particles.end(), [&](int p, int q) { return measure(p) < measure(q); });
}

/** Whether two shapes agree about particles that both have: the distances to a few of these, and the handedness. */
class SharedParticles {
public:
    SharedParticles(const DeclaredBody& one, const DeclaredBody& other, const BodyMembership& membership, int first,
                    int second, const std::vector<int>& shared)
        : shared(shared) {
        for (int p : shared)
            places[p] = {one.positions[membership.placeIn(first, p)], other.positions[membership.placeIn(second, p)]};
        chooseReferences();
        for (int p : shared)
            for (int q : references)
                if (const double deviation = std::abs(lengthIn(0, p, q) - lengthIn(1, p, q)); deviation > worst) {
                    worst = deviation;
                    pair = {p, q};
                }
    }
    double lengthIn(int body, int p, int q) const {
        return length(places.at(p)[body], places.at(q)[body]);
    }
    bool isMirrored(double size) const {
        const auto volume = [&](int body) {
            const auto edge = [&](int i) { return places.at(references[i])[body] - places.at(references[0])[body]; };
            return dot(cross(edge(1), edge(2)), edge(3));
        };
        return references.size() == 4 && std::abs(volume(0)) > 1e-6 * size * size * size && volume(0) * volume(1) < 0;
    }
    double worst = 0; ///< nm, largest difference of a distance
    std::array<int, 2> pair{};

private:
    /** Corners of a large tetrahedron in the first body's shape, as far as the particles span one. */
    void chooseReferences() {
        const auto at = [&](int p) { return places.at(p)[0]; };
        const int a = shared[0], b = farthest(shared, [&](int p) { return lengthIn(0, a, p); });
        const Real3 axis = at(b) - at(a);
        const auto fromAxis = [&](int p) { return cross(at(p) - at(a), axis); };
        const int c = farthest(shared, [&](int p) { return dot(fromAxis(p), fromAxis(p)); });
        const Real3 normal = fromAxis(c);
        const int d = farthest(shared, [&](int p) { return std::abs(dot(at(p) - at(a), normal)); });
        references = {a, b, c, d};
    }
    const std::vector<int>& shared;
    std::map<int, std::array<Real3, 2>> places;
    std::vector<int> references;
};

/** What is wrong with two bodies that share particles. */
std::optional<ConstraintProblem> findDisagreement(const ConstraintSet& set, const std::vector<DeclaredBody>& bodies,
                                                  int first, int second, const std::vector<int>& shared,
                                                  const BodyMembership& membership, double tolerance) {
    const DeclaredBody &one = bodies[first], &other = bodies[second];
    const SharedParticles places(one, other, membership, first, second, shared);
    const double size = std::max(one.closedForm.radius, other.closedForm.radius), bound = tolerance * size;
    const char* const remedy =
        "Give both bodies the places that these particles have in the same positions, or declare one body with the "
        "particles of both.";
    std::ostringstream out;
    if (places.worst > bound) {
        const auto [p, q] = places.pair;
        out << "the distance of " << listed(set, {p, q}) << " is " << places.lengthIn(1, p, q)
            << " nm in its shape, but " << places.lengthIn(0, p, q) << " nm in that of " << nameOf(one)
            << ", which has both particles, too.";
        ConstraintProblem problem = problemWith(other, "contradictory", out.str(), remedy, places.worst, bound);
        problem.particles = {p, q};
        return problem;
    }
    if (!places.isMirrored(size))
        return {};
    out << "its " << shared.size() << " particles that " << nameOf(one)
        << " has, too, are the mirror image of their places there.";
    ConstraintProblem problem = problemWith(other, "contradictory", out.str(), remedy);
    problem.particles = shared;
    return problem;
}

/** Leave out bodies that contradict others about particles that both have. */
void dropContradictions(std::vector<DeclaredBody>& bodies, const ConstraintSet& set, double tolerance,
                        const ProblemReport& report) {
    const BodyMembership membership(bodies, set.numParticles());
    std::map<std::array<int, 2>, std::vector<int>> sharedBy;
    for (int p = 0; p < set.numParticles(); p++)
        for (const auto* one = membership.begin(p); one != membership.end(p); ++one)
            for (const auto* other = one + 1; other != membership.end(p); ++other)
                sharedBy[{one->body, other->body}].push_back(p);
    std::vector<char> isRefused(bodies.size());
    for (const auto& [pair, shared] : sharedBy) {
        if (shared.size() < 2 || isRefused[pair[0]] || isRefused[pair[1]])
            continue;
        if (auto problem = findDisagreement(set, bodies, pair[0], pair[1], shared, membership, tolerance)) {
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

} // namespace

std::string nameOf(const DeclaredBody& body) {
    return "rigid body " + std::to_string(body.index) + " of the ConstraintForce with index " +
           std::to_string(body.force);
}

std::vector<DeclaredBody> collectDeclaredBodies(const System& system, const ConstraintSet& set, double tolerance,
                                                const ProblemReport& report) {
    std::vector<DeclaredBody> bodies;
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
        for (int i = 0; force != nullptr && i < force->getNumRigidBodies(); i++) {
            DeclaredBody body;
            body.force = f;
            body.index = i;
            body.periodic = force->usesPeriodicBoundaryConditions();
            std::vector<Vec3> positions;
            force->getRigidBodyParameters(i, body.particles, positions);
            for (const Vec3& x : positions)
                body.positions.push_back({x[0], x[1], x[2]});
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
                body.closedForm = makeFreeBody(body.particles, body.positions, set.inverseMass);
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
    if (bodies.size() > 1)
        dropContradictions(bodies, set, tolerance, report);
    return bodies;
}

BodyMembership::BodyMembership(const std::vector<DeclaredBody>& bodies, int numParticles) : start(numParticles + 1) {
    for (const DeclaredBody& body : bodies)
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
