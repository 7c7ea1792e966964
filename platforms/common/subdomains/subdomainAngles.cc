// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc, subdomainAngleChanges.cc
// Angles and dihedrals in a subdomain (subdomainLocal.cc). They have an element for each particle, behind the rows, and threads
// of their own from the block's end, so that no warp evaluates rows of two kinds if there is room. What corrections change is
// computed in `number` from the changes of bond vectors, as for distances: it is as precise, relative to these.

/** Each kind has its warps: n is an angle of this warp's kind. */
#define EACH_ANGLE(n)                                                                                                  \
    EACH_FROM_END(thread, THREADS_BEFORE_ANGLES, THREADS_FOR_ANGLES)                                                   \
    for (int n = thread % THREADS_FOR(SUBDOMAIN_ANGLES), once = 0; once < 1 && isAngleOf(sub, n, thread); once++)

#define EACH_OF_ANGLE(angle, s)                                                                                        \
    for (int s = 0; s < 4; s++)                                                                                        \
        if (s < (angle).size)
#define EACH_BOND_OF_ANGLE(angle, s)                                                                                   \
    for (int s = 0; s < 3; s++)                                                                                        \
        if (s < (angle).size - 1)

/** Arrays have a place for each of four particles, the last one again if there are three, to be held in registers. */
typedef struct {
    int row, kind, firstElement, size;
    int places[4];
} AngleLocal;

DEVICE AngleLocal angleAt(LocalSubdomain sub, int n) {
    const int4 numbers = ((LOCAL_ARG const int4*) (sub.s + AT_ANGLE))[n];
    AngleLocal angle;
    angle.row = LOW(numbers.x);
    angle.kind = HIGH(numbers.x);
    angle.firstElement = LOW(numbers.y);
    angle.size = HIGH(numbers.y);
    angle.places[0] = LOW(numbers.z);
    angle.places[1] = HIGH(numbers.z);
    angle.places[2] = LOW(numbers.w);
    angle.places[3] = HIGH(numbers.w);
    return angle;
}

/** Whether n is an angle that one of these threads has, counted from the block's end. */
DEVICE bool isAngleOf(LocalSubdomain sub, int n, int thread) {
    return n < NUM_ANGLES && angleAt(sub, n).kind == RowKind_Angle + thread / THREADS_FOR(SUBDOMAIN_ANGLES);
}

/** Sine and cosine of q, times a factor, and its gradient at each particle. */
DEVICE void angleGradients(int kind, const mixed3* b, mixed* sine, mixed* cosine, mixed3* gradients) {
    mixed3 G[3];
    G[0] = G[1] = G[2] = make_mixed3(0, 0, 0);
    *sine = *cosine = 0;
#define ANGULAR(Name, name, numParticles, range)                                                                       \
    if (kind == RowKind_##Name)                                                                                        \
        name##SineCosine(b, sine, cosine, G);
    ANGULAR_COORDINATES(ANGULAR)
#undef ANGULAR
    gradients[0] = G[0];
    gradients[1] = G[1] - G[0];
    gradients[2] = G[2] - G[1];
    gradients[3] = make_mixed3(0, 0, 0) - G[2];
}

/** By so much an angle without corrections and its change round, relative to changes of its bonds: docs/theory/solving.md. */
#define ANGLE_ROUNDING 1.97e-6f

DEVICE number3 angleBond(LocalSubdomain sub, int n, int s) {
    LOCAL_ARG const number* x = sub.r + AT_ANGLE_BOND + 3 * n + s;
    return make_number3(x[0], x[3 * SUBDOMAIN_ANGLES], x[6 * SUBDOMAIN_ANGLES]);
}

/** -sigma of an angle that the subdomain solves, with the gradient. @param isCorrected  whether there are corrections */
DEVICE void evaluateAngleLocal(const Solve* solve, int n, bool isCorrected, Worst* worst SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const AngleLocal angle = angleAt(sub, n);
    const int k = angle.row;
    if (k >= NUM_SOLVED)
        return;
    number sigma, value, rounding = 0;
    if (solve->what == POSITIONS) {
        if (isCorrected)
            rounding = spreadOfElements(sub, k);
        LOCAL_ARG const number* free = sub.r + AT_ANGLE_FREE + 3 * n; // sine and cosine without corrections, and sigma
        number3 b[3], d[3], G[5]; // of bonds, between two that are zero
        number change = 0, steepness = 0, changes = 0;
        G[0] = G[3] = G[4] = make_number3(0, 0, 0);
#pragma unroll
        EACH_BOND_OF_ANGLE(angle, s) {
            const number4 first = sub.n[AT_IMPULSE + angle.places[s]];
            const number4 second = sub.n[AT_IMPULSE + angle.places[s + 1]];
            d[s] = make_number3(first.x - second.x, first.y - second.y, first.z - second.z);
            b[s] = angleBond(sub, n, s);
            changes += sqrt(dot(d[s], d[s]) / dot(b[s], b[s]));
        }
#define ANGULAR(Name, name, numParticles, range)                                                                       \
    if (angle.kind == RowKind_##Name)                                                                                  \
        change = name##Change(b, d, free[0], free[1], G + 1, &steepness);
        ANGULAR_COORDINATES(ANGULAR)
#undef ANGULAR
#pragma unroll
        EACH_OF_ANGLE(angle, s)
            sub.g[AT_GRADIENT + angle.firstElement + s] = floatsOf(G[s + 1] - G[s]);
        rounding += ANGLE_ROUNDING / SUM_ROUNDING * steepness * changes;
        sigma = free[2] + change;
        value = sub.m[AT_LENGTH + k] + sigma;
        if (fabs(value) > 3.14f)
            value = wrapResidual(angle.kind, value);
    } else
        sigma = value = rateOfElements(sub, k, isCorrected, &rounding);
    number error = fabs(sigma) * sub.r[AT_SCALE + k];
#if IS_NARROWER
    error += SUM_ROUNDING * sub.r[AT_SCALE + k] * rounding;
#endif
    sub.f[AT_RIGHT_SIDE + k] = -sigma;
    noteError(worst, sub, k, error, value);
}

/** A bond vector of an angle at the start. */
DEVICE mixed3 startBondOf(LocalSubdomain sub, AngleLocal angle, int s, StepState stepState) {
    const mixed3 b = vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, angle.places[s]) -
                     vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, angle.places[s + 1]);
    return sub.m[AT_INVERSE_LENGTH + angle.row] != 0 ? minimumImage(b, stepState) : b;
}

/** Take the present positions as the start of an angle. */
DEVICE void startAngleLocal(const Arguments* a, const Solve* solve, int n, Worst* worst SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const AngleLocal angle = angleAt(sub, n);
    const int k = angle.row, row = sub.i[AT_FIRST_ROW] + k;
    mixed3 b[3], gradients[4];
    mixed sine, cosine, rate = 0;
    float squares = 0;
#pragma unroll
    EACH_BOND_OF_ANGLE(angle, s) {
        b[s] = startBondOf(sub, angle, s, stepState);
    }
    angleGradients(angle.kind, b, &sine, &cosine, gradients);
#pragma unroll
    EACH_OF_ANGLE(angle, s) {
        squares += startElement(sub, angle.firstElement + s, gradients[s]);
        if (solve->what == VELOCITIES)
            rate += dot(gradients[s], vectorAt(sub.m + AT_VELOCITY, SUBDOMAIN_ALL_PLACES, angle.places[s]));
    }
    if (k >= NUM_SOLVED)
        return;
    sub.r[AT_SCALE + k] = a->rowInverseScale[row] * (solve->what == POSITIONS ? 1 : solve->timeScale);
    if (solve->workStage >= 0)
        workRatesOf(a)[solve->workStage * a->numRows + row] = -sub.m[AT_RATE + k];
    if (solve->what == VELOCITIES)
        sub.m[AT_RATE + k] = rate - sub.m[AT_RATE + k];
    else {
        sineCosine(wrapResidual(angle.kind, sub.m[AT_LENGTH + k]), &sine, &cosine);
        sub.m[AT_ANGLE_TARGET + 2 * n] = sine;
        sub.m[AT_ANGLE_TARGET + 2 * n + 1] = cosine;
    }
    if (!(squares < INFINITE_ERROR)) // three particles on a line have no gradient
        noteWorst(worst, row, squares, squares);
}

/** Find an angle that the subdomain solves without corrections: bonds, sine, cosine and sigma. */
DEVICE void findFreeAngle(const Arguments* a, int n SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const AngleLocal angle = angleAt(sub, n);
    const int k = angle.row;
    if (k >= NUM_SOLVED)
        return;
    LOCAL_ARG number* x = sub.r + AT_ANGLE_BOND + 3 * n;
    mixed3 b[3], unused[4];
    mixed sine, cosine;
#pragma unroll
    EACH_BOND_OF_ANGLE(angle, s) {
        b[s] = startBondOf(sub, angle, s, stepState);
        b[s] = b[s] + (vectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, angle.places[s]) -
                       vectorAt(sub.m + AT_DISPLACEMENT, SUBDOMAIN_ALL_PLACES, angle.places[s + 1]));
        x[s] = b[s].x;
        x[s + 3 * SUBDOMAIN_ANGLES] = b[s].y;
        x[s + 6 * SUBDOMAIN_ANGLES] = b[s].z;
    }
    angleGradients(angle.kind, b, &sine, &cosine, unused);
    sub.r[AT_ANGLE_FREE + 3 * n] = sine;
    sub.r[AT_ANGLE_FREE + 3 * n + 1] = cosine;
    sub.r[AT_ANGLE_FREE + 3 * n + 2] = fromTarget(angle.kind, sine, cosine, sub.m[AT_LENGTH + k],
                                                  sub.m[AT_ANGLE_TARGET + 2 * n], sub.m[AT_ANGLE_TARGET + 2 * n + 1]);
}
