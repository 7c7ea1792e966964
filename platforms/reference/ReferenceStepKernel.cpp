// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceStepKernel.h"
#include "MovingTargets.h"
#include "ReferenceData.h"
#include "openmm/System.h"
#include <cstring>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

bool sameBits(const void* a, const void* b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

} // namespace

void ReferenceStepKernel::initialize(const System& system, const ConstraintIntegrator& integrator,
                                     const ConstraintSet& constraints) {
    HostStepKernel::initialize(system, integrator, constraints);
    solver->setTaskRunner(runner);
    delta.resize(numParticles());
}

Real3* ReferenceStepKernel::positions(ContextImpl& context) const {
    return asReal3(*data(context).positions);
}

Real3* ReferenceStepKernel::velocities(ContextImpl& context) const {
    return asReal3(*data(context).velocities);
}

void ReferenceStepKernel::setPositions(ContextImpl& context, const Real3* x) {
    copy_n(x, numParticles(), positions(context));
    unchanged.positions = false;
    forgetForces();
}

void ReferenceStepKernel::setVelocities(ContextImpl& context, const Real3* v) {
    copy_n(v, numParticles(), velocities(context));
    unchanged.velocities = false;
}

double ReferenceStepKernel::currentTime(ContextImpl& context) const {
    return data(context).time;
}

Box ReferenceStepKernel::box(ContextImpl& context) const {
    const Vec3* v = data(context).periodicBoxVectors;
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

void ReferenceStepKernel::setTime(ContextImpl& context, double time) {
    data(context).time = time;
}

void ReferenceStepKernel::take(ContextImpl& context, Snapshot& snapshot) const {
    snapshot.positions.assign(positions(context), positions(context) + numParticles());
    snapshot.velocities.assign(velocities(context), velocities(context) + numParticles());
    snapshot.box = box(context);
    snapshot.time = data(context).time;
}

bool ReferenceStepKernel::holds(const vector<Real3>& kept, const Real3* now) const {
    return (int) kept.size() == numParticles() && sameBits(kept.data(), now, numParticles() * sizeof(Real3));
}

void ReferenceStepKernel::compare(ContextImpl& context) {
    const Box now = box(context);
    unchanged.positions = holds(lastGood.positions, positions(context)) && sameBits(&lastGood.box, &now, sizeof(Box));
    unchanged.velocities = holds(lastGood.velocities, velocities(context));
    if (!unchanged.positions)
        forgetForces();
}

const Real3* ReferenceStepKernel::forces(ContextImpl& context, const ConstraintIntegrator& integrator) {
    compare(context);
    stepForces(context, integrator);
    keepForces(context); // other code uses the Context's array between steps
    // Forces at other positions, such as a rejected move of a barostat, are not used for a step.
    forcesKept = unchanged.positions;
    return keptForces.data();
}

bool ReferenceStepKernel::knowsForces(ContextImpl& context, int groups) const {
    const double time = data(context).time; // a force may depend on it
    return (forcesKept || forcesComputed) && groups == forceGroups && time == forceTime;
}

const Real3* ReferenceStepKernel::stepForces(ContextImpl& context, int groups) {
    if (!knowsForces(context, groups))
        forgetForces();
    if (forcesKept)
        return keptForces.data();
    if (!forcesComputed) {
        const OwnForces own(*this);
        context.calcForcesAndEnergy(true, false, groups);
    }
    forcesComputed = true;
    forceGroups = groups;
    forceTime = data(context).time;
    return asReal3(*data(context).forces);
}

void ReferenceStepKernel::keepForces(ContextImpl& context) {
    if (!forcesComputed)
        return;
    const Real3* computed = asReal3(*data(context).forces);
    keptForces.assign(computed, computed + numParticles());
    forcesKept = true;
    forcesComputed = false;
}

void ReferenceStepKernel::execute(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    for (int i = 0; i < steps; i++) {
        record->resetSummary();
        const string step = "step " + to_string(data(context).stepCount + 1);
        activity = "the projection before " + step;
        bool isGivenBack = false; // if the step fails: a state with new parameters, bit for bit
        if (i == 0) {
            compare(context);
            if (!(unchanged.positions && unchanged.velocities) && !hasNewParameters(context)) {
                prepare(context, integrator);
                recognizeState(context);
            }
        }
        bool isOfAStep = arePositionsOfLastStep(context);
        const bool areVelocitiesOfAStep = unchanged.velocities;
        ParameterRecord before = parameterRecord();
        if (hasNewParameters(context)) {
            projectToNewParameters(context, integrator);
            isGivenBack = isOfAStep = true;
        }
        if (context.updateContextState()) {
            forgetForces();
            isGivenBack = false;
            before = parameterRecord();
        }
        prepare(context, integrator);
        compare(context);
        const Snapshot& start = isGivenBack ? beforeProjection : takeStart(context);
        try {
            if (solver->moves())
                requireTargetsInRange(solver->getSet(), start.box, start.time + integrator.getStepSize());
            activity = "the projection before " + step;
            // An explicit constraint force lets velocities drift, and a CMMotionRemover changes all of them alike.
            if (scheme.isExplicit && !hasThermostat)
                unchanged.velocities = unchanged.velocities || areVelocitiesOfAStep;
            projectStart(context, integrator, isOfAStep);
            activity = step;
            heatOfStep = 0;
            takeStep(context, integrator);
        } catch (...) {
            setPositions(context, start.positions.data());
            setVelocities(context, start.velocities.data());
            data(context).time = start.time;
            restore(before);
            explainFailure(context, integrator);
            throw;
        }
        data(context).stepCount++;
        stepsTaken++;
        const double startTime = start.time;
        record->reading.moments[0].positions.swap(gradientsAtStart ? lastGood.positions : gradientPositions);
        take(context, lastGood);
        unchanged = {true, true};
        keepForces(context);
        record->noteStep(startTime, lastGood.time, lastGood.box);
        readMultipliers(integrator.getStepSize());
        record->reading.velocityChanges.swap(velocityChanges);
        record->addWork(positions(context), integrator.getStepSize());
        record->reading.heat += heatOfStep;
    }
}

bool ReferenceStepKernel::arePositionsOfLastStep(ContextImpl& context) const {
    return unchanged.positions && (!solver->moves() || lastGood.time == data(context).time);
}

void ReferenceStepKernel::projectToNewParameters(ContextImpl& context, const ConstraintIntegrator& integrator) {
    prepare(context, integrator);
    take(context, beforeProjection);
    const ParameterRecord before = parameterRecord();
    try {
        projectStart(context, integrator, false);
    } catch (...) { // possibly between positions and velocities
        restore(before);
        setPositions(context, beforeProjection.positions.data());
        setVelocities(context, beforeProjection.velocities.data());
        explainFailure(context, integrator);
        throw;
    }
}

const ReferenceStepKernel::Snapshot& ReferenceStepKernel::takeStart(ContextImpl& context) {
    if (unchanged.positions && unchanged.velocities && lastGood.time == data(context).time)
        return lastGood;
    take(context, changed);
    return changed;
}

void ReferenceStepKernel::noteGradientPositions(ContextImpl& context) {
    // These are nearly always the positions after the last step, unless a projection changed them.
    gradientsAtStart = unchanged.positions;
    if (!gradientsAtStart)
        gradientPositions.assign(positions(context), positions(context) + numParticles());
}

void ReferenceStepKernel::recognizeState(ContextImpl& context) {
    if (isStateOfCheckpoint(context)) {
        take(context, lastGood);
        unchanged = {true, true};
    }
}

void ReferenceStepKernel::projectStart(ContextImpl& context, const ConstraintIntegrator& integrator, bool isOfAStep) {
    recognizeState(context);
    const bool positionsKnown = arePositionsOfLastStep(context);
    const bool velocitiesKnown = unchanged.velocities && (positionsKnown || !scheme.constrainsVelocities);
    projectState(context, integrator, positionsKnown, velocitiesKnown, isOfAStep);
}

void ReferenceStepKernel::solvePositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                         Real3* displacement, Real3* velocity) {
    noteGradientPositions(context);
    HostStepKernel::solvePositions(context, integrator, positions(context), displacement, velocity,
                                   integrator.getStepSize());
}

void ReferenceStepKernel::addDisplacement(ContextImpl& context, const Real3* displacement) {
    Real3* x = positions(context);
    forParticles([&](int i) { x[i] += displacement[i]; });
    unchanged.positions = false;
    forgetForces();
    requireFinite(x, "position");
}

void ReferenceStepKernel::movePositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                        const Real3* displacement) {
    addDisplacement(context, displacement);
    context.computeVirtualSites();
    data(context).time += integrator.getStepSize();
}

void ReferenceStepKernel::refreshReading() const {
    if (!lastGood.positions.empty())
        record->reading.endPositions = lastGood.positions;
}

uint64_t ReferenceStepKernel::lastStateFingerprint() const {
    const Snapshot& s = lastGood;
    return s.positions.empty() ? 0
                               : fingerprintOf(numParticles(), s.positions.data(), s.velocities.data(), s.box, s.time);
}

} // namespace ConstraintPlugin
