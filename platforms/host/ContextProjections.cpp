// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Projection of states that were changed outside of the steps, and of velocities for kinetic energies.
#include "HostStepKernel.h"
#include "MovingTargets.h"
#include "NetworkChecks.h"
#include "StateErrors.h"
#include "WithGlobals.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

ProjectionSettings HostStepKernel::projectionSettings(const ConstraintIntegrator& integrator) const {
    ProjectionSettings settings;
    settings.tolerance = integrator.getConstraintTolerance();
    settings.smallestTolerance = smallestTolerance();
    if (scheme.isExplicit)
        settings.maxDrift = dynamic_cast<const ConstraintForceIntegrator&>(integrator).getMaxDrift();
    settings.maxIterations = integrator.getMaxIterations();
    if (integrator.getStepSize() > 0)
        settings.timeScale = integrator.getStepSize();
    settings.maxMove = integrator.getMaxProjection();
    settings.positionEpsilon = positionEpsilon();
    return settings;
}

void HostStepKernel::requireDone(const Projection& projection, Stage stage, const Real3* x, const Box& box,
                                 const ConstraintIntegrator& integrator) {
    if (projection.outcome == Projection::Outcome::Projected)
        record->note(projection.report);
    else if (projection.outcome == Projection::Outcome::Failed) {
        solver->forgetImpulses();
        record->noteFailure(projection.report);
    }
    requireProjection(circumstances(integrator), projection, stage, x, box);
}

Projection HostStepKernel::projectPositions(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x,
                                            Reach reach) {
    const Box now = box(context);
    targetTime = currentTime(context);
    requireTargetsInRange(solver->getSet(), now, targetTime);
    Projection projection = projector->projectPositions(projectionSettings(integrator), x, now, targetTime, reach);
    requireDone(projection, Stage::Positions, x, now, integrator);
    return projection;
}

Projection HostStepKernel::projectTangent(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                          Real3* v) {
    const Box now = box(context);
    targetTime = currentTime(context);
    Projection projection = projector->projectVelocities(projectionSettings(integrator), x, v, now, targetTime);
    requireDone(projection, Stage::Velocities, x, now, integrator);
    return projection;
}

double HostStepKernel::projectContextPositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                               Reach reach, bool isAsked) {
    vector<Real3> x = copyOf(positions(context));
    Projection projection = projectPositions(context, integrator, x.data(), reach);
    if (!isAsked)
        requireNear(circumstances(integrator), projection, positions(context), box(context));
    else if (reach == Reach::Staged)
        requireImages(circumstances(integrator), projection, positions(context), box(context));
    const vector<double> now = solver->getGlobals();
    const optional<vector<double>> before = met->ofPositions;
    const bool moves = projection.outcome == Projection::Outcome::Projected, isCounted = differs(before, now);
    const double energy = isCounted ? energyOfPositions(context, integrator, moves, *before) : 0;
    if (moves) {
        setPositions(context, x.data());
        context.computeVirtualSites();
    }
    if (isCounted) {
        countWork(*before, energyOfPositions(context, integrator, moves, now) - energy);
        if (moves && met->ofVelocities.has_value())
            met->ofVelocities = before; // they have to be projected again
    }
    metParameters = now;
    met->ofPositions = now;
    if (!scheme.constrainsVelocities)
        met->ofVelocities = now;
    noteNearness(context);
    return projection.distance;
}

void HostStepKernel::projectContextVelocities(ContextImpl& context, const ConstraintIntegrator& integrator) {
    vector<Real3> v = copyOf(velocities(context));
    const double energy = kineticEnergy(v.data());
    Projection projection = projectTangent(context, integrator, positions(context), v.data());
    if (projection.outcome == Projection::Outcome::Projected)
        setVelocities(context, v.data());
    countVelocities(energy, v.data());
}

void HostStepKernel::projectLaggingVelocities(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const Real3* x = positions(context);
    const Box now = box(context);
    const vector<Real3> given = copyOf(velocities(context));
    vector<Real3> tangent = given, turn(numParticles()), rest(numParticles());
    targetTime = currentTime(context);
    const Projection projection =
        projector->projectVelocities(projectionSettings(integrator), x, tangent.data(), now, targetTime);
    if (projection.outcome != Projection::Outcome::Projected)
        return; // kept; or what cannot be solved, of which the step tells
    solver->setTime(targetTime);
    ForceMultipliers multipliers;
    if (solver->solveAccelerations(x, now, tangent.data(), turn.data(), multipliers, integrator.getMaxIterations())
            .outcome != Outcome::Converged)
        return; // likewise
    for (int i = 0; i < numParticles(); i++) {
        turn[i] = velocityTimeOffset(integrator) * turn[i];
        rest[i] = tangent[i] - given[i] - turn[i];
    }
    if (kineticEnergy(rest.data()) > kineticEnergy(turn.data())) {
        record->note(projection.report);
        setVelocities(context, tangent.data());
    }
}

void HostStepKernel::projectState(ContextImpl& context, const ConstraintIntegrator& integrator, bool positionsKnown,
                                  bool velocitiesKnown, bool isOfAStep) {
    takeNewPositions(context);
    if (!positionsKnown && (!isOfAStep || shapesAreNew))
        matchMirrorImages(context);
    if (!positionsKnown && !isOfAStep)
        checkNetworks(context.getSystem(), solver->getSet(), positions(context), box(context), throwProblem);
    positionsKnown &= projector->isRankChecked() && !differs(met->ofPositions, solver->getGlobals());
    velocitiesKnown &= !differs(met->ofVelocities, solver->getGlobals());
    if (!positionsKnown)
        projectContextPositions(context, integrator, isOfAStep ? Reach::Unbounded : Reach::Bounded);
    if (scheme.constrainsVelocities && !(positionsKnown && velocitiesKnown))
        projectContextVelocities(context, integrator);
    else if (!scheme.constrainsVelocities && velocitiesWereSet && !velocitiesKnown)
        projectLaggingVelocities(context, integrator);
    velocitiesWereSet = false;
    for (auto* parameters : {&met->ofPositions, &met->ofVelocities}) // whoever has set them
        if (!parameters->has_value())
            *parameters = solver->getGlobals();
}

double HostStepKernel::applyConstraints(ContextImpl& context, const ConstraintIntegrator& integrator, bool isAsked) {
    beginRequest(context, integrator, "the projection of the positions");
    recognizeCheckpoint(context);
    const double farthest = projectContextPositions(context, integrator, Reach::Staged, isAsked);
    context.computeVirtualSites(); // even if no constraint was violated
    return farthest;
}

void HostStepKernel::noteNearness(ContextImpl& context) {
    areNear = true;
    nearBox = box(context);
    nearTime = currentTime(context);
}

bool HostStepKernel::isStillNear(ContextImpl& context) const {
    return areNear && hearsOfMoves() && sameBox(nearBox, box(context)) &&
           (!solver->moves() || nearTime == currentTime(context));
}

void HostStepKernel::requireNearConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    if (asksForForces || isStillNear(context))
        return;
    const SolverSummary ofLastStep = lastStep().summary;
    beginRequest(context, integrator, "the projection before the forces are used");
    vector<Real3> x = copyOf(positions(context));
    const Box now = box(context);
    targetTime = currentTime(context);
    const Projection projection =
        projector->projectPositions(projectionSettings(integrator), x.data(), now, targetTime, Reach::Bounded);
    record->summary = ofLastStep;
    requireNear(circumstances(integrator), projection, positions(context), now);
    noteNearness(context);
}

void HostStepKernel::applyVelocityConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    beginRequest(context, integrator, "the projection of the velocities");
    recognizeCheckpoint(context);
    projectContextVelocities(context, integrator);
}

void HostStepKernel::projectVelocities(ContextImpl& context, const ConstraintIntegrator& integrator, vector<Vec3>& v) {
    beginRequest(context, integrator, "the projection of the velocities");
    // The Context's positions may still violate the constraints: use the tangent space at the projected positions, from
    // which the next step starts.
    // OpenMM passes the Context's own array where that is the host's.
    const bool areContexts = asReal3(v) == velocities(context);
    const double energy = areContexts ? kineticEnergy(asReal3(v)) : 0;
    vector<Real3> x = copyOf(positions(context));
    projectPositions(context, integrator, x.data(), Reach::Unbounded);
    projectTangent(context, integrator, x.data(), asReal3(v));
    if (areContexts)
        countVelocities(energy, asReal3(v));
}

int HostStepKernel::findConstraintRank(ContextImpl& context, const ConstraintIntegrator& integrator) {
    if ((projector->isRankChecked() && !positionsAreNew) || solver->isRankKnown(box(context)))
        return solver->rank();
    beginRequest(context, integrator, "the rank of the constraints");
    vector<Real3> x = copyOf(positions(context));
    const SolverSummary ofLastStep = record->summary;
    projectPositions(context, integrator, x.data(), Reach::Unbounded);
    record->summary = ofLastStep;
    return solver->rank();
}

int HostStepKernel::getConstraintRank(ContextImpl& context) const {
    const Box now = box(context);
    if (!solver->isRankKnown(now))
        throwProblem(
            rankWithoutPositions(*solver, now, "getNumDegreesOfFreedom", "Call Context.setPositions() first."));
    return solver->rank();
}

void HostStepKernel::addShift(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* v) {
    const double shift =
        scheme.kineticEnergy == StepScheme::KineticEnergy::ShiftedProjected ? velocityTimeOffset(integrator) : 0;
    if (shift == 0)
        return;
    const Real3* f = forces(context, integrator);
    for (int i = 0; i < numParticles(); i++)
        v[i] += (shift * inverseMass[i]) * f[i];
}

vector<Vec3> HostStepKernel::reportedVelocities(ContextImpl& context, const ConstraintIntegrator& integrator) {
    vector<Vec3> v(numParticles());
    copy_n(velocities(context), numParticles(), asReal3(v));
    addShift(context, integrator, asReal3(v));
    const SolverSummary ofLastStep = lastStep().summary;
    projectVelocities(context, integrator, v);
    record->summary = ofLastStep;
    return v;
}

double HostStepKernel::computeKineticEnergy(ContextImpl& context, const ConstraintIntegrator& integrator) {
    requireProjected(context, integrator);
    if (scheme.kineticEnergy == StepScheme::KineticEnergy::Plain)
        return kineticEnergy(velocities(context));
    if (const optional<double> computed = projectedKineticEnergy(context, integrator))
        return *computed;
    vector<Vec3> v = reportedVelocities(context, integrator);
    return kineticEnergy(asReal3(v));
}

// ---- Context parameters --------------------------------------------------------------------------------------------

vector<double> HostStepKernel::parameters(ContextImpl& context) const {
    vector<double> values;
    for (const string& name : solver->getGlobalNames())
        values.push_back(context.getParameter(name));
    return values;
}

void HostStepKernel::requireProjected(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const vector<double> now = parameters(context);
    if (now == metParameters || asksForForces)
        return;
    const WithGlobals present(*solver, now);
    const ConstraintSet& set = solver->getSet();
    requireTargetsInRange(set, box(context), currentTime(context)); // errors are relative to lengths
    vector<int> dependent;
    for (size_t k = 0; k < set.constraints.size(); k++)
        if (set.dependsOnGlobals(set.constraints[k]))
            dependent.push_back((int) k);
    const Real3* x = positions(context);
    const SolveReport report = solver->measurePositions(dependent, x, box(context), currentTime(context));
    const ProjectionSettings settings = projectionSettings(integrator);
    const double bound = settings.threshold() + projector->roundingSlack(settings, x);
    if (!(report.maxError <= bound))
        throwProblem(offParameter(set, report, {solver->getGlobalNames(), now, metParameters}, bound));
    metParameters = now;
}

} // namespace ConstraintPlugin
