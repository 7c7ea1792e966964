// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Projector.h"

namespace ConstraintPlugin {

namespace {

/** Largest displacement of a particle by one solve (nm) that keeps bonds intact; larger ones are made in stages. */
constexpr double farthestAtOnce = 0.01;

double largestComponent(const Real3& r) {
    return std::max({std::abs(r.x), std::abs(r.y), std::abs(r.z)});
}

struct Move {
    int particle = -1;
    double distance = 0; // nm
};

Move farthestMove(const std::vector<Real3>& from, const std::vector<Real3>& to) {
    Move farthest;
    for (std::size_t i = 0; i < from.size(); i++) {
        const Real3 way = to[i] - from[i];
        const double distance = std::sqrt(dot(way, way));
        if (distance > farthest.distance)
            farthest = {(int) i, distance};
    }
    return farthest;
}

/** Whether the initial positions were invalid (not finite, coinciding, without a gradient), not those during the solve.
 */
bool couldNotStart(const SolveReport& report) {
    return report.outcome == Outcome::NoGradient || (report.outcome == Outcome::NotFinite && report.iterations == 0);
}

/** Rough distance of the particles of a constraint from satisfying it (nm); 0 if its value is neither a length nor an
 *  angle. */
double lengthOfError(const ConstraintSet& set, const SolveReport& report, double time) {
    constexpr double arm = 0.1; // of an angle
    if (report.constraint < 0)
        return report.body < 0 ? 0 : report.maxError * set.bodies[report.body].radius;
    const Constraint& c = set.constraints[report.constraint];
    if (set.hasLengthScale(c))
        return std::abs(report.value - c.targetAt(time));
    return isAngular(c.kind) ? arm * report.maxError : 0;
}

} // namespace

Projection Projector::projectPositions(const ProjectionSettings& settings, Real3* x, const Box& box, double time,
                                       Reach reach) {
    Projection result;
    result.reach = reach;
    if (findUnresolved(settings, x, result))
        return result;
    solver.setTime(time);
    if (!rankChecked)
        solver.chooseIndependent(x, box);
    result.before = solver.measurePositions(x, box);
    const double threshold = reach == Reach::Staged ? settings.tolerance : settings.threshold();
    std::vector<Real3> there;
    const Real3* end = x;
    if (!(result.before.maxError <= threshold + roundingSlack(settings, x))) {
        there.assign(x, x + solver.getSet().numParticles());
        moveToConstraints(settings, there, box, reach, result);
        if (result.outcome != Projection::Outcome::Projected) {
            findVanishing(x, x, box, result);
            return result;
        }
        end = there.data();
    }
    if (!rankChecked && findVanishing(x, end, box, result))
        return result;
    const RankAnalysis rank = checkRank(end, box);
    if (rank.isSingular()) {
        result.outcome = Projection::Outcome::Singular;
        result.rank = rank;
    } else
        std::copy(there.begin(), there.end(), x);
    return result;
}

void Projector::moveToConstraints(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                                  Reach reach, Projection& result) {
    if (result.before.body >= 0 && !std::isfinite(result.before.maxError)) {
        result.outcome = Projection::Outcome::Failed;
        result.report = result.before;
        result.report.outcome = Outcome::NotFinite;
        result.report.rotation = result.before.maxError;
        return;
    }
    const std::vector<Real3> start = x;
    const Impulses kept = solver.getImpulses(); // of a step; a projection does not start from them
    result.misplaced = solver.placeBodies(x.data(), box, settings.tolerance,
                                          settings.reachedTolerance() + roundingSlack(settings, x.data()));
    if (result.misplaced.reason != ConstraintSolver::Misplaced::None) {
        result.outcome = Projection::Outcome::Misplaced;
        return;
    }
    result.outcome = Projection::Outcome::Projected;
    result.report =
        reach == Reach::Staged ? solveInStages(settings, x, box, result) : solveOrApproach(settings, x, box, result);
    solver.setImpulses(kept);
    if (result.outcome != Projection::Outcome::Projected)
        return;
    bool isTooFar;
    if (result.report.outcome == Outcome::Converged) {
        const Move farthest = farthestMove(start, x);
        result.particle = farthest.particle;
        result.distance = farthest.distance;
        isTooFar = farthest.distance > settings.maxMove;
    } else {
        result.outcome = Projection::Outcome::Failed;
        result.distance = lengthOfError(solver.getSet(), result.before, solver.getTime());
        // Positions that cannot be projected from any distance (NaN, coinciding particles, contradictions) are reported
        // by the solver.
        isTooFar = result.distance > settings.maxMove && result.report.outcome != Outcome::Inconsistent &&
                   !couldNotStart(result.report);
    }
    if (reach == Reach::Bounded && isTooFar)
        result.outcome = Projection::Outcome::TooFar;
}

SolveReport Projector::solveAtOnce(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box) {
    std::vector<Real3> shift(x.size());
    solver.forgetImpulses();
    SolveReport report = solver.solvePositions(x.data(), box, shift.data(), settings.tolerance, settings.maxIterations);
    if (report.outcome == Outcome::Converged)
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] += shift[i];
    return report;
}

SolveReport Projector::solveOrApproach(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                                       Projection& result) {
    SolveReport direct = solveAtOnce(settings, x, box);
    if (direct.outcome == Outcome::Converged || couldNotStart(direct))
        return direct;
    // The gradients at the start do not suffice: recompute them in each iteration.
    std::vector<Real3> closer = x;
    SolveReport second = solver.approach(closer.data(), box, settings.tolerance, settings.maxIterations);
    if (second.outcome == Outcome::Converged) {
        x = closer;
        return second;
    }
    result.rank = solver.checkRank(x.data(), box);
    if (result.rank.isSingular())
        result.outcome = Projection::Outcome::Singular;
    return direct;
}

SolveReport Projector::solveInStages(const ProjectionSettings& settings, std::vector<Real3>& x, const Box& box,
                                     Projection& result) {
    std::vector<Real3> there = x;
    SolveReport report = solveAtOnce(settings, there, box);
    const bool isNear = report.outcome == Outcome::Converged && farthestMove(x, there).distance <= farthestAtOnce;
    if (!isNear && !couldNotStart(report)) {
        if (solver.hasJoinedBodies()) // their nodes have no bonds to keep: approach() turns bodies as a whole
            return solveOrApproach(settings, x, box, result);
        StagedProjection stages(solver.getSet(), solver.getGraph().rows, heldPairs(), x.data(), box, solver.getTime());
        if (!stages.holdsAny())
            return solveOrApproach(settings, x, box, result);
        there = x;
        if (!stages.run(there.data())) {
            result.progress = stages.progress();
            report = solver.measurePositions(there.data(), box);
            report.outcome = Outcome::NotConverged;
            return report;
        }
        report = solveAtOnce(settings, there, box); // the remaining errors, and dependent constraints
    }
    x = there;
    return report;
}

Projection Projector::projectVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                        double time) {
    Projection result;
    if (findUnresolved(settings, x, result))
        return result;
    solver.setTime(time);
    result.before = solver.measureVelocities(x, box, v, settings.timeScale);
    if (result.before.maxError <= settings.reachedTolerance())
        return result;
    const Impulses kept = solver.getImpulses();
    solver.forgetImpulses();
    std::vector<Real3> tangent(v, v + solver.getSet().numParticles());
    result.report = solveVelocities(settings, x, tangent.data(), box, time);
    solver.setImpulses(kept);
    if (result.report.outcome == Outcome::Converged) {
        result.outcome = Projection::Outcome::Projected;
        std::copy(tangent.begin(), tangent.end(), v);
    } else {
        result.outcome = Projection::Outcome::Failed;
        findVanishing(x, x, box, result);
    }
    return result;
}

bool Projector::findVanishing(const Real3* x, const Real3* near, const Box& box, Projection& result) const {
    if (result.outcome == Projection::Outcome::Misplaced)
        return false;
    result.vanishing = findVanishingGradient(solver.getSet(), solver.getGraph().rows, x, near, box, solver.getTime());
    if (result.vanishing.constraint < 0)
        return false;
    result.outcome = Projection::Outcome::Vanishing;
    return true;
}

SolveReport Projector::solveVelocities(const ProjectionSettings& settings, const Real3* x, Real3* v, const Box& box,
                                       double time) {
    solver.setTime(time);
    SolveReport report =
        solver.solveVelocities(x, box, v, settings.timeScale, settings.tolerance, settings.maxIterations);
    if (report.outcome == Outcome::Inconsistent) {
        double fastest = 0;
        for (int i = 0; i < solver.getSet().numParticles(); i++)
            fastest = std::max(fastest, largestComponent(v[i]));
        const double slack = roundingSlack(settings, x) * fastest * settings.timeScale / shortestScale();
        if (report.maxError <= settings.tolerance + slack)
            report.outcome = Outcome::Converged;
    }
    return report;
}

RankAnalysis Projector::checkRank(const Real3* x, const Box& box) {
    if (rankChecked)
        return {};
    RankAnalysis rank = solver.checkRank(x, box);
    rankChecked = !rank.isSingular();
    return rank;
}

double Projector::roundingSlack(const ProjectionSettings& settings, const Real3* x) const {
    double largest = 0;
    for (const Constraint& c : solver.getSet().constraints)
        for (int particle : c.particles) {
            const double size = largestComponent(x[particle]);
            largest = std::isinf(size) ? largest : std::max(largest, size); // else any error would count as rounding
        }
    for (const RigidBody& body : solver.getSet().bodies) {
        const double size = largestComponent(x[body.particles[body.reference]]);
        largest = std::isinf(size) ? largest : std::max(largest, size);
    }
    return 8 * settings.positionEpsilon * largest / shortestScale();
}

/** The smallest scale to which errors are relative (nm or rad). */
double Projector::shortestScale() const {
    double shortest = std::numeric_limits<double>::max();
    for (const Constraint& c : solver.getSet().constraints)
        if (!c.isAbsorbed)
            shortest = std::min(shortest, solver.getSet().scale(c));
    for (const RigidBody& body : solver.getSet().bodies)
        if (body.radius > 0)
            shortest = std::min(shortest, body.radius);
    return shortest;
}

bool Projector::findUnresolved(const ProjectionSettings& settings, const Real3* x, Projection& result) const {
    const ConstraintSet& set = solver.getSet();
    for (std::size_t k = 0; k < set.constraints.size(); k++)
        for (int p : set.constraints[k].particles) {
            const double rounding = settings.positionEpsilon * largestComponent(x[p]);
            if (!(rounding > set.scale(set.constraints[k])) ||
                std::isinf(rounding)) // the solver reports NaN and infinity
                continue;
            result.outcome = Projection::Outcome::Unresolved;
            result.constraint = (int) k;
            result.particle = p;
            result.distance = rounding;
            return true;
        }
    for (std::size_t b = 0; b < set.bodies.size(); b++) {
        const RigidBody& body = set.bodies[b];
        const int p = body.particles[body.reference];
        const double rounding = settings.positionEpsilon * largestComponent(x[p]);
        if (body.radius == 0 || !(rounding > body.radius) || std::isinf(rounding))
            continue;
        result.outcome = Projection::Outcome::Unresolved;
        result.body = (int) b;
        result.particle = p;
        result.distance = rounding;
        return true;
    }
    return false;
}

} // namespace ConstraintPlugin
