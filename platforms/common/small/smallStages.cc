// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: smallLanes.cc
// The solves of a step for clusters of a shape, by what smallClusters.cc has: what each solves for, and where results go.

/** What a solve gives: c_i of the thread's particle, the multipliers, and the report. A thread writes one or two
 *  multipliers, the first one the report. */
DEVICE void finish$SHAPE$(const Arguments* a, const Lane* lane, const Cluster$SHAPE$* c, Particle* p, int solve,
                          GLOBAL mixed* multipliers, const Report* report) {
    p->c = p->w * impulse$SHAPE$(c, c->kappa, lane->role);
#pragma unroll
    for (int n = 0; n < LENGTHS_OF_LANE; n++) {
        mixed lambda = 0;
$UNROLL$
        for (int k = 0; k < $SIZE$; k++)
            if (k == lane->role + n * $PARTICLES$)
                lambda = c->kappa[k] * widened(c->size[k]);
        const int row = c->firstRow + lane->role + n * $PARTICLES$;
        if (row < c->firstRow + $SIZE$)
            multipliers[row] = addsUp(a, multipliers) ? multipliers[row] + lambda : lambda;
    }
    if (solve >= 0 && lane->role == 0)
        writeReport(a, solve, c->cluster, *report);
}

/** Find kappa with |b_k + d_i - d_j + ...| = length_k. */
DEVICE void solvePositions$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    const Report report = solveLengths$SHAPE$(a, lane, &c);
    finish$SHAPE$(a, lane, &c, p, StepSolve_Positions, lambdaOf(a), &report);
}

/** Project positions if an error exceeds the threshold; otherwise they are not changed. Displacements d are 0. */
DEVICE void projectPositions$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    mixed largest = 0, shortest = length$SHAPE$(lane, 0);
    Report report = measure$SHAPE$(lane, &c);
$UNROLL$
    for (int k = 1; k < $SIZE$; k++)
        shortest = min(shortest, length$SHAPE$(lane, k));
$UNROLL$
    for (int i = 0; i < $PARTICLES$; i++)
        largest = max(largest, largestComponent(shownBy(lane, i, SHOWN_POSITION)));
    if (report.outcome == Outcome_Converged && report.error > a->farOff)
        report.outcome = Outcome_FarOff; // the host projects
    if (report.outcome == Outcome_Converged &&
        (LATER_TURN || report.error > a->threshold + roundingOf(a, largest, 1 / shortest)))
        report = solveLengths$SHAPE$(a, lane, &c);
    finish$SHAPE$(a, lane, &c, p, StepSolve_Projection, a->projection, &report);
}

/** Find kappa with b_k.(v_i - v_j + ...) = 0. @param onlyIfViolated  only errors above the tolerance are corrected */
DEVICE void solveTangent$SHAPE$(const Arguments* a, const Lane* lane, Particle* p, int solve, GLOBAL mixed* multipliers,
                                bool onlyIfViolated) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    const number scale = toNumber(a->timeScale);
    mixed3 s[$SIZE$];
    mixed offset[$SIZE$];
    bool isViolated = !onlyIfViolated || LATER_TURN;
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        s[k] = difference$SHAPE$(lane, k, SHOWN_VECTOR);
        offset[k] = 0;
        const number rate = toNumber(dot(c.bond[k], s[k])) / c.size[k];
        isViolated = isViolated || !(fabs(rate) * scale / c.L[k] <= toNumber(a->tolerance));
    }
    Report report = newReport();
    if (isViolated)
        report = solveLinear$SHAPE$(lane, &c, s, offset, scale, toNumber(a->innerTolerance), a->maxIterations);
    finish$SHAPE$(a, lane, &c, p, solve, multipliers, &report);
}

DEVICE void solveVelocities$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    solveTangent$SHAPE$(a, lane, p, StepSolve_Velocities, muOf(a), false);
}

/** The same for velocities after the heat bath; these multipliers are not reported. Without friction only errors above
 *  the tolerance are corrected: the velocities are those of the first solve, and another correction would be an impulse
 *  in the middle of the drift. */
DEVICE void solveHeatedVelocities$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    solveTangent$SHAPE$(a, lane, p, StepSolve_HeatedVelocities, a->projection, a->velocityScale == 1);
}

DEVICE void projectVelocities$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    solveTangent$SHAPE$(a, lane, p, StepSolve_Projection, a->projection, true);
}

/** V.V - (V.b/|b|)^2, the part of d^2 sigma/dt^2 that velocities make, times |b|. */
DEVICE mixed spread$SHAPE$(const Cluster$SHAPE$* c, int k, mixed3 V) {
    const mixed rate = dot(c->bond[k], V) / widened(c->size[k]);
    return dot(V, V) - rate * rate;
}

#if AT_BORDER
/** A linear solve whose errors are relative to the largest residual, which the first round measures. None is reported:
 *  they limit how fast turns with the border converge, or are errors of work. */
DEVICE void respond$SHAPE$(const Arguments* a, const Lane* lane, Cluster$SHAPE$* c, Particle* p, mixed3* s,
                           const mixed* offset, GLOBAL mixed* multipliers) {
    mixed largest = 0;
$UNROLL$
    for (int k = 0; k < $SIZE$; k++)
        largest = max(largest, fabs(dot(c->bond[k], s[k]) + offset[k]) / (widened(c->size[k]) * length$SHAPE$(lane, k)));
    const Report report = solveLinear$SHAPE$(lane, c, s, offset, largest > 0 ? toNumber(1 / largest) : 1, RESPONSE_TOLERANCE,
                                             ITERATIVE ? 1000 : LINEAR_ITERATIONS);
    finish$SHAPE$(a, lane, c, p, -1, multipliers, &report);
}

/** The response to an impulse of a bordered row, M^-1 G^T in d: clusters.cc. */
DEVICE void solveResponses$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    mixed3 s[$SIZE$];
    mixed offset[$SIZE$];
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        s[k] = difference$SHAPE$(lane, k, SHOWN_VECTOR);
        offset[k] = 0;
    }
    respond$SHAPE$(a, lane, &c, p, s, offset, a->rowResponses + a->borderItem * a->numRows);
}

/** clusters.cc; only for work of bordered rows, since constraints of small clusters do not move. */
DEVICE void solveVelocitySpread$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    mixed3 s[$SIZE$];
    mixed offset[$SIZE$];
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        s[k] = make_mixed3(0, 0, 0);
        offset[k] = 0.25f * spread$SHAPE$(&c, k, difference$SHAPE$(lane, k, SHOWN_VECTOR));
    }
    respond$SHAPE$(a, lane, &c, p, s, offset, a->projection);
}
#else
/** Only for work; constraints of small clusters do not move, so there is nothing to do. */
DEVICE void solveVelocitySpread$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
}
#endif

/** Find kappa with J a + J-dot v + 2 alpha J v + beta^2 sigma = 0, for accelerations in d. */
DEVICE void solveAccelerations$SHAPE$(const Arguments* a, const Lane* lane, Particle* p, int stage,
                                      GLOBAL mixed* multipliers) {
    Cluster$SHAPE$ c = clusterOf$SHAPE$(a, lane);
    mixed3 s[$SIZE$];
    mixed offset[$SIZE$], largest = 0;
$UNROLL$
    for (int k = 0; k < $SIZE$; k++) {
        const mixed3 V = difference$SHAPE$(lane, k, SHOWN_SECOND);
        const mixed q = c.size[k], length = length$SHAPE$(lane, k), rate = dot(c.bond[k], V) / q;
        const mixed feedback = 2 * a->alpha * rate + a->beta * a->beta * (q - length);
        s[k] = difference$SHAPE$(lane, k, SHOWN_VECTOR);
        offset[k] = spread$SHAPE$(&c, k, V) + q * feedback; // all times |b_k|
        largest = max(largest, (fabs(offset[k]) + fabs(dot(c.bond[k], s[k]))) / (q * length));
    }
    Report report = solveLinear$SHAPE$(lane, &c, s, offset, largest > 0 ? 1 / largest : 1, LINEAR_TOLERANCE,
                                       ITERATIVE ? a->maxIterations : LINEAR_ITERATIONS);
    // An error slightly above the tolerance because of rounding is accepted.
    if (report.outcome == Outcome_NotConverged && report.error < LINEAR_ROUNDING)
        report.outcome = Outcome_Converged;
    const Report drift = measure$SHAPE$(lane, &c);
    if (report.outcome == Outcome_Converged && stage == StepSolve_Velocities) {
        report.row = drift.row;
        report.error = drift.error;
        report.value = drift.value;
        report.outcome = drift.error <= a->maxDrift ? Outcome_Converged : Outcome_Drifted;
    }
    finish$SHAPE$(a, lane, &c, p, stage, multipliers, &report);
}

DEVICE void solveStartAccelerations$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    solveAccelerations$SHAPE$(a, lane, p, StepSolve_Positions, lambdaOf(a));
}

DEVICE void solveEndAccelerations$SHAPE$(const Arguments* a, const Lane* lane, Particle* p) {
    solveAccelerations$SHAPE$(a, lane, p, StepSolve_Velocities, muOf(a));
}
