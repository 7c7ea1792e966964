// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Conditioning.h"
#include "MatrixInversionSolver.h"
#include "Peeling.h"
#include "RankAnalysis.h"
#include "SplitMix.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Scale to unit length. @return the length */
double normalize(std::vector<double>& v) {
    const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    for (double& x : v)
        x /= length;
    return length;
}

/** Power iteration: the largest eigenvalue of what multiply(v) applies; v becomes its eigenvector. */
template <class Multiply>
double largestEigenvalue(std::vector<double>& v, Multiply multiply) {
    constexpr int maxIterations = 100;
    SplitMix random(v.size());
    for (double& x : v)
        x = random.uniform() - 0.5;
    normalize(v);
    double value = 0;
    for (int i = 0; i < maxIterations; i++) {
        multiply(v);
        const double before = value;
        value = normalize(v);
        if (std::abs(value - before) <= 1e-3 * value)
            break;
    }
    return value;
}

/** Of one cluster with a sparse factor. */
IllConditioned measure(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J) {
    constexpr double zeroPivot = 1e-13; // to rounding
    const int n = cluster.size();
    SparseMatrix factor(graph.factors[cluster.factor]);
    assembleUnitMatrix(graph, cluster, J, factor);
    const SymbolicFactor& pattern = factor.symbolic;
    const std::vector<double> lower = factor.lower; // of the matrix, which the factor overwrites
    std::vector<double> pivots, weights(n);
    factor.factorizeRankRevealing(zeroPivot, pivots);
    IllConditioned result;
    const auto weakest = std::min_element(pivots.begin(), pivots.end());
    if (*weakest > zeroPivot) {
        const double largest = largestEigenvalue(weights, [&](std::vector<double>& v) {
            std::vector<double> product = v;
            for (int column = 0; column < n; column++)
                for (int e = pattern.columnStart[column]; e < pattern.columnStart[column + 1]; e++) {
                    const int row = pattern.entryRow[e];
                    product[row] += lower[e] * v[column];
                    product[column] += lower[e] * v[row];
                }
            v.swap(product);
        });
        result.condition =
            largest * largestEigenvalue(weights, [&](std::vector<double>& v) { factor.solve(v.data()); });
    } else {
        result.condition = 1 / zeroPivot;
        weights = factor.dependence((int) (weakest - pivots.begin()));
        normalize(weights);
    }
    for (int i = 0; i < n; i++)
        if (std::abs(weights[i]) > 0.01)
            result.constraints.push_back(graph.rows[cluster.begin + i]);
    std::sort(result.constraints.begin(), result.constraints.end());
    return result;
}

} // namespace

std::vector<IllConditioned> findIllConditioned(const ConstraintSet& set, const std::vector<int>& independent,
                                               const Real3* positions, const Box& box, double bound, double time) {
    constexpr double clear = 0.01; // squared sine of an angle, of one particle's gradients
    std::vector<int> rest = peel(set, independent, positions, box, clear, time).rest;
    {
        Jacobian J(set, rest);
        J.setStart(positions, box, time);
        std::vector<int> withGradient;
        for (int row = 0; row < J.numRows(); row++) // particles at the same position have none
            if (J.hasGradient(row))
                withGradient.push_back(rest[row]);
        rest.swap(withGradient);
    }
    const ConstraintGraph graph(set, rest, Method::Automatic, 0);
    Jacobian J(set, graph.rows);
    J.setStart(positions, box, time);
    std::vector<IllConditioned> found;
    for (const Cluster& cluster : graph.clusters)
        if (cluster.kind == ClusterSolverKind::Sparse && cluster.size() > 1)
            if (IllConditioned one = measure(graph, cluster, J); one.condition > bound)
                found.push_back(std::move(one));
    return found;
}

} // namespace ConstraintPlugin
