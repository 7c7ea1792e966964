// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rows of a part (partLocal.cc) of other kinds: functions of centroids, angles of 180 degrees, places in rigid bodies. They are evaluated in
// `mixed` by the functions for rows of any kind (rows.cc), in global memory, where the block leaves what its particles are
// displaced by; only their gradients are in shared memory. Threads of their own from the block's end have them, before
// those of expressions.

#define THREADS_FOR_OTHERS (THREADS_FOR_ANGLES + THREADS_FOR(PART_EXPRESSIONS))
#define EACH_GLOBAL_ROW(n) EACH_FROM_END(n, THREADS_FOR_OTHERS, NUM_GLOBAL_ROWS)

/** -sigma of a row that the part solves, with the gradient. */
DEVICE void evaluateGlobalRow(const Arguments* a, const PartSolve* solve, int n, Worst* worst,
                              bool* isTurned SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int k = part.s[AT_GLOBAL_ROW + n], row = part.i[AT_FIRST_ROW] + k;
    if (k >= NUM_SOLVED)
        return;
    mixed error, value;
    const mixed sigma = residual(a, row, solve->what, solve->time, solve->timeScale, &error, &value);
    part.f[AT_RIGHT_SIDE + k] = -sigma;
    const int first = FIRST_ELEMENT(k), end = END_OF_ELEMENTS(k);
    for (int element = first; element < end && solve->what == POSITIONS; element++)
        part.g[AT_GRADIENT + element] = sizedVector(load3(a->gradient, FIRST_SLOT(row) + element - first), 0);
    if (!IS_OWN_LOCAL(k))
        return;
#if IS_NARROWER
    mixed rounding = 0;
    for (int element = first; element < end; element++)
        rounding += part.n[AT_IMPULSE + PLACE_OF(element)].w * part.g[AT_START_GRADIENT + element].w;
    error += solve->timeScale * errorOf(a, row, SUM_ROUNDING * rounding, a->time, a->startGradient);
#endif
    noteWorst(worst, row, error, value);
    if (solve->what == POSITIONS)
        *isTurned = *isTurned || hasTurned(a, row);
}

/** Take the present positions as the start of all these rows, in global memory alone, before anything is in shared
 *  memory: reads of other threads, of particles and tables, come meanwhile. */
DEVICE void findGlobalStarts(const Arguments* a, int c) {
    GLOBAL const unsigned short* tables = (GLOBAL const unsigned short*) (tableOf(a, c) + PART_INTS);
    const int numRows = tables[AT_COUNTS + 6];
    EACH_FROM_END(n, THREADS_FOR_OTHERS, numRows)
        startRow(a, a->rowStart[c] + tables[AT_GLOBAL_ROW + n], a->time);
}

/** Take the start of a row to shared memory. One without a gradient has a pivot that vanishes. */
DEVICE void takeGlobalStart(const Arguments* a, const PartSolve* solve, int n SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const int k = part.s[AT_GLOBAL_ROW + n], row = part.i[AT_FIRST_ROW] + k;
    const int first = FIRST_ELEMENT(k), end = END_OF_ELEMENTS(k);
    for (int element = first; element < end; element++)
        startElement(part, element, load3(a->startGradient, FIRST_SLOT(row) + element - first));
    if (k >= NUM_SOLVED)
        return;
    a->offset[row] = a->rowRateOffset[row];
    if (solve->workStage >= 0)
        a->workRate[solve->workStage * a->numRows + row] = a->rowRateOffset[row];
}
