// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: subdomains.cc
// The rounds of one solve (subdomains.cc). The host compiles this text for each solve of a time step, $SOLVE$.

/** One round: decide by what all subdomains found in the round before; if the solve is not over, find the residuals with the
 *  corrections that all subdomains made there, and the next correction.
 *  @param start  what the start of the rows found, of each thread */
DEVICE APART void take_$SOLVE$_General(const Arguments* a, int c, int round, Report start, Solve* solve,
                         SubdomainState* state SHARED_PARAMETER) {
    const int iterations = round - (solve->isMeasured ? 1 : 0); // corrections that there are
    const bool wasOver = state->isOver, measures = iterations < 0;
    Report report = newReport(), second = newReport();
    IF_UNIFORM(solve->isMeasured)
        readFound(a, c, MEASURED, !measures && !wasOver, &solve->measured[0], &solve->measured[1] SHARED_ARGUMENT);
    IF_UNIFORM(iterations > 0)
        readFound(a, c, (iterations + 1) & 1, !wasOver, &report, &second SHARED_ARGUMENT);
    if (solve->isMeasured && !measures && !wasOver) {
        const Report judged = judge_$SOLVE$(a, solve);
        if (iterations == 0 && (judged.outcome != Outcome_Converged || !solve->isWanted)) {
            report = judged;
            state->isOver = true;
        }
    }
    if (iterations > 0 && !wasOver)
        decide(a, solve, state, iterations - 1, !IS_WHOLE(c), &report, second);
    if (state->isOver && !wasOver && !state->isHandedOver) {
        report = report_$SOLVE$(a, solve, report);
        if ((report.outcome != Outcome_Converged || !solve->isSilent) && THREAD_IN_GROUP == 0)
            writeSubdomainReport(a, c, solve, report);
    }
#if HAS_JOINTS
    IF_UNIFORM(state->isOver && !wasOver && !state->isHandedOver && solve->isOfBodies)
        flagBodies(a, c, solve->isWanted);
#endif

    const bool isActive = !state->isOver;
    const bool isLast = !isActive && !wasOver && !WAITS; // impulses are left for the launch that moves particles
    IF_UNIFORM((isActive && iterations > 0) || isLast)
        applyGeneral(a, c, solve, false, isActive ? iterations : state->iterations, true SHARED_ARGUMENT);
    Report first = newReport(), other = newReport();
    EACH_ROW(row) if (isActive && measures && IS_OWN(row) && start.outcome == Outcome_Converged)
        measure_$SOLVE$(a, row, &first, &other);
#if HAS_JOINTS
    if (isActive && measures && solve->isOfBodies)
        noteBodies(a, c, &other);
#endif
    evaluateGeneral(a, c, solve, iterations, isActive && !measures, &first, &other SHARED_ARGUMENT);
    if (round == 0 && start.outcome != Outcome_Converged)
        first = start;
    IF_UNIFORM(isActive)
        first = worstOf(first SHARED_ARGUMENT);

    const bool isCorrected = isActive && !measures && first.outcome == Outcome_Converged &&
                             iterations < a->maxIterations &&
                             (iterations == 0 || first.error > 0.1f * solve->tolerance); // its halo may have larger ones
    const mixed leastGain = IS_WHOLE(c) ? 0.1f : LARGEST_RATIO; // subdomains gain less because of each other
    if (isCorrected && FALLS_BACK && state->usesShared && first.error > leastGain * state->lastError)
        state->usesShared = state->hasFactor = false;
    if (isCorrected)
        state->lastError = first.error;
    int singular = NO_ROW;
    IF_UNIFORM(isCorrected)
        singular = correctGeneral(a, c, solve, iterations, state SHARED_ARGUMENT);
    if (isCorrected && singular != NO_ROW && first.error > solve->tolerance)
        note(&other, singular, VANISHED, 0);
    GLOBAL mixed* exchanged = a->exchange + (iterations & 1) * a->numRows;
    EACH_ROW(row) if (isActive && !measures && IS_OWN(row))
        exchanged[row] = a->total[row] + (isCorrected && singular == NO_ROW ? a->change[row] : 0);
    IF_UNIFORM(isActive)
        other = worstOf(other SHARED_ARGUMENT);
    if (isActive)
        writeFound(a, c, measures ? MEASURED : iterations & 1, first, other);
}
