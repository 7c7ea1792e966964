// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintGraph.h"
#include "DisjointSets.h"
#include "OutOfMemory.h"
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace ConstraintPlugin {

const char* nameOf(ClusterSolverKind kind) {
    static const char* const names[numClusterSolverKinds] = {"iterative",       "closed form 1x1", "closed form 2x2",
                                                             "closed form 3x3", "dense LU",        "sparse LDLT/LU"};
    return names[(int) kind];
}

std::vector<std::vector<int>> findClusters(const ConstraintSet& set, const std::vector<int>& active) {
    // Disjoint sets of nodes. Constraints that share only an immovable one are not coupled.
    DisjointSets sets(set.numNodes());
    auto firstMovable = [&](const Constraint& c) {
        const std::vector<int>& nodes = set.nodesOf(c);
        return *std::find_if(nodes.begin(), nodes.end(), [&](int node) { return set.inverseMassOf(node) > 0; });
    };
    for (int k : active) {
        const Constraint& c = set.constraints[k];
        const int first = firstMovable(c);
        for (int node : set.nodesOf(c))
            if (set.inverseMassOf(node) > 0)
                sets.join(first, node);
    }
    std::vector<std::vector<int>> clusters;
    std::vector<int> clusterOf(set.numNodes(), -1);
    for (int k : active) {
        int& cluster = clusterOf[sets.find(firstMovable(set.constraints[k]))];
        if (cluster < 0) {
            cluster = (int) clusters.size();
            clusters.emplace_back();
        }
        clusters[cluster].push_back(k);
    }
    return clusters;
}

/** Which rows of a cluster share each movable node. Reused from cluster to cluster. */
class SharedNodes {
public:
    explicit SharedNodes(const ConstraintSet& set) : set(set), placeOf(set.numNodes()) {
    }
    struct RowSlot {
        int row, slot; // local row, slot within the row
    };
    void gather(const std::vector<int>& cluster) {
        end = {0};
        forEachSlot(cluster, [&](int node, int, int) { placeOf[node] = 0; });
        forEachSlot(cluster, [&](int node, int, int) {
            if (placeOf[node] == 0) {
                placeOf[node] = (int) end.size();
                end.push_back(0);
            }
            end[placeOf[node]]++;
        });
        std::partial_sum(end.begin(), end.end(), end.begin());
        next = end;
        rowSlots.resize(end.back());
        forEachSlot(cluster, [&](int node, int i, int s) { rowSlots[next[placeOf[node] - 1]++] = {i, s}; });
    }
    /** Rows that share one node are a dense block of the matrix: no factor has less fill than these. */
    FillCount leastFill() const {
        FillCount fill;
        for (std::size_t p = 1; p < end.size(); p++) {
            const double rows = end[p] - end[p - 1];
            fill.entries += rows * (rows - 1) / 2;
            fill.updates = std::max(fill.updates, rows * (rows - 1) * (rows - 2) / 6);
        }
        return fill;
    }
    /** visit(i, slot of i, j, slot of j) for every pair of rows i < j that share a node, once per node. */
    template <class Visit>
    void forEachPair(Visit visit) const {
        for (std::size_t p = 1; p < end.size(); p++)
            for (int a = end[p - 1]; a < end[p]; a++)
                for (int b = a + 1; b < end[p]; b++)
                    visit(rowSlots[a].row, rowSlots[a].slot, rowSlots[b].row, rowSlots[b].slot);
    }

private:
    /** visit(node, row, slot within the row) for all movable ones. */
    template <class Visit>
    void forEachSlot(const std::vector<int>& cluster, Visit visit) const {
        for (int i = 0; i < (int) cluster.size(); i++) {
            const std::vector<int>& nodes = set.nodesOf(set.constraints[cluster[i]]);
            for (int s = 0; s < (int) nodes.size(); s++)
                if (set.inverseMassOf(nodes[s]) > 0)
                    visit(nodes[s], i, s);
        }
    }
    const ConstraintSet& set;
    std::vector<int> placeOf;      // [numNodes], of the cluster at hand: 1, 2, ... in the order of appearance
    std::vector<int> end;          // by place: where its row slots end; 0 comes first
    std::vector<int> next;         // by place, less one: where its next one goes
    std::vector<RowSlot> rowSlots; // by place
};

namespace {

/** @param forEachPair  calls its argument with (i, j) for coupled rows i and j, once or more often */
template <class ForEachPair>
std::vector<std::vector<int>> listNeighbours(int numRows, ForEachPair forEachPair) {
    std::vector<std::vector<int>> neighbours(numRows);
    std::vector<int> count(numRows);
    forEachPair([&](int i, int j) {
        count[i]++;
        count[j]++;
    });
    for (int i = 0; i < numRows; i++)
        neighbours[i].reserve(count[i]);
    forEachPair([&](int i, int j) {
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
    });
    for (auto& list : neighbours) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return neighbours;
}

std::vector<std::vector<int>> neighboursOf(const SharedNodes& shared, int numRows) {
    return listNeighbours(numRows,
                          [&](auto&& visit) { shared.forEachPair([&](int i, int, int j, int) { visit(i, j); }); });
}

ClusterSolverKind smallSolver(int size) {
    switch (size) {
    case 1:
        return ClusterSolverKind::ClosedForm1;
    case 2:
        return ClusterSolverKind::ClosedForm2;
    case 3:
        return ClusterSolverKind::ClosedForm3;
    default:
        return ClusterSolverKind::Dense;
    }
}

FactorTooLarge tooLarge(const ConstraintSet& set, const std::vector<int>& cluster, const FillCount& fill) {
    const EliminationLimits limits;
    const int first = set.constraints[cluster[0]].particles[0];
    std::vector<int> particles;
    for (int k : cluster)
        std::copy_if(set.constraints[k].particles.begin(), set.constraints[k].particles.end(),
                     std::back_inserter(particles), [&](int p) { return set.inverseMass[p] > 0; });
    std::sort(particles.begin(), particles.end());
    particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
    const std::string name = set.nameOf(first).empty() ? "" : " (" + set.nameOf(first) + ")";
    std::ostringstream out;
    out << "MatrixInversion cannot serve the cluster of " << cluster.size() << " constraints that joins "
        << particles.size() << " particles, particle " << first << name << " among them: its factor would have "
        << describe(fill) << ", more than " << (double) limits.entries << " entries or " << (double) limits.updates
        << " updates.";
    FactorTooLarge error(out.str(),
                         "setSolver(Automatic), which solves this cluster by Iterative and all others directly, or "
                         "fewer constraints: leave out angles, or hold a rigid part by "
                         "ConstraintForce.addRigidBody().",
                         fill);
    std::copy_if(cluster.begin(), cluster.end(), std::back_inserter(error.constraints),
                 [&](int k) { return k < set.numListed; });
    error.particles = std::move(particles);
    return error;
}

} // namespace

std::string describe(const FillCount& fill) {
    std::ostringstream out;
    out.precision(2);
    out << "about " << fill.entries << " entries and " << fill.updates << " updates (" << fill.bytes() / 1e9 << " GB)";
    return out.str();
}

static bool hasManyPairs(const ConstraintSet& set, const Constraint& c) {
    return set.traitsOf(c).range == Range::Number && set.custom[c.form]->largestValue() > mostMergedPairs;
}

/** Which constraints are left out of the clusters. @return [active] */
static std::vector<char> findBordered(const ConstraintSet& set, const std::vector<int>& active, Centroids centroids) {
    std::vector<char> isMerged(set.constraints.size(), centroids == Centroids::Merged);
    if (centroids == Centroids::BorderedIfLarge)
        for (const std::vector<int>& together : findClusters(set, active))
            for (int k : together)
                isMerged[k] = (int) together.size() <= mostMergedRows && !hasManyPairs(set, set.constraints[k]);
    std::vector<char> isBordered;
    for (int k : active)
        isBordered.push_back(!isMerged[k] && isOfGroups(set, set.constraints[k]));
    return isBordered;
}

std::vector<std::vector<int>> neighboursIn(const ConstraintGraph& graph, const Cluster& cluster) {
    return listNeighbours(cluster.size(), [&](auto&& visit) {
        for (int k = cluster.couplingBegin; k < cluster.couplingEnd; k++)
            visit(graph.couplings[k].row - cluster.begin, graph.couplings[k].column - cluster.begin);
    });
}

ConstraintGraph::ConstraintGraph(const ConstraintSet& set, const std::vector<int>& active, Method method, int maxDense,
                                 Centroids centroids) {
    std::vector<int> bordered, others;
    const std::vector<char> isBordered = findBordered(set, active, centroids);
    for (std::size_t i = 0; i < active.size(); i++)
        (isBordered[i] ? bordered : others).push_back(active[i]);
    std::vector<std::vector<int>> members = findClusters(set, others);
    if (!bordered.empty() && !findBorder(set, bordered, members, border)) {
        border = Border();
        members = findClusters(set, active);
    }
    SharedNodes shared(set);
    rows.reserve(active.size());
    slotStart.reserve(active.size() + 1);
    slotStart.push_back(0);
    for (std::vector<int>& ofCluster : members)
        addCluster(set, ofCluster, method, maxDense, shared);
    for (const Border::Row& row : border.rows)
        addRow(set, row.constraint);
    for (int c : border.clusters)
        clusters[c].isAtBorder = true;
}

void ConstraintGraph::addRow(const ConstraintSet& set, int constraint) {
    rows.push_back(constraint);
    slotStart.push_back(slotStart.back() + (int) set.nodesOf(set.constraints[constraint]).size());
}

void ConstraintGraph::addCluster(const ConstraintSet& set, std::vector<int>& members, Method method, int maxDense,
                                 SharedNodes& shared) {
    Cluster cluster;
    cluster.begin = (int) rows.size();
    cluster.end = cluster.begin + (int) members.size();
    cluster.couplingBegin = (int) couplings.size();
    if (method != Method::Iterative && cluster.size() <= maxDense)
        cluster.kind = smallSolver(cluster.size());
    else if (method != Method::Iterative) {
        shared.gather(members);
        SymbolicFactor factor;
        FillCount fill = shared.leastFill();
        const auto describeFactor = [&] {
            return "the factor of " + std::to_string(cluster.size()) + " coupled constraints, " + describe(fill);
        };
        if (EliminationLimits().allow(fill) && allocating(describeFactor, true, [&] {
                return eliminate(neighboursOf(shared, cluster.size()), factor, fill);
            })) {
            cluster.kind = ClusterSolverKind::Sparse;
            cluster.factor = (int) factors.size();
            std::vector<int> ordered;
            for (int i : factor.order)
                ordered.push_back(members[i]);
            members.swap(ordered);
            factors.push_back(std::move(factor));
        } else if (method == Method::MatrixInversion)
            throw tooLarge(set, members, fill);
        else {
            cluster.refused = (int) refused.size();
            refused.push_back(fill);
        }
    }
    for (int k : members)
        addRow(set, k);
    if (cluster.kind != ClusterSolverKind::Iterative) {
        shared.gather(members);
        shared.forEachPair([&](int i, int slotI, int j, int slotJ) {
            const int entry = cluster.factor < 0 ? -1 : factors[cluster.factor].findEntry(j, i);
            couplings.push_back({cluster.begin + j, cluster.begin + i, slotStart[cluster.begin + j] + slotJ,
                                 slotStart[cluster.begin + i] + slotI, entry});
        });
    }
    cluster.couplingEnd = (int) couplings.size();
    clusters.push_back(cluster);
}

} // namespace ConstraintPlugin
