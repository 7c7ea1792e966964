// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HOST_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_HOST_STEP_KERNEL_H_

#include "ConstraintErrors.h"
#include "Projector.h"
#include "StepRecord.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <limits>

namespace ConstraintPlugin {

static_assert(sizeof(Real3) == sizeof(OpenMM::Vec3), "arrays of Vec3 are handed to core as arrays of Real3");
inline Real3* asReal3(std::vector<OpenMM::Vec3>& v) {
    return reinterpret_cast<Real3*>(v.data());
}

/** What the kernels of all integrators and platforms share: everything but the time step, on the host and in double
 *  precision. It joins a Context to what does the work: a Projector for states that someone else left, a StepRecord for
 *  what users read, and makes exceptions of what these report.
 *
 *  A platform gives access to its state by the protected virtual functions, and takes the steps: execute(),
 *  invalidateForces(). */
class HostStepKernel : public IntegrateConstraintsStepKernel {
public:
    HostStepKernel(const std::string& name, const OpenMM::Platform& platform)
        : IntegrateConstraintsStepKernel(name, platform), scheme(stepSchemeOf(name)) {
    }
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void setTargets(const ConstraintSet& constraints) override;
    void requireProjected(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double applyConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void applyVelocityConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void projectVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                           std::vector<OpenMM::Vec3>& velocities) override;
    SolverSummary getSummary() const override;
    const ConstraintSet& getConstraints() const override {
        return solver->getSet();
    }
    std::vector<double> getMultipliers() const override {
        return lastStep().multipliers();
    }
    std::vector<double> getVelocityMultipliers() const override {
        return lastStep().velocityMultipliers();
    }
    double getConstraintWork() const override {
        return lastStep().reading.work;
    }
    double getHeat() const override {
        return lastStep().reading.heat;
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
    // ---- what a platform implements ----

    /** The Context's positions (nm) and velocities (nm/ps), [numParticles] in the System's order, molecules whole.
     *  Good until the next call of the same function or of its set function. */
    virtual const Real3* positions(OpenMM::ContextImpl& context) const = 0;
    virtual const Real3* velocities(OpenMM::ContextImpl& context) const = 0;
    /** Neither tells the integrator, nor places virtual sites. */
    virtual void setPositions(OpenMM::ContextImpl& context, const Real3* x) = 0;
    virtual void setVelocities(OpenMM::ContextImpl& context, const Real3* v) = 0;
    /** Forces (kJ/mol/nm, [numParticles]) at the present state. Good until the next call. */
    virtual const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    virtual Box box(OpenMM::ContextImpl& context) const;
    /** What serves the clusters, for SolverSummary and error messages. */
    virtual std::string solverDescription() const;
    virtual double currentTime(OpenMM::ContextImpl& context) const;
    /** Relative rounding error of the positions that the platform stores. */
    virtual double positionEpsilon() const {
        return std::numeric_limits<double>::epsilon();
    }
    /** Smallest tolerance that steps reach; where the integrator asks for less, they are solved to this. */
    virtual double smallestTolerance() const {
        return 0;
    }
    /** Complete the record and the solver's impulses (a warm start's) with what the platform has not fetched of the
     * last good step. Called before any of them is read, and before anything but a step changes them; by then someone
     * may have exchanged the Context's state. Evaluates no constraint. */
    virtual void refreshReading() const = 0;
    /** fingerprintOf() the state that the last step left, 0 where there is none or forgetLastState() was called since.
     */
    virtual std::uint64_t lastStateFingerprint() const = 0;
    /** The state that the last step left may be off the constraints from now on, whether it is still there or not,
     *  because they or it were exchanged: the next step has to call projectState(). What a checkpoint had is in the
     *  record and the solver's impulses, and nothing is left to fetch. */
    virtual void forgetLastState() = 0;
    /** What this integrator alone keeps from one step to the next, for checkpoints, which seal it with the rest: raw
     *  bytes (CheckpointIO.h), none where there is nothing. */
    virtual void writeOwn(std::ostream&) const {
    }
    /** @param stream  what writeOwn() wrote; not called for a checkpoint without it
     *  @throws OpenMMException if it does not fit */
    virtual void readOwn(std::istream&) {
    }
    /** The same from a checkpoint without it.
     *  @param stream  behind the sealed part, where version 0.1 wrote a Nose-Hoover chain */
    virtual void readUnsealedOwn(std::istream&) {
    }

    // ---- what a step uses, in this order ----

    /** Whether Context parameters that constraints depend on are others than when the positions last met these. If so,
     *  the state is to be projected before anything else of a step computes an energy. */
    bool hasNewParameters(OpenMM::ContextImpl& context) const {
        return parameters(context) != metParameters;
    }
    /** Take over the integrator's settings, the time and the Context's parameters. */
    void prepare(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Whether the state is the one that a loaded checkpoint was written at, thus on the constraints. True only once
     *  per checkpoint. */
    bool isStateOfCheckpoint(OpenMM::ContextImpl& context);
    /** Project the state before a step, as far as it is not known to be on the constraints.
     *  @param positionsKnown   positions and box (and with moving constraints, the time) are those of the last step
     *  @param velocitiesKnown  so are the velocities
     *  @param isOfAStep        nobody but updateContextState() has changed it since the last step: a barostat
     *  @throws OpenMMException if anyone else has, and a particle would be moved farther than setMaxProjection() */
    void projectState(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool positionsKnown,
                      bool velocitiesKnown, bool isOfAStep);
    ProjectionSettings projectionSettings(const ConstraintIntegrator& integrator) const;
    /** Position stage from x over a duration (ps), of a step or a part of it: delta in: unconstrained, out:
     * constrained, and the velocity with its impulse. Throws where it fails. */
    void solvePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                        Real3* delta, Real3* velocity, double duration);
    /** Velocity stage at positions x. Throws where it fails. */
    void solveVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                         Real3* velocity);
    /** Accelerations (nm/ps^2) at positions x with velocities v; in: without constraints. Throws where it fails. */
    void solveAccelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                            const Real3* v, Real3* acceleration, ForceMultipliers& multipliers,
                            const Stabilization& feedback = {});
    /** @throws OpenMMException if constraints drifted beyond the bound of an integrator that is explicit */
    void checkDrift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    [[noreturn]] void throwDrift(const SolveReport& drift, const ConstraintIntegrator& integrator) const;
    /** @throws ConstraintException naming the particle, if any coordinate of v [numParticles] is NaN or infinite */
    void requireFinite(const Real3* v, const char* what) const;
    /** @throws ConstraintException of a solve, which the record takes note of */
    [[noreturn]] void fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator);

    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** Of velocities [numParticles]: kJ/mol. */
    double kineticEnergy(const Real3* v) const;

    const StepScheme& scheme;
    std::vector<double> inverseMass; ///< [numParticles] 1/amu
    std::unique_ptr<ConstraintSolver> solver;
    std::unique_ptr<StepRecord> record;
    std::string activity;  // what is being done, for error messages
    double targetTime = 0; // of the targets of the stage at hand
    /** Steps since the kernel was made, those before a loaded checkpoint included; one that fails does not count. */
    std::uint64_t stepsTaken = 0;

private:
    /** The record, with nothing left to fetch. */
    StepRecord& lastStep() const {
        refreshReading();
        return *record;
    }
    /** Present values of the Context parameters that constraints depend on, as ConstraintSolver::getGlobals(). */
    std::vector<double> parameters(OpenMM::ContextImpl& context) const;
    std::vector<Real3> copyOf(const Real3* array) const {
        return {array, array + numParticles()};
    }
    /** What users ask for between steps begins with this. */
    void beginRequest(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const char* name);
    void takeSettings(const ConstraintIntegrator& integrator);
    /** How far velocities are behind the positions (ps). */
    double velocityTimeOffset(const ConstraintIntegrator& integrator) const {
        return scheme.velocityLag * integrator.getStepSize();
    }
    /** @return how far the farthest particle was moved (nm) */
    double projectContextPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Reach reach);
    void projectContextVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Project arrays [numParticles], the Context's or others. Throws where that fails.
     *  @return Kept or Projected */
    Projection projectPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x,
                                Reach reach);
    Projection projectTangent(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                              Real3* v);
    /** Take note of a projection. @throws ConstraintException if it is neither Kept nor Projected */
    void requireDone(const Projection& projection, Stage stage, const Real3* x, const Box& box,
                     const ConstraintIntegrator& integrator);
    /** What moves to the end of its range and is coupled to the constraint that could not be solved; -1: nothing. */
    int endingTargetOf(const SolveReport& report, const ConstraintIntegrator& integrator) const;

    std::unique_ptr<Projector> projector;
    std::vector<double> metParameters;   // those with which the positions last met the constraints
    std::uint64_t loadedFingerprint = 0; // of the state that a checkpoint was written at
};

} // namespace ConstraintPlugin

#endif
