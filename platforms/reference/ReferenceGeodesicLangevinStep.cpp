// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceGeodesicLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double end = currentTime(context) + integrator.getStepSize();
    Real3* v = velocities(context);
    startSum(context);

    halfKick(context, integrator, v);          // B
    geodesicDrift(context, integrator, v);     // A
    ornsteinUhlenbeck(context, integrator, v); // O
    geodesicDrift(context, integrator, v);     // A
    setTime(context, end);
    context.computeVirtualSites();
    halfKick(context, integrator, v); // B, with the new force
}

void ReferenceGeodesicLangevinStep::halfKick(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v) {
    const Real3* f = stepForces(context, integrator);
    const double half = 0.5 * integrator.getStepSize();
    forParticles([&](int i) { v[i] += (half * inverseMass[i]) * f[i]; });
    requireFinite(v, "velocity");
    returnToTangent(context, integrator, v);
}

void ReferenceGeodesicLangevinStep::geodesicDrift(ContextImpl& context, const ConstraintIntegrator& integrator,
                                                  Real3* v) {
    const int numSteps = dynamic_cast<const RattleLangevinIntegrator&>(integrator).getNumGeodesicSteps();
    const double h = 0.5 * integrator.getStepSize() / numSteps;
    for (int k = 0; k < numSteps; k++) {
        // RATTLE without a force: r += h v + c, v += c/h, and projection onto the tangent space there
        forParticles([&](int i) { delta[i] = (inverseMass[i] > 0 ? h : 0.0) * v[i]; });
        displace(context, integrator, v, h);
        setTime(context, currentTime(context) + h);
        returnToTangent(context, integrator, v);
    }
}

} // namespace ConstraintPlugin
