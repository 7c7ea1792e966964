// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidPieces.h"
#include "FreeBody.h"
#include <queue>

namespace ConstraintPlugin {

namespace {

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** Right-handed axes of three points that are not on one line, from the first. */
struct TriangleFrame {
    Real3 origin, x, y, z;
    TriangleFrame(const Real3& a, const Real3& b, const Real3& c) : origin(a) {
        const Real3 u = b - a, n = cross(u, c - a);
        x = (1 / norm(u)) * u;
        z = (1 / norm(n)) * n;
        y = cross(z, x);
    }
    /** A point of this frame in another one. @param side  -1: its mirror image in the triangle's plane */
    Real3 to(const TriangleFrame& other, const Real3& point, int side) const {
        const Real3 d = point - origin;
        return other.origin + dot(d, x) * other.x + dot(d, y) * other.y + (side * dot(d, z)) * other.z;
    }
};

/** Three of some points that span much. */
struct WideTriangle {
    int a = 0, b = 0, c = 0;
    double longest = 0, area = 0;
    template <class Point>
    WideTriangle(int n, Point at) {
        const auto farthest = [&](int from) {
            int best = from;
            for (int i = 0; i < n; i++)
                if (norm(at(i) - at(from)) > norm(at(best) - at(from)))
                    best = i;
            return best;
        };
        b = farthest(0);
        a = farthest(b);
        longest = norm(at(b) - at(a));
        for (int i = 0; i < n; i++) {
            const double size = norm(cross(at(b) - at(a), at(i) - at(a)));
            if (size > area) {
                area = size;
                c = i;
            }
        }
    }
    bool isOnALine() const {
        return !(area > 0.02 * longest * longest);
    }
};

} // namespace

namespace {

/** Which of many anchors contradicts the others: the only one without which these place the point.
 *  @param[out] placement  by the others, if there is one. @return -1: there is none */
int findWrongAnchor(const std::vector<Anchor>& anchors, bool isPlane, double tolerance, Placement& placement) {
    const std::size_t fewest = isPlane ? 4 : 7; // so that more agree than a place needs
    int wrong = -1;
    for (std::size_t i = 0; i < anchors.size() && anchors.size() >= fewest; i++) {
        std::vector<Anchor> others = anchors;
        others.erase(others.begin() + (std::ptrdiff_t) i);
        const Placement without = placeByAnchors(others, tolerance);
        if (without.kind != Placement::Unique)
            continue;
        if (wrong >= 0)
            return -1;
        wrong = (int) i;
        placement = without;
    }
    return wrong;
}

} // namespace

/** A piece while it grows, in the order of growth. */
struct RigidPieces::Growth {
    std::vector<int> nodes;
    std::vector<Real3> points;
    int dimension = 3;
    bool isSingular = false, isRounded = false;
    std::vector<int> taken;                   // pieces
    std::vector<std::pair<int, int>> wrong{}; // as PlacedNodes::wrong

    PlacedNodes sorted() const {
        std::vector<int> order(nodes.size());
        for (std::size_t k = 0; k < order.size(); k++)
            order[k] = (int) k;
        std::sort(order.begin(), order.end(), [&](int i, int j) { return nodes[i] < nodes[j]; });
        PlacedNodes body{{}, {}, dimension, isSingular, isRounded, wrong};
        for (int k : order) {
            body.nodes.push_back(nodes[k]);
            body.points.push_back(points[k]);
        }
        return body;
    }
};

RigidPieces::RigidPieces(const LengthGraph& graph, const std::vector<PlacedNodes>& lines, double tolerance)
    : graph(graph), lines(lines), tolerance(tolerance), ownersOf(graph.size()), linesOf(graph.size()),
      placeOf(graph.size(), -1) {
    for (int l = 0; l < (int) lines.size(); l++) {
        for (int node : lines[l].nodes)
            linesOf[node].push_back(l);
        take(lines[l]);
    }
}

void RigidPieces::take(const PlacedNodes& piece) {
    pieces.push_back(piece);
    enlist((int) pieces.size() - 1);
}

void RigidPieces::enlist(int piece) {
    for (int node : pieces[piece].nodes)
        ownersOf[node].push_back(piece);
}

void RigidPieces::retire(int piece) {
    for (int node : pieces[piece].nodes)
        ownersOf[node].erase(std::find(ownersOf[node].begin(), ownersOf[node].end(), piece));
    pieces[piece] = {};
}

bool RigidPieces::haveTogether(const std::vector<int>& nodes) const {
    const auto rarest = *std::min_element(nodes.begin(), nodes.end(),
                                          [&](int i, int j) { return ownersOf[i].size() < ownersOf[j].size(); });
    return std::any_of(ownersOf[rarest].begin(), ownersOf[rarest].end(), [&](int p) {
        return std::all_of(nodes.begin(), nodes.end(), [&](int node) { return pieces[p].find(node) >= 0; });
    });
}

double RigidPieces::knownLength(int i, int j) const {
    const double given = graph.find(i, j);
    if (given >= 0)
        return given;
    for (int p : ownersOf[i])
        if (const int b = pieces[p].find(j); b >= 0)
            return norm(pieces[p].at(i) - pieces[p].points[b]);
    return -1;
}

bool RigidPieces::isLineAndOneMore(const std::vector<int>& nodes) const {
    for (int start : {0, 1}) // one of two nodes is on it
        for (int l : linesOf[nodes[start]]) {
            int on = 0;
            for (int node : lines[l].nodes)
                on += std::binary_search(nodes.begin(), nodes.end(), node);
            if (on + 1 >= (int) nodes.size())
                return true;
        }
    return false;
}

std::vector<PointOnLine> RigidPieces::pointsOnLines(const std::vector<int>& nodes) const {
    std::vector<PointOnLine> found;
    std::vector<int> through;
    for (int node : nodes)
        through.insert(through.end(), linesOf[node].begin(), linesOf[node].end());
    std::sort(through.begin(), through.end());
    through.erase(std::unique(through.begin(), through.end()), through.end());
    for (int l : through) {
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

/** Whether lengths between a growth and a piece at some places hold, and there is one at all. */
bool RigidPieces::isDecided(const Growth& growth, const PlacedNodes& piece, const std::vector<Real3>& places) const {
    bool isAny = false;
    for (int k = 0; k < piece.size(); k++) {
        if (placeOf[piece.nodes[k]] >= 0)
            continue;
        for (const LengthGraph::Neighbour& n : graph.of(piece.nodes[k])) {
            const int other = placeOf[n.node];
            if (other < 0 || piece.find(n.node) >= 0)
                continue;
            isAny = true;
            if (!(std::abs(norm(places[k] - growth.points[other]) / n.length - 1) <= slackBeforeFit * tolerance))
                return false;
        }
    }
    return isAny;
}

/** Take a piece into a growth that has some of its nodes. @return false if they do not tell where it is */
bool RigidPieces::attach(Growth& growth, const PlacedNodes& piece, const std::vector<int>& shared) const {
    const auto inGrowth = [&](int s) { return growth.points[placeOf[shared[s]]]; };
    const auto inPiece = [&](int s) { return piece.at(shared[s]); };
    const WideTriangle wide((int) shared.size(), inPiece);
    std::vector<Real3> places = piece.points;
    if (piece.dimension == 1) {
        const double start = inPiece(wide.a).x, length = inPiece(wide.b).x - start;
        for (Real3& place : places) {
            const double w = (place.x - start) / length;
            place = (1 - w) * inGrowth(wide.a) + w * inGrowth(wide.b);
        }
    } else {
        if (wide.isOnALine())
            return false;
        const TriangleFrame from(inPiece(wide.a), inPiece(wide.b), inPiece(wide.c)),
            to(inGrowth(wide.a), inGrowth(wide.b), inGrowth(wide.c));
        std::vector<Real3> onSide[2];
        for (int s : {0, 1})
            for (const Real3& point : piece.points)
                onSide[s].push_back(from.to(to, point, s == 0 ? 1 : -1));
        int side = 0;
        if (piece.dimension == 3 && growth.dimension == 3) {
            double offset[2] = {0, 0}; // of shared nodes
            for (int s = 0; s < (int) shared.size(); s++)
                for (int which : {0, 1})
                    offset[which] = std::max(offset[which], norm(onSide[which][piece.find(shared[s])] - inGrowth(s)));
            const double bound = slackBeforeFit * tolerance * wide.longest;
            const bool fits[2] = {offset[0] <= 25 * bound, offset[1] <= 25 * bound};
            if (fits[0] != fits[1])
                side = fits[0] ? 0 : 1;
            else if (!fits[0])
                return false;
            else {
                const bool holds[2] = {isDecided(growth, piece, onSide[0]), isDecided(growth, piece, onSide[1])};
                if (holds[0] == holds[1])
                    return false;
                side = holds[0] ? 0 : 1;
            }
        }
        places = onSide[side];
    }
    for (int k = 0; k < piece.size(); k++)
        if (placeOf[piece.nodes[k]] < 0) {
            placeOf[piece.nodes[k]] = (int) growth.nodes.size();
            growth.nodes.push_back(piece.nodes[k]);
            growth.points.push_back(places[k]);
        }
    growth.dimension = std::max(growth.dimension, piece.dimension);
    growth.isSingular = growth.isSingular || piece.isSingular;
    growth.isRounded = growth.isRounded || piece.isRounded;
    growth.wrong.insert(growth.wrong.end(), piece.wrong.begin(), piece.wrong.end());
    return true;
}

RigidPieces::Growth RigidPieces::extend(const PlacedNodes& seed, int own, const std::vector<int>& excluded) const {
    Growth growth{{}, {}, seed.dimension, seed.isSingular, seed.isRounded, {}, seed.wrong};
    std::unordered_map<int, int> count;                // lengths of nodes beside it
    std::unordered_map<int, std::vector<int>> sharing; // nodes that other pieces share
    std::vector<int> pieceQueue;
    std::queue<int> lastQueue; // nodes that three lengths hold in their plane: others may tell more later
    std::queue<int> nodeQueue; // those that came first are close to many: errors then stay small
    const auto announce = [&](std::size_t first, bool isAnchor) { // nodes from here on are new
        for (std::size_t k = first; k < growth.nodes.size(); k++) {
            const int node = growth.nodes[k];
            for (const LengthGraph::Neighbour& n : isAnchor ? graph.of(node) : LengthGraph::Range{nullptr, nullptr})
                if (placeOf[n.node] < 0 && ++count[n.node] >= 3)
                    nodeQueue.push(n.node);
            for (int p : ownersOf[node])
                if (p != own) {
                    std::vector<int>& shared = sharing[p];
                    shared.push_back(node);
                    if (shared.size() >= (pieces[p].dimension == 1 ? 2u : 3u))
                        pieceQueue.push_back(p);
                }
        }
    };
    for (int k = 0; k < seed.size(); k++) {
        placeOf[seed.nodes[k]] = k;
        growth.nodes.push_back(seed.nodes[k]);
        growth.points.push_back(seed.points[k]);
    }
    announce(0, true);
    const auto isExcluded = [&](int node) { return std::count(excluded.begin(), excluded.end(), node) > 0; };
    std::unordered_map<int, std::size_t> tried; // how many shared nodes a piece, or lengths a node, had then
    std::unordered_map<int, char> isLast;
    while (!nodeQueue.empty() || !pieceQueue.empty() || !lastQueue.empty()) {
        const std::size_t before = growth.nodes.size();
        bool isAnchor = true;
        if (!pieceQueue.empty()) {
            const int p = pieceQueue.back();
            pieceQueue.pop_back();
            const bool isIn = std::count(growth.taken.begin(), growth.taken.end(), p) > 0;
            const auto& nodes = pieces[p].nodes;
            if (isIn || std::any_of(nodes.begin(), nodes.end(), isExcluded) || !attach(growth, pieces[p], sharing[p]))
                continue;
            growth.taken.push_back(p);
        } else {
            std::queue<int>& queue = nodeQueue.empty() ? lastQueue : nodeQueue;
            isAnchor = &queue == &nodeQueue;
            const int node = queue.front();
            queue.pop();
            if (placeOf[node] >= 0 || isExcluded(node) || (isAnchor && tried[node] == (std::size_t) count[node]))
                continue;
            tried[node] = count[node];
            std::vector<Anchor> anchors;
            std::vector<int> others;
            for (const LengthGraph::Neighbour& n : graph.of(node))
                if (placeOf[n.node] >= 0 && isLast.count(n.node) == 0) {
                    anchors.push_back({growth.points[placeOf[n.node]], n.length});
                    others.push_back(n.node);
                }
            Placement placement = placeByAnchors(anchors, slackBeforeFit * tolerance);
            if (const int wrong =
                    placement.kind == Placement::None
                        ? findWrongAnchor(anchors, growth.dimension == 2, slackBeforeFit * tolerance, placement)
                        : -1;
                wrong >= 0)
                growth.wrong.push_back(std::minmax(node, others[wrong]));
            const bool isFree = placement.kind == Placement::TwoSided && growth.dimension == 2 && anchors.size() > 3,
                       isTold = placement.kind == Placement::Unique && (anchors.size() > 3 || placement.isInPlane);
            if (!isFree && !isTold)
                continue;
            // In a plane within rounding only, perhaps: nothing else is placed by it.
            if (growth.dimension == 3 && placement.isInPlane && isAnchor) {
                lastQueue.push(node);
                continue;
            }
            if (!isAnchor)
                isLast[node] = 1;
            growth.isRounded = growth.isRounded || placement.isInPlane;
            placeOf[node] = (int) growth.nodes.size();
            growth.nodes.push_back(node);
            growth.points.push_back(placement.point);
            growth.isSingular = growth.isSingular || placement.isInPlane;
            if (!placement.isInPlane)
                growth.dimension = 3;
        }
        announce(before, isAnchor);
    }
    for (int node : growth.nodes)
        placeOf[node] = -1;
    return growth;
}

WorstFit RigidPieces::fit(PlacedNodes& body) const {
    std::vector<KnownLength> lengths = lengthsAmong(graph, body.nodes);
    const auto isWrong = [&](const KnownLength& l) {
        return std::count(body.wrong.begin(), body.wrong.end(), std::pair(body.nodes[l.i], body.nodes[l.j])) > 0;
    };
    if (!body.wrong.empty())
        lengths.erase(std::remove_if(lengths.begin(), lengths.end(), isWrong), lengths.end());
    const std::vector<PointOnLine> onLines = pointsOnLines(body.nodes);
    if (body.dimension > 1)
        fitShape(body.points, lengths, onLines);
    const WorstFit worst = findWorstFit(lengths, body);
    const int needed = body.dimension == 2 ? 2 * body.size() - 3 : 3 * body.size() - 6;
    if (worst.misfit <= tolerance || (int) lengths.size() < needed + body.size())
        return worst;
    // Where many lengths tell the shape, it may be a single one that does not fit.
    const auto largest =
        std::max_element(lengths.begin(), lengths.end(), [&](const KnownLength& l, const KnownLength& m) {
            return misfit(body.points, l) < misfit(body.points, m);
        });
    PlacedNodes other = body;
    other.wrong.emplace_back(body.nodes[largest->i], body.nodes[largest->j]);
    lengths.erase(largest);
    fitShape(other.points, lengths, onLines);
    const WorstFit rest = findWorstFit(lengths, other);
    if (!(rest.misfit <= tolerance))
        return worst;
    body = std::move(other);
    return rest;
}

bool RigidPieces::grow(PlacedNodes seed, int own) {
    std::vector<int> excluded;
    for (int attempt = 0; attempt < 10; attempt++) {
        const Growth growth = extend(seed, own, excluded);
        PlacedNodes body = growth.sorted();
        if (own >= 0 && body.size() == seed.size() && growth.taken.empty())
            return false;
        if (body.dimension == 2 && isLineAndOneMore(body.nodes))
            return false;
        const WorstFit worst = fit(body);
        if (worst.misfit <= tolerance) {
            if (own >= 0)
                retire(own);
            for (int p : growth.taken)
                retire(p);
            pieces.push_back(std::move(body));
            enlist((int) pieces.size() - 1);
            return true;
        }
        effortLeft -= (long long) body.size() * body.size();
        if (effortLeft < 0)
            return false;
        if (seed.find(worst.node) >= 0)
            return false;
        excluded.push_back(worst.node);
    }
    return false;
}

bool RigidPieces::add(PlacedNodes seed) {
    return !haveTogether(seed.nodes) && grow(std::move(seed));
}

bool RigidPieces::growExisting() {
    bool isAny = false;
    for (int p = 0; p < (int) pieces.size(); p++)
        if (!pieces[p].nodes.empty() && pieces[p].dimension > 1)
            isAny = grow(PlacedNodes(pieces[p]), p) || isAny;
    return isAny;
}

void RigidPieces::finish() {
    while (growExisting())
        ;
    std::vector<int> bySize;
    for (int p = 0; p < (int) pieces.size(); p++)
        if (!pieces[p].nodes.empty())
            bySize.push_back(p);
    std::stable_sort(bySize.begin(), bySize.end(), [&](int p, int q) { return pieces[p].size() > pieces[q].size(); });
    std::vector<char> stays(pieces.size());
    for (int p : bySize) {
        std::unordered_map<int, std::vector<int>> sharing;
        for (int node : pieces[p].nodes)
            for (int other : ownersOf[node])
                if (stays[other])
                    sharing[other].push_back(node);
        stays[p] = std::all_of(sharing.begin(), sharing.end(), [&](const auto& shared) {
            const std::vector<int>& nodes = shared.second;
            if (nodes.size() == pieces[p].nodes.size())
                return false;
            const bool isLinear = pieces[p].dimension == 1 || pieces[shared.first].dimension == 1;
            if (isLinear || nodes.size() < 3)
                return nodes.size() < (isLinear ? 2u : 3u);
            const WideTriangle wide((int) nodes.size(), [&](int s) { return pieces[p].at(nodes[s]); });
            return areOnALine(wide.longest, wide.area / wide.longest);
        });
    }
    for (int p : bySize)
        if (!stays[p])
            retire(p);
}

} // namespace ConstraintPlugin
