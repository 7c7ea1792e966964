// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Triangles.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

constexpr double roundingOfLengths = 1e-4;

/** Distances by the pair of their particles. Each is listed at its end of lower degree: a hub of a million bonds then
 *  costs no more than its bonds. */
class Pairs {
public:
    struct End {
        int particle, constraint; // of an edge's other end
    };
    /** @param edges      constraints that are distances
     *  @param onlyFirst  of several constraints of a pair, list the first alone */
    Pairs(const ConstraintSet& set, const std::vector<int>& edges, bool onlyFirst)
        : degree(set.numParticles()), start(set.numParticles() + 1), ends(edges.size()) {
        for (int k : edges)
            for (int p : set.constraints[k].particles)
                degree[p]++;
        const auto pairOf = [&](int k) {
            return inOrder(set.constraints[k].particles[0], set.constraints[k].particles[1]);
        };
        for (int k : edges)
            start[pairOf(k).first + 1]++;
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<int> next(start.begin(), start.end() - 1);
        for (int k : edges) {
            const auto [low, high] = pairOf(k);
            ends[next[low]++] = {high, k};
        }
        End* kept = ends.data();
        for (int p = 0; p < set.numParticles(); p++) {
            End *const first = ends.data() + start[p], *last = ends.data() + next[p];
            std::sort(first, last, [](const End& a, const End& b) {
                return std::pair(a.particle, a.constraint) < std::pair(b.particle, b.constraint);
            });
            if (onlyFirst)
                last = std::unique(first, last, [](const End& a, const End& b) { return a.particle == b.particle; });
            start[p] = int(kept - ends.data());
            kept = kept == first ? last : std::copy(first, last, kept);
        }
        start.back() = int(kept - ends.data());
    }
    /** The ends that are listed at a particle, by particle and then by constraint. */
    const End* begin(int p) const {
        return ends.data() + start[p];
    }
    const End* endOf(int p) const {
        return ends.data() + start[p + 1];
    }
    /** The first constraint of a pair, or -1. */
    int find(int p, int q) const {
        const auto [low, high] = inOrder(p, q);
        const End* found = std::lower_bound(begin(low), endOf(low), high,
                                            [](const End& end, int particle) { return end.particle < particle; });
        return found != endOf(low) && found->particle == high ? found->constraint : -1;
    }

private:
    std::pair<int, int> inOrder(int p, int q) const {
        return std::pair(degree[p], p) < std::pair(degree[q], q) ? std::pair(p, q) : std::pair(q, p);
    }
    std::vector<int> degree, start;
    std::vector<End> ends;
};

/** Distances that hold a length of their own. */
std::vector<int> heldDistances(const ConstraintSet& set) {
    std::vector<int> edges;
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.kind == CoordinateKind::Distance && !c.isReplaced && c.rate == 0)
            edges.push_back(k);
    }
    return edges;
}

} // namespace

std::optional<std::array<int, 2>> findContradictoryPair(const ConstraintSet& set, double tolerance) {
    const Pairs pairs(set, heldDistances(set), false);
    for (int p = 0; p < set.numParticles(); p++) {
        const Pairs::End* first = pairs.begin(p);
        for (const Pairs::End* other = first; other != pairs.endOf(p); ++other) {
            if (other->particle != first->particle)
                first = other;
            const double length = set.constraints[other->constraint].target;
            if (!(std::abs(set.constraints[first->constraint].target - length) <= tolerance * length))
                return {{first->constraint, other->constraint}};
        }
    }
    return std::nullopt;
}

std::optional<std::array<int, 3>> findImpossibleTriangle(const ConstraintSet& set) {
    std::vector<int> edges = heldDistances(set);
    edges.erase(std::remove_if(edges.begin(), edges.end(), [&](int k) { return !set.isMovable(set.constraints[k]); }),
                edges.end());
    const Pairs pairs(set, edges, true);
    for (int p = 0; p < set.numParticles(); p++)
        for (const Pairs::End* a = pairs.begin(p); a != pairs.endOf(p); ++a)
            for (const Pairs::End* b = a + 1; b != pairs.endOf(p); ++b) {
                const int third = pairs.find(a->particle, b->particle);
                if (third < 0)
                    continue;
                std::array<int, 3> t = {a->constraint, b->constraint, third};
                auto length = [&](int i) { return set.constraints[t[i]].target; };
                std::sort(t.begin(), t.end(),
                          [&](int x, int y) { return set.constraints[x].target < set.constraints[y].target; });
                if (length(2) - length(1) - length(0) > roundingOfLengths * length(2))
                    return t;
            }
    return std::nullopt;
}

} // namespace ConstraintPlugin
