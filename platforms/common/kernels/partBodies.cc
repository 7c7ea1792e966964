// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joined rigid bodies of a part (partLocal.cc), and joints: rows of listed kinds at places in them. A block has copies of the
// bodies that its part displaces. In each round a thread displaces a body by the impulses on its nodes (joinedBodies.cc),
// then a thread has a joint. Both are computed in `mixed`. Rows of other kinds that join bodies are evaluated in global memory
// (partGlobalRows.cc), and find the motions of the copies there.

#if HAS_JOINTS
#define THREADS_BEFORE_BODIES (THREADS_FOR_OTHERS + THREADS_FOR(PART_GLOBAL_ROWS))
#define EACH_PART_BODY(n, count) EACH_FROM_END(n, THREADS_BEFORE_BODIES, count)

/** Numbers of a body in shared memory: constants, what it is without corrections, and its motion with them. */
enum {
    AtBody_Axes = 0,             // three vectors
    AtBody_Inertia = 9,
    AtBody_InverseInertia = 12,
    AtBody_Others = 15,          // inverse mass, mass, number of rotations
    AtBody_Displacements = 18,   // of both nodes
    AtBody_Rotation = 24,
    AtBody_Motion = 27,          // four vectors
    AtBody_At = 39,
    AtBody_Origin = 42,
    AtBody_IsPeriodic = 45
};

DEVICE LOCAL_ARG mixed* numbersOfBody(LocalPart part, int n) {
    return part.m + AT_BODY + BODY_NUMBERS * n;
}

DEVICE BodyAxes axesIn(LOCAL_ARG const mixed* numbers) {
    BodyAxes e;
    e.e1 = vectorAt(numbers, 1, AtBody_Axes);
    e.e2 = vectorAt(numbers, 1, AtBody_Axes + 3);
    e.e3 = vectorAt(numbers, 1, AtBody_Axes + 6);
    return e;
}

DEVICE BodyConstants constantsIn(LOCAL_ARG const mixed* numbers) {
    BodyConstants body;
    body.inertia = vectorAt(numbers, 1, AtBody_Inertia);
    body.inverseInertia = vectorAt(numbers, 1, AtBody_InverseInertia);
    body.inverseMass = numbers[AtBody_Others];
    body.mass = numbers[AtBody_Others + 1];
    body.rotations = (int) numbers[AtBody_Others + 2];
    return body;
}

DEVICE RigidMotion motionIn(LOCAL_ARG const mixed* numbers) {
    RigidMotion motion;
    motion.t = vectorAt(numbers, 1, AtBody_Motion);
    motion.p1 = vectorAt(numbers, 1, AtBody_Motion + 3);
    motion.p2 = vectorAt(numbers, 1, AtBody_Motion + 6);
    motion.p3 = vectorAt(numbers, 1, AtBody_Motion + 9);
    return motion;
}

DEVICE void setAxesIn(LOCAL_ARG mixed* numbers, BodyAxes e) {
    setVectorAt(numbers, 1, AtBody_Axes, e.e1);
    setVectorAt(numbers, 1, AtBody_Axes + 3, e.e2);
    setVectorAt(numbers, 1, AtBody_Axes + 6, e.e3);
}

DEVICE void setConstants(LOCAL_ARG mixed* numbers, BodyConstants body) {
    setVectorAt(numbers, 1, AtBody_Inertia, body.inertia);
    setVectorAt(numbers, 1, AtBody_InverseInertia, body.inverseInertia);
    setVectorAt(numbers, 1, AtBody_Others, make_mixed3(body.inverseMass, body.mass, body.rotations));
}

DEVICE void setMotionIn(LOCAL_ARG mixed* numbers, RigidMotion motion) {
    setVectorAt(numbers, 1, AtBody_Motion, motion.t);
    setVectorAt(numbers, 1, AtBody_Motion + 3, motion.p1);
    setVectorAt(numbers, 1, AtBody_Motion + 6, motion.p2);
    setVectorAt(numbers, 1, AtBody_Motion + 9, motion.p3);
}

/** Displacement of a node without what the solve changes. */
DEVICE mixed3 displacementBefore(const Arguments* a, int node) {
    const mixed4 d = a->displacement[node];
    return make_mixed3(d.x, d.y, d.z);
}

#if !TAKES_BODIES
/** Take up the bodies of a part as they are before the solve. */
DEVICE void takeBodiesLocal(const Arguments* a, int c SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int first = a->clusterBodyStart[c], count = a->clusterBodyStart[c + 1] - first;
    EACH_PART_BODY(n, count) {
        LOCAL_ARG mixed* numbers = numbersOfBody(part, n);
        const int b = a->clusterBody[first + n], origin = originNode(a, b);
        const BodyConstants body = constantsOf(a, FIRST_JOINED + b);
        const mixed3 ofOrigin = displacementBefore(a, origin), ofTurn = displacementBefore(a, origin + 1);
        const BodyAxes e = axesOf(a, b);
        const RigidMotion motion = motionOfBody(a, b);
        setConstants(numbers, body);
        setVectorAt(numbers, 1, AtBody_At, bodyVector(a, b, BodyVector_At));
        setVectorAt(numbers, 1, AtBody_Origin, bodyVector(a, b, BodyVector_Origin));
        numbers[AtBody_IsPeriodic] = (a->bodyKinds[FIRST_JOINED + b].w & 2) != 0;
        setVectorAt(numbers, 1, AtBody_Rotation, bodyVector(a, b, BodyVector_Rotation));
        setAxesIn(numbers, e);
        setVectorAt(numbers, 1, AtBody_Displacements, ofOrigin);
        setVectorAt(numbers, 1, AtBody_Displacements + 3, ofTurn);
        setMotionIn(numbers, motion);
#if PART_GLOBAL_ROWS || !WAITS // for the launch that moves particles
        copyBody(a, b, NUM_JOINED + first + n);
#endif
    }
}
#endif

/** Take up a node of a body as a place. */
DEVICE void takeNodeLocal(const Arguments* a, int c, int place, int number, Particle p SHARED_PARAMETER) {
    const int node = PARTICLE_OF(number) - a->numParticles;
    if (!(number & IS_FIXED)) {
        const BodyConstants body = constantsOf(a, FIRST_JOINED + node / 2);
        p.w = node % 2 == 0 ? body.inverseMass : body.rotations > 0 ? 1 / body.mass : 0;
#if !TAKES_BODIES // otherwise it is found from particles
        p.v = velocityOfNode(a, PARTICLE_OF(number));
#endif
#if PART_GLOBAL_ROWS
        takeNode(a, a->particleStart[c] + place);
#endif
    }
    takeParticleLocal(place, p.c, &p SHARED_ARGUMENT);
}

/** Write the motion of a body. @param b  a body or a copy */
DEVICE void storeMotion(const Arguments* a, int b, LOCAL_ARG const mixed* numbers) {
    setBodyVector(a, b, BodyVector_Rotation, vectorAt(numbers, 1, AtBody_Rotation));
    setMotion(a, b, motionIn(numbers));
}

/** Displace a body by impulses on its nodes. One that turns too far has a motion of NaN. @return whether it does not */
DEVICE bool displaceBodyLocal(LOCAL_ARG mixed* numbers, mixed3 ofOrigin, mixed3 ofTurn) {
    const BodyConstants body = constantsIn(numbers);
    const mixed3 shift = vectorAt(numbers, 1, AtBody_Displacements) + ofOrigin;
    const mixed3 turn = vectorAt(numbers, 1, AtBody_Displacements + 3) + ofTurn;
    mixed3 v = make_mixed3(0, 0, 0);
    const bool isSolved = solveRotation(body, angularMomentOf(body, turn), &v);
    if (!isSolved) {
        const mixed nan = sqrt((mixed) -1);
        v = make_mixed3(nan, nan, nan);
    }
    setVectorAt(numbers, 1, AtBody_Rotation, v);
    setMotionIn(numbers, displacementBy(axesIn(numbers), shift, v));
    return isSolved;
}

DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER); // partDistances.cc

/** Displace all bodies of a part.
 *  @param isEnd  by impulses in `mixed`, after findImpulsesLocal() and a barrier; then their motions are written, where parts
 *                wait to the bodies that the part moves, unless it has their particles, otherwise to the copies */
DEVICE void displaceBodiesLocal(const Arguments* a, int c, const PartSolve* solve, bool isEnd SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    for (int once = 0; once < (solve->what == POSITIONS); once++) {
        EACH_PART_BODY(n, NUM_BODIES) {
            LOCAL_ARG mixed* numbers = numbersOfBody(part, n);
            const int origin = part.s[AT_BODY_PLACE + n], copy = a->clusterBodyStart[c] + n;
            const number4 first = part.n[AT_IMPULSE + origin], second = part.n[AT_IMPULSE + origin + 1];
            mixed3 ofOrigin = make_mixed3(first.x, first.y, first.z), ofTurn = make_mixed3(second.x, second.y, second.z);
            if (isEnd) {
                ofOrigin = impulseLocal(origin SHARED_ARGUMENT);
                ofTurn = impulseLocal(origin + 1 SHARED_ARGUMENT);
            }
            displaceBodyLocal(numbers, ofOrigin, ofTurn);
            if (isEnd ? !WAITS : PART_GLOBAL_ROWS > 0)
                storeMotion(a, NUM_JOINED + copy, numbers);
            if (isEnd && WAITS && !TAKES_BODIES && (part.i[AT_PARTICLE + origin] & IS_MOVED))
                storeMotion(a, a->clusterBody[copy], numbers);
        }
        THREAD_GROUP_SYNC
    }
}
#endif
