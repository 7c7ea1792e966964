// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Kernels after the solves of a step: checks of redundant constraints, which were not solved, and work.

/** Largest sum of errors of solved constraints in one that depends on them. */
DEVICE mixed summedTolerance(const Arguments* a) {
    return 20 * a->innerTolerance;
}

/** Store the error of a redundant constraint in the position (0) or the velocity stage (1) for the host. Rounding of
 *  stored positions or velocities is subtracted.
 *  @return whether the constraint holds */
DEVICE bool writeRedundantError(const Arguments* a, int stage, int n, mixed error, mixed rounding, mixed value,
                       mixed tolerance) {
    mixed2 result;
    result.x = error <= rounding ? 0 : error - rounding; // NaN remains NaN
    result.y = value;
    a->redundantErrors[(2 * a->bufferIndex + stage) * a->numRedundant + n] = result;
    return result.x <= tolerance;
}

DEVICE void failRedundant(const Arguments* a, int stage, int n) {
    fail(a, codeOfRedundant(n, stage, a->numRedundant, a->numClusters, a->numParticles));
}

/** Check that dependent constraints are satisfied, as the others are. */
KERNEL void checkPositions($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int n = GLOBAL_ID; n < a->numRedundant; n += GLOBAL_SIZE) {
        const int row = a->numRows + n;
        const mixed time = a->time + a->driftTime;
        startRow(a, row, time);
        mixed largest = 0;
        for (int s = a->slotStart[row]; s < a->slotStart[row + 1]; s++)
            largest = max(largest, largestComponent(positionOf(a, a->slotParticle[s])));
        const mixed slack = roundingOf(a, largest, inverseScaleOf(a, row, time));
        const mixed sigma = residualOf(a, row, a->rowValue[row], time);
        const mixed error = errorOf(a, row, sigma, time, a->startGradient);
        const mixed tolerance = max(a->threshold, summedTolerance(a));
        if (!writeRedundantError(a, StepSolve_Positions, n, error, slack, a->rowValue[row], tolerance))
            failRedundant(a, StepSolve_Positions, n);
    }
}

KERNEL void checkVelocities($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int n = GLOBAL_ID; n < a->numRedundant; n += GLOBAL_SIZE) {
        const int row = a->numRows + n;
        startRow(a, row, a->time);
        mixed rate = a->rowRateOffset[row], largest = 0;
        for (int s = a->slotStart[row]; s < a->slotStart[row + 1]; s++) {
            rate += dot(gradientAt(a->startGradient, s), velocityOf(a, s));
            largest = max(largest, largestComponent(velocityOf(a, s)));
        }
        const mixed error = errorOf(a, row, rate, a->time, a->startGradient) * a->timeScale;
        const mixed slack = a->velocityRounding * largest * a->timeScale * inverseScaleOf(a, row, a->time);
        if (!writeRedundantError(a, StepSolve_Velocities, n, error, slack, rate, summedTolerance(a)))
            failRedundant(a, StepSolve_Velocities, n);
    }
}

/** Add to a sum that is compensated (Kahan): single precision would lose small steps of a long run, and digits of the
 *  energies of many particles. */
DEVICE mixed2 plus(mixed2 sum, mixed term) {
    term -= sum.y;
    const mixed next = sum.x + term;
    sum.y = (next - sum.x) - term;
    sum.x = next;
    return sum;
}

DEVICE void addTo(GLOBAL mixed2* place, mixed term) {
    *place = plus(*place, term);
}

/** Work of constraints that move: sum over steps of lambda d xi_0/dt dt, with d sigma/dt = -d xi_0/dt. */
KERNEL void addWork($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int n = GLOBAL_ID; n < a->numMoving; n += GLOBAL_SIZE) {
        const int row = a->movingRows[n];
        mixed sum = 0;
        for (int moment = 0; moment < a->numMoments; moment++) {
            const int place = (a->bufferIndex * a->numMoments + moment) * a->numRows + row;
            GLOBAL const mixed* rates = a->workRate + 2 * moment * a->numRows + row;
            sum -= a->lambdaToWork * a->lambda[place] * rates[0] + a->muToWork * a->mu[place] * rates[a->numRows];
        }
        addTo(a->work + n, sum);
    }
}

/** The contribution of the change of velocities in a heat bath, which is summed separately. */
KERNEL void addSpreadWork($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int n = GLOBAL_ID; n < a->numMoving; n += GLOBAL_SIZE) {
        const int row = a->movingRows[n];
        addTo(a->work + a->numMoving + n, -a->driftTime * a->projection[row] * workRatesOf(a)[row]);
    }
}

/** Sum up the kinetic energies of particles, a part a thread; the first part is negative if they were not computed. */
KERNEL void sumParticleEnergies($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    mixed2 sum;
    sum.x = hasFailed(a) ? -1 : 0;
    sum.y = 0;
    if (!hasFailed(a))
        for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE)
            sum = plus(sum, a->particleEnergy[i]);
    a->energySums[GLOBAL_ID] = sum;
}

/** Add the forces of a level to those of slower ones, each times the number of innermost steps in one of its level. */
KERNEL void addSlowForces($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        const mixed3 others = a->hasSlowForces ? load3(a->slowForce, i) : make_mixed3(0, 0, 0);
        store3(a->slowForce, i, others + a->forceFactor * forceOn(a, i));
    }
}

/** Keep the state as the start of a step, before it is projected. */
KERNEL void keepState($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        Particle p = startParticle(a, i);
        keepStart(a, i, &p);
    }
}

/** Sum up twice the kinetic energy for a heat bath (heatBath.cc), and before its first half keep the state as the start of
 *  a step. The order of sums does not depend on the number of threads. */
KERNEL void sumForBath($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int n = GLOBAL_ID; n < NUM_BATH_SUMS; n += GLOBAL_SIZE) {
        mixed sum = 0;
        for (int i = n; i < a->numParticles; i += NUM_BATH_SUMS) {
            Particle p = startParticle(a, i);
            if (a->isFirstBath)
                keepStart(a, i, &p);
            if (p.w > 0)
                sum = sum + dot(p.v, p.v) / p.w;
        }
        a->bathSums[n] = sum;
    }
}

/** Keep the positions after the last step of a run. */
KERNEL void keepEnd($PARAMETERS$) {
    const Arguments values = $INITIALIZER$;
    const Arguments* a = &values;
    if (hasFailed(a))
        return;
    for (int i = GLOBAL_ID; i < a->numParticles; i += GLOBAL_SIZE) {
        a->endPosq[i] = a->posq[i];
#ifdef USE_MIXED_PRECISION
        a->endCorrection[i] = a->posqCorrection[i];
#endif
    }
}
