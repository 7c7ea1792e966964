// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RankAnalysis.h"
#include "IndependentRows.h"
#include "Peeling.h"

namespace ConstraintPlugin {

namespace {

constexpr double largestBend = 0.02;

/** Shape of a set of directions. */
Shape shapeOf(const std::vector<Real3>& directions) {
    Real3 normal;
    for (const Real3& d : directions) {
        const Real3 n = cross(directions[0], d);
        if (dot(n, n) > dot(normal, normal))
            normal = n;
    }
    if (norm(normal) < largestBend * dot(directions[0], directions[0]))
        return Shape::Straight;
    constexpr double maxOffset =
        0.5 * largestRoundedHeight; // of two edges that cross, for a tetrahedron of that height
    for (const Real3& d : directions)
        if (std::abs(dot(normal, d)) > norm(normal) * std::min(largestBend * norm(d), maxOffset))
            return Shape::Spatial;
    return Shape::Flat;
}

/** Whether there are too many distances to be independent within a plane. The three distances of a triangle are not too
 *  many, however close to linear it is. */
bool exceedsPlane(const ConstraintSet& set, const std::vector<int>& circuit) {
    std::vector<int> particles;
    for (int k : circuit)
        particles.insert(particles.end(), set.constraints[k].particles.begin(), set.constraints[k].particles.end());
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    const int n = (int) particles.size();
    const int immovable =
        (int) std::count_if(particles.begin(), particles.end(), [&](int p) { return set.inverseMass[p] == 0; });
    return (int) circuit.size() > (immovable >= 2 ? 2 * (n - immovable) : 2 * n - 3);
}

/** The rows of the linear dependence that belongs to the smallest pivot of a cluster, and their shape. */
void describeCircuit(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J,
                     const SparseMatrix& matrix, int weakest, RankAnalysis& analysis) {
    const std::vector<double> weight = matrix.dependence(weakest);
    std::vector<Real3> directions;
    analysis.circuit.clear();
    for (int i = 0; i < cluster.size(); i++)
        if (std::abs(weight[i]) > 1e-3) {
            analysis.circuit.push_back(graph.rows[cluster.begin + i]);
            directions.push_back(J.start[J.slotStart[cluster.begin + i]]);
        }
    analysis.shape = shapeOf(directions);
    const auto isBraced = [&](int k) { return set.constraints[k].isBraced; };
    if (analysis.shape == Shape::Flat && (!exceedsPlane(set, analysis.circuit) ||
                                          std::any_of(analysis.circuit.begin(), analysis.circuit.end(), isBraced)))
        analysis.shape = Shape::Spatial;
}

} // namespace

double RankAnalysis::leastPivot() const {
    return shape == Shape::Spatial ? rankThreshold : 1e-3;
}

bool RankAnalysis::isSingular() const {
    return !(smallestPivot >= leastPivot());
}

void assembleUnitMatrix(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J, SparseMatrix& matrix) {
    std::vector<double> scale(cluster.size());
    assemble(
        graph, cluster, J, J.start.data(),
        [&](int i, double value) {
            scale[i] = 1 / std::sqrt(value);
            matrix.diagonal[i] = 1;
        },
        [&](const Coupling& c, double element, double) {
            matrix.lower[c.entry] += scale[c.row - cluster.begin] * element * scale[c.column - cluster.begin];
        });
}

RankAnalysis analyzeRank(const ConstraintSet& set, const std::vector<int>& candidates, const Real3* positions,
                         const Box& box, double threshold, double time) {
    constexpr double clear = 0.01; // rows with a larger pivot are not examined further
    RankAnalysis analysis;
    const Peeling peeling = peel(set, candidates, positions, box, clear, time);
    analysis.independent = peeling.independent;
    analysis.smallestPivot = peeling.smallestPivot;
    std::vector<int> rings;
    {
        Jacobian J(set, peeling.rest);
        J.setUnitMasses();
        J.setStart(positions, box, time);
        for (int row = 0; row < J.numRows(); row++) // an expression may have no gradient
            (J.hasGradient(row) ? rings : analysis.independent).push_back(peeling.rest[row]);
    }
    const ConstraintGraph graph(set, rings, Method::Automatic, 0);
    Jacobian J(set, graph.rows);
    J.setUnitMasses();
    J.setStart(positions, box, time);
    for (const Cluster& cluster : graph.clusters) {
        auto constraint = [&](int i) { return graph.rows[cluster.begin + i]; };
        std::vector<double> pivots(cluster.size());
        auto judge = [&] { // -1, or the row with the smallest pivot
            int weakest = -1;
            for (int i = 0; i < cluster.size(); i++) {
                const bool independent = pivots[i] > threshold;
                (independent ? analysis.independent : analysis.dependent).push_back(constraint(i));
                if (!(pivots[i] >= analysis.smallestPivot)) {
                    analysis.smallestPivot = pivots[i];
                    weakest = i;
                }
            }
            return weakest;
        };
        if (cluster.kind != ClusterSolverKind::Sparse) { // too large to factor
            const UnitRows rows(J, cluster.begin, cluster.end);
            if (rows.work() > maxDenseWork) // analyzeGenericRank() has refused it
                pivots.assign(cluster.size(), 1.0);
            else {
                const IndependentRows found = chooseIndependent(rows);
                for (std::size_t i = 0; i < found.rows.size(); i++)
                    pivots[found.rows[i]] = found.distance[i] * found.distance[i];
            }
            const int weakest = judge();
            if (weakest >= 0 && analysis.smallestPivot < clear) {
                analysis.circuit = {constraint(weakest)};
                analysis.shape = Shape::Spatial;
            }
            continue;
        }
        SparseMatrix matrix(graph.factors[cluster.factor]);
        assembleUnitMatrix(graph, cluster, J, matrix);
        matrix.factorizeRankRevealing(threshold, pivots);
        const int weakest = judge();
        if (weakest >= 0 && analysis.smallestPivot < clear)
            describeCircuit(set, graph, cluster, J, matrix, weakest, analysis);
    }
    std::sort(analysis.independent.begin(), analysis.independent.end());
    std::sort(analysis.dependent.begin(), analysis.dependent.end());
    return analysis;
}

} // namespace ConstraintPlugin
