// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What kernels have recorded of failures, in readable form.
#include "DeviceConstraints.h"
#include "FailureCodes.h"
#include <algorithm>

using namespace std;

namespace ConstraintPlugin {

array<int, 2> DeviceConstraints::readFailure() const {
    array<int, 2> failure{};
    program->arguments["failure"].download(failure.data());
    return failure;
}

void DeviceConstraints::forgetFailure() {
    const int none[2] = {noFailure, noFailure};
    program->arguments["failure"].upload(none);
}

vector<int> DeviceConstraints::reportRows() const {
    OpenMM::ComputeArray& array = program->arguments["reportRows"];
    vector<int> rows(array.getSize() * 4);
    array.download(rows.data());
    return rows;
}

vector<SolveReport> DeviceConstraints::reports(const vector<StepSolve>& solves, const DeviceOrder& order,
                                               int buffer) const {
    const int numClusters = program->tables().numClusters();
    const vector<double> errors = program->arguments.download("reportErrors");
    const vector<int> rows = reportRows();
    vector<SolveReport> result;
    for (StepSolve solve : solves)
        for (int c = 0, place = (buffer * numStepSolves + (int) solve) * numClusters; c < numClusters; c++, place++) {
            SolveReport report;
            report.outcome = (Outcome) rows[4 * place];
            report.iterations = rows[4 * place + 1];
            report.maxError = errors[2 * place];
            const int row = rows[4 * place + 2];
            if (row >= 0 && (report.iterations > 0 || report.outcome != Outcome::Converged)) // else there was no solve
                report.constraint = constraintOf(row, order);
            result.push_back(report);
        }
    return result;
}

DeviceFailure DeviceConstraints::describe(int code, const DeviceOrder& order, int buffer) {
    const ConstraintTables& tables = program->tables();
    const int numClusters = tables.numClusters(), numRedundant = (int) tables.redundant.size(),
              firstParticle = codeOfParticle(0, numClusters),
              firstRedundant = codeOfRedundant(0, 0, numRedundant, numClusters, numParticles());
    DeviceFailure failure;
    SolveReport& report = failure.report;
    if (code == codeOfBath(numRedundant, numClusters, numParticles())) {
        failure.ofBath = true;
        return failure;
    }
    if (code >= firstRedundant) {
        const int n = code - firstRedundant, place = 2 * buffer * numRedundant + n;
        if (n >= numRedundant)
            failure.stage = Stage::Velocities;
        const vector<double> errors = program->arguments.download("redundantErrors");
        report.outcome = Outcome::Inconsistent;
        report.constraint = constraintOf(tables.numRows + n % numRedundant, order);
        report.maxError = errors[2 * place];
        report.value = errors[2 * place + 1];
        return failure;
    }
    if (code >= firstParticle) {
        failure.particle = order.atomIndex[code - firstParticle];
        return failure;
    }
    if (code >= tables.firstBodyCluster())
        return describeBody(code, order, buffer);
    const vector<double> errors = program->arguments.download("reportErrors");
    const vector<int> rows = reportRows();
    // A joined body that cannot be displaced makes the constraints that join it fail.
    const int firstReport = (buffer * numStepSolves + (int) StepSolve::Positions) * numClusters;
    for (int body = tables.firstBodyCluster() + tables.numFreeBodies; body < numClusters; body++)
        if (rows[4 * (firstReport + body)] != (int) DeviceOutcome::Converged)
            return describeBody(body, order, buffer);
    program->arguments["reportRows"].upload(vector<int>(rows.size()).data()); // none, for the next failure
    // in the order of the stages in a step
    for (StepSolve solve :
         {StepSolve::Velocities, StepSolve::HeatedVelocities, StepSolve::Positions, StepSolve::Projection}) {
        const int place = (buffer * numStepSolves + (int) solve) * numClusters + code;
        if (rows[4 * place] == (int) DeviceOutcome::Converged)
            continue;
        failure.ofProjection = solve == StepSolve::Projection;
        failure.stage = solve == StepSolve::Positions ? Stage::Positions : Stage::Velocities;
        report.outcome = (Outcome) rows[4 * place];
        report.iterations = rows[4 * place + 1];
        report.constraint = constraintOf(rows[4 * place + 2], order);
        report.maxError = errors[2 * place];
        report.value = errors[2 * place + 1];
        failure.isDrifted = rows[4 * place] == (int) DeviceOutcome::Drifted;
        break;
    }
    return failure;
}

/** A rigid body that could not be solved, or drifted: an explicit constraint force has no other failure. Without a
 * report it was far off in a projection. */
DeviceFailure DeviceConstraints::describeBody(int code, const DeviceOrder& order, int buffer) {
    const ConstraintTables& tables = program->tables();
    const int number = code - tables.firstBodyCluster(), first = tables.bodyStart[number],
              last = tables.bodyStart[number + 1];
    DeviceFailure failure;
    SolveReport& report = failure.report;
    report.body = placeIn(order, number, first).body;
    const vector<double> errors = program->arguments.download("reportErrors");
    const vector<int> rows = reportRows();
    program->arguments["reportRows"].upload(vector<int>(rows.size()).data()); // none, for the next failure
    const int place = (buffer * numStepSolves + (int) StepSolve::Positions) * tables.numClusters() + code;
    const bool hasReport = rows[4 * place] != (int) DeviceOutcome::Converged;
    failure.isDrifted = !hasReport && anyHas(madeFor.stages, "solveEndAccelerations");
    failure.ofProjection = !hasReport && !failure.isDrifted;
    if (failure.ofProjection) {
        report.outcome = Outcome::NotConverged;
        report.maxError = farOffBound; // at least
    } else if (failure.isDrifted) {
        const vector<double> deviations = program->arguments.download("bodyError");
        report.maxError = *max_element(deviations.begin() + first, deviations.begin() + last);
    } else {
        report.outcome = (Outcome) rows[4 * place];
        report.maxError = report.rotation = errors[2 * place];
    }
    return failure;
}

} // namespace ConstraintPlugin
