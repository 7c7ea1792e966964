// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: rows.cc, threadGroups.cc
// needs if FACTOR_NUMBERS: factorShared
// needs if HAS_GLOBAL: factorGlobal
// Residuals and errors of rows in the solves of a time step (solves.cc), and where factors are kept.

/** Residual and error of a row in a stage. */
DEVICE mixed residual(const Arguments* a, int row, int what, mixed time, mixed timeScale, mixed* error, mixed* value) {
    if (what == POSITIONS) {
        *value = evaluateRow(a, row, true, time, a->gradient);
        const mixed sigma = residualOf(a, row, *value, time);
        *error = errorOf(a, row, sigma, time, a->gradient);
        return sigma;
    }
    const mixed rate = rateOf(a, row, what) + a->offset[row];
    *value = rate;
    *error = errorOf(a, row, rate, a->time, a->startGradient) * timeScale;
    return rate;
}

/** Take the present positions as the start of a row. A row without a gradient there is noted. */
DEVICE void noteStart(const Arguments* a, int row, Report* mine) {
    if (startRow(a, row, a->time) || mine->outcome != Outcome_Converged)
        return;
    const bool hasValue = fabs(a->rowValue[row]) < INFINITE_ERROR;
    mine->outcome = KIND_OF(row) == RowKind_Expression && hasValue ? Outcome_NoGradient : Outcome_NotFinite;
    mine->row = row;
    mine->value = a->rowValue[row];
}

/** Note the error of a row at the start, and where it exceeds the threshold plus the error from rounding of positions. */
DEVICE void noteViolation(const Arguments* a, int row, Report* errors, Report* excess) {
    const mixed sigma = residualOf(a, row, a->rowValue[row], a->time);
    const mixed error = errorOf(a, row, sigma, a->time, a->startGradient);
    note(errors, row, error, a->rowValue[row]);
    mixed largest = 0;
    for (int s = FIRST_POINT(row); s < END_OF_POINTS(row); s++)
        largest = max(largest, largestComponent(positionOf(a, a->slotParticle[s])));
    const mixed slack = roundingOf(a, largest, inverseScaleOf(a, row, a->time));
    note(excess, row, error > a->threshold + slack ? error : 0, 0);
}

/** Note the error of a velocity. */
DEVICE void noteRate(const Arguments* a, int row, Report* errors) {
    mixed error, value;
    residual(a, row, VELOCITIES, a->time, a->timeScale, &error, &value);
    note(errors, row, error, value);
}

/** What the change of velocities in a heat bath, instead of velocities, adds to J-dot v. */
DEVICE void setSpreadOffset(const Arguments* a, int row) {
    mixed offset = 0.25f * quadraticCurvatureOf(a, row);
#if HAS_JOINTS
    offset += rateOfBodies(a, row);
#endif
    if (ROW_THREAD == 0)
        a->offset[row] = offset;
}

/** J-dot v + 2 alpha J v + beta^2 sigma */
DEVICE void setAccelerationOffset(const Arguments* a, int row, int stage) {
    const mixed sigma = residualOf(a, row, a->rowValue[row], a->time);
    const mixed rate = rateOf(a, row, GIVEN_VELOCITIES) + a->rowRateOffset[row], curvature = curvatureOf(a, row, 1);
    if (ROW_THREAD == 0) {
        a->offset[row] = curvature + 2 * a->alpha * rate + a->beta * a->beta * sigma;
        workRatesOf(a)[stage * a->numRows + row] = a->rowRateOffset[row];
    }
}

/** Note the size of the terms of an acceleration, of which errors are parts, and the error of the positions. */
DEVICE void noteAcceleration(const Arguments* a, int row, Report* largest, Report* drift) {
    const mixed sigma = residualOf(a, row, a->rowValue[row], a->time);
    const mixed size = fabs(a->offset[row]) + fabs(rateOf(a, row, ACCELERATIONS));
    note(largest, row, errorOf(a, row, size, a->time, a->startGradient), 0);
    note(drift, row, errorOf(a, row, sigma, a->time, a->startGradient), a->rowValue[row]);
}

/** By which errors are multiplied that are to be relative to the largest. */
DEVICE mixed timeScaleOf(Report largest) {
    return largest.error > 0 ? 1 / largest.error : 1;
}

/** The report of accelerations. An error slightly above the tolerance because of rounding is accepted. */
DEVICE Report ofAccelerations(const Arguments* a, Report report, Report drift, int stage) {
    if (report.outcome == Outcome_NotConverged && report.error < LINEAR_ROUNDING)
        report.outcome = Outcome_Converged;
    if (report.outcome == Outcome_Converged && stage == StepSolve_Velocities) {
        drift.iterations = report.iterations;
        report = drift;
        if (!(drift.error <= a->maxDrift))
            report.outcome = Outcome_Drifted;
    }
    return report;
}

#if !ITERATIVE
/** Corrections of a linear problem: more if the first ones are in single precision. */
#define MAX_LINEAR_ITERATIONS (FALLS_BACK ? 2 * LINEAR_ITERATIONS : LINEAR_ITERATIONS)

#if HAS_SHARED
DEVICE FactorShared sharedFactor(const Arguments* a, int c, SharedMemory shared) {
    const int numRows = a->solvedEnd[c] - a->rowStart[c];
    FactorShared f;
    f.pivot = shared.numbers;
    f.x = f.pivot + numRows;
    f.lower = f.x + numRows;
    f.upper = f.lower + a->entryStart[c + 1] - a->entryStart[c];
    return f;
}
#endif

#if HAS_GLOBAL
DEVICE FactorGlobal globalFactor(const Arguments* a, int c) {
    FactorGlobal f;
    f.pivot = a->diagonal + a->rowStart[c];
    f.x = a->change + a->rowStart[c];
    f.lower = a->lower + a->entryStart[c];
    f.upper = a->upper + a->entryStart[c];
    return f;
}
#endif

#endif
