// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The time steps. What is done to each particle stands in kernels/steps.cc.
#include "CommonSteps.h"
#include "openmm/common/ContextSelector.h"
#include "openmm/common/IntegrationUtilities.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

std::vector<StageText> CommonRattleStep::stages() const {
    return {{"firstHalf", {"keepStart", "halfKick", "drift", "solvePositions", "move"}},
            {"secondHalf", {"halfKick", "solveVelocities", "becomeTangent"}}};
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
    return {{"step", {"keepStart", "kick", "drift", "solvePositions", "move"}}};
}

void CommonShakeStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    launch("step");
    finishPositions(context, integrator);
}

std::vector<StageText> CommonRattleLangevinStep::stages() const {
    // Two launches rather than one: three solves at once need more registers than there are.
    return {{"kick", {"keepStart", "kick", "solveVelocities", "becomeTangent"}},
            {"driftAndHeat",
             {"stay", "halfDrift", "exchangeHeat", "solveHeatedVelocities", "becomeTangent", "halfDrift",
              "solvePositions", "move"}}};
}

void CommonRattleLangevinStep::initialize(const System& system, const ConstraintIntegrator& integrator,
                                          const ConstraintSet& constraints) {
    CommonStepKernel::initialize(system, integrator, constraints);
    ContextSelector selector(cc);
    const auto& langevin = dynamic_cast<const RattleLangevinIntegrator&>(integrator);
    cc.getIntegrationUtilities().initRandomNumberGenerator((unsigned int) langevin.getRandomNumberSeed());
}

void CommonRattleLangevinStep::setOwnNumbers(const ConstraintIntegrator& integrator) {
    const auto& langevin = dynamic_cast<const RattleLangevinIntegrator&>(integrator);
    const double exponent = langevin.getFriction() * integrator.getStepSize();
    program->arguments.set("velocityScale", std::exp(-exponent));
    program->arguments.set("velocityNoise", std::sqrt(-std::expm1(-2 * exponent) * BOLTZ * langevin.getTemperature()));
}

void CommonRattleLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator);
    program->arguments.set("randomIndex", cc.getIntegrationUtilities().prepareRandomNumbers(cc.getPaddedNumAtoms()));
    launch("kick");
    launch("driftAndHeat");
    finishPositions(context, integrator);
}

std::vector<StageText> CommonConstraintForceStep::stages() const {
    return {{"firstHalf", {"keepStart", "accelerate", "solveStartAccelerations", "moveAccelerated"}},
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
