// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: threadGroups.cc
// A part of a cluster in the shared memory of its block: tables with indices of 16 bits, which the block reads once
// (SubdomainLayout.h), and numbers. Rows are those that the part solves, then its ring. Places are its particles, then those
// that it does not displace. An element is the gradient of a row at one of its particles. A distance has one, with the
// number of the row, since the other is opposite; rows of other kinds have one for each particle, behind all rows.

#define PART_ELEMENTS (PART_ROWS + PART_SLOTS)
#define MARK 0x8000 // of a row's first place: nothing is eliminated before the row; of its second place: the row is no
                    // distance; of a place's element: the place is its distance's second one
#define IS_FIXED (1 << 30) // of a particle: the part does not displace it
#define IS_MOVED (1 << 29) // the part moves it in the end
#define PARTICLE_OF(number) ((number) & 0x1fffffff)
#define INDEX(number) ((number) & 0x7fff)
#define LOW(pair) ((pair) & 0xffff)
#define HIGH(pair) ((int) ((unsigned int) (pair) >> 16))

typedef struct {
    LOCAL_ARG mixed* m;
    LOCAL_ARG number4* n;
    LOCAL_ARG float4* g;
    LOCAL_ARG number* r;
    LOCAL_ARG float* f;
    LOCAL_ARG int* i;
    LOCAL_ARG unsigned short* s;
} LocalPart;

DEVICE LocalPart localPart(SharedMemory shared) {
    LocalPart part;
    part.n = (LOCAL_ARG number4*) shared.numbers;
    part.m = (LOCAL_ARG mixed*) (part.n + PART_NUMBERS4);
    part.g = (LOCAL_ARG float4*) (part.m + PART_MIXEDS);
    part.r = (LOCAL_ARG number*) (part.g + PART_FLOATS4);
    part.f = (LOCAL_ARG float*) (part.r + PART_NUMBERS);
    part.i = (LOCAL_ARG int*) (part.f + PART_FLOATS);
    part.s = (LOCAL_ARG unsigned short*) (part.i + PART_INTS);
    return part;
}

#define NUM_ROWS part.s[AT_COUNTS]
#define NUM_SOLVED part.s[AT_COUNTS + 1]
#define NUM_PLACES part.s[AT_COUNTS + 2]
#define NUM_ENTRIES part.s[AT_COUNTS + 3]
#define NUM_LEVELS part.s[AT_COUNTS + 4]
#define NUM_ANGLES part.s[AT_COUNTS + 5]
#define NUM_GLOBAL_ROWS part.s[AT_COUNTS + 6]
#define NUM_EXPRESSIONS part.s[AT_COUNTS + 7]
#define NUM_JOINTS part.s[AT_COUNTS + 8]
#define NUM_BODIES part.s[AT_COUNTS + 9]
#define NUM_SLOTS part.s[AT_COUNTS + 11] // elements of rows that are no distances
#define IS_OWN_LOCAL(k) (part.i[AT_OWNER + (k)] == part.i[AT_FIRST_ROW] + (k))
#if PART_SLOTS
#define IS_DISTANCE(k) (part.i[AT_ROW_PLACES + (k)] >= 0)
#else
#define IS_DISTANCE(k) true
#endif
/** The elements of a row that is no distance, and the place of each. */
#define FIRST_ELEMENT(k) INDEX(LOW(part.i[AT_ROW_PLACES + (k)]))
#define END_OF_ELEMENTS(k) (FIRST_ELEMENT(k) + INDEX(HIGH(part.i[AT_ROW_PLACES + (k)])))
#define PLACE_OF(element) part.s[AT_ELEMENT_PLACE - PART_ROWS + (element)]

/** `most` is known when this is compiled: no loop is left if a block has as many threads. */
#define TURNS_OF(most) (((most) + BLOCK_SIZE - 1) / BLOCK_SIZE)
#define EACH_LOCAL(k, count, most)                                                                                     \
    for (int k = THREAD_IN_GROUP, turn = 0; turn < TURNS_OF(most); turn++, k += BLOCK_SIZE)                            \
        if (k < (count))
/** Up to the block's end, which has fewest of what the same loop shares out by EACH_LOCAL. */
#define EACH_LOCAL_TO_END(k, count, most)                                                                              \
    for (int k = THREAD_IN_GROUP + (most) - TURNS_OF(most) * BLOCK_SIZE, turn = 0; turn < TURNS_OF(most);              \
         turn++, k += BLOCK_SIZE)                                                                                      \
        if (k >= 0 && k < (count))
#define EACH_LOCAL_ROW(k) EACH_LOCAL(k, NUM_ROWS, PART_ROWS)
#define EACH_SOLVED_ROW(k) EACH_LOCAL(k, NUM_SOLVED, PART_SOLVED)
#define EACH_PLACE(place) EACH_LOCAL(place, NUM_PLACES, PART_ALL_PLACES)

/** Bodies, and rows that are no distances, have warps of their own, from the block's end, which has fewest distances. */
#define THREADS_FOR(rows) (32 * (((rows) + 31) / 32))
#define ONE_KIND(Name, name, numParticles, range) +1
#define THREADS_FOR_ANGLES ((0 ANGULAR_COORDINATES(ONE_KIND)) * THREADS_FOR(PART_ANGLES)) // those of each kind apart
#define THREADS_BEFORE_EXPRESSIONS THREADS_FOR(PART_BODIES)
#define THREADS_BEFORE_ANGLES (THREADS_BEFORE_EXPRESSIONS + THREADS_FOR(PART_EXPRESSIONS))
#define THREADS_BEFORE_GLOBAL_ROWS (THREADS_BEFORE_ANGLES + THREADS_FOR_ANGLES)
#define THREADS_BEFORE_JOINTS (THREADS_BEFORE_GLOBAL_ROWS + THREADS_FOR(PART_GLOBAL_ROWS))
#define THREADS_FOR_DISTANCES                                                                                          \
    (THREADS_BEFORE_JOINTS < BLOCK_SIZE / 2 ? BLOCK_SIZE - THREADS_BEFORE_JOINTS : (BLOCK_SIZE + 1) / 2)
#define EACH_DISTANCE(k, count, most)                                                                                  \
    for (int k = THREAD_IN_GROUP, turn = 0; turn < ((most) + THREADS_FOR_DISTANCES - 1) / THREADS_FOR_DISTANCES;       \
         turn++, k += THREADS_FOR_DISTANCES)                                                                           \
        if (THREAD_IN_GROUP < THREADS_FOR_DISTANCES && k < (count) && IS_DISTANCE(k))
#define EACH_FROM_END(n, others, count)                                                                                \
    for (int n = (2 * BLOCK_SIZE - 1 - (others) % BLOCK_SIZE - THREAD_IN_GROUP) % BLOCK_SIZE; n < (count);             \
         n += BLOCK_SIZE)

DEVICE mixed3 vectorAt(LOCAL_ARG const mixed* x, int stride, int k) {
    return make_mixed3(x[k], x[k + stride], x[k + 2 * stride]);
}

DEVICE void setVectorAt(LOCAL_ARG mixed* x, int stride, int k, mixed3 value) {
    x[k] = value.x;
    x[k + stride] = value.y;
    x[k + 2 * stride] = value.z;
}

DEVICE float dotOf(float4 x, float4 y) {
    return x.x * y.x + x.y * y.y + x.z * y.z;
}

DEVICE float4 floatsOf(number3 v) {
    float4 result;
    result.x = v.x;
    result.y = v.y;
    result.z = v.z;
    result.w = 0;
    return result;
}

DEVICE float4 sizedVector(mixed3 v, float size) {
    float4 result;
    result.x = v.x;
    result.y = v.y;
    result.z = v.z;
    result.w = size;
    return result;
}

/** The tables of a part in global memory. */
DEVICE GLOBAL const int* tableOf(const Arguments* a, int c) {
    return a->partTables + FIRST_TABLE + (c - a->firstOfRange) * PART_TABLE_INTS;
}

/** Those of elimination, and of what displaces particles, come last: the first correction needs them, the start of
 *  distances does not. */
#define EARLY_INTS (PART_SLOTS > 0 || PART_BODIES > 0 ? PART_TABLE_INTS : PART_INTS + (AT_RECORD + 1) / 2)
#define EARLY_TABLES TURNS_OF((EARLY_INTS + 3) / 4)

/** Of the tables so many vectors are read at once. All of a bundle's, or any beside a body's, would not fit into registers. */
#define READ_AHEAD (PART_BODIES > 0 ? 1 : TURNS_OF(PART_TABLE_INTS / 4) <= 8 ? TURNS_OF(PART_TABLE_INTS / 4) : 2)

/** Whether a thread reads its particles before it waits for anything, and has registers for them. */
#define READS_PARTICLES_AHEAD (TURNS_OF(PART_ALL_PLACES) <= 2)
#define PARTICLES_AHEAD (READS_PARTICLES_AHEAD ? TURNS_OF(PART_ALL_PLACES) : 1)

/** What has been read so far is asked for before anything waits for it: the compiler moves no read behind this. */
#ifdef __CUDA_ARCH__
#define READS_COME_FIRST __syncwarp();
#else
#define READS_COME_FIRST
#endif

/** What a thread reads of its rows, and of the tables of its part. */
typedef struct {
    int firstRow, numRows, numSolved;
    int4 tables[READ_AHEAD];
    int isPeriodic[TURNS_OF(PART_ROWS)];
    mixed rate[TURNS_OF(PART_ROWS)], target[TURNS_OF(PART_ROWS)], total[TURNS_OF(PART_ROWS)];
} Reading;

/** Read what the next reads go by. */
DEVICE void readCounts(const Arguments* a, int c, Reading* reading) {
    GLOBAL const int* table = tableOf(a, c);
    const int counts = table[PART_INTS + AT_COUNTS / 2];
    reading->firstRow = table[AT_FIRST_ROW];
    reading->numRows = LOW(counts);
    reading->numSolved = HIGH(counts);
}

/** Read tables. All reads come before the first number is needed.
 *  @param isEarly  those before EARLY_INTS, or the others */
DEVICE void readTables(const Arguments* a, int c, bool isEarly, Reading* reading) {
    GLOBAL const int4* from = (GLOBAL const int4*) tableOf(a, c);
#pragma unroll
    for (int turn = 0; turn < READ_AHEAD; turn++)
        if (isEarly == (turn < EARLY_TABLES) && THREAD_IN_GROUP + turn * BLOCK_SIZE < PART_TABLE_INTS / 4)
            reading->tables[turn] = from[THREAD_IN_GROUP + turn * BLOCK_SIZE];
}

/** Read what rows have that does not depend on positions. */
DEVICE void readRows(const Arguments* a, Reading* reading) {
#pragma unroll
    EACH_LOCAL(k, reading->numRows, PART_ROWS) {
        const int row = reading->firstRow + k;
        reading->isPeriodic[turn] = a->rowPeriodic[row];
        reading->rate[turn] = a->rowRate[row];
        reading->target[turn] = a->rowTarget[row];
        reading->total[turn] = !WAITS && a->round > 0 ? a->total[row] : 0;
    }
}

/** Keep what has been read. */
DEVICE void keepTables(const Arguments* a, int c, bool isEarly, const Reading* reading SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    LOCAL_ARG int4* to = (LOCAL_ARG int4*) part.i;
#pragma unroll
    for (int turn = 0; turn < READ_AHEAD; turn++)
        if (isEarly == (turn < EARLY_TABLES) && THREAD_IN_GROUP + turn * BLOCK_SIZE < PART_TABLE_INTS / 4)
            to[THREAD_IN_GROUP + turn * BLOCK_SIZE] = reading->tables[turn];
    GLOBAL const int4* from = (GLOBAL const int4*) tableOf(a, c);
#pragma unroll 4
    for (int k = THREAD_IN_GROUP + READ_AHEAD * BLOCK_SIZE; isEarly && k < PART_TABLE_INTS / 4; k += BLOCK_SIZE)
        to[k] = from[k];
    if (isEarly && THREAD_IN_GROUP == 0) {
        // Records that are not full refer to these.
        part.f[AT_PIVOT + PART_SOLVED] = part.f[AT_RIGHT_SIDE + PART_SOLVED] = 0;
        part.f[AT_LOWER + PART_ENTRIES] = part.f[AT_UPPER + PART_ENTRIES] = 0;
        part.f[AT_WEIGHT + PART_ALL_PLACES] = 0;
        part.r[AT_SMALL_TOTAL + PART_ELEMENTS] = 0;
        part.g[AT_START_GRADIENT + PART_ELEMENTS] = sizedVector(make_mixed3(0, 0, 0), 0);
        setVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, PART_ELEMENTS, make_mixed3(0, 0, 0));
    }
}

/** Keep what a solve starts with. */
DEVICE void keepRows(const Arguments* a, mixed time, const Reading* reading SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
#pragma unroll
    EACH_LOCAL(k, reading->numRows, PART_ROWS) {
        part.m[AT_INVERSE_LENGTH + k] = reading->isPeriodic[turn]; // until startRowsLocal()
        part.m[AT_TOTAL + k] = reading->total[turn];
#if !WAITS
        a->total[reading->firstRow + k] = reading->total[turn];
#endif
        if (k < reading->numSolved) {
            part.m[AT_RATE + k] = reading->rate[turn];
            part.m[AT_LENGTH + k] = reading->target[turn] + reading->rate[turn] * time; // as targetAt()
        }
    }
}

/** Take up the particle of a place as it is before the solve. */
DEVICE void takeParticleLocal(int place, mixed3 position, const Particle* p SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    part.m[AT_INVERSE_MASS + place] = p->w;
    part.f[AT_WEIGHT + place] = p->w;
    part.r[AT_NUMBER_WEIGHT + place] = p->w;
    setVectorAt(part.m + AT_POSITION, PART_ALL_PLACES, place, position);
    setVectorAt(part.m + AT_DISPLACEMENT, PART_ALL_PLACES, place, p->d);
    setVectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, place, p->v);
    number4 nothing;
    nothing.x = nothing.y = nothing.z = nothing.w = 0;
    part.n[AT_IMPULSE + place] = nothing;
}

/** Set what a particle had before the solve. */
DEVICE void giveParticleLocal(int place, Particle* p SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    p->d = vectorAt(part.m + AT_DISPLACEMENT, PART_ALL_PLACES, place);
    p->v = vectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, place);
    p->c = make_mixed3(0, 0, 0);
    p->w = part.m[AT_INVERSE_MASS + place];
}

/** Note the error of a row that the part solves. Of its halo's it only has to know whether they are large. */
DEVICE void noteError(Worst* worst, LocalPart part, int k, number error, number value) {
    if (!(error <= worst->largest))
        worst->largest = error;
    if (IS_OWN_LOCAL(k))
        noteWorst(worst, part.i[AT_FIRST_ROW] + k, error, value);
}

/** By so much a residual rounds, relative to the sizes of the corrections at both ends: docs/theory/solving.md. */
#define SUM_ROUNDING ((PART_ROWS_OF_PLACE + 13) * 5.97e-8f)

/** Set an element's gradient at the start. @return the square of its length */
DEVICE float startElement(LocalPart part, int element, mixed3 gradient) {
    float4 rounded = sizedVector(gradient, 0);
    const float square = dotOf(rounded, rounded);
    rounded.w = sqrt(square);
    setVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element, gradient);
    part.m[AT_INVERSE_LENGTH + element] = 1;
    part.g[AT_START_GRADIENT + element] = rounded;
    return square;
}

/** The rate of a row that is no distance, whose elements' gradients are those at the start.
 *  @param isCorrected  whether there are corrections  @param[out] spread  as spreadOfElements() */
DEVICE mixed rateOfElements(LocalPart part, int k, bool isCorrected, number* spread) {
    const int end = isCorrected ? END_OF_ELEMENTS(k) : 0;
    mixed rate = part.m[AT_RATE + k]; // without corrections
    *spread = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++) {
        const number4 impulse = part.n[AT_IMPULSE + PLACE_OF(element)];
        rate += dot(vectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element),
                    make_mixed3(impulse.x, impulse.y, impulse.z));
        *spread += impulse.w * part.g[AT_START_GRADIENT + element].w;
    }
    return rate;
}

/** The sizes of all corrections of a row that is no distance, times those of its gradients. */
DEVICE number spreadOfElements(LocalPart part, int k) {
    const int end = END_OF_ELEMENTS(k);
    number spread = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        spread += part.n[AT_IMPULSE + PLACE_OF(element)].w * part.g[AT_START_GRADIENT + element].w;
    return spread;
}

/** Give the total multiplier of a row that is no distance to its elements. */
DEVICE void shareTotal(LocalPart part, int k, mixed total) {
    const int end = END_OF_ELEMENTS(k);
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        part.r[AT_SMALL_TOTAL + element] = total;
}

/** sum_i (1/m_i) g_i . grad_i sigma(0) of a row that is no distance. */
DEVICE float diagonalOfElements(LocalPart part, int k, int gradients) {
    const int end = END_OF_ELEMENTS(k);
    float sum = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        sum += part.f[AT_WEIGHT + PLACE_OF(element)] *
               dotOf(part.g[gradients + element], part.g[AT_START_GRADIENT + element]);
    return sum;
}

/** Lambda grad sigma(0) of an element, in the place of its gradient; the same operations as in applyGeneral(). */
DEVICE void setImpulseLocal(LocalPart part, int element, mixed total) {
    const mixed3 gradient =
        part.m[AT_INVERSE_LENGTH + element] * vectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element);
    setVectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, element, total * gradient);
}
