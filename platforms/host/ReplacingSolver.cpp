// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReplacingSolver.h"
#include "CoreExceptions.h"
#include "HeldPairs.h"
#include "MirrorImages.h"
#include "MovingTargets.h"
#include "NetworkChecks.h"
#include "OpenMMVectors.h"
#include "StateErrors.h"
#include "SystemChecks.h"
#include "openmm/Integrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include <cstring>
#include <sstream>
#include <utility>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

ReplacingSolver::ReplacingSolver(ContextImpl& context, const ConstraintSet& constraints, shared_ptr<TaskRunner> runner,
                                 const PlatformPrecision& precision)
    : context(context), runner(std::move(runner)), precision(precision),
      solver(constraints, Method::Automatic, precision.centroids),
      projector(solver, [&context] { return collectHeldPairs(context.getSystem()); }), held(constraints),
      scratch(constraints.numParticles()),
      mayBeMirrored(any_of(constraints.bodies.begin(), constraints.bodies.end(),
                           [](const RigidBody& body) { return body.mayBeMirrored; })),
      onlyDistances(constraints.bodies.empty() &&
                    all_of(constraints.constraints.begin(), constraints.constraints.end(),
                           [](const Constraint& c) { return c.kind == CoordinateKind::Distance && c.nodes.empty(); })) {
    if (!solver.getUndecided().empty())
        throwProblem(undecidedRank(constraints, solver.getUndecided()));
    solver.setTaskRunner(this->runner);
}

bool ReplacingSolver::setTargets(const ConstraintSet& constraints) {
    if (!solver.setTargets(constraints))
        return false;
    projector.forgetRank();
    known.clear();
    return true;
}

ProjectionSettings ReplacingSolver::settings() const {
    // The tolerances that OpenMM passes are others in some calls: 1e-4 for shifted velocities.
    const Integrator& integrator = currentIntegrator(context.getIntegrator());
    ProjectionSettings settings;
    settings.tolerance = toleranceOf(integrator);
    settings.maxIterations = 500;
    settings.positionEpsilon = precision.positionEpsilon;
    settings.smallestTolerance = precision.smallestTolerance;
    if (integrator.getStepSize() > 0)
        settings.timeScale = integrator.getStepSize();
    return settings;
}

Box ReplacingSolver::box() const {
    Vec3 v[3];
    context.getPeriodicBoxVectors(v[0], v[1], v[2]);
    return toBox(v[0], v[1], v[2]);
}

void ReplacingSolver::begin(const char* what) {
    call = what;
    callTime = context.getTime();
    resetSolves(summary);
    solver.setTime(callTime);
    takeParameters();
}

bool ReplacingSolver::takeParameters() {
    const bool areNew = solver.setGlobals([&](const string& name) { return context.getParameter(name); });
    if (areNew)
        known.clear();
    return areNew;
}

bool ReplacingSolver::isKnown(const Real3* x) const {
    if (known.empty() || !sameBox(knownBox, box()))
        return held.isEmpty();
    return all_of(held.anchors.begin(), held.anchors.end(), [&](int p) { return known[p] == x[p]; }) &&
           held.forMoving(runner.get(), [&](int begin, int end) {
               return memcmp(&known[begin], x + begin, (end - begin) * sizeof(Real3)) == 0;
           });
}

bool ReplacingSolver::areScaled(const Box& now) const {
    return !known.empty() && !sameBox(knownBox, now);
}

void ReplacingSolver::remember(const Real3* x) {
    known.assign(x, x + scratch.size());
    knownBox = box();
}

void ReplacingSolver::takeNewPositions(const Real3* x, const Box& now) {
    if (!solver.isRankKnown(now))
        projector.forgetRank();
    if (!mayBeMirrored || findMirrored(solver.getSet(), x, now).empty())
        return;
    const int revision = solver.getRevision();
    solver.matchMirrorImages(x, now);
    shapesRevision++;
    if (solver.getRevision() != revision) // joined bodies
        projector.forgetRank();
}

const Real3* ReplacingSolver::onConstraints(const Real3* x, Reach reach) {
    if (isKnown(x))
        return x;
    const auto isAtOrigin = [](const Real3& r) { return r == Real3(); };
    if (known.empty() && scratch.size() > 1 && all_of(x, x + scratch.size(), isAtOrigin))
        throw OpenMMException("Particle positions have not been set");
    const Box now = box();
    requireTargetsInRange(solver.getSet(), now, solver.getTime());
    takeNewPositions(x, now);
    if (areScaled(now) && reach == Reach::Bounded)
        reach = Reach::Unbounded;
    if (!areScaled(now))
        checkNetworks(context.getSystem(), solver.getSet(), x, now, throwProblem);
    const ProjectionSettings with = settings();
    projected.assign(x, x + solver.getSet().numParticles());
    const Projection projection = projector.projectPositions(with, projected.data(), now, solver.getTime(), reach);
    if (projection.outcome == Projection::Outcome::Projected)
        noteSolve(summary, solver.getSet(), projection.report);
    else if (projection.outcome == Projection::Outcome::Failed)
        noteFailure(summary, solver.getSet(), projection.report);
    requireProjection(during(with), projection, Stage::Positions, x, now);
    if (reach == Reach::Staged)
        requireNear(during(with), projection, x, now); // which names missing images, too
    const Real3* there = projection.outcome == Projection::Outcome::Kept ? x : projected.data();
    remember(there);
    return there;
}

void ReplacingSolver::solvePositions(const Real3* x, Real3* to) {
    begin("a step");
    const Real3* from = onConstraints(x, Reach::Bounded);
    // `scratch` stays zero for particles that do not move: of those without mass, `to` has anything.
    const bool isGood = held.forMoving(runner.get(), [&](int begin, int end) {
        for (int p = begin; p < end; p++)
            scratch[p] = to[p] - from[p];
        return firstNotFinite(scratch.data(), begin, end) < 0;
    });
    if (!isGood)
        requireFinite(scratch.data(), "displacement");
    const ProjectionSettings with = settings();
    const SolveReport report = solver.solvePositions(from, box(), scratch.data(), with.tolerance, with.maxIterations);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Positions);
    noteSolve(summary, solver.getSet(), report);
    ofPositions = summary;
    held.forMoving(runner.get(), [&](int begin, int end) {
        for (int p = begin; p < end; p++)
            known[p] = to[p] = from[p] + scratch[p];
        return true;
    });
}

void ReplacingSolver::solveVelocities(const Real3* x, Real3* v) {
    begin("a projection of velocities");
    const Real3* at = onConstraints(x, Reach::Unbounded); // as far as it takes: nothing is moved
    if (!onlyDistances)
        requireFinite(v, "velocity");
    vector<Real3> ofAnchors; // which do not move, whatever velocities they were given
    for (int p : held.anchors)
        ofAnchors.push_back(exchange(v[p], Real3()));
    const SolveReport report = projector.solveVelocities(settings(), at, v, box(), solver.getTime());
    for (size_t i = 0; i < ofAnchors.size(); i++)
        v[held.anchors[i]] = ofAnchors[i];
    if (report.outcome != Outcome::Converged) {
        if (onlyDistances)
            requireFinite(v, "velocity");
        fail(report, Stage::Velocities);
    }
    noteSolve(summary, solver.getSet(), report);
    ofVelocities = summary;
}

void ReplacingSolver::project(Real3* x) {
    begin("the projection of the positions");
    ofPositions = ofVelocities = summary;
    known.clear(); // even errors below the tolerance of a step, as our integrators do
    const Real3* there = onConstraints(x, Reach::Staged); // which moves bonded particles along
    copy(there, there + scratch.size(), x);
}

bool ReplacingSolver::projectStart(Real3* x) {
    begin("the projection before a step");
    if (isKnown(x))
        return false;
    const Real3* there = onConstraints(x, Reach::Bounded);
    const bool isMoved = there != x;
    copy(there, there + scratch.size(), x);
    return isMoved;
}

void ReplacingSolver::requireNearConstraints(const Real3* x) {
    if (isKnown(x) || areScaled(box()))
        return;
    const SolverSummary ofLastCall = summary;
    begin("the projection before the forces are used");
    const Box now = box();
    takeNewPositions(x, now);
    const ProjectionSettings with = settings();
    projected.assign(x, x + solver.getSet().numParticles());
    const Projection projection =
        projector.projectPositions(with, projected.data(), now, solver.getTime(), Reach::Bounded);
    summary = ofLastCall;
    requireNear(during(with), projection, x, now);
}

vector<pair<vector<int>, int>> ReplacingSolver::rankOfGroups(const Real3* x) {
    const SolverSummary ofLastCall = summary;
    begin("the rank of the constraints");
    onConstraints(x, Reach::Unbounded);
    summary = ofLastCall;
    return solver.rankOfGroups();
}

void ReplacingSolver::requireFinite(const Real3* values, const char* what) const {
    const bool areGood =
        held.forMoving(runner.get(), [&](int begin, int end) { return firstNotFinite(values, begin, end) < 0; });
    if (!areGood)
        failNotFinite(firstNotFinite(values, 0, (int) scratch.size()), what);
}

string ReplacingSolver::activity() const {
    ostringstream text;
    text << call << " at " << callTime << " ps";
    return text.str();
}

SolveCircumstances ReplacingSolver::during(const ProjectionSettings& of) const {
    return {solver, of, activity(), solver.getTime(), of.timeScale, describeSolvers(solver), false};
}

void ReplacingSolver::fail(const SolveReport& report, Stage stage) {
    known.clear();
    solver.forgetImpulses();
    noteFailure(summary, solver.getSet(), report);
    throwFailedSolve(during(settings()), report, stage);
}

void ReplacingSolver::failFarOff(const SolveReport& before, const Real3* x) {
    const SolveCircumstances now = during(settings());
    Projection projection;
    projection.before = before;
    throwProblem(
        farOff(solver.getSet(), projection, x, box(), now.time, now.settings.maxMove, now.activity, now.isOurs));
}

void ReplacingSolver::beginStepAt(double time) {
    call = "a step";
    callTime = time;
    known.clear();
}

void ReplacingSolver::failNotFinite(int particle, const char* what) const {
    throwProblem(becameNotFinite(solver.getSet(), what, particle, activity()));
}

void ReplacingSolver::noteSolves(const vector<SolveReport>& reports) {
    resetSolves(summary);
    ofPositions = ofVelocities = summary;
    for (const SolveReport& report : reports)
        noteSolve(summary, solver.getSet(), report);
}

SolverSummary ReplacingSolver::getSummary() const {
    SolverSummary now = summary;
    if (now.converged) {
        noteSummary(now, ofPositions);
        noteSummary(now, ofVelocities);
    }
    now.tolerance = settings().tolerance;
    now.solver = describeSolvers(solver);
    describeConstraints(now, solver);
    return now;
}

void solveForOpenMM(const System& system, bool isInStep, const function<void()>& solve) {
    try {
        withOpenMMExceptions(system, "solving constraints", solve);
    } catch (const ConstraintException& error) {
        ConstraintProblem problem = error.getProblem();
        if (isInStep && problem.kind != "far-off") // where nothing has been moved yet
            problem.remedy = "OpenMM's integrator does not take the step back: before going on, set a state that you "
                             "kept (setState, loadCheckpoint), or positions and velocities. Then: " +
                             problem.remedy;
        throw ConstraintException(problem);
    }
}

} // namespace ConstraintPlugin
