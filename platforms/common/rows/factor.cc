// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rows.cc, threadGroups.cc
// Sparse LU of one cluster and a solve with it, by levels of the elimination tree: rows of a level do not depend on
// each other, so one barrier a level suffices. The host compiles this text for each $PLACE$, Shared or Global, with the
// address space ($SPACE$) and the precision ($NUMBER$) of factor and right-hand side. Sums are gathered in a fixed
// order, never scattered.

/** A = L D U in place: entries of `lower` are L D, those of `upper` D U. Rows and entries are numbered from the
 *  cluster's first one. A row's `pivot` is its diagonal element until its level is reached, then 1 over the pivot. */
typedef struct {
    $SPACE$ $NUMBER$ *pivot, *x; // [rows]
    $SPACE$ $NUMBER$ *lower, *upper; // [entries]
} Factor$PLACE$;

/** 1 over a pivot; a vanished pivot is recorded. */
DEVICE $NUMBER$ invert$PLACE$($NUMBER$ pivot, $NUMBER$ original, int k, int* singular) {
    if (!(fabs(pivot) > $THRESHOLD$ * fabs(original)) && k < *singular)
        *singular = k;
    return 1 / pivot;
}

/** A = J(gradients) M^-1 J(0)^T in the factor's pattern. */
DEVICE void assemble$PLACE$(const Arguments* a, int c, GLOBAL const mixed* gradients, bool isWanted, Factor$PLACE$ f,
                          int* singular) {
    EACH_ROW(row) if (isWanted) {
        const $NUMBER$ diagonal = diagonalOf(a, row, gradients);
        const int k = row - a->rowStart[c];
        a->originalDiagonal[row] = diagonal;
        f.pivot[k] = a->rowIsLeaf[row] ? invert$PLACE$(diagonal, diagonal, k, singular) : diagonal;
    }
    const int firstEntry = a->entryStart[c];
    for (int e = firstEntry + THREAD_IN_GROUP; isWanted && e < a->entryStart[c + 1]; e += THREAD_GROUP_SIZE) {
        mixed lower = 0, upper = 0;
        for (int m = a->couplingStart[e]; m < a->couplingStart[e + 1]; m++) {
            const int2 slots = a->couplingSlots[m]; // of the entry's row, and of its column
            const mixed w = a->slotInverseMass[slots.x];
            lower += w * dot(gradientAt(gradients, slots.x), gradientAt(a->startGradient, slots.y));
            upper += w * dot(gradientAt(gradients, slots.y), gradientAt(a->startGradient, slots.x));
        }
        f.lower[e - firstEntry] = lower;
        f.upper[e - firstEntry] = upper;
    }
}

/** Solve L D y = x, and factorize if the matrix is new: updates of later rows, level by level. */
DEVICE void eliminate$PLACE$(const Arguments* a, int c, int firstLevel, int lastLevel, bool factorizes, Factor$PLACE$ f,
                           int* singular) {
    const bool isAny = firstLevel < lastLevel;
    GLOBAL const int* ends = factorizes ? a->levelTargetStart + 1 : a->levelDiagonalEnd;
    int begin = isAny ? a->levelTargetStart[firstLevel] : 0, end = isAny ? ends[firstLevel] : 0;
    for (int level = firstLevel; level < lastLevel - 1; level++) {
        const int nextBegin = a->levelTargetStart[level + 1], nextEnd = ends[level + 1]; // not after the barrier
        for (int n = begin + THREAD_IN_GROUP; n < end; n += THREAD_GROUP_SIZE) {
            const int target = a->updateTarget[n], lastSource = a->updateStart[n + 1];
            $NUMBER$ first = 0, second = 0;
            for (int m = a->updateStart[n]; m < lastSource; m++) {
                const int4 source = tripleOf(a->updateSource[m]); // entries of target's row and column, and their row
                const $NUMBER$ inverse = f.pivot[source.z], lower = f.lower[source.x];
                first += lower * inverse * f.upper[source.y];
                second += target < 0 ? lower * inverse * f.x[source.z]
                                     : f.lower[source.y] * inverse * f.upper[source.x];
            }
            if (target >= 0) {
                f.lower[target] -= first;
                f.upper[target] -= second;
            } else {
                const int k = ~target >> 1;
                f.x[k] -= second;
                if (factorizes) {
                    const $NUMBER$ pivot = f.pivot[k] - first;
                    const bool isLast = ~target & 1;
                    f.pivot[k] =
                        isLast ? invert$PLACE$(pivot, a->originalDiagonal[a->rowStart[c] + k], k, singular) : pivot;
                }
            }
        }
        begin = nextBegin;
        end = nextEnd;
        THREAD_GROUP_SYNC
    }
}

/** Solve D U z = y from the last level down, except for the division by pivots: updates of earlier rows from those of a
 *  level. No row has two entries in a level. */
DEVICE void substitute$PLACE$(const Arguments* a, int firstLevel, int lastLevel, Factor$PLACE$ f) {
    const bool isAny = firstLevel < lastLevel;
    int begin = isAny ? a->levelEntryStart[lastLevel - 1] : 0, end = isAny ? a->levelEntryStart[lastLevel] : 0;
    for (int level = lastLevel - 1; level > firstLevel; level--) {
        const int nextBegin = a->levelEntryStart[level - 1];
        for (int n = begin + THREAD_IN_GROUP; n < end; n += THREAD_GROUP_SIZE) {
            const int4 entry = tripleOf(a->levelEntry[n]); // and its column, which is the earlier row, and its row
            f.x[entry.y] -= f.upper[entry.x] * f.pivot[entry.z] * f.x[entry.z];
        }
        end = begin;
        begin = nextBegin;
        THREAD_GROUP_SYNC
    }
}

/** change <- A^-1 change with a new factor of A, or with the present one.
 *  @return the first row whose pivot vanished: `change` is undefined then; or NO_ROW */
DEVICE int correct$PLACE$(const Arguments* a, int c, GLOBAL const mixed* gradients, bool factorizes, bool isWanted,
                        Factor$PLACE$ f SHARED_PARAMETER) {
    const int firstLevel = a->levelStart[c], lastLevel = isWanted ? a->levelStart[c + 1] : firstLevel;
    int singular = NO_ROW;
    EACH_ROW(row) if (isWanted)
        f.x[row - a->rowStart[c]] = a->change[row];
    assemble$PLACE$(a, c, gradients, isWanted && factorizes, f, &singular);
    THREAD_GROUP_SYNC
    eliminate$PLACE$(a, c, firstLevel, lastLevel, factorizes, f, &singular);
    substitute$PLACE$(a, firstLevel, lastLevel, f);
    singular = leastOf(singular SHARED_ARGUMENT);
    EACH_ROW(row) if (isWanted) {
        const int k = row - a->rowStart[c];
        a->change[row] = f.x[k] * f.pivot[k];
    }
    THREAD_GROUP_SYNC
    return singular == NO_ROW ? NO_ROW : a->rowStart[c] + singular;
}
