// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISJOINT_SETS_H_
#define CONSTRAINTS_CORE_DISJOINT_SETS_H_

#include <numeric>
#include <vector>

namespace ConstraintPlugin {

/** Disjoint sets of 0 ... n-1, each by one of its members, at first one each (union-find with path halving). */
class DisjointSets {
public:
    explicit DisjointSets(int n) : parent(n) {
        std::iota(parent.begin(), parent.end(), 0);
    }
    /** The member that stands for the set of i. */
    int find(int i) {
        while (parent[i] != i)
            i = parent[i] = parent[parent[i]];
        return i;
    }
    /** Put the set of j to that of i, whose member stands for both. @return false if they were one already */
    bool join(int i, int j) {
        const int to = find(i), from = find(j);
        parent[from] = to;
        return from != to;
    }

private:
    std::vector<int> parent;
};

} // namespace ConstraintPlugin

#endif
