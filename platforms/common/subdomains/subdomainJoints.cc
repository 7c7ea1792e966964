// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainAngleChanges.cc, subdomainBodies.cc
// Joints of a part: rows of listed kinds at places in joined bodies (subdomainBodies.cc). A thread has a point, that is a
// particle or a place in a body; then a thread has a joint; then a thread has a point again, whose gradient it gives to the
// elements of the joint. Points of the same body share elements: the first one's thread adds them up. With q0 the target,
//
//     sigma = q - q0 = atan2(sin(q - q0), cos(q - q0)),    |b| - L = (|b|^2 - L^2)/(|b| + L).
//
// What the right sides are computed from is `mixed`, where digits cancel; the rest is in single precision.

#if PART_JOINTS
/** Each kind has its warps; the tables say which joint a thread has, from 1 on. */
#define THREADS_FOR_JOINTS ((0 LISTED_COORDINATES(ONE_KIND)) * THREADS_FOR(PART_JOINTS))
#define EACH_JOINT(n)                                                                                                  \
    EACH_FROM_END(thread, THREADS_BEFORE_JOINTS, THREADS_FOR_JOINTS)                                                   \
    for (int n = part.s[AT_JOINT_OF_THREAD + thread] - 1; n >= 0; n = -1)
#define EACH_SOLVED_JOINT(n) EACH_JOINT(n) if (jointAt(part, n).row < NUM_SOLVED)

/** A row that is a distance, an angle or a dihedral of particles and places in bodies. */
typedef struct {
    int row, kind, firstPoint, size;
} Joint;

/** One of its points: a particle, or a place in a body. */
typedef struct {
    int element;       // that of the particle, or that of the body's origin, which that of its turn follows
    int displacedBody; // of the part, from 1 on; 0: the part displaces none
    int place;         // of the particle, or of the body's origin
    int isInBody;      // or it is a particle
} JointPoint;

DEVICE Joint jointAt(LocalPart part, int n) {
    const int2 numbers = ((LOCAL_ARG const int2*) (part.s + AT_JOINT))[n];
    Joint joint;
    joint.row = LOW(numbers.x);
    joint.kind = HIGH(numbers.x);
    joint.firstPoint = LOW(numbers.y);
    joint.size = HIGH(numbers.y);
    return joint;
}

DEVICE JointPoint pointOfJoint(LocalPart part, int p) {
    const int2 numbers = ((LOCAL_ARG const int2*) (part.s + AT_JOINT_POINT))[p];
    JointPoint result;
    result.element = LOW(numbers.x);
    result.displacedBody = HIGH(numbers.x);
    result.place = LOW(numbers.y);
    result.isInBody = HIGH(numbers.y);
    return result;
}

#define NUM_JOINT_POINTS part.s[AT_COUNTS + 10]
#define NUM_SOLVED_POINTS part.s[AT_COUNTS + 12] // of joints that the part solves, which come first
#define EACH_JOINT_POINT(p, count) EACH_FROM_END(p, THREADS_BEFORE_JOINTS, count)
/** s: p and the points after it that share its elements, or none, if a point before it does. */
#define EACH_SHARER(s, p)                                                                                              \
    for (int s = (p), sharers = part.s[AT_SHARERS + (p)]; sharers != 0; s++, sharers >>= 1)                            \
        if (sharers & 1)
#define EACH_POINT_OF_JOINT(joint, s)                                                                                  \
    for (int s = 0; s < 4; s++)                                                                                        \
        if (s < (joint).size)
/** Its bond vectors; arrays have three, the others are zero. */
#define EACH_BOND_OF_JOINT(joint, s)                                                                                   \
    for (int s = 0; s < 3; s++)                                                                                        \
        if (s < (joint).size - 1)

// ---- the start ---------------------------------------------------------------------------------------------------------

/** Take up where a point is in its body, the position of its particle, and the way from this to the point. */
DEVICE void startPoint(const Arguments* a, LocalPart part, int p) {
    const JointPoint point = pointOfJoint(part, p);
    mixed3 shape = make_mixed3(0, 0, 0), way = shape, position;
    LOCAL_ARG const int* inMemory = part.i + AT_POINT_IN_MEMORY + 3 * p; // its particle, its shape and its slot
    if (point.isInBody) {
        const mixed4 s = a->bodyShape[inMemory[1]];
        shape = make_mixed3(s.x, s.y, s.z);
        position = positionOf(a, inMemory[0]);
        way = wayToPoint(a, a->firstPointSlot + inMemory[2]);
    } else
        position = vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, point.place);
    if (point.displacedBody > 0)
        setFloatsAt(part.f + AT_START_ARM, p,
                    inFloats(alongAxes(axesIn(numbersOfBody(part, point.displacedBody - 1)), shape)));
    setVectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, p, shape);
    setVectorAt(part.m + AT_JOINT_BOND, PART_JOINT_POINTS, p, position); // until startBonds()
    setVectorAt(part.m + AT_POINT_VECTOR, PART_JOINT_POINTS, p, way);
}

/** Take up what does not depend on positions: the scale, the target's rate, and of an angle its sine and cosine. */
DEVICE void startTarget(const Arguments* a, LocalPart part, const Solve* solve, int n) {
    const Joint joint = jointAt(part, n);
    const int k = joint.row, row = part.i[AT_FIRST_ROW] + k;
    if (solve->workStage >= 0)
        workRatesOf(a)[solve->workStage * a->numRows + row] = -part.m[AT_RATE + k];
    const mixed target = part.m[AT_LENGTH + k];
    const number scale = joint.kind == RowKind_Distance ? 1 / (number) target : (number) a->rowInverseScale[row];
    part.r[AT_SCALE + k] = (number) (solve->what == POSITIONS ? 1 : solve->timeScale) * scale;
    if (joint.kind == RowKind_Distance || solve->what != POSITIONS)
        return;
    mixed sine, cosine;
    sineCosine(wrapResidual(joint.kind, target), &sine, &cosine);
    part.m[AT_JOINT_TARGET + 2 * n] = sine;
    part.m[AT_JOINT_TARGET + 2 * n + 1] = cosine;
}

/** Find the bonds at the start, in the places of positions, and give dq/db of each to its points. */
DEVICE void startBonds(const Arguments* a, LocalPart part, int n, Worst* worst) {
    const StepState stepState = stepStateOf(a, a->time);
    const Joint joint = jointAt(part, n);
    const int last = joint.firstPoint + joint.size - 1;
    const bool isPeriodic = part.m[AT_INVERSE_LENGTH + joint.row] != 0;
    LOCAL_ARG mixed *bonds = part.m + AT_JOINT_BOND, *vectors = part.m + AT_POINT_VECTOR;
    mixed3 b[3], G[3];
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = G[s] = make_mixed3(0, 0, 0);
        const int first = joint.firstPoint + s, second = first + 1;
        if (second <= last) {
            b[s] = vectorAt(bonds, PART_JOINT_POINTS, first) - vectorAt(bonds, PART_JOINT_POINTS, second);
            if (isPeriodic)
                b[s] = minimumImage(b[s], stepState);
            b[s] = b[s] + (vectorAt(vectors, PART_JOINT_POINTS, first) - vectorAt(vectors, PART_JOINT_POINTS, second));
        }
    }
#pragma unroll
    EACH_BOND_OF_JOINT(joint, s)
        setVectorAt(bonds, PART_JOINT_POINTS, joint.firstPoint + s, b[s]);
    mixed sine = 0, cosine = 0; // a number that is finite if G is
#define ANGULAR(Name, name, numParticles, range)                                                                       \
    if (joint.kind == RowKind_##Name)                                                                                  \
        name##SineCosine(b, &sine, &cosine, G);
    ANGULAR_COORDINATES(ANGULAR)
#undef ANGULAR
    if (joint.kind == RowKind_Distance)
        sine = distanceCoordinate(b, G);
    mixed3 before = make_mixed3(0, 0, 0); // a point's gradient is the difference of those of its bonds
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const mixed3 next = s < 3 ? G[s] : make_mixed3(0, 0, 0);
        setVectorAt(vectors, PART_JOINT_POINTS, joint.firstPoint + s, next - before);
        before = next;
    }
    if (!(fabs(sine + cosine) < INFINITE_ERROR))
        noteWorst(worst, part.i[AT_FIRST_ROW] + joint.row, sine + cosine, sine + cosine);
}

/** Set the elements that a point shares with others, from their gradients. */
DEVICE void startElements(LocalPart part, const Solve* solve, int p) {
    const JointPoint point = pointOfJoint(part, p);
    mixed3 gradient = make_mixed3(0, 0, 0), torque = gradient;
    mixed rate = 0;
    float squares = 0;
    if (part.s[AT_SHARERS + p] != 0) {
        LOCAL_ARG const mixed* numbers = numbersOfBody(part, max(point.displacedBody - 1, 0));
        EACH_SHARER(s, p) {
            const mixed3 own = vectorAt(part.m + AT_POINT_VECTOR, PART_JOINT_POINTS, s);
            gradient = gradient + own;
            if (point.displacedBody > 0)
                torque = torque + cross(vectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, s),
                                        componentsOf(axesIn(numbers), own));
        }
        squares = startElement(part, point.element, gradient);
        if (solve->what != POSITIONS)
            rate = dot(gradient, vectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, point.place));
        if (point.isInBody) { // turnGradient() of v = 0
            mixed3 ofTurn = torque;
            if (point.displacedBody > 0) {
                const BodyConstants body = constantsIn(numbers);
                ofTurn = angularMomentOf(body, scaledBy(body.inverseInertia, torque));
            }
            squares += startElement(part, point.element + 1, ofTurn);
            if (solve->what != POSITIONS)
                rate += dot(ofTurn, vectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, PLACE_OF(point.element + 1)));
        }
    }
    part.m[AT_POINT_RATE + p] = rate;
    setFloatsAt(part.f + AT_POINT_NOTES, p, make_float3(squares, 0, 0));
}

/** Add up what points found for a joint that the part solves: its rate, and whether its gradient is finite. */
DEVICE void startJoint(LocalPart part, const Solve* solve, int n, Worst* worst) {
    const Joint joint = jointAt(part, n);
    mixed rate = 0;
    float squares = 0;
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        squares += part.f[AT_POINT_NOTES + 3 * (joint.firstPoint + s)];
        if (solve->what != POSITIONS)
            rate += part.m[AT_POINT_RATE + joint.firstPoint + s];
    }
    if (solve->what != POSITIONS)
        part.m[AT_RATE + joint.row] = rate - part.m[AT_RATE + joint.row];
    if (!(squares < INFINITE_ERROR))
        noteWorst(worst, part.i[AT_FIRST_ROW] + joint.row, squares, squares);
}

/** Take the present positions as the start of points, from bodies that were taken before a barrier. Another one has to follow. */
DEVICE void startPoints(const Arguments* a, LocalPart part, const Solve* solve) {
    EACH_JOINT_POINT(p, NUM_JOINT_POINTS) startPoint(a, part, p);
    EACH_SOLVED_JOINT(n) startTarget(a, part, solve, n);
}

/** After startPoints(), take these points as the start of joints. */
DEVICE void startJoints(const Arguments* a, LocalPart part, const Solve* solve, Worst* worst SHARED_PARAMETER) {
    EACH_JOINT(n) startBonds(a, part, n, worst);
    THREAD_GROUP_SYNC
    EACH_JOINT_POINT(p, NUM_JOINT_POINTS) startElements(part, solve, p);
    THREAD_GROUP_SYNC
    EACH_SOLVED_JOINT(n) startJoint(part, solve, n, worst);
}

// ---- residuals ---------------------------------------------------------------------------------------------------------

/** Displace a point by a correction, or by the motion of its body. */
DEVICE void displacePoint(LocalPart part, int p) {
    const JointPoint point = pointOfJoint(part, p);
    mixed3 d;
    if (point.displacedBody > 0) {
        RigidMotion motion = motionIn(numbersOfBody(part, point.displacedBody - 1));
        const mixed3 shift = motion.t;
        motion.t = make_mixed3(0, 0, 0);
        const mixed3 turned = motionOf(motion, vectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, p));
        d = shift + turned;
        setFloatsAt(part.f + AT_POINT_ARM, p, floatsAt(part.f + AT_START_ARM, p) + inFloats(turned));
    } else {
        const number4 impulse = part.n[AT_IMPULSE + point.place];
        d = vectorAt(part.m + AT_DISPLACEMENT, PART_ALL_PLACES, point.place) +
            make_mixed3(impulse.x, impulse.y, impulse.z);
    }
    setVectorAt(part.m + AT_POINT_VECTOR, PART_JOINT_POINTS, p, d);
}

/** -sigma of a joint that the part solves, and the gradients of its points. */
DEVICE void evaluateJoint(LocalPart part, int n) {
    const Joint joint = jointAt(part, n);
    LOCAL_ARG const mixed *bonds = part.m + AT_JOINT_BOND, *vectors = part.m + AT_POINT_VECTOR;
    mixed3 b[3];
    float3 f[3], G[3];
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = make_mixed3(0, 0, 0);
        f[s] = G[s] = make_float3(0, 0, 0);
        const int first = joint.firstPoint + s;
        if (s < joint.size - 1) {
            b[s] = vectorAt(bonds, PART_JOINT_POINTS, first) +
                   (vectorAt(vectors, PART_JOINT_POINTS, first) - vectorAt(vectors, PART_JOINT_POINTS, first + 1));
            f[s] = inFloats(b[s]);
        }
    }
    float sigma = 0;
    if (joint.kind == RowKind_Distance) {
        const mixed target = part.m[AT_LENGTH + joint.row];
        const float length = sqrt(dot(f[0], f[0]));
        sigma = toFloat(dot(b[0], b[0]) - target * target) / (length + toFloat(target));
        G[0] = (1 / length) * f[0];
    } else {
        mixed sine = 0, cosine = 0;
        mixed3 unused[3];
#define ANGULAR(Name, name, numParticles, range)                                                                       \
    if (joint.kind == RowKind_##Name) {                                                                                \
        name##SineCosine(b, &sine, &cosine, unused);                                                                   \
        name##Slopes(f, G);                                                                                            \
    }
        ANGULAR_COORDINATES(ANGULAR)
#undef ANGULAR
        sigma = fromTarget(joint.kind, sine, cosine, part.m[AT_LENGTH + joint.row], part.m[AT_JOINT_TARGET + 2 * n],
                           part.m[AT_JOINT_TARGET + 2 * n + 1]);
    }
    part.f[AT_RIGHT_SIDE + joint.row] = -sigma;
    float3 before = make_float3(0, 0, 0);
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const float3 next = s < 3 ? G[s] : make_float3(0, 0, 0);
        setFloatsAt(part.f + AT_POINT_SLOPE, joint.firstPoint + s, next - before);
        before = next;
    }
}

/** Set the gradient of an element.
 *  @param[in,out] notes  sizes of corrections times gradients at the start and now, which grow where a body turns, and how far
 *                        the gradient is from having turned by 90 degrees, as hasTurned() */
DEVICE void setElement(LocalPart part, int element, float3 gradient, float3* notes) {
    const int place = PLACE_OF(element);
    const float4 start = part.g[AT_START_GRADIENT + element];
    const float size = part.n[AT_IMPULSE + place].w;
    float4 now;
    now.x = gradient.x;
    now.y = gradient.y;
    now.z = gradient.z;
    now.w = 0;
    part.g[AT_GRADIENT + element] = now;
    notes->x += size * start.w;
    notes->y += size * sqrt(dotOf(now, now));
    notes->z += part.f[AT_WEIGHT + place] * (dotOf(now, start) - 1e-6f * dotOf(start, start));
}

/** Set the elements that a point shares with others. */
DEVICE void setElements(LocalPart part, int p) {
    const JointPoint point = pointOfJoint(part, p);
    float3 gradient = make_float3(0, 0, 0), torque = gradient, notes = gradient;
    EACH_SHARER(s, p) {
        const float3 slope = floatsAt(part.f + AT_POINT_SLOPE, s);
        gradient = gradient + slope;
        if (point.displacedBody > 0)
            torque = torque + cross(floatsAt(part.f + AT_POINT_ARM, s), slope);
    }
    if (part.s[AT_SHARERS + p] != 0) {
        setElement(part, point.element, gradient, &notes);
        if (point.isInBody) {
            LOCAL_ARG const float* rows = part.f + AT_TURN_MATRIX + 9 * max(point.displacedBody - 1, 0);
            float3 ofTurn = torque;
            if (point.displacedBody > 0)
                ofTurn = make_float3(dot(floatsAt(rows, 0), torque), dot(floatsAt(rows, 1), torque),
                                     dot(floatsAt(rows, 2), torque));
            setElement(part, point.element + 1, ofTurn, &notes);
        }
    }
    setFloatsAt(part.f + AT_POINT_NOTES, p, notes);
}

/** By so much residuals round, relative to themselves: docs/theory/solving.md. */
#define JOINT_ROUNDING 1.44e-6f

/** Note the error of a joint that the part solves; that of velocities is found here, too. */
DEVICE void judgeJoint(LocalPart part, const Solve* solve, int n, bool isCorrected, Worst* worst, bool* isTurned) {
    const Joint joint = jointAt(part, n);
    const int k = joint.row;
    number sigma, value, spread = 0;
    if (solve->what == POSITIONS) {
        float3 notes = make_float3(0, 0, 0);
#pragma unroll
        EACH_POINT_OF_JOINT(joint, s)
            notes = notes + floatsAt(part.f + AT_POINT_NOTES, joint.firstPoint + s);
        sigma = -part.f[AT_RIGHT_SIDE + k];
        value = part.m[AT_LENGTH + k] + sigma;
        if (fabs(value) > 3.14f)
            value = wrapResidual(joint.kind, value);
        spread = notes.x > notes.y ? notes.x : notes.y; // NaN where there is no gradient
        *isTurned = *isTurned || (joint.kind == RowKind_Distance && IS_OWN_LOCAL(k) && !(notes.z > 0));
    } else {
        sigma = value = rateOfElements(part, k, isCorrected, &spread);
        part.f[AT_RIGHT_SIDE + k] = -sigma;
    }
    number error = (1 + JOINT_ROUNDING) * fabs(sigma) * part.r[AT_SCALE + k];
#if IS_NARROWER
    error += SUM_ROUNDING * part.r[AT_SCALE + k] * spread;
#endif
    if (!(spread < INFINITE_ERROR))
        error = spread;
    noteError(worst, part, k, error, value);
}

/** Displace the points of joints, after bodies were displaced and a barrier. Another one has to follow. */
DEVICE void displacePoints(LocalPart part) {
    EACH_JOINT_POINT(p, NUM_SOLVED_POINTS) displacePoint(part, p);
}

/** Residuals of joints that the part solves with the corrections of all parts: of positions, after displacePoints(). */
DEVICE void evaluateJoints(LocalPart part, const Solve* solve, bool isCorrected, Worst* worst,
                           bool* isTurned SHARED_PARAMETER) {
    IF_UNIFORM(solve->what == POSITIONS) {
        EACH_PART_BODY(n, NUM_BODIES) setTurnMatrix(part, n);
        EACH_SOLVED_JOINT(n) evaluateJoint(part, n);
        THREAD_GROUP_SYNC
        EACH_JOINT_POINT(p, NUM_SOLVED_POINTS) setElements(part, p);
        THREAD_GROUP_SYNC
    }
    EACH_SOLVED_JOINT(n) judgeJoint(part, solve, n, isCorrected, worst, isTurned);
}
#endif
