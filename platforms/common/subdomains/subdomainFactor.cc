// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc
// The matrix of a subdomain and its factor, in shared memory and in single precision: as factor.cc, but with records of 16
// bytes (two updates of a target) and of 8, which are read before the barrier that their level begins with.

// Indices in records are offsets in bytes; two bits are free for flags.

#define FLOAT_AT(first, offset) (*(LOCAL_ARG float*) ((LOCAL_ARG char*) (sub.f + (first)) + (offset)))
#define VECTOR_AT(first, offset) (*(LOCAL_ARG const float4*) ((LOCAL_ARG const char*) (sub.g + (first)) + (offset)))
#define OFFSET(number) ((number) & 0xfffc)
#define IS_DIAGONAL(first) (((first) & 1) != 0)
#define IS_FINISHED(first) (((first) & 2) != 0) // no later update of this diagonal element follows
#define ARE_OPPOSITE(first) (((first) & 1) != 0)
#define NEXT(numbers) HIGH(numbers) // a coupling of the same rows that follows, from 1 on, or record of the same target; 0: none

/** Pivots below this part of the diagonal element have vanished. */
#define PIVOT_PART 1e-6f

/** Add what two rows have in common at a particle to both their elements of the matrix. */
DEVICE void addCoupling(LocalSubdomain sub, int2 coupling, int gradients, float* lower, float* upper) {
    const float weight = FLOAT_AT(AT_WEIGHT, OFFSET(coupling.x)), w = ARE_OPPOSITE(coupling.x) ? -weight : weight;
    const int row = HIGH(coupling.x), column = LOW(coupling.y);
    *lower += w * dotOf(VECTOR_AT(gradients, row), VECTOR_AT(AT_START_GRADIENT, column));
    *upper += w * dotOf(VECTOR_AT(gradients, column), VECTOR_AT(AT_START_GRADIENT, row));
}

/** A = J(r) M^-1 J(0)^T in the factor's pattern. */
DEVICE void assembleLocal(int gradients, bool* hasVanished SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int numSolved = NUM_SOLVED, numEntries = NUM_ENTRIES;
    // All reads come before the first write, for which they would wait.
    float diagonal[TURNS_OF(SUBDOMAIN_SOLVED)], lower[TURNS_OF(SUBDOMAIN_ENTRIES)], upper[TURNS_OF(SUBDOMAIN_ENTRIES)];
    bool isFinished[TURNS_OF(SUBDOMAIN_SOLVED)];
#pragma unroll
    EACH_LOCAL_TO_END(k, numSolved, SUBDOMAIN_SOLVED) {
        const int places = sub.i[AT_ROW_PLACES + k];
        isFinished[turn] = (places & MARK) != 0;
        if (IS_DISTANCE(k)) {
            const float w = sub.f[AT_WEIGHT + INDEX(LOW(places))] + sub.f[AT_WEIGHT + HIGH(places)];
            diagonal[turn] = w * dotOf(sub.g[gradients + k], sub.g[AT_START_GRADIENT + k]);
        } else
            diagonal[turn] = diagonalOfElements(sub, k, gradients);
    }
#pragma unroll
    EACH_LOCAL(e, numEntries, SUBDOMAIN_ENTRIES) {
        const int2 coupling = ((LOCAL_ARG const int2*) (sub.s + AT_COUPLING))[e];
        lower[turn] = upper[turn] = 0;
        addCoupling(sub, coupling, gradients, &lower[turn], &upper[turn]);
#if SUBDOMAIN_SLOTS
        for (int next = NEXT(coupling.y); next != 0;) {
            const int2 more = ((LOCAL_ARG const int2*) (sub.s + AT_MORE_COUPLINGS))[next - 1];
            addCoupling(sub, more, gradients, &lower[turn], &upper[turn]);
            next = NEXT(more.y);
        }
#endif
    }
#pragma unroll
    EACH_LOCAL_TO_END(k, numSolved, SUBDOMAIN_SOLVED) {
        const float inverse = 1 / diagonal[turn];
        *hasVanished |= isFinished[turn] && !(fabs(diagonal[turn]) > 0);
        sub.f[AT_DIAGONAL + k] = diagonal[turn];
        sub.f[AT_PIVOT + k] = isFinished[turn] ? inverse : diagonal[turn];
    }
#pragma unroll
    EACH_LOCAL(e, numEntries, SUBDOMAIN_ENTRIES) {
        sub.f[AT_LOWER + e] = lower[turn];
        sub.f[AT_UPPER + e] = upper[turn];
    }
    THREAD_GROUP_SYNC
}

/** What an update of an element, or of a diagonal element and the right side, subtracts from both. */
DEVICE void addUpdate(LocalSubdomain sub, bool isDiagonal, int ofRow, int ofColumn, int source, float* first,
                      float* second) {
    const float pivot = FLOAT_AT(AT_PIVOT, source);
    const int left = isDiagonal ? ofRow : ofColumn;
    const int right = isDiagonal ? 4 * (AT_RIGHT_SIDE - AT_UPPER) + source : ofRow;
    *first += FLOAT_AT(AT_LOWER, ofRow) * pivot * FLOAT_AT(AT_UPPER, ofColumn);
    *second += FLOAT_AT(AT_LOWER, left) * pivot * FLOAT_AT(AT_UPPER, right);
}

DEVICE void addUpdates(LocalSubdomain sub, bool isDiagonal, int4 record, float* first, float* second) {
    addUpdate(sub, isDiagonal, LOW(record.y), HIGH(record.y), LOW(record.z), first, second);
    addUpdate(sub, isDiagonal, HIGH(record.z), LOW(record.w), HIGH(record.w), first, second);
}

/** Update the target of a record.
 *  @param factorizes  or only the right side, by records of diagonal elements
 *  @return whether its pivot vanished */
DEVICE bool updateTarget(LocalSubdomain sub, int4 record, bool factorizes) {
    const bool isDiagonal = !factorizes || IS_DIAGONAL(record.x), isFinished = IS_FINISHED(record.x);
    const int target = OFFSET(record.x), element = isDiagonal ? target : 4 * (AT_LOWER - AT_PIVOT) + target,
              other = isDiagonal ? 4 * (AT_RIGHT_SIDE - AT_UPPER) + target : target;
    const float before = FLOAT_AT(AT_PIVOT, element), otherBefore = FLOAT_AT(AT_UPPER, other);
    const float original = FLOAT_AT(AT_DIAGONAL, isDiagonal ? target : 0);
    float first = 0, second = 0;
    addUpdates(sub, isDiagonal, record, &first, &second);
#if SUBDOMAIN_SLOTS
    for (int next = NEXT(record.x); next != 0;) {
        const int4 more = ((LOCAL_ARG const int4*) (sub.s + AT_RECORD))[next];
        addUpdates(sub, isDiagonal, more, &first, &second);
        next = NEXT(more.x);
    }
#endif
    const float reduced = before - first, inverse = 1 / reduced;
    if (factorizes)
        FLOAT_AT(AT_PIVOT, element) = isFinished ? inverse : reduced;
    FLOAT_AT(AT_UPPER, other) = otherBefore - second;
    return factorizes && isFinished && !(fabs(reduced) > PIVOT_PART * fabs(original));
}

/** Eliminate, level by level. Numbers of a level and the first record of each thread are read before the barrier that the
 *  level begins with.
 *  @return whether a pivot vanished */
DEVICE bool eliminateLocal(bool factorizes SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    LOCAL_ARG const int4* records = (LOCAL_ARG const int4*) (sub.s + AT_RECORD);
    const int ends = factorizes ? AT_LEVEL_RECORDS + 1 : AT_LEVEL_DIAGONALS;
    const int last = NUM_LEVELS - 1;
    bool hasVanished = false;
    int begin = sub.s[AT_LEVEL_RECORDS] + THREAD_IN_GROUP, end = sub.s[ends];
    int nextBegin = sub.s[AT_LEVEL_RECORDS + 1] + THREAD_IN_GROUP, nextEnd = sub.s[ends + 1];
    int4 record = records[min(begin, SUBDOMAIN_RECORDS - 1)];
#pragma unroll 1
    for (int level = 0; level < last; level++) {
        const int4 nextRecord = records[min(nextBegin, SUBDOMAIN_RECORDS - 1)];
        const int followingBegin = sub.s[AT_LEVEL_RECORDS + level + 2] + THREAD_IN_GROUP;
        const int followingEnd = sub.s[ends + level + 2];
        if (begin < end)
            hasVanished |= updateTarget(sub, record, factorizes);
#pragma unroll 1
        for (int n = begin + BLOCK_SIZE; n < end; n += BLOCK_SIZE)
            hasVanished |= updateTarget(sub, records[n], factorizes);
        begin = nextBegin;
        end = nextEnd;
        nextBegin = followingBegin;
        nextEnd = followingEnd;
        record = nextRecord;
        THREAD_GROUP_SYNC
    }
    return hasVanished;
}

DEVICE void substituteEntry(LocalSubdomain sub, int2 entry) {
    const float before = FLOAT_AT(AT_RIGHT_SIDE, HIGH(entry.x)), x = FLOAT_AT(AT_RIGHT_SIDE, entry.y);
    FLOAT_AT(AT_RIGHT_SIDE, HIGH(entry.x)) =
        before - FLOAT_AT(AT_UPPER, LOW(entry.x)) * FLOAT_AT(AT_PIVOT, entry.y) * x;
}

/** Solve for the right side, with a new factor or with the present one. */
DEVICE void correctLocal(bool factorizes, int gradients, LOCAL_ARG int* kind SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    LOCAL_ARG const int2* entries = (LOCAL_ARG const int2*) (sub.s + AT_ENTRY);
    const int last = NUM_LEVELS - 1;
    IF_UNIFORM(factorizes) {
        bool hasVanished = false;
        assembleLocal(gradients, &hasVanished SHARED_ARGUMENT);
        hasVanished |= eliminateLocal(true SHARED_ARGUMENT);
        if (hasVanished)
            GROUP_MAXIMUM(kind, VANISHED);
    }
    IF_UNIFORM(!factorizes)
        eliminateLocal(false SHARED_ARGUMENT);
    int begin = sub.s[AT_LEVEL_ENTRIES + last + 1], end = sub.s[AT_LEVEL_ENTRIES + last + 2];
    int nextBegin = sub.s[AT_LEVEL_ENTRIES + last];
    int2 entry = entries[min(begin + THREAD_IN_GROUP, SUBDOMAIN_ENTRIES - 1)];
#pragma unroll 1
    for (int level = last; level > 0; level--) {
        const int2 nextEntry = entries[min(nextBegin + THREAD_IN_GROUP, SUBDOMAIN_ENTRIES - 1)];
        const int followingBegin = sub.s[AT_LEVEL_ENTRIES + level - 1];
        if (begin + THREAD_IN_GROUP < end)
            substituteEntry(sub, entry);
#pragma unroll 1
        for (int n = begin + THREAD_IN_GROUP + BLOCK_SIZE; n < end; n += BLOCK_SIZE)
            substituteEntry(sub, entries[n]);
        end = begin;
        begin = nextBegin;
        nextBegin = followingBegin;
        entry = nextEntry;
        THREAD_GROUP_SYNC
    }
}
