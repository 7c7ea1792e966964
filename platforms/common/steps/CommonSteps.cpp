// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The time steps. The operations on each particle are in steps.cc.
#include "CommonSteps.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

static const RattleLangevinIntegrator& asLangevin(const ConstraintIntegrator& integrator) {
    return dynamic_cast<const RattleLangevinIntegrator&>(integrator);
}

std::vector<StageText> CommonRattleStep::stages() const {
    return {{"firstHalf", {"keepPositions", "keepVelocity", "halfKick", "drift", "solvePositions", "move"}},
            {"secondHalf", {"halfKick", "solveVelocities", "addVelocityCorrection"}}};
}

void CommonRattleStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    launch("firstHalf");
    finishPositions(context, integrator);
    computeForces(context, integrator);
    launch("secondHalf");
    checkVelocities();
}

std::vector<StageText> CommonShakeStep::stages() const {
    return {{"step", {"keepPositions", "keepVelocity", "kick", "drift", "solvePositions", "move"}}};
}

void CommonShakeStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    launch("step");
    finishPositions(context, integrator);
}

void CommonLangevinStep::initialize(const System& system, const ConstraintIntegrator& integrator,
                                    const ConstraintSet& constraints) {
    CommonStepKernel::initialize(system, integrator, constraints);
    noiseKey = makeNoiseKey(integrator);
}

void CommonLangevinStep::setOwnNumbers(const ConstraintIntegrator& integrator) {
    const RattleLangevinIntegrator& langevin = asLangevin(integrator);
    const double exponent = langevin.getFriction() * bathTime(integrator);
    program->arguments.set("velocityScale", std::exp(-exponent));
    program->arguments.set("velocityNoise", std::sqrt(-std::expm1(-2 * exponent) * BOLTZ * langevin.getTemperature()));
    program->arguments.set("noiseKey0", (int) noiseKey[0]);
    program->arguments.set("noiseKey1", (int) noiseKey[1]);
    program->arguments.set("isFirstBath", 1);
}

void CommonLangevinStep::setNoiseStep(std::uint64_t draw) {
    program->arguments.set("noiseStepLow", (int) (std::uint32_t) draw);
    program->arguments.set("noiseStepHigh", (int) (std::uint32_t)(draw >> 32));
}

StageText CommonLangevinStep::driftAndHeat() const {
    StageText drift{"driftAndHeat",
                    {"stay", "halfDrift", "keepHeat", "ornsteinUhlenbeck", "solveHeatedVelocities",
                     "addVelocityCorrection", "noteHeat", "halfDrift", "noteVelocityChange"}};
    const auto append = [&](std::initializer_list<const char*> steps) {
        drift.steps.insert(drift.steps.end(), steps.begin(), steps.end());
    };
    if (solver->moves()) // the work needs it in every step; otherwise it is computed when it is read
        append({"swapVelocityChange", "solveVelocitySpread", "swapVelocityChange"});
    append({"solvePositions", "move"});
    return drift;
}

void CommonLangevinStep::launchDrift() {
    launch("driftAndHeat");
    program->launchAfterwards("addSpreadWork", (int) program->tables().movingRows.size(), nextLaunch++);
}

std::vector<StageText> CommonRattleLangevinStep::stages() const {
    // Two launches rather than one: three solves in one launch need more registers than a thread has.
    return {{"kick", {"keepPositions", "keepVelocity", "kick", "solveVelocities", "addVelocityCorrection"}},
            driftAndHeat()};
}

void CommonRattleLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    setNoiseStep();
    launch("kick");
    launchDrift();
    finishPositions(context, integrator);
}

std::vector<StageText> CommonGeodesicLangevinStep::stages() const {
    // Gradients are computed once in a launch, so a launch ends where positions move. It also ends after two solves,
    // because registers do not suffice for more. P is idempotent, so the following kick also does the last geodesic
    // step's projection.
    return {{"kick",
             {"keepPositions", "keepVelocity", "halfKick", "solveVelocities", "addVelocityCorrection", "drift",
              "solvePositions", "move"}},
            {"geodesicDrift",
             {"keepPositions", "solveVelocities", "addVelocityCorrection", "drift", "solvePositions", "move"}},
            {"heat", {"keepPositions", "solveVelocities", "addVelocityCorrection", "keepHeat", "ornsteinUhlenbeck"}},
            {"heatedDrift",
             {"solveHeatedVelocities", "addVelocityCorrection", "noteHeat", "drift", "solvePositions", "move"}},
            {"lastKick", {"keepPositions", "halfKick", "solveVelocities", "addVelocityCorrection"}}};
}

int CommonGeodesicLangevinStep::numDrifts(const ConstraintIntegrator& integrator) const {
    return 2 * asLangevin(integrator).getNumGeodesicSteps();
}

void CommonGeodesicLangevinStep::setOwnNumbers(const ConstraintIntegrator& integrator) {
    CommonLangevinStep::setOwnNumbers(integrator);
    program->arguments.set("warmStart", 0); // a step has several solves
}

void CommonGeodesicLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const int numSteps = asLangevin(integrator).getNumGeodesicSteps();
    const double start = cc.getTime();
    int numDrifted = 0;
    const auto drift = [&](const char* stage) {
        setTimeOfLaunches(start + numDrifted++ * driftTime(integrator));
        launch(stage);
        program->setMoment(bufferNow, numDrifted);
    };

    computeForces(context, integrator);
    setNoiseStep();
    drift("kick");
    for (int k = 1; k < numSteps; k++)
        drift("geodesicDrift");
    setTimeOfLaunches(start + 0.5 * integrator.getStepSize());
    launch("heat");
    drift("heatedDrift");
    for (int k = 1; k < numSteps; k++)
        drift("geodesicDrift");
    finishPositions(context, integrator);
    computeForces(context, integrator);
    launch("lastKick");
    checkVelocities();
}

std::vector<StageText> CommonConstraintForceStep::stages() const {
    return {
        {"firstHalf", {"keepPositions", "keepVelocity", "accelerate", "solveStartAccelerations", "moveAccelerated"}},
        {"secondHalf", {"accelerate", "predictVelocity", "solveEndAccelerations", "finishVelocity"}}};
}

void CommonConstraintForceStep::setOwnNumbers(const ConstraintIntegrator& integrator) {
    const auto& explicitly = dynamic_cast<const ConstraintForceIntegrator&>(integrator);
    double alpha, beta;
    explicitly.getStabilization(alpha, beta);
    program->arguments.set("alpha", alpha);
    program->arguments.set("beta", beta);
    program->arguments.set("maxDrift", explicitly.getMaxDrift());
}

void CommonConstraintForceStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    launch("firstHalf");
    finishPositions(context, integrator);
    computeForces(context, integrator);
    launch("secondHalf");
}

} // namespace ConstraintPlugin
