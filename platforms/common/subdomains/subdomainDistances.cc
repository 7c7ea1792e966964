// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc, subdomainLocal.cc
// needs if SUBDOMAIN_ANGLES: subdomainAngles.cc
// needs if SUBDOMAIN_EXPRESSIONS: subdomainExpressions.cc
// needs if HAS_JOINTS: subdomainBodies.cc
// needs if SUBDOMAIN_JOINTS: subdomainJoints.cc
// needs if SUBDOMAIN_GLOBAL_ROWS: subdomainGlobalRows.cc
// The rows of a subdomain in shared memory (subdomainLocal.cc): distances here, others in subdomainAngles.cc,
// subdomainExpressions.cc, subdomainJoints.cc and subdomainGlobalRows.cc. They compute what subdomains.cc does for any kind of
// row, in another form: with b the bond that a step without constraints leads to, and e the change of b by all corrections
// together,
//
//     |b + e|^2 - L^2 = (|b|^2 - L^2) + (2 b + e).e
//
// What is in parentheses first is computed once in `mixed`, the rest in `number`, which is float where the tolerance is
// coarse. The error that is reported includes a bound of the rounding: docs/theory/solving.md.

/** -sigma of a row that the subdomain solves, with the gradient. */
DEVICE void evaluateRowLocal(const Solve* solve, int k, Worst* worst, bool* hasTurned SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int places = sub.i[AT_ROW_PLACES + k];
    const number4 first = sub.n[AT_IMPULSE + INDEX(LOW(places))], second = sub.n[AT_IMPULSE + HIGH(places)];
    const number4 b = sub.n[AT_BOND + k];
    const number target = sub.r[AT_TARGET + k], scale = sub.r[AT_SCALE + k];
    number4 e;
    e.x = first.x - second.x;
    e.y = first.y - second.y;
    e.z = first.z - second.z;
    number error, value, sigma;
    bool isTurned = false;
    const float4 start = sub.g[AT_START_GRADIENT + k];
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
        sub.g[AT_GRADIENT + k] = g;
        isTurned = !(dotOf(g, start) > 1e-6f);
    } else {
        sigma = value = b.w + b.x * e.x + b.y * e.y + b.z * e.z;
        error = fabs(sigma) * scale;
    }
#if IS_NARROWER
    error += SUM_ROUNDING * scale * (first.w + second.w);
#endif
    sub.f[AT_RIGHT_SIDE + k] = -sigma;
    noteError(worst, sub, k, error, value);
    *hasTurned = *hasTurned || (isTurned && IS_OWN_LOCAL(k));
}

/** Residuals of angles and expressions with the corrections of all subdomains. Errors of expressions are found later. */
DEVICE void evaluateOthersLocal(const Arguments* a, const Solve* solve, bool isCorrected,
                                Worst* worst SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
#if SUBDOMAIN_ANGLES
    EACH_ANGLE(n) evaluateAngleLocal(solve, n, isCorrected, worst SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_EXPRESSIONS
    EACH_EXPRESSION(n) evaluateExpressionLocal(a, sub, solve, n);
#endif
}

#if WAITS
#define IS_FIRST_ROUND(a) true
#else
#define IS_FIRST_ROUND(a) ((a)->round == 0)
#endif

/** Take the present positions as the start of all rows, and evaluate those of particles without corrections. */
DEVICE Worst startRowsLocal(const Arguments* a, const Solve* solve SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const StepState stepState = stepStateOf(a, a->time);
    Worst worst = newWorst();
    EACH_DISTANCE(k, NUM_ROWS, SUBDOMAIN_ROWS) {
        const int places = sub.i[AT_ROW_PLACES + k], first = INDEX(LOW(places)), second = HIGH(places);
        mixed3 s = vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, first) -
                   vectorAt(sub.m + AT_POSITION, SUBDOMAIN_ALL_PLACES, second);
        if (sub.m[AT_INVERSE_LENGTH + k] != 0)
            s = minimumImage(s, stepState);
        const mixed inverse = inverseRoot(dot(s, s));
        const mixed3 gradient = inverse * s;
        setVectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, k, s);
        sub.m[AT_INVERSE_LENGTH + k] = inverse;
        sub.g[AT_START_GRADIENT + k] = sizedVector(gradient, 1);
        if (k >= NUM_SOLVED)
            continue;
        const mixed rate = sub.m[AT_RATE + k], target = sub.m[AT_LENGTH + k];
        if (solve->workStage >= 0)
            workRatesOf(a)[solve->workStage * a->numRows + sub.i[AT_FIRST_ROW] + k] = -rate;
        LOCAL_ARG const mixed* values = sub.m + (solve->what == POSITIONS ? AT_DISPLACEMENT : AT_VELOCITY);
        const mixed3 free = vectorAt(values, SUBDOMAIN_ALL_PLACES, first) - vectorAt(values, SUBDOMAIN_ALL_PLACES, second);
        const mixed3 b = solve->what == POSITIONS ? s + free : gradient;
        number4 bond;
        bond.x = b.x;
        bond.y = b.y;
        bond.z = b.z;
        bond.w = solve->what == POSITIONS ? dot(b, b) - target * target : dot(b, free) - rate;
        sub.n[AT_BOND + k] = bond;
        sub.r[AT_TARGET + k] = target;
        sub.r[AT_SCALE + k] = (number) (solve->what == POSITIONS ? 1 : solve->timeScale) / (number) target;
        bool ignored = false;
        evaluateRowLocal(solve, k, &worst, &ignored SHARED_ARGUMENT);
        if (!(inverse > 0 && inverse < INFINITE_ERROR))
            noteWorst(&worst, sub.i[AT_FIRST_ROW] + k, 1 / inverse, 1 / inverse);
    }
#if SUBDOMAIN_ANGLES
    EACH_ANGLE(n) startAngleLocal(a, solve, n, &worst SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_EXPRESSIONS
    EACH_EXPRESSION(n) startExpressionLocal(a, solve, n SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_GLOBAL_ROWS
    EACH_GLOBAL_ROW(n) takeGlobalStart(a, solve, n SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_JOINTS
    startPoints(a, sub, solve);
#endif
#if SUBDOMAIN_ANGLES
    if (solve->what == POSITIONS)
        EACH_ANGLE(n) findFreeAngle(a, n SHARED_ARGUMENT);
#endif
#if SUBDOMAIN_JOINTS
    THREAD_GROUP_SYNC
#endif
    if (IS_FIRST_ROUND(a))
        evaluateOthersLocal(a, solve, false, &worst SHARED_ARGUMENT);
#if SUBDOMAIN_JOINTS
    startJoints(a, sub, solve, &worst SHARED_ARGUMENT);
#endif
    return worst;
}

/** Residuals of rows of particles with the corrections of all subdomains. */
DEVICE Worst evaluateRowsLocal(const Arguments* a, const Solve* solve, bool* hasTurned SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    Worst worst = newWorst();
    EACH_DISTANCE(k, NUM_SOLVED, SUBDOMAIN_SOLVED)
        evaluateRowLocal(solve, k, &worst, hasTurned SHARED_ARGUMENT);
    evaluateOthersLocal(a, solve, true, &worst SHARED_ARGUMENT);
    return worst;
}

/** Add total multiplier times gradient, an element of a place, to its impulse. */
DEVICE void addImpulse(LocalSubdomain sub, int entry, number4* sum) {
    const int k = INDEX(entry);
    const number total = sub.r[AT_SMALL_TOTAL + k], signedTotal = (entry & MARK) ? -total : total;
#if COARSE
    const float4 g = sub.g[AT_START_GRADIENT + k];
    sum->w += fabs(total) * g.w;
#else
    const mixed3 g = (k < SUBDOMAIN_ELEMENTS ? sub.m[AT_INVERSE_LENGTH + k] : 0) *
                     vectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, k);
#endif
    sum->x += signedTotal * g.x;
    sum->y += signedTotal * g.y;
    sum->z += signedTotal * g.z;
}

/** Displace places by the total multipliers of rows, and bodies: a barrier has to follow before these are read. */
DEVICE void displaceLocal(const Arguments* a, int c, const Solve* solve SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    EACH_PLACE(place) {
        const int2 firstFour = ((LOCAL_ARG const int2*) (sub.s + AT_PLACE_ROWS))[place];
        const int begin = sub.s[AT_PLACE_START + place], end = sub.s[AT_PLACE_START + place + 1];
        const number w = sub.r[AT_NUMBER_WEIGHT + place];
        number4 sum;
        sum.x = sum.y = sum.z = sum.w = 0;
        addImpulse(sub, LOW(firstFour.x), &sum);
        addImpulse(sub, HIGH(firstFour.x), &sum);
        addImpulse(sub, LOW(firstFour.y), &sum);
        addImpulse(sub, HIGH(firstFour.y), &sum);
#pragma unroll 1 // few places have more
        for (int m = begin; m < end; m++)
            addImpulse(sub, sub.s[AT_OTHER_ROWS + m], &sum);
        sum.x *= w;
        sum.y *= w;
        sum.z *= w;
        sum.w *= w;
        sub.n[AT_IMPULSE + place] = sum;
#if SUBDOMAIN_GLOBAL_ROWS
        if (solve->what == POSITIONS)
            store3(a->impulse, NODE_OF_PLACE(a->particleStart[c] + place), make_mixed3(sum.x, sum.y, sum.z));
#endif
    }
    THREAD_GROUP_SYNC
#if HAS_JOINTS
    displaceBodiesLocal(a, c, solve, false SHARED_ARGUMENT);
#endif
}

/** Lambda_k grad sigma_k(0) of all rows, in the place of their bonds. */
DEVICE void findImpulsesLocal(SharedMemory shared) {
    const LocalSubdomain sub = localSubdomain(shared);
    EACH_LOCAL_ROW(k) if (IS_DISTANCE(k))
        setImpulseLocal(sub, k, sub.m[AT_TOTAL + k]);
#if SUBDOMAIN_SLOTS
    EACH_FROM_END(n, 0, NUM_SLOTS)
        setImpulseLocal(sub, SUBDOMAIN_ROWS + n, sub.m[AT_TOTAL + sub.s[AT_ELEMENT_ROW + n]]);
#endif
}

/** 1/m_i sum_k Lambda_k grad_i sigma_k(0) of a place, after findImpulsesLocal(). */
DEVICE mixed3 impulseLocal(int place SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    const int begin = sub.s[AT_PLACE_START + place], end = sub.s[AT_PLACE_START + place + 1];
    mixed3 sum = make_mixed3(0, 0, 0);
#pragma unroll 4
    for (int m = begin - 4; m < end; m++) {
        const int entry = sub.s[m < begin ? AT_PLACE_ROWS + 4 * place + m - begin + 4 : AT_OTHER_ROWS + m];
        const mixed3 impulse = vectorAt(sub.m + AT_START_BOND, SUBDOMAIN_ELEMENTS + 1, INDEX(entry));
        sum = (entry & MARK) ? sum - impulse : sum + impulse;
    }
    return sub.m[AT_INVERSE_MASS + place] * sum;
}

#if !WAITS
/** Leave impulses for the launch that moves particles. */
DEVICE void keepImpulsesLocal(const Arguments* a, int c, const Solve* solve SHARED_PARAMETER) {
    const LocalSubdomain sub = localSubdomain(shared);
    findImpulsesLocal(shared);
    THREAD_GROUP_SYNC
    EACH_PLACE(place)
        store3(a->impulse, NODE_OF_PLACE(a->particleStart[c] + place), impulseLocal(place SHARED_ARGUMENT));
#if HAS_JOINTS
    displaceBodiesLocal(a, c, solve, true SHARED_ARGUMENT);
#endif
}
#endif
