// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Triangles.h"
#include <unordered_map>

namespace ConstraintPlugin {

namespace {

constexpr double roundingOfLengths = 1e-4;

/** Distances by the pair of their particles. */
class Pairs {
public:
    explicit Pairs(const ConstraintSet& set) : numParticles(set.numParticles()) {
    }
    /** @return the constraint that was there before, or -1 after taking k in */
    int insert(const Constraint& c, int k) {
        const auto [it, isNew] = byPair.try_emplace(key(c.particles[0], c.particles[1]), k);
        return isNew ? -1 : it->second;
    }
    int find(int p, int q) const {
        const auto it = byPair.find(key(p, q));
        return it == byPair.end() ? -1 : it->second;
    }

private:
    long long key(int p, int q) const {
        return (long long) std::min(p, q) * numParticles + std::max(p, q);
    }
    long long numParticles;
    std::unordered_map<long long, int> byPair;
};

} // namespace

std::optional<std::array<int, 2>> findContradictoryPair(const ConstraintSet& set, double tolerance) {
    Pairs pairs(set);
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Distance || c.isReplaced || c.rate != 0)
            continue;
        const int other = pairs.insert(c, k);
        if (other >= 0 && !(std::abs(set.constraints[other].target - c.target) <= tolerance * c.target))
            return {{other, k}};
    }
    return std::nullopt;
}

std::optional<std::array<int, 3>> findImpossibleTriangle(const ConstraintSet& set) {
    // Each edge is listed at its end of lower degree: a hub of a million bonds then costs no more than its bonds.
    std::vector<int> degree(set.numParticles());
    std::vector<int> edges;
    Pairs pairs(set);
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        const bool isFree = c.kind == CoordinateKind::Distance && !c.isReplaced && c.rate == 0 && set.isMovable(c);
        if (!isFree || pairs.insert(c, k) >= 0)
            continue;
        edges.push_back(k);
        degree[c.particles[0]]++;
        degree[c.particles[1]]++;
    }
    struct End {
        int particle, constraint;
    };
    std::vector<std::vector<End>> endsAt(set.numParticles());
    for (int k : edges) {
        auto [low, high] = std::pair(set.constraints[k].particles[0], set.constraints[k].particles[1]);
        if (std::pair(degree[low], low) > std::pair(degree[high], high))
            std::swap(low, high);
        endsAt[low].push_back({high, k});
    }
    for (const auto& ends : endsAt)
        for (std::size_t a = 0; a < ends.size(); a++)
            for (std::size_t b = a + 1; b < ends.size(); b++) {
                const int third = pairs.find(ends[a].particle, ends[b].particle);
                if (third < 0)
                    continue;
                std::array<int, 3> t = {ends[a].constraint, ends[b].constraint, third};
                auto length = [&](int i) { return set.constraints[t[i]].target; };
                std::sort(t.begin(), t.end(),
                          [&](int x, int y) { return set.constraints[x].target < set.constraints[y].target; });
                if (length(2) - length(1) - length(0) > roundingOfLengths * length(2))
                    return t;
            }
    return std::nullopt;
}

} // namespace ConstraintPlugin
