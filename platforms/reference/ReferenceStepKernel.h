// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_REFERENCE_STEP_KERNEL_H_

#include "ConstraintSolver.h"
#include "openmmconstraints/ConstraintKernels.h"
#include "openmmconstraints/internal/ConstraintErrors.h"
#include <cstdint>
#include <memory>

namespace ConstraintPlugin {

/** What the steps of all integrators share on the Reference and CPU platforms: access to the state, forces kept from
 *  one step to the next, projection of a state that someone else left, and the translation of failures. A derived
 *  class is one integrator's step.
 *
 *  Nothing here relies on being told of changes: forces kept, and the state taken as being on the constraints, are
 *  those whose positions, velocities and box are still there bit for bit. */
class ReferenceStepKernel : public IntegrateConstraintsStepKernel {
public:
    using IntegrateConstraintsStepKernel::IntegrateConstraintsStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void setTargets(const ConstraintSet& constraints) override;
    void execute(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps) override;
    double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void applyConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void applyVelocityConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void projectVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                           std::vector<OpenMM::Vec3>& velocities) override;
    void invalidateForces() override {
        forcesKept = false;
    }
    SolverSummary getSummary() const override;
    const ConstraintSet& getConstraints() const override {
        return solver->getSet();
    }
    std::vector<double> getMultipliers() const override;
    std::vector<double> getVelocityMultipliers() const override;
    double getConstraintWork() const override {
        return reading.work;
    }
    void getConstraintForces(std::vector<OpenMM::Vec3>& forces, std::vector<OpenMM::Vec3>& virial) const override;
    std::vector<double> computeMultipliers(OpenMM::ContextImpl& context,
                                           const ConstraintIntegrator& integrator) override;
    void computeBlueMoon(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                         const std::vector<int>& coordinates, std::vector<double>& multipliers,
                         std::vector<double>& corrections, double& logZ) override;
    int getConstraintRank() const override {
        return solver->rank();
    }
    void createCheckpoint(std::ostream& stream) const override;
    void loadCheckpoint(std::istream& stream, bool systemMayDiffer) override;

protected:
    /** One time step from a state on the constraints. May throw at any point: the caller restores the state. */
    virtual void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** Whether this integrator's velocities satisfy the velocity constraints between steps. */
    virtual bool constrainsVelocities() const = 0;

    /** Error from which on a state is projected before a step. */
    virtual double projectionThreshold(const ConstraintIntegrator& integrator) const {
        return integrator.getConstraintTolerance();
    }
    /** How far velocities are behind the positions (ps). */
    virtual double velocityTimeOffset(const ConstraintIntegrator& integrator) const = 0;
    /** Turn the solver's multipliers of a step into forces: factors for the position and the velocity stage. */
    virtual void multiplierFactors(double dt, double& position, double& velocity) const = 0;
    /** Whether the velocity stage is at the start of the step, where it shares the force with the position stage. */
    virtual bool solvesVelocitiesFirst() const {
        return false;
    }
    /** Multipliers of a step as forces: at its start, and where the end has its own half step, there. */
    struct StepMultipliers {
        std::vector<double> start, end; // [constraints]
    };
    virtual StepMultipliers getStepMultipliers(const ConstraintIntegrator& integrator) const;
    /** Whether the impulse of a step is half of the force at its start and half of that at its end. */
    virtual bool hasTwoHalves() const {
        return false;
    }

    Real3* positions(OpenMM::ContextImpl& context) const;
    Real3* velocities(OpenMM::ContextImpl& context) const;
    Box box(OpenMM::ContextImpl& context) const;
    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** Forces (kJ/mol/nm, [numParticles]) at the Context's positions; computed only where those kept are stale. */
    const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Position stage of a step: delta in: unconstrained, out: constrained. Throws where it fails. */
    void solvePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* delta);
    /** Velocity stage at positions x. Throws where it fails. */
    void solveVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                         Real3* velocity);
    /** Accelerations (nm/ps^2) at the Context's positions with velocities v; in: without constraints. Throws where it
     *  fails. @param[out] multipliers  [constraints] */
    void solveAccelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* v,
                            Real3* acceleration, std::vector<double>& multipliers, const Stabilization& feedback = {});
    /** The position stage's gradients are those at the Context's positions. */
    void noteGradientPositions(OpenMM::ContextImpl& context) {
        gradientPositions.assign(positions(context), positions(context) + numParticles());
    }
    double currentTime(OpenMM::ContextImpl& context) const;
    /** Take a stage's report into the summary of the step. */
    void note(const SolveReport& report);
    /** Kinetic energy (kJ/mol) of P[v + timeShift f/m], P the projection onto the constraints; changes no state. */
    double projectedKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                  double timeShift);
    /** x += delta for every particle, then virtual sites; the time advances with them. */
    void movePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* delta);
    /** @throws OpenMMException naming the particle, if any coordinate of v [numParticles] is NaN or infinite */
    void requireFinite(const Real3* v, const char* what) const;

    std::vector<double> inverseMass; ///< [numParticles] 1/amu
    std::unique_ptr<ConstraintSolver> solver;
    std::vector<Real3> delta; ///< [numParticles] nm, displacement in this step
    std::string activity;     // what is being done, for error messages
    SolverSummary summary;    // of the last step; what describes the graph, getSummary() fills in

private:
    struct Snapshot {
        std::vector<Real3> positions, velocities;
        std::vector<Real3> endPositions; // the last stage's, where a checkpoint was loaded
        Box box;
        double time = 0, endTime = 0;
    };
    /** What users read of the last good step. */
    struct Reading {
        std::vector<double> multipliers, velocityMultipliers; // [constraints]
        std::vector<Real3> positions;                         // where the position stage took gradients
        std::vector<Real3> endPositions;                      // the last stage's, where a checkpoint was loaded
        Box box;
        double time = 0, endTime = 0;
        double work = 0;             // of moving constraints, since the Context was created
        std::vector<double> globals; // Context parameters that expressions depend on, as ConstraintSolver::getGlobals()
    };
    /** What is read when the constraints' parameters have changed since the last step: all of it as it was then. */
    struct FrozenReading {
        std::vector<double> multipliers, velocityMultipliers; // [listed constraints]
        std::vector<OpenMM::Vec3> forces, virial;
    };
    /** Context parameters in expressions are those of the last step for as long as it lives. */
    class AsInLastStep;
    /** What a checkpoint holds besides OpenMM's own. */
    struct CheckpointRecord {
        ConstraintSolver::Multipliers multipliers;
        double stepSize;
        std::uint64_t fingerprint;
        Reading reading;
        SolverSummary summary;

        template <class Exchange>
        void exchange(const Exchange& field);
    };
    void updateReading(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Multipliers by listed constraint, from those by constraint. */
    std::vector<double> listed(const std::vector<double>& multipliers) const;
    void checkMovingTargets(double time) const;
    static std::uint64_t fingerprintOf(const Snapshot& snapshot);
    void take(OpenMM::ContextImpl& context, Snapshot& snapshot) const;
    bool holds(const std::vector<Real3>& kept, const Real3* now) const;
    /** Take over the integrator's settings, the time and the Context's parameters. */
    void prepare(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    void takeSettings(const ConstraintIntegrator& integrator);
    void projectState(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** @param force  also where they are so far off that something else is wrong */
    void projectContextPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool force);
    void projectContextVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Return positions x to the constraints. @return false if they were within the tolerance, and are unchanged */
    bool projectPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x, bool force);
    /** Where the gradients of the start do not lead back to the constraints: renew them.
     *  @param report  of the failure; in the end of what went well */
    void approachOrFail(Real3* x, const Box& box, SolveReport& report, const ConstraintIntegrator& integrator);
    void checkRank(const Real3* x, const Box& box);
    void refuseFarOff(const SolveReport& report, double time) const;
    /** Return velocities v to the tangent space at x, if they are off it. */
    void projectTangent(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x, Real3* v);
    double kineticEnergy(const Real3* v) const;
    void checkPeriodicLengths(const Box& box, double time) const;
    [[noreturn]] void fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator);

    std::vector<Real3> keptForces;
    Snapshot atForces; // the state at which forces were computed
    int forceGroups = 0;
    bool forcesKept = false;
    Snapshot start;    // the state to return to when the step at hand fails
    Snapshot lastGood; // the state that the last step left
    Reading reading;
    std::unique_ptr<FrozenReading> frozen; // until the next step
    std::vector<Real3> gradientPositions;  // of the position stage at hand
    bool rankChecked = false;
    std::uint64_t loadedFingerprint = 0; // of the state that a checkpoint was written at
    double lastStepSize = 0;
    int maxIterations = 0;
    double targetTime = 0; // of the targets of the stage at hand
};

} // namespace ConstraintPlugin

#endif
