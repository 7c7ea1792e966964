// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joints of a part: rows of listed kinds at places in joined bodies (partBodies.cc). In each round a thread has a joint, after
// the bodies were displaced. Residuals are computed in `mixed`.

#if PART_JOINTS
/** Each kind has its warps, the first one those of bodies: n is a joint of this warp's kind. */
#define THREADS_FOR_JOINTS ((0 LISTED_COORDINATES(ONE_KIND)) * THREADS_FOR(PART_JOINTS))
#define EACH_JOINT(n)                                                                                                  \
    EACH_FROM_END(thread, THREADS_BEFORE_BODIES, THREADS_FOR_JOINTS)                                                   \
    for (int n = thread % THREADS_FOR(PART_JOINTS), once = 0; once < 1 && isJointOf(part, n, thread); once++)

/** A row that is a distance, an angle or a dihedral of particles and places in bodies. */
typedef struct {
    int row, kind, firstPoint, size;
} Joint;

/** Whether n is a joint that one of these threads has, counted from the first one of the joints. */
DEVICE bool isJointOf(LocalPart part, int n, int thread) {
    int place = 0, placeOfKind = -1;
    if (n >= NUM_JOINTS)
        return false;
    const int kind = part.s[AT_JOINT + 4 * n + 1];
#define LISTED(Name, name, numParticles, range)                                                                       \
    placeOfKind = kind == RowKind_##Name ? place : placeOfKind;                                                        \
    place++;
    LISTED_COORDINATES(LISTED)
#undef LISTED
    return placeOfKind == thread / THREADS_FOR(PART_JOINTS);
}

/** One of its points: a particle, or a place in a body. */
typedef struct {
    int element;       // that of the particle, or that of the body's origin, which that of its turn follows
    int displacedBody; // of the part, from 1 on; 0: the part displaces none
    int place;         // of the particle, or of the body's origin
    int body;          // of the part, from 1 on, those of its ring included; 0: it is a particle
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

DEVICE JointPoint pointOfJoint(LocalPart part, int point) {
    const int2 numbers = ((LOCAL_ARG const int2*) (part.s + AT_JOINT_POINT))[point];
    JointPoint result;
    result.element = LOW(numbers.x);
    result.displacedBody = HIGH(numbers.x);
    result.place = LOW(numbers.y);
    result.body = HIGH(numbers.y);
    return result;
}

#define EACH_POINT_OF_JOINT(joint, s)                                                                                  \
    for (int s = 0; s < 4; s++)                                                                                        \
        if (s < (joint).size)

/** G_s - G_(s-1), the gradient by point, of dq/db of each bond. */
DEVICE void setGradients(int size, const mixed3* G, mixed3* gradients) {
#pragma unroll
    for (int s = 0; s < 4; s++)
        if (s < size)
            gradients[s] = s == 0          ? G[0]
                           : s == size - 1 ? make_mixed3(0, 0, 0) - G[s - 1]
                                           : G[s] - G[s - 1];
}

/** q of a joint, and its gradient by point. */
DEVICE mixed coordinateOfJoint(Joint joint, const mixed3* b, mixed3* gradients) {
    mixed3 G[3];
    mixed q = 0;
#define LISTED(Name, name, numParticles, range)                                                                      \
    if (joint.kind == RowKind_##Name) {                                                                                \
        q = name##Coordinate(b, G);                                                                                    \
        setGradients(numParticles, G, gradients);                                                                      \
    }
    LISTED_COORDINATES(LISTED)
#undef LISTED
    return q;
}

/** The gradient alone. @return a number that is finite if this is */
DEVICE mixed gradientOfJoint(Joint joint, const mixed3* b, mixed3* gradients) {
    mixed3 G[3];
    mixed sine = 0, cosine = 0;
#define ANGULAR(Name, name, numParticles, range)                                                                       \
    if (joint.kind == RowKind_##Name) {                                                                                \
        name##SineCosine(b, &sine, &cosine, G);                                                                        \
        setGradients(numParticles, G, gradients);                                                                      \
    }
    ANGULAR_COORDINATES(ANGULAR)
#undef ANGULAR
    if (joint.kind != RowKind_Distance)
        return sine + cosine;
    const mixed length = distanceCoordinate(b, G);
    setGradients(2, G, gradients);
    return length;
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

/** The gradient at the start with respect to a body's turn of one with respect to a place in it: turnGradient() of v = 0. */
DEVICE mixed3 startGradientOfTurn(LOCAL_ARG const mixed* numbers, mixed3 shape, mixed3 gradient) {
    const BodyConstants body = constantsIn(numbers);
    return angularMomentOf(body, scaledBy(body.inverseInertia, cross(shape, componentsOf(axesIn(numbers), gradient))));
}

/** The same now. @param arm  from the body's origin to the place */
DEVICE float3 gradientOfTurn(LocalPart part, int n, float3 arm, float3 gradient) {
    LOCAL_ARG const float* rows = part.f + AT_TURN_MATRIX + 9 * n;
    const float3 torque = cross(arm, gradient);
    return make_float3(dot(floatsAt(rows, 0), torque), dot(floatsAt(rows, 1), torque), dot(floatsAt(rows, 2), torque));
}

/** Add to the gradient of an element now. */
DEVICE void addGradient(LocalPart part, int element, float3 gradient) {
    float4 sum = part.g[AT_GRADIENT + element];
    sum.x += gradient.x;
    sum.y += gradient.y;
    sum.z += gradient.z;
    part.g[AT_GRADIENT + element] = sum;
}

/** Take the present positions as the start of a joint. */
DEVICE void startJoint(const Arguments* a, const PartSolve* solve, int n, Worst* worst SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const Joint joint = jointAt(part, n);
    const int k = joint.row, row = part.i[AT_FIRST_ROW] + k, end = END_OF_ELEMENTS(k);
    const mixed inverseScale = joint.kind == RowKind_Distance ? 0 : a->rowInverseScale[row];
    mixed3 positions[4], shapes[4], ways[4], b[3], gradients[4];
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) { // reads come first
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        shapes[s] = ways[s] = gradients[s] = make_mixed3(0, 0, 0);
#if TAKES_BODIES
        const int place = point.body > 0 ? part.s[AT_JOINT_PLACE + joint.firstPoint + s] : point.place;
        positions[s] = vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, place);
        if (point.body > 0)
            shapes[s] = shapeLocal(part, place);
#else
        LOCAL_ARG const int* inMemory = part.i + AT_POINT_PARTICLE + 2 * (joint.firstPoint + s); // and that of its shape
        positions[s] = point.body > 0 ? positionOf(a, inMemory[0])
                                      : vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, point.place);
        if (point.body > 0) {
            const mixed4 shape = a->bodyShape[inMemory[1]];
            shapes[s] = make_mixed3(shape.x, shape.y, shape.z);
        }
#endif
    }
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        if (TAKES_BODIES ? point.body > 0 : point.displacedBody > 0)
            ways[s] = wayInBody(a, numbersOfBody(part, point.body - 1), positions[s], shapes[s]);
        else if (point.body > 0)
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
    const mixed found = gradientOfJoint(joint, b, gradients);
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        setVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element, make_mixed3(0, 0, 0));
#pragma unroll
    EACH_POINT_OF_JOINT(joint, s) {
        const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
        addVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, point.element, gradients[s]);
        if (point.displacedBody > 0) {
            LOCAL_ARG const mixed* numbers = numbersOfBody(part, point.displacedBody - 1);
            addVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, point.element + 1,
                        startGradientOfTurn(numbers, shapes[s], gradients[s]));
            setFloatsAt(part.f + AT_POINT_ARM, joint.firstPoint + s, inFloats(alongAxes(axesIn(numbers), shapes[s])));
        }
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
    part.r[AT_SCALE + k] = (number) (solve->what == POSITIONS ? 1 : solve->timeScale) *
                           (joint.kind == RowKind_Distance ? 1 / (number) part.m[AT_LENGTH + k] : (number) inverseScale);
    part.m[AT_RATE + k] = rate - ofTarget;
    if (solve->workStage >= 0)
        a->workRate[solve->workStage * a->numRows + row] = -ofTarget;
    if (!(fabs(found + squares) < INFINITE_ERROR))
        noteWorst(worst, row, found + squares, found);
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
        float3 arms[4];
#pragma unroll
        EACH_POINT_OF_JOINT(joint, s) {
            const JointPoint point = pointOfJoint(part, joint.firstPoint + s);
            gradients[s] = make_mixed3(0, 0, 0);
            arms[s] = make_float3(0, 0, 0);
            if (point.displacedBody > 0) {
                RigidMotion motion = motionIn(numbersOfBody(part, point.displacedBody - 1));
                const mixed3 shift = motion.t;
                motion.t = make_mixed3(0, 0, 0);
                const mixed3 turned = motionOf(
                    motion, vectorAt(part.m + AT_POINT_SHAPE, PART_JOINT_POINTS, joint.firstPoint + s));
                d[s] = shift + turned;
                arms[s] = floatsAt(part.f + AT_POINT_ARM, joint.firstPoint + s) + inFloats(turned);
            } else {
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
            const float3 gradient = inFloats(gradients[s]);
            addGradient(part, point.element, gradient);
            if (point.displacedBody > 0)
                addGradient(part, point.element + 1, gradientOfTurn(part, point.displacedBody - 1, arms[s], gradient));
        }
    } else
        sigma = value = rateOfElements(part, k);
    number spread = 0, ofPresent = 0; // the size of corrections times gradients: these grow where a body turns
    float along = 0, square = 0;      // as diagonalOfElements()
    for (int element = FIRST_ELEMENT(k); element < end; element++) {
        const int place = PLACE_OF(element);
        const float4 start = part.g[AT_START_GRADIENT + element];
        const number size = part.n[AT_IMPULSE + place].w;
        spread += size * start.w;
        if (solve->what != POSITIONS)
            continue;
        const float4 now = part.g[AT_GRADIENT + element];
        const float weight = part.f[AT_WEIGHT + place];
        ofPresent += size * sqrt(dotOf(now, now));
        along += weight * dotOf(now, start);
        square += weight * dotOf(start, start);
    }
    if (solve->what == POSITIONS && joint.kind == RowKind_Distance && IS_OWN_LOCAL(k)) // as hasTurnedLocal()
        *isTurned = *isTurned || !(along > 1e-6f * square);
    number error = fabs(sigma) * part.r[AT_SCALE + k];
#if IS_NARROWER
    error += SUM_ROUNDING * part.r[AT_SCALE + k] * max(spread, ofPresent);
#endif
    part.f[AT_RIGHT_SIDE + k] = -sigma;
    if (IS_OWN_LOCAL(k))
        noteWorst(worst, part.i[AT_FIRST_ROW] + k, error, value);
}
#endif
