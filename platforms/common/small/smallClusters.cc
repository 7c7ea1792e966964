// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: smallLanes.cc
// Clusters of $SIZE$ distances among $PARTICLES$ particles, which distance joins which two being known when this is
// compiled: once for every such shape that occurs. What a thread does for its cluster: smallLanes.cc.
//
// Unknowns are impulses kappa_k along the bonds b_k at the start of the step; lambda_k = kappa_k |b_k|. They change
// particle i by c_i = 1/m_i sum_k e_ki kappa_k b_k, where e_ki is 1 for the first and -1 for the second particle of row
// k, and the differences s_k of displacements, velocities or accelerations by sum_l w_kl kappa_l b_l, where w_kl =
// sum_i (e_ki e_li)/m_i.
//
// A round computes residuals f_k of what all corrections so far leave, as `mixed`, and then corrections as `number`s,
// whose rounding is relative to the residuals. It ends the solve if these are within the tolerance: a last correction of
// Newton's method then takes away what is left, and with it the one sign that such errors have. A sweep of the iterative
// solver could make some of them larger. Within a round only the scalar products s_k.b_l and b_k.b_l are needed.

#define FIRST_$SHAPE$(k) ((int) ($FIRSTS$u >> (4 * (k))) & 15)
#define SECOND_$SHAPE$(k) ((int) ($SECONDS$u >> (4 * (k))) & 15)

typedef struct {
    int cluster, firstRow;
    mixed3 bond[$SIZE$]; // at the start, nm
    mixed kappa[$SIZE$];
    number w[$PARTICLES$], L[$SIZE$], size[$SIZE$]; // inverse masses, lengths, |b_k|
    number3 b[$SIZE$];
    number gram[$SIZE$ * $SIZE$];   // b_k.b_l
    number matrix[$SIZE$ * $SIZE$]; // L and U of A_kl = w_kl (s_k + e_k).b_l, with inverse pivots
} Cluster$SHAPE$;

/** The difference of what both particles of a row show. */
DEVICE mixed3 difference$SHAPE$(const Lane* lane, int k, int n) {
    return shownBy(lane, FIRST_$SHAPE$(k), n) - shownBy(lane, SECOND_$SHAPE$(k), n);
}

/** Of row k. */
DEVICE mixed length$SHAPE$(const Lane* lane, int k) {
    return lane->shown[(k % $PARTICLES$ - lane->role) + SMALL_BLOCK * (SHOWN_LENGTH + k / $PARTICLES$)];
}

DEVICE Cluster$SHAPE$ clusterOf$SHAPE$(const Arguments* a, const Lane* lane) {
    Cluster$SHAPE$ c;
    const int number = (lane->block - lane->place.x) * (SMALL_BLOCK / $PARTICLES$) + SMALL_LANE / $PARTICLES$;
    c.cluster = lane->place.y + number;
    c.firstRow = lane->place.z + number * $SIZE$;
$UNROLL$
    for (int i = 0; i < $PARTICLES$; i++)
        c.w[i] = toNumber(inverseMassShown(lane, i));
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        c.bond[k] = difference$SHAPE$(lane, k, SHOWN_POSITION);
#if $PERIODIC$
        if (($PERIODIC$ >> k) & 1)
            c.bond[k] = minimumImage(c.bond[k], stepStateOf(a, 0));
#endif
        c.L[k] = toNumber(length$SHAPE$(lane, k));
        c.kappa[k] = 0;
        c.b[k] = toNumbers(c.bond[k]);
$UNROLL$
        for (int l = 0; l <= k; l++)
            c.gram[$SIZE$ * k + l] = c.gram[$SIZE$ * l + k] = dot(c.b[k], c.b[l]);
        c.size[k] = sqrt(c.gram[$SIZE$ * k + k]);
    }
    return c;
}

/** w_kl */
DEVICE number weight$SHAPE$(const Cluster$SHAPE$* c, int k, int l) {
    const int i = FIRST_$SHAPE$(k), j = SECOND_$SHAPE$(k), m = FIRST_$SHAPE$(l), n = SECOND_$SHAPE$(l);
    number sum = 0;
    if (i == m || i == n)
        sum += i == m ? c->w[i] : -c->w[i];
    if (j == m || j == n)
        sum += j == n ? c->w[j] : -c->w[j];
    return sum;
}

/** sum_k e_ki x_k b_k */
DEVICE mixed3 impulse$SHAPE$(const Cluster$SHAPE$* c, const mixed* x, int i) {
    mixed3 sum = make_mixed3(0, 0, 0);
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        const bool isFirst = FIRST_$SHAPE$(k) == i;
        if (isFirst || SECOND_$SHAPE$(k) == i)
            sum = sum + (isFirst ? x[k] : -x[k]) * c->bond[k];
    }
    return sum;
}

/** Add corrections to kappa. */
DEVICE void addToKappa$SHAPE$(Cluster$SHAPE$* c, const number* corrections) {
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        c->kappa[k] += widened(corrections[k]);
}

/** Add to the differences s what corrections change of them. */
DEVICE void addToDifferences$SHAPE$(const Lane* lane, const Cluster$SHAPE$* c, const number* corrections, mixed3* s) {
    mixed x[$SIZE$];
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        x[k] = widened(corrections[k]);
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        const int i = FIRST_$SHAPE$(k), j = SECOND_$SHAPE$(k);
        s[k] = s[k] + inverseMassShown(lane, i) * impulse$SHAPE$(c, x, i) -
               inverseMassShown(lane, j) * impulse$SHAPE$(c, x, j);
    }
}

/** A = L U, A_kl = w_kl h_kl, without pivoting: A is symmetric and positive definite, or nearly so.
 *  @return  -1, or the row whose pivot vanished */
DEVICE int factorize$SHAPE$(Cluster$SHAPE$* c, const number* h) {
    int failed = -1;
    number* A = c->matrix;
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
$UNROLL$
        for (int l = 0; l < $SIZE$; l++)
            A[$SIZE$ * k + l] = weight$SHAPE$(c, k, l) * h[$SIZE$ * k + l];
        const number original = A[$SIZE$ * k + k];
$UNROLL$
        for (int m = 0; m < k; m++) {
            A[$SIZE$ * k + m] *= A[$SIZE$ * m + m];
$UNROLL$
            for (int l = m + 1; l < $SIZE$; l++)
                A[$SIZE$ * k + l] -= A[$SIZE$ * k + m] * A[$SIZE$ * m + l];
        }
        const number pivot = A[$SIZE$ * k + k];
        const number positive = $SIZE$ == 1 ? pivot : fabs(pivot); // negative: wrong root
        if (failed < 0 && !(positive > NUMBER_THRESHOLD * fabs(original)))
            failed = k;
        A[$SIZE$ * k + k] = 1 / pivot;
    }
    return failed;
}

/** x <- A^-1 x */
DEVICE void substitute$SHAPE$(const Cluster$SHAPE$* c, number* x) {
    const number* A = c->matrix;
$UNROLL$
    for (int k = 1; k < $SIZE$; k++)
$UNROLL$
        for (int m = 0; m < k; m++)
            x[k] -= A[$SIZE$ * k + m] * x[m];
$UNROLL$
    for (int k = $SIZE$ - 1; k >= 0; k--) {
$UNROLL$
        for (int l = k + 1; l < $SIZE$; l++)
            x[k] -= A[$SIZE$ * k + l] * x[l];
        x[k] *= A[$SIZE$ * k + k];
    }
}

/** Half of |s_k|^2 - length_k^2, s_k = b_k + change. As a float s_k has lost digits of the change, and its square rounds
 *  by as much as lengths are wrong after a correction: another one would answer the same rounding again. */
DEVICE mixed halfResidual$SHAPE$(const Lane* lane, const Cluster$SHAPE$* c, int k, mixed3 change) {
    const mixed length = length$SHAPE$(lane, k);
    const mixed3 b = c->bond[k], s = b + change;
#if MIXED_IS_DOUBLE
    return (mixed) 0.5f * (dot(s, s) - length * length);
#else
    return 0.5f * (dot(b, b) - length * length) + dot(b + 0.5f * change, change);
#endif
}

/** Half of the residual of |s_k + e_k|^2 = length_k^2 with e_k = sum_l w_kl x_l b_l.
 *  @param f      without e_k
 *  @param sb     s_k.b_l
 *  @param[out] h  (s_k + e_k).b_l */
DEVICE number residual$SHAPE$(const Cluster$SHAPE$* c, int k, number f, const number* sb, const number* x, number* h) {
$UNROLL$
    for (int l = 0; l < $SIZE$; l++)
        h[l] = 0;
$UNROLL$
    for (int m = 0; m < $SIZE$; m++) {
        const number change = weight$SHAPE$(c, k, m) * x[m];
$UNROLL$
        for (int l = 0; l < $SIZE$; l++)
            h[l] += change * c->gram[$SIZE$ * m + l];
    }
$UNROLL$
    for (int l = 0; l < $SIZE$; l++) {
        f += weight$SHAPE$(c, k, l) * x[l] * (sb[$SIZE$ * k + l] + (number) 0.5f * h[l]);
        h[l] += sb[$SIZE$ * k + l];
    }
    return f;
}

/** What is asked of s_k.e_k, q (length_k - q) for a residual of q^2 - length_k^2: s_k is q times the gradient of q.
 *  @param f  half of that residual
 *  @param[in, out] worst  largest relative error */
DEVICE number correctionOf$SHAPE$(const Cluster$SHAPE$* c, int k, number f, number* worst) {
    number q;
    const number excess = excessOf(c->L[k], f, &q);
    *worst = max(*worst, fabs(excess) / c->L[k]);
    return -q * excess;
}

/** Corrections of lengths by Newton's method until no error exceeds the tolerance, but at most so many.
 *  @param[out] x  their sum
 *  @return        -1, or the row whose pivot vanished */
DEVICE int correctLengths$SHAPE$(Cluster$SHAPE$* c, const mixed3* change, const number* f, number tolerance, int most,
                                 number* x, int* iterations) {
    number sb[$SIZE$ * $SIZE$];
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        x[k] = 0;
        const number3 rounded = toNumbers(c->bond[k] + change[k]);
$UNROLL$
        for (int l = 0; l < $SIZE$; l++)
            sb[$SIZE$ * k + l] = dot(rounded, c->b[l]);
    }
    for (int n = 0; n <= most; n++) {
        number y[$SIZE$], h[$SIZE$ * $SIZE$], worst = 0;
$UNROLL$
        for (int k = 0; k < $SIZE$; k++)
            y[k] = correctionOf$SHAPE$(c, k, residual$SHAPE$(c, k, f[k], sb, x, h + $SIZE$ * k), &worst);
        if (n == most || (n > 0 && worst <= tolerance))
            break;
#if ITERATIVE // one row at a time, each with the corrections of the rows before it
$UNROLL$
        for (int k = 0; k < $SIZE$; k++) {
            const number change = correctionOf$SHAPE$(c, k, residual$SHAPE$(c, k, f[k], sb, x, h), &worst);
            x[k] += change / (weight$SHAPE$(c, k, k) * h[k]);
        }
#else
        const int failed = factorize$SHAPE$(c, h);
        if (failed >= 0)
            return failed;
        substitute$SHAPE$(c, y);
$UNROLL$
        for (int k = 0; k < $SIZE$; k++)
            x[k] += y[k];
#endif
        (*iterations)++;
    }
    return -1;
}

/** One correction with the matrix that there is, or one of each row in turn; of lengths or of rates. */
DEVICE void correctOnce$SHAPE$(const Cluster$SHAPE$* c, const number* f, number* x) {
#if ITERATIVE
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        number rest = f[k];
$UNROLL$
        for (int l = 0; l < k; l++)
            rest += weight$SHAPE$(c, k, l) * x[l] * c->gram[$SIZE$ * k + l];
        x[k] = -rest / (weight$SHAPE$(c, k, k) * c->gram[$SIZE$ * k + k]);
    }
#else
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        x[k] = -f[k];
    substitute$SHAPE$(c, x);
#endif
}

/** Errors of rows, and q or dq/dt: of lengths by halves of residuals, of rates by residuals. */
DEVICE void lengthErrors$SHAPE$(const Cluster$SHAPE$* c, const number* f, number* errors, number* values) {
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        errors[k] = fabs(excessOf(c->L[k], f[k], values + k)) / c->L[k];
}

DEVICE void rateErrors$SHAPE$(const Cluster$SHAPE$* c, const number* f, number scale, number* errors, number* values) {
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        values[k] = f[k] / c->size[k];
        errors[k] = fabs(values[k]) * scale / c->L[k];
    }
}

/** Note the worst of the errors that corrections have left, or the first that is not finite, and how the solve stands.
 *  @return  whether they are within the tolerance */
DEVICE bool judge$SHAPE$(const Cluster$SHAPE$* c, Report* report, const number* errors, const number* values,
                         number tolerance, int maxIterations) {
    number error = errors[0], value = values[0];
    int row = 0;
$UNROLL$
    for (int k = 1; k < $SIZE$; k++) {
        const bool isWorse = error < INFINITE_ERROR && !(errors[k] <= error);
        error = isWorse ? errors[k] : error;
        value = isWorse ? values[k] : value;
        row = isWorse ? k : row;
    }
    report->row = c->firstRow + row;
    report->error = error;
    report->value = value;
    if (!(error < INFINITE_ERROR))
        report->outcome = Outcome_NotFinite;
    else if (!(error <= tolerance) && report->iterations >= maxIterations)
        report->outcome = Outcome_NotConverged;
    return error <= tolerance;
}

/** Of a row whose pivot vanished, or is not finite because its residual is not. */
DEVICE void reportSingular$SHAPE$(const Cluster$SHAPE$* c, Report* report, int row, const number* errors,
                                  const number* values) {
    report->outcome = Outcome_Singular;
    report->row = c->firstRow + row;
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        if (k == row) {
            report->error = errors[k];
            report->value = values[k];
        }
    if (!(report->error < INFINITE_ERROR))
        report->outcome = Outcome_NotFinite;
}

/** Find kappa with |b_k + d_i - d_j + c_i - c_j| = length_k. There is at least one correction before errors are judged:
 *  those below the tolerance would otherwise have the same sign in every step. */
DEVICE Report solveLengths$SHAPE$(const Arguments* a, const Lane* lane, Cluster$SHAPE$* c) {
    const number tolerance = toNumber(a->innerTolerance), coarse = 1e-6f;
    // To this error without residuals in `mixed`: floats that began with large ones may not meet a smaller one.
    const number enough = ITERATIVE && (!COARSE || tolerance > coarse) ? tolerance : coarse;
    mixed3 change[$SIZE$]; // s_k = b_k + change_k
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        change[k] = difference$SHAPE$(lane, k, SHOWN_VECTOR);
    Report report = newReport();
    bool isClosed = false; // the only correction so far is in closed form
    for (int round = 0; round - 2 <= a->maxIterations; round++) { // one may correct nothing
        number f[$SIZE$], x[$SIZE$], errors[$SIZE$], values[$SIZE$]; // f: halves of residuals
        int failed = -1;
        bool isSolved = false;
$UNROLL$
        for (int k = 0; k < $SIZE$; k++)
            f[k] = toNumber(halfResidual$SHAPE$(lane, c, k, change[k]));
        if (report.iterations > 0) {
            lengthErrors$SHAPE$(c, f, errors, values);
            isSolved = judge$SHAPE$(c, &report, errors, values, tolerance, a->maxIterations);
        }
#if $TRIANGLE$
        if (isClosed && !(report.error < GUESS_ERROR)) { // by Newton's method from the start
            report = newReport();
            isClosed = false;
            for (int k = 0; k < $SIZE$; k++) {
                c->kappa[k] = 0;
                change[k] = difference$SHAPE$(lane, k, SHOWN_VECTOR);
            }
            continue;
        }
#endif
        if (report.outcome != Outcome_Converged)
            break;
        if (isSolved) {
#if $TRIANGLE$
            if (isClosed) {
                number h[$SIZE$ * $SIZE$];
                for (int k = 0; k < $SIZE$; k++)
                    for (int l = 0; l < $SIZE$; l++)
                        h[$SIZE$ * k + l] = dot(toNumbers(c->bond[k] + change[k]), c->b[l]);
                failed = factorize$SHAPE$(c, h);
            }
#endif
$UNROLL$
            for (int k = 0; k < $SIZE$; k++) // if a bond has turned, the solution may be a wrong root
                if (!(dot(c->bond[k] + change[k], c->bond[k]) > NUMBER_THRESHOLD * dot(c->bond[k], c->bond[k])))
                    failed = k;
            if (ITERATIVE && failed < 0)
                break;
            correctOnce$SHAPE$(c, f, x);
#if $TRIANGLE$
        } else if (round == 0) {
            const number g[3] = {c->gram[0], c->gram[1], c->gram[4]};
            const number3 first = toNumbers(change[0]), second = toNumbers(change[1]);
            const number v[4] = {dot(c->b[0], first), dot(c->b[0], second), dot(c->b[1], first),
                                 dot(c->b[1], second)};
            closeTriangle(g, v, f, c->w, x);
            isClosed = true;
            report.iterations = 1;
#endif
        } else {
            failed = correctLengths$SHAPE$(c, change, f, enough, a->maxIterations - report.iterations, x, &report.iterations);
            isClosed = false;
        }
        if (failed >= 0) {
            lengthErrors$SHAPE$(c, f, errors, values);
            reportSingular$SHAPE$(c, &report, failed, errors, values);
            break;
        }
        addToKappa$SHAPE$(c, x);
        if (isSolved)
            break;
        addToDifferences$SHAPE$(lane, c, x, change);
    }
    return report;
}

/** Find kappa with b_k.(s_k + c_i - c_j) = -offset_k.
 *  @param[in, out] s  differences
 *  @param scale       of errors relative to lengths */
DEVICE Report solveLinear$SHAPE$(const Lane* lane, Cluster$SHAPE$* c, mixed3* s, const mixed* offset, number scale,
                                 number tolerance, int maxIterations) {
    Report report = newReport();
    int failed = -1;
#if !ITERATIVE
    failed = factorize$SHAPE$(c, c->gram);
#endif
    for (int round = 0; round - 1 <= maxIterations; round++) {
        number f[$SIZE$], x[$SIZE$], errors[$SIZE$], values[$SIZE$];
        bool isSolved = false;
$UNROLL$
        for (int k = 0; k < $SIZE$; k++)
            f[k] = toNumber(dot(c->bond[k], s[k]) + offset[k]);
        if (round > 0 || failed >= 0)
            rateErrors$SHAPE$(c, f, scale, errors, values);
        if (failed >= 0)
            reportSingular$SHAPE$(c, &report, failed, errors, values);
        else if (round > 0)
            isSolved = judge$SHAPE$(c, &report, errors, values, tolerance, maxIterations);
        if (report.outcome != Outcome_Converged || (isSolved && ITERATIVE))
            break;
        correctOnce$SHAPE$(c, f, x);
        addToKappa$SHAPE$(c, x);
        if (isSolved)
            break;
        addToDifferences$SHAPE$(lane, c, x, s);
        report.iterations++;
    }
    return report;
}

/** Errors at the start. */
DEVICE Report measure$SHAPE$(const Lane* lane, const Cluster$SHAPE$* c) {
    Report report = newReport();
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        const mixed q = sqrt(dot(c->bond[k], c->bond[k])), length = length$SHAPE$(lane, k);
        note(&report, c->firstRow + k, fabs(q - length) / length, q);
    }
    return report;
}
