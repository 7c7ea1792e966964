// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A part of a cluster of distances in the shared memory of its block: tables with indices of 16 bits, which the block
// reads once (PartTables.h), and numbers. Rows are those that the part solves, then its ring; places are its particles,
// then those that it does not displace. It computes what parts.cc does for any kind of row, in another form: with b the
// bond that a step without constraints leads to, and e the change of b by all corrections together,
//
//     |b + e|^2 - L^2 = (|b|^2 - L^2) + (2 b + e).e
//
// What is in parentheses first is computed once in `mixed`, the rest in `number`, which is float where the tolerance is
// coarse. The error that is reported includes a bound of the rounding: docs/theory/solving.md.

#define MARK 0x8000 // of a row's places: nothing is eliminated before the row; of a place's row: the place is its second
                    // one; of a coupling: its place is one row's first and another row's second
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
#define IS_OWN_LOCAL(k) (part.i[AT_OWNER + (k)] == part.i[AT_FIRST_ROW] + (k))

/** `most` is known when this is compiled: no loop is left if a block has as many threads. */
#define TURNS_OF(most) (((most) + BLOCK_SIZE - 1) / BLOCK_SIZE)
#define EACH_LOCAL(k, count, most)                                                                                     \
    for (int k = THREAD_IN_GROUP, turn = 0; turn < TURNS_OF(most); turn++, k += BLOCK_SIZE)                            \
        if (k < (count))
#define EACH_LOCAL_ROW(k) EACH_LOCAL(k, NUM_ROWS, PART_ROWS)
#define EACH_SOLVED_ROW(k) EACH_LOCAL(k, NUM_SOLVED, PART_SOLVED)
#define EACH_PLACE(place) EACH_LOCAL(place, NUM_PLACES, PART_ALL_PLACES)

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

/** The tables of a part in global memory. */
DEVICE GLOBAL const int* tableOf(const Arguments* a, int c) {
    return a->partTables + FIRST_TABLE + (c - a->firstOfRange) * PART_TABLE_INTS;
}

/** Of the tables so many vectors are read at once. All of a bundle's would not fit into registers. */
#define READ_AHEAD (TURNS_OF(PART_TABLE_INTS / 4) <= 8 ? TURNS_OF(PART_TABLE_INTS / 4) : 2)

/** What a thread reads of its rows, and of the tables of its part. */
typedef struct {
    int4 tables[READ_AHEAD];
    int isPeriodic[TURNS_OF(PART_ROWS)];
    mixed rate[TURNS_OF(PART_ROWS)], target[TURNS_OF(PART_ROWS)], total[TURNS_OF(PART_ROWS)];
} Reading;

/** Read what does not depend on positions. All reads come before the first number is needed. */
DEVICE void readTables(const Arguments* a, int c, mixed time, Reading* reading) {
    GLOBAL const int4* from = (GLOBAL const int4*) tableOf(a, c);
#pragma unroll
    for (int turn = 0; turn < READ_AHEAD; turn++)
        if (THREAD_IN_GROUP + turn * BLOCK_SIZE < PART_TABLE_INTS / 4)
            reading->tables[turn] = from[THREAD_IN_GROUP + turn * BLOCK_SIZE];
    const int firstRow = a->rowStart[c], numRows = a->rowStart[c + 1] - firstRow;
#pragma unroll
    EACH_LOCAL(k, numRows, PART_ROWS) {
        reading->isPeriodic[turn] = a->rowPeriodic[firstRow + k];
        reading->rate[turn] = a->rowRate[firstRow + k];
        reading->target[turn] = targetAt(a, firstRow + k, time);
        reading->total[turn] = !WAITS && a->round > 0 ? a->total[firstRow + k] : 0;
    }
}

DEVICE void keepTables(const Arguments* a, int c, const Reading* reading SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    LOCAL_ARG int4* to = (LOCAL_ARG int4*) part.i;
#pragma unroll
    for (int turn = 0; turn < READ_AHEAD; turn++)
        if (THREAD_IN_GROUP + turn * BLOCK_SIZE < PART_TABLE_INTS / 4)
            to[THREAD_IN_GROUP + turn * BLOCK_SIZE] = reading->tables[turn];
    GLOBAL const int4* from = (GLOBAL const int4*) tableOf(a, c);
#pragma unroll 4
    for (int k = THREAD_IN_GROUP + READ_AHEAD * BLOCK_SIZE; k < PART_TABLE_INTS / 4; k += BLOCK_SIZE)
        to[k] = from[k];
    const int firstRow = a->rowStart[c], numRows = a->rowStart[c + 1] - firstRow, numSolved = a->solvedEnd[c] - firstRow;
#pragma unroll
    EACH_LOCAL(k, numRows, PART_ROWS) {
        part.m[AT_INVERSE_LENGTH + k] = reading->isPeriodic[turn]; // until startRowsLocal()
        part.m[AT_TOTAL + k] = reading->total[turn];
#if !WAITS
        a->total[firstRow + k] = reading->total[turn];
#endif
        if (k < numSolved) {
            part.m[AT_RATE + k] = reading->rate[turn];
            part.m[AT_LENGTH + k] = reading->target[turn];
        }
    }
    if (THREAD_IN_GROUP == 0) {
        // Records that are not full refer to these.
        part.f[AT_PIVOT + PART_SOLVED] = part.f[AT_RIGHT_SIDE + PART_SOLVED] = 0;
        part.f[AT_LOWER + PART_ENTRIES] = part.f[AT_UPPER + PART_ENTRIES] = 0;
        part.f[AT_WEIGHT + PART_ALL_PLACES] = 0;
        part.r[AT_SMALL_TOTAL + PART_ROWS] = 0;
        part.g[AT_START_GRADIENT + PART_ROWS].x = part.g[AT_START_GRADIENT + PART_ROWS].y =
            part.g[AT_START_GRADIENT + PART_ROWS].z = 0;
        setVectorAt(part.m + AT_START_BOND, PART_ROWS + 1, PART_ROWS, make_mixed3(0, 0, 0));
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

/** The particle of a place before the solve. */
DEVICE Particle particleLocal(int place SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    Particle p;
    p.d = vectorAt(part.m + AT_DISPLACEMENT, PART_ALL_PLACES, place);
    p.v = vectorAt(part.m + AT_VELOCITY, PART_ALL_PLACES, place);
    p.c = make_mixed3(0, 0, 0);
    p.w = part.m[AT_INVERSE_MASS + place];
    return p;
}

typedef Worst StartLocal;

/** By so much a residual rounds, relative to the sizes of the corrections at both ends: docs/theory/solving.md. */
#define SUM_ROUNDING ((PART_ROWS_OF_PLACE + 13) * 5.97e-8f)

/** -sigma of a row that the part solves, with the gradient. */
DEVICE void evaluateRowLocal(const PartSolve* solve, int k, Worst* worst, bool* hasTurned SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int places = part.i[AT_ROW_PLACES + k];
    const number4 first = part.n[AT_IMPULSE + INDEX(LOW(places))], second = part.n[AT_IMPULSE + HIGH(places)];
    const number4 b = part.n[AT_BOND + k];
    const number target = part.r[AT_TARGET + k], scale = part.r[AT_SCALE + k];
    number4 e;
    e.x = first.x - second.x;
    e.y = first.y - second.y;
    e.z = first.z - second.z;
    number error, value, sigma;
    bool isTurned = false;
    const float4 start = part.g[AT_START_GRADIENT + k];
    if (solve->what == POSITIONS) {
        const number excess = b.w + (2 * b.x + e.x) * e.x + (2 * b.y + e.y) * e.y + (2 * b.z + e.z) * e.z;
        const number square = target * target + excess, inverseValue = 1 / sqrt(square);
        value = square * inverseValue;
        sigma = excess / (value + target);
        error = fabs(sigma) * scale;
        const float inverse = inverseValue;
        float4 g;
        g.x = inverse * (float) (b.x + e.x);
        g.y = inverse * (float) (b.y + e.y);
        g.z = inverse * (float) (b.z + e.z);
        g.w = 0;
        part.g[AT_GRADIENT + k] = g;
        isTurned = !(dotOf(g, start) > 1e-6f);
    } else {
        sigma = value = b.w + b.x * e.x + b.y * e.y + b.z * e.z;
        error = fabs(sigma) * scale;
    }
#if IS_NARROWER
    error += SUM_ROUNDING * scale * (first.w + second.w);
#endif
    part.f[AT_RIGHT_SIDE + k] = -sigma;
    if (!IS_OWN_LOCAL(k))
        return;
    noteWorst(worst, part.i[AT_FIRST_ROW] + k, error, value);
    *hasTurned = *hasTurned || isTurned;
}

/** 1/sqrt(x) by Newton's method from single precision: a square root and a division take longer. */
DEVICE mixed inverseRoot(mixed x) {
    const float seed = 1 / sqrt((float) x);
    mixed root = seed;
#pragma unroll
    for (int k = 0; k < 2; k++)
        root *= (mixed) 1.5f - (mixed) 0.5f * x * root * root;
    return root;
}

/** Take the present positions as the start of all rows, and evaluate them without corrections. */
DEVICE Worst startRowsLocal(const Arguments* a, const PartSolve* solve SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const StepState stepState = stepStateOf(a, a->time);
    Worst worst = newWorst();
    EACH_LOCAL_ROW(k) {
        const int places = part.i[AT_ROW_PLACES + k], first = INDEX(LOW(places)), second = HIGH(places);
        mixed3 s = vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, first) -
                   vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, second);
        if (part.m[AT_INVERSE_LENGTH + k] != 0)
            s = minimumImage(s, stepState);
        const mixed inverse = inverseRoot(dot(s, s));
        setVectorAt(part.m + AT_START_BOND, PART_ROWS + 1, k, s);
        part.m[AT_INVERSE_LENGTH + k] = inverse;
        float4 g;
        g.x = inverse * s.x;
        g.y = inverse * s.y;
        g.z = inverse * s.z;
        g.w = 0;
        part.g[AT_START_GRADIENT + k] = g;
#if !WAITS // for the launch that moves particles
        store3(a->startGradient, part.i[AT_FIRST_ROW] + k + STORE_SHIFT, inverse * s);
#endif
        if (k >= NUM_SOLVED)
            continue;
        const mixed rate = part.m[AT_RATE + k], target = part.m[AT_LENGTH + k];
        if (solve->workStage >= 0)
            a->workRate[solve->workStage * a->numRows + part.i[AT_FIRST_ROW] + k] = -rate;
        LOCAL_ARG const mixed* values = part.m + (solve->what == POSITIONS ? AT_DISPLACEMENT : AT_VELOCITY);
        const mixed3 free = vectorAt(values, PART_ALL_PLACES, first) - vectorAt(values, PART_ALL_PLACES, second);
        const mixed3 b = solve->what == POSITIONS ? s + free : inverse * s;
        number4 bond;
        bond.x = b.x;
        bond.y = b.y;
        bond.z = b.z;
        bond.w = solve->what == POSITIONS ? dot(b, b) - target * target : dot(b, free) - rate;
        part.n[AT_BOND + k] = bond;
        part.r[AT_TARGET + k] = target;
        part.r[AT_SCALE + k] = (number) (solve->what == POSITIONS ? 1 : solve->timeScale) / (number) target;
        bool ignored = false;
        evaluateRowLocal(solve, k, &worst, &ignored SHARED_ARGUMENT);
        if (!(inverse > 0 && inverse < INFINITE_ERROR))
            noteWorst(&worst, part.i[AT_FIRST_ROW] + k, 1 / inverse, 1 / inverse);
    }
    return worst;
}

/** Add total multiplier times gradient of a row of a place to its impulse. */
DEVICE void addImpulse(LocalPart part, int entry, number4* sum) {
    const int k = INDEX(entry);
    const number total = part.r[AT_SMALL_TOTAL + k], signedTotal = (entry & MARK) ? -total : total;
#if COARSE
    const float4 g = part.g[AT_START_GRADIENT + k];
#else
    const mixed3 g = (k < PART_ROWS ? part.m[AT_INVERSE_LENGTH + k] : 0) *
                     vectorAt(part.m + AT_START_BOND, PART_ROWS + 1, k);
#endif
    sum->x += signedTotal * g.x;
    sum->y += signedTotal * g.y;
    sum->z += signedTotal * g.z;
    sum->w += fabs(total);
}

/** Displace places by the total multipliers of rows. */
DEVICE void displaceLocal(SharedMemory shared) {
    const LocalPart part = localPart(shared);
    EACH_PLACE(place) {
        const int2 firstFour = ((LOCAL_ARG const int2*) (part.s + AT_PLACE_ROWS))[place];
        const int begin = part.s[AT_PLACE_START + place], end = part.s[AT_PLACE_START + place + 1];
        const number w = part.r[AT_NUMBER_WEIGHT + place];
        number4 sum;
        sum.x = sum.y = sum.z = sum.w = 0;
        addImpulse(part, LOW(firstFour.x), &sum);
        addImpulse(part, HIGH(firstFour.x), &sum);
        addImpulse(part, LOW(firstFour.y), &sum);
        addImpulse(part, HIGH(firstFour.y), &sum);
        for (int m = begin; m < end; m++)
            addImpulse(part, part.s[AT_OTHER_ROWS + m], &sum);
        sum.x *= w;
        sum.y *= w;
        sum.z *= w;
        sum.w *= w;
        part.n[AT_IMPULSE + place] = sum;
    }
    THREAD_GROUP_SYNC
}

/** Lambda_k grad sigma_k(0) of all rows, in the place of their bonds. A barrier has to follow. */
DEVICE void findImpulsesLocal(SharedMemory shared) {
    const LocalPart part = localPart(shared);
    EACH_LOCAL_ROW(k) {
        const mixed3 gradient =
            part.m[AT_INVERSE_LENGTH + k] * vectorAt(part.m + AT_START_BOND, PART_ROWS + 1, k);
        setVectorAt(part.m + AT_START_BOND, PART_ROWS + 1, k, part.m[AT_TOTAL + k] * gradient); // as applyGeneral()
    }
}

/** 1/m_i sum_k Lambda_k grad_i sigma_k(0) of a place, after findImpulsesLocal(). */
DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int begin = part.s[AT_PLACE_START + place], end = part.s[AT_PLACE_START + place + 1];
    mixed3 sum = make_mixed3(0, 0, 0);
    for (int m = begin - 4; m < end; m++) {
        const int entry = part.s[m < begin ? AT_PLACE_ROWS + 4 * place + m - begin + 4 : AT_OTHER_ROWS + m];
        const mixed3 impulse = vectorAt(part.m + AT_START_BOND, PART_ROWS + 1, INDEX(entry));
        sum = (entry & MARK) ? sum - impulse : sum + impulse;
    }
    return part.m[AT_INVERSE_MASS + place] * sum;
}

#if !WAITS
/** Leave impulses for the launch that moves particles. */
DEVICE void keepImpulsesLocal(const Arguments* a, int c SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    findImpulsesLocal(shared);
    THREAD_GROUP_SYNC
    EACH_PLACE(place)
        store3(a->impulse, FIRST_PLACE + a->particleStart[c] + place, impulseLocal(place SHARED_ARGUMENT));
}
#endif
