// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonRattleNoseHooverStep.h"
#include "FailureCodes.h"
#include "openmm/common/ContextSelector.h"

using namespace OpenMM;

namespace ConstraintPlugin {

CommonRattleNoseHooverStep::~CommonRattleNoseHooverStep() {
    ContextSelector selector(cc);
    chainOnDevice.reset();
}

void CommonRattleNoseHooverStep::initialize(const System& system, const ConstraintIntegrator& integrator,
                                            const ConstraintSet& constraints) {
    CommonRattleStep::initialize(system, integrator, constraints);
    ContextSelector selector(cc);
    chainOnDevice = std::make_unique<DeviceHeatBath>(cc, chainLengthOf(integrator));
}

std::vector<StageText> CommonRattleNoseHooverStep::stages() const {
    // The state is kept where kinetic energies are summed up, before velocities are scaled.
    return {{"firstHalf", {"scaleByBath", "halfKick", "drift", "solvePositions", "move"}},
            {"secondHalf", {"halfKick", "solveVelocities", "addVelocityCorrection"}}};
}

void CommonRattleNoseHooverStep::setOwnNumbers(const ConstraintIntegrator& integrator) {
    bath = heatBathOf(integrator);
}

void CommonRattleNoseHooverStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    computeForces(context, integrator); // first, because it may throw
    propagateHeatBath(integrator, true);
    CommonRattleStep::takeStep(context, integrator);
    propagateHeatBath(integrator, false);
}

void CommonRattleNoseHooverStep::propagateHeatBath(const ConstraintIntegrator& integrator, bool isFirstHalf) {
    const ConstraintTables& tables = program->tables();
    const int code = codeOfBath((int) tables.redundant.size(), tables.numClusters(), numParticles());
    KernelArguments& arrays = program->arguments;
    sumForBath(isFirstHalf);
    chainOnDevice->propagate(bath, 0.5 * integrator.getStepSize(), isFirstHalf, bufferNow, arrays["bathSums"],
                             arrays["bathFactor"], arrays["failure"], nextLaunch++, code);
}

ThermostatChain CommonRattleNoseHooverStep::getChain() const {
    ContextSelector selector(cc);
    return chainOnDevice->getChain(readingBuffer);
}

void CommonRattleNoseHooverStep::setChain(const ThermostatChain& chain) {
    ContextSelector selector(cc);
    chainOnDevice->setChain(chain);
}

} // namespace ConstraintPlugin
