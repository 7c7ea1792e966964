// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: threadGroups.cc
// needs if HAS_ROWS: residuals.cc
// The solves of a time step, as clusters (clusters.cc) and their subdomains (subdomains.cc) take part in them.
// describe_<solve>() says what a solve is, setOffset_<solve>() what is constant in a row, measure_<solve>() what is measured in
// a row, judge_<solve>() what follows from that for the solve, and report_<solve>() what is reported in the end.

/** What a solve is. */
typedef struct {
    int what, solve;  // POSITIONS, ...; StepSolve
    int workStage;    // for which the rates of moving targets are kept, or -1
    bool isMeasured;  // before the first correction
    bool isWanted;    // by what was measured
    bool isSilent;    // only a failure is reported
    bool isOfBodies;  // whether rigid bodies violate the tolerance is measured as well
    mixed time, timeScale, tolerance;
    GLOBAL mixed* multipliers;
    Report measured[2];
} Solve;

DEVICE Solve newSolve(int what, int solve, mixed time, GLOBAL mixed* multipliers) {
    Solve result;
    result.what = what;
    result.solve = solve;
    result.workStage = solve == StepSolve_Positions ? 0 : solve == StepSolve_Velocities ? 1 : -1;
    result.isMeasured = false;
    result.isWanted = true;
    result.isSilent = false;
    result.isOfBodies = false;
    result.time = time;
    result.timeScale = 1;
    result.multipliers = multipliers;
    result.measured[0] = newReport();
    result.measured[1] = newReport();
    return result;
}

DEVICE void measureNothing(const Arguments* a, int row, Report* first, Report* second) {
}

DEVICE Report judgeNothing(const Arguments* a, Solve* solve) {
    return solve->measured[0];
}

DEVICE Report reportAsIs(const Arguments* a, const Solve* solve, Report report) {
    return report;
}

DEVICE Solve describe_solvePositions(const Arguments* a) {
    Solve solve = newSolve(POSITIONS, StepSolve_Positions, a->time + a->driftTime, lambdaOf(a));
    solve.tolerance = a->innerTolerance;
    return solve;
}

DEVICE void setOffset_solvePositions(const Arguments* a, int row) {
    workRatesOf(a)[row] = a->rowRateOffset[row];
}

#define measure_solvePositions measureNothing
#define judge_solvePositions judgeNothing
#define report_solvePositions reportAsIs

DEVICE Solve describe_projectPositions(const Arguments* a) {
    Solve solve = newSolve(POSITIONS, StepSolve_Projection, a->time, a->projection);
    solve.tolerance = a->innerTolerance;
    solve.isMeasured = solve.isOfBodies = !LATER_TURN;
    return solve;
}

DEVICE void setOffset_projectPositions(const Arguments* a, int row) {
}

#define measure_projectPositions noteViolation

DEVICE Report judge_projectPositions(const Arguments* a, Solve* solve) {
    Report report = solve->measured[0];
    if (report.outcome == Outcome_Converged && report.error > a->farOff)
        report.outcome = Outcome_FarOff; // the host projects
    solve->isWanted = solve->measured[1].error > 0;
    return report;
}

#define report_projectPositions reportAsIs

DEVICE Solve describeRates(const Arguments* a, int solve, GLOBAL mixed* multipliers, bool onlyIfViolated) {
    Solve result = newSolve(VELOCITIES, solve, a->time, multipliers);
    result.timeScale = a->timeScale;
    result.tolerance = a->innerTolerance;
    result.isMeasured = onlyIfViolated && !LATER_TURN;
    result.isOfBodies = true;
    return result;
}

#define measureRate(a, row, first, second) noteRate(a, row, first)

DEVICE Report judgeRates(const Arguments* a, Solve* solve) {
    solve->isWanted = solve->measured[0].error > a->tolerance || solve->measured[1].error > 0;
    return solve->measured[0];
}

DEVICE Solve describe_solveVelocities(const Arguments* a) {
    return describeRates(a, StepSolve_Velocities, muOf(a), false);
}

DEVICE void setOffset_solveVelocities(const Arguments* a, int row) {
    a->offset[row] = a->rowRateOffset[row];
    workRatesOf(a)[a->numRows + row] = a->rowRateOffset[row];
}

#define measure_solveVelocities measureRate
#define judge_solveVelocities judgeRates
#define report_solveVelocities reportAsIs

/** After the heat bath; these multipliers are not reported. Without friction only errors above the tolerance are corrected:
 *  the velocities are those of the first solve, and another correction would be an impulse in the middle of the drift. */
DEVICE Solve describe_solveHeatedVelocities(const Arguments* a) {
    return describeRates(a, StepSolve_HeatedVelocities, a->projection, a->velocityScale == 1);
}

DEVICE void setOffset_solveHeatedVelocities(const Arguments* a, int row) {
    a->offset[row] = a->rowRateOffset[row];
}

#define measure_solveHeatedVelocities measureRate
#define judge_solveHeatedVelocities judgeRates
#define report_solveHeatedVelocities reportAsIs

DEVICE Solve describe_projectVelocities(const Arguments* a) {
    return describeRates(a, StepSolve_Projection, a->projection, true);
}

#define setOffset_projectVelocities setOffset_solveHeatedVelocities
#define measure_projectVelocities measureRate
#define judge_projectVelocities judgeRates
#define report_projectVelocities reportAsIs

// Linear solves have their rows in global memory.
#if HAS_ROWS
DEVICE Solve describeLinear(const Arguments* a, int what, int solve, GLOBAL mixed* multipliers) {
    Solve result = newSolve(what, solve, a->time, multipliers);
    result.tolerance = LINEAR_TOLERANCE;
    result.isMeasured = true;
    return result;
}

DEVICE Report judgeLinear(const Arguments* a, Solve* solve) {
    solve->timeScale = timeScaleOf(solve->measured[0]);
    Report report = newReport();
    report.outcome = solve->measured[0].outcome;
    report.row = report.outcome == Outcome_Converged ? -1 : solve->measured[0].row;
    return report;
}

/** The contribution of the change of velocities in the heat bath to the multipliers, as
 *  ConstraintSolver::solveVelocitySpread(). The change replaces the velocities here. It is needed in every step if
 *  constraints move, because it does work; otherwise it is computed when it is read. */
DEVICE Solve describe_solveVelocitySpread(const Arguments* a) {
    Solve solve = describeLinear(a, RESPONSES, StepSolve_HeatedVelocities, a->projection);
    solve.isSilent = true;
    return solve;
}

#define setOffset_solveVelocitySpread setSpreadOffset

DEVICE void measure_solveVelocitySpread(const Arguments* a, int row, Report* first, Report* second) {
    note(first, row, errorOf(a, row, a->offset[row], a->time, a->startGradient), 0);
}

#define judge_solveVelocitySpread judgeLinear

DEVICE Report report_solveVelocitySpread(const Arguments* a, const Solve* solve, Report report) {
    if (report.outcome == Outcome_NotConverged && report.error < 1e-3f)
        report.outcome = Outcome_Converged;
    return report;
}

#if AT_BORDER
/** The response of a cluster to an impulse of a bordered row, M^-1 G^T in `displacement`: what is left of J times it is
 *  solved for. Its error limits how fast turns converge, and nothing else. */
DEVICE Solve describe_solveResponses(const Arguments* a) {
    Solve solve =
        describeLinear(a, RESPONSES, StepSolve_HeatedVelocities, a->rowResponses + a->borderItem * a->numRows);
    solve.tolerance = RESPONSE_TOLERANCE;
    solve.isSilent = true;
    return solve;
}

DEVICE void setOffset_solveResponses(const Arguments* a, int row) {
    a->offset[row] = rateOf(a, row, ACCELERATIONS);
}

#define measure_solveResponses measure_solveVelocitySpread
#define judge_solveResponses judgeLinear

/** None is reported: a cluster that cannot be solved will say so in the solve itself. */
DEVICE Report report_solveResponses(const Arguments* a, const Solve* solve, Report report) {
    report.outcome = Outcome_Converged;
    return report;
}
#endif

/** J a + J-dot v + 2 alpha J v + beta^2 sigma = 0 for accelerations in `displacement`. */
DEVICE Solve describe_solveStartAccelerations(const Arguments* a) {
    return describeLinear(a, ACCELERATIONS, StepSolve_Positions, lambdaOf(a));
}

DEVICE void setOffset_solveStartAccelerations(const Arguments* a, int row) {
    setAccelerationOffset(a, row, StepSolve_Positions);
}

#define measure_solveStartAccelerations noteAcceleration
#define judge_solveStartAccelerations judgeLinear

DEVICE Report report_solveStartAccelerations(const Arguments* a, const Solve* solve, Report report) {
    return ofAccelerations(a, report, solve->measured[1], solve->solve);
}

DEVICE Solve describe_solveEndAccelerations(const Arguments* a) {
    return describeLinear(a, ACCELERATIONS, StepSolve_Velocities, muOf(a));
}

DEVICE void setOffset_solveEndAccelerations(const Arguments* a, int row) {
    setAccelerationOffset(a, row, StepSolve_Velocities);
}

#define measure_solveEndAccelerations noteAcceleration
#define judge_solveEndAccelerations judgeLinear
#define report_solveEndAccelerations report_solveStartAccelerations
#endif
