// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonStepKernel.h"
#include "MovingTargets.h"
#include "openmm/AndersenThermostat.h"
#include "openmm/MonteCarloAnisotropicBarostat.h"
#include "openmm/MonteCarloBarostat.h"
#include "openmm/MonteCarloFlexibleBarostat.h"
#include "openmm/MonteCarloMembraneBarostat.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/common/ContextSelector.h"
#include "openmm/common/NonbondedUtilities.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** Largest number of steps between checks for failures, so that a run does not continue long after one. */
constexpr int longestRun = 10'000;

/** Deselects a context while OpenMM's own code runs, which may select others. OpenMM 8.4 has no ContextDeselector. */
class Deselection {
public:
    explicit Deselection(ComputeContext& cc) : cc(cc) {
        cc.popAsCurrent();
    }
    Deselection(const Deselection&) = delete;
    Deselection& operator=(const Deselection&) = delete;
    ~Deselection() {
        cc.pushAsCurrent();
    }

private:
    ComputeContext& cc;
};

template <class... Forces>
bool isAnyOf(const Force& force) {
    return ((dynamic_cast<const Forces*>(&force) != nullptr) || ...);
}

/** Sets a flag while it lives. */
struct Running {
    explicit Running(bool& flag) : flag(flag) {
        flag = true;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        flag = false;
    }
    bool& flag;
};

} // namespace

CommonStepKernel::CommonStepKernel(const string& name, const Platform& platform, ContextImpl& context,
                                   unique_ptr<Device> device)
    : HostStepKernel(name, platform), onDevice(std::move(device)), cc(onDevice.cc), program(onDevice.program),
      owner(context) {
}

void CommonStepKernel::initialize(const System& system, const ConstraintIntegrator& integrator,
                                  const ConstraintSet& constraints) {
    HostStepKernel::initialize(system, integrator, constraints);
    const ContextSelector selector(cc);
    onDevice.initialize(*solver, [this] {
        mayHaveMoved = true; // wrapped, with the rounding of single precision
        forcesAreKept = false;
    });
    onDevice.requireMemory(programKind(integrator));
    cc.initializeContexts();
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        othersDrawNumbers =
            othersDrawNumbers || isAnyOf<AndersenThermostat, MonteCarloBarostat, MonteCarloAnisotropicBarostat,
                                         MonteCarloFlexibleBarostat, MonteCarloMembraneBarostat>(force);
    }
}

void CommonStepKernel::setTargets(const ConstraintSet& constraints) {
    HostStepKernel::setTargets(constraints);
    stateWasSet = true;
    onDevice.takeTargets();
}

void CommonStepKernel::takeShapes() {
    stateWasSet = true;
    onDevice.takeShapes();
}

void CommonStepKernel::invalidateForces(bool stateToo) {
    forcesAreKept = false;
    if (stateToo && !isOwnChange)
        stateWasSet = true;
}

void CommonStepKernel::takeOrder(int step) {
    const shared_ptr<const Order> order = onDevice.takeOrder();
    if (!frames.empty() && !program->tables().movingRows.empty() &&
        frames.back().order->atomIndex != order->atomIndex) {
        // Rows are of other constraints from now on.
        heatBefore -= addWorksSince(worksBefore, *frames.back().order);
        forgetWorks();
    }
    frames.push_back({step, order, deviceBox()});
}

const CommonStepKernel::Frame& CommonStepKernel::frameOf(int step) const {
    size_t i = frames.size() - 1;
    while (i > 0 && frames[i].firstStep > step)
        i--;
    return frames[i];
}

// ---- steps -------------------------------------------------------------------------------------------------------

void CommonStepKernel::execute(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    ContextSelector selector(cc);
    const Running running(isRunning);
    isRepeated = false;
    while (steps > 0) {
        steps -= run(context, integrator, min(steps, longestRunNow()));
        borderRun = isRepeated ? firstBorderRun : min(2 * borderRun, longestRun);
    }
}

/** Where a step of a run is taken again with more turns of a border, those after it were launched in vain. So runs are
 * short until the turns suffice. Others, who draw random numbers between steps, would have drawn them for nothing. */
int CommonStepKernel::longestRunNow() const {
    if (solver->getGraph().border.rows.empty())
        return longestRun;
    return othersDrawNumbers ? 1 : borderRun;
}

/** Launch steps and check their result, at the latest when atoms are reordered, because OpenMM waits for the device
 *  then.
 *  @return the number of successful steps: fewer than given if atoms were reordered or the host has to project */
int CommonStepKernel::run(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    const RunStart start{currentTime(context), cc.getStepCount(), stepsTaken};
    int launched = 0;
    bool isReordered = false;
    given.step = -1;
    firstBuffer = 1 - readingBuffer;
    if (!frames.empty())
        frames = {{0, frames.back().order, frames.back().box}};
    try {
        while (launched < steps && !isReordered) {
            beginStep(context, integrator, launched);
            hasBegun = false; // launches of beginStep() need not be undone
            takeStep(context, integrator);
            isReordered = endStep();
            hasBegun = false;
            launched++;
        }
    } catch (...) {
        // An earlier step may have failed, which is then reported; otherwise undo the present step.
        if (program == nullptr || readFailure(context, integrator, launched, start) == launched) {
            if (hasBegun)
                returnTo(context, integrator, launched, start);
            else if (given.step == launched) {
                returnToGiven(context);
                context.computeVirtualSites();
            }
        }
        throw;
    }
    if (isReordered && polledFailure[0] == noFailure) {
        noteSteps(launched, start, integrator);
        return launched;
    }
    return readFailure(context, integrator, launched, start);
}

void CommonStepKernel::beginStep(ContextImpl& context, const ConstraintIntegrator& integrator, int step) {
    activity = "step " + to_string(cc.getStepCount() + 1);
    if (step == 0 && (stateWasSet || hasNewParameters(context))) {
        refreshReading(); // with the step size that it had
        prepare(context, integrator);
        if (hasNewParameters(context)) // a barostat needs energies on the constraints
            projectOnHost(context, integrator, step);
        else if (isStateOfCheckpoint(context)) // which a CMMotionRemover changes
            takeForLast(context);
    }
    if (!isRepeated) {
        const Deselection deselection(cc);
        if (context.updateContextState()) {
            forcesAreKept = false;
            onDevice.orderHasChanged = true; // cells
            mayHaveMoved = true;
            if (given.step == step) // it cannot be restored in another box
                given.step = -1;
        }
    }
    isRepeated = false;
    if (step == 0) {
        if (integrator.getWarmStart() && !hasMultipliersFor(integrator))
            refreshReading(); // by constraint: atoms may be reordered, and a new step size rescales them
        prepare(context, integrator);
    }
    if (solver->moves()) {
        requireTargetsInRange(solver->getSet(), deviceBox(), currentTime(context) + integrator.getStepSize());
        if (currentTime(context) != endTime)
            stateWasSet = true;
    }
    if (stateWasSet)
        projectOnHost(context, integrator, step);
    prepareProgram(integrator, step);
    onDevice.noteOtherCalls();
    if (onDevice.orderHasChanged)
        takeOrder(step);
    else if (!sameBox(deviceBox(), frames.back().box))
        frames.push_back({step, frames.back().order, deviceBox()});
    if (step == 0) {
        setNumbers(integrator);
        if (integrator.getWarmStart() && !hasMultipliersFor(integrator))
            uploadMultipliers(integrator.getStepSize());
    }
    onDevice.setBoxAndTime();
    nextLaunch = step * launchesPerStep;
    bufferNow = bufferOf(step);
    program->arguments.set("bufferIndex", bufferNow);
    program->setMoment(bufferNow, 0);
    if (!sameBox(deviceBox(), forceBox)) {
        activity = "step " + to_string(cc.getStepCount() + 1);
        requireLengthsInBox(solver->getSet(), deviceBox(), currentTime(context));
    }
    const bool moved = isTouched();
    // An explicit constraint force lets velocities drift, and reading must not change them; a thermostat does.
    const bool turned = scheme.constrainsVelocities && (hasThermostat || (moved && !scheme.isExplicit));
    if (moved || turned)
        program->launchAfterwards("keepState", numParticles(), nextLaunch);
    if (moved) {
        program->forgetResponses();
        launch("projectPositions");
        forcesAreKept = false;
    }
    if (turned)
        launch("projectVelocities");
    nextLaunch = step * launchesPerStep + firstStage;
}

/** Whether particles may have been moved since the last step other than by this object. */
bool CommonStepKernel::isTouched() const {
    return mayHaveMoved || cc.getComputeForceCount() != forceCount || !sameBox(deviceBox(), forceBox);
}

void CommonStepKernel::projectOnHost(ContextImpl& context, const ConstraintIntegrator& integrator, int step) {
    activity = "the projection before step " + to_string(cc.getStepCount() + 1);
    if (step == 0 && integrator.getWarmStart())
        refreshReading(); // a projection keeps the solver's multipliers and sets them again
    const bool isKnown = isStateOfCheckpoint(context);
    record->resetSummary();
    const Real3 *x = positions(context), *v = velocities(context);
    given = {step, {x, x + numParticles()}, {v, v + numParticles()}, parameterRecord()};
    try {
        projectState(context, integrator, isKnown, isKnown, false); // the device projects moves of barostats
    } catch (...) {                                                 // possibly between positions and velocities
        returnToGiven(context);
        explainFailure(context, integrator);
        throw;
    }
    if (program != nullptr)
        program->forgetResponses();
    activity = "step " + to_string(cc.getStepCount() + 1);
    takeForLast(context);
}

void CommonStepKernel::takeForLast(ContextImpl& context) {
    stateWasSet = mayHaveMoved = forcesAreKept = false;
    forceCount = cc.getComputeForceCount();
    forceBox = deviceBox();
    endTime = currentTime(context);
}

void CommonStepKernel::returnToGiven(ContextImpl& context) {
    setPositions(context, given.positions.data());
    setVelocities(context, given.velocities.data());
    restore(given.parameters);
    stateWasSet = true;
}

bool CommonStepKernel::knowsForces(ContextImpl& context, int groups) const {
    const double time = currentTime(context); // a force may depend on it
    return forcesAreKept && cc.getComputeForceCount() == forceCount && groups == forceGroups && time == forceTime &&
           sameBox(deviceBox(), forceBox);
}

void CommonStepKernel::computeForces(ContextImpl& context, int groups) {
    if (knowsForces(context, groups))
        return;
    {
        const Deselection deselection(cc);
        const OwnForces own(*this);
        context.calcForcesAndEnergy(true, false, groups);
    }
    forcesAreKept = true;
    mayHaveMoved = false;
    forceCount = cc.getComputeForceCount();
    forceGroups = groups;
    forceTime = currentTime(context);
    forceBox = deviceBox();
}

void CommonStepKernel::computeForcesToRead(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const bool hasToBeMeasured = isTouched();
    computeForces(context, integrator);
    mayHaveMoved = hasToBeMeasured;
}

double CommonStepKernel::potentialEnergy(ContextImpl& context, const ConstraintIntegrator& integrator) {
    optional<Deselection> deselection;
    if (isRunning) // otherwise none is selected
        deselection.emplace(cc);
    return HostStepKernel::potentialEnergy(context, integrator);
}

void CommonStepKernel::launch(const string& stage) {
    program->launch(stage, nextLaunch++);
    hasBegun = true;
}

void CommonStepKernel::finishPositions(ContextImpl& context, double end) {
    program->launchAfterwards("checkPositions", (int) program->tables().redundant.size(), nextLaunch++);
    context.computeVirtualSites();
    cc.setTime(end);
    setTimeOfLaunches(end);
    forcesAreKept = false;
}

void CommonStepKernel::sumForBath(bool isFirstHalf) {
    program->arguments.set("isFirstBath", isFirstHalf ? 1 : 0);
    program->launchAfterwards("sumForBath", numBathSums, nextLaunch);
    hasBegun = true;
}

void CommonStepKernel::checkVelocities() {
    program->launchAfterwards("checkVelocities", (int) program->tables().redundant.size(), nextLaunch++);
}

bool CommonStepKernel::endStep() {
    program->launchAfterwards("addWork", (int) program->tables().movingRows.size(), nextLaunch++);
    cc.setStepCount(cc.getStepCount() + 1);
    stepsTaken++;
    endTime = cc.getTime();
    // Read the failure record without waiting, because reordering waits. A run of many steps ends here if a step has
    // failed.
    polledFailure[0] = 0;
    if (cc.getNonbondedUtilities().getUseCutoff() && cc.getStepsSinceReorder() >= 250)
        program->arguments["failure"].download(polledFailure, false);
    onDevice.reorder();
    if (onDevice.orderHasChanged && cc.getUseMixedPrecision()) {
        // Atoms were wrapped in single precision.
        onDevice.orderHasChanged = false;
        onDevice.setBoxAndTime();
        onDevice.uploadCells(cc.getPosCellOffsets());
        program->launch("projectPositions", noFailure);
        onDevice.orderHasChanged = true;
    }
    return cc.getAtomsWereReordered();
}

} // namespace ConstraintPlugin
