// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rows.cc
// Checks of redundant constraints, which were not solved.

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
$BEGIN$    for (int n = GLOBAL_ID; n < a->numRedundant; n += GLOBAL_SIZE) {
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
$BEGIN$    for (int n = GLOBAL_ID; n < a->numRedundant; n += GLOBAL_SIZE) {
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
