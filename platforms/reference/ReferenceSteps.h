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
    bool constrainsVelocities() const override {
        return true;
    }
};

/** Leapfrog with SHAKE (ShakeIntegrator.h). */
class ReferenceShakeStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;
    /** Of the velocities at the time of the positions: P[v(t-dt/2) + (dt/2) f(t)/m]. */
    double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    /** Half-step velocities are no tangents at the positions; what they have along gradients, lambda absorbs. */
    bool constrainsVelocities() const override {
        return false;
    }
};

/** LangevinMiddle with projections (RattleLangevinIntegrator.h). */
class ReferenceRattleLangevinStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    /** Of the velocities returned to the tangent space at the positions, P[v(t-dt/2)]. */
    double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    /** Half-step velocities are no tangents at the positions; the projection after the kick makes them so. */
    bool constrainsVelocities() const override {
        return false;
    }

private:
    /** The Ornstein-Uhlenbeck process over one step, in the tangent space. Without friction nothing happens. */
    void exchangeHeat(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity);
};

} // namespace ConstraintPlugin

#endif
