// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ClusterReport.h"
#include <array>
#include <map>
#include <tuple>

namespace ConstraintPlugin {

namespace {

/** What a cluster holds. */
struct Contents {
    std::vector<int> bodies; ///< joined rigid bodies, ascending
    int particles = 0;
    int removed = 0; ///< degrees of freedom
};

/** Sort, and leave each number in once. */
void makeUnique(std::vector<int>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/** Degrees of freedom that a body takes from its particles. Those of a shared one are counted in the first body. */
int removedBy(const ConstraintSet& set, int b) {
    const RigidBody& body = set.bodies[b];
    int massive = body.numMassive;
    for (int i = 0; i < body.size() && body.isJoined; i++)
        massive -= body.mass[i] > 0 && set.joinedPlaces[body.particles[i]].body != b;
    return 3 * massive - body.degreesOfFreedom();
}

Contents contentsOf(const ConstraintSet& set, const ConstraintGraph& graph, int begin, int end) {
    Contents contents;
    std::vector<int> particles;
    for (int row = begin; row < end; row++) {
        const Constraint& c = set.constraints[graph.rows[row]];
        particles.insert(particles.end(), c.particles.begin(), c.particles.end());
        for (int node : c.nodes)
            if (node >= set.numParticles())
                contents.bodies.push_back((node - set.numParticles()) / 2);
    }
    makeUnique(contents.bodies);
    contents.removed = end - begin;
    for (int b : contents.bodies) {
        particles.insert(particles.end(), set.bodies[b].particles.begin(), set.bodies[b].particles.end());
        contents.removed += removedBy(set, b);
    }
    makeUnique(particles);
    contents.particles = (int) particles.size();
    return contents;
}

std::string describeRefusal(const FillCount& fill) {
    return "Iterative, which is slower: a factor would have " + describe(fill);
}

} // namespace

std::vector<ClusterInfo> describeClusters(const ConstraintSet& set, const ConstraintGraph& graph) {
    // constraints, particles, equations, bodies, solver, levels, entries, note
    using Shape = std::tuple<int, int, int, int, std::string, int, long long, std::string>;
    std::map<Shape, int> counts;
    std::vector<char> isListed(set.bodies.size());
    for (const Cluster& cluster : graph.clusters) {
        const SymbolicFactor* factor = cluster.factor < 0 ? nullptr : &graph.factors[cluster.factor];
        const long long size = cluster.size();
        const long long entries = factor                                         ? (long long) factor->entryRow.size()
                                  : cluster.kind == ClusterSolverKind::Iterative ? 0
                                                                                 : size * (size - 1) / 2;
        const std::string solver =
            nameOf(cluster.kind) + std::string(factor && factor->isDissected ? " by nested dissection" : "");
        const Contents contents = contentsOf(set, graph, cluster.begin, cluster.end);
        for (int b : contents.bodies)
            isListed[b] = 1;
        counts[{contents.removed, contents.particles, cluster.size(), (int) contents.bodies.size(), solver,
                factor ? factor->numLevels : 1, entries,
                cluster.refused < 0 ? "" : describeRefusal(graph.refused[cluster.refused])}]++;
    }
    if (!graph.border.rows.empty()) {
        const SymbolicFactor& factor = graph.border.factor;
        Contents contents = contentsOf(set, graph, graph.borderBegin(), graph.numRows());
        for (int& b : contents.bodies) // no cluster has them
            contents.removed += isListed[b] ? -removedBy(set, b) : 0;
        contents.bodies.erase(
            std::remove_if(contents.bodies.begin(), contents.bodies.end(), [&](int b) { return isListed[b]; }),
            contents.bodies.end());
        for (int b : contents.bodies)
            isListed[b] = 1;
        counts[{contents.removed, contents.particles, factor.size(), (int) contents.bodies.size(), "border",
                factor.numLevels, (long long) factor.entryRow.size(), ""}]++;
    }
    for (int b = 0; b < (int) set.bodies.size(); b++)
        if (!isListed[b])
            counts[{removedBy(set, b), set.bodies[b].size(), 0, 1, "rigid body", 1, 0, ""}]++;
    std::vector<ClusterInfo> clusters;
    for (auto it = counts.rbegin(); it != counts.rend(); ++it) {
        const auto& [constraints, particles, equations, bodies, solver, levels, entries, note] = it->first;
        clusters.push_back({it->second, constraints, particles, solver, levels, entries, note, equations, bodies});
    }
    return clusters;
}

int countFreeBodies(const ConstraintSet& set) {
    return (int) std::count_if(set.bodies.begin(), set.bodies.end(),
                               [](const RigidBody& body) { return !body.isJoined; });
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
    if (const std::size_t rows = graph.border.rows.size(); rows > 0)
        solver += (solver.empty() ? "" : " and ") + std::string("a border of ") + std::to_string(rows) +
                  (rows == 1 ? " row" : " rows");
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
