// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: state.cc, bodyConstants.cc, bodyVectors.cc
// Rigid bodies that constraints join, as nodes of the equations (rigidMotion.cc, ConstraintTables.h). Joined body b is
// number firstJoined + b among all. Its origin is node numParticles + 2 b, its turn the next one. `displacement`,
// `impulse` and `nodeVelocity` have values of nodes. Its state in a stage is a list of vectors in global memory
// (bodyVectors.cc), from kernels that sum up its particles (bodies.cc, joinedStages.cc) to those that solve its
// constraints (clusters.cc) and to those that move its particles.

// A subdomain of a cluster (subdomains.cc) has copies of the bodies that it moves: of their nodes, and of the vectors that a
// solve changes. Copy numJoined + n is of body clusterBody[n].
#if IS_SUBDOMAIN
DEVICE int bodyOf(const Arguments* a, int b) {
    return b < a->numJoined ? b : a->clusterBody[b - a->numJoined];
}
#else
#define bodyOf(a, b) (b)
#endif

DEVICE bool isChangedBySolve(int which) {
    return which >= BodyVector_Rotation && which <= BodyVector_Motion3;
}

DEVICE mixed3 bodyVector(const Arguments* a, int b, int which) {
    return load3(a->bodyVectors, (isChangedBySolve(which) ? b : bodyOf(a, b)) * numBodyVectors + which);
}

DEVICE void setBodyVector(const Arguments* a, int b, int which, mixed3 value) {
    store3(a->bodyVectors, (isChangedBySolve(which) ? b : bodyOf(a, b)) * numBodyVectors + which, value);
}

DEVICE bool isFlagged(const Arguments* a, int b) {
    return bodyVector(a, b, BodyVector_Flag).x != 0;
}

DEVICE void setFlag(const Arguments* a, int b, bool isSet) {
    setBodyVector(a, b, BodyVector_Flag, make_mixed3(isSet ? 1 : 0, 0, 0));
}

/** @param first  BodyVector_Axis1 or BodyVector_Fitted1 */
DEVICE BodyAxes axesAt(const Arguments* a, int b, int first) {
    BodyAxes e;
    e.e1 = bodyVector(a, b, first);
    e.e2 = bodyVector(a, b, first + 1);
    e.e3 = bodyVector(a, b, first + 2);
    return e;
}

DEVICE BodyAxes axesOf(const Arguments* a, int b) {
    return axesAt(a, b, BodyVector_Axis1);
}

DEVICE void setAxes(const Arguments* a, int b, int first, BodyAxes e) {
    setBodyVector(a, b, first, e.e1);
    setBodyVector(a, b, first + 1, e.e2);
    setBodyVector(a, b, first + 2, e.e3);
}

DEVICE int originNode(const Arguments* a, int b) {
    return a->numParticles + 2 * bodyOf(a, b);
}

/** Where displacement and impulse of the origin are; those of the turn come next. */
DEVICE int originPlace(const Arguments* a, int b) {
#if IS_SUBDOMAIN
    if (b >= a->numJoined)
        return a->firstPlace + a->bodyPlace[b - a->numJoined];
#endif
    return originNode(a, b);
}

/** Displacement or acceleration of a node: that without constraints plus that by constraints. */
DEVICE mixed3 displacementOfNode(const Arguments* a, int node) {
    const mixed4 d = a->displacement[node];
    return make_mixed3(d.x, d.y, d.z) + load3(a->impulse, node);
}

/** Velocity of a node at the start. */
DEVICE mixed3 velocityOfNode(const Arguments* a, int node) {
    return load3(a->nodeVelocity, node - a->numParticles);
}

/** The angular velocity along the axes at the start. */
DEVICE mixed3 angularVelocityAt(const Arguments* a, int b) {
    return angularVelocityOf(constantsOf(a, a->firstJoined + bodyOf(a, b)), velocityOfNode(a, originNode(a, b) + 1));
}

DEVICE void setMotion(const Arguments* a, int b, RigidMotion motion) {
    setBodyVector(a, b, BodyVector_Shift, motion.t);
    setBodyVector(a, b, BodyVector_Motion1, motion.p1);
    setBodyVector(a, b, BodyVector_Motion2, motion.p2);
    setBodyVector(a, b, BodyVector_Motion3, motion.p3);
}

/** Displace a body as its nodes are displaced. A body that would turn by more than 90 degrees fails, and its motion is
 *  NaN. @return whether it does not */
DEVICE bool displaceBody(const Arguments* a, int b) {
    const BodyConstants body = constantsOf(a, a->firstJoined + bodyOf(a, b));
    const mixed3 L = angularMomentOf(body, displacementOfNode(a, originPlace(a, b) + 1));
    mixed3 v = make_mixed3(0, 0, 0);
    const bool isSolved = solveRotation(body, L, &v);
    if (!isSolved) {
        const mixed nan = sqrt((mixed) -1);
        v = make_mixed3(nan, nan, nan);
    }
    setBodyVector(a, b, BodyVector_Rotation, v);
    setMotion(a, b, displacementBy(axesOf(a, b), displacementOfNode(a, originPlace(a, b)), v));
    return isSolved;
}

/** Report that a body turns by more than 90 degrees, or that its motion is not finite. */
DEVICE void reportTurned(const Arguments* a, int b) {
    const BodyConstants body = constantsOf(a, a->firstJoined + bodyOf(a, b));
    const mixed3 L = angularMomentOf(body, displacementOfNode(a, originPlace(a, b) + 1));
    const mixed3 turn = scaledBy(L, body.inverseInertia);
    Report report = newReport();
    report.error = sqrt(dot(turn, turn));
    report.outcome = report.error < INFINITE_ERROR ? Outcome_NotConverged : Outcome_NotFinite;
    writeReport(a, StepSolve_Positions, a->firstBodyCluster + a->firstJoined + bodyOf(a, b), report);
}

/** The displacement at present; of an explicit constraint force, the rigid part of the velocities. */
DEVICE RigidMotion motionOfBody(const Arguments* a, int b) {
    RigidMotion motion;
    motion.t = bodyVector(a, b, BodyVector_Shift);
    motion.p1 = bodyVector(a, b, BodyVector_Motion1);
    motion.p2 = bodyVector(a, b, BodyVector_Motion2);
    motion.p3 = bodyVector(a, b, BodyVector_Motion3);
    return motion;
}

/** Velocities of a body at the start. */
DEVICE RigidMotion velocityOfBody(const Arguments* a, int b) {
    RigidMotion motion = turning(axesOf(a, b), angularVelocityAt(a, b));
    motion.t = velocityOfNode(a, originNode(a, b));
    return motion;
}
