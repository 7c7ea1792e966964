// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

static const RattleLangevinIntegrator& asLangevin(const ConstraintIntegrator& integrator) {
    return dynamic_cast<const RattleLangevinIntegrator&>(integrator);
}

void ReferenceLangevinStep::initialize(const System& system, const ConstraintIntegrator& integrator,
                                       const ConstraintSet& constraints) {
    ReferenceStepKernel::initialize(system, integrator, constraints);
    noiseKey = makeNoiseKey(integrator);
}

void ReferenceLangevinStep::ornsteinUhlenbeck(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v,
                                              double duration, std::uint64_t draw) {
    const double exponent = asLangevin(integrator).getFriction() * duration;
    if (exponent == 0)
        return;
    const double before = kineticEnergy(v);

    // v <- a v + sqrt((1-a^2) kT/m) R
    const double a = std::exp(-exponent);
    const double variance = -std::expm1(-2 * exponent) * BOLTZ * asLangevin(integrator).getTemperature();
    forParticles([&](int i) {
        if (inverseMass[i] > 0)
            v[i] = a * v[i] + std::sqrt(variance * inverseMass[i]) * normalNumbers(noiseKey, draw, i);
    });

    // This projection P after the random kick makes the velocities an exact sample of the Maxwell distribution on the
    // tangent space. Without it, half of the components along gradients would remain: LangevinMiddle's position stage
    // removes the displacement of half a step, but corrects velocities for a whole step.
    const auto ofTheKick = solver->getImpulses(); // for readings and the next warm start
    solver->forgetImpulses();
    solveVelocities(context, integrator, positions(context), v);
    solver->setImpulses(ofTheKick);
    heatOfStep += kineticEnergy(v) - before;
}

void ReferenceLangevinStep::driftThroughBath(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v,
                                             double duration, std::uint64_t draw, std::vector<Real3>& change) {
    change.assign(v, v + numParticles());
    forParticles([&](int i) { delta[i] = (inverseMass[i] > 0 ? 0.5 * duration : 0.0) * v[i]; });
    ornsteinUhlenbeck(context, integrator, v, duration, draw);
    forParticles([&](int i) {
        delta[i] += (inverseMass[i] > 0 ? 0.5 * duration : 0.0) * v[i];
        change[i] = change[i] - v[i];
    });
}

} // namespace ConstraintPlugin
