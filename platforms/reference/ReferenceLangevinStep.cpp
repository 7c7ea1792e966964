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

void ReferenceLangevinStep::ornsteinUhlenbeck(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v) {
    const double exponent = asLangevin(integrator).getFriction() * integrator.getStepSize();
    if (exponent == 0)
        return;
    const double before = kineticEnergy(v);

    // v <- a v + sqrt((1-a^2) kT/m) R
    const double a = std::exp(-exponent);
    const double variance = -std::expm1(-2 * exponent) * BOLTZ * asLangevin(integrator).getTemperature();
    for (int i = 0; i < numParticles(); i++)
        if (inverseMass[i] > 0)
            v[i] = a * v[i] + std::sqrt(variance * inverseMass[i]) * normalNumbers(noiseKey, stepsTaken, i);

    // What a normal vector with variances kT/m has left after this projection, orthogonal in the mass metric, is a
    // sample of the Maxwell distribution in the tangent space. Left to LangevinMiddle's position stage, which moves
    // over half a step what the velocities have along gradients but takes it for a whole one, half of it would stay in
    // them.
    const auto ofTheKick = solver->getImpulses(); // what is read, and where a warm start begins
    solver->forgetImpulses();
    solveVelocities(context, integrator, positions(context), v);
    solver->setImpulses(ofTheKick);
    heatOfStep += kineticEnergy(v) - before;
}

} // namespace ConstraintPlugin
