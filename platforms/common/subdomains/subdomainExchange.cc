// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomainDistances.cc, subdomainFactor.cc
// What subdomains in shared memory tell each other in a round. A word has 64 bits: 32 of a number and the stamp of a round, so
// a subdomain that waits for a word sees both or none, and no barrier or fence is needed (as NCCL's protocol LL: Hu et al.
// 2025, arXiv 2507.04786). Words of even and odd rounds lie apart. No subdomain is more than a round ahead of another one,
// since each needs a word of all in every round.

// What was read before a word was computed has arrived by then, so others may overwrite it. A stand-in for a device, where
// blocks take turns and races are looked for, has to be told (tests/emulator).
#ifndef LET_OTHERS_RUN
#define LET_OTHERS_RUN
#endif
#ifndef NOTE_WORD_SENT
#define NOTE_WORD_SENT(word)
#endif
#ifndef NOTE_WORD_CAME
#define NOTE_WORD_CAME(word)
#endif

// Words of a subdomain in a round: what was found of its own rows.
#define FOUND_LARGEST 0 // the largest error as by keyOf(), and with the stamp whether a gradient turned or a pivot vanished
#define FOUND_ROW 1     // that has it
#define FOUND_ERROR 2   // two words
#define FOUND_VALUE 4   // two words
#define NUM_FOUND 6

// Notes of a block about a round, in two places that rounds use in turns: the same of own rows, and of all subdomains.
#define NOTE_ERROR 0
#define NOTE_ROW 2
#define NOTE_KIND 4
#define NOTE_LARGEST 6
#define NOTE_KINDS 8
#define NOTE_FIRST_ROW 10
#define NOTE_DECISION 11 // IS_OVER, ...
#define NOTE_LARGE 12    // whether a row that the subdomain solves has an error that is not negligible
#define IS_OVER 1
#define IS_HANDED_OVER 2
#define IS_LAST 4
#define DECIDER (WAITS ? BLOCK_SIZE - 1 : 0) // the last thread has least to do; the first one keeps a subdomain's state
#define NOT_FINITE_KEY 0x7f800000

DEVICE void startNotes(LOCAL_ARG int* notes) {
    for (int n = 0; n < NUM_NOTES; n++)
        notes[n] = 0;
    notes[NOTE_ROW] = notes[NOTE_ROW + 1] = notes[NOTE_FIRST_ROW] = NO_ROW;
}

/** An error as an integer, in the order of errors: its bits in single precision, rounded up. */
DEVICE int keyOf(number error) {
    if (!(error < INFINITE_ERROR))
        return NOT_FINITE_KEY;
    const float rounded = error;
    return FLOAT_BITS(rounded) + (rounded < error ? 1 : 0);
}

DEVICE void post(GLOBAL mm_long* word, int stamp, int bits) {
    NOTE_WORD_SENT(word)
    *(volatile GLOBAL mm_long*) word = (mm_long) (((mm_ulong) (unsigned int) stamp << 32) | (unsigned int) bits);
}

DEVICE mm_long wordAt(GLOBAL const mm_long* word) {
    return *(volatile GLOBAL const mm_long*) word;
}

/** A word with a stamp, apart from two bits of it, for which a subdomain waits. @param found  what was there at first */
DEVICE mm_long waitFor(GLOBAL const mm_long* word, int stamp, mm_long found) {
#if WAITS
    while ((int) (found >> 34) != (stamp << 2) >> 2) {
        LET_OTHERS_RUN
        found = wordAt(word);
    }
    NOTE_WORD_CAME(word)
#endif
    return found;
}

/** The number of a word. */
DEVICE int receive(GLOBAL const mm_long* word, int stamp) {
    return (int) waitFor(word, stamp, wordAt(word));
}

/** A number in two words. */
DEVICE void postNumber(GLOBAL mm_long* words, int stamp, number value) {
#if NUMBER_IS_DOUBLE
    const mm_long bits = DOUBLE_BITS(value);
    post(words, stamp, (int) bits);
    post(words + 1, stamp, (int) (bits >> 32));
#else
    post(words, stamp, FLOAT_BITS(value));
#endif
}

/** A number from two words, the second one of which is only there in double precision. */
DEVICE number numberOf(mm_long first, mm_long second) {
#if NUMBER_IS_DOUBLE
    return BITS_DOUBLE((mm_long) (((mm_ulong) second << 32) | (unsigned int) first));
#else
    return BITS_FLOAT((int) first);
#endif
}

/** Solves of a launch follow each other without a barrier, so rounds are even or odd by their stamps. */
#define STAMP(state, round) ((state)->firstStamp + 1 + (round))

DEVICE GLOBAL mm_long* foundBy(const Arguments* a, int subdomain, int stamp) {
    return (GLOBAL mm_long*) a->subdomainFound + NUM_FOUND * ((stamp & 1) * a->numGeneralClusters + subdomain);
}

/** Changes of multipliers by owner's row. */
DEVICE GLOBAL mm_long* changesIn(const Arguments* a, int stamp) {
    return (GLOBAL mm_long*) a->subdomainChanges + (stamp & 1) * a->numRows;
}

/** The largest error after a correction may be so much of that before. Without each other's corrections subdomains gain less
 *  than a whole cluster. */
DEVICE float ratioOfSubdomains(int iterations) {
    return iterations < FIRST_JUDGED ? INFINITE_ERROR : LARGEST_RATIO;
}

/** Whether a solve ends with a correction that every subdomain has got, after errors of `before` and `found`: Newton's method
 *  and the exchange of subdomains gain in each round as much as in the one before, or more. A subdomain then finds the errors
 *  that are left in its own rows and tells nobody. Should one exceed the tolerance after all, the step is taken again by
 *  kernels that wait for what all subdomains find, as they do for what is left to a whole cluster. Rows in global memory read
 *  particles there, which other subdomains move as soon as they end. */
DEVICE bool endsIn(float before, float found, float tolerance) {
    return WAITS && !HAS_WHOLE && SUBDOMAIN_GLOBAL_ROWS == 0 && LAST_GAIN * found * found <= tolerance * before;
}

#define STALE_GAIN 32

/** Whether a subdomain makes the next correction of positions with the factor of the last one, which leaves more than LAST_GAIN
 *  says: of DHFR's bonds 6 instead of 1 times found^2 / before. */
DEVICE bool keepsFactorIn(float before, float found, float tolerance) {
    return KEEPS_FACTOR && STALE_GAIN * found * found <= tolerance * before;
}

/** Decide whether a solve ends after so many corrections (-1: it was measured only), as decide().
 *  @return IS_OVER, IS_HANDED_OVER, IS_LAST, or none of these */
DEVICE int decideLocal(const Arguments* a, SubdomainState* state, int iterations, int key, int kind, float largestRatio) {
    const bool isFinite = key < NOT_FINITE_KEY;
    const float error = BITS_FLOAT(key);
    if (iterations < 0)
        return !isFinite ? IS_OVER | IS_HANDED_OVER : error <= toFloat(a->tolerance) ? IS_OVER : 0;
    const bool isSolved = isFinite && (key == 0 || (error <= state->tolerance && iterations > 0));
    const bool isTooSlow = iterations >= min(MOST_CORRECTIONS, a->maxIterations) ||
                           (iterations > 0 && error > largestRatio * state->lastFound);
    const bool isLast = iterations > 0 && kind == 0 && endsIn(state->lastFound, error, state->tolerance);
    state->lastFound = error;
#if !WAITS
    state->lastLargest = error;
#endif
    if (!isFinite || kind == VANISHED || (isSolved ? kind == TURNED : isTooSlow))
        return IS_OVER | IS_HANDED_OVER;
    return isSolved ? IS_OVER : isLast ? IS_LAST : 0;
}

/** Whether the cluster has one subdomain only, which then needs no words. */
#define IS_ALONE(state) (!IS_SPLIT || (WAITS && (state)->lastSubdomain - (state)->firstSubdomain == 1))

/** That of the next solve, once one has decided: a word has room for 30 bits. */
DEVICE int nextFirstStamp(const SubdomainState* state) {
    return (state->firstStamp + state->lastRound + 1) & 0x0fffffff;
}

/** Take the changes of a round, and what all subdomains found in it.
 *  @param hasChanges   whether there are any, or errors were measured only
 *  @param[out] before  the total multipliers of the thread's rows without these changes */
DEVICE void receiveRound(const Arguments* a, int round, bool hasChanges, mixed* before,
                         SubdomainState* state SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int stamp = STAMP(state, round), parity = stamp & 1;
    state->foundKey = state->foundRow = -1;
    GLOBAL const mm_long* changes = changesIn(a, stamp);
    EACH_LOCAL_ROW(k) {
        float change = 0;
        if (hasChanges)
            change = !IS_SPLIT || (WAITS && IS_OWN_LOCAL(k))
                         ? sub.f[AT_CHANGE + k]
                         : BITS_FLOAT(receive(changes + sub.i[AT_OWNER + k], stamp));
        before[turn] = sub.m[AT_TOTAL + k];
        const mixed total = before[turn] + change;
        sub.m[AT_TOTAL + k] = total;
        sub.r[AT_SMALL_TOTAL + k] = total;
        if (!IS_DISTANCE(k))
            shareTotal(sub, k, total);
    }
#if IS_SPLIT
    // The last threads have no rows.
    for (int other = state->firstSubdomain + BLOCK_SIZE - 1 - THREAD_IN_GROUP; other < state->lastSubdomain && !IS_ALONE(state);
         other += BLOCK_SIZE) {
        GLOBAL const mm_long* found = foundBy(a, other, stamp);
        mm_long largest = wordAt(found + FOUND_LARGEST), rowOfLargest = wordAt(found + FOUND_ROW);
        largest = waitFor(found + FOUND_LARGEST, stamp, largest);
        rowOfLargest = waitFor(found + FOUND_ROW, stamp, rowOfLargest);
        const int key = (int) largest, row = (int) rowOfLargest;
        if (key > state->foundKey || (key == state->foundKey && row < state->foundRow)) {
            state->foundKey = key;
            state->foundRow = row;
        }
        GROUP_MAXIMUM(shared.notes + NOTE_LARGEST + parity, key);
        GROUP_MAXIMUM(shared.notes + NOTE_KINDS + parity, (int) (largest >> 32) & 3);
    }
#endif
    THREAD_GROUP_SYNC
    if (IS_ALONE(state) && THREAD_IN_GROUP == BLOCK_SIZE - 1) {
        state->foundKey = shared.notes[NOTE_LARGEST + parity];
        state->foundRow = shared.notes[NOTE_ROW + parity];
    }
}

/** Find the first row with the largest error of all subdomains. A barrier has to follow before reportRound(). */
DEVICE void findWorstRow(const SubdomainState* state SHARED_PARAMETER) {
    if (state->foundRow >= 0 && state->foundKey == shared.notes[NOTE_LARGEST + (STAMP(state, state->lastRound) & 1)])
        GROUP_MINIMUM(shared.notes + NOTE_FIRST_ROW, state->foundRow);
}

/** Threads from the block's end, behind those of bodies, report. */
DEVICE void reportRound(const Arguments* a, int c, const Solve* solve, const SubdomainState* state SHARED_PARAMETER) {
    const int stamp = STAMP(state, state->lastRound);
    EACH_FROM_END(n, THREADS_BEFORE_EXPRESSIONS, state->lastSubdomain - state->firstSubdomain) {
        GLOBAL const mm_long* found = foundBy(a, state->firstSubdomain + n, stamp);
        mm_long words[NUM_FOUND]; // reads come first
#pragma unroll
        for (int k = FOUND_ROW; k < NUM_FOUND; k++)
            words[k] = wordAt(found + k);
        const int row = (int) waitFor(found + FOUND_ROW, stamp, words[FOUND_ROW]);
        if (row != shared.notes[NOTE_FIRST_ROW])
            continue;
#pragma unroll
        for (int k = FOUND_ERROR; k < NUM_FOUND; k++)
            if (NUMBER_IS_DOUBLE || k == FOUND_ERROR || k == FOUND_VALUE)
                words[k] = waitFor(found + k, stamp, words[k]);
        Report report = newReport();
        report.iterations = state->iterations;
        report.row = row;
        report.error = numberOf(words[FOUND_ERROR], words[FOUND_ERROR + 1]);
        report.value = numberOf(words[FOUND_VALUE], words[FOUND_VALUE + 1]);
        writeSubdomainReport(a, c, solve, report);
    }
}

/** Report what a subdomain found in its own rows in the last round, and whether the step has to be taken again. */
DEVICE void endUnseen(const Arguments* a, int c, const Solve* solve, int parity, int iterations, Worst mine,
                      SubdomainState* state SHARED_PARAMETER) {
    const int key = shared.notes[NOTE_ERROR + parity];
    state->isOver = true;
    state->isHandedOver =
        key >= NOT_FINITE_KEY || BITS_FLOAT(key) > state->tolerance || shared.notes[NOTE_KIND + parity] != 0;
    state->iterations = iterations;
    THREAD_GROUP_SYNC // the first of the worst rows is known
    const int row = shared.notes[NOTE_ROW + parity]; // without rows of its own a subdomain has none, and reports no error
    if (!solve->isSilent && !state->isHandedOver && (row == NO_ROW ? THREAD_IN_GROUP == 0 : mine.row == row)) {
        Report report = newReport();
        report.iterations = iterations;
        report.row = mine.row;
        report.error = mine.error;
        report.value = mine.value;
        writeSubdomainReport(a, c, solve, report);
    }
}

/** Tell all subdomains what this one found and corrected in a round. @param mine  the worst row of each thread */
DEVICE void postRound(const Arguments* a, int c, int round, bool isCorrected, Worst mine,
                      const SubdomainState* state SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int stamp = STAMP(state, round), parity = stamp & 1;
    GLOBAL mm_long* changes = changesIn(a, stamp) + sub.i[AT_FIRST_ROW];
    GLOBAL mm_long* found = foundBy(a, c, stamp);
    EACH_SOLVED_ROW(k) if (IS_OWN_LOCAL(k)) {
        const float change = isCorrected ? sub.f[AT_RIGHT_SIDE + k] * sub.f[AT_PIVOT + k] : 0;
        sub.f[AT_CHANGE + k] = change;
        if (!IS_ALONE(state))
            post(changes + k, stamp << 2, FLOAT_BITS(change));
    }
    const int key = shared.notes[NOTE_ERROR + parity], kind = shared.notes[NOTE_KIND + parity];
    if (THREAD_IN_GROUP == 0) {
        if (!IS_ALONE(state))
            post(found + FOUND_LARGEST, (stamp << 2) | kind, key);
        // for the next round
        shared.notes[NOTE_ERROR + 1 - parity] = shared.notes[NOTE_KIND + 1 - parity] = 0;
        shared.notes[NOTE_LARGEST + 1 - parity] = shared.notes[NOTE_KINDS + 1 - parity] = 0;
        shared.notes[NOTE_LARGE + 1 - parity] = 0;
        shared.notes[NOTE_ROW + 1 - parity] = NO_ROW;
        if (IS_ALONE(state)) {
            shared.notes[NOTE_LARGEST + parity] = key;
            shared.notes[NOTE_KINDS + parity] = kind;
        }
    }
    if (mine.row == shared.notes[NOTE_ROW + parity]) {
        post(found + FOUND_ROW, stamp << 2, mine.row);
        postNumber(found + FOUND_ERROR, stamp << 2, mine.error);
        postNumber(found + FOUND_VALUE, stamp << 2, mine.value);
    }
}

/** One round: decide by what all subdomains found in the round before; if the solve is not over, find the residuals with the
 *  corrections that all subdomains made there, and the next correction. As take_<solve>_General() of subdomainRounds.cc, but
 *  what fails is handed over.
 *  @param start  what the start of the rows found, of each thread */
DEVICE void takeLocal(const Arguments* a, int c, int round, Worst start, Solve* solve,
                      SubdomainState* state SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int iterations = round - (solve->isMeasured ? 1 : 0); // corrections that there are
    const int parity = STAMP(state, round) & 1;
    state->lastRound = round - 1;
    IF_UNIFORM(round > 0) {
        mixed before[TURNS_OF(SUBDOMAIN_ROWS)];
        receiveRound(a, round - 1, iterations > 0, before, state SHARED_ARGUMENT);
        if (THREAD_IN_GROUP == DECIDER)
            shared.notes[NOTE_DECISION] =
                decideLocal(a, state, iterations - 1, shared.notes[NOTE_LARGEST + 1 - parity],
                            shared.notes[NOTE_KINDS + 1 - parity],
                            state->lastSubdomain - state->firstSubdomain == 1 ? 0.1f : ratioOfSubdomains(iterations - 1));
        displaceLocal(a, c, solve SHARED_ARGUMENT); // meanwhile
        const int decision = shared.notes[NOTE_DECISION];
        state->iterations = max(iterations - 1, 0);
        state->isOver = (decision & IS_OVER) != 0;
        state->isHandedOver = (decision & IS_HANDED_OVER) != 0;
        state->isLast = (decision & IS_LAST) != 0;
        // What was found is without the last changes. Of what is handed over nothing is used, and its place may be.
        IF_UNIFORM(state->isOver && !state->isHandedOver) {
            EACH_LOCAL_ROW(k) sub.m[AT_TOTAL + k] = before[turn];
#if SUBDOMAIN_SLOTS
            THREAD_GROUP_SYNC // others read these
#endif
        }
    }
#if WAITS
    if ((state->isOver || state->isLast) && THREAD_IN_GROUP == 0 && state->firstSubdomain == c)
        a->subdomainStamps[c] = nextFirstStamp(state);
#else
    IF_UNIFORM(state->isOver && !state->isHandedOver) {
        keepImpulsesLocal(a, c, solve SHARED_ARGUMENT);
        findWorstRow(state SHARED_ARGUMENT);
        THREAD_GROUP_SYNC
        reportRound(a, c, solve, state SHARED_ARGUMENT);
    }
#endif
#if HAS_JOINTS
    IF_UNIFORM((state->isLast || (state->isOver && !state->isHandedOver)) && solve->isOfBodies)
        flagBodies(a, c, !solve->isMeasured || iterations > 0);
#endif
    Worst mine = start;
    bool hasTurned = false;
    IF_UNIFORM(!state->isOver && round > 0) {
#if !WAITS
        EACH_LOCAL_ROW(k) a->total[sub.i[AT_FIRST_ROW] + k] = sub.m[AT_TOTAL + k];
#endif
        mine = evaluateRowsLocal(a, solve, &hasTurned SHARED_ARGUMENT);
#if HAS_JOINTS
        THREAD_GROUP_SYNC // bodies were displaced meanwhile
#endif
    }
#if SUBDOMAIN_JOINTS
    IF_UNIFORM(!state->isOver && solve->what == POSITIONS) {
        displacePoints(sub);
        THREAD_GROUP_SYNC
    }
#endif
#if SUBDOMAIN_EXPRESSIONS
    IF_UNIFORM(!state->isOver)
        EACH_EXPRESSION(n) judgeExpression(sub, solve, n, round > 0, &mine, &hasTurned);
#endif
#if SUBDOMAIN_JOINTS
    IF_UNIFORM(!state->isOver)
        evaluateJoints(sub, solve, round > 0, &mine, &hasTurned SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_GLOBAL_ROWS
    IF_UNIFORM(!state->isOver)
        EACH_GLOBAL_ROW(n) evaluateGlobalRow(a, solve, n, &mine, &hasTurned SHARED_ARGUMENT);
#endif
    IF_UNIFORM(!state->isOver) {
        const int mineKey = mine.row >= 0 ? keyOf(mine.error) : 0;
        if (mineKey > 0)
            GROUP_MAXIMUM(shared.notes + NOTE_ERROR + parity, mineKey);
        if (mine.largest > NEGLIGIBLE_PART * state->tolerance)
            GROUP_MAXIMUM(shared.notes + NOTE_LARGE + parity, 1);
        if (hasTurned && solve->what == POSITIONS && iterations > 0)
            GROUP_MAXIMUM(shared.notes + NOTE_KIND + parity, TURNED);
        THREAD_GROUP_SYNC
        const int key = shared.notes[NOTE_ERROR + parity];
        if (mine.row >= 0 && mineKey == key)
            GROUP_MINIMUM(shared.notes + NOTE_ROW + parity, mine.row);
        if (state->isLast) {
            endUnseen(a, c, solve, parity, iterations, mine, state SHARED_ARGUMENT);
            return;
        }
        const bool isCorrected = iterations >= 0 && key < NOT_FINITE_KEY && iterations < a->maxIterations &&
                                 (iterations == 0 || shared.notes[NOTE_LARGE + parity] != 0);
        const float before = BITS_FLOAT(shared.notes[NOTE_LARGEST + 1 - parity]);
        const bool factorizes = !state->hasFactor || (solve->what == POSITIONS &&
                                                      !keepsFactorIn(before, BITS_FLOAT(key), state->tolerance));
        IF_UNIFORM(isCorrected)
            correctLocal(factorizes, solve->what == POSITIONS ? AT_GRADIENT : AT_START_GRADIENT,
                         shared.notes + NOTE_KIND + parity SHARED_ARGUMENT);
        state->hasFactor = state->hasFactor || isCorrected;
        THREAD_GROUP_SYNC
        postRound(a, c, round, isCorrected, mine, state SHARED_ARGUMENT);
    }
}

/** Leave the multipliers of a solve and the impulses by them, and report. */
DEVICE void leaveRows(const Arguments* a, int c, const Solve* solve, const SubdomainState* state SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    EACH_SOLVED_ROW(k) if (IS_OWN_LOCAL(k)) {
        const int row = sub.i[AT_FIRST_ROW] + k;
        solve->multipliers[row] = (addsUp(a, solve->multipliers) ? solve->multipliers[row] : 0) + sub.m[AT_TOTAL + k];
    }
    findImpulsesLocal(shared);
    const bool isReported = !state->isHandedOver && !state->wasHandedOver && !state->isLast && !solve->isSilent;
    if (isReported)
        findWorstRow(state SHARED_ARGUMENT);
    THREAD_GROUP_SYNC
#if HAS_JOINTS
    displaceBodiesLocal(a, c, solve, true SHARED_ARGUMENT);
#endif
    if (isReported)
        reportRound(a, c, solve, state SHARED_ARGUMENT);
}

#if WAITS && !HAS_WHOLE
/** Have the host take the step again, with kernels that solve the whole cluster. */
DEVICE void handOver(const Arguments* a, int c, const Solve* solve) {
    if (THREAD_IN_GROUP != 0)
        return;
    Report report = newReport();
    report.outcome = Outcome_WholeCluster;
    report.row = a->rowStart[c];
    writeSubdomainReport(a, c, solve, report);
}
#endif
