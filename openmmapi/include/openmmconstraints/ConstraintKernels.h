// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KERNELS_H_
#define OPENMM_CONSTRAINTS_KERNELS_H_

#include "ConstraintIntegrator.h"
#include "openmm/KernelImpl.h"
#include "openmm/internal/ContextImpl.h"
#include <optional>

namespace ConstraintPlugin {

struct ConstraintSet;

/** Values of the Context parameters that constraints depend on, with which positions and velocities met the constraints
 * last. Kernels of a Context share it: children of a CompoundIntegrator have one state. */
struct MetParameters {
    /** None where others have set them since. */
    std::optional<std::vector<double>> ofPositions, ofVelocities;
    /** A kernel is setting the state, and no one else. */
    bool isOwnChange = false;

    void forget() {
        ofPositions.reset();
        ofVelocities.reset();
    }
};

/** What updateParametersInContext() says of changes that it cannot take. */
constexpr const char* otherThingsThanTargets =
    "updateParametersInContext: particles or the number of constraints changed, or which angles are 180 degrees and "
    "which bodies are linear or planar. Only lengths, angles, shapes and parameters may change; otherwise call "
    "Context.reinitialize(True).";

/** Takes a ConstraintIntegrator's steps on one platform. One abstract class serves all integrators; each has a kernel
 *  name of its own (IntegrateRattleStepName, ...), by which a platform's factory chooses the step. */
class IntegrateConstraintsStepKernel : public OpenMM::KernelImpl {
public:
    IntegrateConstraintsStepKernel(const std::string& name, const OpenMM::Platform& platform)
        : KernelImpl(name, platform) {
    }
    /** Called before initialize(). */
    void share(std::shared_ptr<MetParameters> parameters) {
        met = std::move(parameters);
    }
    /** @param constraints  every constraint of the System and its Forces; dependent ones are found here */
    virtual void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                            const ConstraintSet& constraints) = 0;
    /** Use new targets. @throws OpenMMException if anything else differs */
    virtual void setTargets(const ConstraintSet& constraints) = 0;
    /** Take steps. If the constraints cannot be solved, restore the last good state and throw OpenMMException. */
    virtual void execute(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps) = 0;
    /** @throws OpenMMException where Context parameters have changed since the positions met the constraints that
     *          depend on them, and with the present values they do not */
    virtual void requireProjected(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** Forces are computed. Where others than this kernel ask for them, as OpenMM's minimizer, which ignores
     * constraints of Forces, positions have to be near the constraints if they were set since the last step or
     * projection.
     *  @throws ConstraintException if a constraint of a Force needs a move farther than setMaxProjection() */
    virtual void requireNearConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    virtual double computeKineticEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** @param isAsked  false: OpenMM's minimizer may have called, which ignores constraints of Forces. If these are far
     *                  off, it throws
     *  @return the largest displacement of a particle (nm) */
    virtual double applyConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                    bool isAsked) = 0;
    virtual void applyVelocityConstraints(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** Project velocities [numParticles] (nm/ps), which are not the Context's, at the Context's positions. */
    virtual void projectVelocities(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                   std::vector<OpenMM::Vec3>& velocities) = 0;
    /** Discard the forces of the last step, because something other than positions, velocities and box has changed. */
    virtual void invalidateForces(bool stateToo) = 0;
    /** Positions were set, or velocities. */
    virtual void notePositions() = 0;
    virtual void noteVelocities() = 0;
    virtual SolverSummary getSummary() const = 0;
    /** All constraints, as they are solved. */
    virtual const ConstraintSet& getConstraints() const = 0;
    /** Multipliers [listed constraints] that the last step applied, as forces (kJ/mol/nm or kJ/mol/rad). */
    virtual std::vector<double> getMultipliers() const = 0;
    virtual std::vector<double> getVelocityMultipliers() const = 0;
    /** Forces [numParticles] (kJ/mol/nm) and virial [3 rows] (kJ/mol) of those of getMultipliers. */
    virtual void getConstraintForces(std::vector<OpenMM::Vec3>& forces, std::vector<OpenMM::Vec3>& virial) const = 0;
    /** Work (kJ/mol) that moving constraints have done. */
    virtual double getConstraintWork() const = 0;
    /** Of each [listed constraints], as far as it is that of one. */
    virtual std::vector<double> getConstraintWorks() const = 0;
    /** Heat (kJ/mol) from a heat bath. */
    virtual double getHeat() const = 0;
    /** Multipliers [listed constraints] at the present state. */
    virtual std::vector<double> computeMultipliers(OpenMM::ContextImpl& context,
                                                   const ConstraintIntegrator& integrator) = 0;
    /** See ConstraintIntegrator::computeParameterDerivatives. @return of parameters that constraints depend on */
    virtual std::map<std::string, double> computeParameterDerivatives(OpenMM::ContextImpl& context,
                                                                      const ConstraintIntegrator& integrator) = 0;
    /** See ConstraintIntegrator::computeBlueMoon. */
    virtual void computeBlueMoon(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                 const std::vector<int>& coordinates, std::vector<double>& multipliers,
                                 std::vector<double>& corrections, double& logZ) = 0;
    /** See ConstraintIntegrator::computePressure. @param[out] pressure, errors  bar, one number or 3x3 */
    virtual void computePressure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool ofTensor,
                                 std::vector<double>& pressure, std::vector<double>& errors) = 0;
    /** Number of independent constraints that move at least one particle, before positions are set.
     *  @throws OpenMMException if it depends on positions */
    virtual int getConstraintRank(OpenMM::ContextImpl& context) const = 0;
    /** The same at the Context's positions.
     *  @throws OpenMMException if it depends on positions, and those cannot be projected onto the constraints */
    virtual int findConstraintRank(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    virtual void createCheckpoint(std::ostream& stream) const = 0;
    /** @param systemMayDiffer  constraints may have been added or removed since, as before Context.reinitialize() */
    virtual void loadCheckpoint(std::istream& stream, bool systemMayDiffer) = 0;

protected:
    std::shared_ptr<MetParameters> met;
};

/** Context.applyConstraints() where the present integrator is of this library. */
void applyConstraintsForOpenMM(OpenMM::ContextImpl& context);
/** Context.applyVelocityConstraints(), likewise. Velocities fit the positions from which the next step will start.
 *  @param velocities  [numParticles] nm/ps */
void projectVelocitiesForOpenMM(OpenMM::ContextImpl& context, std::vector<OpenMM::Vec3>& velocities);

/** Particles that constraints and rigid bodies join, and how many degrees of freedom these take from them. */
struct RankOfGroup {
    std::vector<int> particles; ///< those with mass, ascending
    int rank = 0;
};

/** Solves the constraints of a Context in place of OpenMM's own algorithms, for integrators that are none of ours. */
class SolveConstraintsKernel : public OpenMM::KernelImpl {
public:
    static std::string Name() {
        return "SolveConstraints";
    }
    SolveConstraintsKernel(const std::string& name, const OpenMM::Platform& platform) : KernelImpl(name, platform) {
    }
    /** Replace the algorithms of the platform. @param constraints  as IntegrateConstraintsStepKernel's */
    virtual void initialize(OpenMM::ContextImpl& context, const ConstraintSet& constraints) = 0;
    /** Use new targets. @return false if anything else differs */
    virtual bool setTargets(const ConstraintSet& constraints) = 0;
    /** Before a step: bring positions onto the constraints, if others have changed them or a Context parameter.
     *  @return whether they were moved */
    virtual bool projectStart(OpenMM::ContextImpl& context) = 0;
    /** As IntegrateConstraintsStepKernel's, with a bound of 0.05 nm, at positions that the solver has not left. */
    virtual void requireNearConstraints(OpenMM::ContextImpl& context) = 0;
    /** Before the energy of a state is used.
     *  @throws ConstraintException if a solve has failed that led to it, and nobody has been told */
    virtual void requireSolved(OpenMM::ContextImpl&) {
    }
    /** Of the last call. */
    virtual SolverSummary getSummary() const = 0;
    /** Of what is coupled at the Context's positions, which are not changed. */
    virtual std::vector<RankOfGroup> findRanks(OpenMM::ContextImpl& context) = 0;
};

} // namespace ConstraintPlugin

#endif
