// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ChainCheckpoint.h"
#include "CheckpointIO.h"

namespace ConstraintPlugin {

void writeChain(std::ostream& stream, const HeatBathKernel& kernel) {
    const ThermostatChain chain = kernel.getChain();
    write(stream, (int) chain.positions.size());
    write(stream, chain.positions);
    write(stream, chain.velocities);
}

void readChain(std::istream& stream, HeatBathKernel& kernel) {
    ThermostatChain chain = kernel.getChain();
    int length = 0;
    read(stream, length);
    if (length != (int) chain.positions.size())
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint has a Nose-Hoover chain of length " +
                                      std::to_string(length) + ", this integrator one of length " +
                                      std::to_string(chain.positions.size()) + ".");
    read(stream, chain.positions);
    read(stream, chain.velocities);
    kernel.setChain(chain);
}

} // namespace ConstraintPlugin
