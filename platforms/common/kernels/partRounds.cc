// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The rounds of one solve (parts.cc). The host compiles this text for each solve of a time step, $SOLVE$.

/** Begin at the present positions: gradients of all rows, the ring's too. Particles have been taken up.
 *  @return the first own row of this thread that has no gradient */
DEVICE Report start_$SOLVE$(const Arguments* a, int c SHARED_PARAMETER) {
    Report mine = newReport(), ofOthers = newReport();
#if HAS_JOINTS
    EACH_BODY(b) copyBody(a, bodyOf(a, b), b);
#endif
    THREAD_GROUP_SYNC
    EACH_ROW_OR_RING(row) {
        a->total[row] = 0;
        noteStart(a, row, IS_OWN(row) ? &mine : &ofOthers);
    }
    EACH_ROW(row) setOffset_$SOLVE$(a, row);
    THREAD_GROUP_SYNC
    return mine;
}

/** One round: decide by what all parts found in the round before; if the solve is not over, find the residuals with the
 *  corrections that all parts made there, and the next correction. */
DEVICE void take_$SOLVE$(const Arguments* a, int c, int round, Report start, PartSolve* solve,
                         PartState* state SHARED_PARAMETER) {
    const int iterations = round - (solve->isMeasured ? 1 : 0); // corrections that there are
    const bool wasOver = state->isOver, measures = iterations < 0;
    Report report = newReport(), second = newReport();
    readFound(a, c, MEASURED, solve->isMeasured && !measures && !wasOver, &solve->measured[0],
              &solve->measured[1] SHARED_ARGUMENT);
    readFound(a, c, (iterations + 1) & 1, iterations > 0 && !wasOver, &report, &second SHARED_ARGUMENT);
    if (solve->isMeasured && !measures && !wasOver) {
        const Report judged = judge_$SOLVE$(a, solve);
        if (iterations == 0 && (judged.outcome != Outcome_Converged || !solve->isWanted)) {
            report = judged;
            state->isOver = true;
        }
    }
    if (iterations > 0 && !wasOver)
        decide(a, c, solve, state, iterations - 1, &report, second);
    if (state->isOver && !wasOver && !state->isHandedOver) {
        report = report_$SOLVE$(a, solve, report);
        if (report.outcome != Outcome_Converged || !solve->isSilent)
            writePartReport(shared.arguments, c, solve, report);
    }
#if HAS_JOINTS
    for (int once = 0; once < (state->isOver && !wasOver && solve->isOfBodies); once++)
        flagBodies(a, c, solve->isWanted);
#endif

    const bool isActive = !state->isOver;
    const bool isLast = !isActive && !wasOver && !WAITS; // impulses are left for the launch that moves particles
    applyMultipliers(a, c, solve->what, a->rowOwner, isActive ? iterations : state->iterations, (isActive && iterations > 0) || isLast);
    Report first = newReport(), other = newReport();
    EACH_ROW(row) if (isActive && measures && IS_OWN(row) && start.outcome == Outcome_Converged)
        measure_$SOLVE$(a, row, &first, &other);
#if HAS_JOINTS
    if (isActive && measures && solve->isOfBodies)
        noteBodies(a, c, &other);
#endif
    evaluatePart(a, c, solve, iterations, isActive && !measures, &first, &other);
    if (round == 0 && start.outcome != Outcome_Converged)
        first = start;
    first = worstOf(first SHARED_ARGUMENT);

    const bool isCorrected = isActive && !measures && first.outcome == Outcome_Converged &&
                             iterations < a->maxIterations &&
                             (iterations == 0 || first.error > NEGLIGIBLE_PART * solve->tolerance);
    const mixed leastGain = IS_WHOLE(c) ? 0.1f : 0.5f; // parts gain less because of each other
    if (isCorrected && FALLS_BACK && state->usesShared && first.error > leastGain * state->lastError)
        state->usesShared = state->hasFactor = false;
    if (isCorrected)
        state->lastError = first.error;
    const int singular = correctPart(a, c, solve, iterations, isCorrected, state SHARED_ARGUMENT);
    if (isCorrected && singular != NO_ROW && first.error > solve->tolerance)
        note(&other, singular, VANISHED, 0);
    GLOBAL mixed* exchanged = a->exchange + (iterations & 1) * a->numRows;
    EACH_ROW(row) if (isActive && !measures && IS_OWN(row))
        exchanged[row] = a->total[row] + (isCorrected && singular == NO_ROW ? a->change[row] : 0);
    other = worstOf(other SHARED_ARGUMENT);
    if (isActive)
        writeFound(a, c, measures ? MEASURED : iterations & 1, first, other);
}

/** Take what the cluster as a whole was solved to, after its last round. */
DEVICE void adopt_$SOLVE$(const Arguments* a, int c, const PartSolve* solve, bool isWanted SHARED_PARAMETER) {
    const PartState whole = loadPartState(a, a->partsOfCluster[c].z);
    applyMultipliers(a, c, solve->what, a->rowWhole, whole.iterations, isWanted);
    if (isWanted && !solve->isSilent)
        copyReport(shared.arguments, c, solve);
}

/** At the end, write the multipliers. */
DEVICE void end_$SOLVE$(const Arguments* a, int c, const PartSolve* solve SHARED_PARAMETER) {
    EACH_ROW(row) if (IS_OWN(row))
        solve->multipliers[row] = (addsUp(a, solve->multipliers) ? solve->multipliers[row] : 0) + a->total[row];
#if HAS_JOINTS
    EACH_BODY(b) if (ownsBody(a, b))
        copyBody(a, b, bodyOf(a, b));
#endif
}
