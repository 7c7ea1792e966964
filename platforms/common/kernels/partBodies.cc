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
    AtBody_IsPeriodic = 45,
    AtBody_MomentOfTurn = 46 // the angular moment by a turn of 1 about each axis
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
    setVectorAt(numbers, 1, AtBody_MomentOfTurn, angularMomentOf(body, make_mixed3(1, 1, 1)));
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

/** What solveRotation() finds, with few operations in `mixed`: Newton's method in single precision, then corrections by the
 *  residual in `mixed` and the last Jacobian, each of which gains five digits.
 *  @param[out] w  the scalar part of the quaternion */
DEVICE bool solveRotationLocal(BodyConstants body, mixed3 L, mixed* w, mixed3* solution) {
    mixed3 v = 0.5f * scaledBy(L, body.inverseInertia);
    if (body.rotations < 3) {
        const mixed cosine2 = 1 - 4 * dot(v, v), cosine = cosine2 * inverseRoot(cosine2);
        v = inverseRoot(0.5f * (1 + cosine)) * v;
        *solution = v;
        const mixed w2 = 1 - dot(v, v);
        *w = w2 * inverseRoot(w2);
        return cosine2 > 0;
    }
    const float Ix = body.inertia.x, Iy = body.inertia.y, Iz = body.inertia.z;
    const float3 halfL = make_float3(0.5f * (float) L.x, 0.5f * (float) L.y, 0.5f * (float) L.z);
    float3 u = make_float3(v.x, v.y, v.z), bc = u, ca = u, ab = u;
    float inverse = 0, size2 = 1;
    for (int iteration = 0; iteration < 20 && size2 > 1e-12f; iteration++) {
        const float u2 = 1 - dot(u, u);
        if (!(u2 > 0.5f))
            return false;
        const float r = sqrt(u2);
        const float3 Iu = make_float3(Ix * u.x, Iy * u.y, Iz * u.z), rest = halfL - r * Iu - cross(u, Iu),
                     g = (1 / r) * u;
        const float3 a = make_float3(r * Ix - g.x * Iu.x, -g.x * Iu.y - Iu.z + u.z * Ix, -g.x * Iu.z + Iu.y - u.y * Ix);
        const float3 b = make_float3(-g.y * Iu.x + Iu.z - u.z * Iy, r * Iy - g.y * Iu.y, -g.y * Iu.z - Iu.x + u.x * Iy);
        const float3 c = make_float3(-g.z * Iu.x - Iu.y + u.y * Iz, -g.z * Iu.y + Iu.x - u.x * Iz, r * Iz - g.z * Iu.z);
        bc = cross(b, c);
        ca = cross(c, a);
        ab = cross(a, b);
        inverse = 1 / dot(a, bc);
        const float3 change = inverse * make_float3(dot(rest, bc), dot(rest, ca), dot(rest, ab));
        u = u + change;
        size2 = dot(change, change);
    }
    v = make_mixed3(u.x, u.y, u.z);
    const float accuracy = 0.1f * ROTATION_ACCURACY;
    for (int correction = 0; correction < 5; correction++) {
        const mixed w2 = 1 - dot(v, v);
        *w = w2 * inverseRoot(w2);
        const mixed3 Iv = scaledBy(v, body.inertia), rest = 0.5f * L - *w * Iv - cross(v, Iv);
        const float3 r = make_float3(rest.x, rest.y, rest.z);
        const float3 change = inverse * make_float3(dot(r, bc), dot(r, ca), dot(r, ab));
        v = v + make_mixed3(change.x, change.y, change.z);
        if (dot(change, change) <= accuracy * accuracy) {
            *solution = v;
            return dot(v, v) < 0.5f;
        }
    }
    return false;
}

/** Displace a body by impulses on its nodes. One that turns too far has a motion of NaN. @return whether it does not */
DEVICE bool displaceBodyLocal(LOCAL_ARG mixed* numbers, mixed3 ofOrigin, mixed3 ofTurn) {
    const BodyConstants body = constantsIn(numbers);
    const mixed3 shift = vectorAt(numbers, 1, AtBody_Displacements) + ofOrigin;
    const mixed3 turn = vectorAt(numbers, 1, AtBody_Displacements + 3) + ofTurn;
    mixed w = 1;
    mixed3 v = make_mixed3(0, 0, 0);
    const bool isSolved =
        solveRotationLocal(body, scaledBy(turn, vectorAt(numbers, 1, AtBody_MomentOfTurn)), &w, &v);
    if (!isSolved) {
        const mixed nan = sqrt((mixed) -1);
        v = make_mixed3(nan, nan, nan);
    }
    setVectorAt(numbers, 1, AtBody_Rotation, v);
    setMotionIn(numbers, displacementOf(axesIn(numbers), shift, w, v));
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
