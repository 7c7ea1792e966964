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

/** Displacement of a node without what the solve changes. */
DEVICE mixed3 displacementBefore(const Arguments* a, int node) {
    const mixed4 d = a->displacement[node];
    return make_mixed3(d.x, d.y, d.z);
}

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
        setVectorAt(numbers, 1, AtBody_At, bodyVector(a, b, BodyVector_At));
        setVectorAt(numbers, 1, AtBody_Origin, bodyVector(a, b, BodyVector_Origin));
        numbers[AtBody_IsPeriodic] = (a->bodyKinds[FIRST_JOINED + b].w & 2) != 0;
        setVectorAt(numbers, 1, AtBody_Rotation, bodyVector(a, b, BodyVector_Rotation));
        setVectorAt(numbers, 1, AtBody_Axes, e.e1);
        setVectorAt(numbers, 1, AtBody_Axes + 3, e.e2);
        setVectorAt(numbers, 1, AtBody_Axes + 6, e.e3);
        setVectorAt(numbers, 1, AtBody_Inertia, body.inertia);
        setVectorAt(numbers, 1, AtBody_InverseInertia, body.inverseInertia);
        setVectorAt(numbers, 1, AtBody_Others, make_mixed3(body.inverseMass, body.mass, body.rotations));
        setVectorAt(numbers, 1, AtBody_Displacements, ofOrigin);
        setVectorAt(numbers, 1, AtBody_Displacements + 3, ofTurn);
        setVectorAt(numbers, 1, AtBody_Motion, motion.t);
        setVectorAt(numbers, 1, AtBody_Motion + 3, motion.p1);
        setVectorAt(numbers, 1, AtBody_Motion + 6, motion.p2);
        setVectorAt(numbers, 1, AtBody_Motion + 9, motion.p3);
#if PART_GLOBAL_ROWS || !WAITS // for the launch that moves particles
        copyBody(a, b, NUM_JOINED + first + n);
#endif
    }
}

/** Take up a node of a body as a place. */
DEVICE void takeNodeLocal(const Arguments* a, int c, int place, int number, Particle p SHARED_PARAMETER) {
    const int node = PARTICLE_OF(number) - a->numParticles;
    if (!(number & IS_FIXED)) {
        const BodyConstants body = constantsOf(a, FIRST_JOINED + node / 2);
        p.w = node % 2 == 0 ? body.inverseMass : body.rotations > 0 ? 1 / body.mass : 0;
        p.v = velocityOfNode(a, PARTICLE_OF(number));
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

/** Displace a body by impulses on its nodes. One that turns too far has a motion of NaN. */
DEVICE void displaceBodyLocal(LOCAL_ARG mixed* numbers, mixed3 ofOrigin, mixed3 ofTurn) {
    const BodyConstants body = constantsIn(numbers);
    const mixed3 shift = vectorAt(numbers, 1, AtBody_Displacements) + ofOrigin;
    const mixed3 turn = vectorAt(numbers, 1, AtBody_Displacements + 3) + ofTurn;
    mixed3 v = make_mixed3(0, 0, 0);
    if (!solveRotation(body, angularMomentOf(body, turn), &v)) {
        const mixed nan = sqrt((mixed) -1);
        v = make_mixed3(nan, nan, nan);
    }
    const RigidMotion motion = displacementBy(axesIn(numbers), shift, v);
    setVectorAt(numbers, 1, AtBody_Rotation, v);
    setVectorAt(numbers, 1, AtBody_Motion, motion.t);
    setVectorAt(numbers, 1, AtBody_Motion + 3, motion.p1);
    setVectorAt(numbers, 1, AtBody_Motion + 6, motion.p2);
    setVectorAt(numbers, 1, AtBody_Motion + 9, motion.p3);
}

DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER); // partDistances.cc

/** Displace all bodies of a part.
 *  @param isEnd  by impulses in `mixed`, after findImpulsesLocal() and a barrier; then their motions are written, where parts
 *                wait to the bodies that the part moves, otherwise to the copies */
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
            if (isEnd && WAITS && (part.i[AT_PARTICLE + origin] & IS_MOVED))
                storeMotion(a, a->clusterBody[copy], numbers);
        }
        THREAD_GROUP_SYNC
    }
}

#if PART_JOINTS
#define EACH_JOINT(n) EACH_FROM_END(n, THREADS_BEFORE_BODIES, NUM_JOINTS) // after bodies, by the same threads

/** A row that is a distance, an angle or a dihedral of particles and places in bodies. */
typedef struct {
    int row, kind, firstPoint, size;
} Joint;

/** One of its points: a particle, or a place in a body. */
typedef struct {
    int element;         // that of the particle, or that of the body's origin, which that of its turn follows
    int body;            // of the part, from 1 on; 0: the part displaces none
    int place;           // of the particle, or of the body's origin
    bool isInBody;
    int particle, shape; // which bodyShape is of
} JointPoint;

DEVICE Joint jointAt(LocalPart part, int n) {
    LOCAL_ARG const unsigned short* numbers = part.s + AT_JOINT + 4 * n;
    Joint joint;
    joint.row = numbers[0];
    joint.kind = numbers[1];
    joint.firstPoint = numbers[2];
    joint.size = numbers[3];
    return joint;
}

DEVICE JointPoint pointOfJoint(LocalPart part, int point) {
    LOCAL_ARG const unsigned short* numbers = part.s + AT_JOINT_POINT + 4 * point;
    JointPoint result;
    result.element = numbers[0];
    result.body = numbers[1];
    result.place = numbers[2];
    result.isInBody = numbers[3] != 0;
    result.particle = part.i[AT_POINT_PARTICLE + 2 * point];
    result.shape = part.i[AT_POINT_PARTICLE + 2 * point + 1];
    return result;
}

#define EACH_POINT_OF_JOINT(joint, s)                                                                                  \
    for (int s = 0; s < 4; s++)                                                                                        \
        if (s < (joint).size)

/** q of a joint, and G_s - G_(s-1), its gradient by point. */
DEVICE mixed coordinateOfJoint(Joint joint, const mixed3* b, mixed3* gradients) {
    mixed3 G[3];
    mixed q = 0;
#define LISTED(Name, name, numParticles, range)                                                                      \
    if (joint.kind == RowKind_##Name) {                                                                                \
        q = name##Coordinate(b, G);                                                                                    \
        for (int s = 0; s < numParticles; s++)                                                                         \
            gradients[s] = s == 0                  ? G[0]                                                              \
                           : s == numParticles - 1 ? make_mixed3(0, 0, 0) - G[s - 1]                                   \
                                                   : G[s] - G[s - 1];                                                  \
    }
    LISTED_COORDINATES(LISTED)
#undef LISTED
    return q;
}

/** From a particle at the start to its place in a body: as wayToPoint(). */
DEVICE mixed3 wayInBody(const Arguments* a, LOCAL_ARG const mixed* numbers, mixed3 position, mixed3 shape) {
    if (numbers[AtBody_Others + 2] == 0) // the body does not rotate, and has no axes
        return make_mixed3(0, 0, 0);
    mixed3 r = position - vectorAt(numbers, 1, AtBody_At);
    if (numbers[AtBody_IsPeriodic] != 0)
        r = nearestImage(r, stepStateOf(a, 0));
    return vectorAt(numbers, 1, AtBody_Origin) + alongAxes(axesIn(numbers), shape) - r;
}

/** The gradient with respect to a body's turn of one with respect to a place in it. */
DEVICE mixed3 gradientOfTurn(LOCAL_ARG const mixed* numbers, mixed3 v, mixed3 shape, mixed3 gradient) {
    return turnGradient(constantsIn(numbers), v, cross(shape, componentsOf(axesIn(numbers), gradient)));
}

/** Take the present positions as the start of a joint. */
DEVICE void startJoint(const Arguments* a, const PartSolve* solve, int n, Worst* worst SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const Joint joint = jointAt(part, n);
    const int k = joint.row, row = part.i[AT_FIRST_ROW] + k, end = END_OF_ELEMENTS(k);
    mixed3 positions[4], shapes[4], ways[4], b[3], gradients[4];
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) { // reads come first
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        shapes[s] = ways[s] = gradients[s] = make_mixed3(0, 0, 0);
        positions[s] = point.isInBody ? positionOf(a, point.particle)
                                      : vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, point.place);
        if (point.isInBody) {
            const mixed4 shape = a->bodyShape[point.shape];
            shapes[s] = make_mixed3(shape.x, shape.y, shape.z);
        }
    }
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        if (point.body > 0)
            ways[s] = wayInBody(a, numbersOfBody(part, point.body - 1), positions[s], shapes[s]);
        else if (point.isInBody)
            ways[s] = wayToPoint(a, FIRST_POINT(row) + s);
        setVectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, joint.firstPoint + s, shapes[s]);
    }
    const bool isPeriodic = part.m[AT_INVERSE_LENGTH + k] != 0;
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = make_mixed3(0, 0, 0);
        if (s < joint.size - 1) {
            b[s] = positions[s] - positions[s + 1];
            if (isPeriodic)
                b[s] = minimumImage(b[s], stepState);
            b[s] = b[s] + (ways[s] - ways[s + 1]);
            setVectorAt(part.m + AT_JOINT_BOND, PART_JOINT_POINTS, joint.firstPoint + s, b[s]);
        }
    }
    const mixed q = coordinateOfJoint(joint, b, gradients);
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        setVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element, make_mixed3(0, 0, 0));
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        addVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, point.element, gradients[s]);
        if (point.body > 0)
            addVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, point.element + 1,
                        gradientOfTurn(numbersOfBody(part, point.body - 1), make_mixed3(0, 0, 0), shapes[s],
                                       gradients[s]));
    }
    float squares = 0;
    mixed rate = 0;
    for (int element = FIRST_ELEMENT(k); element < end; element++) {
        const mixed3 gradient = vectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element);
        squares += startElement(part, element, gradient);
        rate += dot(gradient, vectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, PLACE_OF(element)));
    }
    if (k >= NUM_SOLVED)
        return;
    const mixed ofTarget = part.m[AT_RATE + k];
    part.r[AT_SCALE + k] = (solve->what == POSITIONS ? 1 : solve->timeScale) * inverseScaleOf(a, row, a->time);
    part.m[AT_RATE + k] = rate - ofTarget;
    if (solve->workStage >= 0)
        a->workRate[solve->workStage * a->numRows + row] = -ofTarget;
    if (!(fabs(q + squares) < INFINITE_ERROR))
        noteWorst(worst, row, q + squares, q);
}

/** -sigma of a joint that the part solves, with the gradient. */
DEVICE void evaluateJoint(const PartSolve* solve, int n, Worst* worst, bool* isTurned SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const Joint joint = jointAt(part, n);
    const int k = joint.row, end = END_OF_ELEMENTS(k);
    if (k >= NUM_SOLVED)
        return;
    mixed sigma = 0, value = 0;
    if (solve->what == POSITIONS) {
        mixed3 d[4], b[3], gradients[4];
#pragma unroll
        EACH_POINT_OF_JOINT(joint, s) {
            const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
            gradients[s] = make_mixed3(0, 0, 0);
            if (point.body > 0)
                d[s] = motionOf(motionIn(numbersOfBody(part, point.body - 1)),
                                vectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, joint.firstPoint + s));
            else {
                const number4 impulse = part.n[AT_IMPULSE + point.place];
                d[s] = vectorAt(part.m + AT_DISPLACEMENT, PART_ALL_PLACES, point.place) +
                       make_mixed3(impulse.x, impulse.y, impulse.z);
            }
        }
#pragma unroll
        for (int s = 0; s < 3; s++) {
            b[s] = make_mixed3(0, 0, 0);
            if (s < joint.size - 1)
                b[s] = vectorAt(part.m + AT_JOINT_BOND, PART_JOINT_POINTS, joint.firstPoint + s) + (d[s] - d[s + 1]);
        }
        value = coordinateOfJoint(joint, b, gradients);
        sigma = wrapResidual(joint.kind, value - part.m[AT_LENGTH + k]);
        for (int element = FIRST_ELEMENT(k); element < end; element++)
            part.g[AT_GRADIENT + element] = sizedVector(make_mixed3(0, 0, 0), 0);
#pragma unroll
        EACH_POINT_OF_JOINT(joint, s) {
            const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
            addGradient(part, point.element, gradients[s]);
            if (point.body > 0) {
                LOCAL_ARG const mixed* numbers = numbersOfBody(part, point.body - 1);
                const mixed3 v = vectorAt(numbers, 1, AtBody_Rotation);
                const mixed3 shape =
                    vectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, joint.firstPoint + s);
                addGradient(part, point.element + 1, gradientOfTurn(numbers, v, rotated(v, shape), gradients[s]));
            }
        }
        if (joint.kind == RowKind_Distance && IS_OWN_LOCAL(k))
            *isTurned = *isTurned || hasTurnedLocal(part, k);
    } else
        sigma = value = rateOfElements(part, k);
    number error = fabs(sigma) * part.r[AT_SCALE + k];
#if IS_NARROWER
    number spread = spreadOfElements(part, k), ofPresent = 0; // a gradient grows where its body turns
    for (int element = FIRST_ELEMENT(k); element < end && solve->what == POSITIONS; element++)
        ofPresent += part.n[AT_IMPULSE + PLACE_OF(element)].w *
                     sqrt(dotOf(part.g[AT_GRADIENT + element], part.g[AT_GRADIENT + element]));
    error += SUM_ROUNDING * part.r[AT_SCALE + k] * max(spread, ofPresent);
#endif
    part.f[AT_RIGHT_SIDE + k] = -sigma;
    if (IS_OWN_LOCAL(k))
        noteWorst(worst, part.i[AT_FIRST_ROW] + k, error, value);
}
#endif
#endif
