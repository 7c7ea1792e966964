// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_INTEGRATOR_H_

#include "ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE: constant energy, one force evaluation a step. Positions and velocities both satisfy the
 *  constraints at the end of every step.
 *
 *    v(t+dt/2) = v(t) + dt/2 f(t)/m + 1/(m dt) sum_k lambda_k grad sigma_k(t),   r(t+dt) = r(t) + dt v(t+dt/2)
 *    v(t+dt)   = v(t+dt/2) + dt/2 f(t+dt)/m + 1/m sum_k mu_k grad sigma_k(t+dt)
 *
 *  with lambda such that sigma(r(t+dt)) = 0 and mu such that d sigma/dt (t+dt) = 0.
 *  Source: Andersen, J. Comput. Phys. 52, 24 (1983), doi 10.1016/0021-9991(83)90014-1.
 */
class RattleIntegrator : public ConstraintIntegrator {
public:
    /** @param stepSize  the step size (ps) */
    explicit RattleIntegrator(double stepSize) : ConstraintIntegrator(stepSize) {
    }

protected:
    std::string getStepKernelName() const override {
        return "IntegrateRattleStep";
    }
};

} // namespace ConstraintPlugin

#endif
