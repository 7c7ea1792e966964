// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ClusterReport.h"
#include <map>
#include <tuple>

namespace ConstraintPlugin {

namespace {

int countParticles(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) {
    std::vector<int> particles;
    for (int row = cluster.begin; row < cluster.end; row++) {
        const Constraint& c = set.constraints[graph.rows[row]];
        particles.insert(particles.end(), c.particles.begin(), c.particles.end());
    }
    std::sort(particles.begin(), particles.end());
    return (int) (std::unique(particles.begin(), particles.end()) - particles.begin());
}

std::string describeRefusal(const FillCount& fill) {
    return "Iterative, which is slower: a factor would have " + describe(fill);
}

} // namespace

std::vector<ClusterInfo> describeClusters(const ConstraintSet& set, const ConstraintGraph& graph) {
    // constraints, particles, solver, levels, entries, note
    using Shape = std::tuple<int, int, std::string, int, long long, std::string>;
    std::map<Shape, int> counts;
    for (const Cluster& cluster : graph.clusters) {
        const SymbolicFactor* factor = cluster.factor < 0 ? nullptr : &graph.factors[cluster.factor];
        const long long size = cluster.size();
        const long long entries = factor                                         ? (long long) factor->entryRow.size()
                                  : cluster.kind == ClusterSolverKind::Iterative ? 0
                                                                                 : size * (size - 1) / 2;
        const std::string solver =
            nameOf(cluster.kind) + std::string(factor && factor->isDissected ? " by nested dissection" : "");
        counts[{cluster.size(), countParticles(set, graph, cluster), solver, factor ? factor->numLevels : 1, entries,
                cluster.refused < 0 ? "" : describeRefusal(graph.refused[cluster.refused])}]++;
    }
    for (const FreeBody& body : set.bodies)
        counts[{3 * body.numMassive - body.degreesOfFreedom(), body.size(), "rigid body", 1, 0, ""}]++;
    std::vector<ClusterInfo> clusters;
    for (auto it = counts.rbegin(); it != counts.rend(); ++it) {
        const auto& [constraints, particles, solver, levels, entries, note] = it->first;
        clusters.push_back({it->second, constraints, particles, solver, levels, entries, note});
    }
    return clusters;
}

std::string describeSolver(const ConstraintGraph& graph) {
    bool used[numClusterSolverKinds] = {};
    for (const Cluster& cluster : graph.clusters)
        used[(int) cluster.kind] = true;
    std::string direct;
    for (int kind = (int) ClusterSolverKind::ClosedForm1; kind < numClusterSolverKinds; kind++)
        if (used[kind])
            direct += (direct.empty() ? "" : ", ") + std::string(nameOf((ClusterSolverKind) kind));
    std::string solver = direct.empty() ? "" : "MatrixInversion (" + direct + ")";
    if (used[(int) ClusterSolverKind::Iterative])
        solver += solver.empty() ? "Iterative" : " and Iterative";
    return solver.empty() ? "no constraints" : solver;
}

bool isServedIteratively(const ConstraintGraph& graph, int constraint) {
    return std::any_of(graph.clusters.begin(), graph.clusters.end(), [&](const Cluster& cluster) {
        const auto rows = graph.rows.begin();
        return cluster.kind == ClusterSolverKind::Iterative &&
               std::find(rows + cluster.begin, rows + cluster.end, constraint) != rows + cluster.end;
    });
}

std::string describeFallbacks(const ConstraintGraph& graph) {
    int largest = -1;
    for (int c = 0; c < (int) graph.clusters.size(); c++)
        if (graph.clusters[c].refused >= 0 &&
            (largest < 0 || graph.clusters[c].size() > graph.clusters[largest].size()))
            largest = c;
    if (largest < 0)
        return "";
    const std::size_t others = graph.refused.size() - 1;
    return "the cluster of " + std::to_string(graph.clusters[largest].size()) + " constraints" +
           (others > 0 ? " and " + std::to_string(others) + " smaller ones" : "") + " by " +
           describeRefusal(graph.refused[graph.clusters[largest].refused]);
}

} // namespace ConstraintPlugin
