// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceMTSSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

void ReferenceRattleMTSStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    startStep(context, integrator);
    Real3* v = velocities(context);
    for (int moment = 0; moment < numSubsteps; moment++) {
        halfKick(context);
        forParticles([&](int i) { delta[i] = (inverseMass[i] > 0 ? h : 0.0) * v[i]; });
        drift(context, integrator, moment);
        halfKick(context);
        returnToTangent(context, integrator, v);
    }
}

void ReferenceRattleMTSLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    startStep(context, integrator);
    Real3* v = velocities(context);
    velocityChanges.resize(numSubsteps);
    halfKick(context);
    returnToTangent(context, integrator, v);
    for (int moment = 0; moment < numSubsteps; moment++) {
        driftThroughBath(context, integrator, v, h, stepsTaken * numSubsteps + moment, velocityChanges[moment]);
        drift(context, integrator, moment);
        // P of both kicks at a moment, that which ends an innermost step and that which begins the next, is one
        halfKick(context, moment + 1 < numSubsteps ? 2 : 1);
        returnToTangent(context, integrator, v);
    }
}

template <class Step>
void ReferenceMTSStep<Step>::startStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    numSubsteps = integrator.getMultipleTimeSteps()->getNumSubsteps();
    h = integrator.getStepSize() / numSubsteps;
    start = this->currentTime(context);
    this->startSum(context);
    computeForces(context, integrator, 0);
}

template <class Step>
void ReferenceMTSStep<Step>::computeForces(ContextImpl& context, const ConstraintIntegrator& integrator, int moment) {
    const MultipleTimeSteps& steps = *integrator.getMultipleTimeSteps();
    const int groups = integrator.getIntegrationForceGroups();
    const auto levels = steps.levels(groups);
    fastest = levels.back().groups;
    if (moment == 0 && groups == summedGroups && this->knowsForces(context, fastest))
        return; // and the sum of slower ones, from the end of the last step
    summedGroups = groups;
    slow.clear();
    for (std::size_t level = 0; level + 1 < levels.size(); level++)
        if (steps.kicks(levels[level], moment)) {
            const Real3* f = this->stepForces(context, levels[level].groups);
            slow.resize(this->numParticles());
            const double factor = steps.periodOf(levels[level]);
            this->forParticles([&](int i) { slow[i] += factor * f[i]; });
        }
    this->stepForces(context, fastest);
}

template <class Step>
void ReferenceMTSStep<Step>::halfKick(ContextImpl& context, int times) {
    const Real3* f = this->stepForces(context, fastest); // known
    if (!slow.empty()) {
        all.resize(slow.size());
        this->forParticles([&](int i) { all[i] = f[i] + slow[i]; });
        f = all.data();
    }
    Real3* v = this->velocities(context);
    this->forParticles([&](int i) { v[i] += (times * 0.5 * h * this->inverseMass[i]) * f[i]; });
    this->requireFinite(v, "velocity");
}

template <class Step>
void ReferenceMTSStep<Step>::drift(ContextImpl& context, const ConstraintIntegrator& integrator, int moment) {
    this->displace(context, integrator, this->velocities(context), h);
    context.computeVirtualSites();
    const bool isLast = moment + 1 == numSubsteps;
    this->setTime(context, start + (isLast ? integrator.getStepSize() : (moment + 1) * h));
    computeForces(context, integrator, moment + 1);
}

template class ReferenceMTSStep<ReferenceStepKernel>;
template class ReferenceMTSStep<ReferenceLangevinStep>;

} // namespace ConstraintPlugin
