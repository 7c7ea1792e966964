// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The program of the steps of a Context, and what the host gives it: numbers, targets, multipliers.
#include "CommonStepKernel.h"
#include "DeviceMemory.h"
#include <cmath>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** Largest relative error that the device projects itself; the host projects larger ones. */
constexpr double farOffBound = 0.5;

const StageText projectPositionsStage{"projectPositions", {"stay", "projectPositions", "shift"}, false};
const StageText projectVelocitiesStage{"projectVelocities", {"projectVelocities", "addVelocityCorrection"}, false};

/** The largest float up to a tolerance: kernels compare some errors as floats and others as doubles, and a number that
 * is the same in both types decides alike. */
double asFloat(double tolerance) {
    const float nearest = (float) tolerance;
    return nearest > tolerance ? nextafter(nearest, 0.0f) : nearest;
}

/** The kinetic energy of velocities at the time of the positions, tangent to the constraints there. */
StageText kineticEnergyStage(const StepScheme& scheme) {
    StageText stage{"kineticEnergy", {"keepVelocity", "stay", "projectPositions", "requireUnmoved"}, false};
    if (scheme.kineticEnergy == StepScheme::KineticEnergy::ShiftedProjected)
        stage.steps.push_back("halfKick"); // velocities are half a step behind
    for (const char* step : {"projectVelocities", "addVelocityCorrection", "noteKineticEnergy"})
        stage.steps.push_back(step);
    return stage;
}

} // namespace

bool CommonStepKernel::hasSmallClusters(const ConstraintIntegrator& integrator) const {
    return !(integrator.getWarmStart() && solver->getMethod() == Method::Iterative);
}

void CommonStepKernel::requireMemory(const ConstraintIntegrator& integrator) {
    ArraySizes sizes(*solver, hasSmallClusters(integrator), ConstraintProgram::usesParts(cc));
    takeStages(sizes, allStages(), numMoments(integrator), cc);
    requireDeviceMemory(*device, *solver, sizes);
}

vector<StageText> CommonStepKernel::allStages() const {
    vector<StageText> all = stages();
    all.push_back(projectPositionsStage);
    all.push_back(projectVelocitiesStage);
    if (scheme.kineticEnergy != StepScheme::KineticEnergy::Plain)
        all.push_back(kineticEnergyStage(scheme));
    return all;
}

double CommonStepKernel::innerTolerance(const ConstraintIntegrator& integrator) const {
    const ProjectionSettings settings = projectionSettings(integrator);
    return max(solver->innerTolerance(settings.reachedTolerance()), settings.smallestTolerance);
}

/** Accelerations are solved to rounding, whatever the tolerance. */
bool CommonStepKernel::wantsCoarse(const ConstraintIntegrator& integrator) const {
    return !scheme.isExplicit && ConstraintProgram::isCoarse(innerTolerance(integrator));
}

bool CommonStepKernel::hasProgramFor(const ConstraintIntegrator& integrator) const {
    return program != nullptr && revision == solver->getRevision() &&
           smallInRegisters == hasSmallClusters(integrator) && isCoarse == wantsCoarse(integrator) &&
           program->numMoments() == numMoments(integrator);
}

void CommonStepKernel::prepareProgram(const ConstraintIntegrator& integrator, int step) {
    if (hasProgramFor(integrator))
        return;
    const bool inRegisters = hasSmallClusters(integrator);
    const bool willBeCoarse = wantsCoarse(integrator);
    requireMemory(integrator); // another method has another factor
    refreshReading();
    keepSums();
    program = make_unique<ConstraintProgram>(*device, *solver, inRegisters, allStages(), numMoments(integrator),
                                             scheme.sumsStages, willBeCoarse);
    forcesAreKept = false; // those of slow levels were in the other one
    revision = solver->getRevision();
    smallInRegisters = inRegisters;
    isCoarse = willBeCoarse;
    referenceTime = 0; // the initial value in the program
    globalsOnDevice.clear();
    takeOrder(step);
    uploadMultipliers(integrator.getStepSize());
}

void CommonStepKernel::setNumbers(const ConstraintIntegrator& integrator) {
    KernelArguments& numbers = program->arguments;
    const ProjectionSettings settings = projectionSettings(integrator);
    const double dt = integrator.getStepSize();
    numbers.set("tolerance", asFloat(settings.reachedTolerance()));
    numbers.set("threshold", settings.threshold());
    numbers.set("innerTolerance", asFloat(innerTolerance(integrator)));
    numbers.set("maxIterations", integrator.getMaxIterations());
    numbers.set("warmStart", integrator.getWarmStart() ? 1 : 0);
    numbers.set("dt", dt);
    numbers.set("driftTime", driftTime(integrator));
    numbers.set("timeScale", settings.timeScale);
    numbers.set("rounding", 8 * settings.positionEpsilon);
    numbers.set("velocityRounding", isSinglePrecision() ? 1e-6 : 1e-14);
    numbers.set("farOff", farOffBound);
    if (solver->getGlobals() != globalsOnDevice) {
        globalsOnDevice = solver->getGlobals();
        program->forgetResponses(); // gradients may depend on them
        numbers.upload("customGlobals", globalsOnDevice);
        if (!solver->getSet().globals.empty())
            uploadTargets();
    }
    // Impulses are over dt, or over dt/2 if the step has two halves.
    const double factor = scheme.isExplicit ? 0.5 * dt : scheme.hasTwoHalves ? 0.5 / dt : 1 / dt;
    numbers.set("lambdaToWork", scheme.isExplicit ? factor : factor * scheme.positionFactor * numDrifts(integrator));
    numbers.set("muToWork", scheme.isExplicit ? factor : factor * dt * scheme.velocityFactor);
    if (!(dt > 0)) {
        numbers.set("lambdaToWork", 0.0);
        numbers.set("muToWork", 0.0);
    }
    setOwnNumbers(integrator);
}

void CommonStepKernel::uploadTargets() {
    program->arguments.upload("rowTarget", program->tables().targetsAt(solver->getSet(), referenceTime));
}

void CommonStepKernel::setStepState() {
    Vec3 a, b, c;
    cc.getPeriodicBoxVectors(a, b, c);
    program->arguments.set("boxA", a);
    program->arguments.set("boxB", b);
    program->arguments.set("boxC", c);
    // Kernels measure time from a reference nearby, at which the host computes the targets, so that single precision
    // loses no digits in a long run. The reference depends on the time only, so steps are reproducible.
    const double reference = solver->moves() ? 8 * floor(cc.getTime() / 8) : 0;
    if (reference != referenceTime) {
        referenceTime = reference;
        uploadTargets();
        program->arguments.set("referenceTime", reference);
    }
    setTimeOfLaunches(cc.getTime());
}

void CommonStepKernel::uploadCells(const vector<mm_int4>& cells) {
    if (!solver->getSet().custom.empty())
        program->arguments["cellOffsets"].uploadSubArray(cells.data(), 0, numParticles(), false);
}

void CommonStepKernel::uploadMultipliers(double stepSize) {
    const Impulses kept = solver->getImpulses();
    const int numRows = program->tables().numRows, moments = program->numMoments();
    vector<double> lambda(2 * moments * numRows), mu(lambda); // whichever buffer is next
    for (int row = 0; moments == 1 && row < numRows; row++) { // of several moments nothing is a first guess
        const int k = constraintOf(row, *frames.back().order);
        lambda[row] = lambda[numRows + row] = kept.lambda[k];
        mu[row] = mu[numRows + row] = kept.mu[k];
    }
    program->arguments.upload("lambda", lambda);
    program->arguments.upload("mu", mu);
    multipliers = {frames.back().order, stepSize, solver->getImpulsesRevision()};
}

/** Whether the device has the multipliers from which a warm start begins: the last step's, if since then neither the
 *  order of particles nor the step size has changed, and nobody has set the solver's. */
bool CommonStepKernel::hasMultipliersFor(const ConstraintIntegrator& integrator) const {
    return multipliers.order != nullptr && multipliers.stepSize == integrator.getStepSize() &&
           multipliers.revision == solver->getImpulsesRevision() && multipliers.order->atomIndex == cc.getAtomIndex();
}

} // namespace ConstraintPlugin
