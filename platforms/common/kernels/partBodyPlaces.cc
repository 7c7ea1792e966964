// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Particles of the joined bodies of a part (partBodies.cc): places behind all others, which no row has. The part sums them
// up where a solve begins, and moves those of its own bodies in the end, as other kernels do for bodies that no part
// takes up (joinedStages.cc). Bodies of the ring alone have axes, but are not displaced.

#define NUM_RING_BODIES part.s[AT_COUNTS + 10]
#define NUM_BODY_PLACES part.s[AT_COUNTS + 11]

/** Ints of a body in the tables. */
enum {
    BodyTable_Number, // among joined ones; -1: there is none
    BodyTable_Reference,
    BodyTable_AxisAnchor,
    BodyTable_Kind, // 1: linear, 2: periodic
    numBodyTable
};
typedef char bodyTableHasItsRoom[numBodyTable == BODY_TABLE_INTS ? 1 : -1]; // PartLayout.h

DEVICE mixed3 shapeLocal(LocalPart part, int place) {
    return vectorAt(part.m + AT_SHAPE, 1, 4 * (place - FIRST_BODY_PLACE));
}

/** Take up the shape and the mass of a particle. */
DEVICE void takeShapeLocal(const Arguments* a, int c, int place SHARED_PARAMETER) {
    LOCAL_ARG mixed* to = localPart(shared).m + AT_SHAPE + 4 * (place - FIRST_BODY_PLACE);
    const mixed4 shape = a->bodyShape[tableOf(a, c)[AT_BODY_PARTICLE + place - FIRST_BODY_PLACE]];
    setVectorAt(to, 1, 0, make_mixed3(shape.x, shape.y, shape.z));
    to[3] = shape.w;
}

/** Take up what does not depend on the particles of bodies. */
DEVICE void takeBodiesLocal(const Arguments* a, int c, const Solve* solve SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    EACH_PART_BODY(n, PART_BODIES) {
        GLOBAL const int* table = tableOf(a, c) + AT_BODY_TABLE + numBodyTable * n;
        const int number = table[BodyTable_Number];
        if (number < 0)
            continue;
        LOCAL_ARG mixed* numbers = numbersOfBody(part, n);
        setConstants(numbers, constantsOf(a, FIRST_JOINED + number));
        setVectorAt(numbers, 1, AtBody_At, positionOf(a, table[BodyTable_Reference]));
        numbers[AtBody_IsPeriodic] = (table[BodyTable_Kind] & 2) != 0;
    }
}

/** A body with its frame and its motion. */
DEVICE Body bodyLocal(LocalPart part, int n) {
    LOCAL_ARG const mixed* numbers = numbersOfBody(part, n);
    LOCAL_ARG const int* table = part.i + AT_BODY_TABLE + numBodyTable * n;
    Body body;
    body.number = FIRST_JOINED + table[BodyTable_Number];
    body.reference = table[BodyTable_Reference];
    body.axisAnchor = table[BodyTable_AxisAnchor];
    body.isLinear = (table[BodyTable_Kind] & 1) != 0;
    body.isPeriodic = (table[BodyTable_Kind] & 2) != 0;
    body.first = body.last = body.part = body.firstPart = 0;
    body.radius = 0;
    body.at = vectorAt(numbers, 1, AtBody_At);
    body.constants = constantsIn(numbers);
    body.origin = vectorAt(numbers, 1, AtBody_Origin);
    body.axes = axesIn(numbers);
    body.motion = motionIn(numbers);
    body.isViolated = true;
    return body;
}

/** Find frames and nodes of bodies from their particles, as join_<solve>(): a barrier has to follow before these are read. */
DEVICE void joinBodiesLocal(const Arguments* a, const Solve* solve SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    LOCAL_ARG const mixed* fields = part.m + (solve->what == POSITIONS ? AT_DISPLACEMENT : AT_VELOCITY);
    EACH_PART_BODY(n, NUM_BODIES + NUM_RING_BODIES) {
        LOCAL_ARG mixed* numbers = numbersOfBody(part, n);
        Body body = bodyLocal(part, n);
        BodySums sums = noSums();
        for (int k = part.s[AT_BODY_START + n]; k < part.s[AT_BODY_START + n + 1]; k++) {
            const int place = FIRST_BODY_PLACE + k;
            mixed3 r = vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, place) - body.at;
            if (body.isPeriodic)
                r = nearestImage(r, stepStateOf(a, 0));
            addPlace(part.m[AT_SHAPE + 4 * k + 3], shapeLocal(part, place), r, vectorAt(fields, PART_ALL_PLACES, place),
                     &sums);
        }
        prepareFrame(a, &body, &sums);
        setVectorAt(numbers, 1, AtBody_Origin, body.origin);
        setAxesIn(numbers, body.axes);
        if (n >= NUM_BODIES)
            continue;
        const int origin = part.s[AT_BODY_PLACE + n];
        const mixed3 none = make_mixed3(0, 0, 0), ofOrigin = body.constants.inverseMass * sums.field.total,
                     ofTurn = turnOfMoments(&body, sums.field);
        if (solve->what != POSITIONS) {
            setVectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, origin, ofOrigin);
            setVectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, origin + 1, ofTurn);
            continue;
        }
        setVectorAt(numbers, 1, AtBody_Displacements, ofOrigin);
        setVectorAt(numbers, 1, AtBody_Displacements + 3, ofTurn);
        displaceBodyLocal(part, n, none, none); // what fails is handed over, and reported there
    }
}

/** Find the motion of bodies from velocities and impulses of their nodes, after findImpulsesLocal() and a barrier. */
DEVICE void endVelocitiesOfBodies(const Solve* solve SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    EACH_PART_BODY(n, NUM_BODIES) {
        if (solve->what == POSITIONS) // displaceBodiesLocal()
            continue;
        LOCAL_ARG mixed* numbers = numbersOfBody(part, n);
        const int origin = part.s[AT_BODY_PLACE + n];
        LOCAL_ARG const mixed* velocities = part.m + AT_VELOCITY;
        const mixed3 turn =
            vectorAt(velocities, PART_ALL_PLACES, origin + 1) + impulseLocal(origin + 1 SHARED_ARGUMENT);
        RigidMotion motion = turning(axesIn(numbers), angularVelocityOf(constantsIn(numbers), turn));
        motion.t = vectorAt(velocities, PART_ALL_PLACES, origin) + impulseLocal(origin SHARED_ARGUMENT);
        setMotionIn(numbers, motion);
    }
}
