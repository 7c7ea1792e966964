// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SubdomainCounts.h"
#include "Border.h"
#include <algorithm>
#include <utility>

namespace ConstraintPlugin {

SubdomainRow subdomainRowOf(const ConstraintSet& set, const Constraint& c) {
    if (isListed(c.kind) && set.isJoined(c))
        return SubdomainRow::Joint;
    if (c.kind == CoordinateKind::Distance)
        return SubdomainRow::Distance;
    if (isAngular(c.kind))
        return SubdomainRow::Angle;
    const bool isOfParticles = c.kind == CoordinateKind::Custom && !isOfGroups(set, c) && !set.isJoined(c);
    return isOfParticles ? SubdomainRow::Expression : SubdomainRow::Global;
}

/** Records of a target with so many updates. */
static int recordsFor(int updates) {
    return std::max(1, (updates + updatesOfRecord - 1) / updatesOfRecord);
}

/** How many couplings of rows there are beyond the first one of each pair: pairs may share several particles. */
static int moreCouplingsOf(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::vector<std::pair<int, int>> members; // particle and row
    for (int k = 0; k < (int) constraints.size(); k++)
        for (int p : set.nodesOf(set.constraints[constraints[k]]))
            if (set.inverseMassOf(p) > 0)
                members.emplace_back(p, k);
    std::sort(members.begin(), members.end());
    std::vector<std::pair<int, int>> pairs;
    for (auto one = members.begin(); one != members.end(); ++one)
        for (auto other = one + 1; other != members.end() && other->first == one->first; ++other)
            pairs.emplace_back(one->second, other->second);
    std::sort(pairs.begin(), pairs.end());
    return int(pairs.end() - std::unique(pairs.begin(), pairs.end()));
}

SubdomainCounts::SubdomainCounts(const ConstraintSet& set, const std::vector<int>& constraints,
                                 const SymbolicFactor& factor)
    : rows((int) constraints.size()), solved(factor.size()), entries((int) factor.entryRow.size()),
      levels(factor.numLevels) {
    std::vector<int> all, displaced; // nodes
    for (int k = 0; k < rows; k++) {
        const Constraint& c = set.constraints[constraints[k]];
        const std::vector<int>& nodes = set.nodesOf(c);
        const SubdomainRow row = subdomainRowOf(set, c);
        if (row != SubdomainRow::Distance) {
            (row == SubdomainRow::Angle        ? angles
             : row == SubdomainRow::Expression ? expressions
             : row == SubdomainRow::Joint      ? joints
                                               : globalRows)++;
            points += row == SubdomainRow::Expression ? c.size() : 0;
            jointPoints += row == SubdomainRow::Joint ? c.size() : 0;
            slots += (int) nodes.size();
        }
        for (int node : nodes) {
            all.push_back(node);
            if (k >= solved || !(set.inverseMassOf(node) > 0))
                continue;
            displaced.push_back(node);
            if (node >= set.numParticles()) // both nodes of a body, as in ConstraintTables::addParticles()
                displaced.push_back(set.numParticles() + ((node - set.numParticles()) ^ 1));
        }
    }
    moreCouplings = moreCouplingsOf(set, {constraints.begin(), constraints.begin() + solved});
    std::sort(all.begin(), all.end());
    std::sort(displaced.begin(), displaced.end());
    for (auto first = all.begin(), last = first; first < all.end(); first = last) {
        last = std::upper_bound(first, all.end(), *first);
        const bool isPlace = std::binary_search(displaced.begin(), displaced.end(), *first);
        (isPlace ? places : others)++;
        bodies += isPlace && *first >= set.numParticles() && (*first - set.numParticles()) % 2 == 0;
        rowsOfPlace = std::max(rowsOfPlace, isPlace ? int(last - first) : 0);
    }
    // As ConstraintTables::addFactor(): targets of the columns of a level, each with its updates.
    std::vector<std::pair<int, int>> updates;
    const int* target = factor.updateTarget.data();
    for (int k = 0; k < solved; k++)
        for (int a = factor.columnStart[k]; a < factor.columnStart[k + 1]; a++) {
            updates.emplace_back(factor.level[k], ~factor.entryRow[a]);
            for (int b = a + 1; b < factor.columnStart[k + 1]; b++)
                updates.emplace_back(factor.level[k], *target++);
        }
    std::sort(updates.begin(), updates.end());
    for (auto first = updates.begin(), last = first; first < updates.end(); first = last) {
        last = std::upper_bound(first, updates.end(), *first);
        records += recordsFor(int(last - first));
    }
}

/** Counts that add up where subdomains are side by side. */
static constexpr int SubdomainCounts::*addedUp[] = {
    &SubdomainCounts::rows,       &SubdomainCounts::solved,      &SubdomainCounts::places,
    &SubdomainCounts::others,     &SubdomainCounts::entries,     &SubdomainCounts::records,
    &SubdomainCounts::angles,     &SubdomainCounts::expressions, &SubdomainCounts::points,
    &SubdomainCounts::bodies,     &SubdomainCounts::joints,      &SubdomainCounts::jointPoints,
    &SubdomainCounts::globalRows, &SubdomainCounts::slots,       &SubdomainCounts::moreCouplings};
static constexpr int SubdomainCounts::*mostOf[] = {&SubdomainCounts::levels, &SubdomainCounts::rowsOfPlace};

void SubdomainCounts::include(const SubdomainCounts& other) {
    for (int SubdomainCounts::*count : addedUp)
        this->*count = std::max(this->*count, other.*count);
    for (int SubdomainCounts::*count : mostOf)
        this->*count = std::max(this->*count, other.*count);
}

void SubdomainCounts::add(const SubdomainCounts& other) {
    for (int SubdomainCounts::*count : addedUp)
        this->*count += other.*count;
    for (int SubdomainCounts::*count : mostOf)
        this->*count = std::max(this->*count, other.*count);
}

} // namespace ConstraintPlugin
