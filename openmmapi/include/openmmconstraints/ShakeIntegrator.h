// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SHAKE_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_SHAKE_INTEGRATOR_H_

#include "ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Position Verlet in leapfrog form with SHAKE: constant energy, one force evaluation a step.
 *
 *    r(t+dt) = 2 r(t) - r(t-dt) + dt^2/m ( f(t) + sum_k lambda_k grad sigma_k(t) )
 *
 *  with lambda such that sigma(r(t+dt)) = 0, summed as v(t+dt/2) = (r(t+dt) - r(t))/dt. Velocities are those of
 *  VerletIntegrator: half a step behind the positions, v(t-dt/2). Kinetic energy and temperature are computed at t,
 *  from P[v(t-dt/2) + dt/2 f(t)/m], P the projection onto the constraints.
 *  Source: Ryckaert, Ciccotti, Berendsen, J. Comput. Phys. 23, 327 (1977), doi 10.1016/0021-9991(77)90098-5.
 */
class ShakeIntegrator : public ConstraintIntegrator {
public:
    /** @param stepSize  the step size (ps) */
    explicit ShakeIntegrator(double stepSize) : ConstraintIntegrator(stepSize) {
    }

protected:
    std::string getStepKernelName() const override {
        return "IntegrateShakeStep";
    }
    double getVelocityTimeOffset() const override {
        return 0.5 * getStepSize();
    }
};

} // namespace ConstraintPlugin

#endif
