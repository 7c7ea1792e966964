// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "FillCount.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Parents in the elimination tree, -1 for roots: the next column that a column's fill goes to. */
std::vector<int> findParents(const std::vector<std::vector<int>>& neighbours, const std::vector<int>& order,
                             const std::vector<int>& position) {
    const int n = (int) order.size();
    std::vector<int> parent(n, -1), shortcut(n, -1);
    for (int k = 0; k < n; k++)
        for (int other : neighbours[order[k]])
            for (int i = position[other]; i >= 0 && i < k;) {
                const int next = shortcut[i];
                shortcut[i] = k;
                if (next < 0)
                    parent[i] = k;
                i = next;
            }
    return parent;
}

/** Columns so that each subtree is contiguous, and its root last. */
std::vector<int> postorder(const std::vector<int>& parent) {
    const int n = (int) parent.size();
    std::vector<int> firstChild(n, -1), sibling(n, -1), order, path;
    for (int k = n - 1; k >= 0; k--)
        if (parent[k] >= 0) {
            sibling[k] = firstChild[parent[k]];
            firstChild[parent[k]] = k;
        }
    for (int root = 0; root < n; root++) {
        if (parent[root] >= 0)
            continue;
        path.push_back(root);
        while (!path.empty()) {
            const int child = firstChild[path.back()];
            if (child >= 0) {
                firstChild[path.back()] = sibling[child];
                path.push_back(child);
            } else {
                order.push_back(path.back());
                path.pop_back();
            }
        }
    }
    return order;
}

} // namespace

FillCount countFill(const std::vector<std::vector<int>>& neighbours, const std::vector<int>& order) {
    const int n = (int) order.size();
    std::vector<int> position(n);
    for (int k = 0; k < n; k++)
        position[order[k]] = k;
    const std::vector<int> parent = findParents(neighbours, order, position), post = postorder(parent);
    // By column: its first descendant; what its length differs from the sum of its children's lengths, each less one.
    std::vector<int> first(n, -1), length(n);
    for (int k = 0; k < n; k++) {
        length[post[k]] = first[post[k]] < 0; // a leaf
        for (int j = post[k]; j >= 0 && first[j] < 0; j = parent[j])
            first[j] = k;
    }
    // By row: its last leaf so far, and that one's first descendant. Sets of columns join those of their parents.
    std::vector<int> lastLeaf(n, -1), largestFirst(n, -1), set(n);
    std::iota(set.begin(), set.end(), 0);
    for (int j : post) {
        if (parent[j] >= 0)
            length[parent[j]]--;
        for (int other : neighbours[order[j]]) {
            const int row = position[other];
            if (row <= j || first[j] <= largestFirst[row])
                continue;
            largestFirst[row] = first[j];
            length[j]++;
            if (lastLeaf[row] >= 0) { // both paths are counted twice above the point where they join
                int ancestor = lastLeaf[row];
                while (set[ancestor] != ancestor)
                    ancestor = set[ancestor] = set[set[ancestor]];
                length[ancestor]--;
            }
            lastLeaf[row] = j;
        }
        if (parent[j] >= 0)
            set[j] = parent[j];
    }
    FillCount count;
    for (int j = 0; j < n; j++) {
        if (parent[j] >= 0)
            length[parent[j]] += length[j];
        const double entries = length[j] - 1; // without the diagonal
        count.entries += entries;
        count.updates += entries * (entries - 1) / 2;
    }
    return count;
}

} // namespace ConstraintPlugin
