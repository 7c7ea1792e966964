// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver: the stages.
#include "ConstraintSolver.h"
#include "WorstError.h"

namespace ConstraintPlugin {

SolveReport ConstraintSolver::solve(const std::vector<int>& clusters, double tolerance,
                                    std::vector<double>& multipliers, Real3* particles,
                                    const SolveCluster& solveCluster) {
    SolveReport report;
    for (int c : clusters) {
        Real3* const x = isOnNodes[c] ? nodes.data() : particles;
        const Cluster& cluster = graph->clusters[c];
        const bool isIterative = cluster.kind == ClusterSolverKind::Iterative;
        ClusterSolver& solver = isIterative ? (ClusterSolver&) iterative : *matrixInversion;
        const int firstSlot = jacobian->slotStart[cluster.begin], lastSlot = jacobian->slotStart[cluster.end];
        if (!warmStart)
            std::fill(multipliers.begin() + cluster.begin, multipliers.begin() + cluster.end, 0.0);
        const bool isWarm = isIterative && warmStart;
        if (isWarm) {
            restart.resize(set.numNodes());
            for (int s = firstSlot; s < lastSlot; s++)
                restart[jacobian->particle[s]] = x[jacobian->particle[s]];
        }
        ClusterReport result = solveCluster(solver, cluster, innerTolerance(tolerance), x);
        if (isWarm && result.outcome != Outcome::Converged) { // the last step's multipliers may be a bad start
            for (int s = firstSlot; s < lastSlot; s++)
                x[jacobian->particle[s]] = restart[jacobian->particle[s]];
            std::fill(multipliers.begin() + cluster.begin, multipliers.begin() + cluster.end, 0.0);
            result = solveCluster(solver, cluster, innerTolerance(tolerance), x);
        }
        report.iterations = std::max(report.iterations, result.iterations);
        const bool failed = result.outcome != Outcome::Converged;
        if (failed || result.maxError > report.maxError || report.constraint < 0) {
            report.maxError = result.maxError;
            report.constraint = result.row < 0 ? -1 : graph->rows[result.row];
        }
        if (failed) {
            report.outcome = result.outcome;
            break;
        }
    }
    scatter(particles);
    return report;
}

namespace {

/** Whether all constraints that are solved hold. Callers may accept what is left of those that depend on them. */
bool isSolved(const SolveReport& report) {
    return report.outcome == Outcome::Converged || report.outcome == Outcome::Inconsistent;
}

/** An error slightly above the tolerance because of rounding is accepted; a singular or non-finite system is not. */
void acceptRounding(SolveReport& report) {
    if (report.outcome == Outcome::NotConverged && report.maxError < 1e-8)
        report.outcome = Outcome::Converged;
}

/** Add that a body could not be solved. */
void noteFailure(SolveReport& report, const BodyReport& failed) {
    if (failed.isSolved)
        return;
    const bool isFinite = std::isfinite(failed.rotation);
    report.outcome = isFinite ? Outcome::NotConverged : Outcome::NotFinite;
    report.body = failed.body;
    report.constraint = -1;
    report.maxError = report.rotation = failed.rotation;
}

/** Constraints that depend on those that were solved have to hold, too. */
template <class Measure>
void requireDependent(SolveReport& report, const std::vector<int>& checked, double tolerance, Measure measure) {
    if (report.outcome != Outcome::Converged)
        return;
    noteAll(report, checked, measure);
    if (!(report.maxError <= tolerance))
        report.outcome = Outcome::Inconsistent;
}

} // namespace

template <class Measure>
void ConstraintSolver::describeWorst(SolveReport& report, const DistanceSolver::Report& fast, const Real3* positions,
                                     const Box& box, double endTime, Measure measure) const {
    std::vector<int> candidates;
    const bool isConverged = report.outcome == Outcome::Converged;
    if (isConverged && !fast.worst.empty() && (report.constraint < 0 || fast.maxError > report.maxError))
        for (int row : fast.worst)
            candidates.push_back(graph->rows[row]);
    else if (report.constraint >= 0 && (border == nullptr || !isOfGroups(set, set.constraints[report.constraint])))
        candidates.push_back(report.constraint);
    else // none, or one whose value is known
        return;
    Jacobian worst(set, candidates);
    worst.setStart(positions, box, time);
    worst.setTime(endTime);
    SolveReport measured;
    noteAll(measured, candidates, [&](int row) { return measure(worst, row); });
    if (isConverged)
        report.maxError = measured.maxError;
    report.constraint = measured.constraint;
    report.value = measured.value;
}

SolveReport ConstraintSolver::solvePositions(const Real3* positions, const Box& box, Real3* delta, double tolerance,
                                             int maxIterations, double duration, Real3* velocity) {
    auto measure = [&](Jacobian& J, int row) {
        const double q = J.evaluate(row, fieldOf(J, row, delta));
        return ErrorAndValue{J.error(row, J.residual(row, q)), q};
    };
    const double perTime = duration > 0 && velocity != nullptr ? 1 / duration : 0;
    DistanceSolver::Report fast;
    const auto solveClusters = [&](const std::vector<int>& clusters, bool again) {
        fast = {clusters};
        if (distances != nullptr)
            fast = distances->solvePositions(positions, box, delta, innerTolerance(tolerance), maxIterations,
                                             perTime > 0 ? velocity : nullptr, perTime,
                                             again ? DistanceSolver::Which::AtBorder : DistanceSolver::Which::All);
        hasFastLambda = distances != nullptr;
        if (const int bad = setStart(positions, box, fast.unsolved); bad >= 0)
            return reportNoGradient(bad, positions);
        setEndTime(time + duration);
        if (border == nullptr)
            gather(delta);
        SolveReport report = solve(
            fast.unsolved, tolerance, lambda, delta, [&](ClusterSolver& s, const Cluster& c, double tol, Real3* x) {
                return s.solvePositions(c, StageInput{*jacobian, tol, maxIterations}, x, lambda.data());
            });
        report.iterations = std::max(report.iterations, fast.iterations);
        const bool areWanted = perTime > 0 && report.outcome == Outcome::Converged; // else they may be of any size
        for (int c : fast.unsolved)
            for (int row = graph->clusters[c].begin; areWanted && row < graph->clusters[c].end; row++)
                jacobian->addParticleImpulse(row, lambda[row] * perTime, velocity);
        return report;
    };
    SolveReport report;
    if (border == nullptr)
        report = solveClusters(everyCluster, false);
    else {
        if (const int bad = setBorder(positions, box); bad >= 0)
            return reportNoGradient(bad, positions);
        setEndTime(time + duration);
        gather(delta);
        const auto residual = [&](int row) {
            return jacobian->residual(row, jacobian->evaluate(row, fieldOf(*jacobian, row, delta)));
        };
        report =
            takeTurns({delta, &lambda, &hasFastLambda, innerTolerance(tolerance), maxIterations, false, solveClusters,
                       [&](int row) { return residual(row) - jacobian->rate(row, fieldOf(*jacobian, row, delta)); },
                       residual, [&](int row, double sigma) { return jacobian->error(row, sigma); },
                       [&](int row, double sigma) { return jacobian->target[row] + sigma; }});
        std::vector<Real3> ofBodies(nodes.size()); // found from their motions below
        for (int b = 0; perTime > 0 && b < border->size(); b++)
            border->addResponse(b, lambda[border->rowOf(b)] * perTime, {velocity, ofBodies.data(), set.numParticles()});
    }
    if (report.isOfStart)
        return report;
    requireDependent(report, checked, tolerance, [&](int row) { return measure(*checks, row); });
    describeWorst(report, fast, positions, box, time + duration, measure);
    if (report.outcome == Outcome::NotFinite && hasJoined())
        noteFailure(report, jacobian->joinedRows()->bodies.reportTurn());
    if (isSolved(report))
        noteFailure(report,
                    bodies.solvePositions(positions, box, delta, perTime, perTime > 0 ? velocity : nullptr,
                                          last.lambdaOfBodies, motions([&](int b) {
                                              return jacobian->joinedRows()->bodies.displaced(b, nodes.data()).motion;
                                          })));
    return report;
}

SolveReport ConstraintSolver::solveVelocities(const Real3* positions, const Box& box, Real3* velocity, double timeScale,
                                              double tolerance, int maxIterations) {
    auto measure = [&](const Jacobian& J, int row) {
        const double rate = J.rate(row, fieldOf(J, row, velocity)) + J.timeDerivative[row];
        return ErrorAndValue{std::abs(rate) * timeScale * J.inverseScale[row], rate};
    };
    DistanceSolver::Report fast;
    const auto solveClusters = [&](const std::vector<int>& clusters, bool again) {
        fast = {clusters};
        if (distances != nullptr)
            fast = distances->solveVelocities(positions, box, velocity, timeScale, innerTolerance(tolerance),
                                              maxIterations,
                                              again ? DistanceSolver::Which::AtBorder : DistanceSolver::Which::All);
        hasFastMu = distances != nullptr;
        if (const int bad = setStart(positions, box, fast.unsolved); bad >= 0)
            return reportNoGradient(bad, positions);
        if (border == nullptr)
            gather(velocity);
        SolveReport report = solve(fast.unsolved, tolerance, mu, velocity,
                                   [&](ClusterSolver& s, const Cluster& c, double tol, Real3* v) {
                                       StageInput input{*jacobian, tol, maxIterations};
                                       input.rateOffset = jacobian->moves() ? jacobian->timeDerivative.data() : nullptr;
                                       return s.solveVelocities(c, input, timeScale, v, mu.data());
                                   });
        report.iterations = std::max(report.iterations, fast.iterations);
        return report;
    };
    SolveReport report;
    if (border == nullptr)
        report = solveClusters(everyCluster, false);
    else {
        if (const int bad = setBorder(positions, box); bad >= 0)
            return reportNoGradient(bad, positions);
        gather(velocity);
        report = takeTurns(
            {velocity, &mu, &hasFastMu, innerTolerance(tolerance), maxIterations, true, solveClusters,
             [&](int row) { return jacobian->timeDerivative[row]; },
             [&](int row) {
                 return jacobian->rate(row, fieldOf(*jacobian, row, velocity)) + jacobian->timeDerivative[row];
             },
             [&](int row, double rate) { return std::abs(rate) * timeScale * jacobian->inverseScale[row]; },
             [](int, double rate) { return rate; }});
    }
    if (report.isOfStart)
        return report;
    requireDependent(report, checked, tolerance, [&](int row) { return measure(*checks, row); });
    describeWorst(report, fast, positions, box, time, measure);
    if (isSolved(report))
        noteFailure(report, bodies.solveVelocities(positions, box, velocity, last.muOfBodies, motions([&](int b) {
                                                       return joinedBodies().velocityOf(b, nodes.data());
                                                   })));
    return report;
}

SolveReport ConstraintSolver::solveAccelerations(const Real3* positions, const Box& box, const Real3* velocity,
                                                 Real3* acceleration, ForceMultipliers& multipliers, int maxIterations,
                                                 const Stabilization& feedback) {
    const int bad = setStart(positions, box);
    if (bad >= 0)
        return reportNoGradient(bad, positions);
    std::vector<double> offset(graph->numRows()), byRow(graph->numRows());
    gather(velocity);
    const std::vector<Real3> rates = nodes;
    gather(acceleration);
    if (hasJoined())
        joinedBodies().addGyration(rates.data(), nodes.data());
    double largest = 0;
    for (int row = 0; row < graph->numRows(); row++) {
        const Real3* v = jacobian->isJoined(row) ? rates.data() : velocity;
        const double rate = jacobian->rate(row, v) + jacobian->timeDerivative[row];
        const double sigma = jacobian->residual(row, jacobian->startValue(row));
        offset[row] = jacobian->curvature(row, v) + 2 * feedback.alpha * rate + feedback.beta * feedback.beta * sigma;
        const double size =
            std::abs(offset[row]) + std::abs(jacobian->rate(row, fieldOf(*jacobian, row, acceleration)));
        largest = std::max(largest, size * jacobian->inverseScale[row]);
    }
    SolveReport report = solveLinear(offset, largest, acceleration, byRow, maxIterations);
    sortByConstraint(byRow, multipliers.values);
    if (report.outcome == Outcome::Converged)
        noteFailure(report,
                    bodies.solveAccelerations(
                        positions, box, velocity, acceleration, feedback, multipliers.ofBodies,
                        motions([&](int b) { return joinedBodies().accelerationOf(b, nodes.data(), rates.data()); })));
    return report;
}

SolveReport ConstraintSolver::solveLinear(const std::vector<double>& offset, double largest, Real3* x,
                                          std::vector<double>& multipliers, int maxIterations) {
    // Errors are relative to the largest right-hand side; the problem is linear, and one refinement reaches this.
    const double timeScale = largest > 0 ? 1 / largest : 1, tolerance = 1e-12;
    const auto solveClusters = [&](const std::vector<int>& clusters, bool) {
        SolveReport report = solve(clusters, tolerance, multipliers, x,
                                   [&](ClusterSolver& s, const Cluster& c, double tol, Real3* field) {
                                       StageInput input{*jacobian, tol, maxIterations};
                                       input.rateOffset = offset.data();
                                       return s.solveVelocities(c, input, timeScale, field, multipliers.data());
                                   });
        acceptRounding(report);
        return report;
    };
    if (border == nullptr)
        return solveClusters(everyCluster, false);
    bool hasFast = false;
    setBorder(std::vector<Real3>(startPositions).data(), startBox);
    SolveReport report =
        takeTurns({x, &multipliers, &hasFast, innerTolerance(tolerance), maxIterations, true, solveClusters,
                   [&](int row) { return offset[row]; },
                   [&](int row) { return jacobian->rate(row, fieldOf(*jacobian, row, x)) + offset[row]; },
                   [&](int row, double rate) { return std::abs(rate) * timeScale * jacobian->inverseScale[row]; },
                   [](int, double rate) { return rate; }});
    acceptRounding(report);
    return report;
}

} // namespace ConstraintPlugin
