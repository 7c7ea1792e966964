// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: bodies.cc, joinedBodies.cc
// What happens to joined rigid bodies (joinedBodies.cc) before and after a solve of their constraints. join_<solve>() sets
// the nodes of a body from sums over its particles (bodies.cc), and finish_<solve>() the motion of its particles from the
// nodes. A launch with one thread per particle applies this motion, and does the operations on each particle. A particle
// that several bodies share has a place in each, and moves as these do on average.

DEVICE void setState(const Arguments* a, const Body* body) {
    const int b = body->number - a->firstJoined;
    setBodyVector(a, b, BodyVector_At, body->at);
    setBodyVector(a, b, BodyVector_Origin, body->origin);
    setAxes(a, b, BodyVector_Axis1, body->axes);
}

/** The body that has a place, as it was at the start of the stage. */
DEVICE Body bodyOfPlace(const Arguments* a, int place) {
    Body body = loadBody(a, a->placeBody[place - a->firstJoinedPlace]);
    const int b = body.number - a->firstJoined;
    body.at = bodyVector(a, b, BodyVector_At);
    body.origin = bodyVector(a, b, BodyVector_Origin);
    body.axes = axesOf(a, b);
    body.isViolated = isFlagged(a, b);
    return body;
}

/** Set velocities, displacements (or accelerations) and impulses of the nodes. */
DEVICE void setNodes(const Arguments* a, const Body* body, mixed3 velocity, mixed3 turnVelocity, mixed3 displacement,
                     mixed3 turn) {
    const int b = body->number - a->firstJoined, origin = originNode(a, b);
    store3(a->nodeVelocity, origin - a->numParticles, velocity);
    store3(a->nodeVelocity, origin + 1 - a->numParticles, turnVelocity);
    storeDisplacement(a, origin, displacement);
    storeDisplacement(a, origin + 1, turn);
    store3(a->impulse, origin, make_mixed3(0, 0, 0));
    store3(a->impulse, origin + 1, make_mixed3(0, 0, 0));
}

DEVICE mixed3 turnOfMoments(const Body* body, Moments moments) {
    return turnOf(body->constants, angularMoment(body->axes, moments));
}

/** Set velocities alone. */
DEVICE void joinVelocities(const Arguments* a, const Body* body, const BodySums* sums) {
    const mixed3 none = make_mixed3(0, 0, 0);
    setNodes(a, body, body->constants.inverseMass * sums->field.total, turnOfMoments(body, sums->field), none, none);
}

// ---- positions -------------------------------------------------------------------------------------------------------

DEVICE void join_solvePositions(const Arguments* a, Body* body, const BodySums* sums) {
    const int b = body->number - a->firstJoined;
    const mixed3 none = make_mixed3(0, 0, 0);
    prepareFrame(a, body, sums);
    setState(a, body);
    setNodes(a, body, none, none, body->constants.inverseMass * sums->field.total, turnOfMoments(body, sums->field));
    if (!displaceBody(a, b) && !a->warmStart) // which begins with other displacements
        reportTurned(a, b);
    setFlag(a, b, true);
}

DEVICE void join_projectPositions(const Arguments* a, Body* body, const BodySums* sums) {
    const int b = body->number - a->firstJoined;
    const mixed3 none = make_mixed3(0, 0, 0);
    setState(a, body);
    setNodes(a, body, none, none, none, none);
    displaceBody(a, b);
    setFlag(a, b, sums->violations > 0);
}

DEVICE void finish_solvePositions(const Arguments* a, Body* body) {
    body->motion = motionOfBody(a, body->number - a->firstJoined);
}

#define finish_projectPositions finish_solvePositions

/** Project a particle, if its body or a constraint of its cluster violates the tolerance. */
DEVICE void move_projectPositions(const Arguments* a, const Body* body, int place, int i, Particle* p) {
    const mixed3 s = shapeOf(a, place);
    if (body->isViolated)
        p->c = motionOf(body->motion, s) + wayToPlace(a, body, i, s);
}

#define move_solvePositions apply_solvePositions

/** Set the state alone, with which gradients of responses to a border are computed. */
DEVICE void join_solveResponses(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    setState(a, body);
}

#define take_solveResponses take_measurePositions

// ---- velocities ------------------------------------------------------------------------------------------------------

DEVICE void join_solveVelocities(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    setState(a, body);
    joinVelocities(a, body, sums);
    setFlag(a, body->number - a->firstJoined, true);
}

/** Without friction the velocities are those of the first solve. */
DEVICE void join_solveHeatedVelocities(const Arguments* a, Body* body, const BodySums* sums) {
    join_solveVelocities(a, body, sums);
    setFlag(a, body->number - a->firstJoined, a->velocityScale != 1);
}

DEVICE void join_projectVelocities(const Arguments* a, Body* body, const BodySums* sums) {
    setState(a, body);
    joinVelocities(a, body, sums);
    setFlag(a, body->number - a->firstJoined, sums->violations > 0);
}

DEVICE void finish_solveVelocities(const Arguments* a, Body* body) {
    const int origin = originNode(a, body->number - a->firstJoined);
    const mixed3 turn = velocityOfNode(a, origin + 1) + load3(a->impulse, origin + 1);
    body->motion = turning(body->axes, angularVelocityOf(body->constants, turn));
    body->motion.t = velocityOfNode(a, origin) + load3(a->impulse, origin);
}

#define finish_solveHeatedVelocities finish_solveVelocities
#define finish_projectVelocities finish_solveVelocities
#define move_solveVelocities apply_solveVelocities
#define move_projectVelocities apply_projectVelocities
#define move_solveHeatedVelocities apply_projectVelocities

/** The change of velocities in a heat bath, in place of velocities; and the accelerations of a body that rotates with half
 *  of it, without forces. */
DEVICE void join_solveVelocitySpread(const Arguments* a, Body* body, const BodySums* sums) {
    join_solveVelocities(a, body, sums);
    const mixed3 w = 0.5f * angularVelocity(body->constants, body->axes, sums->field);
    const mixed3 torque = make_mixed3(0, 0, 0) - cross(w, scaledBy(w, body->constants.inertia));
    storeDisplacement(a, originNode(a, body->number - a->firstJoined) + 1, turnOf(body->constants, torque));
}

DEVICE void finish_solveVelocitySpread(const Arguments* a, Body* body) {
}

DEVICE void move_solveVelocitySpread(const Arguments* a, const Body* body, int place, int i, Particle* p) {
}

#define take_solveVelocitySpread take_solveVelocities

// ---- accelerations ---------------------------------------------------------------------------------------------------

#if HAS_ACCELERATIONS
DEVICE void join_solveStartAccelerations(const Arguments* a, Body* body, const BodySums* sums) {
    prepareFrame(a, body, sums);
    setState(a, body);
    const mixed3 w = angularVelocity(body->constants, body->axes, sums->rate);
    const mixed3 torque = angularMoment(body->axes, sums->field) - cross(w, scaledBy(w, body->constants.inertia));
    setNodes(a, body, body->constants.inverseMass * sums->rate.total, turnOfMoments(body, sums->rate),
             body->constants.inverseMass * sums->field.total, turnOf(body->constants, torque));
    const int b = body->number - a->firstJoined;
    prepareFittedFrame(a, body, sums);
    setAxes(a, b, BodyVector_Fitted1, body->axes);
    setMotion(a, b, rigidVelocity(body->constants, body->axes, sums->rate));
    setFlag(a, b, true);
}

DEVICE void finish_solveStartAccelerations(const Arguments* a, Body* body) {
    const int b = body->number - a->firstJoined, origin = originNode(a, b);
    const mixed3 w = angularVelocityAt(a, b);
    const mixed3 change = angularVelocityOf(body->constants, displacementOfNode(a, origin + 1));
    body->rate = motionOfBody(a, b);
    body->motion = withCentripetal(turning(body->axes, change), body->axes, w);
    body->motion.t = displacementOfNode(a, origin);
    body->axes = axesAt(a, b, BodyVector_Fitted1);
}

#define join_solveEndAccelerations join_solveStartAccelerations
#define finish_solveEndAccelerations finish_solveStartAccelerations
#define move_solveStartAccelerations apply_solveStartAccelerations
#define move_solveEndAccelerations apply_solveEndAccelerations
#endif
