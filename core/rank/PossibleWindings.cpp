// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PossibleWindings.h"
#include <limits>
#include <queue>

namespace ConstraintPlugin {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/** Two particles, numbered anew, that constraints join by the same bond vector. */
struct HeldBond {
    int i, j;
    bool periodic;
    double length; // nm; unbounded: none is held
};

bool isOfBonds(const Constraint& c) {
    return c.kind != CoordinateKind::Custom && c.kind != CoordinateKind::AffinePosition;
}

/** The bonds of some constraints, each once, with the shortest length that is held. */
class Bonds {
public:
    Bonds(const ConstraintSet& set, const std::vector<int>& constraints) : set(set) {
        for (int k : constraints)
            if (isOfBonds(set.constraints[k]))
                particles.insert(particles.end(), set.constraints[k].particles.begin(),
                                 set.constraints[k].particles.end());
        std::sort(particles.begin(), particles.end());
        particles.erase(std::unique(particles.begin(), particles.end()), particles.end());
        for (int k : constraints) {
            const Constraint& c = set.constraints[k];
            const bool isHeld = c.kind == CoordinateKind::Distance && c.isFixed();
            for (int s = 0; isOfBonds(c) && s + 1 < c.size(); s++)
                list.push_back(bondOf(c, s, isHeld ? c.target : unbounded));
        }
        std::sort(list.begin(), list.end(), [](const HeldBond& a, const HeldBond& b) {
            return isBefore(a, b) || (!isBefore(b, a) && a.length < b.length);
        });
        list.erase(std::unique(list.begin(), list.end(),
                               [](const HeldBond& a, const HeldBond& b) { return !isBefore(a, b) && !isBefore(b, a); }),
                   list.end());
    }
    /** The number of a constraint's bond after its s-th particle. */
    int find(const Constraint& c, int s) const {
        return (int) (std::lower_bound(list.begin(), list.end(), bondOf(c, s, 0), isBefore) - list.begin());
    }
    std::vector<int> particles; ///< ascending
    std::vector<HeldBond> list;

private:
    static bool isBefore(const HeldBond& a, const HeldBond& b) {
        return std::array{a.i, a.j, (int) a.periodic} < std::array{b.i, b.j, (int) b.periodic};
    }
    HeldBond bondOf(const Constraint& c, int s, double length) const {
        const auto number = [&](int p) {
            return (int) (std::lower_bound(particles.begin(), particles.end(), p) - particles.begin());
        };
        const auto [i, j] = std::minmax({number(c.particles[s]), number(c.particles[s + 1])});
        return {i, j, c.periodic, length};
    }
    const ConstraintSet& set;
};

/** Bonds no ring of which winds around the box, and shortest ways along them. */
class ShortRings {
public:
    ShortRings(const Bonds& bonds, double width)
        : bonds(bonds), width(width), ends(bonds.particles.size()), distance(bonds.particles.size(), unbounded) {
    }
    /** @return [bonds] whether it is among them */
    std::vector<char> find() {
        std::vector<char> isKnown(bonds.list.size());
        std::vector<double> fromRoot = growTree(isKnown);
        std::vector<int> open;
        for (int b = 0; b < (int) bonds.list.size(); b++)
            if (!isKnown[b] && bonds.list[b].length < width)
                open.push_back(b);
        std::sort(open.begin(), open.end(), [&](int a, int b) { // near the root rings close first
            const auto key = [&](int k) { return fromRoot[bonds.list[k].i] + fromRoot[bonds.list[k].j]; };
            return std::pair(key(a), a) < std::pair(key(b), b);
        });
        for (std::size_t before = open.size() + 1; !open.empty() && open.size() < before && visits > 0;) {
            before = open.size();
            std::vector<int> left;
            for (int b : open)
                if (closesShortRing(bonds.list[b])) {
                    isKnown[b] = 1;
                    add(bonds.list[b]);
                } else
                    left.push_back(b);
            open.swap(left);
        }
        return isKnown;
    }

private:
    struct End {
        int particle;
        double length;
    };
    using Place = std::pair<double, int>; // distance, particle
    using Queue = std::priority_queue<Place, std::vector<Place>, std::greater<>>;

    void add(const HeldBond& bond) {
        ends[bond.i].push_back({bond.j, bond.length});
        ends[bond.j].push_back({bond.i, bond.length});
    }
    /** Shortest ways from a root of each part; a bond without a length only where there is no other way.
     *  @return [particles] nm */
    std::vector<double> growTree(std::vector<char>& isKnown) {
        constexpr double veryLong = 1e6; // nm
        const int n = (int) bonds.particles.size();
        std::vector<std::vector<int>> bondsOf(n);
        for (int b = 0; b < (int) bonds.list.size(); b++) {
            bondsOf[bonds.list[b].i].push_back(b);
            bondsOf[bonds.list[b].j].push_back(b);
        }
        std::vector<double> from(n, unbounded);
        std::vector<int> by(n, -1);
        std::vector<char> isDone(n);
        for (int root = 0; root < n; root++) {
            Queue queue;
            if (from[root] == unbounded) {
                from[root] = 0;
                queue.push({0, root});
            }
            while (!queue.empty()) {
                const int at = queue.top().second;
                queue.pop();
                if (isDone[at])
                    continue;
                isDone[at] = 1;
                if (by[at] >= 0) {
                    isKnown[by[at]] = 1;
                    add(bonds.list[by[at]]);
                }
                for (int b : bondsOf[at]) {
                    const HeldBond& bond = bonds.list[b];
                    const int next = bond.i == at ? bond.j : bond.i;
                    const double there = from[at] + std::min(bond.length, veryLong);
                    if (there < from[next]) {
                        from[next] = there;
                        by[next] = b;
                        queue.push({there, next});
                    }
                }
            }
        }
        return from;
    }
    bool closesShortRing(const HeldBond& bond) {
        const double longest = width - bond.length;
        Queue queue;
        std::vector<int> reached{bond.i};
        distance[bond.i] = 0;
        queue.push({0, bond.i});
        bool isFound = false;
        while (!queue.empty() && !isFound && visits > 0) {
            const auto [way, at] = queue.top();
            queue.pop();
            isFound = at == bond.j;
            if (way > distance[at])
                continue;
            for (const End& end : ends[at]) {
                visits--;
                if (const double there = way + end.length; there < longest && there < distance[end.particle]) {
                    if (distance[end.particle] == unbounded)
                        reached.push_back(end.particle);
                    distance[end.particle] = there;
                    queue.push({there, end.particle});
                }
            }
        }
        for (int particle : reached)
            distance[particle] = unbounded;
        return isFound;
    }
    const Bonds& bonds;
    double width;
    std::vector<std::vector<End>> ends;                               // of known bonds
    std::vector<double> distance;                                     // unbounded between uses
    long long visits = 1000 * ((long long) bonds.list.size() + 1000); // what is not found by then, may wind
};

} // namespace

std::vector<int> findPossibleWindings(const ConstraintSet& set, const std::vector<int>& constraints, const Box& box) {
    const auto isPeriodic = [&](int k) { return set.constraints[k].periodic && isOfBonds(set.constraints[k]); };
    if (box.isEmpty() || std::none_of(constraints.begin(), constraints.end(), isPeriodic))
        return {};
    const Bonds bonds(set, constraints);
    const std::vector<char> isKnown = ShortRings(bonds, 2 * box.halfWidth()).find();
    std::vector<int> found;
    for (int k : constraints) {
        const Constraint& c = set.constraints[k];
        bool isLeft = false;
        for (int s = 0; isOfBonds(c) && s + 1 < c.size(); s++)
            isLeft = isLeft || !isKnown[bonds.find(c, s)];
        if (isLeft)
            found.push_back(k);
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace ConstraintPlugin
