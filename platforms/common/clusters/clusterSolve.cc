// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// needs: clusters.cc
// One solve of a cluster by a thread group (clusters.cc). The host compiles this text for each solve of a time step, $SOLVE$.

DEVICE void $SOLVE$(const Arguments* a, int c SHARED_PARAMETER) {
    Solve solve = describe_$SOLVE$(a);
    Report report = startCluster(a, c SHARED_ARGUMENT);
    EACH_ROW(row) setOffset_$SOLVE$(a, row);
    IF_UNIFORM(solve.isMeasured) {
        Report first = newReport(), second = newReport();
        EACH_ROW(row) if (report.outcome == Outcome_Converged)
            measure_$SOLVE$(a, row, &first, &second);
#if HAS_JOINTS
        if (solve.isOfBodies)
            noteBodies(a, c, &second);
#endif
        solve.measured[0] = worstOf(first SHARED_ARGUMENT);
        solve.measured[1] = worstOf(second SHARED_ARGUMENT);
        const Report judged = judge_$SOLVE$(a, &solve);
        if (report.outcome == Outcome_Converged)
            report = judged;
    }
    solveCluster(a, c, &solve, &report SHARED_ARGUMENT);
#if HAS_JOINTS
    if (solve.isOfBodies)
        flagBodies(a, c, solve.isWanted);
#endif
    report = report_$SOLVE$(a, &solve, report);
    if (!solve.isSilent || report.outcome != Outcome_Converged)
        writeGroupReport(a, solve.solve, c, report);
}
