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
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

class ContextUse;
class IntegrateConstraintsStepKernel;
class KernelHold;
class MultipleTimeSteps;
struct ConstraintProblem;
struct ConstraintSet;
struct Diagnosis;
struct Start;
using ProblemReport = std::function<void(ConstraintProblem)>;

/** Abstract base of the integrators that solve the constraints of the System and of every ConstraintForce together.
 *
 *  It has what they share: the solver, its tolerance and limits, the summary of the last step, projection onto the
 *  constraints, and the degrees of freedom. The next step projects positions and velocities that violate the
 * constraints (after a change by a user, a barostat or another integrator). It throws if this would move a particle by
 * more than setMaxProjection() allows. A state within the tolerance is not changed by a single bit.
 *
 *  A step throws a ConstraintException if it does not converge, if constraints are singular or contradictory, if there
 * is a NaN, or if a Force's constraint between massless particles does not hold. The message contains particles, value,
 *  target, residual, iterations and a remedy. The Context then has the positions, velocities, time and step count of
 * the last successful step. The System's own constraints between massless particles are ignored, as OpenMM documents;
 * their multipliers are 0.
 *
 *  While one thread is in step(), or in another function that computes forces or changes the state, functions that need
 *  the Context throw in other threads. Functions that only get or set settings of this object do not.
 */
class ConstraintIntegrator : public OpenMM::Integrator {
public:
    /** How the multipliers of a cluster of coupled constraints are computed. */
    enum Solver {
        /** MatrixInversion, or Iterative for clusters whose factor would be too large (default). */
        Automatic = 0,
        /** SHAKE and RATTLE, one constraint at a time. Ryckaert, Ciccotti, Berendsen, J. Comput. Phys.
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
    /** Set the tolerance, an upper bound for the error of every constraint: relative for a distance, |q - q0|/q0; for
     *  velocities, |dq/dt| * stepSize / q0. Default: 1e-5.
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
    /** Number of iterations after which a solve throws. */
    int getMaxIterations() const {
        return maxIterations;
    }
    /** Set the number of iterations after which a solve throws (default: 500).
     *
     *  @param iterations  at least 1
     */
    void setMaxIterations(int iterations);
    /** Whether the Iterative solver starts from the multipliers of the last step. */
    bool getWarmStart() const {
        return warmStart;
    }
    /** Let the Iterative solver start from the multipliers of the last step (default: false). This saves a quarter of
     * its sweeps. But the errors below the tolerance then depend on earlier steps, so the integration is not reversible
     * in time and the energy rises. Combine it with a tolerance of 1e-7 or less.
     *
     *  @param yes  true to start from the last step's multipliers, false to start from zero
     */
    void setWarmStart(bool yes) {
        warmStart = yes;
    }
    /** Largest displacement of a particle when a step projects initial positions (nm). */
    double getMaxProjection() const {
        return maxProjection;
    }
    /** Set the largest displacement of a particle when a step projects positions that are not those of the last step:
     * after setPositions(), setState(), or a change of a target or Context parameter. If a particle would move farther,
     * step() throws, because such positions are usually a mistake, and a projection in one stage would break bonds.
     *  applyConstraints() has no such limit, but warns in Python. The moves of a barostat have none. Default: 0.05 nm.
     *
     *  @param distance  nm, positive
     *  @throws OpenMMException if it is not positive, or not finite
     */
    void setMaxProjection(double distance);
    /** Result of the solver in the last step. */
    SolverSummary getSolverSummary() const;
    /** The clusters of the constraints of a System, and the solver of each with the present setSolver(). It needs no
     *  Context. Largest clusters come first. Where positions decide how many of them are independent (see
     *  getNumDegreesOfFreedom()), those of this integrator's Context are taken. Constraints of groups are listed as
     * the "border", which joins no clusters; on OpenCL and CUDA small groups merge all clusters of their particles.
     *
     *  @param system  a System with valid constraints and ConstraintForces
     *  @throws OpenMMException where positions decide, and there is no Context of this System, or it has none
     */
    std::vector<ClusterInfo> getClusters(const OpenMM::System& system) const;
    /** Project the Context's positions onto the constraints, if they violate the tolerance, and place virtual sites.
     *
     *  If one solve fails, or would move a particle by more than 0.01 nm, the projection proceeds in stages: the values
     * of the constraints change from their present values to their targets, dihedrals in the shorter direction, while
     * bond lengths and the distances of second neighbours are kept. These are defined by HarmonicBondForce,
     * CustomBondForce, HarmonicAngleForce, CustomAngleForce and ConstraintForce::setBonds(). A bond or distance that
     * contradicts the constraints is released. In Python a RuntimeWarning says so if a particle was moved by more than
     * setMaxProjection(): set that to a longer way where such a move is meant.
     *
     *  @return the largest displacement of a particle (nm)
     *  @throws OpenMMException if the constraints cannot be satisfied; positions are then unchanged
     */
    double applyConstraints();
    /** Project the Context's velocities onto the constraints, if they violate the tolerance. */
    void applyVelocityConstraints();
    /** Multipliers lambda_k of the last step, as generalized forces: the force on particle i is sum_k lambda_k grad_i
     * q_k, with q a distance or an angle. The multiplier of a distance is positive if it pushes its particles apart.
     * The values are those of the position stage. With RattleIntegrator they are the impulse over half a step, which is
     * the constraint force at the start of the step to first order in the step size (the mean with the velocity
     * multiplier of the step before is of second order). With ShakeIntegrator they are the impulse over the step, to
     * second order.
     *
     *  @return [number of constraints] kJ/mol/nm for distances, kJ/mol/rad for angles and dihedrals, kJ/mol for
     *          coordination numbers; System constraints first, then each ConstraintForce's in System order: distances,
     *          angles, dihedrals, distances of centroids, coordination numbers; rigid bodies have no entry. For
     * redundant constraints: those of least norm, so that two of one coordinate have half of its force each. For an
     * angle of pi: the magnitude of its torque. Distances and angles that were recognized as a rigid body have the
     * multipliers of least norm that give the body's forces on its particles. In a linear or planar body, only
     * distances among the two or three particles that span it have multipliers, which carry the forces on all others;
     * the rest are 0. So are those of constraints that a rigid body of addRigidBody() holds (SolverSummary::absorbed):
     * getConstraintForces() has the body's forces
     *  @throws OpenMMException before the first step: computeMultipliers() has those of the present state
     */
    std::vector<double> getMultipliers() const;
    /** Multipliers of the velocity stage of the last step, as forces at its end: impulse over half a step. Zero where
     *  the integrator has no velocity stage.
     *
     *  @return [number of constraints] as getMultipliers()
     *  @throws OpenMMException before the first step, and with multiple time steps: getMultipliers() has the impulses
     *          of all stages then
     */
    std::vector<double> getVelocityMultipliers() const;
    /** Work that moving constraints have done on the system since the Context was created. The difference of two values
     * is the work in between. Total energy minus heat minus work is conserved up to the error of the time step.
     *
     *  Of constraints with a rate, or an expression that depends on t: the sum over steps of lambda_k * d xi_k0/dt *
     * stepSize, with the mean of the multipliers of both stages if there are two (RattleIntegrator: second order). If
     * velocities are half a step behind the positions (ShakeIntegrator, RattleLangevinIntegrator), so is the work.
     *
     *  Of constraints that Context.setParameter() moves: the energy after the projection, by the next step or
     * applyConstraints() and applyVelocityConstraints(), minus that before it. This is the potential energy of the
     * integrated force groups and the reported kinetic energy, both at the new value: what the parameter changes in
     * other Forces is not the constraints' work. A step that fails takes back what it counted.
     *
     *  Nothing is counted where positions or targets were set since the last step or projection: by setPositions(),
     * setState() or updateParametersInContext(); nor what setTime() moves, nor the kinetic energy of velocities that
     * were set.
     *
     *  @return kJ/mol
     */
    double getConstraintWork() const;
    /** The same of each constraint. getConstraintWork() is their sum, and what no single constraint has done: where
     * changes of Context parameters move several constraints at once, the energy belongs to them together. Also in the
     * sum only is what a checkpoint of an earlier version of this library, or of a Context with other constraints, has
     * summed up. Of constraints that depend on each other, those that are solved do the work.
     *
     *  @return [number of constraints] kJ/mol, as getMultipliers(); 0 for those that do not move
     */
    std::vector<double> getConstraintWorks() const;
    /** Constraint forces that belong to getMultipliers(): sum_k lambda_k grad_i q_k, with the gradients that the step
     *  used, those at its start.
     *
     *  @return [number of particles] kJ/mol/nm
     *  @throws OpenMMException before the first step
     */
    std::vector<OpenMM::Vec3> getConstraintForces() const;
    /** Virial tensor of the constraint forces, sum_k lambda_k sum_i r_i (x) grad_i q_k, from minimum-image separations.
     *
     *  @return 3 rows of 3, kJ/mol
     *  @throws OpenMMException before the first step
     */
    std::vector<OpenMM::Vec3> getConstraintVirial() const;
    /** Instantaneous multipliers at the present state, from forces, velocities and positions:
     *  (J M^-1 J^T) lambda = -(J M^-1 F + J-dot v). They do not depend on the step size. Velocities that are half a
     * step behind, as those of ShakeIntegrator and of RattleLangevinIntegrator without geodesic steps, are first
     * shifted to the time of the positions and projected. Forces are evaluated unless they are known.
     *
     *  @return [number of constraints] as getMultipliers()
     */
    std::vector<double> computeMultipliers();
    /** The constraints' part of the derivative of the free energy with respect to each Context parameter p that
     *  constraints depend on, at the present state: sum_k lambda_k dxi0_k/dp - sum_k lambda_k d sigma_k/dp, where xi0_k
     *  is the target of a distance, an angle or a dihedral, sigma_k an expression, and lambda_k as in
     *  computeMultipliers(). Its average over a run at constant p, plus that of the potential energy's derivative
     *  (openmm.State.getEnergyParameterDerivatives()), is dA/dp. There is no metric term: p changes the Hamiltonian of
     *  the constrained system.
     *  Source: Straatsma, Zacharias, McCammon, Chem. Phys. Lett. 196, 297 (1992), doi 10.1016/0009-2614(92)85971-C.
     *
     *  @return kJ/mol per unit of p, by the name of each parameter of Forces with constraints
     *  @throws OpenMMException if the positions have not been projected since a parameter was set, or an expression has
     *          no derivative: a discrete function of p
     */
    std::map<std::string, double> computeParameterDerivatives();
    /** Terms of the blue moon ensemble at the present state. For constraints that hold reaction coordinates xi_k fixed,
     * the derivative of the free energy is dA/dxi_k = <w (lambda_k + kT G_k)>/<w>, w = exp(-logZ/2), averaged over a
     *  constrained run, as openmmconstraints.BlueMoonReporter does. Other constraints (rigid bonds) are accounted for.
     *  Source: Carter, Ciccotti, Hynes, Kapral, Chem. Phys. Lett. 156, 472 (1989); Sprik, Ciccotti, J. Chem. Phys.
     *  109, 7737 (1998), with the sign of lambda of getMultipliers().
     *
     *  @param constraints       indices, in the order of getMultipliers(), of the constraints that hold xi_k
     *  @param[out] multipliers  lambda_k of each, as computeMultipliers()
     *  @param[out] corrections  G_k of each, 1/(unit of xi_k)
     *  @param[out] logZ         ln(|Z|/|Z_rest|), Z = J M^-1 J^T of all constraints, Z_rest of all but these
     *  @throws OpenMMException if there is no such constraint, if one depends on others, or if any constraint moves
     */
    void computeBlueMoon(const std::vector<int>& constraints, std::vector<double>& multipliers,
                         std::vector<double>& corrections, double& logZ);
    /** Instantaneous pressure (bar) at the present state, by scaling the positions of atoms with the box:
     *  P = (2 K + sum_i F_i.r_i + sum_k lambda_k sum_i r_i.grad_i q_k) / (3 V). K and lambda_k are those of the
     * velocities of computeSystemTemperature(), lambda_k instantaneous. The virial of the forces is the derivative of
     * the potential energy, -3V dU/dV, by central differences over changes of all lengths by 1e-3 and 5e-4 with
     * Richardson's extrapolation: four energies. Where molecules are finite, the average is the molecular pressure. It
     * exists for networks that span the box, too. The Context's state is the same afterwards, bit for bit. Source:
     * Tuckerman, Statistical Mechanics: Theory and Molecular Simulation (2010), section 5.6; with the constraint forces
     * among the forces: Ciccotti, Ryckaert, Comput. Phys. Rep. 4, 346 (1986), doi:10.1016/0167-7977(86)90022-5.
     *
     *  @param[out] error  bar: how far the differences over the two changes are apart
     *  @return bar
     *  @throws OpenMMException if there is no periodic box, or if something is fixed in space: massless particles that
     *          are no virtual sites, expressions of absolute coordinates, a CustomExternalForce
     */
    double computePressure(double& error);
    /** The pressure tensor, P_ab = (sum_i m_i v_a v_b + sum_i F_a r_b + ...) / V: one direction or shear of the box at
     * a time, 24 energies. A sheared box is brought back to OpenMM's reduced form. OpenCL and CUDA refuse to turn a
     *  rectangular box into a triclinic one; there the off-diagonal energies come from a Context on the CPU platform
     *  with the same System and state, which is made for each call.
     *
     *  @param[out] errors  3 rows of 3, bar
     *  @return 3 rows of 3, bar
     *  @throws OpenMMException as computePressure() does
     */
    std::vector<OpenMM::Vec3> computePressureTensor(std::vector<OpenMM::Vec3>& errors);
    /** Number of degrees of freedom: 3 per massive particle, less the rank of the constraints, less 3 if the System
     *  has a CMMotionRemover. Redundant constraints count once. Positions decide where rigid bodies, also those that
     *  are recognized from distances, are joined in a loop, and where redundant periodic constraints are in a ring
     * whose lengths add up to the smallest width of the box or more: the network may be bonded to its own image.
     *  @throws OpenMMException where positions decide and are not set, or cannot be projected onto the constraints */
    int getNumDegreesOfFreedom() const;
    /** Instantaneous temperature (K), 2 * kinetic energy / (degrees of freedom * k). */
    double computeSystemTemperature();
    /** Advance the simulation.
     *
     *  @param steps  the number of time steps to take
     *  @throws OpenMMException if the constraints cannot be solved (see above)
     */
    void step(int steps) override;
    /** How often force groups are evaluated in a step; null: once, all together. */
    virtual const MultipleTimeSteps* getMultipleTimeSteps() const {
        return nullptr;
    }

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
    /** The same, locked by this thread, for reading or for changing its state.
     *  @param name  the public function, for the exception if another thread uses the Context */
    KernelHold reading(const char* name) const;
    KernelHold working(const char* name) const;

private:
    friend class ConstraintForceImpl;
    friend void applyConstraintsForOpenMM(OpenMM::ContextImpl& context);
    friend void projectVelocitiesForOpenMM(OpenMM::ContextImpl& context, std::vector<OpenMM::Vec3>& velocities);
    friend Diagnosis diagnose(const OpenMM::System& system, const OpenMM::Integrator& integrator, const Start* start);
    /** Call a function with the kernel while no other thread uses the Context. Exceptions become OpenMMExceptions. */
    template <class Function>
    auto work(const char* name, Function function) const;
    /** Before any energy or force: see IntegrateConstraintsStepKernel. */
    void requireProjected();
    void requireNearConstraints();
    /** A ConstraintForce has new parameters. */
    void updateConstraints();
    /** The part of getMultipliers() that belongs to the Force with this index in the System. */
    std::vector<double> getMultipliersOf(int force) const;
    Solver solver = Automatic;
    int maxIterations = 500;
    bool warmStart = false;
    double maxProjection = 0.05;
    bool hasPositions = false;
    bool reinitialized = false; // whether neither a step nor a checkpoint followed a reinitialization
    mutable OpenMM::Kernel kernel;
    std::shared_ptr<ContextUse> use;
};

} // namespace ConstraintPlugin

#endif
