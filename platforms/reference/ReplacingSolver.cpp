// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReplacingSolver.h"
#include "HeldPairs.h"
#include "MirrorImages.h"
#include "NetworkChecks.h"
#include "OpenMMVectors.h"
#include "StateErrors.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/Integrator.h"
#include "openmm/System.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr double smallestTolerance = 1e-14; // the floor of double precision

/** Particles that constraints and bodies have, ascending. */
vector<int> particlesOf(const ConstraintSet& set) {
    vector<char> isHeld(set.numParticles(), false);
    for (const Constraint& c : set.constraints)
        if (!set.isIgnored(c))
            for (int p : c.particles)
                isHeld[p] = true;
    for (const RigidBody& body : set.bodies)
        for (int p : body.particles)
            isHeld[p] = true;
    vector<int> held;
    for (int p = 0; p < set.numParticles(); p++)
        if (isHeld[p])
            held.push_back(p);
    return held;
}

vector<int> massiveAmong(const ConstraintSet& set, const vector<int>& particles) {
    vector<int> massive;
    copy_if(particles.begin(), particles.end(), back_inserter(massive), [&](int p) { return set.inverseMass[p] > 0; });
    return massive;
}

bool isSame(const Real3& a, const Real3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

bool isSame(const Box& a, const Box& b) {
    return isSame(a.a, b.a) && isSame(a.b, b.b) && isSame(a.c, b.c);
}

} // namespace

ReplacingSolver::ReplacingSolver(ContextImpl& context, const ConstraintSet& constraints, shared_ptr<TaskRunner> runner)
    : context(context), solver(constraints, Method::Automatic),
      projector(solver, [&context] { return collectHeldPairs(context.getSystem()); }), held(particlesOf(constraints)),
      moving(massiveAmong(constraints, held)),
      mayBeMirrored(any_of(constraints.bodies.begin(), constraints.bodies.end(),
                           [](const RigidBody& body) { return body.mayBeMirrored; })) {
    if (!solver.getUndecided().empty())
        throwProblem(undecidedRank(constraints, solver.getUndecided()));
    solver.setTaskRunner(move(runner));
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
    const Integrator* integrator = &context.getIntegrator();
    if (const auto* compound = dynamic_cast<const CompoundIntegrator*>(integrator))
        integrator = &compound->getIntegrator(compound->getCurrentIntegrator());
    ProjectionSettings settings;
    settings.tolerance = max(integrator->getConstraintTolerance(), smallestTolerance);
    settings.maxIterations = 500;
    if (integrator->getStepSize() > 0)
        settings.timeScale = integrator->getStepSize();
    return settings;
}

Box ReplacingSolver::box() const {
    Vec3 v[3];
    context.getPeriodicBoxVectors(v[0], v[1], v[2]);
    return toBox(v[0], v[1], v[2]);
}

void ReplacingSolver::begin(const char* what) {
    ostringstream text;
    text << what << " at " << context.getTime() << " ps";
    activity = text.str();
    resetSolves(summary);
    solver.setTime(context.getTime());
    if (solver.setGlobals([&](const string& name) { return context.getParameter(name); }))
        known.clear();
}

bool ReplacingSolver::isKnown(const Real3* x) const {
    if (known.empty() || !isSame(knownBox, box()))
        return held.empty();
    for (size_t i = 0; i < held.size(); i++)
        if (!isSame(known[i], x[held[i]]))
            return false;
    return true;
}

void ReplacingSolver::remember(const Real3* x) {
    known.resize(held.size());
    for (size_t i = 0; i < held.size(); i++)
        known[i] = x[held[i]];
    knownBox = box();
}

void ReplacingSolver::rememberMoved(const Real3* from, const Real3* to) {
    remember(from);
    for (size_t i = 0; i < held.size(); i++)
        if (solver.getSet().inverseMass[held[i]] > 0)
            known[i] = to[held[i]];
}

const Real3* ReplacingSolver::onConstraints(const Real3* x, Reach reach) {
    if (isKnown(x))
        return x;
    const Box now = box();
    if (!solver.isRankKnown(now))
        projector.forgetRank();
    if (mayBeMirrored && !findMirrored(solver.getSet(), x, now).empty()) {
        const int revision = solver.getRevision();
        solver.matchMirrorImages(x, now);
        if (solver.getRevision() != revision) // joined bodies
            projector.forgetRank();
    }
    if (known.empty() || isSame(knownBox, now)) // else a barostat has most likely moved them
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
        requireNear(during(with), projection, x, now);
    return projection.outcome == Projection::Outcome::Kept ? x : projected.data();
}

void ReplacingSolver::solvePositions(const Real3* x, Real3* to) {
    begin("a step");
    const Real3* from = onConstraints(x, Reach::Bounded);
    displacement.assign(solver.getSet().numParticles(), Real3());
    for (int p : moving) // of particles without mass, `to` has anything
        displacement[p] = to[p] - from[p];
    requireFinite(displacement.data(), "displacement");
    const ProjectionSettings with = settings();
    const SolveReport report =
        solver.solvePositions(from, box(), displacement.data(), with.tolerance, with.maxIterations);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Positions);
    noteSolve(summary, solver.getSet(), report);
    for (int p : moving)
        to[p] = from[p] + displacement[p];
    rememberMoved(from, to);
}

void ReplacingSolver::solveVelocities(const Real3* x, Real3* v) {
    begin("the velocities");
    requireFinite(v, "velocity");
    const Real3* at = onConstraints(x, Reach::Bounded);
    displacement.assign(v, v + solver.getSet().numParticles());
    const SolveReport report = projector.solveVelocities(settings(), at, displacement.data(), box(), solver.getTime());
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities);
    noteSolve(summary, solver.getSet(), report);
    for (int p : moving)
        v[p] = displacement[p];
}

void ReplacingSolver::project(Real3* x) {
    begin("the projection of the positions");
    known.clear(); // even errors below the tolerance of a step, as our integrators do
    const Real3* there = onConstraints(x, Reach::Staged);
    for (int p : held)
        x[p] = there[p];
    remember(x);
}

bool ReplacingSolver::projectStart(Real3* x) {
    begin("the projection before a step");
    const Real3* there = onConstraints(x, Reach::Bounded);
    const bool isMoved = there != x;
    for (int p : held)
        x[p] = there[p];
    remember(x);
    return isMoved;
}

int ReplacingSolver::findRank(const Real3* x) {
    const SolverSummary ofLastCall = summary;
    begin("the rank of the constraints");
    onConstraints(x, Reach::Unbounded);
    summary = ofLastCall;
    return solver.rank();
}

void ReplacingSolver::requireFinite(const Real3* values, const char* what) const {
    for (int p : moving)
        if (!isFinite(values[p]))
            throwProblem(notFinite(solver.getSet(), what, p, activity));
}

SolveCircumstances ReplacingSolver::during(const ProjectionSettings& of) const {
    return {solver, of, activity, solver.getTime(), of.timeScale, describeSolvers(solver), false};
}

void ReplacingSolver::fail(const SolveReport& report, Stage stage) {
    known.clear();
    solver.forgetImpulses();
    noteFailure(summary, solver.getSet(), report);
    throwFailedSolve(during(settings()), report, stage);
}

SolverSummary ReplacingSolver::getSummary() const {
    SolverSummary now = summary;
    now.tolerance = settings().tolerance;
    now.solver = describeSolvers(solver);
    describeConstraints(now, solver);
    return now;
}

} // namespace ConstraintPlugin
