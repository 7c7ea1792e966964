// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: solves.cc
// Clusters of any size and kind, a thread group each. Arrays are in global memory, except for the factor of a block if
// that fits into its shared memory.

/** impulse_i += 1/m_i sum_k change_k grad_i sigma_k(0) over the rows of each particle */
DEVICE void addImpulses(const Arguments* a, int c, GLOBAL const mixed* change, bool isWanted) {
    EACH_PARTICLE(n) if (isWanted) {
        const int i = a->clusterParticle[n];
        mixed3 sum = make_mixed3(0, 0, 0);
        mixed w = 0;
        for (int m = a->particleSlotStart[n]; m < a->particleSlotStart[n + 1]; m++) {
            const int slot = a->particleSlot[m];
            sum = sum + change[ROW_OF(slot)] * gradientAt(a->startGradient, slot);
            w = inverseMassOf(a, slot);
        }
        store3(a->impulse, i, load3(a->impulse, i) + w * sum);
    }
    THREAD_GROUP_SYNC
}

#if ITERATIVE
// An expression may be rounded more coarsely than its neighbours' tolerance: from the eleventh sweep on errors below this part of
// the tolerance are taken for noise, whose corrections would disturb them in every sweep.
#define FIRST_SWEEPS 10
#define NOISE_PART (MIXED_IS_DOUBLE ? 0 : 0.5f)

/** SHAKE and RATTLE: one row at a time, colour by colour, each with the corrections of the rows before it. Rows of a
 *  colour share no movable particle.
 *  @param[inout] report  in: what the start found; nothing is done unless it converged and the solve is wanted */
DEVICE void solveCluster(const Arguments* a, int c, const Solve* solve, Report* report SHARED_PARAMETER) {
    const int what = solve->what;
    const bool isWanted = solve->isWanted;
    GLOBAL mixed* multipliers = solve->multipliers;
    bool isDone = !isWanted || report->outcome != Outcome_Converged;
    const bool isWarm = a->warmStart && what < ACCELERATIONS && multipliers != a->projection && !LATER_TURN; // of a step
    GLOBAL const mixed* ofThisStep = what == POSITIONS ? lambdaOf(a) : muOf(a);
    GLOBAL const mixed* ofLastStep = ofThisStep + (1 - 2 * a->bufferIndex) * a->numRows; // if steps have one moment
    EACH_ROW(row) if (isWanted && !addsUp(a, multipliers))
        multipliers[row] = isWarm ? ofLastStep[row] : 0;
    addImpulses(a, c, ofLastStep, isWarm && !isDone);
#if HAS_JOINTS
    displaceBodies(a, c, what == POSITIONS && isWarm && !isDone);
#endif
    for (int iteration = 1; !isDone; iteration++) {
        Report mine = newReport();
        for (int colour = a->colourStart[c]; colour < a->colourStart[c + 1]; colour++) {
            for (int n = a->colourRowStart[colour] + THREAD_IN_GROUP; n < a->colourRowStart[colour + 1];
                 n += THREAD_GROUP_SIZE) {
                const int row = a->colourRow[n];
                mixed error, value;
                const mixed r = residual(a, row, what, solve->time, solve->timeScale, &error, &value);
                note(&mine, row, error, value);
                GLOBAL const mixed* gradients = what == POSITIONS ? a->gradient : a->startGradient;
                const mixed denominator = diagonalOf(a, row, gradients);
                const mixed atStart = diagonalOf(a, row, a->startGradient);
                if (mine.outcome == Outcome_Converged && (!(fabs(denominator) > PIVOT_THRESHOLD * atStart) ||
                                                  (what == POSITIONS && hasTurned(a, row)))) {
                    mine.outcome = Outcome_Singular;
                    mine.row = row;
                    mine.error = error;
                    mine.value = value;
                }
                const bool isNoise = iteration > FIRST_SWEEPS && error < NOISE_PART * solve->tolerance;
                const mixed change = mine.outcome == Outcome_Converged && !isNoise ? -r / denominator : 0;
                multipliers[row] += change;
                for (int s = FIRST_SLOT(row); s < FIRST_SLOT(row + 1); s++) {
                    const mixed w = inverseMassOf(a, s);
                    const int i = a->slotParticle[s];
                    if (w > 0)
                        store3(a->impulse, i, load3(a->impulse, i) + (change * w) * gradientAt(a->startGradient, s));
                }
#if HAS_JOINTS
                if (what == POSITIONS)
                    displaceBodiesOf(a, row);
#endif
            }
            THREAD_GROUP_SYNC
        }
        *report = worstOf(mine SHARED_ARGUMENT);
        const bool isLast = iteration >= a->maxIterations;
        const bool isChecked = report->outcome == Outcome_Converged && (isLast || report->error <= solve->tolerance);
        // Corrections of later rows changed the errors of their neighbours.
        mine = newReport();
        EACH_ROW(row) if (isChecked) {
            mixed error, value;
            residual(a, row, what, solve->time, solve->timeScale, &error, &value);
            note(&mine, row, error, value);
        }
        mine = worstOf(mine SHARED_ARGUMENT);
        if (isChecked)
            *report = mine;
        report->iterations = iteration;
        const bool isSolved = isChecked && report->error <= solve->tolerance;
        if (isLast && !isSolved && report->outcome == Outcome_Converged)
            report->outcome = Outcome_NotConverged;
        isDone = isSolved || report->outcome != Outcome_Converged;
    }
}
#else
/** Newton's method, all rows of a cluster at once. A factor in shared memory has single precision, residuals have that
 *  of the Context, so a solve may take more iterations. If the matrix is too ill-conditioned for single precision, it
 *  is factorized again in the Context's precision, in global memory.
 *  @param[inout] report  in: what the start found; nothing is done unless it converged and the solve is wanted */
DEVICE void solveCluster(const Arguments* a, int c, const Solve* solve, Report* report SHARED_PARAMETER) {
    const int what = solve->what;
    const bool isWanted = solve->isWanted;
    GLOBAL mixed* multipliers = solve->multipliers;
    const bool isSolved = isWanted && report->outcome == Outcome_Converged;
    GLOBAL const mixed* gradients = what == POSITIONS ? a->gradient : a->startGradient;
    const int maxIterations = what < ACCELERATIONS ? a->maxIterations : MAX_LINEAR_ITERATIONS;
    bool isDone = !isSolved, hasFactor = false;
    const int numRows = a->rowStart[c + 1] - a->rowStart[c], numEntries = a->entryStart[c + 1] - a->entryStart[c];
    bool isShared = 2 * (numRows + numEntries) <= FACTOR_NUMBERS;
    mixed lastError = INFINITE_ERROR;
    EACH_ROW(row) if (isWanted && !addsUp(a, multipliers))
        multipliers[row] = 0;
    for (int iteration = 0; !isDone;) {
        Report mine = newReport();
        EACH_ROW(row) {
            mixed error, value;
            a->change[row] = -residual(a, row, what, solve->time, solve->timeScale, &error, &value);
            note(&mine, row, error, value);
        }
        *report = worstOf(mine SHARED_ARGUMENT);
        report->iterations = iteration;
        // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
        isDone = report->outcome != Outcome_Converged || report->error == 0 ||
                 (report->error <= solve->tolerance && iteration > 0);
        if (!isDone && iteration == maxIterations) {
            report->outcome = Outcome_NotConverged;
            isDone = true;
        }
        if (FALLS_BACK && isShared && report->error > 0.1f * lastError)
            isShared = hasFactor = false;
        lastError = report->error;
        const bool factorizes = what == POSITIONS || !hasFactor;
        int singular = NO_ROW;
#if HAS_SHARED
        singular = correctShared(a, c, gradients, factorizes, !isDone && isShared,
                                 sharedFactor(a, c, shared) SHARED_ARGUMENT);
#endif
#if HAS_GLOBAL
        singular = min(singular, correctGlobal(a, c, gradients, factorizes, !isDone && !isShared,
                                               globalFactor(a, c) SHARED_ARGUMENT));
#endif
        const bool isCorrected = !isDone && singular == NO_ROW;
        if (singular != NO_ROW && !(FALLS_BACK && isShared)) {
            report->outcome = Outcome_Singular;
            report->row = singular;
            isDone = true;
        }
        isShared = isShared && isCorrected;
        hasFactor = isCorrected;
        iteration += isCorrected;
        EACH_ROW(row) if (isCorrected)
            multipliers[row] += a->change[row];
        addImpulses(a, c, a->change, isCorrected);
#if HAS_JOINTS
        displaceBodies(a, c, what == POSITIONS && isCorrected);
#endif
    }
    // If a gradient has turned, the solution may be a wrong root.
    Report turned = newReport();
    EACH_ROW(row) if (what == POSITIONS && isSolved && report->outcome == Outcome_Converged &&
                      turned.outcome == Outcome_Converged && hasTurned(a, row)) {
        turned = *report;
        turned.outcome = Outcome_Singular;
        turned.row = row;
    }
    turned = worstOf(turned SHARED_ARGUMENT);
    if (turned.outcome != Outcome_Converged)
        *report = turned;
}
#endif

/** Compute gradients at the start, and set the impulses to zero. */
DEVICE Report startCluster(const Arguments* a, int c SHARED_PARAMETER) {
    Report mine = newReport();
    EACH_PARTICLE(n) store3(a->impulse, a->clusterParticle[n], make_mixed3(0, 0, 0));
    EACH_ROW(row) noteStart(a, row, &mine);
    return worstOf(mine SHARED_ARGUMENT);
}
