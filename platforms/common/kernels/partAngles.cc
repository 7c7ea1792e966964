// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Angles and dihedrals in a part (partLocal.cc). They have an element for each particle, behind the rows, and threads of
// their own from the block's end, so that no warp evaluates distances as well. With s and c the sine and the cosine of q,
// both times the same factor, and s' and c' those without corrections, corrections change q by
//
//     atan2(s c' - c s', c c' + s s')
//
// whose arguments may be rounded to `number`: the change is as precise, relative to itself.

#define EACH_ANGLE(n) for (int n = BLOCK_SIZE - 1 - THREAD_IN_GROUP; n < NUM_ANGLES; n += BLOCK_SIZE)

/** Arrays have a place for each of four particles, the last one again if there are three, to be held in registers. */
typedef struct {
    int row, kind, firstElement, size;
    int places[4];
} AngleLocal;

#define EACH_OF_ANGLE(angle, s)                                                                                        \
    for (int s = 0; s < 4; s++)                                                                                        \
        if (s < (angle).size)

DEVICE AngleLocal angleAt(LocalPart part, int n) {
    const int4 numbers = ((LOCAL_ARG const int4*) (part.s + AT_ANGLE))[n];
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

/** By so much the change of an angle rounds, relative to it: docs/theory/solving.md. */
#define ANGLE_ROUNDING 9e-7f

/** -sigma of an angle that the part solves, with the gradient.
 *  @param isFirst  there are no corrections yet */
DEVICE void evaluateAngleLocal(const PartSolve* solve, int n, bool isFirst, Worst* worst SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const AngleLocal angle = angleAt(part, n);
    const int k = angle.row;
    if (k >= NUM_SOLVED)
        return;
    number sigma, value, rounding = 0;
    mixed3 e[4];
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const number4 impulse = part.n[AT_IMPULSE + angle.places[s]];
        e[s] = make_mixed3(impulse.x, impulse.y, impulse.z);
        if (s < angle.size)
            rounding += impulse.w * part.g[AT_START_GRADIENT + angle.firstElement + s].w;
    }
    if (solve->what == POSITIONS) {
        LOCAL_ARG mixed* free = part.m + AT_ANGLE_FREE + 3 * n; // sine and cosine without corrections, and sigma
        mixed3 b[3], gradients[4];
        mixed sine, cosine;
#pragma unroll
        for (int s = 0; s < 3; s++)
            b[s] = vectorAt(part.m + AT_ANGLE_BOND, 3 * PART_ANGLES, 3 * n + s) + (e[s] - e[s + 1]);
        angleGradients(angle.kind, b, &sine, &cosine, gradients);
#pragma unroll
        EACH_OF_ANGLE(angle, s) part.g[AT_GRADIENT + angle.firstElement + s] = sizedVector(gradients[s], 0);
        if (isFirst) {
            free[0] = sine;
            free[1] = cosine;
            free[2] = sigma = wrapResidual(angle.kind, atan2(sine, cosine) - part.m[AT_LENGTH + k]);
        } else {
            const number change =
                atan2((number) (sine * free[1] - cosine * free[0]), (number) (cosine * free[1] + sine * free[0]));
            rounding += ANGLE_ROUNDING / SUM_ROUNDING * fabs(change);
            sigma = free[2] + change;
        }
        value = part.m[AT_LENGTH + k] + sigma;
    } else {
        mixed rate = part.m[AT_ANGLE_BOND + 3 * n];
#pragma unroll
        EACH_OF_ANGLE(angle, s)
            rate += dot(vectorAt(part.m + AT_START_BOND, PART_ELEMENTS + 1, angle.firstElement + s), e[s]);
        sigma = value = rate;
    }
    number error = fabs(sigma) * part.r[AT_SCALE + k];
#if IS_NARROWER
    error += SUM_ROUNDING * part.r[AT_SCALE + k] * rounding;
#endif
    part.f[AT_RIGHT_SIDE + k] = -sigma;
    if (IS_OWN_LOCAL(k))
        noteWorst(worst, part.i[AT_FIRST_ROW] + k, error, value);
}

/** Take the present positions as the start of an angle, and evaluate it without corrections. */
DEVICE void startAngleLocal(const Arguments* a, const PartSolve* solve, int n, Worst* worst SHARED_PARAMETER) {
    const LocalPart part = localPart(shared);
    const StepState stepState = stepStateOf(a, a->time);
    const AngleLocal angle = angleAt(part, n);
    const int k = angle.row, row = part.i[AT_FIRST_ROW] + k;
    const bool isPeriodic = part.m[AT_INVERSE_LENGTH + k] != 0;
    mixed3 b[3], gradients[4], free[4];
    mixed sine, cosine, squares = 0, rate = 0;
    LOCAL_ARG const mixed* values = part.m + (solve->what == POSITIONS ? AT_DISPLACEMENT : AT_VELOCITY);
#pragma unroll
    for (int s = 0; s < 4; s++)
        free[s] = vectorAt(values, PART_ALL_PLACES, angle.places[s]);
#pragma unroll
    for (int s = 0; s < 3; s++) {
        b[s] = vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, angle.places[s]) -
               vectorAt(part.m + AT_POSITION, PART_ALL_PLACES, angle.places[s + 1]);
        if (isPeriodic)
            b[s] = minimumImage(b[s], stepState);
    }
    angleGradients(angle.kind, b, &sine, &cosine, gradients);
#pragma unroll
    EACH_OF_ANGLE(angle, s) {
        const int element = angle.firstElement + s;
        squares += startElement(part, element, gradients[s]);
        rate += dot(gradients[s], free[s]);
#if !WAITS // for the launch that moves particles
        store3(a->startGradient, FIRST_SLOT(row) + s, gradients[s]);
#endif
    }
    if (k >= NUM_SOLVED)
        return;
    part.r[AT_SCALE + k] = a->rowInverseScale[row] * (solve->what == POSITIONS ? 1 : solve->timeScale);
    if (solve->workStage >= 0)
        a->workRate[solve->workStage * a->numRows + row] = -part.m[AT_RATE + k];
    if (solve->what == POSITIONS)
#pragma unroll
        for (int s = 0; s < 3; s++)
            setVectorAt(part.m + AT_ANGLE_BOND, 3 * PART_ANGLES, 3 * n + s, b[s] + (free[s] - free[s + 1]));
    else
        part.m[AT_ANGLE_BOND + 3 * n] = rate - part.m[AT_RATE + k];
    evaluateAngleLocal(solve, n, true, worst SHARED_ARGUMENT);
    if (!(squares < INFINITE_ERROR)) // three particles on a line have no gradient
        noteWorst(worst, row, squares, squares);
}
