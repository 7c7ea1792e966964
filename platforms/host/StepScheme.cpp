// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StepScheme.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/Integrators.h"

namespace ConstraintPlugin {

namespace {

// Named as in CONSTRAINT_STEPS.

StepScheme Rattle() {
    StepScheme s{};
    s.constrainsVelocities = true;
    s.hasTwoHalves = true;
    s.positionFactor = 2; // lambda/dt and mu are impulses over half a step
    s.velocityFactor = 2;
    return s;
}

StepScheme Shake() {
    StepScheme s{};
    s.velocityLag = 0.5;
    s.kineticEnergy = StepScheme::KineticEnergy::ShiftedProjected;
    s.positionFactor = 1; // the impulse lambda/dt over the step; there is no velocity stage
    return s;
}

StepScheme RattleLangevin() {
    StepScheme s{};
    s.velocityLag = 0.5;
    s.kineticEnergy = StepScheme::KineticEnergy::Projected;
    s.sumsStages = true;
    s.positionFactor = 1; // impulses over the step, with the gradients at r(t): lambda/dt belongs to the drift,
    s.velocityFactor = 1; // mu the kick
    return s;
}

StepScheme GeodesicLangevin() {
    StepScheme s{};
    s.constrainsVelocities = true;
    s.sumsStages = true;
    s.positionFactor = 1; // impulses over the step, from all of its solves except those after random velocities
    s.velocityFactor = 1;
    return s;
}

StepScheme RattleMTS() {
    StepScheme s{};
    s.constrainsVelocities = true;
    s.sumsStages = true;
    s.positionFactor = 1; // impulses over the step, from all of its solves
    s.velocityFactor = 1;
    return s;
}

StepScheme RattleMTSLangevin() {
    return RattleMTS();
}

StepScheme RattleNoseHoover() {
    return Rattle(); // the scalings of velocities change neither positions nor multipliers
}

StepScheme ConstraintForce() {
    StepScheme s{};
    s.constrainsVelocities = true;
    s.hasTwoHalves = true;
    s.isExplicit = true;
    return s;
}

StepScheme named(const std::string& kernelName, StepScheme scheme) {
    scheme.kernelName = kernelName;
    return scheme;
}

} // namespace

const std::vector<StepScheme>& stepSchemes() {
#define SCHEME(step) named("Integrate" #step "Step", step()),
    static const std::vector<StepScheme> schemes = {CONSTRAINT_STEPS(SCHEME)};
#undef SCHEME
    return schemes;
}

void StepScheme::toForces(const Impulses& impulses, double dt, ForceMultipliers& multipliers,
                          ForceMultipliers& velocityMultipliers) const {
    const double perLambda = dt > 0 ? positionFactor / (dt * dt) : 0, perMu = dt > 0 ? velocityFactor / dt : 0;
    const std::size_t count = impulses.lambda.size();
    multipliers.values.resize(count);
    velocityMultipliers.values.resize(count);
    const std::size_t numPlaces = impulses.lambdaOfBodies.size();
    multipliers.ofBodies.resize(numPlaces);
    velocityMultipliers.ofBodies.resize(numPlaces);
    for (std::size_t i = 0; i < numPlaces; i++) {
        const Real3 ofPositions = perLambda * impulses.lambdaOfBodies[i], ofVelocities = perMu * impulses.muOfBodies[i];
        multipliers.ofBodies[i] = sumsStages ? ofPositions + ofVelocities : ofPositions;
        velocityMultipliers.ofBodies[i] = sumsStages ? Real3() : ofVelocities;
    }
    for (std::size_t k = 0; k < count; k++) {
        const double ofPositions = impulses.lambda[k] * perLambda, ofVelocities = impulses.mu[k] * perMu;
        multipliers.values[k] = sumsStages ? ofPositions + ofVelocities : ofPositions;
        velocityMultipliers.values[k] = sumsStages ? 0 : ofVelocities;
    }
}

const StepScheme& stepSchemeOf(const std::string& kernelName) {
    for (const StepScheme& scheme : stepSchemes())
        if (scheme.kernelName == kernelName)
            return scheme;
    throw OpenMM::OpenMMException("There is no integrator with the kernel '" + kernelName + "'");
}

} // namespace ConstraintPlugin
