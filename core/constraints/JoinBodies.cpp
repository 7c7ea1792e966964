// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JoinBodies.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** How many bodies have each particle. */
std::vector<int> countSharers(const ConstraintSet& set) {
    std::vector<int> count(set.numParticles());
    for (const RigidBody& body : set.bodies)
        for (int p : body.particles)
            count[p]++;
    return count;
}

/** Mark joined bodies, and give shared particles their parts of the mass. */
void markJoined(ConstraintSet& set, const std::vector<int>& sharers) {
    std::vector<char> isConstrained(set.numParticles());
    for (const Constraint& c : set.constraints)
        if (!set.isIgnored(c))
            for (int p : c.particles)
                isConstrained[p] = 1;
    for (RigidBody& body : set.bodies) {
        const auto isShared = [&](int p) { return sharers[p] > 1 && set.inverseMass[p] > 0; };
        body.isJoined = std::any_of(body.particles.begin(), body.particles.end(), [&](int p) {
            return set.inverseMass[p] > 0 && (isConstrained[p] || sharers[p] > 1);
        });
        if (std::none_of(body.particles.begin(), body.particles.end(), isShared))
            continue;
        std::vector<int> of;
        for (int p : body.particles)
            of.push_back(sharers[p]);
        body = withSharers(std::move(body), std::move(of), set.inverseMass);
    }
}

/** Directions, along the axes of one of the two bodies, in which a joint has to hold a further shared particle
 * together, if others are together already: the distance from these is that of both shapes.
 *  @param before  places in that body */
std::vector<Real3> openDirections(const RigidBody& body, const std::vector<int>& before, int place) {
    if (before.empty())
        return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const Real3 line = body.shape[place] - body.shape[before[0]];
    const double length = std::sqrt(dot(line, line));
    for (std::size_t k = 1; k < before.size(); k++) {
        const Real3 normal = cross(line, body.shape[before[k]] - body.shape[before[0]]);
        if (std::sqrt(dot(normal, normal)) <= 1e-6 * length * body.radius)
            return {}; // on the line of two others
    }
    return {perpendicular(line, 0), perpendicular(line, 1)};
}

/** Hold a body's copies of shared particles where the first bodies that have them hold theirs. */
void addJoints(ConstraintSet& set, int b, const std::vector<int>& sharers) {
    const RigidBody& body = set.bodies[b];
    std::vector<int> places; // those shared with the first bodies come first: what they hold, others need not
    for (int i = 0; i < body.size(); i++)
        if (body.mass[i] > 0 && sharers[body.particles[i]] > 1 && set.joinedPlaces[body.particles[i]].body != b)
            places.push_back(i);
    std::stable_sort(places.begin(), places.end(), [&](int i, int j) {
        return set.joinedPlaces[body.particles[i]].body < set.joinedPlaces[body.particles[j]].body;
    });
    for (std::size_t k = 0; k < places.size(); k++) {
        const int i = places[k], p = body.particles[i];
        const ConstraintSet::Place& owner = set.joinedPlaces[p];
        set.numCopies++;
        const RigidBody& first = set.bodies[owner.body];
        // The axes of a linear body do not turn about its own: of dependent directions, others would then be
        // independent.
        const bool isAlongSecond = first.isLinear && !body.isLinear;
        std::vector<int> before; // places that both bodies have, whichever body holds these together
        for (std::size_t l = 0; l < k; l++) {
            const auto at = std::find(first.particles.begin(), first.particles.end(), body.particles[places[l]]);
            if (at != first.particles.end())
                before.push_back(isAlongSecond ? places[l] : (int) (at - first.particles.begin()));
        }
        for (const Real3& axis :
             isAlongSecond ? openDirections(body, before, i) : openDirections(first, before, owner.place)) {
            Constraint c;
            c.kind = CoordinateKind::AffinePosition;
            c.particles = {p, p};
            c.form = (int) set.affine.size();
            c.force = body.force;
            c.index = body.index;
            c.joint = {owner.body, b};
            if (isAlongSecond)
                std::swap(c.joint[0], c.joint[1]);
            const double length = std::max(first.radius, body.radius);
            set.affine.push_back({axis, {1.0}, length > 0 ? length : 0.1});
            set.constraints.push_back(std::move(c));
        }
    }
}

/** What a constraint moves: its free particles, and the nodes of bodies. Empty if it has no particle of a body. */
std::vector<int> findNodes(const ConstraintSet& set, const Constraint& c) {
    std::vector<int> nodes;
    bool hasBody = false;
    for (int s = 0; s < c.size(); s++) {
        const int body = set.placeOf(c, s).body, node = body < 0 ? c.particles[s] : set.originNodeOf(body);
        hasBody = hasBody || body >= 0;
        if (body >= 0 && std::find(nodes.begin(), nodes.end(), node) != nodes.end())
            continue;
        nodes.push_back(node);
        if (body >= 0)
            nodes.push_back(set.turnNodeOf(body));
    }
    return hasBody ? nodes : std::vector<int>();
}

} // namespace

void joinBodies(ConstraintSet& set) {
    if (set.bodies.empty())
        return;
    const std::vector<int> sharers = countSharers(set);
    markJoined(set, sharers);
    const auto isJoined = [](const RigidBody& body) { return body.isJoined; };
    if (std::none_of(set.bodies.begin(), set.bodies.end(), isJoined))
        return;
    set.joinedPlaces.resize(set.numParticles());
    for (int b = (int) set.bodies.size() - 1; b >= 0; b--) {
        const RigidBody& body = set.bodies[b];
        for (int i = 0; i < body.size() && body.isJoined; i++)
            if (body.mass[i] > 0) // anchors are where they are
                set.joinedPlaces[body.particles[i]] = {b, i};
    }
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (set.bodies[b].isJoined)
            addJoints(set, b, sharers);
    for (Constraint& c : set.constraints)
        if (!set.isIgnored(c))
            c.nodes = findNodes(set, c);
}

} // namespace ConstraintPlugin
