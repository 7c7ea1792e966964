// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/HeatBathKernel.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/RattleNoseHooverIntegrator.h"
#include "openmmconstraints/internal/CheckpointIO.h"

namespace ConstraintPlugin {

void HeatBathKernel::writeChain(std::ostream& stream) const {
    const ThermostatChain chain = getChain();
    write(stream, (int) chain.positions.size());
    write(stream, chain.positions);
    write(stream, chain.velocities);
}

void HeatBathKernel::readChain(std::istream& stream) {
    ThermostatChain chain = getChain();
    int length = 0;
    read(stream, length);
    if (length != (int) chain.positions.size())
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint has a Nose-Hoover chain of length " +
                                      std::to_string(length) + ", this integrator one of length " +
                                      std::to_string(chain.positions.size()) + ".");
    read(stream, chain.positions);
    read(stream, chain.velocities);
    setChain(chain);
}

static const RattleNoseHooverIntegrator& asNoseHoover(const ConstraintIntegrator& integrator) {
    return dynamic_cast<const RattleNoseHooverIntegrator&>(integrator);
}

HeatBath heatBathOf(const ConstraintIntegrator& integrator) {
    const RattleNoseHooverIntegrator& given = asNoseHoover(integrator);
    return {BOLTZ * given.getTemperature(), given.getCollisionFrequency(), given.getNumDegreesOfFreedom(),
            given.getNumMultiTimeSteps(), yoshidaSuzukiWeights(given.getNumYoshidaSuzukiTimeSteps())};
}

int chainLengthOf(const ConstraintIntegrator& integrator) {
    return asNoseHoover(integrator).getChainLength();
}

} // namespace ConstraintPlugin
