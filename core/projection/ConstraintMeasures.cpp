// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver other than the stages: errors of given states, and the way back from far off.
#include "ConstraintSolver.h"
#include "WorstError.h"
#include <optional>

namespace ConstraintPlugin {

double freeRotation(const ConstraintSet& set, int constraint, const Real3* x, const Real3* v, const Box& box,
                    double duration) {
    if (constraint < 0 || set.constraints[constraint].kind != CoordinateKind::Distance)
        return 0;
    const Constraint& c = set.constraints[constraint];
    const int i = c.particles[0], j = c.particles[1];
    const auto velocityOf = [&](int p) { return set.inverseMass[p] > 0 ? v[p] : Real3(); };
    const Real3 between = x[i] - x[j], b = c.periodic ? box.minimumImage(between) : between,
                turning = cross(b, velocityOf(i) - velocityOf(j));
    return duration * std::sqrt(dot(turning, turning)) / dot(b, b); // |b x v|/|b|^2: its angular velocity
}

SolveReport ConstraintSolver::reportNoGradient(int row, const Real3* positions) const {
    SolveReport report;
    report.constraint = graph->rows[row];
    report.isOfStart = true;
    const Constraint& c = set.constraints[report.constraint];
    for (int p : c.particles)
        report.places.push_back(positions[p]);
    const bool isSomewhere =
        std::all_of(report.places.begin(), report.places.end(), [](const Real3& x) { return isFinite(x); });
    // Angles and dihedrals have no gradient if three neighbours lie on a line, and no q has one if two particles
    // coincide.
    const bool canBeStraight = isAngular(c.kind);
    const bool areApart = std::adjacent_find(report.places.begin(), report.places.end(),
                                             [](const Real3& a, const Real3& b) { return dot(a - b, a - b) == 0; }) ==
                          report.places.end();
    const bool isOfItsOwn = c.kind == CoordinateKind::Custom || (canBeStraight && areApart);
    report.outcome = isOfItsOwn && isSomewhere ? Outcome::NoGradient : Outcome::NotFinite;
    report.value = jacobian->startValue(row);
    report.maxError = jacobian->startError(row);
    return report;
}

/** Largest displacement of a particle in one iteration of approach() (nm): the length of a bond. */
static constexpr double longestStep = 0.1;

SolveReport ConstraintSolver::approach(Real3* x, const Box& box, double tolerance, int maxIterations) {
    const int n = set.numParticles();
    SolveReport report = measurePositions(x, box);
    int detours = 0;
    for (int iteration = 1; report.maxError > tolerance && iteration <= maxIterations; iteration++) {
        if (startWithoutGradient >= 0)
            return reportNoGradient(startWithoutGradient, x);
        std::vector<double> sigma(graph->numRows()), lambda(graph->numRows());
        for (int row = 0; row < graph->numRows(); row++)
            sigma[row] = jacobian->residual(row, jacobian->startValue(row));
        std::vector<Real3> step(n), next(n);
        gather(step.data());
        solveLinear(sigma, report.maxError, step.data(), lambda, maxIterations);
        setBodies(x, box, step.data());
        const std::vector<Real3> nodeStep = nodes;
        std::optional<JoinedBodies> start;
        if (hasJoined())
            start.emplace(joinedBodies());
        SolveReport trial;
        double farthest = 0;
        for (const Real3& s : step)
            farthest = std::max(farthest, std::sqrt(dot(s, s)));
        const double longest = std::min(1.0, longestStep / farthest); // near an extremum of sigma Newton's step is huge
        auto take = [&](double fraction) {
            for (int i = 0; i < n; i++)
                next[i] = x[i] + fraction * step[i];
            if (start)
                start->displace(x, box, nodeStep.data(), fraction, next.data());
            trial = measurePositions(next.data(), box);
            return trial.maxError < report.maxError;
        };
        double fraction = longest;
        while (!take(fraction) && fraction > 1e-3)
            fraction /= 2;
        if (!(trial.maxError < report.maxError)) { // errors of several kinds may have to grow before they fall
            if (++detours > 10)
                break;
            take(longest);
        }
        std::copy(next.begin(), next.end(), x);
        report = trial;
        report.iterations = iteration;
    }
    report.outcome = report.maxError <= tolerance ? Outcome::Converged : Outcome::NotConverged;
    return report;
}

SolveReport ConstraintSolver::measurePositions(const Real3* positions, const Box& box) {
    SolveReport report;
    setStart(positions, box);
    for (const auto& [J, constraints] : {std::pair(jacobian.get(), &graph->rows), std::pair(checks.get(), &checked)}) {
        noteAll(report, *constraints, [J = J](int row) {
            const double q = J->startValue(row);
            return ErrorAndValue{J->startError(row), q};
        });
    }
    note(report, bodies.measurePositions(positions, box));
    return report;
}

ConstraintSolver::Misplaced ConstraintSolver::placeBodies(Real3* x, const Box& box, double threshold,
                                                          double ofAnchors) const {
    for (int b = 0; b < (int) set.bodies.size(); b++) {
        const RigidBody& body = set.bodies[b];
        const BodyFit fit = fitBody(body, x, box);
        if (fit.deviation <= threshold * body.radius)
            continue;
        if (fit.isMirrored)
            return {Misplaced::Mirrored, b};
        if (!(fit.ofAnchors <= ofAnchors * body.radius))
            return {Misplaced::Anchors, b, fit.anchor, fit.ofAnchors};
        moveToFit(body, fit, x, box);
    }
    return {};
}

int ConstraintSolver::rank() const {
    int rank = (int) active.size();
    for (const RigidBody& body : set.bodies)
        rank += 3 * body.numMassive - body.degreesOfFreedom();
    return rank - 3 * set.numCopies; // which numMassive counts, but which are no coordinates of the System
}

SolveReport ConstraintSolver::measurePositions(const std::vector<int>& constraints, const Real3* positions,
                                               const Box& box, double at) const {
    Jacobian some(set, constraints);
    some.setStart(positions, box, at);
    SolveReport report;
    noteAll(report, constraints, [&](int row) { return ErrorAndValue{some.startError(row), some.startValue(row)}; });
    return report;
}

SolveReport ConstraintSolver::measureVelocities(const Real3* positions, const Box& box, const Real3* velocity,
                                                double timeScale) {
    SolveReport report;
    setStart(positions, box);
    gather(velocity);
    for (const auto& [J, constraints] : {std::pair(jacobian.get(), &graph->rows), std::pair(checks.get(), &checked)}) {
        noteAll(report, *constraints, [this, J = J, velocity, timeScale](int row) {
            const double rate = J->rate(row, fieldOf(*J, row, velocity)) + J->timeDerivative[row];
            return ErrorAndValue{std::abs(rate) * timeScale * J->inverseScale[row], rate};
        });
    }
    note(report, bodies.measureVelocities(positions, box, velocity, timeScale));
    return report;
}

} // namespace ConstraintPlugin
