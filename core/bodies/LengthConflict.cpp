// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LengthConflict.h"
#include "PlacedNodes.h"
#include "SplitMix.h"
#include <limits>

namespace ConstraintPlugin {

namespace {

/** Fits some nodes of a graph of lengths. */
class Fits {
public:
    /** @param places  [nodes] nm, where to start */
    Fits(const LengthGraph& graph, std::vector<Real3> places, double bound)
        : graph(graph), places(std::move(places)), bound(bound) {
    }
    struct Fit {
        std::vector<KnownLength> lengths;
        std::vector<Real3> points;
        double misfit = HUGE_VAL; ///< the largest, relative
    };
    /** The best of a fit from the given positions and, if that does not hold, of some from positions close to them: it
     *  may have ended at a saddle, such as a plane. */
    Fit fit(const std::vector<int>& nodes) {
        constexpr int mostStarts = 4;
        Fit best;
        best.lengths = lengthsAmong(graph, nodes);
        const double shift = 0.2 * meanLength(best.lengths);
        for (int start = 0; start < mostStarts && !(best.misfit <= bound); start++) {
            std::vector<Real3> points;
            for (int node : nodes) {
                const auto random = [&] { return start == 0 ? 0 : shift * (2 * noise.uniform() - 1); };
                points.push_back(places[node] + Real3{random(), random(), random()});
            }
            fitShape(points, best.lengths);
            double misfitHere = 0;
            for (const KnownLength& l : best.lengths)
                misfitHere = std::max(misfitHere, misfit(points, l));
            if (misfitHere < best.misfit || start == 0) {
                best.misfit = std::isfinite(misfitHere) ? misfitHere : HUGE_VAL;
                best.points = std::move(points);
            }
        }
        numFits++;
        return best;
    }
    bool holds(const std::vector<int>& nodes) {
        return fit(nodes).misfit <= bound;
    }
    /** Whether a fit from any of many positions holds, wherever the given ones are. */
    bool holdsAnywhere(const std::vector<int>& nodes) {
        constexpr int mostStarts = 50;
        const std::vector<KnownLength> lengths = lengthsAmong(graph, nodes);
        const double size = 3 * meanLength(lengths);
        bool holds = false;
        for (int start = 0; start < mostStarts && !holds; start++) {
            std::vector<Real3> points;
            for (std::size_t i = 0; i < nodes.size(); i++)
                points.push_back(size * Real3{noise.uniform(), noise.uniform(), noise.uniform()});
            fitShape(points, lengths);
            holds = std::all_of(lengths.begin(), lengths.end(),
                                [&](const KnownLength& l) { return misfit(points, l) <= bound; });
        }
        return holds;
    }
    /** How many were tried. */
    int count() const {
        return numFits;
    }

private:
    static double meanLength(const std::vector<KnownLength>& lengths) {
        double sum = 0;
        for (const KnownLength& l : lengths)
            sum += l.length;
        return sum / std::max<double>(1, (double) lengths.size());
    }
    const LengthGraph& graph;
    const std::vector<Real3> places;
    const double bound;
    SplitMix noise{1};
    int numFits = 0;
};

/** Nodes in the order of their distance, counted in lengths, from some; then all others. */
std::vector<int> byDistance(const LengthGraph& graph, const std::vector<int>& from) {
    std::vector<int> order;
    std::vector<char> seen(graph.size());
    const auto visit = [&](int node) {
        if (!seen[node]) {
            seen[node] = 1;
            order.push_back(node);
        }
    };
    for (int node : from)
        visit(node);
    std::size_t next = 0;
    for (int start = 0; start < graph.size(); start++) {
        for (; next < order.size(); next++)
            for (const LengthGraph::Neighbour& n : graph.of(order[next]))
                visit(n.node);
        visit(start);
    }
    return order;
}

/** Nodes that are at most some lengths away from one, ascending; none if there are too many. */
std::vector<int> ball(const LengthGraph& graph, int centre, int radius) {
    constexpr std::size_t most = 60;
    std::vector<int> nodes{centre};
    std::size_t begin = 0;
    for (int shell = 0; shell < radius; shell++) {
        const std::size_t end = nodes.size();
        for (std::size_t k = begin; k < end; k++)
            for (const LengthGraph::Neighbour& n : graph.of(nodes[k])) {
                if (std::find(nodes.begin(), nodes.end(), n.node) == nodes.end())
                    nodes.push_back(n.node);
                if (nodes.size() > most)
                    return {};
            }
        begin = end;
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

/** Leave out one node after another, as long as the rest does not hold. */
std::vector<int> reduce(Fits& fits, std::vector<int> nodes) {
    for (std::size_t k = nodes.size(); k-- > 0;) {
        std::vector<int> rest = nodes;
        rest.erase(rest.begin() + (std::ptrdiff_t) k);
        if (!fits.holds(rest))
            nodes = std::move(rest);
    }
    return nodes;
}

/** Positions next to those of neighbours, in whatever copy of the box they are. */
std::vector<Real3> wholePlaces(const LengthGraph& graph, const Real3* x, const Box& box) {
    std::vector<Real3> places(graph.size());
    std::vector<char> isPlaced(graph.size());
    for (const std::vector<int>& component : graph.components()) {
        std::vector<int> ends{component[0]};
        places[ends[0]] = x[graph.particle[ends[0]]];
        isPlaced[ends[0]] = 1;
        while (!ends.empty()) {
            const int node = ends.back();
            ends.pop_back();
            for (const LengthGraph::Neighbour& n : graph.of(node))
                if (!isPlaced[n.node]) {
                    isPlaced[n.node] = 1;
                    places[n.node] =
                        places[node] + box.minimumImage(x[graph.particle[n.node]] - x[graph.particle[node]]);
                    ends.push_back(n.node);
                }
        }
    }
    return places;
}

LengthConflict describe(const ConstraintSet& set, const LengthGraph& graph, const Fits::Fit& fit,
                        const std::vector<int>& nodes) {
    LengthConflict conflict;
    for (int node : nodes)
        conflict.particles.push_back(graph.particle[node]);
    const auto placeOf = [&](int particle) {
        const auto found = std::lower_bound(conflict.particles.begin(), conflict.particles.end(), particle);
        return found == conflict.particles.end() || *found != particle ? -1
                                                                       : (int) (found - conflict.particles.begin());
    };
    double sum = 0, largest = -1;
    const KnownLength* worst = nullptr;
    std::vector<int> vertices;
    for (const KnownLength& l : fit.lengths) {
        const double error = norm(fit.points[l.i] - fit.points[l.j]) - l.length;
        sum += error * error;
        if (std::abs(error) / l.length > largest) {
            largest = std::abs(error) / l.length;
            worst = &l;
            conflict.length = l.length;
            conflict.fitted = l.length + error;
        }
    }
    conflict.error = std::sqrt(sum / (double) fit.lengths.size());
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if ((c.kind != CoordinateKind::Distance && c.kind != CoordinateKind::Angle) || c.particles.empty())
            continue;
        const auto [i, j] = std::minmax({placeOf(c.particles.front()), placeOf(c.particles.back())});
        if (i < 0)
            continue;
        conflict.constraints.push_back(k);
        if (worst != nullptr && i == worst->i && j == worst->j &&
            (conflict.worst < 0 || c.kind == CoordinateKind::Distance))
            conflict.worst = k;
    }
    for (int k : conflict.constraints) // vertices of angles
        for (int p : set.constraints[k].particles)
            if (placeOf(p) < 0)
                vertices.push_back(p);
    conflict.particles.insert(conflict.particles.end(), vertices.begin(), vertices.end());
    std::sort(conflict.particles.begin(), conflict.particles.end());
    conflict.particles.erase(std::unique(conflict.particles.begin(), conflict.particles.end()),
                             conflict.particles.end());
    return conflict;
}

} // namespace

std::optional<LengthConflict> findLengthConflict(const ConstraintSet& set, const Real3* x, const Box& box,
                                                 const std::vector<int>& near, double bound) {
    constexpr int mostRadius = 2, mostFits = 2000;
    constexpr std::size_t enough = 8; // of which the smallest is taken
    std::vector<char> counts;
    for (const Constraint& c : set.constraints)
        counts.push_back(!c.particles.empty() && c.rate == 0 && set.isMovable(c));
    const LengthGraph graph = makeLengthGraph(set, counts, 1e-4);
    std::vector<int> from;
    for (int p : near)
        if (const auto found = std::lower_bound(graph.particle.begin(), graph.particle.end(), p);
            found != graph.particle.end() && *found == p)
            from.push_back((int) (found - graph.particle.begin()));
    std::vector<Real3> places = wholePlaces(graph, x, box);
    if (!std::all_of(places.begin(), places.end(), [](const Real3& r) { return isFinite(r); }))
        return {};
    Fits fits(graph, std::move(places), bound);
    std::vector<std::vector<int>> found;
    for (int radius = 1; radius <= mostRadius && found.empty(); radius++)
        for (int centre : byDistance(graph, from)) {
            if (found.size() == enough || fits.count() > radius * mostFits)
                break;
            const std::vector<int> nodes = ball(graph, centre, radius);
            if (nodes.empty() || fits.holds(nodes))
                continue;
            if (std::vector<int> smaller = reduce(fits, nodes); !fits.holdsAnywhere(smaller))
                found.push_back(std::move(smaller));
        }
    std::optional<LengthConflict> smallest;
    for (const std::vector<int>& nodes : found) {
        LengthConflict conflict = describe(set, graph, fits.fit(nodes), nodes);
        if (!smallest || std::pair(conflict.particles.size(), -conflict.error) <
                             std::pair(smallest->particles.size(), -smallest->error))
            smallest = std::move(conflict);
    }
    return smallest;
}

} // namespace ConstraintPlugin
