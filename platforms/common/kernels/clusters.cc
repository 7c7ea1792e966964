// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Clusters of any size and kind: a team each, a thread block or, for small ones, a single thread. Arrays are in global
// memory. Members of a team share loops over rows, columns and particles; every sum has one member and a fixed order.
//
// TEAM_MEMBER, TEAM_SIZE, TEAM_SYNC and TEAM_SHARED are what the host compiles this text with. No barrier stands inside
// an `if`: OpenCL on CPUs would compile all that follows twice. What is not wanted runs through empty loops instead.

#define EACH_ROW(row) for (int row = a->rowStart[c] + TEAM_MEMBER; row < a->rowStart[c + 1]; row += TEAM_SIZE)
#define EACH_PARTICLE(n)                                                                                               \
    for (int n = a->particleStart[c] + TEAM_MEMBER; n < a->particleStart[c + 1]; n += TEAM_SIZE)

#if TEAM_IS_BLOCK
/** Whether a report is worse than another. Of those that failed, the one of the first row counts. */
DEVICE bool isWorse(Report one, Report other) {
    const bool oneIsBad = one.outcome != CONVERGED, otherIsBad = other.outcome != CONVERGED;
    if (oneIsBad != otherIsBad)
        return oneIsBad;
    if (one.row < 0 || other.row < 0)
        return one.row >= 0;
    return !oneIsBad && one.error != other.error ? one.error > other.error : one.row < other.row;
}
#endif

/** The report of the worst row, from what each member has seen. Every member gets it. */
DEVICE Report worstOf(Report mine TEAM_SHARED_PARAMETER) {
#if TEAM_IS_BLOCK
    TEAM_SYNC
    shared[TEAM_MEMBER] = mine;
    TEAM_SYNC
    Report worst = shared[0];
    for (int member = 1; member < TEAM_SIZE; member++)
        if (isWorse(shared[member], worst))
            worst = shared[member];
    return worst;
#else
    return mine;
#endif
}

DEVICE void writeTeamReport(const Arguments* a, int stage, int c, Report report) {
    if (TEAM_MEMBER == 0)
        writeReport(a, stage, a->firstCluster + c, report,
                    report.row < 0 ? -1 : a->slotParticle[a->slotStart[report.row]]);
}

/** impulse_i += 1/m_i sum_k change_k grad_i sigma_k(0) over the rows of each particle */
DEVICE void addImpulses(const Arguments* a, int c, GLOBAL const mixed* change, bool isWanted) {
    EACH_PARTICLE(n) if (isWanted) {
        const int i = a->clusterParticle[n];
        mixed3 sum = make_mixed3(0, 0, 0);
        for (int m = a->meetingStart[n]; m < a->meetingStart[n + 1]; m++) {
            const int slot = a->meetingSlot[m];
            sum = sum + change[a->slotRow[slot]] * load3(a->startGradient, slot);
        }
        store3(a->impulse, i, load3(a->impulse, i) + a->velm[i].w * sum);
    }
    TEAM_SYNC
}

/** A = J(gradients) M^-1 J(0)^T in the factor's pattern. */
DEVICE void assemble(const Arguments* a, int c, GLOBAL const mixed* gradients, bool isWanted) {
    EACH_ROW(row) if (isWanted) {
        a->diagonal[row] = a->originalDiagonal[row] = diagonalOf(a, row, gradients);
        for (int e = a->columnStart[row]; e < a->columnStart[row + 1]; e++) {
            mixed lower = 0, upper = 0;
            for (int m = a->couplingStart[e]; m < a->couplingStart[e + 1]; m++) {
                const int2 slots = a->couplingSlots[m]; // of the entry's row, and of its column
                const mixed w = inverseMassOf(a, slots.x);
                lower += w * dot(load3(gradients, slots.x), load3(a->startGradient, slots.y));
                upper += w * dot(load3(gradients, slots.y), load3(a->startGradient, slots.x));
            }
            a->lower[e] = lower;
            a->upper[e] = upper;
        }
    }
    TEAM_SYNC
}

/** A = L D U in place, level by level of the elimination tree: entries of `lower` are L D. */
DEVICE Report factorize(const Arguments* a, int c, bool isWanted TEAM_SHARED_PARAMETER) {
    Report mine = newReport();
    const int lastLevel = isWanted ? a->levelStart[c + 1] : a->levelStart[c];
    for (int level = a->levelStart[c]; level < lastLevel; level++) {
        for (int n = a->levelRowStart[level] + TEAM_MEMBER; n < a->levelRowStart[level + 1]; n += TEAM_SIZE) {
            const int row = a->levelRow[n];
            const mixed pivot = a->diagonal[row];
            if (mine.outcome == CONVERGED && !(fabs(pivot) > PIVOT_THRESHOLD * fabs(a->originalDiagonal[row]))) {
                mine.outcome = SINGULAR;
                mine.row = row;
            }
        }
        // What columns of this level take from later ones, by target.
        for (int n = a->levelTargetStart[level] + TEAM_MEMBER; n < a->levelTargetStart[level + 1]; n += TEAM_SIZE) {
            const int target = a->updateTarget[n];
            mixed lower = 0, upper = 0;
            for (int m = a->updateStart[n]; m < a->updateStart[n + 1]; m++) {
                const int4 source = a->updateSource[m]; // entries of target's row and column, and the pivot's row
                const mixed inverse = 1 / a->diagonal[source.z];
                lower += a->lower[source.x] * a->upper[source.y] * inverse;
                upper += a->lower[source.y] * a->upper[source.x] * inverse;
            }
            if (target < 0)
                a->diagonal[~target] -= lower;
            else {
                a->lower[target] -= lower;
                a->upper[target] -= upper;
            }
        }
        TEAM_SYNC
    }
    return worstOf(mine TEAM_SHARED);
}

/** Solve A x = change in place with the factor. */
DEVICE void substitute(const Arguments* a, int c, GLOBAL mixed* x, bool isWanted) {
    const int firstLevel = a->levelStart[c], lastLevel = isWanted ? a->levelStart[c + 1] : firstLevel;
    for (int level = firstLevel + 1; level < lastLevel; level++) {
        for (int n = a->levelRowStart[level] + TEAM_MEMBER; n < a->levelRowStart[level + 1]; n += TEAM_SIZE) {
            const int row = a->levelRow[n];
            for (int m = a->rowEntryStart[row]; m < a->rowEntryStart[row + 1]; m++) {
                const int2 entry = a->rowEntry[m]; // and its column
                x[row] -= a->lower[entry.x] / a->diagonal[entry.y] * x[entry.y];
            }
        }
        TEAM_SYNC
    }
    for (int level = lastLevel - 1; level >= firstLevel; level--) {
        for (int n = a->levelRowStart[level] + TEAM_MEMBER; n < a->levelRowStart[level + 1]; n += TEAM_SIZE) {
            const int row = a->levelRow[n];
            for (int e = a->columnStart[row]; e < a->columnStart[row + 1]; e++)
                x[row] -= a->upper[e] * x[a->entryRow[e]];
            x[row] /= a->diagonal[row];
        }
        TEAM_SYNC
    }
}

enum { POSITIONS, VELOCITIES, ACCELERATIONS };

/** Residual of a row in one or another stage, and its error. */
DEVICE mixed residual(const Arguments* a, int row, int what, mixed time, mixed timeScale, mixed* error, mixed* value) {
    if (what == POSITIONS) {
        *value = evaluateRow(a, row, true, time, a->gradient);
        const mixed sigma = residualOf(a, row, *value, time);
        *error = errorOf(a, row, sigma, time, a->gradient);
        return sigma;
    }
    const mixed rate = rateOf(a, row, what == ACCELERATIONS) + a->offset[row];
    *value = rate;
    *error = errorOf(a, row, rate, a->time, a->startGradient) * timeScale;
    return rate;
}

#if ITERATIVE
/** SHAKE and RATTLE: one row in turn, colour by colour, each with what the rows before it have done; rows of a colour
 *  share no movable particle.
 *  @param[inout] report  in: of what came before; nothing is done unless that converged and this is wanted */
DEVICE void solveCluster(const Arguments* a, int c, int what, mixed time, mixed timeScale, mixed tolerance,
                         GLOBAL mixed* multipliers, bool isWanted, Report* report TEAM_SHARED_PARAMETER) {
    bool isDone = !isWanted || report->outcome != CONVERGED;
    const bool isWarm = a->warmStart && what != ACCELERATIONS && multipliers != a->projection; // of a step
    GLOBAL const mixed* ofLastStep = (what == POSITIONS ? lambdaOf(a) : muOf(a)) + (1 - 2 * a->turn) * a->numRows;
    EACH_ROW(row) if (isWanted)
        multipliers[row] = isWarm ? ofLastStep[row] : 0;
    addImpulses(a, c, ofLastStep, isWarm && !isDone);
    for (int iteration = 1; !isDone; iteration++) {
        Report mine = newReport();
        for (int colour = a->colourStart[c]; colour < a->colourStart[c + 1]; colour++) {
            for (int n = a->colourRowStart[colour] + TEAM_MEMBER; n < a->colourRowStart[colour + 1]; n += TEAM_SIZE) {
                const int row = a->colourRow[n];
                mixed error, value;
                const mixed r = residual(a, row, what, time, timeScale, &error, &value);
                note(&mine, row, error, value);
                GLOBAL const mixed* gradients = what == POSITIONS ? a->gradient : a->startGradient;
                const mixed denominator = diagonalOf(a, row, gradients);
                const mixed atStart = diagonalOf(a, row, a->startGradient);
                if (mine.outcome == CONVERGED && (!(fabs(denominator) > PIVOT_THRESHOLD * atStart) ||
                                                  (what == POSITIONS && hasTurned(a, row)))) {
                    mine.outcome = SINGULAR;
                    mine.row = row;
                    mine.error = error;
                    mine.value = value;
                }
                const mixed change = mine.outcome == CONVERGED ? -r / denominator : 0;
                multipliers[row] += change;
                for (int s = a->slotStart[row]; s < a->slotStart[row + 1]; s++) {
                    const mixed w = inverseMassOf(a, s);
                    const int i = a->slotParticle[s];
                    if (w > 0)
                        store3(a->impulse, i, load3(a->impulse, i) + (change * w) * load3(a->startGradient, s));
                }
            }
            TEAM_SYNC
        }
        *report = worstOf(mine TEAM_SHARED);
        const bool isLast = iteration >= a->maxIterations;
        const bool isChecked = report->outcome == CONVERGED && (isLast || report->error <= tolerance);
        // Correcting one row has moved its neighbours since they were looked at.
        mine = newReport();
        EACH_ROW(row) if (isChecked) {
            mixed error, value;
            residual(a, row, what, time, timeScale, &error, &value);
            note(&mine, row, error, value);
        }
        mine = worstOf(mine TEAM_SHARED);
        if (isChecked)
            *report = mine;
        report->iterations = iteration;
        if (isChecked && isLast && report->outcome == CONVERGED && report->error > tolerance)
            report->outcome = NOT_CONVERGED;
        isDone = report->outcome != CONVERGED || (isChecked && report->error <= tolerance);
    }
}
#else
/** Newton's method, all rows of a cluster at once.
 *  @param[inout] report  in: of what came before; nothing is done unless that converged and this is wanted */
DEVICE void solveCluster(const Arguments* a, int c, int what, mixed time, mixed timeScale, mixed tolerance,
                         GLOBAL mixed* multipliers, bool isWanted, Report* report TEAM_SHARED_PARAMETER) {
    bool isDone = !isWanted || report->outcome != CONVERGED;
    const bool isSolved = !isDone;
    EACH_ROW(row) if (isWanted)
        multipliers[row] = 0;
    for (int iteration = 0; !isDone; iteration++) {
        Report mine = newReport();
        EACH_ROW(row) {
            mixed error, value;
            a->change[row] = -residual(a, row, what, time, timeScale, &error, &value);
            note(&mine, row, error, value);
        }
        *report = worstOf(mine TEAM_SHARED);
        report->iterations = iteration;
        // At least one correction: errors left below the tolerance would be off to the same side step after step.
        isDone = report->outcome != CONVERGED || report->error == 0 || (report->error <= tolerance && iteration > 0);
        if (!isDone && iteration == (what == ACCELERATIONS ? LINEAR_ITERATIONS : a->maxIterations)) {
            report->outcome = NOT_CONVERGED;
            isDone = true;
        }
        const bool needsFactor = !isDone && (what == POSITIONS || iteration == 0);
        assemble(a, c, what == POSITIONS ? a->gradient : a->startGradient, needsFactor);
        const Report factored = factorize(a, c, needsFactor TEAM_SHARED);
        if (factored.outcome != CONVERGED) {
            report->outcome = SINGULAR;
            report->row = factored.row;
            isDone = true;
        }
        substitute(a, c, a->change, !isDone);
        EACH_ROW(row) if (!isDone)
            multipliers[row] += a->change[row];
        addImpulses(a, c, a->change, !isDone);
    }
    // Where a constraint has turned, the solution found is another root.
    Report turned = newReport();
    EACH_ROW(row) if (what == POSITIONS && isSolved && report->outcome == CONVERGED && turned.outcome == CONVERGED &&
                      hasTurned(a, row)) {
        turned = *report;
        turned.outcome = SINGULAR;
        turned.row = row;
    }
    turned = worstOf(turned TEAM_SHARED);
    if (turned.outcome != CONVERGED)
        *report = turned;
}
#endif

/** Gradients at the start; no constraint has added anything yet. */
DEVICE Report startCluster(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    Report mine = newReport();
    EACH_PARTICLE(n) store3(a->impulse, a->clusterParticle[n], make_mixed3(0, 0, 0));
    EACH_ROW(row) {
        if (!startRow(a, row, a->time) && mine.outcome == CONVERGED) {
            mine.outcome = a->rowKind[row] == EXPRESSION && fabs(a->rowValue[row]) < INFINITE_ERROR ? NO_GRADIENT
                                                                                                   : NOT_FINITE;
            mine.row = row;
            mine.value = a->rowValue[row];
        }
    }
    TEAM_SYNC
    return worstOf(mine TEAM_SHARED);
}

DEVICE void solvePositions(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    Report report = startCluster(a, c TEAM_SHARED);
    EACH_ROW(row) a->workRate[row] = a->rowRateOffset[row];
    solveCluster(a, c, POSITIONS, a->time + a->dt, 1, a->innerTolerance, lambdaOf(a), true, &report TEAM_SHARED);
    writeTeamReport(a, 0, c, report);
}

/** Errors at the start, and whether any is above the threshold plus what rounding of positions adds. */
DEVICE Report measureStart(const Arguments* a, int c, bool* isViolated TEAM_SHARED_PARAMETER) {
    Report mine = newReport();
    Report excess = newReport();
    EACH_ROW(row) {
        const mixed sigma = residualOf(a, row, a->rowValue[row], a->time);
        const mixed error = errorOf(a, row, sigma, a->time, a->startGradient);
        note(&mine, row, error, a->rowValue[row]);
        mixed largest = 0;
        for (int s = a->slotStart[row]; s < a->slotStart[row + 1]; s++)
            largest = max(largest, largestComponent(positionOf(a, a->slotParticle[s])));
        const mixed slack = roundingOf(a, largest, inverseScaleOf(a, row, a->time));
        note(&excess, row, error > a->threshold + slack ? error : 0, 0);
    }
    Report report = worstOf(mine TEAM_SHARED);
    *isViolated = worstOf(excess TEAM_SHARED).error > 0;
    if (report.outcome == CONVERGED && report.error > a->farOff)
        report.outcome = FAR_OFF; // for the host
    return report;
}

DEVICE void projectPositions(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    bool isViolated = false;
    Report report = startCluster(a, c TEAM_SHARED);
    const Report before = measureStart(a, c, &isViolated TEAM_SHARED);
    if (report.outcome == CONVERGED)
        report = before;
    solveCluster(a, c, POSITIONS, a->time, 1, a->innerTolerance, a->projection, isViolated, &report TEAM_SHARED);
    writeTeamReport(a, 3, c, report);
}

DEVICE Report solveRates(const Arguments* a, int c, GLOBAL mixed* multipliers,
                         bool onlyIfViolated TEAM_SHARED_PARAMETER) {
    Report report = startCluster(a, c TEAM_SHARED);
    EACH_ROW(row) a->offset[row] = a->rowRateOffset[row];
    TEAM_SYNC
    Report mine = newReport();
    EACH_ROW(row) if (onlyIfViolated && report.outcome == CONVERGED) {
        mixed error, value;
        residual(a, row, VELOCITIES, a->time, a->timeScale, &error, &value);
        note(&mine, row, error, value);
    }
    const Report before = worstOf(mine TEAM_SHARED);
    if (report.outcome == CONVERGED)
        report = before;
    const bool isViolated = !onlyIfViolated || before.error > a->tolerance;
    solveCluster(a, c, VELOCITIES, a->time, a->timeScale, a->innerTolerance, multipliers, isViolated,
                 &report TEAM_SHARED);
    return report;
}

DEVICE void solveVelocities(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    const Report report = solveRates(a, c, muOf(a), false TEAM_SHARED);
    EACH_ROW(row) a->workRate[a->numRows + row] = a->rowRateOffset[row];
    writeTeamReport(a, 1, c, report);
}

/** The same for velocities fresh from the heat bath, whose multipliers nobody reads. Without friction they are still
 *  those of the first solve: another correction would be an impulse in the middle of the drift. */
DEVICE void solveHeatedVelocities(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    const Report report = solveRates(a, c, a->projection, a->velocityScale == 1 TEAM_SHARED);
    writeTeamReport(a, 2, c, report);
}

DEVICE void projectVelocities(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    const Report report = solveRates(a, c, a->projection, true TEAM_SHARED);
    writeTeamReport(a, 3, c, report);
}

/** J a + J-dot v + 2 alpha J v + beta^2 sigma = 0 for accelerations in `displacement`. */
DEVICE void solveAccelerations(const Arguments* a, int c, int stage,
                               GLOBAL mixed* multipliers TEAM_SHARED_PARAMETER) {
    Report report = startCluster(a, c TEAM_SHARED);
    Report largest = newReport(), drift = newReport();
    EACH_ROW(row) {
        const mixed sigma = residualOf(a, row, a->rowValue[row], a->time);
        const mixed rate = rateOf(a, row, false) + a->rowRateOffset[row];
        a->offset[row] = curvatureOf(a, row) + 2 * a->alpha * rate + a->beta * a->beta * sigma;
        a->workRate[stage * a->numRows + row] = a->rowRateOffset[row];
        const mixed size = fabs(a->offset[row]) + fabs(rateOf(a, row, true));
        note(&largest, row, errorOf(a, row, size, a->time, a->startGradient), 0);
        note(&drift, row, errorOf(a, row, sigma, a->time, a->startGradient), a->rowValue[row]);
    }
    largest = worstOf(largest TEAM_SHARED);
    drift = worstOf(drift TEAM_SHARED);
    const mixed timeScale = largest.error > 0 ? 1 / largest.error : 1;
    solveCluster(a, c, ACCELERATIONS, a->time, timeScale, LINEAR_TOLERANCE, multipliers, true, &report TEAM_SHARED);
    // Rounding may keep the error above what was asked for.
    if (report.outcome == NOT_CONVERGED && report.error < LINEAR_ROUNDING)
        report.outcome = CONVERGED;
    if (report.outcome == CONVERGED && stage > 0) {
        const int iterations = report.iterations;
        report = drift;
        report.iterations = iterations;
        if (!(drift.error <= a->maxDrift))
            report.outcome = DRIFTED;
    }
    writeTeamReport(a, stage, c, report);
}

DEVICE void solveStartAccelerations(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    solveAccelerations(a, c, 0, lambdaOf(a) TEAM_SHARED);
}

DEVICE void solveEndAccelerations(const Arguments* a, int c TEAM_SHARED_PARAMETER) {
    solveAccelerations(a, c, 1, muOf(a) TEAM_SHARED);
}
