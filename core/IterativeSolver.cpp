// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "IterativeSolver.h"
#include "SmallMatrix.h"

namespace ConstraintPlugin {

namespace {

/** Sweep over the rows of a cluster until none is off by more than the tolerance.
 *  @param x         what is corrected: displacements or velocities
 *  @param residual  (row) -> sigma or dq/dt
 *  @param error     (row, residual) -> error in units of the tolerance
 *  @param diagonal  (row) -> the denominator */
template <class Residual, class Error, class Diagonal>
ClusterReport sweep(const Cluster& cluster, const StageInput& input, Real3* x, double* multiplier, Residual residual,
                    Error error, Diagonal diagonal) {
    for (int row = cluster.begin; row < cluster.end; row++)
        if (multiplier[row] != 0)
            input.jacobian.addImpulse(row, multiplier[row], x);
    for (int iteration = 0;; iteration++) {
        ClusterReport report;
        report.iterations = iteration;
        for (int row = cluster.begin; row < cluster.end; row++) {
            const double r = residual(row), e = error(row, r);
            if (!report.note(row, e)) {
                report.outcome = Outcome::NotFinite;
                return report;
            }
            if (e <= input.tolerance || iteration == input.maxIterations)
                continue;
            const double denominator = diagonal(row);
            if (!(denominator > pivotThreshold * input.jacobian.diagonal(row, input.jacobian.start.data()))) {
                report.outcome = Outcome::Singular;
                report.row = row;
                report.maxError = e;
                return report;
            }
            multiplier[row] -= r / denominator;
            input.jacobian.addImpulse(row, -r / denominator, x);
        }
        if (report.maxError <= input.tolerance)
            return report;
        if (iteration == input.maxIterations) {
            report.outcome = Outcome::NotConverged;
            return report;
        }
    }
}

} // namespace

ClusterReport IterativeSolver::solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                              double* lambda) {
    Jacobian& J = input.jacobian;
    return sweep(
        cluster, input, delta, lambda, [&](int row) { return J.evaluate(row, delta) - J.target[row]; },
        [&](int row, double sigma) { return std::abs(sigma) * J.inverseScale[row]; },
        [&](int row) { return J.diagonal(row, J.current.data()); });
}

ClusterReport IterativeSolver::solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale,
                                               Real3* velocity, double* mu) {
    Jacobian& J = input.jacobian;
    return sweep(
        cluster, input, velocity, mu, [&](int row) { return J.rate(row, velocity); },
        [&](int row, double rate) { return std::abs(rate) * timeScale * J.inverseScale[row]; },
        [&](int row) { return J.diagonal(row, J.start.data()); });
}

} // namespace ConstraintPlugin
