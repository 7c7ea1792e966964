// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HOSTED_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_HOSTED_STEP_KERNEL_H_

#include "ConstraintErrors.h"
#include "ConstraintSolver.h"
#include "StepScheme.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <cstdint>
#include <limits>
#include <memory>

namespace ConstraintPlugin {

/** What the kernels of all integrators and platforms share: everything but the time step, on the host and in double
 *  precision. Projections of states that someone else left, kinetic energies that need one, readings, checkpoints and
 *  the translation of failures.
 *
 *  A platform gives access to its state by the protected virtual functions, and takes the steps: execute(),
 *  invalidateForces(). */
class HostedStepKernel : public IntegrateConstraintsStepKernel {
public:
    HostedStepKernel(const std::string& name, const OpenMM::Platform& platform)
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
    std::vector<double> getMultipliers() const override;
    std::vector<double> getVelocityMultipliers() const override;
    double getConstraintWork() const override;
    double getHeat() const override;
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
    /** Complete `reading`, `summary` and the solver's multipliers (a warm start's) with what the platform has not
     *  fetched of the last good step. Called before any of them is read, and before anything but a step changes
     *  them; by then someone may have exchanged the Context's state. Evaluates no constraint. */
    virtual void refreshReading() const = 0;
    /** fingerprintOf() the state that the last step left, 0 where there is none or forgetLastState() was called since.
     */
    virtual std::uint64_t lastStateFingerprint() const = 0;
    /** The state that the last step left may be off the constraints from now on, whether it is still there or not,
     *  because they or it were exchanged: the next step has to call projectState(). What a checkpoint had is in
     *  `reading`, `summary` and the solver's multipliers, and nothing is left to fetch. */
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
    /** The step at hand has solved nothing yet. */
    void resetSummary();
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
    /** Error from which on a state is projected before a step. */
    double projectionThreshold(const ConstraintIntegrator& integrator) const;
    /** @throws OpenMMException where a constraint cannot have its target at a time (ps) */
    void checkMovingTargets(const Box& box, double time) const;
    /** @throws OpenMMException where the box is too small for the minimum image of a length */
    void checkPeriodicLengths(const Box& box, double time) const;
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
    [[noreturn]] void throwNotFinite(const char* what, int particle) const;
    /** Take a stage's report into the summary of the step. */
    void note(const SolveReport& report);
    /** Complete the report of a failed position stage by how far a bond would turn freely over a duration (ps) from
     *  positions x with velocities v. */
    void noteRotation(SolveReport& report, const Real3* x, const Real3* v, const Box& box, double duration) const;
    [[noreturn]] void fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator);
    /** A step succeeded: what is read from now on is its, the rest of
     *  `reading` now or in refreshReading(). */
    void noteStep(double startTime, double endTime, const Box& box);
    /** Add the work of moving constraints in the step that was noted, its multipliers and positions read. The heat of
     *  the step takes the opposite of what the velocities' change in a heat bath adds to it.
     *  @param end  positions [numParticles] at its end */
    void addWork(const Real3* end, double dt);

    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** Of velocities [numParticles]: kJ/mol. */
    double kineticEnergy(const Real3* v) const;
    /** Where velocity errors are measured: the step size; where that is zero, a femtosecond. */
    static double velocityTimeScale(const ConstraintIntegrator& integrator) {
        return integrator.getStepSize() > 0 ? integrator.getStepSize() : 0.001;
    }
    /** FNV-1a of a state's bits. */
    std::uint64_t fingerprintOf(const Real3* x, const Real3* v, const Box& box, double time) const;

    /** What users read of the last good step. */
    struct Reading {
        ForceMultipliers multipliers, velocityMultipliers; // of the position and the velocity stage
        /** [numParticles] velocities before a heat bath in the middle of the drift less those after it, as long as what
         *  that adds is not in the multipliers; else empty */
        std::vector<Real3> velocityChange;
        std::vector<Real3> positions;    // where the position stage took gradients
        std::vector<Real3> endPositions; // the last stage's
        Box box;
        double time = 0, endTime = 0;
        double work = 0;             // of moving constraints, since the Context was created
        double heat = 0;             // from a heat bath, likewise
        std::vector<double> globals; // Context parameters that expressions depend on, as ConstraintSolver::getGlobals()
    };

    const StepScheme& scheme;
    std::vector<double> inverseMass; ///< [numParticles] 1/amu
    std::unique_ptr<ConstraintSolver> solver;
    std::string activity;          // what is being done, for error messages
    mutable SolverSummary summary; // of the last step; what describes the graph, getSummary() fills in
    mutable Reading reading;
    double targetTime = 0; // of the targets of the stage at hand
    /** Steps since the kernel was made, those before a loaded checkpoint included; one that fails does not count. */
    std::uint64_t stepsTaken = 0;

private:
    /** What is read when the constraints' parameters have changed since the last step: all of it as it was then. */
    struct FrozenReading {
        std::vector<double> multipliers, velocityMultipliers; // [listed constraints]
        std::vector<OpenMM::Vec3> forces, virial;
    };
    /** Context parameters in expressions have other values for as long as it lives, as in the last step. */
    class WithGlobals;
    /** What a checkpoint holds besides OpenMM's own. */
    struct CheckpointRecord {
        Impulses impulses;
        double stepSize;
        std::uint64_t fingerprint;
        Reading reading;
        SolverSummary summary;

        template <class Exchange>
        void exchange(const Exchange& field);
    };
    [[noreturn]] void throwOffParameters(const SolveReport& report, const std::vector<double>& now, double bound) const;
    /** Present values of the Context parameters that constraints depend on, as ConstraintSolver::getGlobals(). */
    std::vector<double> parameters(OpenMM::ContextImpl& context) const;
    std::vector<Real3> copyOf(const Real3* array) const {
        return {array, array + numParticles()};
    }
    /** What users ask for between steps begins with this. */
    void beginRequest(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const char* name);
    void takeSettings(const ConstraintIntegrator& integrator);
    /** Refresh the reading, and add to its multipliers what the change of velocities in a heat bath asks of them:
     *  half of the drift has the velocities v1 before the bath and half v2 after it, so that the position stage answers
     *  the centripetal term of their mean, and 1/2 |v1|^2 + 1/2 |v2|^2 = |(v1 + v2)/2|^2 + 1/4 |v1 - v2|^2. */
    void completeReading() const;
    /** Multipliers by listed constraint, from those by constraint. */
    std::vector<double> listed(const ForceMultipliers& multipliers) const;
    /** How far velocities are behind the positions (ps). */
    double velocityTimeOffset(const ConstraintIntegrator& integrator) const {
        return scheme.velocityLag * integrator.getStepSize();
    }
    /** How far a projection may go. */
    enum class Reach {
        Bounded,   ///< unasked, of a state that no step left: as far as setMaxProjection() allows
        Unbounded, ///< as far as a solve takes it
        Staged     ///< asked for: any distance, in stages where one solve would break bonds
    };
    /** @return how far the farthest particle was moved (nm) */
    double projectContextPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Reach reach);
    void projectContextVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Return positions x to the constraints. @return false if they were within the tolerance, and are unchanged */
    bool projectPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x, Reach reach);
    /** Take positions x [numParticles] onto the constraints: in one solve, with the gradients of where they are;
     *  @return how that went, x unchanged if it failed */
    SolveReport solveAtOnce(const ConstraintIntegrator& integrator, std::vector<Real3>& x, const Box& box);
    /** ... or with gradients that are renewed on the way, where that fails; */
    SolveReport solveAnyhow(const ConstraintIntegrator& integrator, std::vector<Real3>& x, const Box& box);
    /** ... or in stages with bonds held, where one solve fails or takes a particle far. */
    SolveReport solveInStages(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                              std::vector<Real3>& x, const Box& box);
    struct Move {
        int particle = -1;
        double distance = 0; // nm
    };
    static Move farthestMove(const std::vector<Real3>& from, const std::vector<Real3>& to);
    void checkRank(const Real3* x, const Box& box);
    /** @param before  worst of the positions x
     *  @param after   how solving went, to the positions `there`
     *  @throws OpenMMException if that takes a particle farther than setMaxProjection(), or would if it had gone well
     */
    void refuseFarOff(const ConstraintIntegrator& integrator, const SolveReport& before, const SolveReport& after,
                      const std::vector<Real3>& x, const std::vector<Real3>& there, const Box& box) const;
    /** @throws OpenMMException naming a particle so far from the origin that rounding of its coordinates (nm) exceeds
     *          what a constraint holds; there squares overflow sooner or later, and any state would pass as rounded */
    void requireResolved(const Real3* x) const;
    /** What moves to the end of its range and is coupled to the constraint that could not be solved; -1: nothing. */
    int endingTargetOf(const SolveReport& report, const ConstraintIntegrator& integrator) const;
    /** Return velocities v to the tangent space at x. @return false if they were in it, and are unchanged */
    bool projectTangent(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x, Real3* v);
    /** What rounding of the positions alone may add to a solved constraint's error. */
    double roundingSlack(const Real3* x) const;
    /** The same of a rate of change, in units of the tolerance. */
    double roundingSlack(const Real3* x, const Real3* v, double timeScale) const;
    /** The smallest of what errors are relative to, nm or rad. */
    double shortestScale() const;

    std::unique_ptr<FrozenReading> frozen; // until the next step
    std::vector<double> metParameters;     // those with which the positions last met the constraints
    bool rankChecked = false;
    std::uint64_t loadedFingerprint = 0; // of the state that a checkpoint was written at
    double lastStepSize = 0;
    int maxIterations = 0;
};

} // namespace ConstraintPlugin

#endif
