// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A part of a cluster of distances in the shared memory of its block (PartTables.h): bonds, displacements and tables with
// indices of 16 bits, which the block reads once; matrix and factor in single precision. It computes what parts.cc does
// for any kind of row. Rows are those that the part solves, then its ring; places are its particles, then those that it
// does not displace. Bit 15 marks a row's first place if nothing is eliminated before the row; a row of a place, if the
// place is its second one; a coupling's place, if it is the first one of one row and the second one of the other; and a
// target, if no later update of this diagonal element follows. A coupling with all bits is fill.

#define MARK 0x8000
#define INDEX(number) ((number) & 0x7fff)

// Notes of a block about a round, in two places that rounds use in turns: the largest error of own rows, a row that has
// it, and whether a gradient has turned or a pivot vanished; and of all parts, in the round before.
#define NOTE_ERROR 0
#define NOTE_ROW 2
#define NOTE_KIND 4
#define NOTE_LARGEST 6
#define NOTE_KINDS 7
#define NOT_FINITE_KEY 0x7f800000

DEVICE void startNotes(LOCAL_ARG int* notes) {
    for (int n = 0; n < 8; n++)
        notes[n] = 0;
    notes[NOTE_ROW] = notes[NOTE_ROW + 1] = NO_ROW;
}

/** An error as an integer, in the order of errors: its bits in single precision, rounded up. */
DEVICE int keyOf(Report report) {
    if (report.outcome != Outcome_Converged || !(report.error < INFINITE_ERROR))
        return NOT_FINITE_KEY;
    const float rounded = report.error;
    return FLOAT_BITS(rounded) + (rounded < report.error ? 1 : 0);
}

DEVICE mixed errorOfKey(int key) {
    return key >= NOT_FINITE_KEY ? INFINITE_ERROR : BITS_FLOAT(key);
}

/** Decide whether a solve ends after so many corrections (-1: it was measured only), as decide(). */
DEVICE void decideLocal(const Arguments* a, const PartSolve* solve, PartState* state, int iterations, mixed error, int kind,
                        float leastGain) {
    const bool isFinite = error < INFINITE_ERROR;
    state->iterations = max(iterations, 0);
    if (iterations < 0) {
        state->isHandedOver = !isFinite;
        state->isOver = state->isHandedOver || error <= a->tolerance;
        return;
    }
    const bool isSolved = isFinite && (error == 0 || (error <= solve->tolerance && iterations > 0));
    const bool isTooSlow = iterations >= min(MOST_CORRECTIONS, a->maxIterations) ||
                           (iterations > 0 && error > leastGain * state->lastLargest);
    state->lastLargest = error;
    state->isHandedOver = !isFinite || kind == VANISHED || (isSolved ? kind == TURNED : isTooSlow);
    state->isOver = isSolved || state->isHandedOver;
}

/** A part in shared memory. */
typedef struct {
    LOCAL_ARG mixed* m;
    LOCAL_ARG float* f;
    LOCAL_ARG int* i;
    LOCAL_ARG unsigned short* s;
} LocalPart;

DEVICE LocalPart localPart(SharedMemory shared) {
    LocalPart part;
    part.m = (LOCAL_ARG mixed*) shared.numbers;
    part.f = (LOCAL_ARG float*) (part.m + PART_MIXEDS);
    part.i = (LOCAL_ARG int*) (part.f + PART_FLOATS);
    part.s = (LOCAL_ARG unsigned short*) (part.i + PART_INTS);
    return part;
}

#define NUM_ROWS part.s[AT_COUNTS]
#define NUM_SOLVED part.s[AT_COUNTS + 1]
#define NUM_PLACES part.s[AT_COUNTS + 2]
#define NUM_OTHERS part.s[AT_COUNTS + 3]
#define NUM_ENTRIES part.s[AT_COUNTS + 4]
#define NUM_LEVELS part.s[AT_COUNTS + 5]
#define EACH_LOCAL(k, count) for (int k = THREAD_IN_GROUP; k < count; k += THREAD_GROUP_SIZE)

DEVICE mixed3 vectorAt(LOCAL_ARG const mixed* x, int stride, int k) {
    return make_mixed3(x[k], x[k + stride], x[k + 2 * stride]);
}

DEVICE void setVectorAt(LOCAL_ARG mixed* x, int stride, int k, mixed3 value) {
    x[k] = value.x;
    x[k + stride] = value.y;
    x[k + 2 * stride] = value.z;
}

DEVICE float dotAt(LOCAL_ARG const float* x, int k, LOCAL_ARG const float* y, int l) {
    return x[k] * y[l] + x[k + PART_SOLVED] * y[l + PART_SOLVED] + x[k + 2 * PART_SOLVED] * y[l + 2 * PART_SOLVED];
}

/** Read the tables of a part. */
DEVICE void readTables(const Arguments* a, int c SHARED_PARAMETER) {
    LOCAL_ARG int4* to = (LOCAL_ARG int4*) localPart(shared).i;
    GLOBAL const int4* from = (GLOBAL const int4*) (a->partTables + FIRST_TABLE) + (c - a->firstOfRange) * (PART_TABLE_INTS / 4);
    EACH_LOCAL(k, PART_TABLE_INTS / 4) to[k] = from[k];
    if (THREAD_IN_GROUP == 0)
        startNotes(shared.notes);
    THREAD_GROUP_SYNC
    const LocalPart part = localPart(shared);
    EACH_LOCAL(k, NUM_OTHERS) {
        const int place = NUM_PLACES + k;
        part.m[AT_INVERSE_MASS + place] = 0;
        setVectorAt(part.m + AT_FREE, PART_ALL_PLACES, place, make_mixed3(0, 0, 0));
        setVectorAt(part.m + AT_MOVED, PART_ALL_PLACES, place, make_mixed3(0, 0, 0));
    }
}

/** The displacement or velocity of a particle before the solve. */
DEVICE void takeParticleLocal(const Arguments* a, int c, int n, const Particle* p, int what SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int place = n - a->particleStart[c];
    const mixed3 value = choose(what == POSITIONS, p->d, p->v);
    part.m[AT_INVERSE_MASS + place] = p->w;
    setVectorAt(part.m + AT_FREE, PART_ALL_PLACES, place, value);
    setVectorAt(part.m + AT_MOVED, PART_ALL_PLACES, place, value);
}

/** Take the present positions as the start of all rows.
 *  @return the first own row of this thread that is not finite */
DEVICE Report startRowsLocal(const Arguments* a, int c, const PartSolve* solve SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const StepState stepState = stepStateOf(a, a->time);
    Report mine = newReport();
    EACH_LOCAL(k, NUM_ROWS) {
        const int row = part.i[AT_FIRST_ROW] + k;
        const int first = INDEX(part.s[AT_ROW_PLACES + 2 * k]), second = part.s[AT_ROW_PLACES + 2 * k + 1];
        mixed3 s = positionOf(a, part.i[AT_PARTICLE + first]) - positionOf(a, part.i[AT_PARTICLE + second]);
        if (a->rowPeriodic[row])
            s = minimumImage(s, stepState);
        const mixed length = sqrt(dot(s, s));
        setVectorAt(part.m + AT_START_BOND, PART_ROWS, k, s);
        const mixed inverse = 1 / length;
        part.m[AT_INVERSE_LENGTH + k] = inverse;
        part.m[AT_TOTAL + k] = 0;
#if !WAITS // for the launch that moves particles
        store3(a->startGradient, row + STORE_SHIFT, inverse * s);
        a->total[row] = 0;
#endif
        if (k >= NUM_SOLVED)
            continue;
        const mixed rate = a->rowRate[row];
        part.m[AT_LENGTH + k] = targetAt(a, row, solve->time);
        part.m[AT_OFFSET + k] = -rate;
        if (solve->workStage >= 0)
            a->workRate[solve->workStage * a->numRows + row] = -rate;
        part.f[AT_START_GRADIENT + k] = inverse * s.x;
        part.f[AT_START_GRADIENT + PART_SOLVED + k] = inverse * s.y;
        part.f[AT_START_GRADIENT + 2 * PART_SOLVED + k] = inverse * s.z;
        if (!(length < INFINITE_ERROR) && mine.outcome == Outcome_Converged && part.i[AT_OWNER + k] == row) {
            mine.outcome = Outcome_NotFinite;
            mine.row = row;
            mine.value = length;
        }
    }
    return mine;
}

/** The value of a row at present, a length or its rate, and its residual and error. */
DEVICE mixed rowLocal(int k, const PartSolve* solve, mixed* error, mixed* value, bool* isTurned SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int first = INDEX(part.s[AT_ROW_PLACES + 2 * k]), second = part.s[AT_ROW_PLACES + 2 * k + 1];
    const mixed3 moved = vectorAt(part.m + AT_MOVED, PART_ALL_PLACES, first) -
                         vectorAt(part.m + AT_MOVED, PART_ALL_PLACES, second);
    const mixed3 s = vectorAt(part.m + AT_START_BOND, PART_ROWS, k);
    const mixed inverseTarget = 1 / part.m[AT_LENGTH + k];
    if (solve->what != POSITIONS) {
        *value = part.m[AT_INVERSE_LENGTH + k] * dot(s, moved) + part.m[AT_OFFSET + k];
        *error = fabs(*value) * inverseTarget * solve->timeScale;
        return *value;
    }
    const mixed3 b = s + moved;
    *value = sqrt(dot(b, b));
    const mixed sigma = *value - part.m[AT_LENGTH + k];
    *error = fabs(sigma) * inverseTarget;
    const float inverse = 1 / (float) *value;
    part.f[AT_GRADIENT + k] = inverse * (float) b.x;
    part.f[AT_GRADIENT + PART_SOLVED + k] = inverse * (float) b.y;
    part.f[AT_GRADIENT + 2 * PART_SOLVED + k] = inverse * (float) b.z;
    *isTurned = !(dotAt(part.f + AT_GRADIENT, k, part.f + AT_START_GRADIENT, k) > 1e-6f);
    return sigma;
}

/** -sigma of all rows of a part. The largest error of its own rows is noted, and whether a gradient has turned.
 *  @return the largest error of this thread's own rows */
DEVICE Report evaluateLocal(const PartSolve* solve, int round, bool isTurnNoted SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int firstRow = part.i[AT_FIRST_ROW];
    Report mine = newReport();
    bool hasTurned = false;
    EACH_LOCAL(k, NUM_SOLVED) {
        mixed error, value;
        bool isTurned = false;
        part.f[AT_RIGHT_SIDE + k] = -rowLocal(k, solve, &error, &value, &isTurned SHARED_ARGUMENT);
        if (part.i[AT_OWNER + k] != firstRow + k)
            continue;
        note(&mine, firstRow + k, error, value);
        hasTurned = hasTurned || isTurned;
    }
    const int key = keyOf(mine);
    if (key > 0)
        GROUP_MAXIMUM(shared.notes + NOTE_ERROR + (round & 1), key);
    if (hasTurned && isTurnNoted)
        GROUP_MAXIMUM(shared.notes + NOTE_KIND + (round & 1), TURNED);
    return mine;
}

/** 1 over a pivot; a vanished pivot is recorded. */
DEVICE float invertLocal(float pivot, float original, int k, int* singular) {
    if (!(fabs(pivot) > 1e-6f * fabs(original)) && k < *singular)
        *singular = k;
    return 1 / pivot;
}

/** A = J(r) M^-1 J(0)^T in the factor's pattern. */
DEVICE void assembleLocal(LOCAL_ARG const float* gradients, bool isWanted, int* singular SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    LOCAL_ARG const float* atStart = part.f + AT_START_GRADIENT;
    EACH_LOCAL(k, NUM_SOLVED) if (isWanted) {
        const int first = part.s[AT_ROW_PLACES + 2 * k], second = part.s[AT_ROW_PLACES + 2 * k + 1];
        const float w = part.m[AT_INVERSE_MASS + INDEX(first)] + part.m[AT_INVERSE_MASS + second];
        const float diagonal = w * dotAt(gradients, k, atStart, k);
        part.f[AT_DIAGONAL + k] = diagonal;
        part.f[AT_PIVOT + k] = (first & MARK) ? invertLocal(diagonal, diagonal, k, singular) : diagonal;
    }
    EACH_LOCAL(e, NUM_ENTRIES) if (isWanted) {
        const int place = part.s[AT_COUPLING + 3 * e];
        float lower = 0, upper = 0;
        if (place != 0xffff) {
            const int row = part.s[AT_COUPLING + 3 * e + 1], column = part.s[AT_COUPLING + 3 * e + 2];
            const float inverseMass = part.m[AT_INVERSE_MASS + INDEX(place)];
            const float w = (place & MARK) ? -inverseMass : inverseMass;
            lower = w * dotAt(gradients, row, atStart, column);
            upper = w * dotAt(gradients, column, atStart, row);
        }
        part.f[AT_LOWER + e] = lower;
        part.f[AT_UPPER + e] = upper;
    }
}

/** Factorize if the matrix is new, and solve for the right-hand side: as factor.cc.
 *  @return whether no pivot vanished that this thread inverted */
DEVICE bool correctLocal(const PartSolve* solve, bool isWanted, PartState* state SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    LOCAL_ARG float *pivot = part.f + AT_PIVOT, *x = part.f + AT_RIGHT_SIDE, *lower = part.f + AT_LOWER,
                    *upper = part.f + AT_UPPER;
    const bool factorizes = solve->what == POSITIONS || !state->hasFactor;
    const int levels = isWanted ? NUM_LEVELS : 0;
    int singular = NO_ROW;
    assembleLocal(part.f + (solve->what == POSITIONS ? AT_GRADIENT : AT_START_GRADIENT), isWanted && factorizes,
                  &singular SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
    for (int level = 0; level < levels - 1; level++) {
        const int begin = part.s[AT_LEVEL_TARGETS + level], diagonals = part.s[AT_LEVEL_DIAGONALS + level];
        const int end = factorizes ? part.s[AT_LEVEL_TARGETS + level + 1] : diagonals;
        for (int n = begin + THREAD_IN_GROUP; n < end; n += THREAD_GROUP_SIZE) {
            const int target = part.s[AT_TARGET + n], last = part.s[AT_UPDATE_START + n + 1], k = INDEX(target);
            float first = 0, second = 0;
            for (int m = part.s[AT_UPDATE_START + n]; m < last; m++) {
                const int ofRow = part.s[AT_UPDATE + 3 * m], ofColumn = part.s[AT_UPDATE + 3 * m + 1],
                          source = part.s[AT_UPDATE + 3 * m + 2];
                const float scaled = lower[ofRow] * pivot[source];
                first += scaled * upper[ofColumn];
                second += n < diagonals ? scaled * x[source] : lower[ofColumn] * pivot[source] * upper[ofRow];
            }
            if (n >= diagonals) {
                lower[target] -= first;
                upper[target] -= second;
            } else {
                x[k] -= second;
                if (factorizes) {
                    const float reduced = pivot[k] - first;
                    pivot[k] = (target & MARK) ? invertLocal(reduced, part.f[AT_DIAGONAL + k], k, &singular) : reduced;
                }
            }
        }
        THREAD_GROUP_SYNC
    }
    for (int level = levels - 1; level > 0; level--) {
        const int end = part.s[AT_LEVEL_ENTRIES + level + 1];
        for (int n = part.s[AT_LEVEL_ENTRIES + level] + THREAD_IN_GROUP; n < end; n += THREAD_GROUP_SIZE) {
            const int entry = part.s[AT_ENTRY + 3 * n], column = part.s[AT_ENTRY + 3 * n + 1],
                      row = part.s[AT_ENTRY + 3 * n + 2];
            x[column] -= upper[entry] * pivot[row] * x[row];
        }
        THREAD_GROUP_SYNC
    }
    state->hasFactor = state->hasFactor || isWanted;
    return singular == NO_ROW;
}

DEVICE mixed totalLocal(const Arguments* a, int c, int row SHARED_PARAMETER) {
    return localPart(shared).m[AT_TOTAL + row - a->rowStart[c]];
}

/** 1/m_i sum_k Lambda_k grad_i sigma_k(0) of a place, with the rounding of applyGeneral(). */
DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    mixed3 sum = make_mixed3(0, 0, 0);
    for (int m = part.s[AT_PLACE_START + place]; m < part.s[AT_PLACE_START + place + 1]; m++) {
        const int entry = part.s[AT_PLACE_ROWS + m], k = INDEX(entry);
        const mixed total = part.m[AT_TOTAL + k];
        sum = sum + ((entry & MARK) ? -total : total) *
                        (part.m[AT_INVERSE_LENGTH + k] * vectorAt(part.m + AT_START_BOND, PART_ROWS, k));
    }
    return part.m[AT_INVERSE_MASS + place] * sum;
}

DEVICE mixed3 impulseOfLocal(const Arguments* a, int c, int n SHARED_PARAMETER) {
    return impulseLocal(n - a->particleStart[c] SHARED_ARGUMENT);
}

/** As applyGeneral(). @param keeps  in global memory, for the launch that moves particles */
DEVICE void applyLocal(const Arguments* a, int c, const PartSolve* solve, bool isOfWhole, int iterations,
                       bool isWanted, bool keeps SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    GLOBAL const mixed* exchanged = a->exchange + ((iterations + 1) & 1) * a->numRows;
    EACH_LOCAL(k, NUM_ROWS) if (isWanted) {
        const int row = part.i[AT_FIRST_ROW] + k;
        const int from = isOfWhole ? a->rowWhole[row] : part.i[AT_OWNER + k];
        const mixed total = iterations > 0 ? exchanged[from] : 0;
        part.m[AT_TOTAL + k] = total;
        if (keeps)
            a->total[row] = total;
    }
    THREAD_GROUP_SYNC
    EACH_LOCAL(place, NUM_PLACES) if (isWanted) {
        const mixed3 impulse = impulseLocal(place SHARED_ARGUMENT);
        const mixed3 free = vectorAt(part.m + AT_FREE, PART_ALL_PLACES, place);
        setVectorAt(part.m + AT_MOVED, PART_ALL_PLACES, place, free + impulse);
        if (keeps)
            store3(a->impulse, FIRST_PLACE + a->particleStart[c] + place, impulse);
    }
    THREAD_GROUP_SYNC
}

/** One round: decide by what all parts found in the round before; if the solve is not over, find the residuals with the
 *  corrections that all parts made there, and the next correction. As take_<solve>_General() of partRounds.cc, but what
 *  parts tell each other is the largest error alone, in single precision, rounded up; and what fails is handed over.
 *  @param start  what the start of the rows found, of each thread */
DEVICE void takeLocal(const Arguments* a, int c, int round, Report start, PartSolve* solve,
                      PartState* state SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int iterations = round - (solve->isMeasured ? 1 : 0); // corrections that there are
    const int4 parts = a->partsOfCluster[c];
    for (int once = 0; once < (round > 0); once++) {
        const int before = 1 - (round & 1);
        for (int other = parts.x + THREAD_IN_GROUP; other < parts.y; other += THREAD_GROUP_SIZE) {
            const int4 found = a->partRows[before * a->numGeneralClusters + other];
            GROUP_MAXIMUM(shared.notes + NOTE_LARGEST, found.w);
            GROUP_MAXIMUM(shared.notes + NOTE_KINDS, found.z);
        }
        THREAD_GROUP_SYNC
        decideLocal(a, solve, state, iterations - 1, errorOfKey(shared.notes[NOTE_LARGEST]), shared.notes[NOTE_KINDS],
                    parts.z == c ? 0.1f : 0.5f); // parts gain less because of each other
        THREAD_GROUP_SYNC
        if (THREAD_IN_GROUP == 0)
            shared.notes[NOTE_LARGEST] = shared.notes[NOTE_KINDS] = 0;
    }
    for (int once = 0; once < (state->isOver && !state->isHandedOver); once++) {
        Report worst = newReport(), second = newReport();
        readFound(a, c, 1 - (round & 1), true, &worst, &second SHARED_ARGUMENT);
        worst.iterations = state->iterations;
        writePartReport(a, c, solve, worst);
    }
    const bool keeps = state->isOver && !WAITS; // impulses are left for the launch that moves particles
    for (int once = 0; once < ((!state->isOver && iterations > 0) || keeps); once++)
        applyLocal(a, c, solve, false, state->isOver ? state->iterations : iterations, true, keeps SHARED_ARGUMENT);
    for (int once = 0; once < !state->isOver; once++) {
        Report mine = evaluateLocal(solve, round, solve->what == POSITIONS && iterations > 0 SHARED_ARGUMENT);
        if (round == 0 && start.outcome != Outcome_Converged) {
            mine = start;
            GROUP_MAXIMUM(shared.notes + NOTE_ERROR, NOT_FINITE_KEY);
        }
        THREAD_GROUP_SYNC
        const int key = shared.notes[NOTE_ERROR + (round & 1)];
        const mixed error = errorOfKey(key);
        if (keyOf(mine) == key && mine.row >= 0)
            GROUP_MINIMUM(shared.notes + NOTE_ROW + (round & 1), mine.row);
        const bool isCorrected = iterations >= 0 && key < NOT_FINITE_KEY && iterations < a->maxIterations &&
                                 (iterations == 0 || error > NEGLIGIBLE_PART * solve->tolerance);
        const bool isFine = correctLocal(solve, isCorrected, state SHARED_ARGUMENT);
        if (!isFine)
            GROUP_MAXIMUM(shared.notes + NOTE_KIND + (round & 1), VANISHED);
        GLOBAL mixed* exchanged = a->exchange + (iterations & 1) * a->numRows;
        const int firstRow = part.i[AT_FIRST_ROW];
        EACH_LOCAL(k, NUM_SOLVED) if (iterations >= 0 && part.i[AT_OWNER + k] == firstRow + k) {
            const float change = isCorrected ? part.f[AT_RIGHT_SIDE + k] * part.f[AT_PIVOT + k] : 0;
            exchanged[firstRow + k] = part.m[AT_TOTAL + k] + change;
        }
        THREAD_GROUP_SYNC
        const int row = shared.notes[NOTE_ROW + (round & 1)];
        const int place = (round & 1) * a->numGeneralClusters + c;
        if (mine.row == row || (row == NO_ROW && THREAD_IN_GROUP == 0)) {
            mixed4 errors;
            errors.x = mine.error;
            errors.y = mine.value;
            errors.z = errors.w = 0;
            a->partErrors[place] = errors;
            a->partRows[place] = make_int4(Outcome_Converged, row == NO_ROW ? -1 : row, shared.notes[NOTE_KIND + (round & 1)], key);
        }
        if (THREAD_IN_GROUP == 0) { // for the next round
            shared.notes[NOTE_ERROR + 1 - (round & 1)] = shared.notes[NOTE_KIND + 1 - (round & 1)] = 0;
            shared.notes[NOTE_ROW + 1 - (round & 1)] = NO_ROW;
        }
    }
}
