// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Results of steps on the host: failures, and readings of users.
#include "CommonStepKernel.h"
#include "HeatBathKernel.h"
#include "StateErrors.h"
#include "openmm/common/ContextSelector.h"
#include <numeric>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

static double timeAfter(double start, int steps, double dt) {
    for (int i = 0; i < steps; i++)
        start += dt;
    return start;
}

/** Read whether a step failed; if so, return to the last good one.
 *  @return number of good steps: all, or fewer if the host has to project before the next; else throws */
int CommonStepKernel::readFailure(ContextImpl& context, const ConstraintIntegrator& integrator, int launched,
                                  const RunStart& start) {
    const array<int, 2> failure = onDevice.readFailure();
    if (failure[0] == noFailure) {
        noteSteps(launched, start, integrator);
        return launched;
    }
    const int good = failure[0] / launchesPerStep, stage = failure[0] % launchesPerStep;
    const shared_ptr<const Order> order = frameOf(good).order;
    const bool mustRepeat = isReadyToRepeat(failure[1], bufferOf(good));
    returnTo(context, integrator, good, start);
    if (mustRepeat) { // what others did before the step, such as a barostat, is part of the state
        isRepeated = mayHaveMoved = true;
        endTime = currentTime(context);
        return good;
    }
    if (stage < firstStage) { // a projection before a step: the host has staged ones and detailed messages
        stateWasSet = true;
        return good;
    }
    mayHaveMoved = true;
    activity = "step " + to_string(start.stepCount + good + 1);
    try {
        reportFailure(context, integrator, failure[1], *order, bufferOf(good));
    } catch (...) {
        explainFailure(context, integrator);
        throw;
    }
}

bool CommonStepKernel::isReadyToRepeat(int code, int buffer) {
    const int numClusters = program->tables().numClusters();
    if (code >= numClusters)
        return false;
    vector<int> rows = onDevice.reportRows();
    bool needsTurns = false, needsWhole = false;
    const int first = buffer * numStepSolves * numClusters;
    for (int place = first; place < first + numStepSolves * numClusters; place++) {
        int& outcome = rows[4 * place];
        const bool ofTurns = outcome == (int) DeviceOutcome::MoreTurns,
                   ofWhole = outcome == (int) DeviceOutcome::WholeCluster,
                   isOfFailure = (place - first) % numClusters == code;
        needsTurns = needsTurns || (ofTurns && isOfFailure);
        needsWhole = needsWhole || (ofWhole && isOfFailure);
        if (ofTurns || ofWhole)
            outcome = (int) DeviceOutcome::Converged; // for the next failure
    }
    if (!needsTurns && !needsWhole)
        return false;
    program->arguments["reportRows"].upload(rows.data());
    if (needsTurns)
        program->takeMoreTurns();
    return needsTurns || program->takeWhole();
}

/** Return to the state after the given number of steps of a run. */
void CommonStepKernel::returnTo(ContextImpl& context, const ConstraintIntegrator& integrator, int steps,
                                const RunStart& start) {
    onDevice.forgetFailure();
    restoreState(context, frameOf(steps), bufferOf(steps));
    cc.setTime(timeAfter(start.time, steps, integrator.getStepSize()));
    cc.setStepCount(start.stepCount + steps);
    noteSteps(steps, start, integrator);
    refreshReading(); // before the summary describes the failure
    if (given.step == steps)
        returnToGiven(context);
    context.computeVirtualSites();
}

/** Record the successful steps of a run: users read the results of the last one from now on. */
void CommonStepKernel::noteSteps(int count, const RunStart& start, const ConstraintIntegrator& integrator) {
    stepsTaken = start.stepsTaken + count;
    if (count == 0)
        return;
    const double dt = integrator.getStepSize(), time = timeAfter(start.time, count - 1, dt);
    readingFrame = frameOf(count - 1);
    readingBuffer = bufferOf(count - 1);
    readingStepSize = dt;
    readingDrifts = numDrifts(integrator);
    readingMoments = numMoments(integrator);
    readingIsStale = true;
    multipliers = {readingFrame.order, dt, solver->getImpulsesRevision()};
    keepEndPositions();
    record->noteStep(time, time + dt, readingFrame.box);
}

/** Copy the positions on the device if constraints depend on each other, or bodies have multipliers of some: reading
 * multipliers of the last step then needs those at its end, which others may have changed by then. */
void CommonStepKernel::keepEndPositions() {
    if (!program->tables().readsEnd)
        return;
    program->launchAfterwards("keepEnd", numParticles(), noFailure);
    endFrame = {0, frames.back().order, deviceBox()};
    if (onDevice.orderHasChanged)
        endFrame.order = make_shared<const Order>(Order{cc.getAtomIndex(), cc.getPosCellOffsets()});
}

void CommonStepKernel::reportFailure(ContextImpl& context, const ConstraintIntegrator& integrator, int code,
                                     const Order& order, int buffer) {
    const ConstraintSet& set = solver->getSet();
    DeviceFailure failure = onDevice.describe(code, order, buffer);
    if (failure.particle >= 0)
        throwProblem(becameNotFinite(set, "position or velocity", failure.particle, activity));
    if (failure.ofBath)
        throwProblem(bathLeftBehind(heatBathOf(integrator), 2 * kineticEnergy(velocities(context)), activity));
    SolveReport& report = failure.report;
    if (failure.isDrifted || (scheme.isExplicit && report.outcome == Outcome::Inconsistent))
        throwDrift(report, integrator);
    const ConstraintPlugin::Stage stage = scheme.isExplicit ? ConstraintPlugin::Stage::Velocities : failure.stage;
    const bool isOfPositions = stage == ConstraintPlugin::Stage::Positions;
    targetTime = currentTime(context) + (isOfPositions ? integrator.getStepSize() : 0);
    if (report.constraint >= 0) {
        const Real3* x = positions(context);
        for (int p : set.constraints[report.constraint].particles)
            report.places.push_back(x[p]);
        if (isOfPositions)
            report.rotation =
                freeRotation(set, report.constraint, x, velocities(context), box(context), driftTime(integrator));
    }
    fail(report, stage, integrator);
}

vector<Real3> CommonStepKernel::bodyImpulses(int index) const {
    const ConstraintTables& tables = program->tables();
    vector<Real3> impulses(solver->readImpulses().lambdaOfBodies.size());
    const bool isAtEnd = index >= 2 * readingMoments;
    if (impulses.empty() || (isAtEnd && !tables.readsBodies))
        return impulses;
    const vector<double> changes = program->arguments.download("bodyImpulse");
    const int n = tables.numBodyPlaces(), first = index * n;
    for (int number = 0; number < tables.numBodies; number++)
        for (int i = tables.bodyStart[number]; i < tables.bodyStart[number + 1]; i++) {
            const double mass = tables.bodyShape[4 * i + 3], *v = &changes[3 * (first + i)];
            impulses[onDevice.placeIn(*readingFrame.order, number, i).place] = mass * Real3{v[0], v[1], v[2]};
        }
    return impulses;
}

/** Heat (kJ/mol) of all particles at the end of a step, since the device began to count. */
double CommonStepKernel::heatSince(int buffer) const {
    ComputeArray& array = program->arguments["heat"];
    if ((int) array.getSize() != 2 * numParticles()) // there is no heat bath
        return 0;
    vector<long long> heat(array.getSize());
    array.download(heat.data());
    const auto first = heat.begin() + buffer * numParticles();
    return accumulate(first, first + numParticles(), 0.0) / 0x100000000;
}

double CommonStepKernel::addWorksSince(vector<double>& works, const Order& order) const {
    const vector<int>& rows = program->tables().movingRows;
    const vector<double> sums = program->arguments.download("work");
    const auto sumAt = [&](size_t n) { return sums[2 * n] - sums[2 * n + 1]; }; // with its compensation
    double ofBath = 0;
    for (size_t n = 0; n < rows.size(); n++) {
        const double part = sumAt(rows.size() + n);
        works[constraintOf(rows[n], order)] += sumAt(n) + part;
        ofBath += part;
    }
    return ofBath;
}

void CommonStepKernel::keepSums() {
    worksBefore = record->reading.works;
    heatBefore = record->reading.heat;
}

/** Changes of velocities in the heat baths of a step, in the System's order; empty without any. */
vector<vector<Real3>> CommonStepKernel::velocityChanges(int buffer) const {
    const vector<double> numbers = program->arguments.download("velocityChange");
    const int n = numParticles(), baths = (int) numbers.size() < 3 * n ? 0 : readingDrifts;
    vector<vector<Real3>> result(baths, vector<Real3>(n));
    for (int bath = 0; bath < baths; bath++)
        for (int i = 0; i < n; i++) {
            const double* v = &numbers[3 * ((buffer * readingMoments + bath) * n + i)];
            result[bath][readingFrame.order->atomIndex[i]] = {v[0], v[1], v[2]};
        }
    return result;
}

/** Positions and velocities are left as they are. If the positions are not on the constraints, or a solve fails, the
 *  host computes the energy or says why it cannot. */
optional<double> CommonStepKernel::projectedKineticEnergy(ContextImpl& context,
                                                          const ConstraintIntegrator& integrator) {
    ContextSelector selector(cc);
    const bool isOfAStep = !stateWasSet && !isRunning && hasProgramFor(integrator) &&
                           (Method) integrator.getSolver() == solver->getMethod() &&
                           parameters(context) == solver->getGlobals() && sameBox(deviceBox(), forceBox) &&
                           (!solver->moves() || currentTime(context) == endTime);
    if (!isOfAStep)
        return {};
    if (scheme.kineticEnergy == StepScheme::KineticEnergy::ShiftedProjected)
        computeForcesToRead(context, integrator);
    onDevice.noteOtherCalls();
    if (onDevice.orderHasChanged)
        takeOrder(0);
    setNumbers(integrator);
    onDevice.setBoxAndTime();
    program->launch("kineticEnergy", 0);
    program->launchAfterwards("sumParticleEnergies", numEnergySums, 1);
    const vector<double> sums = program->arguments.download("energySums");
    if (sums[0] < 0) {
        onDevice.forgetFailure();
        return {};
    }
    double energy = 0;
    for (size_t n = 0; n < sums.size(); n += 2) // with compensations
        energy += sums[n] - sums[n + 1];
    return energy;
}

/** What the stages of the last good step solved at a moment. @param index  of the moment in both buffers */
Impulses CommonStepKernel::impulsesAt(int index) const {
    const ConstraintTables& tables = program->tables();
    const size_t numConstraints = solver->getSet().constraints.size();
    Impulses impulses{vector<double>(numConstraints), vector<double>(numConstraints)};
    const vector<double> lambda = program->arguments.download("lambda"), mu = program->arguments.download("mu");
    for (int row : tables.ownRows) {
        const int k = constraintOf(row, *readingFrame.order);
        impulses.lambda[k] = lambda[index * tables.numRows + row];
        impulses.mu[k] = mu[index * tables.numRows + row];
    }
    impulses.lambdaOfBodies = bodyImpulses(index);
    for (Real3& impulse : impulses.lambdaOfBodies)
        impulse = (scheme.isExplicit ? 1 : readingStepSize) * impulse;
    impulses.muOfBodies = bodyImpulses(2 * readingMoments + readingBuffer);
    return impulses;
}

void CommonStepKernel::readMoments(StepReading& reading) const {
    const double start = reading.moments[0].time;
    const int first = readingBuffer * readingMoments;
    const bool areSame = multipliers.revision == solver->getImpulsesRevision();
    reading.moments.resize(readingMoments);
    for (int n = 0; n < readingMoments; n++) {
        Impulses impulses = impulsesAt(first + n);
        if (n == 0) // a warm start is of steps that have one
            solver->setImpulses(impulses);
        StepMoment& moment = reading.moments[n];
        if (scheme.isExplicit) { // the device keeps forces there
            moment.multipliers = {impulses.lambda, impulses.lambdaOfBodies};
            reading.velocityMultipliers = {impulses.mu, impulses.muOfBodies};
        } else {
            for (double& lambda : impulses.lambda) // impulses lambda/driftTime, read as lambda/dt
                lambda *= readingDrifts;
            scheme.toForces(impulses, readingStepSize, moment.multipliers, reading.velocityMultipliers);
        }
        moment.positions = keptPositions("startPosq", "startCorrection", readingFrame, (first + n) * numParticles());
        moment.time = start + n * readingStepSize / readingDrifts;
    }
    if (areSame)
        multipliers.revision = solver->getImpulsesRevision();
}

void CommonStepKernel::refreshReading() const {
    if (!readingIsStale || program == nullptr)
        return;
    readingIsStale = false;
    ContextSelector selector(cc);
    const ConstraintTables& tables = program->tables();
    const int buffer = readingBuffer, numRows = tables.numRows;
    StepReading& reading = record->reading;
    readMoments(reading);
    reading.endPositions =
        tables.readsEnd ? keptPositions("endPosq", "endCorrection", endFrame, 0) : reading.moments.back().positions;
    reading.works = worksBefore;
    const double ofBath = addWorksSince(reading.works, *readingFrame.order);
    reading.heat = heatBefore + heatSince(buffer) - ofBath;
    reading.velocityChanges = velocityChanges(buffer);

    record->summary = SolverSummary();
    for (const SolveReport& report : onDevice.reports(
             {StepSolve::Positions, StepSolve::Velocities, StepSolve::HeatedVelocities}, *readingFrame.order, buffer)) {
        if (report.constraint < 0)
            continue; // this integrator has no such stage
        record->summary.iterations = max(record->summary.iterations, report.iterations);
        record->note(report.maxError, report.constraint);
    }
    const int numRedundant = (int) tables.redundant.size();
    if (numRedundant == 0)
        return;
    const vector<double> redundantErrors = program->arguments.download("redundantErrors");
    for (int n = 0; n < 2 * numRedundant; n++) // of both stages; zero if the step has no such stage
        record->note(redundantErrors[2 * (2 * buffer * numRedundant + n)],
                     constraintOf(numRows + n % numRedundant, *readingFrame.order));
}

} // namespace ConstraintPlugin
