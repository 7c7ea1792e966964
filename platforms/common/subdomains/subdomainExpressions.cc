// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc, rows.cc
// Expressions of particles in a subdomain (subdomainLocal.cc), evaluated in `mixed` by functions that the host writes. They
// have an element for each particle, and beside it a point: where the particle is without corrections, unwrapped. Threads of
// their own have them. Errors are found apart from residuals, when other threads are busy with joints.

#define EACH_EXPRESSION(n) EACH_FROM_END(n, THREADS_BEFORE_EXPRESSIONS, NUM_EXPRESSIONS)

typedef struct {
    int row, form, firstParameter, firstPoint, firstElement;
} ExpressionLocal;

DEVICE ExpressionLocal expressionAt(LocalSubdomain sub, int n) {
    const int4 numbers = ((LOCAL_ARG const int4*) (sub.i + AT_EXPRESSION))[n];
    ExpressionLocal e;
    e.row = numbers.x;
    e.form = numbers.y;
    e.firstParameter = numbers.z;
    e.firstPoint = numbers.w;
    e.firstElement = FIRST_ELEMENT(e.row);
    return e;
}

DEVICE mixed3 pointOf(LocalSubdomain sub, ExpressionLocal e, int s) {
    return vectorAt(sub.m + AT_POINT, SUBDOMAIN_POINTS, e.firstPoint + s);
}

DEVICE mixed3 displacedPoint(LocalSubdomain sub, ExpressionLocal e, int s) {
    const number4 impulse = sub.n[AT_IMPULSE + PLACE_OF(e.firstElement + s)];
    return pointOf(sub, e, s) + make_mixed3(impulse.x, impulse.y, impulse.z);
}

/** A factor of errors that are relative to the length of a gradient; infinite where that is beyond single precision. */
DEVICE float relativeTo(float squares, float factor) {
    return squares < INFINITE_ERROR ? factor / sqrt(squares) : squares * INFINITE_ERROR;
}

$FUNCTIONS$
/** -sigma of an expression that the subdomain solves, with the gradient. */
DEVICE void evaluateExpressionLocal(const Arguments* a, LocalSubdomain sub, const Solve* solve, int n) {
    const ExpressionLocal e = expressionAt(sub, n);
    if (e.row >= NUM_SOLVED || solve->what != POSITIONS)
        return;
    const mixed sigma = evaluateCustomLocal(a, sub, e, stepStateOf(a, solve->time));
    sub.f[AT_RIGHT_SIDE + e.row] = -sigma;
    sub.m[AT_RATE + e.row] = sigma; // which only velocities have a rate for
}

/** Note the error of an expression that the subdomain solves; that of velocities is found here, too. */
DEVICE void judgeExpression(LocalSubdomain sub, const Solve* solve, int n, bool isCorrected, Worst* worst,
                            bool* isTurned) {
    const ExpressionLocal e = expressionAt(sub, n);
    const int k = e.row, end = END_OF_ELEMENTS(k);
    if (k >= NUM_SOLVED)
        return;
    number sigma, error, spread = 0;
    if (solve->what == POSITIONS) {
        float squares = 0, turned = 0; // how far the gradient is from having turned by 90 degrees
        for (int element = e.firstElement; element < end; element++) {
            const int place = PLACE_OF(element);
            const float4 start = sub.g[AT_START_GRADIENT + element], now = sub.g[AT_GRADIENT + element];
            spread += sub.n[AT_IMPULSE + place].w * start.w;
            squares += dotOf(now, now);
            turned += sub.f[AT_WEIGHT + place] * (dotOf(now, start) - 1e-6f * dotOf(start, start));
        }
        sigma = sub.m[AT_RATE + k];
        error = fabs(sigma) * relativeTo(squares, sub.r[AT_TARGET + k]);
        *isTurned = *isTurned || (IS_OWN_LOCAL(k) && !(turned > 0));
    } else {
        sigma = rateOfElements(sub, k, isCorrected, &spread);
        error = fabs(sigma) * sub.r[AT_SCALE + k];
        sub.f[AT_RIGHT_SIDE + k] = -sigma;
    }
#if IS_NARROWER
    error += SUM_ROUNDING * sub.r[AT_SCALE + k] * spread;
#endif
    noteError(worst, sub, k, error, sigma);
}

/** Take the present positions as the start of an expression. One without a gradient has a pivot that vanishes. */
DEVICE void startExpressionLocal(const Arguments* a, const Solve* solve, int n SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const ExpressionLocal e = expressionAt(sub, n);
    const int k = e.row, row = sub.i[AT_FIRST_ROW] + k, size = END_OF_ELEMENTS(k) - e.firstElement;
    const float inverseScale = a->rowInverseScale[row]; // reads come first
    for (int first = 0; first < size; first += 4) {
        int4 cells[4];
#pragma unroll
        for (int s = 0; s < 4; s++)
            cells[s] = a->cellOffsets[PARTICLE_OF(sub.i[AT_PARTICLE + PLACE_OF(e.firstElement + min(first + s, size - 1))])];
#pragma unroll
        for (int s = 0; s < 4; s++)
            if (first + s < size)
                setVectorAt(sub.m + AT_POINT, SUBDOMAIN_POINTS, e.firstPoint + first + s,
                            outOfCell(cells[s], vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES,
                                                         PLACE_OF(e.firstElement + first + s)),
                                      stepState));
    }
    float squares = 0;
    mixed rateOfAll = 0;
    const mixed rate = startCustomLocal(a, sub, e, stepState, &squares);
    for (int s = 0; s < size; s++) {
        const mixed3 gradient = vectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, e.firstElement + s);
        const int place = PLACE_OF(e.firstElement + s);
        if (solve->what == POSITIONS)
            setVectorAt(sub.m + AT_POINT, SUBDOMAIN_POINTS, e.firstPoint + s,
                        pointOf(sub, e, s) + vectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, place));
        else
            rateOfAll += dot(gradient, vectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, place));
    }
    if (k >= NUM_SOLVED)
        return;
    sub.r[AT_TARGET + k] = inverseScale;
    sub.r[AT_SCALE + k] = relativeTo(squares, inverseScale * (float) (solve->what == POSITIONS ? 1 : solve->timeScale));
    sub.m[AT_RATE + k] = rate + rateOfAll;
    if (solve->workStage >= 0)
        workRatesOf(a)[solve->workStage * a->numRows + row] = rate;
}
