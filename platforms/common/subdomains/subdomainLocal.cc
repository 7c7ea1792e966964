// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: threadGroups.cc
// A subdomain of a cluster in the shared memory of its block: tables with indices of 16 bits, which the block reads once
// (SubdomainLayout.h), and numbers. Rows are those that the subdomain solves, then its ring. Places are its particles, then
// those that it does not displace. An element is the gradient of a row at one of its particles. A distance has one, with the
// number of the row, since the other is opposite; rows of other kinds have one for each particle, behind all rows.

#define SUBDOMAIN_ELEMENTS (SUBDOMAIN_ROWS + SUBDOMAIN_SLOTS)
#define MARK 0x8000 // of a row's first place: nothing is eliminated before the row; of its second place: the row is no
                    // distance; of a place's element: the place is its distance's second one
#define IS_FIXED (1 << 30) // of a particle: the subdomain does not displace it
#define IS_MOVED (1 << 29) // the subdomain moves it in the end
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
} LocalSubdomain;

DEVICE LocalSubdomain localSubdomain(SharedMemory shared) {
    LocalSubdomain sub;
    sub.n = (LOCAL_ARG number4*) shared.numbers;
    sub.m = (LOCAL_ARG mixed*) (sub.n + SUBDOMAIN_NUMBERS4);
    sub.g = (LOCAL_ARG float4*) (sub.m + SUBDOMAIN_MIXEDS);
    sub.r = (LOCAL_ARG number*) (sub.g + SUBDOMAIN_FLOATS4);
    sub.f = (LOCAL_ARG float*) (sub.r + SUBDOMAIN_NUMBERS);
    sub.i = (LOCAL_ARG int*) (sub.f + SUBDOMAIN_FLOATS);
    sub.s = (LOCAL_ARG unsigned short*) (sub.i + SUBDOMAIN_INTS);
    return sub;
}

#define NUM_ROWS sub.s[AT_COUNTS]
#define NUM_SOLVED sub.s[AT_COUNTS + 1]
#define NUM_PLACES sub.s[AT_COUNTS + 2]
#define NUM_ENTRIES sub.s[AT_COUNTS + 3]
#define NUM_LEVELS sub.s[AT_COUNTS + 4]
#define NUM_ANGLES sub.s[AT_COUNTS + 5]
#define NUM_GLOBAL_ROWS sub.s[AT_COUNTS + 6]
#define NUM_EXPRESSIONS sub.s[AT_COUNTS + 7]
#define NUM_JOINTS sub.s[AT_COUNTS + 8]
#define NUM_BODIES sub.s[AT_COUNTS + 9]
#define NUM_SLOTS sub.s[AT_COUNTS + 11] // elements of rows that are no distances
#define IS_OWN_LOCAL(k) (sub.i[AT_OWNER + (k)] == sub.i[AT_FIRST_ROW] + (k))
#if SUBDOMAIN_SLOTS
#define IS_DISTANCE(k) (sub.i[AT_ROW_PLACES + (k)] >= 0)
#else
#define IS_DISTANCE(k) true
#endif
/** The elements of a row that is no distance, and the place of each. */
#define FIRST_ELEMENT(k) INDEX(LOW(sub.i[AT_ROW_PLACES + (k)]))
#define END_OF_ELEMENTS(k) (FIRST_ELEMENT(k) + INDEX(HIGH(sub.i[AT_ROW_PLACES + (k)])))
#define PLACE_OF(element) sub.s[AT_ELEMENT_PLACE - SUBDOMAIN_ROWS + (element)]

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
#define EACH_LOCAL_ROW(k) EACH_LOCAL(k, NUM_ROWS, SUBDOMAIN_ROWS)
#define EACH_SOLVED_ROW(k) EACH_LOCAL(k, NUM_SOLVED, SUBDOMAIN_SOLVED)
#define EACH_PLACE(place) EACH_LOCAL(place, NUM_PLACES, SUBDOMAIN_ALL_PLACES)

/** Bodies, and rows that are no distances, have warps of their own, from the block's end, which has fewest distances. */
#define THREADS_FOR(rows) (32 * (((rows) + 31) / 32))
#define ONE_KIND(Name, name, numParticles, range) +1
#define THREADS_FOR_ANGLES ((0 ANGULAR_COORDINATES(ONE_KIND)) * THREADS_FOR(SUBDOMAIN_ANGLES)) // those of each kind apart
#define THREADS_BEFORE_EXPRESSIONS THREADS_FOR(SUBDOMAIN_BODIES)
#define THREADS_BEFORE_ANGLES (THREADS_BEFORE_EXPRESSIONS + THREADS_FOR(SUBDOMAIN_EXPRESSIONS))
#define THREADS_BEFORE_GLOBAL_ROWS (THREADS_BEFORE_ANGLES + THREADS_FOR_ANGLES)
#define THREADS_BEFORE_JOINTS (THREADS_BEFORE_GLOBAL_ROWS + THREADS_FOR(SUBDOMAIN_GLOBAL_ROWS))
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

/** The tables of a subdomain in global memory. */
DEVICE GLOBAL const int* tableOf(const Arguments* a, int c) {
    return a->subdomainTables + FIRST_TABLE + (c - a->firstOfRange) * SUBDOMAIN_TABLE_INTS;
}

/** Those of elimination, and of what displaces particles, come last: the first correction needs them, the start of
 *  distances does not. */
#define EARLY_INTS (SUBDOMAIN_SLOTS > 0 || SUBDOMAIN_BODIES > 0 ? SUBDOMAIN_TABLE_INTS : SUBDOMAIN_INTS + (AT_RECORD + 1) / 2)
#define EARLY_TABLES TURNS_OF((EARLY_INTS + 3) / 4)

/** Of the tables so many vectors are read at once. All of a bundle's, or any beside a body's, would not fit into registers. */
#define READ_AHEAD (SUBDOMAIN_BODIES > 0 ? 1 : TURNS_OF(SUBDOMAIN_TABLE_INTS / 4) <= 8 ? TURNS_OF(SUBDOMAIN_TABLE_INTS / 4) : 2)

/** Whether a thread reads its particles before it waits for anything, and has registers for them. */
#define READS_PARTICLES_AHEAD (TURNS_OF(SUBDOMAIN_ALL_PLACES) <= 2)
#define PARTICLES_AHEAD (READS_PARTICLES_AHEAD ? TURNS_OF(SUBDOMAIN_ALL_PLACES) : 1)

/** What has been read so far is asked for before anything waits for it: the compiler moves no read behind this. */
#ifdef __CUDA_ARCH__
#define READS_COME_FIRST __syncwarp();
#else
#define READS_COME_FIRST
#endif

/** What a thread reads of its rows, and of the tables of its subdomain. */
typedef struct {
    int firstRow, numRows, numSolved;
    int4 tables[READ_AHEAD];
    int isPeriodic[TURNS_OF(SUBDOMAIN_ROWS)];
    mixed rate[TURNS_OF(SUBDOMAIN_ROWS)], target[TURNS_OF(SUBDOMAIN_ROWS)], total[TURNS_OF(SUBDOMAIN_ROWS)];
} Reading;

/** Read what the next reads go by. */
DEVICE void readCounts(const Arguments* a, int c, Reading* reading) {
    GLOBAL const int* table = tableOf(a, c);
    const int counts = table[SUBDOMAIN_INTS + AT_COUNTS / 2];
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
        if (isEarly == (turn < EARLY_TABLES) && THREAD_IN_GROUP + turn * BLOCK_SIZE < SUBDOMAIN_TABLE_INTS / 4)
            reading->tables[turn] = from[THREAD_IN_GROUP + turn * BLOCK_SIZE];
}

/** Read what rows have that does not depend on positions. */
DEVICE void readRows(const Arguments* a, Reading* reading) {
#pragma unroll
    EACH_LOCAL(k, reading->numRows, SUBDOMAIN_ROWS) {
        const int row = reading->firstRow + k;
        reading->isPeriodic[turn] = a->rowPeriodic[row];
        reading->rate[turn] = a->rowRate[row];
        reading->target[turn] = a->rowTarget[row];
        reading->total[turn] = !WAITS && a->round > 0 ? a->total[row] : 0;
    }
}

/** Keep what has been read. */
DEVICE void keepTables(const Arguments* a, int c, bool isEarly, const Reading* reading SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    LOCAL_ARG int4* to = (LOCAL_ARG int4*) sub.i;
#pragma unroll
    for (int turn = 0; turn < READ_AHEAD; turn++)
        if (isEarly == (turn < EARLY_TABLES) && THREAD_IN_GROUP + turn * BLOCK_SIZE < SUBDOMAIN_TABLE_INTS / 4)
            to[THREAD_IN_GROUP + turn * BLOCK_SIZE] = reading->tables[turn];
    GLOBAL const int4* from = (GLOBAL const int4*) tableOf(a, c);
#pragma unroll 4
    for (int k = THREAD_IN_GROUP + READ_AHEAD * BLOCK_SIZE; isEarly && k < SUBDOMAIN_TABLE_INTS / 4; k += BLOCK_SIZE)
        to[k] = from[k];
    if (isEarly && THREAD_IN_GROUP == 0) {
        // Records that are not full refer to these.
        sub.f[AT_PIVOT + SUBDOMAIN_SOLVED] = sub.f[AT_RIGHT_SIDE + SUBDOMAIN_SOLVED] = 0;
        sub.f[AT_LOWER + SUBDOMAIN_ENTRIES] = sub.f[AT_UPPER + SUBDOMAIN_ENTRIES] = 0;
        sub.f[AT_WEIGHT + SUBDOMAIN_ALL_PLACES] = 0;
        sub.r[AT_SMALL_TOTAL + SUBDOMAIN_ELEMENTS] = 0;
        sub.g[AT_START_GRADIENT + SUBDOMAIN_ELEMENTS] = sizedVector(make_mixed3(0, 0, 0), 0);
        setVectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, SUBDOMAIN_ELEMENTS, make_mixed3(0, 0, 0));
    }
}

/** Keep what a solve starts with. */
DEVICE void keepRows(const Arguments* a, mixed time, const Reading* reading SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
#pragma unroll
    EACH_LOCAL(k, reading->numRows, SUBDOMAIN_ROWS) {
        sub.m[AT_INVERSE_LENGTH + k] = reading->isPeriodic[turn]; // until startRowsLocal()
        sub.m[AT_TOTAL + k] = reading->total[turn];
#if !WAITS
        a->total[reading->firstRow + k] = reading->total[turn];
#endif
        if (k < reading->numSolved) {
            sub.m[AT_RATE + k] = reading->rate[turn];
            sub.m[AT_LENGTH + k] = reading->target[turn] + reading->rate[turn] * time; // as targetAt()
        }
    }
}

/** Take up the particle of a place as it is before the solve. */
DEVICE void takeParticleLocal(int place, mixed3 position, const Particle* p SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    sub.m[AT_INVERSE_MASS + place] = p->w;
    sub.f[AT_WEIGHT + place] = p->w;
    sub.r[AT_NUMBER_WEIGHT + place] = p->w;
    setVectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, place, position);
    setVectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, place, p->d);
    setVectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, place, p->v);
    number4 nothing;
    nothing.x = nothing.y = nothing.z = nothing.w = 0;
    sub.n[AT_IMPULSE + place] = nothing;
}

/** Set what a particle had before the solve. */
DEVICE void giveParticleLocal(int place, Particle* p SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    p->d = vectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, place);
    p->v = vectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, place);
    p->c = make_mixed3(0, 0, 0);
    p->w = sub.m[AT_INVERSE_MASS + place];
}

/** Note the error of a row that the subdomain solves. Of its halo's it only has to know whether they are large. */
DEVICE void noteError(Worst* worst, LocalSubdomain sub, int k, number error, number value) {
    if (!(error <= worst->largest))
        worst->largest = error;
    if (IS_OWN_LOCAL(k))
        noteWorst(worst, sub.i[AT_FIRST_ROW] + k, error, value);
}

/** By so much a residual rounds, relative to the sizes of the corrections at both ends: docs/theory/solving.md. */
#define SUM_ROUNDING ((SUBDOMAIN_ROWS_OF_PLACE + 13) * 5.97e-8f)

/** Set an element's gradient at the start. @return the square of its length */
DEVICE float startElement(LocalSubdomain sub, int element, mixed3 gradient) {
    float4 rounded = sizedVector(gradient, 0);
    const float square = dotOf(rounded, rounded);
    rounded.w = sqrt(square);
    setVectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, element, gradient);
    sub.m[AT_INVERSE_LENGTH + element] = 1;
    sub.g[AT_START_GRADIENT + element] = rounded;
    return square;
}

/** The rate of a row that is no distance, whose elements' gradients are those at the start.
 *  @param isCorrected  whether there are corrections  @param[out] spread  as spreadOfElements() */
DEVICE mixed rateOfElements(LocalSubdomain sub, int k, bool isCorrected, number* spread) {
    const int end = isCorrected ? END_OF_ELEMENTS(k) : 0;
    mixed rate = sub.m[AT_RATE + k]; // without corrections
    *spread = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++) {
        const number4 impulse = sub.n[AT_IMPULSE + PLACE_OF(element)];
        rate += dot(vectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, element),
                    make_mixed3(impulse.x, impulse.y, impulse.z));
        *spread += impulse.w * sub.g[AT_START_GRADIENT + element].w;
    }
    return rate;
}

/** The sizes of all corrections of a row that is no distance, times those of its gradients. */
DEVICE number spreadOfElements(LocalSubdomain sub, int k) {
    const int end = END_OF_ELEMENTS(k);
    number spread = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        spread += sub.n[AT_IMPULSE + PLACE_OF(element)].w * sub.g[AT_START_GRADIENT + element].w;
    return spread;
}

/** Give the total multiplier of a row that is no distance to its elements. */
DEVICE void shareTotal(LocalSubdomain sub, int k, mixed total) {
    const int end = END_OF_ELEMENTS(k);
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        sub.r[AT_SMALL_TOTAL + element] = total;
}

/** sum_i (1/m_i) g_i . grad_i sigma(0) of a row that is no distance. */
DEVICE float diagonalOfElements(LocalSubdomain sub, int k, int gradients) {
    const int end = END_OF_ELEMENTS(k);
    float sum = 0;
#pragma unroll 4
    for (int element = FIRST_ELEMENT(k); element < end; element++)
        sum += sub.f[AT_WEIGHT + PLACE_OF(element)] *
               dotOf(sub.g[gradients + element], sub.g[AT_START_GRADIENT + element]);
    return sum;
}

/** Lambda grad sigma(0) of an element, in the place of its gradient; the same operations as in applyGeneral(). */
DEVICE void setImpulseLocal(LocalSubdomain sub, int element, mixed total) {
    const mixed3 gradient =
        sub.m[AT_INVERSE_LENGTH + element] * vectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, element);
    setVectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, element, total * gradient);
}
