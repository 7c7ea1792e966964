// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "IterativeSolver.h"
#include "SmallMatrix.h"

namespace ConstraintPlugin {

namespace {

/** Sweep over the rows of a cluster until none is off by more than the tolerance.
 *
 *  Every sweep corrects every row, even if its error is within the tolerance. Otherwise errors would have the same sign
 * in every step, and the energy would drift.
 *  @param x         what is corrected: displacements or velocities
 *  @param residual  (row) -> sigma or dq/dt
 *  @param error     (row, residual) -> error in units of the tolerance
 *  @param diagonal  (row) -> the denominator
 *  @param hasTurned (row) -> whether to give up */
template <class Residual, class Error, class Diagonal, class HasTurned>
ClusterReport sweep(const Cluster& cluster, const StageInput& input, Real3* x, double* multiplier, Residual residual,
                    Error error, Diagonal diagonal, HasTurned hasTurned) {
    Jacobian& J = input.jacobian;
    for (int row = cluster.begin; row < cluster.end; row++)
        if (multiplier[row] != 0)
            J.addImpulse(row, multiplier[row], x);
    ClusterReport report;
    auto fail = [&](Outcome outcome, int row, double e) {
        report.outcome = outcome;
        report.row = row;
        report.maxError = e;
        return report;
    };
    for (report.iterations = 1;; report.iterations++) {
        double largest = 0;
        for (int row = cluster.begin; row < cluster.end; row++) {
            const double r = residual(row), e = error(row, r);
            if (!std::isfinite(e))
                return fail(Outcome::NotFinite, row, e);
            largest = std::max(largest, e);
            const double denominator = diagonal(row);
            if (hasTurned(row) || !(std::abs(denominator) > pivotThreshold * J.diagonal(row, J.start.data())))
                return fail(Outcome::Singular, row, e);
            multiplier[row] -= r / denominator;
            J.addImpulse(row, -r / denominator, x);
        }
        const bool isLast = report.iterations >= input.maxIterations;
        if (largest > input.tolerance && !isLast)
            continue;
        // Correcting a row has changed the errors of rows that were evaluated before.
        report.maxError = 0;
        report.row = -1;
        for (int row = cluster.begin; row < cluster.end; row++)
            report.note(row, error(row, residual(row)));
        if (report.maxError <= input.tolerance)
            return report;
        if (isLast)
            return fail(Outcome::NotConverged, report.row, report.maxError);
    }
}

} // namespace

ClusterReport IterativeSolver::solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                              double* lambda) {
    Jacobian& J = input.jacobian;
    return sweep(
        cluster, input, delta, lambda, [&](int row) { return J.residual(row, J.evaluate(row, delta)); },
        [&](int row, double sigma) { return J.error(row, sigma); },
        [&](int row) { return J.diagonal(row, J.current.data()); }, [&](int row) { return J.hasTurned(row); });
}

ClusterReport IterativeSolver::solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale,
                                               Real3* velocity, double* mu) {
    Jacobian& J = input.jacobian;
    return sweep(
        cluster, input, velocity, mu, [&](int row) { return J.rate(row, velocity) + input.offset(row); },
        [&](int row, double rate) { return std::abs(rate) * timeScale * J.inverseScale[row]; },
        [&](int row) { return J.diagonal(row, J.start.data()); }, [](int) { return false; });
}

} // namespace ConstraintPlugin
