// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlateFinder.h"
#include "StressedPlates.h"
#include "SymmetricEigen.h"

namespace ConstraintPlugin {

namespace {

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** Place a point by lengths from three anchors or more in space: of both places beside the plane of three, the one that
 *  fits the rest. @return false if they lie on one line or there is no such place */
bool placeInSpace(const std::vector<Anchor>& anchors, Real3& place) {
    const Anchor &a = anchors[0], *b = nullptr, *c = nullptr;
    double longest = 0, largest = 0;
    for (const Anchor& other : anchors) {
        const double length = norm(other.position - a.position);
        if (length > longest) {
            longest = length;
            b = &other;
        }
    }
    if (!b)
        return false;
    for (const Anchor& other : anchors) {
        const double area = norm(cross(b->position - a.position, other.position - a.position));
        if (area > largest) {
            largest = area;
            c = &other;
        }
    }
    if (!c || !(largest > 0.03 * longest * longest))
        return false;
    const Real3 u = b->position - a.position, v = c->position - a.position, n = cross(u, v);
    const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), det = dot(n, n), aa = a.length * a.length;
    const double du = (aa - b->length * b->length + uu) / 2, dv = (aa - c->length * c->length + vv) / 2;
    const Real3 foot = (du * vv - dv * uv) / det * u + (dv * uu - du * uv) / det * v;
    const double square = aa - dot(foot, foot);
    const Real3 height = std::sqrt(std::max(0.0, square) / det) * n;
    place = a.position + foot + height;
    const Real3 mirrored = a.position + foot - height;
    if (misfit(anchors, mirrored) < misfit(anchors, place))
        place = mirrored;
    return true;
}

/** Whether anchors hold a place against every displacement: the directions to them span space well. */
bool isHeldInSpace(const std::vector<Anchor>& anchors, const Real3& place) {
    std::vector<double> A(9);
    for (const Anchor& a : anchors) {
        const Real3 d = (1 / a.length) * (place - a.position);
        const double x[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++)
            A[i] += x[i / 3] * x[i % 3];
    }
    return solveSymmetricEigen(3, A).values[0] > 1e-2;
}

/** Corners of a triangle in the plane z = 0. @return false if it is nearly straight */
bool placeTriangle(double ab, double ac, double bc, Real3* points) {
    const double x = (ab * ab + ac * ac - bc * bc) / (2 * ab), square = ac * ac - x * x;
    points[0] = {};
    points[1] = {ab, 0, 0};
    points[2] = {x, square > 0 ? std::sqrt(square) : 0, 0};
    const double longest = std::max({ab, ac, bc});
    return ab * points[2].y > 0.02 * longest * longest;
}

} // namespace

PlateFinder::PlateFinder(const LengthGraph& graph, std::vector<PlacedNodes> lines, double tolerance)
    : graph(graph), lines(std::move(lines)), tolerance(tolerance), platesOf(graph.size()), linesOf(graph.size()),
      spatialOf(graph.size()), effortLeft(20'000 + 300LL * graph.size()) {
    for (int l = 0; l < (int) this->lines.size(); l++)
        for (int node : this->lines[l].nodes)
            linesOf[node].push_back(l);
}

bool PlateFinder::contains(const std::vector<PlacedNodes>& bodies, const std::vector<std::vector<int>>& bodiesOf,
                           const std::vector<int>& nodes) {
    for (int body : bodiesOf[nodes[0]])
        if (std::all_of(nodes.begin(), nodes.end(), [&](int node) { return bodies[body].find(node) >= 0; }))
            return true;
    return false;
}

double PlateFinder::knownLength(int i, int j) const {
    const double given = graph.find(i, j);
    if (given >= 0)
        return given;
    for (int p : platesOf[i]) {
        const int a = plates[p].find(i), b = plates[p].find(j);
        if (b >= 0)
            return norm(plates[p].points[a] - plates[p].points[b]);
    }
    return -1;
}

std::set<int> PlateFinder::linesThrough(const std::vector<int>& nodes) const {
    std::set<int> through;
    for (int node : nodes)
        through.insert(linesOf[node].begin(), linesOf[node].end());
    return through;
}

bool PlateFinder::isLineAndOneMore(const std::vector<int>& nodes) const {
    for (int l : linesThrough({nodes[0], nodes[1]})) {
        int on = 0;
        for (int node : lines[l].nodes)
            on += std::binary_search(nodes.begin(), nodes.end(), node);
        if (on + 1 >= (int) nodes.size())
            return true;
    }
    return false;
}

std::vector<PointOnLine> PlateFinder::pointsOnLines(const std::vector<int>& nodes) const {
    std::vector<PointOnLine> found;
    for (int l : linesThrough(nodes)) {
        std::vector<std::pair<double, int>> on; // along the line
        for (int k = 0; k < lines[l].size(); k++) {
            const auto at = std::lower_bound(nodes.begin(), nodes.end(), lines[l].nodes[k]);
            if (at != nodes.end() && *at == lines[l].nodes[k])
                on.push_back({lines[l].points[k].x, (int) (at - nodes.begin())});
        }
        std::sort(on.begin(), on.end());
        for (std::size_t k = 1; k + 1 < on.size(); k++) {
            // A triangle that is a little bent, and held so from beside, is not to be straightened.
            const LengthGraph::Range range = graph.of(nodes[on[k].second]);
            if (std::any_of(range.begin(), range.end(), [&](const LengthGraph::Neighbour& n) {
                    return lines[l].find(n.node) < 0 && std::binary_search(nodes.begin(), nodes.end(), n.node);
                }))
                continue;
            found.push_back({on[k].second, on.front().second, on.back().second,
                             (on[k].first - on.front().first) / (on.back().first - on.front().first)});
        }
    }
    return found;
}

void PlateFinder::run() {
    growFromTriangles();
    double effort = 3e6 + 2e4 * graph.size();
    for (int round = 0; round < 100; round++) {
        growFromPlates();
        bool isNew = false;
        for (const PlacedNodes& seed : findStressedPlates(*this, effort))
            isNew = (!contains(plates, platesOf, seed.nodes) && growInPlane(seed)) || isNew;
        if (!isNew)
            break;
    }
}

void PlateFinder::growFromTriangles() {
    graph.visitTriangles([&](int a, int b, int c, double ab, double ac, double bc) {
        const std::vector<int> nodes{a, b, c};
        std::vector<Real3> points(3);
        if (contains(plates, platesOf, nodes) || contains(spatialBodies, spatialOf, nodes) || effortLeft < 0 ||
            !placeTriangle(ab, ac, bc, points.data()))
            return;
        effortLeft -= graph.of(a).size();
        bool hasFlat = false;
        int apex = -1;
        Real3 top;
        for (const LengthGraph::Neighbour& n : graph.of(a)) {
            const double nb = graph.find(n.node, b), nc = nb >= 0 ? graph.find(n.node, c) : -1;
            if (nc < 0)
                continue;
            const std::vector<Anchor> anchors{{points[0], n.length}, {points[1], nb}, {points[2], nc}};
            Real3 place;
            if (placeByAnchors(anchors, 2, place) && misfit(anchors, place) <= slackBeforeFit * tolerance)
                hasFlat = true;
            else if (apex < 0 && placeInSpace(anchors, place) && misfit(anchors, place) < tolerance &&
                     isHeldInSpace(anchors, place)) {
                apex = n.node;
                top = place;
            }
        }
        if (apex >= 0)
            growInSpace({a, b, c, apex}, {points[0], points[1], points[2], top});
        if (hasFlat) {
            PlacedNodes seed;
            for (int k = 0; k < 3; k++)
                seed.insert(nodes[k], points[k]);
            growInPlane(seed);
        }
    });
}

void PlateFinder::growInSpace(const std::vector<int>& nodes, const std::vector<Real3>& points) {
    PlacedNodes body;
    std::vector<int> queue;
    std::unordered_map<int, int> count;
    auto add = [&](int node, const Real3& point) {
        body.insert(node, point);
        for (const LengthGraph::Neighbour& n : graph.of(node))
            if (++count[n.node] >= 3)
                queue.push_back(n.node);
    };
    for (std::size_t k = 0; k < nodes.size(); k++)
        add(nodes[k], points[k]);
    std::set<int> failed;
    for (std::size_t q = 0; q < queue.size(); q++) {
        const int node = queue[q];
        if (body.find(node) >= 0 || failed.count(node))
            continue;
        std::vector<Anchor> anchors;
        for (const LengthGraph::Neighbour& n : graph.of(node)) {
            const int k = body.find(n.node);
            if (k >= 0)
                anchors.push_back({body.points[k], n.length});
        }
        Real3 place;
        if (!placeInSpace(anchors, place))
            continue;
        if (misfit(anchors, place) > 1e-3)
            failed.insert(node);
        else if (isHeldInSpace(anchors, place))
            add(node, place);
    }
    for (int node : body.nodes)
        spatialOf[node].push_back((int) spatialBodies.size());
    spatialBodies.push_back(std::move(body));
}

PlacedNodes PlateFinder::extend(const PlacedNodes& seed, const std::set<int>& excluded) const {
    PlacedNodes plate; // in the order of growth
    std::unordered_map<int, int> place, count, countOfLine;
    std::unordered_map<int, std::vector<int>> shared; // with other plates: a few are enough
    constexpr std::size_t mostShared = 20;
    std::vector<int> queue;
    auto add = [&](int node, const Real3& point) {
        place[node] = plate.size();
        plate.nodes.push_back(node);
        plate.points.push_back(point);
        for (const LengthGraph::Neighbour& n : graph.of(node))
            if (++count[n.node] >= 2)
                queue.push_back(n.node);
        for (int l : linesOf[node])
            if (++countOfLine[l] == 2)
                queue.insert(queue.end(), lines[l].nodes.begin(), lines[l].nodes.end());
        for (int p : platesOf[node])
            if (std::vector<int>& s = shared[p]; s.size() < mostShared) {
                s.push_back(node);
                if (s.size() >= 3)
                    queue.insert(queue.end(), plates[p].nodes.begin(), plates[p].nodes.end());
            }
    };
    for (int k = 0; k < seed.size(); k++)
        add(seed.nodes[k], seed.points[k]);
    std::set<int> failed = excluded;
    for (std::size_t q = 0; q < queue.size(); q++) {
        const int node = queue[q];
        if (place.count(node) || failed.count(node))
            continue;
        std::vector<Anchor> anchors;
        for (const LengthGraph::Neighbour& n : graph.of(node)) {
            const auto at = place.find(n.node);
            if (at != place.end())
                anchors.push_back({plate.points[at->second], n.length});
        }
        for (int p : platesOf[node]) {
            const PlacedNodes& other = plates[p];
            for (int s : shared[p])
                if (graph.find(node, s) < 0)
                    anchors.push_back(
                        {plate.points[place[s]], norm(other.points[other.find(s)] - other.points[other.find(node)])});
        }
        Real3 point;
        bool isPlaced = placeByAnchors(anchors, 2, point);
        for (int l : linesOf[node]) {
            if (isPlaced)
                break;
            const int own = lines[l].find(node);
            std::vector<std::pair<double, Real3>> on; // along the line, in the plane
            for (int k = 0; k < lines[l].size(); k++) {
                const auto at = place.find(lines[l].nodes[k]);
                if (at != place.end())
                    on.push_back({lines[l].points[k].x, plate.points[at->second]});
            }
            if (on.size() < 2)
                continue;
            const auto [first, last] = std::minmax_element(
                on.begin(), on.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            const double w = (lines[l].points[own].x - first->first) / (last->first - first->first);
            point = (1 - w) * first->second + w * last->second;
            isPlaced = true;
        }
        if (!isPlaced)
            continue;
        if (misfit(anchors, point) <= slackBeforeFit * tolerance)
            add(node, point);
        else
            failed.insert(node);
    }
    PlacedNodes sorted;
    std::sort(plate.nodes.begin(), plate.nodes.end());
    for (int node : plate.nodes)
        sorted.points.push_back(plate.points[place[node]]);
    sorted.nodes = std::move(plate.nodes);
    return sorted;
}

bool PlateFinder::growInPlane(const PlacedNodes& seed) {
    std::set<int> excluded;
    for (int attempt = 0; attempt < 10 && effortLeft >= 0; attempt++) {
        PlacedNodes plate = extend(seed, excluded);
        if (plate.size() == seed.size() && contains(plates, platesOf, plate.nodes))
            return false;
        if (plate.size() < 4 || isLineAndOneMore(plate.nodes))
            return false;
        fitShape(plate.points, lengthsAmong(graph, plate.nodes), pointsOnLines(plate.nodes));
        const WorstFit worst = findWorstFit(graph, plate);
        if (worst.misfit <= tolerance) {
            if (contains(plates, platesOf, plate.nodes))
                return false;
            return addPlate(std::move(plate));
        }
        effortLeft -= (long long) plate.size() * plate.size();
        if (seed.find(worst.node) >= 0)
            return false;
        excluded.insert(worst.node);
    }
    return false;
}

bool PlateFinder::addPlate(PlacedNodes plate) {
    std::unordered_map<int, std::vector<Anchor>> shared;
    for (int k = 0; k < plate.size(); k++)
        for (int p : platesOf[plate.nodes[k]])
            shared[p].push_back({plate.points[k], 1});
    std::vector<int> replaced;
    for (const auto& [p, points] : shared) {
        const bool isInside = (int) points.size() == plates[p].size();
        Real3 unused;
        if (!isInside && !placeByAnchors(points, 2, unused))
            continue;
        if (!isInside && plates[p].size() >= plate.size())
            return false;
        replaced.push_back(p);
    }
    for (int p : replaced) {
        for (int node : plates[p].nodes)
            platesOf[node].erase(std::find(platesOf[node].begin(), platesOf[node].end(), p));
        plates[p] = {};
    }
    for (int node : plate.nodes)
        platesOf[node].push_back((int) plates.size());
    plates.push_back(std::move(plate));
    return true;
}

void PlateFinder::growFromPlates() {
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t p = 0; p < plates.size(); p++)
            if (!plates[p].nodes.empty())
                grown = growInPlane(PlacedNodes(plates[p])) || grown;
    }
}

} // namespace ConstraintPlugin
