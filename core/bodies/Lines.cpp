// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlacedNodes.h"
#include "Placement.h"
#include <set>
#include <unordered_map>

namespace ConstraintPlugin {

namespace {

/** Whether a line is held bent from beside: a triangle that seems straight within rounding may be part of a larger body
 *  whose lengths tell more. A node at p along the line has |d - x|^2 = x^2 - 2 p x + q from each node at x. */
bool isHeldBent(const LengthGraph& graph, const PlacedNodes& line, double tolerance) {
    std::vector<int> byDegree(line.size());
    for (int k = 0; k < line.size(); k++)
        byDegree[k] = k;
    std::sort(byDegree.begin(), byDegree.end(),
              [&](int a, int b) { return graph.of(line.nodes[a]).size() < graph.of(line.nodes[b]).size(); });
    std::set<int> beside; // with three lengths to the line, one at least is not to the two largest hubs
    for (int k = 0; k + 2 < line.size(); k++)
        for (const LengthGraph::Neighbour& n : graph.of(line.nodes[byDegree[k]]))
            if (line.find(n.node) < 0)
                beside.insert(n.node);
    for (int node : beside) {
        std::vector<std::pair<double, double>> lengths; // from x
        for (int k = 0; k < line.size(); k++) {
            const double length = graph.find(node, line.nodes[k]);
            if (length >= 0)
                lengths.push_back({line.points[k].x, length});
        }
        if (lengths.size() < 3)
            continue;
        std::sort(lengths.begin(), lengths.end());
        const auto [a, da] = lengths.front();
        const auto [b, db] = lengths.back();
        for (const auto& [x, d] : lengths) { // Stewart's theorem
            const double square = ((b - x) * da * da + (x - a) * db * db) / (b - a) - (b - x) * (x - a);
            if (!(std::abs(std::sqrt(std::max(0.0, square)) / d - 1) <= slackBeforeFit * tolerance))
                return true;
        }
    }
    return false;
}

/** Add nodes with two or more lengths to the line that fit a place on it. */
void extendLine(const LengthGraph& graph, PlacedNodes& line, const std::set<int>& excluded, double tolerance) {
    // A node with two lengths to the line has one to a node other than its hub: a hub's neighbours need not be looked
    // at.
    const int hub = *std::max_element(line.nodes.begin(), line.nodes.end(),
                                      [&](int a, int b) { return graph.of(a).size() < graph.of(b).size(); });
    std::vector<int> queue;
    auto enqueueNeighbours = [&](int node) {
        for (const LengthGraph::Neighbour& n : graph.of(node))
            queue.push_back(n.node);
    };
    for (int node : std::vector<int>(line.nodes))
        if (node != hub)
            enqueueNeighbours(node);
    std::unordered_map<int, int> tried; // how many members there were
    for (std::size_t q = 0; q < queue.size(); q++) {
        const int node = queue[q];
        if (tried[node] == line.size() || line.find(node) >= 0 || excluded.count(node))
            continue;
        tried[node] = line.size();
        std::vector<Anchor> anchors;
        for (int k = 0; k < line.size(); k++) {
            const double length = graph.find(node, line.nodes[k]);
            if (length >= 0)
                anchors.push_back({line.points[k], length});
        }
        if (anchors.size() < 2)
            continue;
        for (double sign : {1, -1}) {
            const Real3 place{anchors[0].position.x + sign * anchors[0].length, 0, 0};
            if (misfit(anchors, place) <= slackBeforeFit * tolerance) {
                PlacedNodes longer = line;
                longer.insert(node, place);
                if (isHeldBent(graph, longer, tolerance))
                    break;
                line = std::move(longer);
                enqueueNeighbours(node);
                break;
            }
        }
    }
}

/** The line through two that share two nodes or more. */
bool mergeLines(const LengthGraph& graph, PlacedNodes& line, const PlacedNodes& other, double tolerance) {
    int first = -1, second = -1; // places in the other
    for (int k = 0; k < other.size(); k++)
        if (line.find(other.nodes[k]) >= 0)
            (first < 0 ? first : second) = k;
    if (second < 0)
        return false;
    const double a = line.points[line.find(other.nodes[first])].x, b = line.points[line.find(other.nodes[second])].x;
    const double sign = (b > a) == (other.points[second].x > other.points[first].x) ? 1 : -1;
    PlacedNodes merged = line;
    for (int k = 0; k < other.size(); k++)
        if (line.find(other.nodes[k]) < 0)
            merged.insert(other.nodes[k], {a + sign * (other.points[k].x - other.points[first].x), 0, 0});
    fitShape(merged.points, lengthsAmong(graph, merged.nodes));
    if (isHeldBent(graph, merged, tolerance) ||
        !(findWorstFit(lengthsAmong(graph, merged.nodes), merged).misfit <= tolerance))
        return false;
    line = merged;
    return true;
}

} // namespace

std::vector<PlacedNodes> findLines(const LengthGraph& graph, double tolerance) {
    struct Seed {
        int end, middle, otherEnd;
        double first, second;
    };
    std::vector<Seed> seeds;
    graph.visitTriangles([&](int a, int b, int c, double ab, double ac, double bc) {
        if (!isStraight(ab, ac, bc, tolerance))
            return;
        if (const double longest = std::max({ab, ac, bc}); longest == ab)
            seeds.push_back({a, c, b, ac, bc});
        else if (longest == ac)
            seeds.push_back({a, b, c, ab, bc});
        else
            seeds.push_back({b, a, c, ab, ac});
    });
    std::vector<PlacedNodes> lines;
    if (seeds.empty())
        return lines;
    std::vector<std::vector<int>> linesOf(graph.size());
    for (const Seed& seed : seeds) {
        bool isKnown = false;
        for (int l : linesOf[seed.middle])
            isKnown = isKnown || (lines[l].find(seed.end) >= 0 && lines[l].find(seed.otherEnd) >= 0);
        std::set<int> excluded;
        for (int attempt = 0; attempt < 10 && !isKnown; attempt++) {
            PlacedNodes line{{}, {}, 1, true};
            line.insert(seed.end, {});
            line.insert(seed.middle, {seed.first, 0, 0});
            line.insert(seed.otherEnd, {seed.first + seed.second, 0, 0});
            if (isHeldBent(graph, line, tolerance))
                break;
            extendLine(graph, line, excluded, tolerance);
            fitShape(line.points, lengthsAmong(graph, line.nodes));
            const WorstFit worst = findWorstFit(lengthsAmong(graph, line.nodes), line);
            if (worst.misfit <= tolerance) {
                for (int node : line.nodes)
                    linesOf[node].push_back((int) lines.size());
                lines.push_back(line);
                break;
            }
            if (worst.node == seed.end || worst.node == seed.middle || worst.node == seed.otherEnd)
                break;
            excluded.insert(worst.node);
        }
    }
    // Lines that share two nodes are one.
    for (std::size_t l = 0; l < lines.size(); l++)
        for (bool grown = true; grown;) {
            grown = false;
            for (std::size_t k = 0; k < lines[l].nodes.size() && !grown; k++)
                for (int other : linesOf[lines[l].nodes[k]]) {
                    if (other == (int) l || lines[other].nodes.empty() ||
                        !mergeLines(graph, lines[l], lines[other], tolerance))
                        continue;
                    for (int node : lines[other].nodes)
                        linesOf[node].push_back((int) l);
                    lines[other].nodes.clear();
                    grown = true;
                    break;
                }
        }
    lines.erase(std::remove_if(lines.begin(), lines.end(), [](const PlacedNodes& l) { return l.nodes.empty(); }),
                lines.end());
    return lines;
}

} // namespace ConstraintPlugin
