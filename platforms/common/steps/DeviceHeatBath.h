// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_HEAT_BATH_H_
#define OPENMM_CONSTRAINTS_DEVICE_HEAT_BATH_H_

#include "ThermostatChain.h"
#include "openmm/common/ComputeArray.h"
#include "openmm/common/ComputeContext.h"

namespace ConstraintPlugin {

/** A Nose-Hoover chain on a device, and its kernels (heatBath.cc). Only getChain() waits for the device. */
class DeviceHeatBath {
public:
    DeviceHeatBath(OpenMM::ComputeContext& cc, int chainLength);
    /** @param buffer  of the last good step */
    ThermostatChain getChain(int buffer) const;
    void setChain(const ThermostatChain& chain);
    /** Propagate the chain over a time (ps), and scale the Context's velocities.
     *  @param isFirstHalf  whether the chain is read from the buffer of the previous step, and velocities are left for
     *                      the stage that follows to scale
     *  @param buffer       of the present step
     *  @param sums         [numBathSums] of twice the kinetic energy;  @param factor  [1] of velocities, the result
     *  @param failure      [2] where failures are recorded, as fail() in state.cc does
     *  @param launch       number of this launch;  @param failureCode  to record if velocities would not be finite */
    void propagate(const HeatBath& bath, double time, bool isFirstHalf, int buffer, OpenMM::ComputeArray& sums,
                   OpenMM::ComputeArray& factor, OpenMM::ComputeArray& failure, int launch, int failureCode);

private:
    OpenMM::ComputeContext& cc;
    int length;
    OpenMM::ComputeArray chain, weights; // mixed
    OpenMM::ComputeKernel propagateChain, scale;
    std::vector<double> weightsOnDevice;
};

} // namespace ConstraintPlugin

#endif
