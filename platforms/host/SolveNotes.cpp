// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SolveNotes.h"
#include "ClusterReport.h"
#include "MovingTargets.h"
#include "StateErrors.h"
#include <algorithm>
#include <limits>

using namespace std;

namespace ConstraintPlugin {

void resetSolves(SolverSummary& summary) {
    summary.iterations = 0;
    summary.maxError = 0;
    summary.worstConstraint = -1;
}

void noteSolve(SolverSummary& summary, const ConstraintSet& set, const SolveReport& report) {
    summary.converged = true;
    summary.iterations = max(summary.iterations, report.iterations);
    if (report.constraint >= 0) // bodies have no errors but rounding
        noteError(summary, set, report.maxError, report.constraint);
}

void noteError(SolverSummary& summary, const ConstraintSet& set, double error, int constraint) {
    // Of equal errors that of the first constraint, since the order of clusters depends on the device.
    const int listed = listedIndex(set, constraint);
    const bool isFirst = error == summary.maxError && listed >= 0 && listed < summary.worstConstraint;
    const bool isAny = summary.maxError == 0 && summary.worstConstraint < 0; // a joint has no index, but an error
    if (error > summary.maxError || isAny || isFirst) {
        summary.maxError = error;
        summary.worstConstraint = listed;
    }
}

void noteSummary(SolverSummary& summary, const SolverSummary& other) {
    summary.iterations = max(summary.iterations, other.iterations);
    if (other.maxError > summary.maxError) {
        summary.maxError = other.maxError;
        summary.worstConstraint = other.worstConstraint;
    }
}

void noteFailure(SolverSummary& summary, const ConstraintSet& set, const SolveReport& report) {
    summary.converged = false;
    summary.iterations = report.iterations;
    summary.maxError = report.maxError;
    summary.worstConstraint = report.constraint < 0 ? -1 : listedIndex(set, report.constraint);
}

string describeSolvers(const ConstraintSolver& solver) {
    const size_t bodies = solver.getSet().bodies.size();
    const string ofBodies = "closed form of " + to_string(bodies) + (bodies == 1 ? " rigid body" : " rigid bodies");
    const string ofClusters = describeSolver(solver.getGraph());
    return bodies == 0 ? ofClusters : solver.getGraph().rows.empty() ? ofBodies : ofClusters + " and " + ofBodies;
}

void describeConstraints(SolverSummary& summary, const ConstraintSolver& solver) {
    const ConstraintSet& set = solver.getSet();
    const ConstraintGraph& graph = solver.getGraph();
    summary.clusters = (int) graph.clusters.size() + countFreeBodies(set) + (graph.border.rows.empty() ? 0 : 1);
    summary.note = describeFallbacks(graph);
    summary.fitDeviation = set.fitDeviation;
    summary.fittedConstraint = set.fittedConstraint;
    summary.absorbed = (int) count_if(set.constraints.begin(), set.constraints.end(), [](const Constraint& c) {
        return c.isAbsorbed && c.recognized < 0 && !c.isForCounting;
    });
    summary.absorbedDeviation = set.absorbedDeviation;
    summary.absorbedConstraint = set.absorbedConstraint;
    for (const RigidBody& body : set.bodies)
        summary.lineShift = max(summary.lineShift, body.lineShift);
    summary.joinedBodies = (int) set.bodies.size() - countFreeBodies(set);
    summary.joints = set.numCopies;
}

// ---- exceptions ----------------------------------------------------------------------------------------------------

namespace {

/** A constraint coupled to the one that was not solved whose target moves to the end of its range; -1: none. */
int targetNearLimitOf(const ConstraintSolver& solver, const SolveReport& report, double time, double stepSize) {
    if (!solver.moves() || report.constraint < 0 || report.outcome == Outcome::Inconsistent)
        return -1;
    for (const vector<int>& group : solver.groups())
        if (find(group.begin(), group.end(), report.constraint) != group.end())
            return findTargetNearLimit(solver.getSet(), group, time, stepSize);
    return -1;
}

/** Whether no solve converged, perhaps because none could. */
bool isUnsolved(const Projection& projection) {
    const Outcome outcome = projection.report.outcome;
    const bool isFailed = projection.outcome == Projection::Outcome::Failed &&
                          (outcome == Outcome::NotConverged || outcome == Outcome::Singular);
    return isFailed || (projection.outcome == Projection::Outcome::TooFar && projection.particle < 0);
}

/** Where a projection failed. */
vector<int> particlesOf(const ConstraintSet& set, const Projection& projection) {
    const SolveReport& report =
        projection.outcome == Projection::Outcome::TooFar ? projection.before : projection.report;
    return report.body >= 0         ? set.bodies[report.body].particles
           : report.constraint >= 0 ? set.constraints[report.constraint].particles
                                    : vector<int>();
}

bool isProjectedFarther(const Projection& projection, double bound) {
    return projection.outcome == Projection::Outcome::Projected && projection.distance > bound;
}

/** Whether the worst of a report is of a Force, not of the System itself. */
bool isOfForce(const ConstraintSet& set, const SolveReport& report) {
    if (report.body >= 0)
        return set.bodies[report.body].force >= 0;
    return report.constraint >= 0 && set.constraints[report.constraint].force >= 0;
}

/** Whether a constraint or a body of a Force, not of the System itself, has a particle. */
bool isHeldByForce(const ConstraintSet& set, int particle) {
    const auto holds = [&](const auto& holder) {
        return holder.force >= 0 &&
               find(holder.particles.begin(), holder.particles.end(), particle) != holder.particles.end();
    };
    return any_of(set.constraints.begin(), set.constraints.end(), holds) ||
           any_of(set.bodies.begin(), set.bodies.end(), holds);
}

} // namespace

void requireNear(const SolveCircumstances& during, const Projection& projection, const Real3* before, const Box& box) {
    const ConstraintSet& set = during.solver.getSet();
    using Is = Projection::Outcome;
    if (projection.outcome == Is::Vanishing)
        throwProblem(vanishingGradient(set, projection.vanishing, during.activity));
    const bool isFar = isProjectedFarther(projection, during.settings.maxMove) || projection.outcome == Is::TooFar ||
                       (projection.outcome == Is::Failed && projection.report.outcome != Outcome::NotFinite);
    if (!isFar || !(isOfForce(set, projection.before) || isHeldByForce(set, projection.particle)))
        return;
    throwProblem(
        farOff(set, projection, before, box, during.time, during.settings.maxMove, during.activity, during.isOurs));
}

void requireImages(const SolveCircumstances& during, const Projection& projection, const Real3* before,
                   const Box& box) {
    const ConstraintSet& set = during.solver.getSet();
    if (isProjectedFarther(projection, during.settings.maxMove) &&
        wouldFitWithImages(set, projection.before, during.time, before, box))
        throwProblem(farOff(set, projection, before, box, during.time, std::numeric_limits<double>::infinity(),
                            during.activity, during.isOurs));
}

void throwFailedSolve(const SolveCircumstances& during, const SolveReport& report, Stage stage) {
    const ConstraintSolver& solver = during.solver;
    throwSolveError(solver.getSet(), report,
                    {stage, during.activity, during.settings.tolerance, during.settings.timeScale, during.time,
                     during.stepSize, during.description, isServedIteratively(solver.getGraph(), report.constraint),
                     describeFallbacks(solver.getGraph()),
                     targetNearLimitOf(solver, report, during.time, during.stepSize), during.isProjection,
                     during.isOurs, during.isOneStage});
}

void requireProjection(const SolveCircumstances& during, const Projection& projection, Stage stage, const Real3* x,
                       const Box& box) {
    const ConstraintSet& set = during.solver.getSet();
    const double lengthBound = max(1e-6, during.settings.tolerance); // relative error that is no contradiction
    if (stage == Stage::Positions && isUnsolved(projection))
        if (const auto conflict = findLengthConflict(set, x, box, particlesOf(set, projection), lengthBound))
            throwProblem(contradictoryLengths(set, *conflict, lengthBound, during.activity));
    switch (projection.outcome) {
    case Projection::Outcome::Kept:
    case Projection::Outcome::Projected:
        return;
    case Projection::Outcome::Unresolved:
        throwProblem(unresolvedPosition(set, projection, x, during.activity));
    case Projection::Outcome::Singular:
        throwSingularSet(set, projection.rank);
    case Projection::Outcome::TooFar:
        throwProblem(
            farOff(set, projection, x, box, during.time, during.settings.maxMove, during.activity, during.isOurs));
    case Projection::Outcome::Misplaced:
        throwProblem(misplacedBody(set, projection.misplaced, during.activity));
    case Projection::Outcome::Vanishing:
        throwProblem(vanishingGradient(set, projection.vanishing, during.activity));
    case Projection::Outcome::Failed:
        SolveCircumstances further = during;
        further.isProjection = true;
        further.isOneStage = stage == Stage::Positions && projection.reach == Reach::Bounded;
        if (projection.progress >= 0)
            further.activity += ", which reached " + to_string((int) (100 * projection.progress)) +
                                " % of the change while bond lengths and angles were kept";
        throwFailedSolve(further, projection.report, stage);
    }
}

} // namespace ConstraintPlugin
