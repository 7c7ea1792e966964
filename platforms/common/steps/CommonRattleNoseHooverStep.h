// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_RATTLE_NOSE_HOOVER_STEP_H_
#define OPENMM_CONSTRAINTS_COMMON_RATTLE_NOSE_HOOVER_STEP_H_

#include "ChainCheckpoint.h"
#include "CommonSteps.h"
#include "DeviceHeatBath.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE between two halves of a Nose-Hoover chain (RattleNoseHooverIntegrator.h). */
class CommonRattleNoseHooverStep : public CommonRattleStep, public HeatBathKernel {
public:
    using CommonRattleStep::CommonRattleStep;
    ~CommonRattleNoseHooverStep() override;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    ThermostatChain getChain() const override;
    void setChain(const ThermostatChain& chain) override;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
    void writeOwn(std::ostream& stream) const override {
        writeChain(stream, *this);
    }
    void readOwn(std::istream& stream) override {
        readChain(stream, *this);
    }
    void readUnsealedOwn(std::istream& stream) override {
        readChain(stream, *this);
    }

private:
    /** Propagate the chain over half a step. */
    void propagateHeatBath(const ConstraintIntegrator& integrator, bool isFirstHalf);
    std::unique_ptr<DeviceHeatBath> chainOnDevice;
    HeatBath bath; // of the present run of steps
};

} // namespace ConstraintPlugin

#endif
