// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"

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
    const double factor = propagate(chain, bath, 2 * kineticEnergy(v), time);
    forParticles([&](int i) {
        if (inverseMass[i] > 0)
            v[i] = factor * v[i];
    });
    requireFinite(v, "velocity");
}

} // namespace ConstraintPlugin
