// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceHeatBath.h"
#include "DeviceArrays.h"
#include "ProgramText.h"

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

constexpr int blockSize = 64, longestProduct = 7;

bool mixedIsDouble(const ComputeContext& cc) {
    return cc.getUseDoublePrecision() || cc.getUseMixedPrecision();
}

void upload(const ComputeContext& cc, ComputeArray& array, const std::vector<double>& values) {
    if (mixedIsDouble(cc))
        array.uploadSubArray(values.data(), 0, (int) values.size());
    else
        array.uploadSubArray(std::vector<float>(values.begin(), values.end()).data(), 0, (int) values.size());
}

/** Give a kernel its arguments in their order, numbers that are `mixed` there as doubles. */
template <class... Values>
void setArguments(const ComputeContext& cc, const ComputeKernel& kernel, Values&&... values) {
    int i = 0;
    const auto set = [&](auto&& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
            if (!mixedIsDouble(cc)) {
                kernel->setArg(i++, (float) value);
                return;
            }
        }
        kernel->setArg(i++, value);
    };
    (set(values), ...);
}

} // namespace

DeviceHeatBath::DeviceHeatBath(ComputeContext& cc, int chainLength) : cc(cc), length(chainLength) {
    const int size = mixedIsDouble(cc) ? sizeof(double) : sizeof(float);
    chain.initialize(cc, 4 * length, size, "thermostatChain");
    weights.initialize(cc, longestProduct, size, "yoshidaSuzukiWeights");
    setChain(ThermostatChain(length));
    ProgramText text;
    text.define("NUM_BATH_SUMS", numBathSums).define("BLOCK_SIZE", blockSize).need("heatBath.cc");
    const ComputeProgram program = cc.compileProgram(text.str());
    const auto create = [&](const char* name, int numArguments) {
        ComputeKernel kernel = program->createKernel(name);
        for (int i = 0; i < numArguments; i++)
            kernel->addArg();
        return kernel;
    };
    propagateChain = create("propagateHeatBath", 16);
    scale = create("scaleVelocities", 5);
}

ThermostatChain DeviceHeatBath::getChain(int buffer) const {
    std::vector<double> values(4 * length);
    if (mixedIsDouble(cc))
        chain.download(values.data());
    else {
        std::vector<float> floats(4 * length);
        chain.download(floats.data());
        values.assign(floats.begin(), floats.end());
    }
    ThermostatChain result(length);
    for (int j = 0; j < length; j++) {
        result.positions[j] = values[2 * length * buffer + j];
        result.velocities[j] = values[2 * length * buffer + length + j];
    }
    return result;
}

void DeviceHeatBath::setChain(const ThermostatChain& newChain) {
    std::vector<double> values; // whichever buffer is next
    for (int buffer = 0; buffer < 2; buffer++) {
        values.insert(values.end(), newChain.positions.begin(), newChain.positions.end());
        values.insert(values.end(), newChain.velocities.begin(), newChain.velocities.end());
    }
    upload(cc, chain, values);
}

void DeviceHeatBath::propagate(const HeatBath& bath, double time, bool isFirstHalf, int buffer, ComputeArray& sums,
                               ComputeArray& factor, ComputeArray& failure, int launch, int failureCode) {
    if (bath.degreesOfFreedom == 0) {
        upload(cc, factor, {1.0});
        return;
    }
    if (weightsOnDevice != bath.weights) {
        upload(cc, weights, bath.weights);
        weightsOnDevice = bath.weights;
    }
    const int numParticles = cc.getNumAtoms();
    setArguments(cc, propagateChain, sums, chain, factor, weights, (int) bath.weights.size(), bath.numSubsteps, length,
                 buffer, (int) isFirstHalf, (double) bath.degreesOfFreedom, bath.kT, bath.frequency, time, failure,
                 launch, failureCode);
    propagateChain->execute(blockSize, blockSize);
    if (isFirstHalf)
        return;
    setArguments(cc, scale, cc.getVelm(), factor, numParticles, failure, launch + 1);
    scale->execute(numParticles, blockSize);
}

} // namespace ConstraintPlugin
