// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: bodyConstants.cc
// Sums over the particles of rigid bodies. A thread group has a body: a single thread, or a block. Several groups have the parts
// of a very large body (BODY_IS_SPLIT): a launch ends where their sums are needed. Sums run in a fixed order.
//
// The host defines BODY_BLOCK_SIZE (1: single threads), BODY_IS_SPLIT, BODY_PART_SIZE and HAS_ACCELERATIONS.

/** What is summed over the particles of a body: moments of positions relative to the reference particle, and of what
 *  the solve changes; for accelerations, of velocities, too. */
typedef struct {
    mixed3 place, first, second;
    Moments field;
#if HAS_ACCELERATIONS
    Moments rate;
    mixed3 third; // of positions
#endif
    mixed violations; // particles that violate the tolerance
} BodySums;

#define NUM_BODY_SUMS (HAS_ACCELERATIONS ? 37 : 22)
/** Numbers of a part of a body: its sums, and the position of the reference particle. */
#define BODY_PART_NUMBERS (NUM_BODY_SUMS + 3)

typedef struct {
    int number;      // of the body
    int first, last; // places of particles that this thread group has
    int axisAnchor, reference;
    int part, firstPart;  // of a split body
    bool isLinear, isPeriodic;
    mixed radius;
    mixed3 at;       // position of the reference particle
    BodyConstants constants;
    mixed3 origin;   // relative to it
    BodyAxes axes;
    RigidMotion motion;
#if HAS_ACCELERATIONS
    RigidMotion rate; // the rigid part of its velocities
#endif
    bool isViolated;  // any of its particles violates the tolerance
} Body;

#define EACH_BODY_PLACE(place) for (int place = body.first + BODY_LANE; place < body.last; place += BODY_BLOCK_SIZE)

#if BODY_BLOCK_SIZE > 1
#define BODY_LANE ((int) LOCAL_ID)
#define BODY_GROUP ((int) GROUP_ID)
#define BODY_GROUPS ((int) NUM_GROUPS)
#ifdef __OPENCL_VERSION__
#define BODY_BOUNDS __attribute__((reqd_work_group_size(BODY_BLOCK_SIZE, 1, 1)))
#else
#define BODY_BOUNDS __launch_bounds__(BODY_BLOCK_SIZE)
#endif
#define DECLARE_BODY_MEMORY LOCAL mixed numbers[NUM_BODY_SUMS * BODY_BLOCK_SIZE];
#else
#define BODY_LANE 0
#define BODY_GROUP ((int) GLOBAL_ID)
#define BODY_GROUPS ((int) GLOBAL_SIZE)
#define BODY_BOUNDS
#define DECLARE_BODY_MEMORY LOCAL_ARG mixed* numbers = 0;
#endif

DEVICE Moments noMoments() {
    Moments moments;
    moments.total = moments.first = moments.second = moments.third = make_mixed3(0, 0, 0);
    return moments;
}

DEVICE BodySums noSums() {
    BodySums sums;
    sums.place = sums.first = sums.second = make_mixed3(0, 0, 0);
    sums.field = noMoments();
#if HAS_ACCELERATIONS
    sums.rate = noMoments();
    sums.third = make_mixed3(0, 0, 0);
#endif
    sums.violations = 0;
    return sums;
}

/** Write or read sums as numbers with a stride, in local (Local) and in global memory (Global). */
#define ACCESS_SUMS(PLACE, SPACE)                                                                                      \
    DEVICE void put3##PLACE(SPACE mixed* numbers, int stride, int k, mixed3 v) {                                       \
        numbers[k * stride] = v.x;                                                                                     \
        numbers[(k + 1) * stride] = v.y;                                                                               \
        numbers[(k + 2) * stride] = v.z;                                                                               \
    }                                                                                                                  \
    DEVICE mixed3 get3##PLACE(SPACE const mixed* numbers, int stride, int k) {                                         \
        return make_mixed3(numbers[k * stride], numbers[(k + 1) * stride], numbers[(k + 2) * stride]);                 \
    }                                                                                                                  \
    DEVICE void putMoments##PLACE(SPACE mixed* numbers, int stride, int k, Moments moments) {                          \
        put3##PLACE(numbers, stride, k, moments.total);                                                                \
        put3##PLACE(numbers, stride, k + 3, moments.first);                                                            \
        put3##PLACE(numbers, stride, k + 6, moments.second);                                                           \
        put3##PLACE(numbers, stride, k + 9, moments.third);                                                            \
    }                                                                                                                  \
    DEVICE Moments getMoments##PLACE(SPACE const mixed* numbers, int stride, int k) {                                  \
        Moments moments;                                                                                               \
        moments.total = get3##PLACE(numbers, stride, k);                                                               \
        moments.first = get3##PLACE(numbers, stride, k + 3);                                                           \
        moments.second = get3##PLACE(numbers, stride, k + 6);                                                          \
        moments.third = get3##PLACE(numbers, stride, k + 9);                                                           \
        return moments;                                                                                                \
    }                                                                                                                  \
    DEVICE void putSums##PLACE(SPACE mixed* numbers, int stride, BodySums sums) {                                      \
        put3##PLACE(numbers, stride, 0, sums.place);                                                                   \
        put3##PLACE(numbers, stride, 3, sums.first);                                                                   \
        put3##PLACE(numbers, stride, 6, sums.second);                                                                  \
        putMoments##PLACE(numbers, stride, 9, sums.field);                                                             \
        PUT_RATE(PLACE, numbers, stride, sums)                                                                         \
        numbers[(NUM_BODY_SUMS - 1) * stride] = sums.violations;                                                       \
    }                                                                                                                  \
    DEVICE BodySums getSums##PLACE(SPACE const mixed* numbers, int stride) {                                           \
        BodySums sums;                                                                                                 \
        sums.place = get3##PLACE(numbers, stride, 0);                                                                  \
        sums.first = get3##PLACE(numbers, stride, 3);                                                                  \
        sums.second = get3##PLACE(numbers, stride, 6);                                                                 \
        sums.field = getMoments##PLACE(numbers, stride, 9);                                                            \
        GET_RATE(PLACE, numbers, stride, sums)                                                                         \
        sums.violations = numbers[(NUM_BODY_SUMS - 1) * stride];                                                       \
        return sums;                                                                                                   \
    }
#if HAS_ACCELERATIONS
#define PUT_RATE(PLACE, numbers, stride, sums)                                                                         \
    putMoments##PLACE(numbers, stride, 21, sums.rate);                                                                 \
    put3##PLACE(numbers, stride, 33, sums.third);
#define GET_RATE(PLACE, numbers, stride, sums)                                                                         \
    sums.rate = getMoments##PLACE(numbers, stride, 21);                                                                \
    sums.third = get3##PLACE(numbers, stride, 33);
#else
#define PUT_RATE(PLACE, numbers, stride, sums)
#define GET_RATE(PLACE, numbers, stride, sums)
#endif

#if BODY_BLOCK_SIZE > 1
ACCESS_SUMS(Local, LOCAL_ARG)

/** The sums of all threads of a block, from those of each; all threads return them. */
DEVICE BodySums sumOfBlock(BodySums mine, LOCAL_ARG mixed* numbers) {
    const int thread = LOCAL_ID, parts = BODY_BLOCK_SIZE / 32;
    putSumsLocal(numbers + thread, BODY_BLOCK_SIZE, mine);
    SYNC_THREADS
    // A thread adds up every parts-th value of a number, in the place of the first; then all threads add up these.
    for (int n = thread; n < NUM_BODY_SUMS * parts; n += BODY_BLOCK_SIZE) {
        LOCAL_ARG mixed* number = numbers + n / parts * BODY_BLOCK_SIZE;
        mixed sum = 0;
        for (int i = n % parts; i < BODY_BLOCK_SIZE; i += parts)
            sum += number[i];
        number[n % parts] = sum;
    }
    SYNC_THREADS
    BodySums sums = getSumsLocal(numbers, BODY_BLOCK_SIZE);
    for (int i = 1; i < parts; i++) {
        const BodySums next = getSumsLocal(numbers + i, BODY_BLOCK_SIZE);
        sums.place = sums.place + next.place;
        sums.first = sums.first + next.first;
        sums.second = sums.second + next.second;
        sums.field.total = sums.field.total + next.field.total;
        sums.field.first = sums.field.first + next.field.first;
        sums.field.second = sums.field.second + next.field.second;
        sums.field.third = sums.field.third + next.field.third;
#if HAS_ACCELERATIONS
        sums.rate.total = sums.rate.total + next.rate.total;
        sums.rate.first = sums.rate.first + next.rate.first;
        sums.rate.second = sums.rate.second + next.rate.second;
        sums.rate.third = sums.rate.third + next.rate.third;
        sums.third = sums.third + next.third;
#endif
        sums.violations += next.violations;
    }
    SYNC_THREADS // before the next body's
    return sums;
}
#else
DEVICE BodySums sumOfBlock(BodySums mine, LOCAL_ARG mixed* numbers) {
    return mine;
}
#endif

/** A body and its particles, or a part of them: `n` counts bodies, or parts of split ones. Without the position of its
 *  reference particle, which another group may be moving if the body is split. */
DEVICE Body loadBody(const Arguments* a, int n) {
    Body body;
#if BODY_IS_SPLIT
    const int4 part = a->bodyParts[n];
    body.number = part.x;
    body.first = part.y;
    body.last = part.z;
    body.part = n;
    body.firstPart = part.w;
#else
    body.number = n;
    body.first = a->bodyStart[n];
    body.last = a->bodyStart[n + 1];
    body.part = body.firstPart = 0;
#endif
    const int4 kind = a->bodyKinds[body.number];
    body.reference = kind.x;
    body.axisAnchor = kind.y;
    body.isLinear = (kind.w & 1) != 0;
    body.isPeriodic = (kind.w & 2) != 0;
    body.constants = constantsOf(a, body.number);
    body.radius = load3(a->bodyNumbers, 4 * body.number + 3).y;
    return body;
}

#if BODY_IS_SPLIT
ACCESS_SUMS(Global, GLOBAL)

/** Where the sums of a part are. Two buffers: a launch reads one while it writes the other. */
DEVICE GLOBAL mixed* partOf(const Arguments* a, int phase, int part) {
    return a->bodySums + (phase % 2 * a->numBodyParts + part) * BODY_PART_NUMBERS;
}

/** Keep the sums of a part, and the position of the reference particle, which moves before the last launch has read it
 *  everywhere. */
DEVICE void keepPart(const Arguments* a, const Body* body, int phase, BodySums sums) {
    if (BODY_LANE == 0) {
        GLOBAL mixed* numbers = partOf(a, phase, body->part);
        putSumsGlobal(numbers, 1, sums);
        put3Global(numbers, 1, NUM_BODY_SUMS, body->at);
    }
}

/** The sums of all parts of a body, from an earlier launch. */
DEVICE BodySums sumOfParts(const Arguments* a, Body* body, int phase, LOCAL_ARG mixed* numbers) {
    const int numPlaces = a->bodyStart[body->number + 1] - a->bodyStart[body->number],
              numParts = (numPlaces + BODY_PART_SIZE - 1) / BODY_PART_SIZE;
    body->at = get3Global(partOf(a, phase, body->part), 1, NUM_BODY_SUMS);
#if BODY_BLOCK_SIZE > 1
    for (int k = LOCAL_ID; k < NUM_BODY_SUMS; k += BODY_BLOCK_SIZE) {
        mixed sum = 0;
        for (int part = 0; part < numParts; part++)
            sum += partOf(a, phase, body->firstPart + part)[k];
        numbers[k] = sum;
    }
    SYNC_THREADS
    const BodySums sums = getSumsLocal(numbers, 1);
    SYNC_THREADS
    return sums;
#else
    mixed own[NUM_BODY_SUMS];
    for (int k = 0; k < NUM_BODY_SUMS; k++) {
        own[k] = 0;
        for (int part = 0; part < numParts; part++)
            own[k] += partOf(a, phase, body->firstPart + part)[k];
    }
    BodySums sums;
    sums.place = make_mixed3(own[0], own[1], own[2]);
    sums.first = make_mixed3(own[3], own[4], own[5]);
    sums.second = make_mixed3(own[6], own[7], own[8]);
    sums.field.total = make_mixed3(own[9], own[10], own[11]);
    sums.field.first = make_mixed3(own[12], own[13], own[14]);
    sums.field.second = make_mixed3(own[15], own[16], own[17]);
    sums.field.third = make_mixed3(own[18], own[19], own[20]);
#if HAS_ACCELERATIONS
    sums.rate.total = make_mixed3(own[21], own[22], own[23]);
    sums.rate.first = make_mixed3(own[24], own[25], own[26]);
    sums.rate.second = make_mixed3(own[27], own[28], own[29]);
    sums.rate.third = make_mixed3(own[30], own[31], own[32]);
    sums.third = make_mixed3(own[33], own[34], own[35]);
#endif
    sums.violations = own[NUM_BODY_SUMS - 1];
    return sums;
#endif
}
#endif
