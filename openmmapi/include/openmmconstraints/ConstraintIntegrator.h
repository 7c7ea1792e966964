// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_INTEGRATOR_H_

#include "SolverSummary.h"
#include "openmm/Integrator.h"
#include "openmm/Kernel.h"
#include "openmm/State.h"
#include "openmm/Vec3.h"
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

class ContextUse;
class IntegrateConstraintsStepKernel;
class KernelHold;
struct ConstraintProblem;
struct ConstraintSet;
struct Diagnosis;
struct Start;
using ProblemReport = std::function<void(ConstraintProblem)>;

/** Abstract base of the integrators that solve the System's constraints and every ConstraintForce's jointly.
 *
 *  It carries what they share: the solver, its tolerance and limits, the summary of the last step, projection onto
 *  the constraints, and the degrees of freedom. Positions and velocities that violate the constraints (as a user, a
 *  barostat or another integrator may leave them) are projected at the start of the next step, unless that would move a
 *  particle far (setMaxProjection()); a state within the tolerance is left bit for bit as it is.
 *
 *  Never silent: non-convergence, a singular or contradictory set of constraints, a NaN, or a Force's constraint
 *  between massless particles at the wrong distance throw a ConstraintException that names particles, value, target,
 *  residual, iterations and a remedy. Positions and velocities, time and step count are then those of the last good
 *  step. The System's own constraints between massless particles are ignored, as OpenMM documents; their multipliers
 *  are 0.
 *
 *  While one thread is in step(), or in another function that computes forces or changes the state, every function that
 *  needs the Context throws in other threads and says so, except what only gets or sets this object's own settings.
 */
class ConstraintIntegrator : public OpenMM::Integrator {
public:
    /** How the multipliers of a cluster of coupled constraints are found. */
    enum Solver {
        /** MatrixInversion wherever its factor is affordable, Iterative elsewhere (default). */
        Automatic = 0,
        /** SHAKE and RATTLE, one constraint in turn. Ryckaert, Ciccotti, Berendsen, J. Comput. Phys.
         *  23, 327 (1977); Andersen, J. Comput. Phys. 52, 24 (1983). Linear convergence. */
        Iterative = 1,
        /** Newton's method, all constraints of a cluster at once: closed forms for 1 to 3 constraints, dense LU for
         *  small clusters, sparse LU and LDLT for large ones. Quadratic convergence. */
        MatrixInversion = 2
    };
    /** The solver that was chosen: Automatic unless setSolver() was called. */
    Solver getSolver() const {
        return solver;
    }
    /** Choose the solver. May be changed between steps.
     *
     *  @param solver  Automatic, Iterative or MatrixInversion
     */
    void setSolver(Solver solver);
    /** Set the tolerance that the worst constraint has to meet: relative for a distance, |q - q0|/q0; for velocities,
     *  |dq/dt| * stepSize / q0. Default: 1e-5.
     *
     *  @param tolerance  dimensionless, at least 1e-14
     *  @throws OpenMMException if it is not a number or below the floor of double precision
     */
    void setConstraintTolerance(double tolerance) override;
    /** Set the step size.
     *
     *  @param size  the step size (ps), 0 or at least 1e-150: multipliers are divided by its square
     *  @throws OpenMMException if it is negative, between 0 and 1e-150 or not a number
     */
    void setStepSize(double size) override;
    /** Number of iterations after which a solve is given up. */
    int getMaxIterations() const {
        return maxIterations;
    }
    /** Set the number of iterations after which a solve is given up with an exception (default: 500).
     *
     *  @param iterations  at least 1
     */
    void setMaxIterations(int iterations);
    /** Whether the Iterative solver starts from the multipliers of the last step. */
    bool getWarmStart() const {
        return warmStart;
    }
    /** Let the Iterative solver start from the multipliers of the last step (default: false). That saves a quarter of
     *  its sweeps, but what is left below the tolerance then depends on the past, which breaks time reversal: the
     *  energy rises. Combine it with a tolerance of 1e-7 or less.
     *
     *  @param yes  true to start from the last step's multipliers, false to start from zero
     */
    void setWarmStart(bool yes) {
        warmStart = yes;
    }
    /** How far a step may move a particle of a start onto the constraints (nm). */
    double getMaxProjection() const {
        return maxProjection;
    }
    /** Set how far a step may move a particle onto the constraints where the state is not what the last step left:
     *  after setPositions(), setState(), a changed target or Context parameter. Farther, step() throws: what is that
     * far off is mostly a mistake, and moved in one go it breaks bonds. applyConstraints() has no such limit, and what
     * a barostat has moved has none either. Default: 0.05 nm.
     *
     *  @param distance  nm, positive
     *  @throws OpenMMException if it is not positive, or not finite
     */
    void setMaxProjection(double distance);
    /** What the solver did in the last step. */
    SolverSummary getSolverSummary() const;
    /** Which clusters the constraints of a System form and what serves them under the present setSolver(), without
     *  any Context. Largest clusters first.
     *
     *  @param system  a System, its constraints and ConstraintForces valid
     */
    std::vector<ClusterInfo> getClusters(const OpenMM::System& system) const;
    /** Project the Context's positions onto the constraints, if they violate the tolerance, and place virtual sites.
     *
     *  Where one solve fails, or would move a particle by more than 0.01 nm, it goes in stages: the values of the
     *  constraints go from what they are to what they should be, dihedrals the shorter way round, while bonds and the
     *  distances of second neighbours stay as they are. Those are what HarmonicBondForce, CustomBondForce,
     *  HarmonicAngleForce, CustomAngleForce and ConstraintForce::setBonds() join; any that the constraints themselves
     * contradict are let go.
     *
     *  @return how far the farthest particle was moved (nm)
     *  @throws OpenMMException if the constraints cannot be met; positions are then as they were
     */
    double applyConstraints();
    /** Project the Context's velocities onto the constraints, if they violate the tolerance. */
    void applyVelocityConstraints();
    /** Multipliers lambda_k that the last step applied, as generalized forces: the force on particle i is
     *  sum_k lambda_k grad_i q_k, q a distance or an angle. Positive for a distance that pushes its particles apart.
     *  From the position stage: RattleIntegrator's is its impulse over half a step, the constraint force at the start
     * of the step, to first order in the step size (its mean with the velocity multiplier of the step before, to
     * second); ShakeIntegrator's is its impulse over the step, to second order. Zero before the first step.
     *
     *  @return [number of constraints] kJ/mol/nm for distances, kJ/mol/rad for angles and dihedrals; System constraints
     *          first, then each ConstraintForce's in System order: distances, angles, dihedrals; rigid bodies have no
     *          entry. Where constraints depend on each other: those of least norm. An angle of pi has the size of its
     *          torque. Where a straight or flat set was recognized, the distances among its base particles have
     *          multipliers and the rest 0
     */
    std::vector<double> getMultipliers() const;
    /** Multipliers of the velocity stage of the last step, as forces at its end: impulse over half a step. Zero where
     *  the integrator has no velocity stage.
     *
     *  @return [number of constraints] as getMultipliers()
     */
    std::vector<double> getVelocityMultipliers() const;
    /** Work that moving constraints (a rate, an expression's t) have done on the system since the Context was created:
     *  the sum over steps of lambda_k * d xi_k0/dt * stepSize, with the mean of both stages where there are two
     *  (RattleIntegrator: second order). Where velocities are half a step behind the positions (ShakeIntegrator,
     *  RattleLangevinIntegrator), so is the work. The difference of two readings is the work in between.
     *
     *  @return kJ/mol
     */
    double getConstraintWork() const;
    /** Constraint forces that belong to getMultipliers(): sum_k lambda_k grad_i q_k, with the gradients that the step
     *  used, those at its start.
     *
     *  @return [number of particles] kJ/mol/nm
     */
    std::vector<OpenMM::Vec3> getConstraintForces() const;
    /** Virial tensor of the constraint forces, sum_k lambda_k sum_i r_i (x) grad_i q_k, from minimum-image separations.
     *
     *  @return 3 rows of 3, kJ/mol
     */
    std::vector<OpenMM::Vec3> getConstraintVirial() const;
    /** Instantaneous multipliers at the present state, exact whatever the step size: from forces, velocities and
     *  positions, (J M^-1 J^T) lambda = -(J M^-1 F + J-dot v). ShakeIntegrator's velocities are first taken to the time
     *  of the positions. Costs a force evaluation where the forces are not at hand.
     *
     *  @return [number of constraints] as getMultipliers()
     */
    std::vector<double> computeMultipliers();
    /** What the blue moon ensemble needs at the present state: a free energy's derivative along constraints that hold
     *  reaction coordinates xi_k fixed is dA/dxi_k = <w (lambda_k + kT G_k)>/<w>, w = exp(-logZ/2), averaged over a
     *  constrained run; openmmconstraints.BlueMoonReporter does that. Other constraints (rigid bonds) are accounted
     * for. Source: Carter, Ciccotti, Hynes, Kapral, Chem. Phys. Lett. 156, 472 (1989); Sprik, Ciccotti, J. Chem. Phys.
     *  109, 7737 (1998), with the sign of lambda that getMultipliers() has.
     *
     *  @param constraints       indices, in the order of getMultipliers(), of the constraints that hold xi_k
     *  @param[out] multipliers  lambda_k of each, as computeMultipliers()
     *  @param[out] corrections  G_k of each, 1/(unit of xi_k)
     *  @param[out] logZ         ln(|Z|/|Z_rest|), Z = J M^-1 J^T of all constraints, Z_rest of all but these
     *  @throws OpenMMException if there is no such constraint, if one depends on others, or if any constraint moves
     */
    void computeBlueMoon(const std::vector<int>& constraints, std::vector<double>& multipliers,
                         std::vector<double>& corrections, double& logZ);
    /** Number of degrees of freedom: 3 per massive particle, less the rank of the constraints, less 3 if the System
     *  has a CMMotionRemover. Dependent constraints count once. */
    int getNumDegreesOfFreedom() const;
    /** Instantaneous temperature (K), 2 * kinetic energy / (degrees of freedom * k). */
    double computeSystemTemperature();
    /** Advance the simulation.
     *
     *  @param steps  the number of time steps to take
     *  @throws OpenMMException if the constraints cannot be solved (see above)
     */
    void step(int steps) override;

protected:
    explicit ConstraintIntegrator(double stepSize);
    /** Name of the kernel that takes this integrator's step. */
    virtual std::string getStepKernelName() const = 0;
    /** Report constraints that this integrator cannot hold, when a Context is created and when parameters change. */
    virtual void checkSupported(const ConstraintSet&, const ProblemReport&) const {
    }
    void initialize(OpenMM::ContextImpl& context) override;
    void cleanup() override;
    std::vector<std::string> getKernelNames() override;
    void stateChanged(OpenMM::State::DataType changed) override;
    double computeKineticEnergy() override;
    bool kineticEnergyRequiresForce() const override {
        return false;
    }
    std::vector<OpenMM::Vec3> getVelocitiesForTemperature(const OpenMM::System& system, double temperature,
                                                          int randomSeed) const override;
    void createCheckpoint(std::ostream& stream) const override;
    void loadCheckpoint(std::istream& stream) override;

    void requireContext(bool positionsToo) const;
    /** The kernel that takes the steps of the Context. */
    IntegrateConstraintsStepKernel& stepKernel() const;
    /** The same, held by this thread, to read from, or to change its state.
     *  @param name  what users call, for the exception where another thread works with the Context */
    KernelHold reading(const char* name) const;
    KernelHold working(const char* name) const;

private:
    friend class ConstraintForceImpl;
    friend Diagnosis diagnose(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start* start);
    /** Call a function with the kernel while nobody else uses the Context; what it throws becomes an OpenMMException.
     */
    template <class Function>
    auto work(const char* name, Function function) const;
    /** Before any energy or force: see IntegrateConstraintsStepKernel. */
    void requireProjected();
    /** A ConstraintForce has new parameters. */
    void updateConstraints();
    /** The part of getMultipliers() that belongs to the Force with this index in the System. */
    std::vector<double> getMultipliersOf(int force) const;
    Solver solver = Automatic;
    int maxIterations = 500;
    bool warmStart = false;
    double maxProjection = 0.05;
    bool hasPositions = false;
    bool reinitialized = false; // and neither stepped nor loaded since
    mutable OpenMM::Kernel kernel;
    std::shared_ptr<ContextUse> use;
};

} // namespace ConstraintPlugin

#endif
