// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "StressedPlates.h"
#include "PebbleGame.h"
#include "PlanarStress.h"

namespace ConstraintPlugin {

namespace {

constexpr int largestSet = 60, mostLengths = 150;
constexpr int mostVisits = 3'000'000;

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** Sets of nodes that have more lengths than a plane needs, each as small as can be. */
std::vector<std::vector<int>> findCircuits(const PlateFinder& finder) {
    PebbleGame game(finder.graph.size());
    std::vector<std::vector<int>> circuits;
    std::size_t sizeOfAll = 0;
    auto insert = [&](int i, int j) {
        if (game.numVisits() > mostVisits || sizeOfAll > mostVisits)
            return;
        const std::vector<int> circuit = game.insert(i, j);
        // What a body held in space has too much is no sign of a plane.
        if (!circuit.empty() && !PlateFinder::contains(finder.spatialBodies, finder.spatialOf, circuit) &&
            !PlateFinder::contains(finder.plates, finder.platesOf, circuit))
            circuits.push_back(circuit);
        sizeOfAll += circuit.size();
    };
    // A plate or line counts with as many lengths as hold it, so that it has none too many by itself.
    std::vector<std::vector<int>> done(finder.graph.size());
    std::vector<PlacedNodes> bodies;
    auto insertBody = [&](const PlacedNodes& body) {
        if (body.size() < 2)
            return;
        for (int k = 1; k < body.size(); k++)
            for (int base = 0; base < std::min(k, 2); base++)
                if (!PlateFinder::contains(bodies, done, {body.nodes[base], body.nodes[k]}))
                    insert(body.nodes[base], body.nodes[k]);
        for (int node : body.nodes)
            done[node].push_back((int) bodies.size());
        bodies.push_back(body);
    };
    for (const PlacedNodes& plate : finder.plates)
        insertBody(plate);
    for (const PlacedNodes& line : finder.lines)
        insertBody(line);
    for (bool inSpace : {false, true})
        for (const KnownLength& l : finder.graph.lengths()) {
            const std::vector<int> pair{l.i, l.j};
            if (PlateFinder::contains(finder.spatialBodies, finder.spatialOf, pair) == inSpace &&
                !PlateFinder::contains(bodies, done, pair))
                insert(l.i, l.j);
        }
    std::sort(circuits.begin(), circuits.end(),
              [](const auto& a, const auto& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
    circuits.erase(std::unique(circuits.begin(), circuits.end()), circuits.end());
    return circuits;
}

/** Circuits, and what they make up where they share two nodes or more, the smallest first. */
std::vector<std::vector<int>> uniteCircuits(const PlateFinder& finder, const std::vector<std::vector<int>>& circuits) {
    std::vector<int> group(circuits.size());
    auto find = [&](int c) {
        while (group[c] != c)
            c = group[c] = group[group[c]];
        return c;
    };
    std::vector<std::vector<int>> circuitsOf(finder.graph.size());
    for (int c = 0; c < (int) circuits.size(); c++) {
        group[c] = c;
        std::unordered_map<int, int> shared;
        for (int node : circuits[c]) {
            for (int other : circuitsOf[node])
                if (++shared[other] == 2)
                    group[find(other)] = c;
            // A representative is enough: of long lists only the last count.
            if (circuitsOf[node].size() > 20)
                circuitsOf[node].erase(circuitsOf[node].begin());
            circuitsOf[node].push_back(c);
        }
    }
    std::unordered_map<int, std::set<int>> nodesOf;
    for (int c = 0; c < (int) circuits.size(); c++)
        nodesOf[find(c)].insert(circuits[c].begin(), circuits[c].end());
    std::vector<std::vector<int>> sets = circuits;
    for (const auto& [c, nodes] : nodesOf)
        sets.emplace_back(nodes.begin(), nodes.end());
    sets.erase(std::remove_if(sets.begin(), sets.end(), [](const auto& s) { return (int) s.size() > largestSet; }),
               sets.end());
    std::sort(sets.begin(), sets.end(),
              [](const auto& a, const auto& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    return sets;
}

/** Flat embeddings of a small set of nodes. */
class Embedder {
public:
    Embedder(const PlateFinder& finder, const std::vector<int>& nodes, double& effort)
        : n((int) nodes.size()), known(n * n, -1), effort(effort) {
        effort -= n * n * n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                known[i * n + j] = known[j * n + i] = finder.knownLength(nodes[i], nodes[j]);
    }

    /** Each the nodes that found a place, and where; empty if there are too many. */
    std::vector<PlacedNodes> embed() const {
        int seed[3];
        if (!chooseTriangle(seed))
            return {};
        PlacedNodes first;
        first.insert(seed[0], {});
        first.insert(seed[1], {length(seed[0], seed[1]), 0, 0});
        first.insert(seed[2], placesInPlane({{}, length(seed[0], seed[2])},
                                            {{length(seed[0], seed[1]), 0, 0}, length(seed[1], seed[2])})[0]);
        std::vector<PlacedNodes> found{first};
        std::vector<char> excluded(n);
        while (effort > 0 && found.size() <= mostEmbeddings) {
            // Every embedding holds the same nodes.
            int next = -1, most = 1;
            for (int i = 0; i < n; i++) {
                int count = 0;
                for (int j : found[0].nodes)
                    count += known[i * n + j] >= 0;
                if (!excluded[i] && found[0].find(i) < 0 && count > most) {
                    most = count;
                    next = i;
                }
            }
            if (next < 0)
                return found;
            std::vector<PlacedNodes> extended;
            for (const PlacedNodes& e : found)
                for (const Real3& place : places(e, next)) {
                    extended.push_back(e);
                    extended.back().insert(next, place);
                }
            if (extended.empty())
                excluded[next] = 1; // in no plane with the rest
            else
                found = std::move(extended);
        }
        return {};
    }

    double length(int i, int j) const {
        return known[i * n + j];
    }

private:
    static constexpr std::size_t mostEmbeddings = 300;
    static constexpr double coarse = 0.01; // enough to tell one side from the other before all lengths are fitted

    /** A triangle that many others hang on. */
    bool chooseTriangle(int* seed) const {
        double bestScore = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                for (int k = j + 1; k < n; k++) {
                    const double a = length(i, j), b = length(i, k), c = length(j, k);
                    if (a < 0 || b < 0 || c < 0)
                        continue;
                    const double s = (a + b + c) / 2, square = s * (s - a) * (s - b) * (s - c);
                    const double longest = std::max({a, b, c});
                    if (!(square > 0.002 * longest * longest * longest * longest))
                        continue;
                    double score = 1;
                    for (int p = 0; p < n; p++)
                        score += (length(p, i) >= 0) + (length(p, j) >= 0) + (length(p, k) >= 0);
                    if (score > bestScore) {
                        bestScore = score;
                        seed[0] = i;
                        seed[1] = j;
                        seed[2] = k;
                    }
                }
        return bestScore > 0;
    }

    std::vector<Real3> places(const PlacedNodes& placed, int node) const {
        std::vector<Anchor> anchors;
        for (int k = 0; k < placed.size(); k++)
            if (length(node, placed.nodes[k]) >= 0)
                anchors.push_back({placed.points[k], length(node, placed.nodes[k])});
        effort -= anchors.size() * anchors.size();
        // The pair that is seen under the most nearly right angle places best.
        double best = -1;
        const Anchor *a = nullptr, *b = nullptr;
        for (const Anchor& p : anchors)
            for (const Anchor& q : anchors) {
                const Real3 d = p.position - q.position;
                const double cosine =
                    (p.length * p.length + q.length * q.length - dot(d, d)) / (2 * p.length * q.length);
                if (1 - cosine * cosine > best && norm(d) > 1e-3 * p.length) {
                    best = 1 - cosine * cosine;
                    a = &p;
                    b = &q;
                }
            }
        std::vector<Real3> fitting;
        if (a)
            for (const Real3& place : placesInPlane(*a, *b))
                if (misfit(anchors, place) < coarse)
                    fitting.push_back(place);
        return fitting;
    }

    int n;
    std::vector<double> known; ///< [n*n] nm, negative: not known
    double& effort;
};

/** Lengths that hold a set: those given, and of each plate in it enough to hold it, out of the plane as well. */
std::vector<KnownLength> lengthsThatHold(const PlateFinder& finder, const std::vector<int>& nodes,
                                         const std::vector<Real3>& points) {
    std::set<std::pair<int, int>> pairs;
    std::set<int> plates;
    for (int node : nodes)
        plates.insert(finder.platesOf[node].begin(), finder.platesOf[node].end());
    for (const KnownLength& l : lengthsAmong(finder.graph, nodes))
        if (!PlateFinder::contains(finder.plates, finder.platesOf, {nodes[l.i], nodes[l.j]}))
            pairs.insert({l.i, l.j});
    for (int p : plates) {
        std::vector<int> in;
        for (int k = 0; k < (int) nodes.size(); k++)
            if (finder.plates[p].find(nodes[k]) >= 0)
                in.push_back(k);
        if (in.size() < 2)
            continue;
        // The three that span most come first; each other one hangs on them.
        std::size_t second = 1, third = 2;
        for (std::size_t k = 1; k < in.size(); k++)
            if (norm(points[in[k]] - points[in[0]]) > norm(points[in[second]] - points[in[0]]))
                second = k;
        std::swap(in[1], in[second]);
        auto area = [&](std::size_t k) {
            return norm(cross(points[in[k]] - points[in[0]], points[in[1]] - points[in[0]]));
        };
        for (std::size_t k = 2; k < in.size(); k++)
            if (area(k) > area(third))
                third = k;
        if (in.size() > 2)
            std::swap(in[2], in[third]);
        for (std::size_t k = 1; k < in.size(); k++)
            for (std::size_t base = 0; base < std::min<std::size_t>(k, 3); base++)
                pairs.insert(std::minmax(in[base], in[k]));
    }
    std::vector<KnownLength> lengths;
    for (const auto& [i, j] : pairs)
        lengths.push_back({i, j, finder.knownLength(nodes[i], nodes[j])});
    return lengths;
}

} // namespace

std::vector<PlacedNodes> findStressedPlates(const PlateFinder& finder, double& effort) {
    std::vector<PlacedNodes> plates;
    const std::vector<std::vector<int>> circuits = findCircuits(finder);
    for (const std::vector<int>& set : uniteCircuits(finder, circuits)) {
        // Small plates first: once they have grown, larger sets may need no search.
        if (effort < 0 || (!plates.empty() && (int) set.size() > 2 * plates[0].size()))
            break;
        if (std::any_of(plates.begin(), plates.end(), [&](const PlacedNodes& p) {
                return std::includes(p.nodes.begin(), p.nodes.end(), set.begin(), set.end());
            }))
            continue;
        const std::vector<PlacedNodes> embeddings = Embedder(finder, set, effort).embed();
        for (std::size_t e = 0; e < std::min<std::size_t>(embeddings.size(), 32); e++) {
            PlacedNodes plate = embeddings[e];
            for (int& node : plate.nodes)
                node = set[node];
            const std::vector<PointOnLine> onLine = finder.pointsOnLines(plate.nodes);
            const std::vector<KnownLength> lengths = lengthsThatHold(finder, plate.nodes, plate.points);
            if ((int) lengths.size() > mostLengths)
                continue;
            effort -= 100.0 * lengths.size();
            fitShape(plate.points, lengths, onLine);
            if (!std::all_of(lengths.begin(), lengths.end(), [&](const KnownLength& l) {
                    return misfit(plate.points, l) <= slackBeforeFit * finder.tolerance;
                }))
                continue;
            effort -= 3.0 * lengths.size() * lengths.size() * plate.size();
            PlacedNodes proven;
            for (int k : findBracedPoints(plate.points, lengths, onLine))
                proven.insert(plate.nodes[k], plate.points[k]);
            if (proven.size() > 0) {
                plates.push_back(proven);
                break;
            }
        }
    }
    return plates;
}

} // namespace ConstraintPlugin
