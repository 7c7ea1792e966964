// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainAngleChanges.cc, subdomainBodies.cc
// Joints of a subdomain: rows of listed kinds at places in joined bodies (subdomainBodies.cc). A thread has a point, that is a
// particle or a place in a body; then a thread has a joint; then a thread has a point again, whose gradient it gives to the
// elements of the joint. Points of the same body share elements: the first one's thread adds them up. With q0 the target,
//
//     sigma = q - q0 = atan2(sin(q - q0), cos(q - q0)),    |b| - L = (|b|^2 - L^2)/(|b| + L).
//
// What the right sides are computed from is `mixed`, where digits cancel; the rest is in single precision.

#if SUBDOMAIN_JOINTS
/** Each kind has its warps; the tables say which joint a thread has, from 1 on. */
#define THREADS_FOR_JOINTS ((0 LISTED_COORDINATES(ONE_KIND)) * THREADS_FOR(SUBDOMAIN_JOINTS))
#define EACH_JOINT(n)                                                                                                  \
    EACH_FROM_END(thread, THREADS_BEFORE_JOINTS, THREADS_FOR_JOINTS)                                                   \
    for (int n = sub.s[AT_JOINT_OF_THREAD + thread] - 1; n >= 0; n = -1)
#define EACH_SOLVED_JOINT(n) EACH_JOINT(n) if (jointAt(sub, n).row < NUM_SOLVED)

/** A row that is a distance, an angle or a dihedral of particles and places in bodies. */
typedef struct {
    int row, kind, firstPoint, size;
} Joint;

/** One of its points: a particle, or a place in a body. */
typedef struct {
    int element;       // that of the particle, or that of the body's origin, which that of its turn follows
    int displacedBody; // of the subdomain, from 1 on; 0: the subdomain displaces none
    int place;         // of the particle, or of the body's origin
    int isInBody;      // or it is a particle
} JointPoint;

DEVICE Joint jointAt(LocalSubdomain sub, int n) {
    const int2 numbers = ((LOCAL_ARG const int2*) (sub.s + AT_JOINT))[n];
    Joint joint;
    joint.row = LOW(numbers.x);
    joint.kind = HIGH(numbers.x);
    joint.firstPoint = LOW(numbers.y);
    joint.size = HIGH(numbers.y);
    return joint;
}

DEVICE JointPoint pointOfJoint(LocalSubdomain sub, int p) {
    const int2 numbers = ((LOCAL_ARG const int2*) (sub.s + AT_JOINT_POINT))[p];
    JointPoint result;
    result.element = LOW(numbers.x);
    result.displacedBody = HIGH(numbers.x);
    result.place = LOW(numbers.y);
    result.isInBody = HIGH(numbers.y);
    return result;
}

#define NUM_JOINT_POINTS sub.s[AT_COUNTS + 10]
#define NUM_SOLVED_POINTS sub.s[AT_COUNTS + 12] // of joints that the subdomain solves, which come first
#define EACH_JOINT_POINT(p, count) EACH_FROM_END(p, THREADS_BEFORE_JOINTS, count)
/** s: p and the points after it that share its elements, or none, if a point before it does. */
#define EACH_SHARER(s, p)                                                                                              \
    for (int s = (p), sharers = sub.s[AT_SHARERS + (p)]; sharers != 0; s++, sharers >>= 1)                             \
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
DEVICE void startPoint(const Arguments* a, LocalSubdomain sub, int p) {
    const JointPoint point = pointOfJoint(sub, p);
    mixed3 shape = make_mixed3(0, 0, 0), way = shape, position;
    LOCAL_ARG const int* inMemory = sub.i + AT_POINT_IN_MEMORY + 3 * p; // its particle, its shape and its slot
    if (point.isInBody) {
        const mixed4 s = a->bodyShape[inMemory[1]];
        shape = make_mixed3(s.x, s.y, s.z);
        position = positionOf(a, inMemory[0]);
        way = wayToPoint(a, a->firstPointSlot + inMemory[2]);
    } else
        position = vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, point.place);
    if (point.displacedBody > 0)
        setFloatsAt(sub.f + AT_START_ARM, p,
                    inFloats(alongAxes(axesIn(numbersOfBody(sub, point.displacedBody - 1)), shape)));
    setVectorAt(sub.m + AT_POINT_SHAPE, SUBDOMAIN_JOINT_POINTS, p, shape);
    setVectorAt(sub.m + AT_JOINT_BOND, SUBDOMAIN_JOINT_POINTS, p, position); // until startBonds()
    setVectorAt(sub.m + AT_POINT_VECTOR, SUBDOMAIN_JOINT_POINTS, p, way);
}

/** Take up what does not depend on positions: the scale, the target's rate, and of an angle its sine and cosine. */
DEVICE void startTarget(const Arguments* a, LocalSubdomain sub, const Solve* solve, int n) {
    const Joint joint = jointAt(sub, n);
    const int k = joint.row, row = sub.i[AT_FIRST_ROW] + k;
    if (solve->workStage >= 0)
        workRatesOf(a)[solve->workStage * a->numRows + row] = -sub.m[AT_RATE + k];
    const mixed target = sub.m[AT_LENGTH + k];
    const number scale = joint.kind == RowKind_Distance ? 1 / (number) target : (number) a->rowInverseScale[row];
    sub.r[AT_SCALE + k] = (number) (solve->what == POSITIONS ? 1 : solve->timeScale) * scale;
    if (joint.kind == RowKind_Distance || solve->what != POSITIONS)
        return;
    mixed sine, cosine;
    sineCosine(wrapResidual(joint.kind, target), &sine, &cosine);
    sub.m[AT_JOINT_TARGET + 2 * n] = sine;
    sub.m[AT_JOINT_TARGET + 2 * n + 1] = cosine;
}

/** Find the bonds at the start, in the places of positions, and give dq/db of each to its points. */
DEVICE void startBonds(const Arguments* a, LocalSubdomain sub, int n, Worst* worst) {
    const StepState stepState = stepStateOf(a, a->time);
    const Joint joint = jointAt(sub, n);
    const int last = joint.firstPoint + joint.size - 1;
    const bool isPeriodic = sub.m[AT_INVERSE_LENGTH + joint.row] != 0;
    LOCAL_ARG mixed *bonds = sub.m + AT_JOINT_BOND, *vectors = sub.m + AT_POINT_VECTOR;
    mixed3 b[3], G[3];
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = G[s] = make_mixed3(0, 0, 0);
        const int first = joint.firstPoint + s, second = first + 1;
        if (second <= last) {
            b[s] = vectorAt(bonds, SUBDOMAIN_JOINT_POINTS, first) - vectorAt(bonds, SUBDOMAIN_JOINT_POINTS, second);
            if (isPeriodic)
                b[s] = minimumImage(b[s], stepState);
            b[s] = b[s] + (vectorAt(vectors, SUBDOMAIN_JOINT_POINTS, first) -
                           vectorAt(vectors, SUBDOMAIN_JOINT_POINTS, second));
        }
    }
#pragma unroll
    EACH_BOND_OF_JOINT(joint, s)
        setVectorAt(bonds, SUBDOMAIN_JOINT_POINTS, joint.firstPoint + s, b[s]);
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
        setVectorAt(vectors, SUBDOMAIN_JOINT_POINTS, joint.firstPoint + s, next - before);
        before = next;
    }
    if (!(fabs(sine + cosine) < INFINITE_ERROR))
        noteWorst(worst, sub.i[AT_FIRST_ROW] + joint.row, sine + cosine, sine + cosine);
}

/** Set the elements that a point shares with others, from their gradients. */
DEVICE void startElements(LocalSubdomain sub, const Solve* solve, int p) {
    const JointPoint point = pointOfJoint(sub, p);
    mixed3 gradient = make_mixed3(0, 0, 0), torque = gradient;
    mixed rate = 0;
    float squares = 0;
    if (sub.s[AT_SHARERS + p] != 0) {
        LOCAL_ARG const mixed* numbers = numbersOfBody(sub, max(point.displacedBody - 1, 0));
        EACH_SHARER(s, p) {
            const mixed3 own = vectorAt(sub.m + AT_POINT_VECTOR, SUBDOMAIN_JOINT_POINTS, s);
            gradient = gradient + own;
            if (point.displacedBody > 0)
                torque = torque + cross(vectorAt(sub.m + AT_POINT_SHAPE, SUBDOMAIN_JOINT_POINTS, s),
                                        componentsOf(axesIn(numbers), own));
        }
        squares = startElement(sub, point.element, gradient);
        if (solve->what != POSITIONS)
            rate = dot(gradient, vectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, point.place));
        if (point.isInBody) { // turnGradient() of v = 0
            mixed3 ofTurn = torque;
            if (point.displacedBody > 0) {
                const BodyConstants body = constantsIn(numbers);
                ofTurn = angularMomentOf(body, scaledBy(body.inverseInertia, torque));
            }
            squares += startElement(sub, point.element + 1, ofTurn);
            if (solve->what != POSITIONS)
                rate += dot(ofTurn, vectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, PLACE_OF(point.element + 1)));
        }
    }
    sub.m[AT_POINT_RATE + p] = rate;
    setFloatsAt(sub.f + AT_POINT_NOTES, p, make_float3(squares, 0, 0));
}

/** Add up what points found for a joint that the subdomain solves: its rate, and whether its gradient is finite. */
DEVICE void startJoint(LocalSubdomain sub, const Solve* solve, int n, Worst* worst) {
    const Joint joint = jointAt(sub, n);
    mixed rate = 0;
    float squares = 0;
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        squares += sub.f[AT_POINT_NOTES + 3 * (joint.firstPoint + s)];
        if (solve->what != POSITIONS)
            rate += sub.m[AT_POINT_RATE + joint.firstPoint + s];
    }
    if (solve->what != POSITIONS)
        sub.m[AT_RATE + joint.row] = rate - sub.m[AT_RATE + joint.row];
    if (!(squares < INFINITE_ERROR))
        noteWorst(worst, sub.i[AT_FIRST_ROW] + joint.row, squares, squares);
}

/** Take the present positions as the start of points, from bodies that were taken before a barrier. Another one has to follow. */
DEVICE void startPoints(const Arguments* a, LocalSubdomain sub, const Solve* solve) {
    EACH_JOINT_POINT(p, NUM_JOINT_POINTS) startPoint(a, sub, p);
    EACH_SOLVED_JOINT(n) startTarget(a, sub, solve, n);
}

/** After startPoints(), take these points as the start of joints. */
DEVICE void startJoints(const Arguments* a, LocalSubdomain sub, const Solve* solve, Worst* worst SHARED_PARAMETER) {
    EACH_JOINT(n) startBonds(a, sub, n, worst);
    THREAD_GROUP_SYNC
    EACH_JOINT_POINT(p, NUM_JOINT_POINTS) startElements(sub, solve, p);
    THREAD_GROUP_SYNC
    EACH_SOLVED_JOINT(n) startJoint(sub, solve, n, worst);
}

// ---- residuals ---------------------------------------------------------------------------------------------------------

/** Displace a point by a correction, or by the motion of its body. */
DEVICE void displacePoint(LocalSubdomain sub, int p) {
    const JointPoint point = pointOfJoint(sub, p);
    mixed3 d;
    if (point.displacedBody > 0) {
        RigidMotion motion = motionIn(numbersOfBody(sub, point.displacedBody - 1));
        const mixed3 shift = motion.t;
        motion.t = make_mixed3(0, 0, 0);
        const mixed3 turned = motionOf(motion, vectorAt(sub.m + AT_POINT_SHAPE, SUBDOMAIN_JOINT_POINTS, p));
        d = shift + turned;
        setFloatsAt(sub.f + AT_POINT_ARM, p, floatsAt(sub.f + AT_START_ARM, p) + inFloats(turned));
    } else {
        const number4 impulse = sub.n[AT_IMPULSE + point.place];
        d = vectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, point.place) +
            make_mixed3(impulse.x, impulse.y, impulse.z);
    }
    setVectorAt(sub.m + AT_POINT_VECTOR, SUBDOMAIN_JOINT_POINTS, p, d);
}

/** -sigma of a joint that the subdomain solves, and the gradients of its points. */
DEVICE void evaluateJoint(LocalSubdomain sub, int n) {
    const Joint joint = jointAt(sub, n);
    LOCAL_ARG const mixed *bonds = sub.m + AT_JOINT_BOND, *vectors = sub.m + AT_POINT_VECTOR;
    mixed3 b[3];
    float3 f[3], G[3];
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = make_mixed3(0, 0, 0);
        f[s] = G[s] = make_float3(0, 0, 0);
        const int first = joint.firstPoint + s;
        if (s < joint.size - 1) {
            b[s] = vectorAt(bonds, SUBDOMAIN_JOINT_POINTS, first) +
                   (vectorAt(vectors, SUBDOMAIN_JOINT_POINTS, first) - vectorAt(vectors, SUBDOMAIN_JOINT_POINTS, first + 1));
            f[s] = inFloats(b[s]);
        }
    }
    float sigma = 0;
    if (joint.kind == RowKind_Distance) {
        const mixed target = sub.m[AT_LENGTH + joint.row];
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
        sigma = fromTarget(joint.kind, sine, cosine, sub.m[AT_LENGTH + joint.row], sub.m[AT_JOINT_TARGET + 2 * n],
                           sub.m[AT_JOINT_TARGET + 2 * n + 1]);
    }
    sub.f[AT_RIGHT_SIDE + joint.row] = -sigma;
    float3 before = make_float3(0, 0, 0);
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const float3 next = s < 3 ? G[s] : make_float3(0, 0, 0);
        setFloatsAt(sub.f + AT_POINT_SLOPE, joint.firstPoint + s, next - before);
        before = next;
    }
}

/** Set the gradient of an element.
 *  @param[in,out] notes  sizes of corrections times gradients at the start and now, which grow where a body turns, and how far
 *                        the gradient is from having turned by 90 degrees, as hasTurned() */
DEVICE void setElement(LocalSubdomain sub, int element, float3 gradient, float3* notes) {
    const int place = PLACE_OF(element);
    const float4 start = sub.g[AT_START_GRADIENT + element];
    const float size = sub.n[AT_IMPULSE + place].w;
    float4 now;
    now.x = gradient.x;
    now.y = gradient.y;
    now.z = gradient.z;
    now.w = 0;
    sub.g[AT_GRADIENT + element] = now;
    notes->x += size * start.w;
    notes->y += size * sqrt(dotOf(now, now));
    notes->z += sub.f[AT_WEIGHT + place] * (dotOf(now, start) - 1e-6f * dotOf(start, start));
}

/** Set the elements that a point shares with others. */
DEVICE void setElements(LocalSubdomain sub, int p) {
    const JointPoint point = pointOfJoint(sub, p);
    float3 gradient = make_float3(0, 0, 0), torque = gradient, notes = gradient;
    EACH_SHARER(s, p) {
        const float3 slope = floatsAt(sub.f + AT_POINT_SLOPE, s);
        gradient = gradient + slope;
        if (point.displacedBody > 0)
            torque = torque + cross(floatsAt(sub.f + AT_POINT_ARM, s), slope);
    }
    if (sub.s[AT_SHARERS + p] != 0) {
        setElement(sub, point.element, gradient, &notes);
        if (point.isInBody) {
            LOCAL_ARG const float* rows = sub.f + AT_TURN_MATRIX + 9 * max(point.displacedBody - 1, 0);
            float3 ofTurn = torque;
            if (point.displacedBody > 0)
                ofTurn = make_float3(dot(floatsAt(rows, 0), torque), dot(floatsAt(rows, 1), torque),
                                     dot(floatsAt(rows, 2), torque));
            setElement(sub, point.element + 1, ofTurn, &notes);
        }
    }
    setFloatsAt(sub.f + AT_POINT_NOTES, p, notes);
}

/** By so much residuals round, relative to themselves: docs/theory/solving.md. */
#define JOINT_ROUNDING 1.44e-6f

/** Note the error of a joint that the subdomain solves; that of velocities is found here, too. */
DEVICE void judgeJoint(LocalSubdomain sub, const Solve* solve, int n, bool isCorrected, Worst* worst, bool* isTurned) {
    const Joint joint = jointAt(sub, n);
    const int k = joint.row;
    number sigma, value, spread = 0;
    if (solve->what == POSITIONS) {
        float3 notes = make_float3(0, 0, 0);
#pragma unroll
        EACH_POINT_OF_JOINT(joint, s)
            notes = notes + floatsAt(sub.f + AT_POINT_NOTES, joint.firstPoint + s);
        sigma = -sub.f[AT_RIGHT_SIDE + k];
        value = sub.m[AT_LENGTH + k] + sigma;
        if (fabs(value) > 3.14f)
            value = wrapResidual(joint.kind, value);
        spread = notes.x > notes.y ? notes.x : notes.y; // NaN where there is no gradient
        *isTurned = *isTurned || (joint.kind == RowKind_Distance && IS_OWN_LOCAL(k) && !(notes.z > 0));
    } else {
        sigma = value = rateOfElements(sub, k, isCorrected, &spread);
        sub.f[AT_RIGHT_SIDE + k] = -sigma;
    }
    number error = (1 + JOINT_ROUNDING) * fabs(sigma) * sub.r[AT_SCALE + k];
#if IS_NARROWER
    error += SUM_ROUNDING * sub.r[AT_SCALE + k] * spread;
#endif
    if (!(spread < INFINITE_ERROR))
        error = spread;
    noteError(worst, sub, k, error, value);
}

/** Displace the points of joints, after bodies were displaced and a barrier. Another one has to follow. */
DEVICE void displacePoints(LocalSubdomain sub) {
    EACH_JOINT_POINT(p, NUM_SOLVED_POINTS) displacePoint(sub, p);
}

/** Residuals of joints that the subdomain solves with the corrections of all subdomains: of positions, after
 *  displacePoints(). */
DEVICE void evaluateJoints(LocalSubdomain sub, const Solve* solve, bool isCorrected, Worst* worst,
                           bool* isTurned SHARED_PARAMETER) {
    IF_UNIFORM(solve->what == POSITIONS) {
        EACH_SUBDOMAIN_BODY(n, NUM_BODIES) setTurnMatrix(sub, n);
        EACH_SOLVED_JOINT(n) evaluateJoint(sub, n);
        THREAD_GROUP_SYNC
        EACH_JOINT_POINT(p, NUM_SOLVED_POINTS) setElements(sub, p);
        THREAD_GROUP_SYNC
    }
    EACH_SOLVED_JOINT(n) judgeJoint(sub, solve, n, isCorrected, worst, isTurned);
}
#endif
