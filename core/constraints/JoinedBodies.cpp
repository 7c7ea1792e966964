// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JoinedBodies.h"
#include "BodyFit.h"
#include "RigidBodySolver.h"
#include <limits>

namespace ConstraintPlugin {

using rigid::BodyConstants;
using rigid::Moments;
using rigid::RigidMotion;

JoinedBodies::JoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints)
    : set(set), number(set.bodies.size(), -1) {
    for (int k : constraints)
        for (int node : set.constraints[k].nodes)
            if (const int body = (node - set.numParticles()) / 2; node >= set.numParticles() && number[body] < 0) {
                number[body] = (int) joined.size();
                joined.push_back(body);
            }
    for (int b : joined) {
        const RigidBody& body = set.bodies[b];
        states.emplace_back();
        for (int i = 0; i < body.size(); i++)
            states.back().places.push_back({body.shape[i], body.mass[i]});
    }
}

void JoinedBodies::setStart(const Real3* positions, const Box& box) {
    failed = BodyReport();
    for (int b : joined) {
        const RigidBody& body = set.bodies[b];
        Moments ofPlaces, ofField;
        bodyLoops::findMoments(rangeOf(b), positions, positions[body.particles[body.reference]],
                               body.periodic ? box : Box(), positions, ofPlaces, ofField);
        State& state = states[number[b]];
        state.frame = ConstraintPlugin::frameOf(body, ofPlaces, positions, box);
        state.isDisplaced = false;
    }
}

void JoinedBodies::gather(const Real3* field, Real3* nodes) const {
    for (int b : joined) {
        Moments moments;
        bodyLoops::findMoments(rangeOf(b), field, moments);
        const BodyConstants& body = set.bodies[b].constants;
        nodes[set.originNodeOf(b)] = body.inverseMass * moments.total;
        nodes[set.turnNodeOf(b)] = rigid::turnOf(body, rigid::angularMoment(axesOf(b), moments));
    }
}

void JoinedBodies::addGyration(const Real3* velocity, Real3* accelerations) const {
    for (int b : joined) {
        const BodyConstants& body = set.bodies[b].constants;
        const Real3 w = angularVelocityOf(b, velocity);
        accelerations[set.turnNodeOf(b)] += rigid::turnOf(body, -cross(w, rigid::scaledBy(w, body.inertia)));
    }
}

void JoinedBodies::displace(const Real3* x, const Box& box, const Real3* nodes, double fraction, Real3* moved) {
    std::vector<Real3> part(nodes, nodes + set.numNodes());
    for (Real3& y : part)
        y = fraction * y;
    for (int b : joined) {
        const RigidBody& body = set.bodies[b];
        const RigidMotion& motion = displaced(b, part.data()).motion;
        for (int i = 0; i < body.size(); i++) {
            const Real3 shift = wayToPlace({b, i}, x, box) + rigid::motionOf(motion, body.shape[i]);
            if (body.mass[i] > 0 && std::isfinite(dot(shift, shift)))
                moved[body.particles[i]] = x[body.particles[i]] + shift;
        }
    }
}

Real3 JoinedBodies::wayToPlace(const ConstraintSet::Place& of, const Real3* positions, const Box& box) const {
    return ConstraintPlugin::wayToPlace(set.bodies[of.body], of.place, frameOf(of.body), positions, box);
}

const JoinedBodies::Displaced& JoinedBodies::displaced(int b, const Real3* nodes) {
    State& state = states[number[b]];
    const BodyConstants& body = set.bodies[b].constants;
    const Real3 &origin = nodes[set.originNodeOf(b)], &turn = nodes[set.turnNodeOf(b)];
    const bool isSame = state.isDisplaced && turn == state.turn;
    if (!isSame) {
        state.turn = turn;
        state.isDisplaced = true;
        state.displaced.v = {};
        const bool isSolved = rigid::solveRotation(body, rigid::angularMomentOf(body, turn), &state.displaced.v);
        if (!isSolved) {
            failed.body = b;
            failed.isSolved = false;
            const Real3 angles = angularVelocityOf(b, nodes); // of a small rotation
            failed.rotation = std::sqrt(dot(angles, angles));
            failed.particle = set.bodies[b].particles[set.bodies[b].reference];
            constexpr double nan = std::numeric_limits<double>::quiet_NaN();
            state.displaced.v = {nan, nan, nan};
        }
        state.displaced.motion = rigid::displacementBy(state.frame.axes, origin, state.displaced.v);
    }
    state.displaced.motion.t = origin;
    return state.displaced;
}

RigidMotion JoinedBodies::velocityOf(int b, const Real3* nodes) const {
    RigidMotion motion = rigid::turning(axesOf(b), angularVelocityOf(b, nodes));
    motion.t = nodes[set.originNodeOf(b)];
    return motion;
}

RigidMotion JoinedBodies::accelerationOf(int b, const Real3* nodes, const Real3* velocity) const {
    const Real3 w = angularVelocityOf(b, velocity);
    RigidMotion motion = rigid::turning(axesOf(b), angularVelocityOf(b, nodes));
    motion = rigid::withCentripetal(motion, axesOf(b), w);
    motion.t = nodes[set.originNodeOf(b)];
    return motion;
}

} // namespace ConstraintPlugin
