// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

static const ConstraintForceIntegrator& asExplicit(const ConstraintIntegrator& integrator) {
    return dynamic_cast<const ConstraintForceIntegrator&>(integrator);
}

void ReferenceConstraintForceStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double dt = integrator.getStepSize();
    Real3* v = velocities(context);
    noteGradientPositions(context);

    // r(t+dt) = r + dt v + dt^2/2 a, and a first guess of v(t+dt), on which the force depends
    std::vector<Real3> a = accelerations(context, integrator, v, atStart);
    std::vector<Real3> predicted(v, v + numParticles());
    forParticles([&](int i) {
        const bool movable = inverseMass[i] > 0;
        delta[i] = (movable ? dt : 0.0) * (v[i] + (0.5 * dt) * a[i]);
        predicted[i] += dt * a[i];
        v[i] += (0.5 * dt) * a[i];
    });
    requireFinite(delta.data(), "displacement");
    movePositions(context, integrator, delta.data());

    // v(t+dt) = v + dt/2 (a(t) + a(t+dt))
    a = accelerations(context, integrator, predicted.data(), atEnd);
    forParticles([&](int i) { v[i] += (0.5 * dt) * a[i]; });
    requireFinite(v, "velocity");
    checkDrift(context, integrator);
}

std::vector<Real3> ReferenceConstraintForceStep::accelerations(ContextImpl& context,
                                                               const ConstraintIntegrator& integrator, const Real3* v,
                                                               ForceMultipliers& multipliers) {
    Stabilization feedback;
    asExplicit(integrator).getStabilization(feedback.alpha, feedback.beta);
    const Real3* f = stepForces(context, integrator);
    std::vector<Real3> a(numParticles());
    forParticles([&](int i) { a[i] = inverseMass[i] * f[i]; });
    solveAccelerations(context, integrator, positions(context), v, a.data(), multipliers, feedback);
    return a;
}

} // namespace ConstraintPlugin
