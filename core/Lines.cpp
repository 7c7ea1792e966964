// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlateFinder.h"

namespace ConstraintPlugin {

int PlacedNodes::find(int node) const {
    const auto it = std::lower_bound(nodes.begin(), nodes.end(), node);
    return it != nodes.end() && *it == node ? (int) (it - nodes.begin()) : -1;
}

void PlacedNodes::insert(int node, const Real3& point) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin();
    nodes.insert(nodes.begin() + at, node);
    points.insert(points.begin() + at, point);
}

std::vector<KnownLength> lengthsAmong(const LengthGraph& graph, const std::vector<int>& nodes) {
    std::vector<KnownLength> lengths;
    for (int i = 0; i < (int) nodes.size(); i++) {
        int j = 0;
        for (const LengthGraph::Neighbour& n : graph.of(nodes[i])) { // both lists ascend
            while (j < (int) nodes.size() && nodes[j] < n.node)
                j++;
            if (j < (int) nodes.size() && nodes[j] == n.node && i < j)
                lengths.push_back({i, j, n.length});
        }
    }
    return lengths;
}

WorstFit findWorstFit(const LengthGraph& graph, const PlacedNodes& body) {
    WorstFit worst;
    std::vector<double> sum(body.size());
    for (const KnownLength& l : lengthsAmong(graph, body.nodes)) {
        const double m = misfit(body.points, l);
        worst.misfit = std::max(worst.misfit, std::isfinite(m) ? m : HUGE_VAL);
        sum[l.i] += m * m;
        sum[l.j] += m * m;
    }
    if (!sum.empty())
        worst.node = body.nodes[std::max_element(sum.begin(), sum.end()) - sum.begin()];
    return worst;
}

namespace {

/** Add nodes with two or more lengths to the line that fit a place on it. */
void extendLine(const LengthGraph& graph, PlacedNodes& line, const std::set<int>& excluded, double tolerance) {
    std::vector<int> queue;
    auto enqueueNeighbours = [&](int node) {
        for (const LengthGraph::Neighbour& n : graph.of(node))
            queue.push_back(n.node);
    };
    for (int node : std::vector<int>(line.nodes))
        enqueueNeighbours(node);
    std::unordered_map<int, std::size_t> tried; // how many members there were
    for (std::size_t q = 0; q < queue.size(); q++) {
        const int node = queue[q];
        if (line.find(node) >= 0 || excluded.count(node) || tried[node] == line.nodes.size())
            continue;
        tried[node] = line.nodes.size();
        std::vector<Anchor> anchors;
        for (const LengthGraph::Neighbour& n : graph.of(node)) {
            const int k = line.find(n.node);
            if (k >= 0)
                anchors.push_back({line.points[k], n.length});
        }
        if (anchors.size() < 2)
            continue;
        for (double sign : {1, -1}) {
            const Real3 place{anchors[0].position.x + sign * anchors[0].length, 0, 0};
            if (misfit(anchors, place) <= slackBeforeFit * tolerance) {
                line.insert(node, place);
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
    if (!(findWorstFit(graph, merged).misfit <= tolerance))
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
        const double longest = std::max({ab, ac, bc});
        if (!(std::abs(2 * longest - ab - ac - bc) <= tolerance * longest))
            return;
        if (longest == ab)
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
            PlacedNodes line;
            line.insert(seed.end, {});
            line.insert(seed.middle, {seed.first, 0, 0});
            line.insert(seed.otherEnd, {seed.first + seed.second, 0, 0});
            extendLine(graph, line, excluded, tolerance);
            fitShape(line.points, lengthsAmong(graph, line.nodes));
            const WorstFit worst = findWorstFit(graph, line);
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
