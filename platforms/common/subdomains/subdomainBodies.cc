// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc, points.cc
// Joined rigid bodies of a subdomain (subdomainLocal.cc), and joints: rows of listed kinds at places in them. A block has
// copies of the bodies that its subdomain displaces. In each round a thread displaces a body by the impulses on its nodes
// (joinedBodies.cc), then joints are evaluated (subdomainJoints.cc). Rows of other kinds that join bodies are evaluated in
// global memory (subdomainGlobalRows.cc), and find the motions of the copies there.

#if HAS_JOINTS
#define EACH_SUBDOMAIN_BODY(n, count) EACH_FROM_END(n, 0, count)

/** Numbers of a body in shared memory: constants, what it is without corrections, and its motion with them. */
enum {
    AtBody_Axes = 0,             // three vectors
    AtBody_Inertia = 9,
    AtBody_InverseInertia = 12,
    AtBody_Others = 15,          // inverse mass, mass, number of rotations
    AtBody_Displacements = 18,   // of both nodes
    AtBody_Rotation = 24,
    AtBody_Motion = 27,          // four vectors
    AtBody_Radii = 39,           // a vector
    AtBody_End = 42
};
typedef char bodyHasItsRoom[AtBody_End == BODY_NUMBERS ? 1 : -1]; // SubdomainLayout.cpp

DEVICE LOCAL_ARG mixed* numbersOfBody(LocalSubdomain sub, int n) {
    return sub.m + AT_BODY + BODY_NUMBERS * n;
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
    body.radii = vectorAt(numbers, 1, AtBody_Radii);
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
    setVectorAt(numbers, 1, AtBody_Radii, body.radii);
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

/** Take up a node of a body as a place. */
DEVICE void takeNodeLocal(const Arguments* a, int c, int place, int number SHARED_PARAMETER) {
    const int node = PARTICLE_OF(number) - a->numParticles;
    Particle p;
    p.v = p.d = p.c = make_mixed3(0, 0, 0);
    p.w = 0;
    if (!(number & IS_FIXED)) {
        const BodyConstants body = constantsOf(a, a->firstJoined + node / 2);
        p.w = node % 2 == 0 ? body.inverseMass : body.rotations > 0 ? 1 / body.mass : 0;
        p.v = velocityOfNode(a, PARTICLE_OF(number));
#if SUBDOMAIN_GLOBAL_ROWS
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

DEVICE float3 inFloats(mixed3 v) {
    return make_float3(toFloat(v.x), toFloat(v.y), toFloat(v.z));
}

DEVICE float inverseTrace(BodyConstants body) {
    return 1 / toFloat(body.inertia.x + body.inertia.y + body.inertia.z);
}

DEVICE mixed root(mixed x) {
    return x * inverseRoot(x);
}

/** What solveRotation() finds, with few operations in `mixed`: Newton's method in single precision, then corrections by the
 *  residual in `mixed` and the last Jacobian, each of which gains some five digits, or two if a body is all but linear.
 *  @param[out] w  the scalar part of the quaternion */
DEVICE bool solveRotationLocal(BodyConstants body, mixed3 L, mixed* w, mixed3* solution) {
    mixed3 v = 0.5f * scaledBy(L, body.inverseInertia);
    if (body.rotations < 3) {
        const mixed cosine2 = 1 - 4 * dot(v, v), cosine = root(cosine2);
        v = inverseRoot(0.5f * (1 + cosine)) * v;
        *solution = v;
        *w = root(1 - dot(v, v));
        return cosine2 > 0;
    }
    const float scale = inverseTrace(body); // so that products of three moments are floats
    const float3 I = scale * inFloats(body.inertia), halfL = (0.5f * scale) * inFloats(L);
    float3 u = inFloats(v), bc = u, ca = u, ab = u;
    float inverse = 0, size2 = 1, last = 4; // until a step, squared, rounds or no longer shrinks
    for (int iteration = 0; iteration < 20 && size2 > 1e-12f && !(size2 > 0.25f * last); iteration++) {
        last = size2;
        const float u2 = 1 - dot(u, u);
        if (!(u2 > 0.5f))
            return false;
        const float r = sqrt(u2);
        const float3 Iu = make_float3(I.x * u.x, I.y * u.y, I.z * u.z), rest = halfL - r * Iu - cross(u, Iu),
                     g = (1 / r) * u;
        const float3 a = make_float3(r * I.x - g.x * Iu.x, -g.x * Iu.y - Iu.z + u.z * I.x, -g.x * Iu.z + Iu.y - u.y * I.x);
        const float3 b = make_float3(-g.y * Iu.x + Iu.z - u.z * I.y, r * I.y - g.y * Iu.y, -g.y * Iu.z - Iu.x + u.x * I.y);
        const float3 c = make_float3(-g.z * Iu.x - Iu.y + u.y * I.z, -g.z * Iu.y + Iu.x - u.x * I.z, r * I.z - g.z * Iu.z);
        bc = cross(b, c);
        ca = cross(c, a);
        ab = cross(a, b);
        inverse = 1 / dot(a, bc);
        const float3 change = inverse * make_float3(dot(rest, bc), dot(rest, ca), dot(rest, ab));
        u = u + change;
        size2 = dot(change, change);
    }
    v = make_mixed3(u.x, u.y, u.z);
    *w = root(1 - dot(v, v));
    const float accuracy = sizeof(mixed) > sizeof(float) ? 1e-9f : ROTATION_ACCURACY;
    for (int correction = 0; correction < 20; correction++) {
        const mixed3 Iv = scaledBy(v, body.inertia), rest = 0.5f * L - *w * Iv - cross(v, Iv);
        const float3 r = scale * inFloats(rest);
        const float3 change = inverse * make_float3(dot(r, bc), dot(r, ca), dot(r, ab));
        v = v + make_mixed3(change.x, change.y, change.z);
        *w = root(1 - dot(v, v));
        if (dot(change, change) <= accuracy * accuracy) {
            *solution = v;
            return *w * *w > 0.5f;
        }
    }
    return false;
}

DEVICE float3 floatsAt(LOCAL_ARG const float* x, int k) {
    return make_float3(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
}

DEVICE void setFloatsAt(LOCAL_ARG float* x, int k, float3 value) {
    x[3 * k] = value.x;
    x[3 * k + 1] = value.y;
    x[3 * k + 2] = value.z;
}

/** Find a matrix in single precision: it is multiplied by a torque to find the gradient with respect to the body's turn, as
 *  by turnGradient(). Corrections need no more digits, since their sum's gradients are those at the start. */
DEVICE void setTurnMatrix(LocalSubdomain sub, int n) {
    LOCAL_ARG float* matrix = sub.f + AT_TURN_MATRIX + 9 * n;
    LOCAL_ARG const mixed* numbers = numbersOfBody(sub, n);
    const BodyConstants body = constantsIn(numbers);
    const BodyAxes axes = axesIn(numbers);
    const float3 v = inFloats(vectorAt(numbers, 1, AtBody_Rotation)), moments = inFloats(body.mass * body.radii);
    const float3 e1 = inFloats(axes.e1), e2 = inFloats(axes.e2), e3 = inFloats(axes.e3);
    float3 BC, CA, AB; // the columns of what y is multiplied by
    const float v2 = dot(v, v), w = sqrt(1 - v2);
    float scale = 1 / (1 - 2 * v2);
    if (body.rotations < 3) {
        BC = make_float3(toFloat(body.inverseInertia.x), 0, 0);
        CA = make_float3(0, toFloat(body.inverseInertia.y), 0);
        AB = make_float3(0, 0, toFloat(body.inverseInertia.z));
    } else {
        const float inverse = inverseTrace(body), S = 0.5f;
        const float3 I = inverse * inFloats(body.inertia);
        const float x = 2 * v.x, y = 2 * v.y, z = 2 * v.z;
        const float3 a = (S - I.x) * make_float3(1 - y * v.y - z * v.z, x * v.y + w * z, x * v.z - w * y);
        const float3 b = (S - I.y) * make_float3(x * v.y - w * z, 1 - x * v.x - z * v.z, y * v.z + w * x);
        const float3 c = (S - I.z) * make_float3(x * v.z + w * y, y * v.z - w * x, 1 - x * v.x - y * v.y);
        const float trace = a.x + b.y + c.z;
        const float3 A = make_float3(trace - a.x, -a.y, -a.z), B = make_float3(-b.x, trace - b.y, -b.z),
                     C = make_float3(-c.x, -c.y, trace - c.z);
        BC = cross(B, C);
        CA = cross(C, A);
        AB = cross(A, B);
        scale = inverse / dot(A, BC);
    }
    setFloatsAt(matrix, 0, (scale * moments.x) * (BC.x * e1 + CA.x * e2 + AB.x * e3));
    setFloatsAt(matrix, 1, (scale * moments.y) * (BC.y * e1 + CA.y * e2 + AB.y * e3));
    setFloatsAt(matrix, 2, (scale * moments.z) * (BC.z * e1 + CA.z * e2 + AB.z * e3));
}

/** Displace a body by impulses on its nodes. One that turns too far has a motion of NaN. */
DEVICE void displaceBodyLocal(LocalSubdomain sub, int n, mixed3 ofOrigin, mixed3 ofTurn) {
    LOCAL_ARG mixed* numbers = numbersOfBody(sub, n);
    const BodyConstants body = constantsIn(numbers);
    const mixed3 shift = vectorAt(numbers, 1, AtBody_Displacements) + ofOrigin;
    const mixed3 turn = vectorAt(numbers, 1, AtBody_Displacements + 3) + ofTurn;
    mixed w = 1;
    mixed3 v = make_mixed3(0, 0, 0);
    if (!solveRotationLocal(body, angularMomentOf(body, turn), &w, &v)) {
        const mixed nan = sqrt((mixed) -1);
        v = make_mixed3(nan, nan, nan);
    }
    setVectorAt(numbers, 1, AtBody_Rotation, v);
    setMotionIn(numbers, motionByQuaternion(axesIn(numbers), shift, w, v));
}

/** Take up the bodies of a subdomain as they are before the solve. */
DEVICE void takeBodiesLocal(const Arguments* a, int c, const Solve* solve SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int first = a->clusterBodyStart[c], count = a->clusterBodyStart[c + 1] - first;
    EACH_SUBDOMAIN_BODY(n, count) {
        LOCAL_ARG mixed* numbers = numbersOfBody(sub, n);
        const int b = a->clusterBody[first + n], origin = originNode(a, b);
        const BodyConstants body = constantsOf(a, a->firstJoined + b);
        const mixed3 ofOrigin = displacementBefore(a, origin), ofTurn = displacementBefore(a, origin + 1);
        const BodyAxes e = axesOf(a, b);
        setConstants(numbers, body);
        setAxesIn(numbers, e);
        setVectorAt(numbers, 1, AtBody_Displacements, ofOrigin);
        setVectorAt(numbers, 1, AtBody_Displacements + 3, ofTurn);
        if (solve->what == POSITIONS)
            displaceBodyLocal(sub, n, make_mixed3(0, 0, 0), make_mixed3(0, 0, 0));
#if SUBDOMAIN_GLOBAL_ROWS || !WAITS // for the launch that moves particles
        copyBody(a, b, a->numJoined + first + n);
#endif
    }
}

DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER); // subdomainDistances.cc

/** Displace all bodies of a subdomain.
 *  @param isEnd  by impulses in `mixed`, after findImpulsesLocal() and a barrier; then their motions are written, where
 *                subdomains wait to the bodies that the subdomain moves, otherwise to the copies */
DEVICE void displaceBodiesLocal(const Arguments* a, int c, const Solve* solve, bool isEnd SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    IF_UNIFORM(solve->what == POSITIONS) {
        EACH_SUBDOMAIN_BODY(n, NUM_BODIES) {
            LOCAL_ARG mixed* numbers = numbersOfBody(sub, n);
            const int origin = sub.s[AT_BODY_PLACE + n], copy = a->clusterBodyStart[c] + n;
            const number4 first = sub.n[AT_IMPULSE + origin], second = sub.n[AT_IMPULSE + origin + 1];
            mixed3 ofOrigin = make_mixed3(first.x, first.y, first.z), ofTurn = make_mixed3(second.x, second.y, second.z);
            if (isEnd) {
                ofOrigin = impulseLocal(origin SHARED_ARGUMENT);
                ofTurn = impulseLocal(origin + 1 SHARED_ARGUMENT);
            }
            displaceBodyLocal(sub, n, ofOrigin, ofTurn);
            if (isEnd ? !WAITS : SUBDOMAIN_GLOBAL_ROWS > 0)
                storeMotion(a, a->numJoined + copy, numbers);
            if (isEnd && WAITS && (sub.i[AT_PARTICLE + origin] & IS_MOVED))
                storeMotion(a, a->clusterBody[copy], numbers);
        }
    }
}
#endif
