// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"
#include "StateErrors.h"
#include <cmath>

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceRattleNoseHooverStep::initialize(const System& system, const ConstraintIntegrator& integrator,
                                               const ConstraintSet& constraints) {
    ReferenceRattleStep::initialize(system, integrator, constraints);
    chain = ThermostatChain(chainLengthOf(integrator));
}

void ReferenceRattleNoseHooverStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double half = 0.5 * integrator.getStepSize();
    const HeatBath bath = heatBathOf(integrator);
    const ThermostatChain start = chain;
    try {
        propagateHeatBath(context, bath, half);
        ReferenceRattleStep::takeStep(context, integrator);
        propagateHeatBath(context, bath, half);
    } catch (...) {
        chain = start;
        throw;
    }
}

void ReferenceRattleNoseHooverStep::propagateHeatBath(ContextImpl& context, const HeatBath& bath, double time) {
    Real3* v = velocities(context);
    const double twiceEnergy = 2 * kineticEnergy(v), factor = propagate(chain, bath, twiceEnergy, time);
    if (!(factor >= 0 && std::isfinite(factor * factor * twiceEnergy)))
        throwProblem(bathLeftBehind(bath, twiceEnergy, activity));
    forParticles([&](int i) {
        if (inverseMass[i] > 0)
            v[i] = factor * v[i];
    });
}

} // namespace ConstraintPlugin
