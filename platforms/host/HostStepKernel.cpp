// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "HostStepKernel.h"
#include "BlueMoon.h"
#include "CheckpointIO.h"
#include "HeldPairs.h"
#include "HeldTwice.h"
#include "LeastNorm.h"
#include "MirrorImages.h"
#include "OpenMMVectors.h"
#include "ParameterDerivatives.h"
#include "StateErrors.h"
#include "openmm/AndersenThermostat.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include <numeric>
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void HostStepKernel::initialize(const System& system, const ConstraintIntegrator& integrator,
                                const ConstraintSet& constraints) {
    inverseMass = constraints.inverseMass;
    for (int f = 0; f < system.getNumForces(); f++)
        hasThermostat = hasThermostat || dynamic_cast<const AndersenThermostat*>(&system.getForce(f)) != nullptr;
    solver = make_unique<ConstraintSolver>(constraints, (Method) integrator.getSolver(), centroids());
    if (!solver->getUndecided().empty())
        throwProblem(undecidedRank(constraints, solver->getUndecided()));
    projector = make_unique<Projector>(*solver, [&system] { return collectHeldPairs(system); });
    record = make_unique<StepRecord>(scheme, *solver, integrator.getStepSize());
    takeSettings(integrator);
    mayBeMirrored = any_of(constraints.bodies.begin(), constraints.bodies.end(),
                           [](const RigidBody& body) { return body.mayBeMirrored; });
    metParameters = solver->getGlobals(); // the Context's defaults: no positions are set yet
}

void HostStepKernel::setTargets(const ConstraintSet& constraints) {
    lastStep().freeze();
    if (!solver->setTargets(constraints))
        throw OpenMMException(otherThingsThanTargets);
    projector->forgetRank();
    forgetLastState();
    met->forget();
    shapesAreNew = true;
    areNear = false;
    mayHavePressure = false;
}

Box HostStepKernel::box(ContextImpl& context) const {
    Vec3 v[3];
    context.getPeriodicBoxVectors(v[0], v[1], v[2]);
    return toBox(v[0], v[1], v[2]);
}

double HostStepKernel::currentTime(ContextImpl& context) const {
    return context.getTime();
}

string HostStepKernel::solverDescription() const {
    return describeSolvers(*solver);
}

void HostStepKernel::takeSettings(const ConstraintIntegrator& integrator) {
    solver->setMethod((Method) integrator.getSolver());
    solver->setWarmStart(integrator.getWarmStart());
    record->maxIterations = integrator.getMaxIterations();
    record->setStepSize(integrator.getStepSize());
}

void HostStepKernel::prepare(ContextImpl& context, const ConstraintIntegrator& integrator) {
    takeSettings(integrator);
    solver->setTime(currentTime(context));
    if (solver->setGlobals([&](const string& name) { return context.getParameter(name); })) {
        refreshReading();
        forgetLastState();
    }
}

void HostStepKernel::beginRequest(ContextImpl& context, const ConstraintIntegrator& integrator, const char* name) {
    refreshReading();
    prepare(context, integrator);
    activity = name;
    takeNewPositions(context);
    matchMirrorImages(context);
}

void HostStepKernel::takeNewPositions(ContextImpl& context) {
    if (positionsAreNew && !solver->isRankKnown(box(context)))
        projector->forgetRank();
    positionsAreNew = false;
}

void HostStepKernel::matchMirrorImages(ContextImpl& context) {
    if (!mayBeMirrored)
        return;
    shapesAreNew = false;
    const Real3* x = positions(context);
    const Box now = box(context);
    if (findMirrored(solver->getSet(), x, now).empty())
        return;
    if (StepRecord& last = lastStep(); last.hasForces())
        last.freeze(); // the step had the other shapes
    const int revision = solver->getRevision();
    solver->matchMirrorImages(x, now);
    if (solver->getRevision() != revision) // joined bodies
        projector->forgetRank();
    takeShapes();
}

double HostStepKernel::kineticEnergy(const Real3* v) const {
    double energy = 0;
    for (int i = 0; i < numParticles(); i++)
        if (inverseMass[i] > 0)
            energy += 0.5 * dot(v[i], v[i]) / inverseMass[i];
    return energy;
}

// ---- stages of a step ----------------------------------------------------------------------------------------------

void HostStepKernel::solvePositions(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                    Real3* displacement, Real3* velocity, double duration) {
    requireFinite(displacement, "displacement");
    solver->setTime(currentTime(context));
    targetTime = solver->getTime() + duration;
    SolveReport report = solver->solvePositions(x, box(context), displacement, integrator.getConstraintTolerance(),
                                                integrator.getMaxIterations(), duration, velocity);
    if (report.outcome != Outcome::Converged) {
        if (report.body < 0)
            report.rotation = freeRotation(solver->getSet(), report.constraint, x, velocity, box(context), duration);
        fail(report, Stage::Positions, integrator);
    }
    record->note(report);
}

void HostStepKernel::solveVelocities(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                     Real3* velocity) {
    targetTime = currentTime(context);
    const SolveReport report =
        projector->solveVelocities(projectionSettings(integrator), x, velocity, box(context), targetTime);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities, integrator);
    record->note(report);
}

void HostStepKernel::solveAccelerations(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                        const Real3* v, Real3* a, ForceMultipliers& multipliers,
                                        const Stabilization& feedback) {
    targetTime = currentTime(context);
    solver->setTime(targetTime);
    const SolveReport report =
        solver->solveAccelerations(x, box(context), v, a, multipliers, integrator.getMaxIterations(), feedback);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities, integrator);
}

void HostStepKernel::checkDrift(ContextImpl& context, const ConstraintIntegrator& integrator) {
    solver->setTime(currentTime(context));
    const SolveReport drift = solver->measurePositions(positions(context), box(context));
    record->note(drift);
    if (!(drift.maxError <= projectionSettings(integrator).maxDrift))
        throwDrift(drift, integrator);
}

void HostStepKernel::throwDrift(const SolveReport& drift, const ConstraintIntegrator& integrator) const {
    throwProblem(tooMuchDrift(solver->getSet(), drift, projectionSettings(integrator).maxDrift, activity));
}

void HostStepKernel::requireFinite(const Real3* v, const char* what) const {
    if (const int first = firstNotFinite(v, 0, numParticles()); first >= 0)
        throwProblem(becameNotFinite(solver->getSet(), what, first, activity));
}

SolveCircumstances HostStepKernel::circumstances(const ConstraintIntegrator& integrator) const {
    return {*solver,    projectionSettings(integrator), activity,
            targetTime, integrator.getStepSize(),       solverDescription()};
}

void HostStepKernel::fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator) {
    solver->forgetImpulses();
    record->noteFailure(report);
    throwFailedSolve(circumstances(integrator), report, stage);
}

// ---- results that users read ---------------------------------------------------------------------------------------

SolverSummary HostStepKernel::getSummary() const {
    SolverSummary now = lastStep().summary;
    now.tolerance = smallestTolerance();
    now.solver = solverDescription();
    describeConstraints(now, *solver);
    return now;
}

void HostStepKernel::getConstraintForces(vector<Vec3>& forces, vector<Vec3>& virial) const {
    const ConstraintForces computed = lastStepFor("getConstraintForces() and getConstraintVirial()").forces();
    forces.clear();
    for (const Real3& f : computed.forces)
        forces.emplace_back(f.x, f.y, f.z);
    virial.clear();
    for (int i = 0; i < 3; i++)
        virial.emplace_back(computed.virial[3 * i], computed.virial[3 * i + 1], computed.virial[3 * i + 2]);
}

double HostStepKernel::getConstraintWork() const {
    const vector<double> each = getConstraintWorks();
    return accumulate(each.begin(), each.end(), 0.0) + lastStep().reading.otherWork + parameterWork.ofSeveral;
}

vector<double> HostStepKernel::getConstraintWorks() const {
    vector<double> works = lastStep().reading.works;
    works.resize(solver->getSet().numListed); // others do not move
    for (const auto& [constraint, work] : parameterWork.each)
        works[constraint] += work;
    return works;
}

vector<double> HostStepKernel::computeMultipliers(ContextImpl& context, const ConstraintIntegrator& integrator) {
    requireProjected(context, integrator);
    beginRequest(context, integrator, "computeMultipliers()");
    const double shift = velocityTimeOffset(integrator);
    const Real3* f = forces(context, integrator);
    vector<Real3> v = copyOf(velocities(context)), a(numParticles());
    for (int i = 0; i < numParticles(); i++) {
        a[i] = inverseMass[i] * f[i];
        v[i] += shift * a[i];
    }
    const Real3* x = positions(context);
    const SolverSummary ofLastStep = record->summary;
    projectTangent(context, integrator, x, v.data());
    ForceMultipliers multipliers;
    solveAccelerations(context, integrator, x, v.data(), a.data(), multipliers);
    record->summary = ofLastStep;
    return listedMultipliers(*solver, multipliers, x, box(context), integrator.getMaxIterations());
}

map<string, double> HostStepKernel::computeParameterDerivatives(ContextImpl& context,
                                                                const ConstraintIntegrator& integrator) {
    const vector<double> multipliers = computeMultipliers(context, integrator);
    return parameterDerivatives(solver->getSet(), multipliers, positions(context), box(context), currentTime(context));
}

void HostStepKernel::computeBlueMoon(ContextImpl& context, const ConstraintIntegrator& integrator,
                                     const vector<int>& coordinates, vector<double>& multipliers,
                                     vector<double>& corrections, double& logZ) {
    if (solver->moves())
        throw OpenMMException("computeBlueMoon: the blue moon average is not defined for constraints that move in "
                              "time; set their rates to zero.");
    const vector<double> all = computeMultipliers(context, integrator);
    multipliers.clear();
    for (int k : coordinates)
        multipliers.push_back(all[k]);
    const Real3* x = positions(context);
    const int maxIterations = integrator.getMaxIterations();
    for (int k : coordinates)
        if (sharesForce(*solver, k, x, box(context), maxIterations))
            throwProblem(noReactionCoordinate(solver->getSet(), k));
    try {
        const BlueMoon terms = ConstraintPlugin::computeBlueMoon(*solver, coordinates, x, box(context), maxIterations);
        corrections = terms.corrections;
        logZ = terms.logZ;
    } catch (const NoCoordinate& error) {
        throwProblem(noReactionCoordinate(solver->getSet(), error.constraint));
    }
}

// ---- checkpoints ---------------------------------------------------------------------------------------------------

bool HostStepKernel::isStateOfCheckpoint(ContextImpl& context) {
    if (loadedFingerprint == 0)
        return false;
    takeNewPositions(context);
    matchMirrorImages(context);
    const vector<double>& globals = record->reading.globals;
    const bool same = recognizeCheckpoint(context) && globals == parameters(context);
    if (same) {
        const Real3* x = positions(context);
        const Box now = box(context);
        if (!projector->isRankChecked() && !solver->isRankKnown(now))
            solver->chooseIndependent(x, now);
        const RankAnalysis rank = projector->checkRank(x, now);
        if (rank.isSingular())
            throwSingularSet(solver->getSet(), rank);
        metParameters = globals;
    }
    loadedFingerprint = 0;
    return same;
}

bool HostStepKernel::recognizeCheckpoint(ContextImpl& context) {
    if (loadedFingerprint == 0 ||
        loadedFingerprint !=
            fingerprintOf(numParticles(), positions(context), velocities(context), box(context), currentTime(context)))
        return false;
    met->ofPositions = met->ofVelocities = record->reading.globals;
    return true;
}

void HostStepKernel::createCheckpoint(ostream& stream) const {
    // No step was taken since a checkpoint was loaded: the state is that one, unless others have changed it since.
    SavedStep saved = lastStep().save(loadedFingerprint != 0 ? loadedFingerprint : lastStateFingerprint());
    for (const auto& [constraint, work] : parameterWork.each)
        saved.reading.works[constraint] += work;
    saved.reading.otherWork += parameterWork.ofSeveral;
    ostringstream bytes, own;
    writeText(bytes, getName());
    write(bytes, saved.impulses.lambda.size());
    write(bytes, saved.reading.globals.size());
    const size_t places = saved.impulses.lambdaOfBodies.size(), moments = saved.reading.moments.size();
    const bool hasWorks = saved.reading.hasWorks();
    if (places > 0 || moments > 1 || hasWorks)
        write(bytes, places);
    if (moments > 1 || hasWorks)
        write(bytes, moments);
    saved.write(bytes);
    writeOwn(own);
    const int version = hasWorks            ? checkpointVersionWithWorks
                        : moments > 1       ? checkpointVersionWithMoments
                        : places > 0        ? checkpointVersionWithBodies
                        : own.str().empty() ? checkpointVersion
                                            : checkpointVersionWithOwn;
    writeSealed(stream, version, bytes.str() + own.str());
}

void HostStepKernel::loadCheckpoint(istream& stream, bool systemMayDiffer) {
    invalidateForces(true); // OpenMM has already replaced its state, even if this fails
    notePositions();
    int version = 0;
    istringstream bytes(readSealed(stream, version));
    const bool isOtherStep = readText(bytes) != getName();
    StepSizes sizes;
    read(bytes, sizes.constraints);
    read(bytes, sizes.globals);
    if (version >= checkpointVersionWithBodies)
        read(bytes, sizes.places);
    if (version >= checkpointVersionWithMoments)
        read(bytes, sizes.moments);
    sizes.hasWorks = version == checkpointVersionWithWorks;
    if (isOtherStep && !systemMayDiffer)
        throw OpenMMException(string("loadCheckpoint: the checkpoint was written by another integrator") +
                              checkpointRemedy);
    const size_t places = solver->readImpulses().lambdaOfBodies.size();
    const bool differs = sizes.constraints != solver->getSet().constraints.size() || sizes.places != places;
    if (differs && !systemMayDiffer && version < checkpointVersionWithBodies && places > 0)
        throw OpenMMException("loadCheckpoint: the checkpoint was written for another System, or by an earlier version "
                              "of openmm-constraints, which kept other data of rigid bodies. A State (saveState) can "
                              "be loaded by any version.");
    if (differs && !systemMayDiffer)
        throw OpenMMException("loadCheckpoint: the checkpoint was written for another System: it has " +
                              to_string(sizes.constraints) + " constraints and rigid bodies of " +
                              to_string(sizes.places) + " particles, this one has " +
                              to_string(solver->getSet().constraints.size()) + " and " + to_string(places) + ".");
    const SavedStep saved = SavedStep::read(bytes, numParticles(), sizes);
    if (version == checkpointVersion)
        readUnsealedOwn(stream);
    else if (!isOtherStep)
        readOwn(bytes);
    if (differs || isOtherStep) { // multipliers of the saved step do not apply
        record->reading.takeSums(saved.reading, !differs);
    } else {
        if (mayBeMirrored && solver->matchMirrorImages(saved.reading.moments[0].positions.data(), saved.reading.box))
            takeShapes();
        record->restore(saved);
        loadedFingerprint = saved.fingerprint;
    }
    parameterWork = {};
    forgetLastState();
}

} // namespace ConstraintPlugin
