// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Contradictions.h"
#include "HeldCoordinates.h"
#include <numeric>
#include <set>

namespace ConstraintPlugin {

namespace {

constexpr double roundingOfLengths = 1e-4;

/** Distances that hold a length of their own, by particle. */
class Edges {
public:
    struct End {
        int particle, constraint; // of an edge's other end
    };
    explicit Edges(const ConstraintSet& set) : start(set.numParticles() + 1) {
        const auto forEachEnd = [&](auto visit) {
            for (int k = 0; k < (int) set.constraints.size(); k++) {
                const Constraint& c = set.constraints[k];
                if (c.kind != CoordinateKind::Distance || !c.isFixed() || set.isIgnored(c))
                    continue;
                visit(c.particles[0], End{c.particles[1], k});
                visit(c.particles[1], End{c.particles[0], k});
            }
        };
        forEachEnd([&](int p, End) { start[p + 1]++; });
        std::partial_sum(start.begin(), start.end(), start.begin());
        ends.resize(start.back());
        std::vector<int> next(start.begin(), start.end() - 1);
        forEachEnd([&](int p, End end) { ends[next[p]++] = end; });
    }
    End* begin(int p) {
        return ends.data() + start[p];
    }
    End* end(int p) {
        return ends.data() + start[p + 1];
    }
    int degree(int p) const {
        return start[p + 1] - start[p];
    }

private:
    std::vector<int> start;
    std::vector<End> ends;
};

/** Finds a path of other distances from one end of an edge to the other that is shorter than the edge. */
class Shortcut {
public:
    Shortcut(const ConstraintSet& set, Edges& edges) : set(set), edges(edges) {
    }
    /** Ignore a constraint from now on. */
    void leaveOut(int constraint) {
        leftOut.insert(constraint);
    }
    /** @return its constraints; empty if there is none */
    std::vector<int> find(int edge) {
        const Constraint& c = set.constraints[edge];
        const bool isSwapped = edges.degree(c.particles[0]) > edges.degree(c.particles[1]);
        const int from = c.particles[isSwapped], to = c.particles[!isSwapped];
        const double longest = (1 - roundingOfLengths) * c.target;
        int visits = 0;
        reached = {{from, -1, -1, 0, false}};
        for (int at = 0; at >= 0; at = nearest()) {
            if (reached[at].particle == to)
                return pathTo(at);
            reached[at].isDone = true;
            const int p = reached[at].particle;
            const auto take = [&](int next, int constraint) {
                const double length = reached[at].length + set.constraints[constraint].target;
                const bool isEdge = p == from && next == to; // or a duplicate of it
                if (length < longest && !isEdge && leftOut.count(constraint) == 0)
                    reach({next, constraint, at, length, false});
            };
            const bool isHub = edges.degree(p) > maxDegree; // too many edges: look only for one to the other end
            for (const Edges::End* end = edges.begin(isHub ? to : p); end != edges.end(isHub ? to : p); ++end) {
                if (++visits > maxVisits)
                    return {};
                if (!isHub)
                    take(end->particle, end->constraint);
                else if (end->particle == p)
                    take(to, end->constraint);
            }
        }
        return {};
    }

private:
    static constexpr int maxVisits = 300, maxDegree = 100;
    struct Place {
        int particle, constraint, before; // the constraint by which it was reached, and from which entry
        double length;
        bool isDone;
    };
    void reach(const Place& place) {
        for (Place& known : reached)
            if (known.particle == place.particle) {
                if (place.length < known.length)
                    known = place;
                return;
            }
        reached.push_back(place);
    }
    int nearest() const {
        int best = -1;
        for (int i = 0; i < (int) reached.size(); i++)
            if (!reached[i].isDone && (best < 0 || reached[i].length < reached[best].length))
                best = i;
        return best;
    }
    std::vector<int> pathTo(int at) const {
        std::vector<int> path;
        for (; reached[at].before >= 0; at = reached[at].before)
            path.push_back(reached[at].constraint);
        return path;
    }
    const ConstraintSet& set;
    Edges& edges;
    std::vector<Place> reached;
    std::set<int> leftOut;
};

} // namespace

std::vector<std::array<int, 2>> findContradictoryPairs(const ConstraintSet& set, double tolerance) {
    std::vector<std::array<int, 2>> pairs;
    for (const std::vector<int>& group : findSameCoordinates(set)) {
        const Constraint* first = nullptr;
        for (int k : group) {
            const Constraint& c = set.constraints[k];
            if (c.parameter >= 0 || set.isExpression(c)) // the same at some values of Context parameters
                continue;
            if (first == nullptr)
                first = &c;
            const double difference = wrapResidual(c.kind, declaredTarget(*first) - declaredTarget(c));
            if (first->rate != c.rate || !(std::abs(difference) <= tolerance * (set.hasLengthScale(c) ? c.target : 1)))
                pairs.push_back({(int) (first - set.constraints.data()), k});
        }
    }
    return pairs;
}

std::vector<std::vector<int>> findImpossibleRings(const ConstraintSet& set, const Box& box) {
    const auto mayWind = [&](const std::vector<int>& ring) {
        double sum = 0;
        for (int k : ring)
            sum += set.constraints[k].target;
        return sum >= 2 * box.halfWidth() &&
               std::any_of(ring.begin(), ring.end(), [&](int k) { return set.constraints[k].periodic; });
    };
    std::vector<std::vector<int>> rings;
    Edges edges(set);
    Shortcut shortcut(set, edges);
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Distance || c.isAbsorbed || !c.isFixed() || !set.isMovable(c))
            continue;
        std::vector<int> ring = shortcut.find(k);
        if (ring.empty())
            continue;
        std::sort(ring.begin(), ring.end(), [&](int a, int b) {
            return std::pair(set.constraints[a].target, a) < std::pair(set.constraints[b].target, b);
        });
        ring.push_back(k);
        if (mayWind(ring))
            continue;
        rings.push_back(std::move(ring));
        shortcut.leaveOut(k);
    }
    return rings;
}

} // namespace ConstraintPlugin
