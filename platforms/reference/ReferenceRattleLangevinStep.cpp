// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceRattleLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double dt = integrator.getStepSize();
    Real3* v = velocities(context);

    // v(t+dt/2) = v(t-dt/2) + dt f(t)/m, projected onto the tangent space at r(t)
    const Real3* f = stepForces(context, integrator);
    forParticles([&](int i) { v[i] += (dt * inverseMass[i]) * f[i]; });
    requireFinite(v, "velocity");
    solveVelocities(context, integrator, positions(context), v);

    // delta = dt/2 (v before and after the heat bath); then the constraint impulse is added to both
    velocityChanges.resize(1);
    driftThroughBath(context, integrator, v, dt, stepsTaken, velocityChanges[0]);
    solvePositions(context, integrator, delta.data(), v);
    movePositions(context, integrator, delta.data());
}

} // namespace ConstraintPlugin
