// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "FlatRings.h"
#include <map>

namespace ConstraintPlugin {

namespace {

const double pi = std::acos(-1.0);

/** Pairs of nodes that two pieces share, and the angles between them. */
class Hinges {
public:
    Hinges(const LengthGraph& graph, const RigidPieces& pieces)
        : pieces(pieces), isInTriangle(graph.size()), next(graph.size()) {
        std::map<std::pair<int, int>, int> count; // pieces that have both nodes
        const auto countPairs = [&](const std::vector<int>& nodes) {
            for (std::size_t j = 1; j < nodes.size(); j++)
                for (std::size_t i = 0; i < j; i++)
                    count[std::minmax(nodes[i], nodes[j])]++;
        };
        graph.visitTriangles([&](int a, int b, int c, double, double, double) {
            if (!pieces.haveTogether({a, b, c})) {
                countPairs({a, b, c});
                for (int node : {a, b, c})
                    isInTriangle[node] = 1;
            }
        });
        for (const PlacedNodes& piece : pieces.all()) {
            std::vector<int> shared;
            for (int node : piece.nodes)
                if (pieces.piecesOf()[node].size() > 1 || isInTriangle[node])
                    shared.push_back(node);
            if (shared.size() <= mostShared)
                countPairs(shared);
        }
        for (const auto& [pair, number] : count)
            if (number > 1) {
                next[pair.first].push_back(pair.second);
                next[pair.second].push_back(pair.first);
            }
    }
    const std::vector<int>& from(int node) const {
        return next[node];
    }
    /** By how much a ring turns at a node; negative if it may turn by any angle. */
    double turnAt(int before, int node, int after) const {
        const double a = pieces.knownLength(before, node), b = pieces.knownLength(node, after),
                     c = pieces.knownLength(before, after);
        if (a < 0 || b < 0 || c < 0)
            return -1;
        return pi - std::acos(std::max(-1.0, std::min(1.0, (a * a + b * b - c * c) / (2 * a * b))));
    }

private:
    static constexpr std::size_t mostShared = 100;
    const RigidPieces& pieces;
    std::vector<char> isInTriangle;
    std::vector<std::vector<int>> next;
};

/** Rings by depth first, each once: from its smallest node, to the smaller of its neighbours first. */
class RingSearch {
public:
    RingSearch(const Hinges& hinges, int numNodes, double tolerance)
        : hinges(hinges), rounding(std::max(0.02, 10 * tolerance)), isOn(numNodes),
          effortLeft(200'000 + 500LL * numNodes) {
    }
    /** visit(nodes of a ring in turn, what it turns by at each) */
    template <class Visit>
    void run(Visit visit) {
        for (int start = 0; start < (int) isOn.size() && effortLeft > 0; start++) {
            ring = {start};
            isOn[start] = 1;
            for (int second : hinges.from(start))
                if (second > start)
                    step(second, 0, visit);
            isOn[start] = 0;
        }
    }

private:
    template <class Visit>
    void step(int node, double turned, Visit visit) {
        ring.push_back(node);
        isOn[node] = 1;
        for (int next : hinges.from(node)) {
            if (--effortLeft < 0)
                break;
            const int before = ring[ring.size() - 2], start = ring[0];
            if (next == before || (isOn[next] && next != start) || next < start || (next == start && ring[1] > node))
                continue;
            const double turn = hinges.turnAt(before, node, next);
            if (turn < 0 || turned + turn > 2 * pi + rounding)
                continue;
            turns.push_back(turn);
            if (next != start)
                step(next, turned + turn, visit);
            else if (const double last = hinges.turnAt(node, start, ring[1]);
                     last >= 0 && std::abs(turned + turn + last - 2 * pi) <= rounding) {
                turns.push_back(last);
                visit(ring, turns);
                turns.pop_back();
            }
            turns.pop_back();
        }
        isOn[node] = 0;
        ring.pop_back();
    }
    const Hinges& hinges;
    const double rounding; // rad: the fit judges
    std::vector<char> isOn;
    std::vector<int> ring;
    std::vector<double> turns; // at the second node, the third and so on, and at the first
    long long effortLeft;
};

} // namespace

std::vector<PlacedNodes> findFlatRings(const LengthGraph& graph, const RigidPieces& pieces, double tolerance) {
    std::vector<PlacedNodes> rings;
    const Hinges hinges(graph, pieces);
    RingSearch search(hinges, graph.size(), tolerance);
    search.run([&](const std::vector<int>& nodes, const std::vector<double>& turns) {
        const int n = (int) nodes.size();
        if (n < 4 || pieces.haveTogether(nodes))
            return;
        PlacedNodes ring{{}, {}, 2, true, true};
        Real3 place;
        double direction = 0;
        for (int k = 0; k < n; k++) {
            ring.insert(nodes[k], place);
            const double length = pieces.knownLength(nodes[k], nodes[(k + 1) % n]);
            place += length * Real3{std::cos(direction), std::sin(direction), 0};
            direction += turns[k];
        }
        std::vector<KnownLength> lengths;
        for (int j = 1; j < n; j++)
            for (int i = 0; i < j; i++)
                if (const double length = pieces.knownLength(ring.nodes[i], ring.nodes[j]); length >= 0)
                    lengths.push_back({i, j, length});
        fitShape(ring.points, lengths);
        const bool fits = std::all_of(lengths.begin(), lengths.end(),
                                      [&](const KnownLength& l) { return misfit(ring.points, l) <= tolerance; });
        if (fits)
            rings.push_back(std::move(ring));
    });
    return rings;
}

} // namespace ConstraintPlugin
