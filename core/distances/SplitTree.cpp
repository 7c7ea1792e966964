// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SplitTree.h"
#include <algorithm>
#include <cstddef>

namespace ConstraintPlugin {

namespace {

/** Factors of fewer columns take less time than it takes threads to begin. */
constexpr int minSplitColumns = 2000;
/** A thread has so much to do between two points where it waits for the others. */
constexpr int minPartColumns = 1000;
constexpr int maxParts = 8;
/** Many small subtrees can be dealt out evenly, but there are more columns above them. */
constexpr int mostSubtrees = 16; // of a part
/** Shares of the time that the top may take, and by which the largest part may exceed the others. */
constexpr double mostTop = 0.15, mostExcess = 0.25;

/** Time for a column in all of a stage, in multiply-adds. */
double costOf(int length) {
    return 30 + 6 * length + 0.5 * length * (length - 1);
}

struct Subtree {
    double cost;
    int root;
    bool operator<(const Subtree& other) const {
        return cost < other.cost;
    }
};

/** Deal subtrees out to parts, the costliest first, each to the part that has least.
 *  @param[out] part  [subtrees] @return cost of the part that has most */
double dealOut(const std::vector<Subtree>& subtrees, int numParts, std::vector<int>& part) {
    std::vector<double> load(numParts);
    part.clear();
    for (const Subtree& subtree : subtrees) {
        const auto lightest = std::min_element(load.begin(), load.end());
        *lightest += subtree.cost;
        part.push_back((int) (lightest - load.begin()));
    }
    return *std::max_element(load.begin(), load.end());
}

/** The best division of an elimination tree into a number of parts. @return as splitTree() */
std::vector<int> splitInto(int numParts, const SymbolicFactor& factor) {
    const int n = factor.size();
    const auto lengthOf = [&](int k) { return factor.columnStart[k + 1] - factor.columnStart[k]; };
    const auto parentOf = [&](int k) { return lengthOf(k) > 0 ? factor.entryRow[factor.columnStart[k]] : n; };
    std::vector<double> cost(n + 1); // of the subtree; n: above all roots
    std::vector<std::vector<int>> children(n + 1);
    for (int k = 0; k < n; k++) {
        cost[k] += costOf(lengthOf(k));
        cost[parentOf(k)] += cost[k];
        children[parentOf(k)].push_back(k);
    }
    // Move the root of the costliest subtree to the top, again and again, and keep the best that this gives.
    std::vector<Subtree> subtrees = {{cost[n], n}}, bestSubtrees; // costliest first
    std::vector<int> part, bestPart;
    double topCost = 0, least = 0;
    while ((int) subtrees.size() <= mostSubtrees * numParts && topCost <= mostTop * cost[n]) {
        const double largest = dealOut(subtrees, numParts, part), time = largest + topCost;
        if (largest <= (1 + mostExcess) * cost[n] / numParts && (bestPart.empty() || time < least)) {
            least = time;
            bestSubtrees = subtrees;
            bestPart = part;
        }
        if (subtrees.empty())
            break;
        const int root = subtrees[0].root;
        subtrees.erase(subtrees.begin());
        if (root < n) // each part has its own copy of the top's entries
            topCost += costOf(lengthOf(root)) + (double) numParts * lengthOf(root);
        for (int child : children[root]) {
            const Subtree subtree{cost[child], child};
            subtrees.insert(std::upper_bound(subtrees.begin(), subtrees.end(), subtree,
                                             [](const Subtree& a, const Subtree& b) { return b < a; }),
                            subtree);
        }
    }
    if (bestPart.empty())
        return {};
    std::vector<int> partOf(n + 1, numParts);
    for (std::size_t i = 0; i < bestPart.size(); i++)
        partOf[bestSubtrees[i].root] = bestPart[i];
    for (int k = n - 1; k >= 0; k--)
        if (partOf[k] == numParts)
            partOf[k] = partOf[parentOf(k)];
    partOf.pop_back();
    return partOf;
}

} // namespace

std::vector<int> splitTree(const SymbolicFactor& factor) {
    if (factor.size() < minSplitColumns)
        return {};
    int numParts = 2;
    while (numParts < maxParts && 2 * numParts * minPartColumns <= factor.size())
        numParts *= 2;
    std::vector<int> partOf;
    for (; partOf.empty() && numParts > 1; numParts /= 2) // wide separators are worth while between few parts only
        partOf = splitInto(numParts, factor);
    return partOf;
}

} // namespace ConstraintPlugin
