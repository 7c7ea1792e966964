// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Clusters of SIZE distances that do not move in time: one thread each, everything in registers. This text is compiled
// once for every size that occurs; with SIZE 0 it serves particles without constraints.
//
// Unknowns are impulses kappa_k along the bonds b_k at the start of the step. With w_kl = sum_i (e_ki e_li)/m_i, where
// e_ki is 1 for the first and -1 for the second particle of row k, differences s_k of whatever is solved for obey
// s_k += sum_l w_kl kappa_l b_l: particles need not be touched before the end. lambda_k = kappa_k |b_k|.

typedef struct {
    int index[SIZE + 1]; // -1: none
    Particle particle[SIZE + 1];
#if SIZE > 0
    int firsts, seconds;    // four bits a row: which of the particles it joins
    int firstRow;           // number of its first row among all
    mixed3 b[SIZE];         // bonds at the start, nm
    mixed length[SIZE];     // wanted
    mixed w[SIZE][SIZE];    // only l <= k is used
#endif
} ClusterSIZE;

#if SIZE > 0
/** e_ki */
DEVICE int endSIZE(const ClusterSIZE* c, int k, int i) {
    return ((c->firsts >> (4 * k)) & 15) == i ? 1 : ((c->seconds >> (4 * k)) & 15) == i ? -1 : 0;
}

DEVICE void writeReportSIZE(const Arguments* a, const ClusterSIZE* c, int stage, int cluster, Report report) {
    int particle = -1;
#pragma unroll
    for (int i = 0; i <= SIZE; i++)
        if (report.row >= 0 && ((c->firsts >> (4 * (report.row - c->firstRow))) & 15) == i)
            particle = c->index[i];
    writeReport(a, stage, cluster, report, particle);
}

/** Difference of some property of a row's two particles. */
#define DIFFERENCESIZE(result, c, k, property)                                                                             \
    {                                                                                                                  \
        mixed3 first = make_mixed3(0, 0, 0), second = first;                                                           \
        _Pragma("unroll") for (int i = 0; i <= SIZE; i++) {                                                            \
            if (((c->firsts >> (4 * k)) & 15) == i)                                                                    \
                first = property;                                                                                      \
            if (((c->seconds >> (4 * k)) & 15) == i)                                                                   \
                second = property;                                                                                     \
        }                                                                                                              \
        result = first - second;                                                                                       \
    }

DEVICE mixed weightSIZE(const ClusterSIZE* c, int k, int l) {
    return c->w[k > l ? k : l][k > l ? l : k];
}

/** A = L U in place, without pivoting: A is symmetric and positive definite, or nearly so.
 *  @return -1, or the row whose pivot vanished */
DEVICE int factorizeSIZE(mixed A[SIZE][SIZE]) {
    int failed = SIZE == 1 && !(A[0][0] > 0) ? 0 : -1; // beyond lies another root
    mixed original[SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        original[k] = A[k][k];
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        if (failed < 0 && !(fabs(A[k][k]) > PIVOT_THRESHOLD * fabs(original[k])))
            failed = k;
        A[k][k] = 1 / A[k][k];
#pragma unroll
        for (int i = k + 1; i < SIZE; i++) {
            A[i][k] *= A[k][k];
#pragma unroll
            for (int j = k + 1; j < SIZE; j++)
                A[i][j] -= A[i][k] * A[k][j];
        }
    }
    return failed;
}

DEVICE void substituteSIZE(mixed A[SIZE][SIZE], mixed* x) {
#pragma unroll
    for (int i = 1; i < SIZE; i++)
#pragma unroll
        for (int k = 0; k < i; k++)
            x[i] -= A[i][k] * x[k];
#pragma unroll
    for (int i = SIZE - 1; i >= 0; i--) {
#pragma unroll
        for (int k = i + 1; k < SIZE; k++)
            x[i] -= A[i][k] * x[k];
        x[i] *= A[i][i];
    }
}

/** s_k += sum_l w_kl x_l b_l */
DEVICE void addImpulsesSIZE(const ClusterSIZE* c, const mixed* x, mixed3* s) {
#pragma unroll
    for (int k = 0; k < SIZE; k++)
#pragma unroll
        for (int l = 0; l < SIZE; l++)
            s[k] = s[k] + (weightSIZE(c, k, l) * x[l]) * c->b[l];
}

/** c_i = 1/m_i sum_k e_ki kappa_k b_k, and the multipliers. */
DEVICE void finishSIZE(ClusterSIZE* c, const mixed* kappa, GLOBAL mixed* multipliers) {
#pragma unroll
    for (int i = 0; i <= SIZE; i++) {
        mixed3 sum = make_mixed3(0, 0, 0);
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            sum = sum + (endSIZE(c, k, i) * kappa[k]) * c->b[k];
        c->particle[i].c = c->particle[i].w * sum;
    }
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        multipliers[c->firstRow + k] = kappa[k] * sqrt(dot(c->b[k], c->b[k]));
}

#if ITERATIVE
/** Correct one row in turn, with what the rows before it have done. */
DEVICE void sweepSIZE(const ClusterSIZE* c, mixed3* s, mixed* kappa, bool isLinear, const mixed* offset) {
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        const mixed q = sqrt(dot(s[k], s[k]));
        const mixed3 g = isLinear ? c->b[k] : (1 / q) * s[k];
        const mixed r = isLinear ? dot(g, s[k]) + offset[k] : q - c->length[k];
        const mixed change = -r / (weightSIZE(c, k, k) * dot(g, c->b[k]));
        kappa[k] += change;
#pragma unroll
        for (int l = 0; l < SIZE; l++)
            s[l] = s[l] + (weightSIZE(c, l, k) * change) * c->b[k];
    }
}
#endif

/** Newton's method for |s_k| = length_k: A x = -r, s_k += sum_l w_kl x_l b_l until no error exceeds the tolerance.
 *  @param s  bonds; in: without constraints, out: with */
DEVICE Report solveLengthsSIZE(const Arguments* a, const ClusterSIZE* c, mixed3* s, mixed* kappa) {
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        kappa[k] = 0;
    for (int iteration = 0;; iteration++) {
        Report report = newReport();
        mixed x[SIZE], inverse[SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; k++) {
            const mixed q = sqrt(dot(s[k], s[k]));
            inverse[k] = 1 / q;
            x[k] = c->length[k] - q;
            note(&report, c->firstRow + k, fabs(x[k]) / c->length[k], q);
        }
        if (isOver(&report, iteration, a->innerTolerance, a->maxIterations)) {
#pragma unroll
            for (int k = 0; k < SIZE; k++) // where a bond has turned, the solution found is another root
                if (report.outcome == CONVERGED && !(dot(s[k], c->b[k]) > PIVOT_THRESHOLD * dot(c->b[k], c->b[k]))) {
                    report.outcome = SINGULAR;
                    report.row = c->firstRow + k;
                }
            return report;
        }
#if ITERATIVE
        sweepSIZE(c, s, kappa, false, x);
#else
        mixed A[SIZE][SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; k++)
#pragma unroll
            for (int l = 0; l < SIZE; l++)
                A[k][l] = weightSIZE(c, k, l) * inverse[k] * dot(s[k], c->b[l]);
        const int failed = factorizeSIZE(A);
        if (failed >= 0) {
            report.outcome = SINGULAR;
            report.row = c->firstRow + failed;
            return report;
        }
        substituteSIZE(A, x);
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            kappa[k] += x[k];
        addImpulsesSIZE(c, x, s);
#endif
    }
}

/** b_k.s_k + offset_k = 0, for which A does not change: one factor, and a second correction refines the first.
 *  @param s           differences of velocities or accelerations; in: without constraints, out: with
 *  @param errorScale  of residuals */
DEVICE Report solveLinearSIZE(const Arguments* a, const ClusterSIZE* c, mixed3* s, mixed* kappa, const mixed* offset,
                              const mixed* errorScale, mixed tolerance, int maxIterations) {
#if !ITERATIVE
    mixed A[SIZE][SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++)
#pragma unroll
        for (int l = 0; l < SIZE; l++)
            A[k][l] = weightSIZE(c, k, l) * dot(c->b[k], c->b[l]);
    const int failed = factorizeSIZE(A);
#endif
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        kappa[k] = 0;
    for (int iteration = 0;; iteration++) {
        Report report = newReport();
        mixed x[SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; k++) {
            x[k] = -dot(c->b[k], s[k]) - offset[k];
            note(&report, c->firstRow + k, fabs(x[k]) * errorScale[k],
                 -x[k] / sqrt(dot(c->b[k], c->b[k])));
        }
        const bool isDone = isOver(&report, iteration, tolerance, maxIterations);
#if ITERATIVE
        if (isDone)
            return report;
        sweepSIZE(c, s, kappa, true, offset);
#else
        if (!isDone && failed >= 0) {
            report.outcome = SINGULAR;
            report.row = c->firstRow + failed;
        }
        if (isDone || failed >= 0)
            return report;
        substituteSIZE(A, x);
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            kappa[k] += x[k];
        addImpulsesSIZE(c, x, s);
#endif
    }
}

/** Errors at the start. */
DEVICE Report measureSIZE(const ClusterSIZE* c) {
    Report report = newReport();
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        const mixed q = sqrt(dot(c->b[k], c->b[k]));
        note(&report, c->firstRow + k, fabs(q - c->length[k]) / c->length[k], q);
    }
    return report;
}

/** Find kappa with |b_k + d_i - d_j + ...| = length_k. */
DEVICE void solvePositionsSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    mixed3 s[SIZE];
    mixed kappa[SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        DIFFERENCESIZE(s[k], c, k, c->particle[i].d)
        s[k] = c->b[k] + s[k];
    }
    const Report report = solveLengthsSIZE(a, c, s, kappa);
    finishSIZE(c, kappa, lambdaOf(a));
    writeReportSIZE(a, c, 0, cluster, report);
}

/** Solve positions where they are off by more than the threshold; elsewhere they stay as they are. */
DEVICE void projectPositionsSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    mixed largest = 0, kappa[SIZE];
    mixed3 s[SIZE];
    Report report = measureSIZE(c);
    mixed shortest = c->length[0];
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        shortest = min(shortest, c->length[k]);
        kappa[k] = 0;
        s[k] = c->b[k];
    }
#pragma unroll
    for (int i = 0; i <= SIZE; i++)
        if (c->index[i] >= 0)
            largest = max(largest, largestComponent(positionOf(a, c->index[i])));
    if (report.outcome == CONVERGED && report.error > a->farOff)
        report.outcome = FAR_OFF; // for the host
    if (report.outcome == CONVERGED && report.error > a->threshold + roundingOf(a, largest, 1 / shortest))
        report = solveLengthsSIZE(a, c, s, kappa);
    finishSIZE(c, kappa, a->projection);
    writeReportSIZE(a, c, 3, cluster, report);
}

DEVICE Report solveVelocityDifferencesSIZE(const Arguments* a, ClusterSIZE* c, GLOBAL mixed* multipliers,
                                           bool onlyIfViolated) {
    mixed3 s[SIZE];
    mixed kappa[SIZE], errorScale[SIZE], zero[SIZE];
    bool isViolated = !onlyIfViolated;
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        DIFFERENCESIZE(s[k], c, k, c->particle[i].v)
        errorScale[k] = a->timeScale / (c->length[k] * sqrt(dot(c->b[k], c->b[k])));
        zero[k] = kappa[k] = 0;
        isViolated = isViolated || !(fabs(dot(c->b[k], s[k])) * errorScale[k] <= a->tolerance);
    }
    Report report = newReport();
    if (isViolated)
        report = solveLinearSIZE(a, c, s, kappa, zero, errorScale, a->innerTolerance, a->maxIterations);
    finishSIZE(c, kappa, multipliers);
    return report;
}

/** Find kappa with b_k.(v_i - v_j + ...) = 0. */
DEVICE void solveVelocitiesSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    writeReportSIZE(a, c, 1, cluster, solveVelocityDifferencesSIZE(a, c, muOf(a), false));
}

/** The same for velocities fresh from the heat bath, whose multipliers nobody reads. Without friction they are still
 *  those of the first solve: another correction would be an impulse in the middle of the drift. */
DEVICE void solveHeatedVelocitiesSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    writeReportSIZE(a, c, 2, cluster, solveVelocityDifferencesSIZE(a, c, a->projection, a->velocityScale == 1));
}

DEVICE void projectVelocitiesSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    writeReportSIZE(a, c, 3, cluster, solveVelocityDifferencesSIZE(a, c, a->projection, true));
}

/** Find kappa with J a + J-dot v + 2 alpha J v + beta^2 sigma = 0, for accelerations in d. */
DEVICE void solveAccelerationsSIZE(const Arguments* a, ClusterSIZE* c, int cluster, int stage,
                                   GLOBAL mixed* multipliers) {
    mixed3 s[SIZE];
    mixed kappa[SIZE], offset[SIZE], errorScale[SIZE];
    mixed largest = 0;
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        mixed3 V;
        DIFFERENCESIZE(s[k], c, k, c->particle[i].d)
        DIFFERENCESIZE(V, c, k, c->particle[i].v)
        const mixed q = sqrt(dot(c->b[k], c->b[k])), rate = dot(c->b[k], V) / q;
        const mixed feedback = 2 * a->alpha * rate + a->beta * a->beta * (q - c->length[k]);
        offset[k] = dot(V, V) - rate * rate + q * feedback; // all times |b_k|
        largest = max(largest, (fabs(offset[k]) + fabs(dot(c->b[k], s[k]))) / (q * c->length[k]));
    }
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        errorScale[k] = (largest > 0 ? 1 / largest : 1) / (sqrt(dot(c->b[k], c->b[k])) * c->length[k]);
    Report report = solveLinearSIZE(a, c, s, kappa, offset, errorScale, LINEAR_TOLERANCE,
                              ITERATIVE ? a->maxIterations : LINEAR_ITERATIONS);
    // Rounding may keep the error above what was asked for.
    if (report.outcome == NOT_CONVERGED && report.error < LINEAR_ROUNDING)
        report.outcome = CONVERGED;
    finishSIZE(c, kappa, multipliers);
    const Report drift = measureSIZE(c);
    if (report.outcome == CONVERGED && stage > 0) {
        report.row = drift.row;
        report.error = drift.error;
        report.value = drift.value;
        report.outcome = drift.error <= a->maxDrift ? CONVERGED : DRIFTED;
    }
    writeReportSIZE(a, c, stage, cluster, report);
}

DEVICE void solveStartAccelerationsSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    solveAccelerationsSIZE(a, c, cluster, 0, lambdaOf(a));
}

DEVICE void solveEndAccelerationsSIZE(const Arguments* a, ClusterSIZE* c, int cluster) {
    solveAccelerationsSIZE(a, c, cluster, 1, muOf(a));
}
#endif

DEVICE void loadSIZE(const Arguments* a, ClusterSIZE* c, int number, int count, int firstParticle) {
#pragma unroll
    for (int i = 0; i <= SIZE; i++) {
        const int index = a->smallParticles[firstParticle + i * count + number];
        Particle* p = &c->particle[i];
        c->index[i] = index;
        p->v = p->d = p->c = make_mixed3(0, 0, 0);
        p->w = 0;
        if (index >= 0) {
            const mixed4 v = a->velm[index];
            p->w = v.w;
            if (v.w > 0)
                p->v = make_mixed3(v.x, v.y, v.z);
        }
    }
}

#if SIZE > 0
DEVICE void loadBondsSIZE(const Arguments* a, ClusterSIZE* c, int cluster, int firstRow) {
    const int4 type = a->smallTypes[a->smallClusterType[cluster]];
    const Moment moment = momentOf(a, 0);
    mixed3 x[SIZE + 1];
    c->firsts = type.x;
    c->seconds = type.y;
    c->firstRow = firstRow;
#pragma unroll
    for (int i = 0; i <= SIZE; i++)
        x[i] = c->index[i] >= 0 ? positionOf(a, c->index[i]) : make_mixed3(0, 0, 0);
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        c->length[k] = a->smallLengths[type.w + k];
        DIFFERENCESIZE(c->b[k], c, k, x[i])
        if ((type.z >> k) & 1)
            c->b[k] = minimumImage(c->b[k], moment);
#pragma unroll
        for (int l = 0; l <= k; l++) {
            mixed sum = 0;
#pragma unroll
            for (int i = 0; i <= SIZE; i++)
                sum += (endSIZE(c, k, i) * endSIZE(c, l, i)) * c->particle[i].w;
            c->w[k][l] = sum;
        }
    }
}
#endif

DEVICE void storeSIZE(const Arguments* a, ClusterSIZE* c) {
#pragma unroll
    for (int i = 0; i <= SIZE; i++) {
        const Particle* p = &c->particle[i];
        if (c->index[i] >= 0 && p->w > 0) {
            mixed4 v;
            v.x = p->v.x;
            v.y = p->v.y;
            v.z = p->v.z;
            v.w = p->w;
            a->velm[c->index[i]] = v;
        }
    }
}
