// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_HOST_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_HOST_STEP_KERNEL_H_

#include "ConstraintErrors.h"
#include "OpenMMVectors.h"
#include "ParameterWork.h"
#include "Projector.h"
#include "StepRecord.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <algorithm>
#include <limits>
#include <optional>

namespace ConstraintPlugin {

class KeptState;

/** Base class of the kernels of all integrators and platforms: everything but the time step, on the host and in double
 *  precision. It connects a Context with a Projector, for states that were changed outside of the steps, and with a
 *  StepRecord, for the results that users read. It raises exceptions for the failures that these report.
 *
 *  A platform implements the protected virtual functions, which access its state, and execute() and invalidateForces(),
 *  which take the steps. */
class HostStepKernel : public IntegrateConstraintsStepKernel {
public:
    HostStepKernel(const std::string& name, const OpenMM::Platform& platform)
        : IntegrateConstraintsStepKernel(name, platform), scheme(stepSchemeOf(name)) {
    }
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void setTargets(const ConstraintSet& constraints) override;
    void requireProjected(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void requireNearConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double applyConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                            bool isAsked) override;
    void applyVelocityConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void projectVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                           std::vector<OpenMM::Vec3>& velocities) override;
    SolverSummary getSummary() const override;
    const ConstraintSet& getConstraints() const override {
        return solver->getSet();
    }
    std::vector<double> getMultipliers() const override {
        return lastStepFor("getMultipliers()").multipliers();
    }
    std::vector<double> getVelocityMultipliers() const override {
        return lastStepFor("getVelocityMultipliers()").velocityMultipliers();
    }
    double getConstraintWork() const override;
    std::vector<double> getConstraintWorks() const override;
    double getHeat() const override {
        return lastStep().reading.heat;
    }
    void getConstraintForces(std::vector<OpenMM::Vec3>& forces, std::vector<OpenMM::Vec3>& virial) const override;
    std::vector<double> computeMultipliers(OpenMM::ContextImpl& context,
                                           const ConstraintIntegrator& integrator) override;
    std::map<std::string, double> computeParameterDerivatives(OpenMM::ContextImpl& context,
                                                              const ConstraintIntegrator& integrator) override;
    void computeBlueMoon(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                         const std::vector<int>& coordinates, std::vector<double>& multipliers,
                         std::vector<double>& corrections, double& logZ) override;
    void computePressure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool ofTensor,
                         std::vector<double>& pressure, std::vector<double>& errors) override;
    void notePositions() override {
        positionsAreNew = true;
        areNear = false;
        if (!met->isOwnChange)
            met->forget();
    }
    void noteVelocities() override {
        if (met->isOwnChange)
            return;
        velocitiesWereSet = true;
        met->ofVelocities.reset();
    }
    int getConstraintRank(OpenMM::ContextImpl& context) const override;
    int findConstraintRank(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void createCheckpoint(std::ostream& stream) const override;
    void loadCheckpoint(std::istream& stream, bool systemMayDiffer) override;

protected:
    // ---- functions that a platform implements ----

    /** The Context's positions (nm) and velocities (nm/ps), [numParticles] in the System's order, molecules whole.
     *  Valid until the next call of the same function or of its set function. */
    virtual const Real3* positions(OpenMM::ContextImpl& context) const = 0;
    virtual const Real3* velocities(OpenMM::ContextImpl& context) const = 0;
    /** They neither notify the integrator nor compute virtual sites. */
    virtual void setPositions(OpenMM::ContextImpl& context, const Real3* x) = 0;
    virtual void setVelocities(OpenMM::ContextImpl& context, const Real3* v) = 0;
    /** Forces (kJ/mol/nm, [numParticles]) at the present state. Valid until the next call. */
    virtual const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    virtual Box box(OpenMM::ContextImpl& context) const;
    /** Copy the state, and what is known of forces for the next step. */
    virtual std::unique_ptr<KeptState> keepState(OpenMM::ContextImpl& context) = 0;
    /** Whether the solver's constraints of centroids have a border, or merge clusters. */
    virtual Centroids centroids() const {
        return Centroids::Bordered;
    }
    /** Whether nobody else moves particles but by Context.setPositions(), of which the integrator hears. */
    virtual bool hearsOfMoves() const {
        return true;
    }
    /** Whether it may become triclinic, if it is not. */
    virtual bool canShearBox() const {
        return true;
    }
    /** Description of the solvers, for SolverSummary and error messages. */
    virtual std::string solverDescription() const;
    virtual double currentTime(OpenMM::ContextImpl& context) const;
    /** Relative rounding error of the positions that the platform stores. */
    virtual double positionEpsilon() const {
        return std::numeric_limits<double>::epsilon();
    }
    /** Bound of the forces (kJ/mol/nm) that the platform can store. */
    virtual double largestForce() const {
        return std::numeric_limits<double>::infinity();
    }
    /** Smallest tolerance that steps reach. It replaces a smaller tolerance of the integrator. */
    virtual double smallestTolerance() const {
        return 0;
    }
    /** Complete the record and the solver's impulses (from which a warm start begins) with the data of the last good
     *  step that the platform has not yet read. Called before they are read, and before they are changed other than by
     *  a step. The Context's state may have been exchanged by then. Evaluates no constraint. */
    virtual void refreshReading() const = 0;
    /** The kinetic energy of projected velocities (kJ/mol), where the platform computes it without the host. Changes
     *  neither the state nor the record. @return nothing where the host has to compute it */
    virtual std::optional<double> projectedKineticEnergy(OpenMM::ContextImpl&, const ConstraintIntegrator&) {
        return {};
    }
    /** fingerprintOf() the state after the last step; 0 if there was none, or if forgetLastState() was called since. */
    virtual std::uint64_t lastStateFingerprint() const = 0;
    /** Forget that the state after the last step satisfies the constraints, because the constraints or the state were
     *  exchanged: the next step calls projectState(). The record and the solver's impulses are complete afterwards;
     *  refreshReading() has nothing to add. */
    virtual void forgetLastState() = 0;
    /** The shapes of some bodies have become their mirror images (of joined ones, the solver's revision changed, too).
     */
    virtual void takeShapes() {
    }
    /** Write the state that only this integrator has, as raw bytes of a checkpoint (CheckpointIO.h), whose hash
     *  includes them. Nothing is written if there is none. */
    virtual void writeOwn(std::ostream&) const {
    }
    /** @param stream  the bytes of writeOwn(); not called for a checkpoint without them
     *  @throws OpenMMException if they do not fit this integrator */
    virtual void readOwn(std::istream&) {
    }
    /** The same from a checkpoint without these bytes.
     *  @param stream  after the part with a hash, where version 0.1 wrote a Nose-Hoover chain */
    virtual void readUnsealedOwn(std::istream&) {
    }

    // ---- functions that a step calls, in this order ----

    /** Whether Context parameters that constraints depend on are different from those with which the positions were
     *  projected last. If so, the state has to be projected before any part of a step computes an energy. */
    bool hasNewParameters(OpenMM::ContextImpl& context) const {
        return parameters(context) != metParameters;
    }
    /** Present values of the Context parameters that constraints depend on, as ConstraintSolver::getGlobals(). */
    std::vector<double> parameters(OpenMM::ContextImpl& context) const;
    /** Apply the integrator's settings, the time and the Context's parameters. */
    void prepare(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Whether the state is that of a loaded checkpoint, which satisfies the constraints. True only once per
     *  checkpoint. */
    bool isStateOfCheckpoint(OpenMM::ContextImpl& context);
    /** What is known of Context parameters and of velocities that were set, and the work of projections to new
     * parameters: to be restored with the state that was there before, if a step fails. */
    struct ParameterRecord {
        ParameterWork work;
        MetParameters met;
        std::vector<double> metParameters;
        bool velocitiesWereSet;
    };
    ParameterRecord parameterRecord() const {
        return {parameterWork, *met, metParameters, velocitiesWereSet};
    }
    void restore(const ParameterRecord& record);
    /** The potential energy (kJ/mol) of the force groups that the integrator takes, wherever the positions are. */
    virtual double potentialEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Project the state before a step, except for the parts that are known to satisfy the constraints.
     *  @param positionsKnown   positions and box (and with moving constraints, the time) are those of the last step
     *  @param velocitiesKnown  so are the velocities
     *  @param isOfAStep        since the last step only updateContextState() has changed it, that is, a barostat
     *  @throws OpenMMException if it was changed otherwise, and a particle would be moved farther than
     *  setMaxProjection() */
    void projectState(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool positionsKnown,
                      bool velocitiesKnown, bool isOfAStep);
    ProjectionSettings projectionSettings(const ConstraintIntegrator& integrator) const;
    /** Position stage from x over a duration (ps), of a step or a part of it: delta in: unconstrained, out:
     *  constrained; the impulse is added to the velocity. Throws if it fails. */
    void solvePositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                        Real3* delta, Real3* velocity, double duration);
    /** Velocity stage at positions x. Throws if it fails. */
    void solveVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                         Real3* velocity);
    /** Accelerations (nm/ps^2) at positions x with velocities v; in: without constraints. Throws if it fails. */
    void solveAccelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                            const Real3* v, Real3* acceleration, ForceMultipliers& multipliers,
                            const Stabilization& feedback = {});
    /** @throws OpenMMException if constraints drifted beyond the bound of an integrator with an explicit constraint
     *  force */
    void checkDrift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    [[noreturn]] void throwDrift(const SolveReport& drift, const ConstraintIntegrator& integrator) const;
    /** @throws ConstraintException naming the particle, if any coordinate of v [numParticles] is NaN or infinite */
    void requireFinite(const Real3* v, const char* what) const;
    /** Call in a catch block, with the state back from which a step or a projection began.
     *  @throws ConstraintException instead, if the cause can be seen there: what is not finite, or in a step a force
     *  that is not, or neighbours in an angle or a dihedral that become straight */
    void explainFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Record a failed solve and raise its exception. @throws ConstraintException */
    [[noreturn]] void fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator);

    int numParticles() const {
        return (int) inverseMass.size();
    }
    /** Of velocities [numParticles]: kJ/mol. */
    double kineticEnergy(const Real3* v) const;

    /** While it lives, forces or an energy are computed for a step or a reading. */
    class OwnForces {
    public:
        explicit OwnForces(HostStepKernel& kernel) : isAsking(kernel.asksForForces) {
            isAsking = true;
        }
        ~OwnForces() {
            isAsking = false;
        }
        OwnForces(const OwnForces&) = delete;
        OwnForces& operator=(const OwnForces&) = delete;

    private:
        bool& isAsking;
    };

    const StepScheme& scheme;
    bool hasThermostat = false;      ///< one that changes velocities of single particles between steps
    std::vector<double> inverseMass; ///< [numParticles] 1/amu
    std::unique_ptr<ConstraintSolver> solver;
    std::unique_ptr<StepRecord> record;
    std::string activity;  // the present operation, for error messages
    double targetTime = 0; // of the targets of the present stage
    /** Successful steps since the kernel was made, including those before a loaded checkpoint. */
    std::uint64_t stepsTaken = 0;

private:
    /** The complete record. */
    StepRecord& lastStep() const {
        refreshReading();
        return *record;
    }
    /** Of a step that was taken. @throws OpenMMException if there was none. @param what  is read */
    StepRecord& lastStepFor(const char* what) const {
        StepRecord& step = lastStep();
        step.requireStep(what);
        return step;
    }
    std::vector<Real3> copyOf(const Real3* array) const {
        return {array, array + numParticles()};
    }
    static bool differs(const std::optional<std::vector<double>>& met, const std::vector<double>& now) {
        return met.has_value() && *met != now;
    }
    /** Note that the Context's state is that of the loaded checkpoint. @return whether it is, bit for bit */
    bool recognizeCheckpoint(OpenMM::ContextImpl& context);
    /** The energy (kJ/mol) that a projection of the positions may change: the potential energy if they move, and the
     * kinetic energy where velocities are projected when it is read, and nobody else has set them.
     *  @param globals  with which the constraints are met */
    double energyOfPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool theyMove,
                             const std::vector<double>& globals);
    /** Of velocities shifted to the time of the positions and projected, as reported. */
    double kineticEnergyWith(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                             const std::vector<double>& globals);
    /** Count the work of a projection of the Context's velocities. @param energy  kJ/mol, before @param v  after */
    void countVelocities(double energy, const Real3* v);
    /** Count the work (kJ/mol) of a projection from these Context parameters to those of the solver. */
    void countWork(const std::vector<double>& before, double work);
    /** Shift velocities [numParticles] to the time of the positions, where the reported kinetic energy is that. */
    void addShift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v);
    /** Velocities [numParticles] whose kinetic energy is reported: shifted to the time of the positions where the
     * scheme says so, and projected. */
    std::vector<OpenMM::Vec3> reportedVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** 3x3 kJ/mol: sum_i m_i v_i (x) v_i + W, W the virial of the constraint forces at the present state with these
     *  velocities. */
    std::array<double, 9> computeMotionAndConstraints(OpenMM::ContextImpl& context,
                                                      const ConstraintIntegrator& integrator);
    /** Called first by every public function that is not a step. */
    void beginRequest(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const char* name);
    void takeSettings(const ConstraintIntegrator& integrator);
    /** Make recognized bodies the mirror images that the Context's positions have. Steps and barostats leave them what
     *  they are, so only positions that others set decide. */
    void matchMirrorImages(OpenMM::ContextImpl& context);
    /** Have the independent constraints chosen again where positions decide and others were set since. */
    void takeNewPositions(OpenMM::ContextImpl& context);
    /** Time by which velocities lag behind the positions (ps). */
    double velocityTimeOffset(const ConstraintIntegrator& integrator) const {
        return scheme.velocityLag * integrator.getStepSize();
    }
    /** @return the largest displacement of a particle (nm) */
    double projectContextPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Reach reach,
                                   bool isAsked = true);
    void projectContextVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Velocities that others have set, where they lag behind the positions: those of a State of such an integrator
     *  leave the tangent space by the turn of the constraints in half a step, and stay. What is farther off is
     * projected: the first step would answer it by an impulse, and count that among its forces. */
    void projectLaggingVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Note that positions are near the constraints. */
    void noteNearness(OpenMM::ContextImpl& context);
    /** Whether they are known to be, because nothing but steps has moved them or changed targets and box. */
    bool isStillNear(OpenMM::ContextImpl& context) const;
    /** Project arrays [numParticles], of the Context or others. Throws if that fails.
     *  @return Kept or Projected */
    Projection projectPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x,
                                Reach reach);
    Projection projectTangent(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                              Real3* v);
    /** Record a projection. @throws ConstraintException if it is neither Kept nor Projected */
    void requireDone(const Projection& projection, Stage stage, const Real3* x, const Box& box,
                     const ConstraintIntegrator& integrator);
    SolveCircumstances circumstances(const ConstraintIntegrator& integrator) const;

    std::unique_ptr<Projector> projector;
    std::vector<double> metParameters; // with which the positions were projected last
    ParameterWork parameterWork;
    std::uint64_t loadedFingerprint = 0; // of the state of the loaded checkpoint
    bool mayHavePressure = false;        // what has none was looked for
    bool mayBeMirrored = false;          // some bodies
    bool positionsAreNew = true;         // since the independent constraints were chosen
    bool velocitiesWereSet = true;       // since a step began
    bool asksForForces = false;          // OwnForces
    bool shapesAreNew = true;            // positions have not decided yet which mirror images they are
    bool areNear = false;                // positions were found to be near the constraints, and nobody has set others
    Box nearBox;                         // in which they were
    double nearTime = 0;                 // ps, likewise
};

} // namespace ConstraintPlugin

#endif
