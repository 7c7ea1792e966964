// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_STEPS_H_
#define OPENMM_CONSTRAINTS_REFERENCE_STEPS_H_

#include "ReferenceStepKernel.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE (RattleIntegrator.h). */
class ReferenceRattleStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Leapfrog with SHAKE (ShakeIntegrator.h). */
class ReferenceShakeStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** LangevinMiddle with projections (RattleLangevinIntegrator.h). */
class ReferenceRattleLangevinStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;

private:
    /** The Ornstein-Uhlenbeck process over one step, in the tangent space. Without friction nothing happens. */
    void exchangeHeat(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity);
};

/** Velocity Verlet with the explicit constraint force (ConstraintForceIntegrator.h). */
class ReferenceConstraintForceStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    ConstraintSolver::Multipliers stepMultipliers() const override {
        return {atStart, atEnd};
    }

private:
    /** Accelerations at the Context's positions with velocities v, constraint forces included. */
    std::vector<Real3> accelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                     const Real3* v, std::vector<double>& multipliers);
    std::vector<double> atStart, atEnd; // [constraints] multipliers
};

} // namespace ConstraintPlugin

#endif
