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
    double velocityTimeOffset(const ConstraintIntegrator&) const override {
        return 0.0;
    }
    /** Impulses over half a step: lambda/dt and mu are the impulses. */
    void multiplierFactors(double dt, double& position, double& velocity) const override {
        position = 2 / (dt * dt);
        velocity = 2 / dt;
    }
    bool hasTwoHalves() const override {
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
    double velocityTimeOffset(const ConstraintIntegrator& integrator) const override {
        return 0.5 * integrator.getStepSize();
    }
    /** The impulse lambda/dt over the step; there is no velocity stage. */
    void multiplierFactors(double dt, double& position, double& velocity) const override {
        position = 1 / (dt * dt);
        velocity = 0;
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
    double velocityTimeOffset(const ConstraintIntegrator& integrator) const override {
        return 0.5 * integrator.getStepSize();
    }
    /** Impulses over the step: lambda/dt answers the drift and mu the kick, both with the gradients at r(t). */
    void multiplierFactors(double dt, double& position, double& velocity) const override {
        position = 1 / (dt * dt);
        velocity = 1 / dt;
    }
    bool solvesVelocitiesFirst() const override {
        return true;
    }

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
    bool constrainsVelocities() const override {
        return true;
    }
    double velocityTimeOffset(const ConstraintIntegrator&) const override {
        return 0.0;
    }
    void multiplierFactors(double, double& position, double& velocity) const override {
        position = velocity = 0; // multipliers are forces already: getStepMultipliers()
    }
    bool hasTwoHalves() const override {
        return true;
    }
    StepMultipliers getStepMultipliers(const ConstraintIntegrator&) const override {
        return {atStart, atEnd};
    }
    double projectionThreshold(const ConstraintIntegrator& integrator) const override;

private:
    /** Accelerations at the Context's positions with velocities v, constraint forces included. */
    std::vector<Real3> accelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                     const Real3* v, std::vector<double>& multipliers);
    void checkDrift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    std::vector<double> atStart, atEnd; // [constraints] multipliers
};

} // namespace ConstraintPlugin

#endif
