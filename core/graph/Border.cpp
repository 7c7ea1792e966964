// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Border.h"
#include <algorithm>
#include <numeric>

namespace ConstraintPlugin {

bool isOfGroups(const ConstraintSet& set, const Constraint& c) {
    return c.kind == CoordinateKind::Custom && !set.custom[c.form]->getWeights().empty();
}

namespace {

void makeUnique(std::vector<int>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

template <class Visit>
void forEachMovable(const ConstraintSet& set, int constraint, Visit visit) {
    for (int node : set.nodesOf(set.constraints[constraint]))
        if (set.inverseMassOf(node) > 0)
            visit(node);
}

/** The clusters and the nodes that a row reaches. */
Border::Row reachOf(const ConstraintSet& set, int constraint, const std::vector<std::vector<int>>& clusters,
                    const std::vector<int>& clusterOf) {
    Border::Row row{constraint, {}, {}};
    forEachMovable(set, constraint, [&](int node) {
        if (clusterOf[node] >= 0)
            row.clusters.push_back(clusterOf[node]);
        else
            row.reach.push_back(node);
    });
    makeUnique(row.clusters);
    for (int c : row.clusters)
        for (int k : clusters[c])
            forEachMovable(set, k, [&](int node) { row.reach.push_back(node); });
    makeUnique(row.reach);
    return row;
}

/** Rows that reach a node in common with each row, ascending. */
std::vector<std::vector<int>> neighboursOf(const std::vector<Border::Row>& rows, int numNodes) {
    std::vector<std::vector<int>> rowsAt(numNodes), neighbours(rows.size());
    for (int a = 0; a < (int) rows.size(); a++)
        for (int node : rows[a].reach)
            rowsAt[node].push_back(a);
    std::vector<int> seenBy(rows.size(), -1);
    for (int a = 0; a < (int) rows.size(); a++) {
        seenBy[a] = a;
        for (int node : rows[a].reach)
            for (int b : rowsAt[node])
                if (seenBy[b] != a) {
                    seenBy[b] = a;
                    neighbours[a].push_back(b);
                }
        std::sort(neighbours[a].begin(), neighbours[a].end());
    }
    return neighbours;
}

/** Sort rows into as few lists as it takes that no list has neighbours, one row after another. */
std::vector<std::vector<int>> apart(const std::vector<std::vector<int>>& neighbours) {
    std::vector<std::vector<int>> lists;
    std::vector<int> listOf(neighbours.size(), -1);
    for (int a = 0; a < (int) neighbours.size(); a++) {
        std::vector<char> isTaken(lists.size() + 1, 0);
        for (int b : neighbours[a])
            if (listOf[b] >= 0)
                isTaken[listOf[b]] = 1;
        listOf[a] = (int) (std::find(isTaken.begin(), isTaken.end(), 0) - isTaken.begin());
        lists.resize(std::max(lists.size(), (std::size_t) listOf[a] + 1));
        lists[listOf[a]].push_back(a);
    }
    return lists;
}

} // namespace

std::vector<char> Border::reachedBodies(const ConstraintSet& set) const {
    std::vector<char> areReached(set.bodies.size(), 0);
    for (const Row& row : rows)
        for (int node : row.reach)
            if (node >= set.numParticles())
                areReached[(node - set.numParticles()) / 2] = 1;
    return areReached;
}

bool findBorder(const ConstraintSet& set, const std::vector<int>& bordered,
                const std::vector<std::vector<int>>& clusters, Border& border) {
    border = Border();
    std::vector<int> clusterOf(set.numNodes(), -1);
    for (int c = 0; c < (int) clusters.size(); c++)
        for (int k : clusters[c])
            forEachMovable(set, k, [&](int node) { clusterOf[node] = c; });
    std::vector<Border::Row> rows;
    for (int k : bordered)
        rows.push_back(reachOf(set, k, clusters, clusterOf));
    if (!eliminate(neighboursOf(rows, set.numNodes()), border.factor))
        return false;
    for (int i : border.factor.order)
        border.rows.push_back(std::move(rows[i]));
    border.fields = apart(neighboursOf(border.rows, set.numNodes()));
    for (const Border::Row& row : border.rows)
        border.clusters.insert(border.clusters.end(), row.clusters.begin(), row.clusters.end());
    makeUnique(border.clusters);
    return true;
}

} // namespace ConstraintPlugin
