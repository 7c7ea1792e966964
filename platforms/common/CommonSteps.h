// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_STEPS_H_
#define OPENMM_CONSTRAINTS_COMMON_STEPS_H_

#include "CommonStepKernel.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE (RattleIntegrator.h). */
class CommonRattleStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Leapfrog with SHAKE (ShakeIntegrator.h). */
class CommonShakeStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** LangevinMiddle with projections (RattleLangevinIntegrator.h). */
class CommonRattleLangevinStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
};

/** Velocity Verlet with the explicit constraint force (ConstraintForceIntegrator.h). */
class CommonConstraintForceStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
};

} // namespace ConstraintPlugin

#endif
