// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_INTEGRATOR_H_

#include "ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Velocity Verlet with the explicit constraint force. Multipliers are computed from forces, velocities and positions,
 * by matrix inversion, and the constraint force is integrated like any other force, without an iteration to sigma = 0.
 *
 *    a(r, v, f) = 1/m (f + sum_k lambda_k grad sigma_k(r)),  lambda such that
 *                 J a + J-dot v + 2 alpha (J v + d sigma/dt) + beta^2 sigma = 0
 *    r(t+dt)    = r + dt v + dt^2/2 a(r, v, f)
 *    v(t+dt)    = v + dt/2 [a(r, v, f) + a(r(t+dt), v + dt a(r, v, f), f(t+dt))]
 *
 *  Second order, one force evaluation a step, not reversible in time. Constraints hold only to the accuracy of the
 *  integration, so they drift; the feedback (alpha, beta) reduces the drift. A drift beyond getMaxDrift() throws. An
 * initial state within that bound is not changed; one beyond it is projected before the step. getMultipliers() and
 *  getConstraintForces() report exactly lambda at the start of the step, getVelocityMultipliers() that at its end. Use
 *  this integrator for comparison, for checks of other integrators, and if a constraint force must be a function of the
 *  state; RattleIntegrator is better for production.
 *  Source: Baumgarte, Comput. Methods Appl. Mech. Eng. 1, 1 (1972), doi 10.1016/0045-7825(72)90018-7; Edberg, Evans,
 *  Morriss, J. Chem. Phys. 84, 6933 (1986), doi 10.1063/1.450613.
 */
class ConstraintForceIntegrator : public ConstraintIntegrator {
public:
    /** @param stepSize  the step size (ps) */
    explicit ConstraintForceIntegrator(double stepSize) : ConstraintIntegrator(stepSize) {
    }
    /** Set the feedback on violations of the constraints. Equal values damp critically, values beyond 1/stepSize are
     *  unstable, and zeros turn it off. The default of both is 0.1/stepSize. With the default, the trajectory is of
     * second order in the step size, but the multipliers, which include the feedback, are of first order. With fixed
     * values both are of second order.
     *
     *  @param alpha  on velocities (1/ps), not negative
     *  @param beta   on positions (1/ps), not negative
     *  @throws OpenMMException if one is negative, infinite or not a number
     */
    void setStabilization(double alpha, double beta);
    /** Get the feedback on violations of the constraints.
     *
     *  @param[out] alpha  on velocities (1/ps)
     *  @param[out] beta   on positions (1/ps)
     */
    void getStabilization(double& alpha, double& beta) const;
    /** Whether setStabilization() has been called. */
    bool isStabilizationSet() const {
        return stabilizationSet;
    }
    /** The drift at which a step throws. */
    double getMaxDrift() const {
        return maxDrift;
    }
    /** Set the drift at which a step throws: the largest error of a constraint, in units of the tolerance (relative for
     * a distance, radians, or nm for an expression). Default: 1e-3.
     *
     *  @param drift  a positive number
     *  @throws OpenMMException if it is not
     */
    void setMaxDrift(double drift);

protected:
    std::string getStepKernelName() const override;

private:
    double alpha = 0, beta = 0, maxDrift = 1e-3;
    bool stabilizationSet = false;
};

} // namespace ConstraintPlugin

#endif
