// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HEAT_BATH_KERNEL_H_
#define OPENMM_CONSTRAINTS_HEAT_BATH_KERNEL_H_

#include "ThermostatChain.h"
#include "openmmconstraints/ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Additional functions of RattleNoseHooverIntegrator's step kernel, on every platform. */
class HeatBathKernel {
public:
    virtual ~HeatBathKernel() = default;
    /** The chain after the last successful step. */
    virtual ThermostatChain getChain() const = 0;
    /** @param chain  of the same length */
    virtual void setChain(const ThermostatChain& chain) = 0;
};

/** The heat bath of a RattleNoseHooverIntegrator that has a Context. */
HeatBath heatBathOf(const ConstraintIntegrator& integrator);
/** The length of its chain. */
int chainLengthOf(const ConstraintIntegrator& integrator);

} // namespace ConstraintPlugin

#endif
