// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_

#include "HostStepKernel.h"
#include "KeptState.h"

namespace ConstraintPlugin {

/** Base class of the steps of all integrators on the Reference and CPU platforms: access to the state, and forces that
 *  are kept from one step to the next. A derived class is one integrator's step.
 *
 *  The code does not rely on stateChanged(). Forces and the projected state of the last step are reused only if
 *  positions, velocities and box are equal bit for bit. One function compares them: at the beginning of step(n), before
 *  barostats act, and before each step. */
class ReferenceStepKernel : public HostStepKernel {
public:
    /** @param runner  threads of the solver and of loops over particles; null: there are none, and the simple solvers
     *                  solve all clusters */
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
    /** Store the multipliers of the present step in the record. */
    virtual void readMultipliers(double dt) {
        readImpulses(solver->readImpulses(), dt, record->reading.moments[0]);
    }
    void readImpulses(const Impulses& impulses, double dt, StepMoment& moment) {
        scheme.toForces(impulses, dt, moment.multipliers, record->reading.velocityMultipliers);
    }

    // These point at the Context's own arrays.
    Real3* positions(OpenMM::ContextImpl& context) const override;
    Real3* velocities(OpenMM::ContextImpl& context) const override;
    void setPositions(OpenMM::ContextImpl& context, const Real3* x) override;
    void setVelocities(OpenMM::ContextImpl& context, const Real3* v) override;
    Box box(OpenMM::ContextImpl& context) const override;
    double currentTime(OpenMM::ContextImpl& context) const override;
    const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    std::unique_ptr<KeptState> keepState(OpenMM::ContextImpl& context) override;
    void refreshReading() const override;
    std::uint64_t lastStateFingerprint() const override;
    void forgetLastState() override {
        lastGood.positions.clear();
        unchanged.positions = false;
    }

    /** Forces in a step, computed only if the kept ones are stale; valid until particles move, or others are computed.
     *  @param groups  a bit for each force group */
    const Real3* stepForces(OpenMM::ContextImpl& context, int groups);
    const Real3* stepForces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) {
        return stepForces(context, integrator.getIntegrationForceGroups());
    }
    /** Whether stepForces() would return the forces of the last call or step. */
    bool knowsForces(OpenMM::ContextImpl& context, int groups) const;
    /** Position stage of a step: delta in: unconstrained, out: constrained; the impulse is added to the velocity.
     *  Throws if it fails. */
    void solvePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* delta,
                        Real3* velocity);
    /** Record that the position stage computes its gradients at the Context's positions. */
    void noteGradientPositions(OpenMM::ContextImpl& context);
    /** x += delta for every particle; throws if it is not finite. */
    void addDisplacement(OpenMM::ContextImpl& context, const Real3* delta);
    /** The same; then advance the time and compute virtual sites. */
    void movePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* delta);

    void setTime(OpenMM::ContextImpl& context, double time);
    /** body(i) for every particle, in any order and on several threads. */
    template <class Body>
    void forParticles(const Body& body) const {
        forEach(runner.get(), numParticles(), body);
    }

    std::vector<Real3> delta;                        ///< [numParticles] nm, displacement in this step
    double heatOfStep = 0;                           ///< kJ/mol, added by a heat bath in this step
    std::vector<std::vector<Real3>> velocityChanges; ///< of this step, see StepReading

private:
    class Kept;
    struct Snapshot {
        std::vector<Real3> positions, velocities;
        Box box;
        double time = 0;
    };
    void take(OpenMM::ContextImpl& context, Snapshot& snapshot) const;
    bool holds(const std::vector<Real3>& kept, const Real3* now) const;
    /** Compare the Context's state with that after the last step. */
    void compare(OpenMM::ContextImpl& context);
    /** The state that is restored if the present step fails. */
    const Snapshot& takeStart(OpenMM::ContextImpl& context);
    /** Project the state to new Context parameters, so that energies in updateContextState() are those of a state on
     *  the constraints. */
    void projectToNewParameters(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Take the state of a loaded checkpoint for that after the last step, before others change it. */
    void recognizeState(OpenMM::ContextImpl& context);
    /** Whether positions and box, and with moving constraints the time, are those after the last step. */
    bool arePositionsOfLastStep(OpenMM::ContextImpl& context) const;
    void forgetForces() {
        forcesKept = forcesComputed = false;
    }
    void keepForces(OpenMM::ContextImpl& context);
    void projectStart(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool isOfAStep);

    std::shared_ptr<TaskRunner> runner;
    Snapshot lastGood; // the state after the last step
    /** Which parts of it are unchanged. Functions of this class set them; changes by others are found by comparison. */
    struct {
        bool positions = false, velocities = false; // positions: and the box
    } unchanged;
    std::vector<Real3> keptForces;
    int forceGroups = 0;
    double forceTime = 0;
    bool forcesKept = false;              // for the positions of lastGood, which are unchanged
    bool forcesComputed = false;          // for the present positions, and still in the Context's own array
    Snapshot changed;                     // the state after changes by others
    Snapshot beforeProjection;            // of a state with new parameters
    std::vector<Real3> gradientPositions; // of the present position stage,
    bool gradientsAtStart = false;        // unless they are those of lastGood
};

} // namespace ConstraintPlugin

#endif
