// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The program of the steps of a Context, and what the host gives it: numbers, targets, multipliers.
#include "CommonStepKernel.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

const StageText projectPositionsStage{"projectPositions", {"stay", "projectPositions", "shift"}, false};
const StageText projectVelocitiesStage{"projectVelocities", {"projectVelocities", "addVelocityCorrection"}, false};

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

vector<StageText> CommonStepKernel::allStages() const {
    vector<StageText> all = stages();
    all.push_back(projectPositionsStage);
    all.push_back(projectVelocitiesStage);
    if (scheme.kineticEnergy != StepScheme::KineticEnergy::Plain)
        all.push_back(kineticEnergyStage(scheme));
    return all;
}

ProgramKind CommonStepKernel::programKind(const ConstraintIntegrator& integrator) const {
    ProgramKind kind;
    kind.stages = allStages();
    kind.smallInRegisters = !(integrator.getWarmStart() && solver->getMethod() == Method::Iterative);
    // Accelerations are solved to rounding, whatever the tolerance.
    kind.isCoarse =
        !scheme.isExplicit && ConstraintProgram::isCoarse(onDevice.innerTolerance(projectionSettings(integrator)));
    kind.moments = numMoments(integrator);
    kind.sumsStages = scheme.sumsStages;
    return kind;
}

void CommonStepKernel::prepareProgram(const ConstraintIntegrator& integrator, int step) {
    const ProgramKind kind = programKind(integrator);
    if (onDevice.hasProgramFor(kind))
        return;
    onDevice.requireMemory(kind); // another method has another factor
    refreshReading();
    keepSums();
    onDevice.makeProgram(kind);
    forcesAreKept = false; // those of slow levels were in the other one
    takeOrder(step);
    uploadMultipliers(integrator.getStepSize());
}

void CommonStepKernel::setNumbers(const ConstraintIntegrator& integrator) {
    onDevice.setNumbers(projectionSettings(integrator), integrator.getMaxIterations());
    KernelArguments& numbers = program->arguments;
    const double dt = integrator.getStepSize();
    numbers.set("warmStart", integrator.getWarmStart() ? 1 : 0);
    numbers.set("dt", dt);
    numbers.set("driftTime", driftTime(integrator));
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
