// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc, residuals.cc
// Rows of a subdomain (subdomainLocal.cc) of other kinds: functions of centroids, angles of 180 degrees, expressions of places
// in rigid bodies. Their positions are evaluated in `mixed` by the functions for rows of any kind (rows.cc), in global memory,
// where the block leaves what its particles are displaced by; only their gradients are in shared memory, with which velocities
// change. Threads of their own have them.

#define EACH_GLOBAL_ROW(n) EACH_FROM_END(n, THREADS_BEFORE_GLOBAL_ROWS, NUM_GLOBAL_ROWS)

/** -sigma of a row that the subdomain solves, with the gradient. */
DEVICE void evaluateGlobalRow(const Arguments* a, const Solve* solve, int n, Worst* worst,
                              bool* isTurned SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int k = sub.s[AT_GLOBAL_ROW + n], row = sub.i[AT_FIRST_ROW] + k;
    if (k >= NUM_SOLVED)
        return;
    mixed sigma, error, value;
    number spread = 0;
    if (solve->what == POSITIONS) {
        spread = spreadOfElements(sub, k);
        const int first = FIRST_ELEMENT(k), end = END_OF_ELEMENTS(k);
        sigma = residual(a, row, POSITIONS, solve->time, 1, &error, &value);
        for (int element = first; element < end; element++)
            sub.g[AT_GRADIENT + element] = sizedVector(load3(a->gradient, FIRST_SLOT(row) + element - first), 0);
    } else {
        sigma = value = rateOfElements(sub, k, true, &spread);
        error = fabs(sigma) * sub.r[AT_SCALE + k];
    }
    sub.f[AT_RIGHT_SIDE + k] = -sigma;
#if IS_NARROWER
    error += SUM_ROUNDING * sub.r[AT_SCALE + k] * spread;
#endif
    noteError(worst, sub, k, error, value);
    if (solve->what == POSITIONS && IS_OWN_LOCAL(k))
        *isTurned = *isTurned || hasTurned(a, row);
}

/** Take the present positions as the start of all these rows, in global memory alone, before anything is in shared
 *  memory: reads of other threads, of particles and tables, come meanwhile. */
DEVICE void findGlobalStarts(const Arguments* a, int c) {
    GLOBAL const unsigned short* tables = (GLOBAL const unsigned short*) (tableOf(a, c) + SUBDOMAIN_INTS);
    const int numRows = tables[AT_COUNTS + 6];
    EACH_FROM_END(n, THREADS_BEFORE_GLOBAL_ROWS, numRows)
        startRow(a, a->rowStart[c] + tables[AT_GLOBAL_ROW + n], a->time);
}

/** Take the start of a row to shared memory. One without a gradient has a pivot that vanishes. */
DEVICE void takeGlobalStart(const Arguments* a, const Solve* solve, int n SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int k = sub.s[AT_GLOBAL_ROW + n], row = sub.i[AT_FIRST_ROW] + k;
    const int first = FIRST_ELEMENT(k), end = END_OF_ELEMENTS(k);
    for (int element = first; element < end; element++)
        startElement(sub, element, load3(a->startGradient, FIRST_SLOT(row) + element - first));
    if (k >= NUM_SOLVED)
        return;
    const mixed scale = solve->what == POSITIONS ? 1 : solve->timeScale;
    sub.r[AT_SCALE + k] = errorOf(a, row, scale, a->time, a->startGradient);
    if (solve->what != POSITIONS)
        sub.m[AT_RATE + k] = rateOf(a, row, solve->what) + a->rowRateOffset[row];
    if (solve->workStage >= 0)
        workRatesOf(a)[solve->workStage * a->numRows + row] = a->rowRateOffset[row];
}
