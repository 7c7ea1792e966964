// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: borderField.cc, residuals.cc, borderSolves
// needs if HAS_JOINTS: points.cc
// Bordered rows (core/graph/Border.h), which are solved in turns with the clusters that they reach: the clusters by their
// own kernels, then each bordered row is evaluated by a thread group (evaluateBorder), and one group solves for what all
// of them correct (solveBorder). The next launch of the clusters begins with it. As ConstraintBorder.cpp, but that turns
// are launched before it is known how many it takes: those after the last return at once, and where more are needed, the
// step fails with Outcome_MoreTurns, and the host takes it again with more.

/** A solve, from what the host gives as its number. */
typedef struct {
    int what, solve; // POSITIONS, ...; StepSolve
    mixed time, timeScale;
    bool onlyIfViolated;
} BorderSolve;

DEVICE BorderSolve borderSolveOf(const Arguments* a) {
    const int number = a->borderItem;
    BorderSolve result;
    result.what = number == BorderSolve_solvePositions || number == BorderSolve_projectPositions ? POSITIONS
                  : number == BorderSolve_solveVelocitySpread                                    ? RESPONSES
                  : number == BorderSolve_solveStartAccelerations || number == BorderSolve_solveEndAccelerations
                      ? ACCELERATIONS
                      : VELOCITIES;
    result.solve =
        number == BorderSolve_solvePositions || number == BorderSolve_solveStartAccelerations ? StepSolve_Positions
        : number == BorderSolve_solveVelocities || number == BorderSolve_solveEndAccelerations ? StepSolve_Velocities
        : result.what == RESPONSES || number == BorderSolve_solveHeatedVelocities ? StepSolve_HeatedVelocities
                                                                                  : StepSolve_Projection;
    result.time = a->time + (number == BorderSolve_solvePositions ? a->driftTime : 0);
    result.timeScale = result.what == VELOCITIES ? a->timeScale : 1;
    result.onlyIfViolated =
        result.solve == StepSolve_Projection || (number == BorderSolve_solveHeatedVelocities && a->velocityScale == 1);
    return result;
}

/** Take the present positions as the start of a row. */
DEVICE void startBordered(const Arguments* a, int b SHARED_PARAMETER) {
    const int row = FIRST_BORDERED + b;
    startRow(a, row, a->time);
    const mixed diagonal = diagonalOf(a, row, a->startGradient);
    if (ROW_THREAD == 0)
        a->originalDiagonal[row] = diagonal;
}

/** Errors that rounding of stored positions may add to a row. */
DEVICE mixed slackOf(const Arguments* a, int row) {
    mixed largest = 0;
    for (int s = FIRST_POINT(row); s < END_OF_POINTS(row); s++)
        largest = max(largest, largestComponent(positionOf(a, a->slotParticle[s])));
    return roundingOf(a, largest, inverseScaleOf(a, row, a->time));
}

/** S_bc = G_b w_c of a row b, for all rows c that it is coupled to. */
DEVICE void assembleBordered(const Arguments* a, int b, GLOBAL const mixed* gradients) {
    const int row = FIRST_BORDERED + b, firstEntry = a->entryStart[BORDER_CLUSTER];
    for (int n = a->coupledStart[b]; n < a->coupledStart[b + 1]; n++) {
        const int2 other = a->coupled[n]; // and the entry
        const int field = a->fieldOfRow[other.x];
        mixed sum = 0;
        EACH_SLOT(s, FIRST_SLOT(row), FIRST_SLOT(row + 1)) {
            const int place = a->borderPlace[a->slotParticle[s]];
            const int m = place < 0 ? 0 : responseAt(a, field, place);
            if (place >= 0 && a->fieldRow[m] == other.x)
                sum += dot(load3(gradients, s), load3(a->responses, m));
        }
        sum = sumOfRow(a, sum);
        if (ROW_THREAD == 0) {
            if (other.y < 0)
                a->diagonal[row] = sum;
            else if (other.x < b)
                a->lower[firstEntry + other.y] = sum;
            else
                a->upper[firstEntry + other.y] = sum;
        }
    }
}

/** Set what is constant in a row during a solve. */
DEVICE void setBorderOffset(const Arguments* a, int row, const BorderSolve* solve) {
    if (solve->what == ACCELERATIONS)
        setAccelerationOffset(a, row, solve->solve);
    else if (solve->what == RESPONSES)
        setSpreadOffset(a, row);
    else if (ROW_THREAD == 0) {
        a->offset[row] = a->rowRateOffset[row];
        if (solve->solve == StepSolve_Positions || solve->solve == StepSolve_Velocities)
            workRatesOf(a)[(solve->what == POSITIONS ? 0 : a->numRows) + row] = a->rowRateOffset[row];
    }
}

/** Residual and error of a row after the clusters were solved, and its elements of S. */
DEVICE void evaluateBordered(const Arguments* a, int b SHARED_PARAMETER) {
    const BorderSolve solve = borderSolveOf(a);
    const int row = FIRST_BORDERED + b;
    IF_UNIFORM(!LATER_TURN)
        setBorderOffset(a, row, &solve);
    ROW_SYNC
    mixed error, value;
    const mixed r = residual(a, row, solve.what, solve.time, solve.timeScale, &error, &value);
    bool isTurned = false; // as hasTurned()
    IF_UNIFORM(solve.what == POSITIONS)
        isTurned = !(diagonalOf(a, row, a->gradient) > PIVOT_THRESHOLD * a->originalDiagonal[row]);
    mixed drift = 0, size = 0; // of positions at the start; of the terms
    IF_UNIFORM(solve.what == ACCELERATIONS) {
        drift = errorOf(a, row, residualOf(a, row, a->rowValue[row], a->time), a->time, a->startGradient);
        size = errorOf(a, row, fabs(a->offset[row]) + fabs(r - a->offset[row]), a->time, a->startGradient);
    }
    if (ROW_THREAD == 0) {
        mixed4 result;
        result.x = error;
        result.y = value;
        result.z = error; // if it is to be corrected
        result.w = isTurned ? 1 : 0;
        const bool measures = solve.onlyIfViolated && !LATER_TURN;
        if (measures && !(error > (solve.what == POSITIONS ? a->threshold + slackOf(a, row) : a->tolerance)))
            result.z = 0; // also of NaN
        if (solve.what == ACCELERATIONS)
            result.z = drift;
        a->borderErrors[b] = result;
        if (!LATER_TURN)
            a->borderSize[b] = size;
        a->change[row] = -r;
    }
    assembleBordered(a, b, solve.what == POSITIONS ? a->gradient : a->startGradient);
}

/** change <- S^-1 change. @return the first row whose pivot vanished, or NO_ROW */
DEVICE int correctBordered(const Arguments* a, int c, bool isWanted SHARED_PARAMETER) {
    const int firstLevel = a->levelStart[c], lastLevel = isWanted ? a->levelStart[c + 1] : firstLevel;
    int singular = NO_ROW;
    FactorGlobal f = globalFactor(a, c);
    EACH_ROW(row) if (isWanted) {
        const int k = row - a->rowStart[c];
        if (!(fabs(f.pivot[k]) > PIVOT_THRESHOLD * a->originalDiagonal[row])) // of what the clusters leave
            singular = min(singular, k);
        else if (a->rowIsLeaf[row])
            f.pivot[k] = 1 / f.pivot[k];
    }
    THREAD_GROUP_SYNC
    eliminateGlobal(a, c, firstLevel, lastLevel, true, f, &singular);
    substituteGlobal(a, firstLevel, lastLevel, f);
    singular = leastOf(singular SHARED_ARGUMENT);
    EACH_ROW(row) if (isWanted) {
        const int k = row - a->rowStart[c];
        a->change[row] = f.x[k] * f.pivot[k];
    }
    return singular == NO_ROW ? NO_ROW : a->rowStart[c] + singular;
}

/** Whether errors are to be corrected.
 *  @param violated  the largest of those that are above a threshold, where a projection measures */
DEVICE bool isToBeCorrected(const Arguments* a, const BorderSolve* solve, Report report, Report violated) {
    if (!LATER_TURN) // otherwise errors below the tolerance would have the same sign in every step
        return solve->onlyIfViolated ? violated.error > 0 : report.error > 0;
    if (solve->what == ACCELERATIONS) // to rounding, which is not corrected
        return report.error > LINEAR_TOLERANCE && !(a->turn > 2 && report.error < LINEAR_ROUNDING);
    return report.error > a->innerTolerance;
}

/** What the bordered rows correct, or that the solve is over. */
DEVICE void solveBordered(const Arguments* a, int c SHARED_PARAMETER) {
    const BorderSolve solve = borderSolveOf(a);
    Report mine = newReport(), other = newReport(), turned = newReport(), largest = newReport();
    EACH_ROW(row)
        note(&largest, row, a->borderSize[row - FIRST_BORDERED], 0);
    largest = worstOf(largest SHARED_ARGUMENT);
    const mixed scale = solve.what == ACCELERATIONS ? timeScaleOf(largest) : 1;
    EACH_ROW(row) {
        const mixed4 result = a->borderErrors[row - FIRST_BORDERED];
        note(&mine, row, result.x * scale, result.y);
        note(&other, row, result.z, solve.what == ACCELERATIONS ? a->rowValue[row] : result.y);
        if (result.w != 0)
            note(&turned, row, 1, 0);
    }
    Report report = worstOf(mine SHARED_ARGUMENT);
    other = worstOf(other SHARED_ARGUMENT);
    turned = worstOf(turned SHARED_ARGUMENT);
    report.iterations = a->turn + 1;
    const bool isFinite = report.outcome == Outcome_Converged;
#if HAS_JOINTS
    for (int b = a->firstBodyAtBorder + THREAD_IN_GROUP; !isFinite && solve.what == POSITIONS && b < a->numJoined;
         b += THREAD_GROUP_SIZE)
        if (!(fabs(bodyVector(a, b, BodyVector_Rotation).x) < INFINITE_ERROR)) // it has none: displaceBody()
            reportTurned(a, b);
#endif
    // The change in a heat bath is linear and read only: once is enough.
    const bool isOnce = solve.what == RESPONSES;
    const bool isWanted = isFinite && isToBeCorrected(a, &solve, report, other);
    if (isFinite && solve.onlyIfViolated && !LATER_TURN && solve.what == POSITIONS && report.error > a->farOff)
        report.outcome = Outcome_FarOff; // the host projects
    else if (isFinite && !isWanted && turned.error > 0) {
        report.outcome = Outcome_Singular; // the solution may be a wrong root
        report.row = turned.row;
    } else if (isWanted && !isOnce && a->turn + 1 >= a->numTurns)
        report.outcome = a->turn >= a->maxIterations ? Outcome_NotConverged : Outcome_MoreTurns;
    const bool isCorrected = report.outcome == Outcome_Converged && isWanted;
    const int singular = correctBordered(a, c, isCorrected SHARED_ARGUMENT);
    if (isCorrected && singular != NO_ROW) {
        report.outcome = Outcome_Singular;
        report.row = singular;
        report.error = a->borderErrors[singular - FIRST_BORDERED].x;
        report.value = a->borderErrors[singular - FIRST_BORDERED].y;
    }
    EACH_ROW(row) {
        const int b = row - FIRST_BORDERED;
        const mixed change = isCorrected ? a->change[row] : 0;
        a->borderChange[b] = change;
        a->borderSum[b] = (LATER_TURN ? a->borderSum[b] : 0) + change;
    }
    const bool isOver = !isCorrected || isOnce || report.outcome != Outcome_Converged;
    if (THREAD_IN_GROUP == 0 && isOver)
        a->borderState[0] = 1;
    if (solve.what == ACCELERATIONS)
        report = ofAccelerations(a, report, other, solve.solve);
    if (isOver && !(isOnce && report.outcome == Outcome_Converged))
        writeGroupReport(a, solve.solve, c, report);
}

/** Both, where there is one row: a thread reads of it what it wrote itself. */
DEVICE void takeTurn(const Arguments* a, int c SHARED_PARAMETER) {
    evaluateBordered(a, 0 SHARED_ARGUMENT);
    solveBordered(a, c SHARED_ARGUMENT);
}
