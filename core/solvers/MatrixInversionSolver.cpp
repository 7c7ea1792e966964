// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "MatrixInversionSolver.h"
#include "SmallMatrix.h"

namespace ConstraintPlugin {

namespace {

/** A small matrix, assembled afresh for every solve. solveInPlace(A, x): -1, or the failing row. */
template <class SolveInPlace>
class SmallSystem {
public:
    SmallSystem(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J, SolveInPlace solveInPlace)
        : graph(graph), cluster(cluster), J(J), solveInPlace(solveInPlace) {
    }
    int factorize(const Real3* current, bool) {
        gradients = current;
        return -1;
    }
    int solve(double* x) {
        const int n = cluster.size();
        std::fill(A, A + n * n, 0.0);
        assemble(
            graph, cluster, J, gradients, [&](int i, double value) { A[i * n + i] = value; },
            [&](const Coupling& c, double rowColumn, double columnRow) {
                A[(c.row - cluster.begin) * n + c.column - cluster.begin] += rowColumn;
                A[(c.column - cluster.begin) * n + c.row - cluster.begin] += columnRow;
            });
        return solveInPlace(A, x);
    }

private:
    const ConstraintGraph& graph;
    const Cluster& cluster;
    const Jacobian& J;
    SolveInPlace solveInPlace;
    const Real3* gradients = nullptr;
    double A[maxDenseCluster * maxDenseCluster];
};

struct SparseSystem {
    const ConstraintGraph& graph;
    const Cluster& cluster;
    const Jacobian& J;
    SparseMatrix& matrix;

    int factorize(const Real3* current, bool symmetric) {
        matrix.setZero();
        assemble(
            graph, cluster, J, current, [&](int i, double value) { matrix.diagonal[i] = value; },
            [&](const Coupling& c, double rowColumn, double columnRow) {
                matrix.lower[c.entry] += rowColumn;
                matrix.upper[c.entry] += columnRow;
            });
        return symmetric ? matrix.factorizeLDLT() : matrix.factorizeLU();
    }
    int solve(double* x) {
        matrix.solve(x);
        return -1;
    }
};

/** If a bond has rotated by 90 degrees or more, the solution is a wrong root. */
ClusterReport rejectTurnedBonds(const Cluster& cluster, const Jacobian& J, ClusterReport report) {
    for (int row = cluster.begin; row < cluster.end; row++)
        if (J.hasTurned(row)) {
            report.outcome = Outcome::Singular;
            report.row = row;
            return report;
        }
    return report;
}

/** Repeat A d lambda = -residual until no row's error exceeds the tolerance. A is built from the current gradients at
 *  each iteration, or where the residual is linear (`frozen`) once, from those at the start.
 *  @param residual  (row) -> sigma or dq/dt
 *  @param error     (row, residual) -> error in units of the tolerance */
template <bool frozen, class System, class Residual, class Error>
ClusterReport newton(const Cluster& cluster, const StageInput& input, System&& system, Real3* x, double* multiplier,
                     double* correction, Residual residual, Error error) {
    Jacobian& J = input.jacobian;
    std::fill(multiplier + cluster.begin, multiplier + cluster.end, 0.0);
    for (int iteration = 0;; iteration++) {
        ClusterReport report;
        report.iterations = iteration;
        for (int row = cluster.begin; row < cluster.end; row++) {
            const double r = residual(row);
            correction[row - cluster.begin] = -r;
            if (!report.note(row, error(row, r))) {
                report.outcome = Outcome::NotFinite;
                return report;
            }
        }
        // At least one correction: errors below the tolerance would otherwise have the same sign in every step.
        if (report.maxError == 0 || (report.maxError <= input.tolerance && iteration > 0))
            return frozen ? report : rejectTurnedBonds(cluster, J, report);
        if (iteration == input.maxIterations) {
            report.outcome = Outcome::NotConverged;
            return report;
        }
        int failed = -1;
        if (!frozen || iteration == 0)
            failed = system.factorize(frozen ? J.start.data() : J.current.data(), frozen);
        if (failed < 0)
            failed = system.solve(correction);
        if (failed >= 0) {
            report.outcome = Outcome::Singular;
            report.row = cluster.begin + failed;
            report.maxError = error(report.row, residual(report.row));
            return report;
        }
        for (int row = cluster.begin; row < cluster.end; row++) {
            const double d = correction[row - cluster.begin];
            multiplier[row] += d;
            J.addImpulse(row, d, x);
        }
    }
}

/** Call visit with the linear system of a cluster. */
template <class Visit>
ClusterReport withSystem(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J,
                         std::vector<SparseMatrix>& sparse, Visit visit) {
    switch (cluster.kind) {
    case ClusterSolverKind::ClosedForm1:
        return visit(SmallSystem(
            graph, cluster, J, [](double* A, double* x) { return solveClosedForm<1>(A, x) ? -1 : weakestRow(1, A); }));
    case ClusterSolverKind::ClosedForm2:
        return visit(SmallSystem(
            graph, cluster, J, [](double* A, double* x) { return solveClosedForm<2>(A, x) ? -1 : weakestRow(2, A); }));
    case ClusterSolverKind::ClosedForm3:
        return visit(SmallSystem(
            graph, cluster, J, [](double* A, double* x) { return solveClosedForm<3>(A, x) ? -1 : weakestRow(3, A); }));
    case ClusterSolverKind::Dense:
        return visit(
            SmallSystem(graph, cluster, J, [n = cluster.size()](double* A, double* x) { return solveDense(n, A, x); }));
    default:
        return visit(SparseSystem{graph, cluster, J, sparse[cluster.factor]});
    }
}

} // namespace

MatrixInversionSolver::MatrixInversionSolver(const ConstraintGraph& graph) : graph(graph) {
    for (const SymbolicFactor& factor : graph.factors)
        sparse.emplace_back(factor);
    int largest = 0;
    for (const Cluster& cluster : graph.clusters)
        largest = std::max(largest, cluster.size());
    correction.resize(largest);
}

ClusterReport MatrixInversionSolver::solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                                    double* lambda) {
    Jacobian& J = input.jacobian;
    return withSystem(graph, cluster, J, sparse, [&](auto&& system) {
        return newton<false>(
            cluster, input, system, delta, lambda, correction.data(),
            [&](int row) { return J.residual(row, J.evaluate(row, delta)); },
            [&](int row, double sigma) { return J.error(row, sigma); });
    });
}

ClusterReport MatrixInversionSolver::solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale,
                                                     Real3* velocity, double* mu) {
    Jacobian& J = input.jacobian;
    return withSystem(graph, cluster, J, sparse, [&](auto&& system) {
        return newton<true>(
            cluster, input, system, velocity, mu, correction.data(),
            [&](int row) { return J.rate(row, velocity) + input.offset(row); },
            [&](int row, double rate) { return std::abs(rate) * timeScale * J.inverseScale[row]; });
    });
}

} // namespace ConstraintPlugin
