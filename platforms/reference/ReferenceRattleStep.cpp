// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceRattleStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double dt = integrator.getStepSize();
    Real3* v = velocities(context);

    // v(t+dt/2) = v + (dt/2) f(t)/m, delta = dt v(t+dt/2); then the constraint impulse is added to both (3.9.16)
    const Real3* f = stepForces(context, integrator);
    forParticles([&](int i) {
        v[i] += (0.5 * dt * inverseMass[i]) * f[i];
        delta[i] = (inverseMass[i] > 0 ? dt : 0.0) * v[i];
    });
    solvePositions(context, integrator, delta.data(), v);
    movePositions(context, integrator, delta.data());

    // v(t+dt) = v + (dt/2) f(t+dt)/m, projected onto the tangent space (3.9.17-19)
    f = stepForces(context, integrator);
    forParticles([&](int i) { v[i] += (0.5 * dt * inverseMass[i]) * f[i]; });
    requireFinite(v, "velocity");
    solveVelocities(context, integrator, positions(context), v);
}

} // namespace ConstraintPlugin
