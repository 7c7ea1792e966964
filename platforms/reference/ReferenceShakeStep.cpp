// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceShakeStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double dt = integrator.getStepSize();
    Real3* v = velocities(context);

    // v(t+dt/2) = v(t-dt/2) + dt f(t)/m, delta = dt v(t+dt/2); then the constraint impulse is added to both
    const Real3* f = stepForces(context, integrator);
    forParticles([&](int i) {
        v[i] += (dt * inverseMass[i]) * f[i];
        delta[i] = (inverseMass[i] > 0 ? dt : 0.0) * v[i];
    });
    solvePositions(context, integrator, delta.data(), v);
    movePositions(context, integrator, delta.data());
}

} // namespace ConstraintPlugin
