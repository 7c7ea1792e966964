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
// All data of a cluster of up to MAX_IN_REGISTERS rows are in registers. A larger one does not fit: bonds and
// solutions are in registers, the matrix is in the thread's share of local memory, and the particles are in global
// memory between solves.

#if $SIZE$ <= MAX_IN_REGISTERS
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
    mixed3 b[$SIZE$];      // bonds at the start, nm
#if $SIZE$ <= MAX_IN_REGISTERS
    mixed number[$SIZE$ * ($SIZE$ + 4)];
#else
    volatile LOCAL_ARG mixed* number; // volatile: compilers would keep all of them in registers as well, and spill
#endif
#endif
} Cluster$SIZE$;

#if $SIZE$ > 0
/** Place of w_kl among the numbers: of a symmetric or triangular matrix one half is kept. */
DEVICE int place$SIZE$(int k, int l) {
    const int i = k < l ? k : l, j = k < l ? l : k;
    return $SIZE$ + i * (2 * $SIZE$ - i + 1) / 2 + j - i;
}

// The numbers: wanted lengths, w_kl, U with inverse pivots, |b_k|, kappa_k.
#define LENGTH$SIZE$(c, k) (c)->number[STRIDE$SIZE$ * (k)]
#define WEIGHT$SIZE$(c, k, l) (c)->number[STRIDE$SIZE$ * place$SIZE$(k, l)]
#define UPPER$SIZE$(c, k, l) (c)->number[STRIDE$SIZE$ * (place$SIZE$(k, l) + $SIZE$ * ($SIZE$ + 1) / 2)]
#define START$SIZE$(c, k) (c)->number[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 2) + (k))]
#define KAPPA$SIZE$(c, k) (c)->number[STRIDE$SIZE$ * ($SIZE$ * ($SIZE$ + 3) + (k))]
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
        if (c->index[i] >= 0)
            *p = loadParticle(a, c->index[i]);
#if $SIZE$ > 0
        if (p->w == 0)
            c->index[i] = -1;
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
    return c->particle[i];
}

DEVICE void put$SIZE$(const Arguments* a, Cluster$SIZE$* c, int i, const Particle* p) {
    c->particle[i] = *p;
}

/** The same as get$SIZE$() where i is not known when this is compiled: registers have no addresses. */
DEVICE Particle find$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int i) {
    Particle p = c->particle[0];
#pragma unroll
    for (int j = 1; j <= $SIZE$; j++) {
        p.v = choose(i == j, c->particle[j].v, p.v);
        p.d = choose(i == j, c->particle[j].d, p.d);
    }
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
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const int first = particle$SIZE$(a, c, first$SIZE$(c, k)), second = particle$SIZE$(a, c, second$SIZE$(c, k));
        c->b[k] = positionOf(a, first) - positionOf(a, second);
        if ((type.z >> k) & 1)
            c->b[k] = minimumImage(c->b[k], stepState);
        START$SIZE$(c, k) = sqrt(dot(c->b[k], c->b[k]));
    }
#pragma unroll
    for (int n = 0; n < $SIZE$ + $SIZE$ * ($SIZE$ + 1) / 2; n++)
        c->number[STRIDE$SIZE$ * n] = a->smallNumbers[type.w + n];
}

DEVICE void writeReport$SIZE$(const Arguments* a, const Cluster$SIZE$* c, int stage, int cluster, Report report) {
    const int k = report.row - c->firstRow;
    writeReport(a, stage, cluster, report, report.row < 0 ? -1 : particle$SIZE$(a, c, first$SIZE$(c, k)));
}

/** c_i = 1/m_i sum_k e_ki kappa_k b_k, and the multipliers. */
DEVICE void finish$SIZE$(const Arguments* a, Cluster$SIZE$* c, GLOBAL mixed* multipliers) {
$UNROLL_PARTICLES$
    for (int i = 0; i <= $SIZE$; i++) {
        mixed3 sum = make_mixed3(0, 0, 0);
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const mixed end = first$SIZE$(c, k) == i ? 1 : second$SIZE$(c, k) == i ? -1 : 0; // e_ki
            sum = sum + (end * KAPPA$SIZE$(c, k)) * c->b[k];
        }
#if $SIZE$ <= MAX_IN_REGISTERS
        c->particle[i].c = c->particle[i].w * sum;
#else
        const int index = INDEX$SIZE$(a, c, i);
        if (index >= 0)
            store3(a->impulse, index, a->velm[index].w * sum);
#endif
    }
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const mixed earlier = addsUp(a, multipliers) ? multipliers[c->firstRow + k] : 0;
        multipliers[c->firstRow + k] = earlier + KAPPA$SIZE$(c, k) * START$SIZE$(c, k);
    }
}

DEVICE void forget$SIZE$(Cluster$SIZE$* c) {
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        KAPPA$SIZE$(c, k) = 0;
}

#if ITERATIVE
/** Correct one row at a time, each with the corrections of the rows before it. */
DEVICE void sweep$SIZE$(Cluster$SIZE$* c, mixed3* s, bool isLinear, const mixed* offset) {
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const mixed q = sqrt(dot(s[k], s[k]));
        const mixed3 g = isLinear ? c->b[k] : (1 / q) * s[k];
        const mixed r = isLinear ? dot(g, s[k]) + offset[k] : q - LENGTH$SIZE$(c, k);
        const mixed change = -r / (WEIGHT$SIZE$(c, k, k) * dot(g, c->b[k]));
        KAPPA$SIZE$(c, k) += change;
#pragma unroll
        for (int l = 0; l < $SIZE$; l++)
            s[l] = s[l] + (WEIGHT$SIZE$(c, l, k) * change) * c->b[k];
    }
}
#else
/** A = L U with A_kl = w_kl g_k.b_l, and x <- L^-1 x. L is not kept. There is no pivoting: A is symmetric and positive
 *  definite, or nearly so.
 *  @return  -1, or the row whose pivot vanished */
DEVICE int eliminate$SIZE$(Cluster$SIZE$* c, const mixed3* g, mixed* x) {
    int failed = -1;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        mixed row[$SIZE$];
#pragma unroll
        for (int l = 0; l < $SIZE$; l++)
            row[l] = WEIGHT$SIZE$(c, k, l) * dot(g[k], c->b[l]);
        const mixed original = row[k];
#pragma unroll
        for (int m = 0; m < k; m++) {
            const mixed factor = row[m] * UPPER$SIZE$(c, m, m);
            x[k] -= factor * x[m];
#pragma unroll
            for (int l = m + 1; l < $SIZE$; l++)
                row[l] -= factor * UPPER$SIZE$(c, m, l);
        }
        const mixed pivot = $SIZE$ == 1 ? row[k] : fabs(row[k]); // negative: wrong root
        if (failed < 0 && !(pivot > PIVOT_THRESHOLD * fabs(original)))
            failed = k;
        UPPER$SIZE$(c, k, k) = 1 / row[k];
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            UPPER$SIZE$(c, k, l) = row[l];
    }
    return failed;
}

/** x <- U^-1 x, which corrects kappa; s_k += sum_l w_kl x_l b_l. */
DEVICE void correct$SIZE$(Cluster$SIZE$* c, mixed* x, mixed3* s) {
#pragma unroll
    for (int k = $SIZE$ - 1; k >= 0; k--) {
#pragma unroll
        for (int l = k + 1; l < $SIZE$; l++)
            x[k] -= UPPER$SIZE$(c, k, l) * x[l];
        x[k] *= UPPER$SIZE$(c, k, k);
        KAPPA$SIZE$(c, k) += x[k];
    }
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
#pragma unroll
        for (int l = 0; l < $SIZE$; l++)
            s[k] = s[k] + (WEIGHT$SIZE$(c, k, l) * x[l]) * c->b[l];
}
#endif

/** Newton's method for |s_k| = length_k until no error exceeds the tolerance.
 *  @param s  bonds; in: without constraints, out: with */
DEVICE Report solveLengths$SIZE$(const Arguments* a, Cluster$SIZE$* c, mixed3* s) {
    forget$SIZE$(c);
    for (int iteration = 0;; iteration++) {
        Report report = newReport();
        mixed x[$SIZE$];
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            const mixed q = sqrt(dot(s[k], s[k])), length = LENGTH$SIZE$(c, k);
            x[k] = q * (length - q); // s_k is q times the gradient
            note(&report, c->firstRow + k, fabs(length - q) / length, q);
        }
        if (isOver(&report, iteration, a->innerTolerance, a->maxIterations)) {
#pragma unroll
            for (int k = 0; k < $SIZE$; k++) { // if a bond has turned, the solution may be a wrong root
                const mixed start = START$SIZE$(c, k);
                if (report.outcome == Outcome_Converged && !(dot(s[k], c->b[k]) > PIVOT_THRESHOLD * start * start)) {
                    report.outcome = Outcome_Singular;
                    report.row = c->firstRow + k;
                }
            }
            return report;
        }
#if ITERATIVE
        sweep$SIZE$(c, s, false, x);
#else
        const int failed = eliminate$SIZE$(c, s, x);
        if (failed >= 0) {
            report.outcome = Outcome_Singular;
            report.row = c->firstRow + failed;
            return report;
        }
        correct$SIZE$(c, x, s);
#endif
    }
}

/** b_k.s_k + offset_k = 0, for which A does not change: one factor, and a second correction refines the first.
 *  @param s      differences of velocities or accelerations; in: without constraints, out: with
 *  @param scale  of errors relative to lengths */
DEVICE Report solveLinear$SIZE$(Cluster$SIZE$* c, mixed3* s, const mixed* offset, mixed scale, mixed tolerance,
                              int maxIterations) {
    forget$SIZE$(c);
#if !ITERATIVE
    mixed unused[$SIZE$];
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        unused[k] = 0;
    const int failed = eliminate$SIZE$(c, c->b, unused);
#endif
    for (int iteration = 0;; iteration++) {
        Report report = newReport();
        mixed x[$SIZE$];
#pragma unroll
        for (int k = 0; k < $SIZE$; k++) {
            x[k] = -dot(c->b[k], s[k]) - offset[k];
            const mixed rate = -x[k] / START$SIZE$(c, k);
            note(&report, c->firstRow + k, fabs(rate) * scale / LENGTH$SIZE$(c, k), rate);
        }
        if (isOver(&report, iteration, tolerance, maxIterations))
            return report;
#if ITERATIVE
        sweep$SIZE$(c, s, true, offset);
#else
        if (failed >= 0) {
            report.outcome = Outcome_Singular;
            report.row = c->firstRow + failed;
            return report;
        }
#pragma unroll
        for (int k = 1; k < $SIZE$; k++)
#pragma unroll
            for (int m = 0; m < k; m++) // A is symmetric: L is that of U
                x[k] -= UPPER$SIZE$(c, m, k) * UPPER$SIZE$(c, m, m) * x[m];
        correct$SIZE$(c, x, s);
#endif
    }
}

/** Errors at the start. */
DEVICE Report measure$SIZE$(const Cluster$SIZE$* c) {
    Report report = newReport();
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const mixed q = START$SIZE$(c, k), length = LENGTH$SIZE$(c, k);
        note(&report, c->firstRow + k, fabs(q - length) / length, q);
    }
    return report;
}

/** Find kappa with |b_k + d_i - d_j + ...| = length_k. */
DEVICE void solvePositions$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    mixed3 s[$SIZE$];
#pragma unroll
    for (int k = 0; k < $SIZE$; k++)
        s[k] = c->b[k] + find$SIZE$(a, c, first$SIZE$(c, k)).d - find$SIZE$(a, c, second$SIZE$(c, k)).d;
    const Report report = solveLengths$SIZE$(a, c, s);
    finish$SIZE$(a, c, lambdaOf(a));
    writeReport$SIZE$(a, c, StepSolve_Positions, cluster, report);
}

/** Project positions if an error exceeds the threshold; otherwise they are not changed. */
DEVICE void projectPositions$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    mixed largest = 0;
    mixed3 s[$SIZE$];
    Report report = measure$SIZE$(c);
    forget$SIZE$(c);
    mixed shortest = LENGTH$SIZE$(c, 0);
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        shortest = min(shortest, LENGTH$SIZE$(c, k));
        s[k] = c->b[k];
    }
$UNROLL_PARTICLES$
    for (int i = 0; i <= $SIZE$; i++)
        if (particle$SIZE$(a, c, i) >= 0)
            largest = max(largest, largestComponent(positionOf(a, particle$SIZE$(a, c, i))));
    if (report.outcome == Outcome_Converged && report.error > a->farOff)
        report.outcome = Outcome_FarOff; // the host projects
    if (report.outcome == Outcome_Converged && report.error > a->threshold + roundingOf(a, largest, 1 / shortest))
        report = solveLengths$SIZE$(a, c, s);
    finish$SIZE$(a, c, a->projection);
    writeReport$SIZE$(a, c, StepSolve_Projection, cluster, report);
}

DEVICE Report solveVelocityDifferences$SIZE$(const Arguments* a, Cluster$SIZE$* c, GLOBAL mixed* multipliers,
                                           bool onlyIfViolated) {
    mixed3 s[$SIZE$];
    mixed zero[$SIZE$];
    bool isViolated = !onlyIfViolated;
    forget$SIZE$(c);
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        s[k] = find$SIZE$(a, c, first$SIZE$(c, k)).v - find$SIZE$(a, c, second$SIZE$(c, k)).v;
        zero[k] = 0;
        const mixed rate = dot(c->b[k], s[k]) / START$SIZE$(c, k);
        isViolated = isViolated || !(fabs(rate) * a->timeScale / LENGTH$SIZE$(c, k) <= a->tolerance);
    }
    Report report = newReport();
    if (isViolated)
        report = solveLinear$SIZE$(c, s, zero, a->timeScale, a->innerTolerance, a->maxIterations);
    finish$SIZE$(a, c, multipliers);
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

/** Only for work; constraints of small clusters do not move, so there is nothing to do. */
DEVICE void solveVelocitySpread$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
}

DEVICE void projectVelocities$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster) {
    writeReport$SIZE$(a, c, StepSolve_Projection, cluster, solveVelocityDifferences$SIZE$(a, c, a->projection, true));
}

/** Find kappa with J a + J-dot v + 2 alpha J v + beta^2 sigma = 0, for accelerations in d. */
DEVICE void solveAccelerations$SIZE$(const Arguments* a, Cluster$SIZE$* c, int cluster, int stage,
                                   GLOBAL mixed* multipliers) {
    mixed3 s[$SIZE$];
    mixed offset[$SIZE$];
    mixed largest = 0;
#pragma unroll
    for (int k = 0; k < $SIZE$; k++) {
        const Particle first = find$SIZE$(a, c, first$SIZE$(c, k)), second = find$SIZE$(a, c, second$SIZE$(c, k));
        s[k] = first.d - second.d;
        const mixed3 V = first.v - second.v;
        const mixed q = START$SIZE$(c, k), length = LENGTH$SIZE$(c, k), rate = dot(c->b[k], V) / q;
        const mixed feedback = 2 * a->alpha * rate + a->beta * a->beta * (q - length);
        offset[k] = dot(V, V) - rate * rate + q * feedback; // all times |b_k|
        largest = max(largest, (fabs(offset[k]) + fabs(dot(c->b[k], s[k]))) / (q * length));
    }
    Report report = solveLinear$SIZE$(c, s, offset, largest > 0 ? 1 / largest : 1, LINEAR_TOLERANCE,
                                    ITERATIVE ? a->maxIterations : LINEAR_ITERATIONS);
    // An error slightly above the tolerance because of rounding is accepted.
    if (report.outcome == Outcome_NotConverged && report.error < LINEAR_ROUNDING)
        report.outcome = Outcome_Converged;
    finish$SIZE$(a, c, multipliers);
    const Report drift = measure$SIZE$(c);
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
