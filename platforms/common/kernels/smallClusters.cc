// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Clusters of $SIZE$ distances that do not move in time: one thread each. This text is compiled once for every size
// that occurs, and with $SIZE$ 0 for particles without constraints.
//
// Unknowns are impulses kappa_k along the bonds b_k at the start of the step. With w_kl = sum_i (e_ki e_li)/m_i, where
// e_ki is 1 for the first and -1 for the second particle of row k, the differences s_k of displacements, velocities or
// accelerations change by s_k += sum_l w_kl kappa_l b_l, so particles are changed only at the end. lambda_k = kappa_k
// |b_k|.
//
// With the bonds s_k that there would be without constraints, the residual of a length is the constant |s_k|^2 -
// length_k^2, computed once as `mixed`, plus (2 s_k + e_k).e_k, e_k = sum_l w_kl kappa_l b_l, in `number`s. Rounding of
// the second part is relative to e_k, which is small. Where it is not small enough for the tolerance, the solve goes on
// from where it has come: docs/theory/solving.md has the bound. Velocities likewise.
//
// All data of a cluster of up to MAX_IN_REGISTERS rows are in registers. A larger one does not fit: bonds and
// solutions are in registers, the matrix is in the thread's share of local memory, and the particles are in global
// memory between solves. Where many clusters wait for room on the device, those of three rows have their matrix,
// the exact bonds and displacements in local memory, too, so that more of them are there at once: LEAST_IN_LOCAL_MEMORY
// rows.

#if $SIZE$ < LEAST_IN_LOCAL_MEMORY
#define STRIDE$SIZE$ 1
#else
#define STRIDE$SIZE$ SMALL_BLOCK
#endif

typedef struct {
    int firstPlace, stride; // of its particles in smallParticles
#if $SIZE$ <= MAX_IN_REGISTERS
    int index[$SIZE$ + 1];
    Particle particle[$SIZE$ + 1];
#endif
#if $SIZE$ > 0
    int firsts, seconds; // four bits a row: which of the particles it joins
    int firstRow;        // number of its first row among all
    int firstLength;     // place of its first length in smallNumbers
    number3 b[$SIZE$];     // bonds at the start, nm
#if $SIZE$ < LEAST_IN_LOCAL_MEMORY
    mixed3 exactBond[$SIZE$]; // the same
    number numbers[$SIZE$ * ($SIZE$ + 8)];
#else
#if $SIZE$ <= MAX_IN_REGISTERS
    volatile LOCAL_ARG mixed* vectors; // the same, then displacements of particles
#elif IS_NARROWER
    number3 remainder[$SIZE$]; // of bonds, which takes fewer registers
#endif
    volatile LOCAL_ARG number* numbers; // volatile: compilers would keep all of them in registers as well, and spill
#endif
#endif
} Cluster$SIZE$;

#if $SIZE$ > 0
/** Place of w_kl among the numbers: of a symmetric or triangular matrix one half is kept. */
DEVICE int place$SIZE$(int k, int l) {
    const int i = k < l ? k : l, j = k < l ? l : k;
    return $SIZE$ + i * (2 * $SIZE$ - i + 1) / 2 + j - i;
}

// The numbers: wanted lengths, w_kl, U with inverse pivots, |b_k|, kappa_k; without constraints residuals and s_k.
#define LENGTH$SIZE$(c, k) (c)->numbers[STRIDE$SIZE$ * (k)]
#define WEIGHT$SIZE$(c, k, l) (c)->numbers[STRIDE$SIZE$ * place$SIZE$(k, l)]
#define UPPER$SIZE$(c, k, l) (c)->numbers[STRIDE$SIZE$ * (place$SIZE$(k, l) + $SIZE$ * ($SIZE$ + 1) / 2)]
#define START$SIZE$(c, k) (c)->numbers[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 2) + (k))]
#define KAPPA$SIZE$(c, k) (c)->numbers[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 3) + (k))]
#define OFFSET$SIZE$(c, k) (c)->numbers[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 4) + (k))]
#define BASE$SIZE$(c, k, n) (c)->numbers[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 5) + 3 * (k) + (n))]

#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY && $SIZE$ <= MAX_IN_REGISTERS
DEVICE mixed3 vector$SIZE$(const Cluster$SIZE$* c, int n) {
    volatile LOCAL_ARG const mixed* place = c->vectors + 3 * SMALL_BLOCK * n;
    return make_mixed3(place[0], place[SMALL_BLOCK], place[2 * SMALL_BLOCK]);
}

DEVICE void setVector$SIZE$(Cluster$SIZE$* c, int n, mixed3 value) {
    volatile LOCAL_ARG mixed* place = c->vectors + 3 * SMALL_BLOCK * n;
    place[0] = value.x;
    place[SMALL_BLOCK] = value.y;
    place[2 * SMALL_BLOCK] = value.z;
}
#endif

/** Bond at the start. */
DEVICE mixed3 bond$SIZE$(const Cluster$SIZE$* c, int k) {
#if $SIZE$ < LEAST_IN_LOCAL_MEMORY
    return c->exactBond[k];
#elif $SIZE$ <= MAX_IN_REGISTERS
    return vector$SIZE$(c, k);
#elif IS_NARROWER
    return toMixed(c->b[k]) + toMixed(c->remainder[k]);
#else
    return toMixed(c->b[k]);
#endif
}
#endif

/** The i-th of its particles; -1: there is none. */
DEVICE int particle$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int i) {
    return a->smallParticles[c->firstPlace + i * c->stride];
}

// INDEX: the i-th of the particles whose steps this thread takes; -1: there is none. An immovable one may be in several
// clusters, so it has a thread of its own besides, as a particle without constraints.
#if $SIZE$ <= MAX_IN_REGISTERS
#define INDEX$SIZE$(a, c, i) (c)->index[i]

DEVICE void loadParticles$SIZE$(const Arguments* a, Cluster$SIZE$* c) {
#pragma unroll
    for (int i = 0; i <= $SIZE$; i++) {
        Particle* p = &c->particle[i];
        p->v = p->d = p->c = make_mixed3(0, 0, 0);
        p->w = 0;
        c->index[i] = particle$SIZE$(a, c, i);
        if (c->index[i] >= 0) {
            *p = loadParticle(a, c->index[i]);
            p->d = p->c = make_mixed3(0, 0, 0); // a stage sets d before it needs it
        }
#if $SIZE$ > 0
        if (p->w == 0)
            c->index[i] = -1;
#endif
#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY
        setVector$SIZE$(c, $SIZE$ + i, make_mixed3(0, 0, 0));
#endif
    }
}

DEVICE void storeParticles$SIZE$(const Arguments* a, Cluster$SIZE$* c) {
#pragma unroll
    for (int i = 0; i <= $SIZE$; i++)
        if (c->index[i] >= 0)
            storeVelocity(a, c->index[i], &c->particle[i]);
}

DEVICE Particle get$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int i) {
    Particle p = c->particle[i];
#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY
    p.d = vector$SIZE$(c, $SIZE$ + i);
#endif
    return p;
}

DEVICE void put$SIZE$(const Arguments* a, Cluster$SIZE$* c, int i, const Particle* p) {
    c->particle[i] = *p;
#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY
    setVector$SIZE$(c, $SIZE$ + i, p->d);
#endif
}

/** The same as get$SIZE$() where i is not known when this is compiled: registers have no addresses. */
DEVICE Particle find$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int i) {
    Particle p = c->particle[0];
#pragma unroll
    for (int j = 1; j <= $SIZE$; j++) {
        p.v = choose(i == j, c->particle[j].v, p.v);
        p.d = choose(i == j, c->particle[j].d, p.d);
        p.c = choose(i == j, c->particle[j].c, p.c);
    }
#if $SIZE$ >= LEAST_IN_LOCAL_MEMORY
    p.d = vector$SIZE$(c, $SIZE$ + i);
#endif
    return p;
}
#else
DEVICE int ownParticle$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int i) {
    const int index = particle$SIZE$(a, c, i);
    return index >= 0 && a->velm[index].w > 0 ? index : -1;
}

#define INDEX$SIZE$(a, c, i) ownParticle$SIZE$(a, c, i)
#define get$SIZE$(a, c, i) loadParticle(a, particle$SIZE$(a, c, i))
#define put$SIZE$(a, c, i, p) storeParticle(a, particle$SIZE$(a, c, i), p)
#define find$SIZE$(a, c, i) loadParticle(a, particle$SIZE$(a, c, i))
#define loadParticles$SIZE$(a, c)
#define storeParticles$SIZE$(a, c)
#endif

#if $SIZE$ > 0
DEVICE int first$SIZE$(const Cluster$SIZE$* c, int k) {
    return (c->firsts >> (4 * k)) & 15;
}

DEVICE int second$SIZE$(const Cluster$SIZE$* c, int k) {
    return (c->seconds >> (4 * k)) & 15;
}

DEVICE void loadBonds$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    const int4 type = a->smallTypes[a->smallClusterType[cluster]];
    const StepState stepState = stepStateOf(a, 0);
    c->firsts = type.x;
    c->seconds = type.y;
    c->firstLength = type.w;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const int first = particle$SIZE$(a, c, first$SIZE$(c, k)), second = particle$SIZE$(a, c, second$SIZE$(c, k));
        mixed3 bond = positionOf(a, first) - positionOf(a, second);
        if ((type.z >> k) & 1)
            bond = minimumImage(bond, stepState);
        c->b[k] = toNumbers(bond);
#if $SIZE$ < LEAST_IN_LOCAL_MEMORY
        c->exactBond[k] = bond;
#elif $SIZE$ <= MAX_IN_REGISTERS
        setVector$SIZE$(c, k, bond);
#elif IS_NARROWER
        c->remainder[k] = toNumbers(bond - toMixed(c->b[k]));
#endif
        START$SIZE$(c, k) = sqrt(dot(c->b[k], c->b[k]));
    }
#pragma unroll
    for (int n = 0; n < $SIZE$ + $SIZE$ * ($SIZE$ + 1) / 2; n++)
        c->numbers[STRIDE$SIZE$ * n] = toNumber(a->smallNumbers[type.w + n]);
}

DEVICE void writeReport$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int stage, int cluster, Report report) {
    const int k = report.row - c->firstRow;
    writeReport(a, stage, cluster, report, report.row < 0 ? -1 : particle$SIZE$(a, c, first$SIZE$(c, k)));
}

/** c_i = 1/m_i sum_k e_ki kappa_k b_k, and the multipliers. Both are added to what an earlier round has found. */
DEVICE void finish$SIZE$(const Arguments* a, Cluster$SIZE$* c, GLOBAL mixed* multipliers, bool isFirst) {
$UNROLL_PARTICLES$
    for (int i = 0; i <= $SIZE$; i++) {
        mixed3 sum = make_mixed3(0, 0, 0);
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            if (first$SIZE$(c, k) == i) // e_ki = 1
                sum = sum + widened(KAPPA$SIZE$(c, k)) * bond$SIZE$(c, k);
            else if (second$SIZE$(c, k) == i)
                sum = sum - widened(KAPPA$SIZE$(c, k)) * bond$SIZE$(c, k);
        }
#if $SIZE$ <= MAX_IN_REGISTERS
        const mixed3 change = c->particle[i].w * sum;
        c->particle[i].c = isFirst ? change : c->particle[i].c + change;
#else
        const int index = INDEX$SIZE$(a, c, i);
        if (index >= 0) {
            const mixed3 change = a->velm[index].w * sum;
            store3(a->impulse, index, isFirst ? change : load3(a->impulse, index) + change);
        }
#endif
    }
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const mixed earlier = !isFirst || addsUp(a, multipliers) ? multipliers[c->firstRow + k] : 0;
        multipliers[c->firstRow + k] = earlier + widened(KAPPA$SIZE$(c, k)) * widened(START$SIZE$(c, k));
    }
}

DEVICE void forget$SIZE$(Cluster$SIZE$* c) {
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        KAPPA$SIZE$(c, k) = 0;
}

DEVICE number3 base$SIZE$(const Cluster$SIZE$* c, int k) {
    return make_number3(BASE$SIZE$(c, k, 0), BASE$SIZE$(c, k, 1), BASE$SIZE$(c, k, 2));
}

/** e_k = sum_l w_kl kappa_l b_l
 *  @param[in, out] size  Progress::size: at least the sum of the terms' lengths, relative to that of the row */
DEVICE number3 correction$SIZE$(const Cluster$SIZE$* c, int k, number* size) {
    number3 e = make_number3(0, 0, 0);
    number sum = 0;
#pragma unroll
    for (int l = 0; l < $SIZE$; l++) {
        const number scale = WEIGHT$SIZE$(c, k, l) * KAPPA$SIZE$(c, l);
        e = e + scale * c->b[l];
        sum += fabs(scale) * START$SIZE$(c, l);
    }
    *size = max(*size, sum / LENGTH$SIZE$(c, k));
    return e;
}

#if ITERATIVE
/** Correct one row at a time, each with the corrections of the rows before it. */
DEVICE void sweepLengths$SIZE$(Cluster$SIZE$* c, number3* e) {
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const number3 s = base$SIZE$(c, k) + e[k];
        const number q = sqrt(dot(s, s)), residual = OFFSET$SIZE$(c, k) + dot(base$SIZE$(c, k) + s, e[k]);
        const number change = -residual * q / ((q + LENGTH$SIZE$(c, k)) * WEIGHT$SIZE$(c, k, k) * dot(s, c->b[k]));
        KAPPA$SIZE$(c, k) += change;
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            e[l] = e[l] + (WEIGHT$SIZE$(c, l, k) * change) * c->b[k];
    }
}

DEVICE void sweepRates$SIZE$(Cluster$SIZE$* c, number* residual) {
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const number change = -residual[k] / (WEIGHT$SIZE$(c, k, k) * dot(c->b[k], c->b[k]));
        KAPPA$SIZE$(c, k) += change;
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            residual[l] += WEIGHT$SIZE$(c, l, k) * change * dot(c->b[l], c->b[k]);
    }
}
#else
/** A = L U with A_kl = w_kl g_k.b_l and x <- L^-1 x. L is not kept. There is no pivoting: A is symmetric and positive
 *  definite, or nearly so.
 *  @param e  g_k is s_k + e_k; null: b_k
 *  @return   -1, or the row whose pivot vanished */
DEVICE int eliminate$SIZE$(Cluster$SIZE$* c, const number3* e, number* x) {
    int failed = -1;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const number3 g = e == 0 ? c->b[k] : base$SIZE$(c, k) + e[k];
        number row[$SIZE$];
#pragma unroll
        for (int l = 0; l < $SIZE$; l++)
            row[l] = WEIGHT$SIZE$(c, k, l) * dot(g, c->b[l]);
        const number original = row[k];
#pragma unroll
        for (int m = 0; m < k; m++) {
            const number factor = row[m] * UPPER$SIZE$(c, m, m);
            x[k] -= factor * x[m];
#pragma unroll
            for (int l = m + 1; l < $SIZE$; l++)
                row[l] -= factor * UPPER$SIZE$(c, m, l);
        }
        const number pivot = $SIZE$ == 1 ? row[k] : fabs(row[k]); // negative: wrong root
        if (failed < 0 && !(pivot > NUMBER_THRESHOLD * fabs(original)))
            failed = k;
        UPPER$SIZE$(c, k, k) = 1 / row[k];
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            UPPER$SIZE$(c, k, l) = row[l];
    }
    return failed;
}

/** x <- U^-1 x, which corrects kappa. */
DEVICE void correct$SIZE$(Cluster$SIZE$* c, number* x) {
#pragma unroll
    for (int k = $SIZE$ - 1; k >= 0; k--) {
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            x[k] -= UPPER$SIZE$(c, k, l) * x[l];
        x[k] *= UPPER$SIZE$(c, k, k);
        KAPPA$SIZE$(c, k) += x[k];
    }
}
#endif

DEVICE Report singular$SIZE$(const Cluster$SIZE$* c, Report report, int k) {
    report.outcome = Outcome_Singular;
    report.row = c->firstRow + k;
    return report;
}

/** Newton's method for |s_k + e_k| = length_k until no error exceeds the tolerance. Without constraints the residual is
 *  |s_k|^2 - length_k^2. */
DEVICE Report findLengths$SIZE$(Cluster$SIZE$* c, Progress* progress, number tolerance, int maxIterations) {
    number3 e[$SIZE$];
    forget$SIZE$(c);
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        e[k] = make_number3(0, 0, 0);
    progress->size = 0;
    while (true) {
        Worst worst = newWorst();
        number x[$SIZE$];
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const number3 s = base$SIZE$(c, k) + e[k];
            const number q = sqrt(dot(s, s)), length = LENGTH$SIZE$(c, k);
            const number residual = OFFSET$SIZE$(c, k) + dot(base$SIZE$(c, k) + s, e[k]), inverse = 1 / (q + length);
            x[k] = -residual * q * inverse; // q (length - q): s_k is q times the gradient
            noteWorst(&worst, c->firstRow + k, fabs(residual) * inverse / length, q);
        }
        if (endsRound(progress, worst, $SIZE$, tolerance, maxIterations)) {
            Report report = reportOf(progress, worst, $SIZE$);
#pragma unroll
            for (int k = 0; k < $SIZE$; k++) { // if a bond has turned, the solution may be a wrong root
                const number start = START$SIZE$(c, k);
                if (report.outcome == Outcome_Converged &&
                    !(dot(base$SIZE$(c, k) + e[k], c->b[k]) > NUMBER_THRESHOLD * start * start))
                    report = singular$SIZE$(c, report, k);
            }
            return report;
        }
#if ITERATIVE
        sweepLengths$SIZE$(c, e);
#else
        const int failed = eliminate$SIZE$(c, e, x);
        if (failed >= 0)
            return singular$SIZE$(c, reportOf(progress, worst, $SIZE$), failed);
        correct$SIZE$(c, x);
#endif
        progress->iterations++;
        progress->size = 0;
#pragma unroll
        for (int k = 0; k < $SIZE$; k++)
            e[k] = correction$SIZE$(c, k, &progress->size);
    }
}

/** b_k.e_k = -offset_k, for which A does not change: one factor, and a second correction refines the first.
 *  @param scale  of errors relative to lengths */
DEVICE Report findRates$SIZE$(Cluster$SIZE$* c, Progress* progress, number scale, number tolerance,
                            int maxIterations) {
    number x[$SIZE$]; // residuals, then corrections
    forget$SIZE$(c);
    progress->size = 0;
#if !ITERATIVE
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        x[k] = 0;
    const int failed = eliminate$SIZE$(c, 0, x);
#endif
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        x[k] = OFFSET$SIZE$(c, k);
    while (true) {
        Worst worst = newWorst();
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const number rate = x[k] / START$SIZE$(c, k);
            noteWorst(&worst, c->firstRow + k, fabs(rate) * scale / LENGTH$SIZE$(c, k), rate);
        }
        if (endsRound(progress, worst, $SIZE$, tolerance, maxIterations))
            return reportOf(progress, worst, $SIZE$);
#if ITERATIVE
        sweepRates$SIZE$(c, x);
#else
        if (failed >= 0)
            return singular$SIZE$(c, reportOf(progress, worst, $SIZE$), failed);
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            x[k] = -x[k];
#pragma unroll
            for (int m = 0; m < k; m++) // A is symmetric: L is that of U
                x[k] -= UPPER$SIZE$(c, m, k) * UPPER$SIZE$(c, m, m) * x[m];
        }
        correct$SIZE$(c, x);
#endif
        progress->iterations++;
        progress->size = 0;
#pragma unroll
        for (int k = 0; k < $SIZE$; k++)
            x[k] = OFFSET$SIZE$(c, k) + dot(c->b[k], correction$SIZE$(c, k, &progress->size));
        progress->size *= scale;
    }
}

DEVICE mixed lengthOf$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int k) {
    return a->smallNumbers[c->firstLength + k];
}

/** Find kappa with |b_k + d_i - d_j + c_i - c_j| = length_k. */
DEVICE Report solveLengths$SIZE$(const Arguments* a, Cluster$SIZE$* c, GLOBAL mixed* multipliers) {
    Progress progress = newProgress();
    Report report;
    do {
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
            mixed3 s = bond$SIZE$(c, k) + first.d - second.d;
            if (progress.rounds > 0)
                s = s + first.c - second.c;
            const mixed length = lengthOf$SIZE$(a, c, k);
            OFFSET$SIZE$(c, k) = toNumber(dot(s, s) - length * length);
            const number3 base = toNumbers(s);
            BASE$SIZE$(c, k, 0) = base.x;
            BASE$SIZE$(c, k, 1) = base.y;
            BASE$SIZE$(c, k, 2) = base.z;
        }
        report = findLengths$SIZE$(c, &progress, toNumber(a->innerTolerance), a->maxIterations);
        finish$SIZE$(a, c, multipliers, progress.rounds == 0);
    } while (needsRound(&progress, &report, a->maxIterations));
    return report;
}

/** Errors at the start. */
DEVICE Report measure$SIZE$(const Arguments* a, const Cluster$SIZE$* c) {
    Report report = newReport();
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const mixed q = sqrt(dot(bond$SIZE$(c, k), bond$SIZE$(c, k))), length = lengthOf$SIZE$(a, c, k);
        note(&report, c->firstRow + k, fabs(q - length) / length, q);
    }
    return report;
}

/** Find kappa with |b_k + d_i - d_j + ...| = length_k. */
DEVICE void solvePositions$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    writeReport$SIZE$(a, c, StepSolve_Positions, cluster, solveLengths$SIZE$(a, c, lambdaOf(a)));
}

/** Project positions if an error exceeds the threshold; otherwise they are not changed. Displacements d are 0. */
DEVICE void projectPositions$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    mixed largest = 0;
    Report report = measure$SIZE$(a, c);
    number shortest = LENGTH$SIZE$(c, 0);
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        shortest = min(shortest, (number) LENGTH$SIZE$(c, k));
$UNROLL_PARTICLES$
    for (int i = 0; i <= $SIZE$; i++)
        if (particle$SIZE$(a, c, i) >= 0)
            largest = max(largest, largestComponent(positionOf(a, particle$SIZE$(a, c, i))));
    if (report.outcome == Outcome_Converged && report.error > a->farOff)
        report.outcome = Outcome_FarOff; // the host projects
    if (report.outcome == Outcome_Converged &&
        (LATER_TURN || report.error > a->threshold + roundingOf(a, largest, 1 / shortest)))
        report = solveLengths$SIZE$(a, c, a->projection);
    else {
        forget$SIZE$(c);
        finish$SIZE$(a, c, a->projection, true);
    }
    writeReport$SIZE$(a, c, StepSolve_Projection, cluster, report);
}

DEVICE Report solveVelocityDifferences$SIZE$(const Arguments* a, Cluster$SIZE$* c, GLOBAL mixed* multipliers,
                                           bool onlyIfViolated) {
    const number timeScale = toNumber(a->timeScale);
    Progress progress = newProgress();
    Report report;
    do {
        bool isViolated = !onlyIfViolated || LATER_TURN || progress.rounds > 0;
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
            mixed3 s = first.v - second.v;
            if (progress.rounds > 0)
                s = s + first.c - second.c;
            OFFSET$SIZE$(c, k) = toNumber(dot(bond$SIZE$(c, k), s));
            const number error = fabs(OFFSET$SIZE$(c, k)) * timeScale / (START$SIZE$(c, k) * LENGTH$SIZE$(c, k));
            isViolated = isViolated || !(error <= toNumber(a->tolerance));
        }
        report = newReport();
        if (isViolated)
            report = findRates$SIZE$(c, &progress, timeScale, toNumber(a->innerTolerance), a->maxIterations);
        else
            forget$SIZE$(c);
        finish$SIZE$(a, c, multipliers, progress.rounds == 0);
    } while (needsRound(&progress, &report, a->maxIterations));
    return report;
}

/** Find kappa with b_k.(v_i - v_j + ...) = 0. */
DEVICE void solveVelocities$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    writeReport$SIZE$(a, c, StepSolve_Velocities, cluster, solveVelocityDifferences$SIZE$(a, c, muOf(a), false));
}

/** The same for velocities after the heat bath; these multipliers are not reported. Without friction only errors above
 *  the tolerance are corrected: the velocities are those of the first solve, and another correction would be an impulse
 *  in the middle of the drift. */
DEVICE void solveHeatedVelocities$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    const Report report = solveVelocityDifferences$SIZE$(a, c, a->projection, a->velocityScale == 1);
    writeReport$SIZE$(a, c, StepSolve_HeatedVelocities, cluster, report);
}

#if AT_BORDER
/** Find kappa with b_k.(c_i - c_j) = -offset_k, with errors relative to the largest. None is reported: they limit how
 *  fast turns with the border converge, or are errors of work.
 *  @param offsets  [$SIZE$] times |b_k| */
DEVICE void solveLinear$SIZE$(const Arguments* a, Cluster$SIZE$* c, const mixed* offsets, GLOBAL mixed* multipliers) {
    mixed largest = 0;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        OFFSET$SIZE$(c, k) = toNumber(offsets[k]);
        largest = max(largest, fabs(offsets[k]) / (widened(START$SIZE$(c, k)) * lengthOf$SIZE$(a, c, k)));
    }
    Progress progress = newProgress();
    findRates$SIZE$(c, &progress, largest > 0 ? toNumber(1 / largest) : 1, RESPONSE_TOLERANCE,
                    ITERATIVE ? RESPONSE_ITERATIONS : LINEAR_ITERATIONS);
    finish$SIZE$(a, c, multipliers, true);
}

/** The response to an impulse of a bordered row, M^-1 G^T in d: clusters.cc. */
DEVICE void solveResponses$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    mixed offsets[$SIZE$];
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
        offsets[k] = dot(bond$SIZE$(c, k), first.d - second.d);
    }
    solveLinear$SIZE$(a, c, offsets, a->rowResponses + a->borderItem * a->numRows);
}

/** clusters.cc; only for work of bordered rows, since constraints of small clusters do not move. */
DEVICE void solveVelocitySpread$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    mixed offsets[$SIZE$];
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
        const mixed3 V = first.v - second.v;
        const mixed rate = dot(bond$SIZE$(c, k), V) / widened(START$SIZE$(c, k));
        offsets[k] = 0.25f * (dot(V, V) - rate * rate);
    }
    solveLinear$SIZE$(a, c, offsets, a->projection);
}
#else
/** Only for work; constraints of small clusters do not move, so there is nothing to do. */
DEVICE void solveVelocitySpread$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
}
#endif

DEVICE void projectVelocities$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    writeReport$SIZE$(a, c, StepSolve_Projection, cluster, solveVelocityDifferences$SIZE$(a, c, a->projection, true));
}

/** Find kappa with J a + J-dot v + 2 alpha J v + beta^2 sigma = 0, for accelerations in d. */
DEVICE void solveAccelerations$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster, int stage,
                                   GLOBAL mixed* multipliers) {
    mixed largest = 0;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
        const mixed3 V = first.v - second.v;
        const mixed q = START$SIZE$(c, k), length = LENGTH$SIZE$(c, k), rate = dot(bond$SIZE$(c, k), V) / q;
        const mixed feedback = 2 * a->alpha * rate + a->beta * a->beta * (q - length);
        const mixed offset = dot(V, V) - rate * rate + q * feedback; // all times |b_k|
        const mixed along = dot(bond$SIZE$(c, k), first.d - second.d);
        OFFSET$SIZE$(c, k) = along + offset;
        largest = max(largest, (fabs(offset) + fabs(along)) / (q * length));
    }
    Progress progress = newProgress();
    Report report = findRates$SIZE$(c, &progress, largest > 0 ? 1 / largest : 1, LINEAR_TOLERANCE,
                                  ITERATIVE ? a->maxIterations : LINEAR_ITERATIONS);
    // An error slightly above the tolerance because of rounding is accepted.
    if (report.outcome == Outcome_NotConverged && report.error < LINEAR_ROUNDING)
        report.outcome = Outcome_Converged;
    finish$SIZE$(a, c, multipliers, true);
    const Report drift = measure$SIZE$(a, c);
    if (report.outcome == Outcome_Converged && stage == StepSolve_Velocities) {
        report.row = drift.row;
        report.error = drift.error;
        report.value = drift.value;
        report.outcome = drift.error <= a->maxDrift ? Outcome_Converged : Outcome_Drifted;
    }
    writeReport$SIZE$(a, c, stage, cluster, report);
}

DEVICE void solveStartAccelerations$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    solveAccelerations$SIZE$(a, c, cluster, StepSolve_Positions, lambdaOf(a));
}

DEVICE void solveEndAccelerations$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    solveAccelerations$SIZE$(a, c, cluster, StepSolve_Velocities, muOf(a));
}
#endif
