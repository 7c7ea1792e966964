// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_

#include "HostStepKernel.h"

namespace ConstraintPlugin {

/** What the steps of all integrators share on the Reference and CPU platforms: access to the state, and forces kept
 *  from one step to the next. A derived class is one integrator's step.
 *
 *  Nothing here relies on being told of changes: forces kept, and the state taken as being on the constraints, are
 *  those whose positions, velocities and box are still there bit for bit. One function compares them, once before a
 * step takes anything for granted, and once more at the head of step(n), before barostats and others come to it. */
class ReferenceStepKernel : public HostStepKernel {
public:
    /** @param runner  of the fast solvers; null: the readable ones solve everything */
    ReferenceStepKernel(const std::string& name, const OpenMM::Platform& platform, std::shared_ptr<TaskRunner> runner)
        : HostStepKernel(name, platform), runner(std::move(runner)) {
    }
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void execute(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps) override;
    void invalidateForces(bool) override {
        forgetForces();
    }

protected:
    /** One time step from a state on the constraints. May throw at any point: the caller restores the state. */
    virtual void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** Read what the step at hand applied into the record. */
    virtual void readMultipliers(double dt) {
        solver->getImpulses(impulses);
        readImpulses(dt);
    }
    void readImpulses(double dt) {
        scheme.toForces(impulses, dt, record->reading.multipliers, record->reading.velocityMultipliers);
    }

    // These point at the Context's own arrays.
    Real3* positions(OpenMM::ContextImpl& context) const override;
    Real3* velocities(OpenMM::ContextImpl& context) const override;
    void setPositions(OpenMM::ContextImpl& context, const Real3* x) override;
    void setVelocities(OpenMM::ContextImpl& context, const Real3* v) override;
    Box box(OpenMM::ContextImpl& context) const override;
    double currentTime(OpenMM::ContextImpl& context) const override;
    const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void refreshReading() const override;
    std::uint64_t lastStateFingerprint() const override;
    void forgetLastState() override {
        lastGood.positions.clear();
        unchanged.positions = false;
    }

    /** Forces in a step, computed only where those kept are stale; valid until particles move. */
    const Real3* stepForces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Position stage of a step: delta in: unconstrained, out: constrained, and the velocity with its impulse. Throws
     *  where it fails. */
    void solvePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* delta,
                        Real3* velocity);
    /** The position stage's gradients are those at the Context's positions. */
    void noteGradientPositions(OpenMM::ContextImpl& context);
    /** x += delta for every particle; throws where that is not finite. */
    void addDisplacement(OpenMM::ContextImpl& context, const Real3* delta);
    /** The same, then virtual sites; the time advances with them. */
    void movePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* delta);

    void setTime(OpenMM::ContextImpl& context, double time);

    std::vector<Real3> delta;          ///< [numParticles] nm, displacement in this step
    double heatOfStep = 0;             ///< kJ/mol, what a heat bath has given in this step
    std::vector<Real3> velocityChange; ///< of this step, as StepReading has it
    Impulses impulses;                 ///< of this step

private:
    struct Snapshot {
        std::vector<Real3> positions, velocities;
        Box box;
        double time = 0;
    };
    void take(OpenMM::ContextImpl& context, Snapshot& snapshot) const;
    bool holds(const std::vector<Real3>& kept, const Real3* now) const;
    /** Compare the Context's state with what the last step left. */
    void compare(OpenMM::ContextImpl& context);
    /** What to return to when the step at hand fails. */
    const Snapshot& takeStart(OpenMM::ContextImpl& context);
    /** What updateContextState() computes next is to be of a state on the constraints. */
    void projectToNewParameters(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Whether positions and box, and the time of moving constraints, are what the last step left. */
    bool arePositionsOfLastStep(OpenMM::ContextImpl& context) const;
    void forgetForces() {
        forcesKept = forcesComputed = false;
    }
    void keepForces(OpenMM::ContextImpl& context);
    void projectStart(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool isOfAStep);

    std::shared_ptr<TaskRunner> runner;
    Snapshot lastGood; // the state that the last step left
    /** What of it is still there. What changes the state here takes note of that; for what others have changed, it is
     *  compared. */
    struct {
        bool positions = false, velocities = false; // positions: and the box
    } unchanged;
    std::vector<Real3> keptForces;
    int forceGroups = 0;
    double forceTime = 0;
    bool forcesKept = false;              // of the positions of lastGood, which are still there
    bool forcesComputed = false;          // of the present positions, and still in the Context's own array
    Snapshot changed;                     // what someone else has made of it since
    Snapshot beforeProjection;            // of a state with new parameters
    std::vector<Real3> gradientPositions; // of the position stage at hand,
    bool gradientsAtStart = false;        // unless they are those of lastGood
};

} // namespace ConstraintPlugin

#endif
