// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RankAnalysis.h"
#include "MatrixInversionSolver.h"
#include "OrthonormalBasis.h"
#include <cstdint>
#include <iterator>

namespace ConstraintPlugin {

namespace {

/** A single constraint, or distances that join movable particles, the immovable ones taken as one, without a closed
 *  ring. @param clusterOf  [numParticles + 1], by which clusters tell their particles; any number but this one's */
bool isTree(const ConstraintSet& set, const std::vector<int>& cluster, int number, std::vector<int>& clusterOf) {
    std::size_t nodes = 0;
    if (cluster.size() == 1)
        return true;
    for (int k : cluster) {
        const Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Distance)
            return false;
        for (int p : c.particles) {
            int& mark = set.inverseMass[p] > 0 ? clusterOf[p] : clusterOf.back();
            nodes += mark != number;
            mark = number;
        }
    }
    return cluster.size() + 1 == nodes;
}

/** Three distances by themselves, such as a rigid water's: the smaller pivot of their matrix, of unit diagonal and unit
 *  masses. 0 for anything else, and what is not a number. */
double pivotOfThree(const ConstraintSet& set, const std::vector<int>& cluster, const Real3* positions, const Box& box) {
    if (cluster.size() != 3)
        return 0;
    const Constraint* c[3];
    Real3 bond[3];
    for (int i = 0; i < 3; i++) {
        c[i] = &set.constraints[cluster[i]];
        if (c[i]->kind != CoordinateKind::Distance)
            return 0;
        bond[i] = positions[c[i]->particles[0]] - positions[c[i]->particles[1]];
        if (c[i]->periodic && c[i]->target <= box.halfWidth())
            bond[i] = box.minimumImage(bond[i]);
    }
    const auto element = [&](int i, int j) {
        double sum = 0;
        for (int s : {0, 1})
            for (int t : {0, 1})
                if (c[i]->particles[s] == c[j]->particles[t] && set.inverseMass[c[i]->particles[s]] > 0)
                    sum += (s == t ? 1 : -1) * dot(bond[i], bond[j]);
        return sum;
    };
    const auto unit = [&](int i, int j) { return element(i, j) / std::sqrt(element(i, i) * element(j, j)); };
    const double a = unit(0, 1), b = unit(0, 2), second = 1 - a * a;
    const double l = (unit(1, 2) - a * b) / second, third = 1 - b * b - l * l * second;
    return second > 0 && third > 0 ? std::min(second, third) : 0;
}

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

constexpr double largestBend = 0.02;

/** Pivots of dependent rows are zero but for rounding, which the pivots before them magnify by their inverse. */
bool isDoubtful(double pivot) {
    return pivot > 1e-12 && pivot < 1e-5;
}

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
    for (const Real3& d : directions)
        if (std::abs(dot(normal, d)) > largestBend * norm(normal) * norm(d))
            return Shape::Spatial;
    return Shape::Flat;
}

/** Whether distances are too many to be independent of each other within a plane. Three distances of a triangle are
 *  not: however close to straight, being flat is nothing that the triangle could lose. */
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

/** The rows that take part in the dependence which the smallest pivot of a cluster shows, and their shape. */
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
    if (analysis.shape == Shape::Flat && !exceedsPlane(set, analysis.circuit))
        analysis.shape = Shape::Spatial;
}

/** Remove constraints that have no gradient at some positions, as an expression may not, and return them. */
std::vector<int> takeWithoutGradient(const ConstraintSet& set, std::vector<int>& constraints, const Real3* positions,
                                     const Box& box, double time) {
    std::vector<int> with, without;
    Jacobian J(set, constraints);
    J.setStart(positions, box, time);
    for (int row = 0; row < J.numRows(); row++) {
        const double diagonal = J.diagonal(row, J.start.data());
        (diagonal > 0 && std::isfinite(diagonal) ? with : without).push_back(constraints[row]);
    }
    constraints.swap(with);
    return without;
}

/** Rows of a cluster whose matrix is too large to factor, as where all particles of a large body are joined to all
 *  others: far more rows than coordinates. Each row in turn is orthogonalized against those taken so far.
 *  @param[out] pivots  [rows] squared norm of what is left of it
 *  @return false if that is too much work too */
bool orthogonalize(const Cluster& cluster, const Jacobian& J, double threshold, std::vector<double>& pivots) {
    constexpr double mostWork = 3e10;
    std::vector<int> particles(J.particle.begin() + J.slotStart[cluster.begin],
                               J.particle.begin() + J.slotStart[cluster.end]);
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    const std::size_t n = 3 * particles.size(), most = std::min<std::size_t>(n, cluster.size());
    if (4.0 * cluster.size() * most * n > mostWork)
        return false;
    OrthonormalBasis basis(n);
    std::vector<double> v(n);
    for (int row = cluster.begin; row < cluster.end; row++) {
        std::fill(v.begin(), v.end(), 0.0);
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++) {
            const auto place = std::lower_bound(particles.begin(), particles.end(), J.particle[s]) - particles.begin();
            const Real3 g = std::sqrt(J.inverseMass[s] / J.diagonal(row, J.start.data())) * J.start[s];
            v[3 * place] += g.x;
            v[3 * place + 1] += g.y;
            v[3 * place + 2] += g.z;
        }
        pivots.push_back(basis.add(v.data(), threshold));
    }
    return true;
}

/** Uniform in [0, 1), the same on every machine (splitmix64). */
double uniform(std::uint64_t index) {
    std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

} // namespace

bool RankAnalysis::isSingular() const {
    return !(smallestPivot >= rankThreshold) || (smallestPivot < 1e-3 && shape != Shape::Spatial);
}

RankAnalysis analyzeRank(const ConstraintSet& set, const std::vector<int>& candidates, const Real3* positions,
                         const Box& box, double threshold, double time) {
    RankAnalysis analysis;
    std::vector<int> rings, clusterOf(set.numParticles() + 1, -1);
    int number = 0;
    constexpr double clear = 0.1; // such a pivot needs no closer look
    for (const std::vector<int>& cluster : findClusters(set, candidates)) {
        const double pivot = pivotOfThree(set, cluster, positions, box);
        if (pivot > clear)
            analysis.smallestPivot = std::min(analysis.smallestPivot, pivot);
        const bool isPlain = pivot > clear || isTree(set, cluster, number++, clusterOf);
        std::vector<int>& destination = isPlain ? analysis.independent : rings;
        destination.insert(destination.end(), cluster.begin(), cluster.end());
    }
    if (!set.custom.empty())
        for (int k : takeWithoutGradient(set, rings, positions, box, time))
            analysis.independent.push_back(k);
    const ConstraintGraph graph(set, rings, Method::Automatic, 0);
    Jacobian J(set, graph.rows);
    for (double& w : J.inverseMass) // the rank is a matter of geometry
        w = w > 0 ? 1 : 0;
    J.setStart(positions, box, time);
    for (const Cluster& cluster : graph.clusters) {
        auto constraint = [&](int i) { return graph.rows[cluster.begin + i]; };
        std::vector<double> scale(cluster.size()), pivots;
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
        if (cluster.kind != ClusterSolverKind::Sparse) {       // too large to factor
            if (!orthogonalize(cluster, J, threshold, pivots)) // taken as independent
                pivots.assign(cluster.size(), 1.0);
            const int weakest = judge();
            if (weakest >= 0 && analysis.smallestPivot < 0.01) {
                analysis.circuit = {constraint(weakest)};
                analysis.shape = Shape::Spatial;
            }
            continue;
        }
        SparseMatrix matrix(graph.factors[cluster.factor]);
        assemble(
            graph, cluster, J, J.start.data(),
            [&](int i, double value) {
                scale[i] = 1 / std::sqrt(value);
                matrix.diagonal[i] = 1;
            },
            [&](const Coupling& c, double element, double) {
                matrix.lower[c.entry] += scale[c.row - cluster.begin] * element * scale[c.column - cluster.begin];
            });
        matrix.factorizeRankRevealing(threshold, pivots);
        if (std::any_of(pivots.begin(), pivots.end(), isDoubtful))
            for (int i = 0; i < cluster.size(); i++)
                analysis.doubtful.push_back(constraint(i));
        const int weakest = judge();
        if (weakest >= 0 && analysis.smallestPivot < 0.01)
            describeCircuit(set, graph, cluster, J, matrix, weakest, analysis);
    }
    std::sort(analysis.independent.begin(), analysis.independent.end());
    std::sort(analysis.dependent.begin(), analysis.dependent.end());
    return analysis;
}

/** Positions in general, the same on every machine. */
static std::vector<Real3> drawPositions(const ConstraintSet& set, int draw) {
    std::vector<Real3> positions(set.numParticles());
    std::uint64_t next = 3 * positions.size() * draw;
    for (Real3& x : positions) {
        x = {uniform(next), uniform(next + 1), uniform(next + 2)};
        next += 3;
    }
    for (const Constraint& c : set.constraints) // a rigid body's particles keep their places among its base particles
        if (c.kind == CoordinateKind::Linear) {
            const LinearForm& form = set.linear[c.form];
            Real3& place = positions[c.particles[0]];
            double along = -dot(form.axis, place);
            for (std::size_t b = 0; b < form.weights.size(); b++)
                along += form.weights[b] * dot(form.axis, positions[c.particles[b + 1]]);
            place += along * form.axis;
        }
    return positions;
}

RankAnalysis analyzeGenericRank(const ConstraintSet& set, const std::vector<int>& candidates) {
    constexpr int mostDraws = 6;
    RankAnalysis all;
    all.doubtful = candidates;
    for (int draw = 0; draw < mostDraws && !all.doubtful.empty(); draw++) {
        const std::vector<Real3> positions = drawPositions(set, draw);
        const RankAnalysis some = analyzeRank(set, all.doubtful, positions.data(), Box(), rankThreshold, 0);
        const bool isLast = draw + 1 == mostDraws;
        all.doubtful = isLast ? std::vector<int>() : some.doubtful;
        std::sort(all.doubtful.begin(), all.doubtful.end());
        for (auto list : {&RankAnalysis::independent, &RankAnalysis::dependent})
            std::set_difference((some.*list).begin(), (some.*list).end(), all.doubtful.begin(), all.doubtful.end(),
                                std::back_inserter(all.*list));
    }
    std::sort(all.independent.begin(), all.independent.end());
    std::sort(all.dependent.begin(), all.dependent.end());
    return all;
}

} // namespace ConstraintPlugin
