// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PieceGrowth.h"
#include "Placement.h"
#include "WideTriangle.h"
#include <numeric>

namespace ConstraintPlugin {

namespace {

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

PieceGrowth::PieceGrowth(const PieceSurroundings& around, const PlacedNodes& seed, int own,
                         const std::vector<int>& excluded)
    : around(around), own(own), excluded(excluded), grown(seed) {
    for (int k = 0; k < seed.size(); k++)
        around.placeOf[seed.nodes[k]] = k;
    announce(0, true);
    while (!nodeQueue.empty() || !pieceQueue.empty() || !lastQueue.empty()) {
        const int before = grown.size();
        bool isLast = false;
        if (!pieceQueue.empty()) {
            const int p = pieceQueue.back();
            pieceQueue.pop_back();
            if (!takePiece(p))
                continue;
        } else {
            isLast = nodeQueue.empty();
            std::queue<int>& queue = isLast ? lastQueue : nodeQueue;
            const int node = queue.front();
            queue.pop();
            if (!takeNode(node, isLast))
                continue;
        }
        announce(before, !isLast);
    }
    for (int node : grown.nodes)
        around.placeOf[node] = -1;
}

/** Queue what the nodes from a place on lead to. @param areAnchors  whether they tell where others are */
void PieceGrowth::announce(int first, bool areAnchors) {
    for (int k = first; k < grown.size(); k++) {
        const int node = grown.nodes[k];
        for (const LengthGraph::Neighbour& n :
             areAnchors ? around.graph.of(node) : LengthGraph::Range{nullptr, nullptr})
            if (around.placeOf[n.node] < 0 && ++count[n.node] >= 3)
                nodeQueue.push(n.node);
        for (int p : around.piecesOf[node])
            if (p != own) {
                std::vector<int>& shared = sharing[p];
                shared.push_back(node);
                if (shared.size() >= (around.pieces[p].dimension == 1 ? 2u : 3u))
                    pieceQueue.push_back(p);
            }
    }
}

void PieceGrowth::insert(int node, const Real3& point) {
    around.placeOf[node] = grown.size();
    grown.nodes.push_back(node);
    grown.points.push_back(point);
}

bool PieceGrowth::isExcluded(int node) const {
    return std::count(excluded.begin(), excluded.end(), node) > 0;
}

bool PieceGrowth::takePiece(int p) {
    const PlacedNodes& piece = around.pieces[p];
    const bool isIn = std::count(taken.begin(), taken.end(), p) > 0;
    if (isIn || std::any_of(piece.nodes.begin(), piece.nodes.end(), [&](int node) { return isExcluded(node); }) ||
        !attach(piece, sharing[p]))
        return false;
    taken.push_back(p);
    return true;
}

/** @param isLast  nothing else is left, so one in the plane of its anchors may be taken, too */
bool PieceGrowth::takeNode(int node, bool isLast) {
    if (around.placeOf[node] >= 0 || isExcluded(node) || (!isLast && tried[node] == count[node]))
        return false;
    tried[node] = count[node];
    std::vector<Anchor> anchors;
    std::vector<int> others;
    for (const LengthGraph::Neighbour& n : around.graph.of(node))
        if (around.placeOf[n.node] >= 0 && last.count(n.node) == 0) {
            anchors.push_back({grown.points[around.placeOf[n.node]], n.length});
            others.push_back(n.node);
        }
    const double bound = slackBeforeFit * around.tolerance;
    Placement placement = placeByAnchors(anchors, bound);
    if (placement.kind == Placement::None)
        if (const int wrong = findWrongAnchor(anchors, grown.dimension == 2, bound, placement); wrong >= 0)
            grown.wrong.push_back(std::minmax(node, others[wrong]));
    const bool isFree = placement.kind == Placement::TwoSided && grown.dimension == 2 && anchors.size() > 3,
               isTold = placement.kind == Placement::Unique && (anchors.size() > 3 || placement.isInPlane);
    if (!isFree && !isTold)
        return false;
    // In a plane within rounding only, perhaps: nothing else is placed by it.
    if (grown.dimension == 3 && placement.isInPlane && !isLast) {
        lastQueue.push(node);
        return false;
    }
    if (isLast)
        last.insert(node);
    insert(node, placement.point);
    grown.isRounded = grown.isRounded || placement.isInPlane;
    grown.isSingular = grown.isSingular || placement.isInPlane;
    if (!placement.isInPlane)
        grown.dimension = 3;
    return true;
}

/** Whether lengths between it and a piece at some places hold, and there is one at all. */
bool PieceGrowth::isDecided(const PlacedNodes& piece, const std::vector<Real3>& places) const {
    bool isAny = false;
    for (int k = 0; k < piece.size(); k++) {
        if (around.placeOf[piece.nodes[k]] >= 0)
            continue;
        for (const LengthGraph::Neighbour& n : around.graph.of(piece.nodes[k])) {
            const int other = around.placeOf[n.node];
            if (other < 0 || piece.find(n.node) >= 0)
                continue;
            isAny = true;
            if (!(std::abs(norm(places[k] - grown.points[other]) / n.length - 1) <= slackBeforeFit * around.tolerance))
                return false;
        }
    }
    return isAny;
}

/** Take in a piece of which some nodes are shared. @return false if they do not tell where it is */
bool PieceGrowth::attach(const PlacedNodes& piece, const std::vector<int>& shared) {
    const auto inGrowth = [&](int s) { return grown.points[around.placeOf[shared[s]]]; };
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
        if (piece.dimension == 3 && grown.dimension == 3) {
            double offset[2] = {0, 0}; // of shared nodes
            for (int s = 0; s < (int) shared.size(); s++)
                for (int which : {0, 1})
                    offset[which] = std::max(offset[which], norm(onSide[which][piece.find(shared[s])] - inGrowth(s)));
            const double bound = slackBeforeFit * around.tolerance * wide.longest;
            const bool fits[2] = {offset[0] <= 25 * bound, offset[1] <= 25 * bound};
            if (fits[0] != fits[1])
                side = fits[0] ? 0 : 1;
            else if (!fits[0])
                return false;
            else {
                const bool holds[2] = {isDecided(piece, onSide[0]), isDecided(piece, onSide[1])};
                if (holds[0] == holds[1])
                    return false;
                side = holds[0] ? 0 : 1;
            }
        }
        places = onSide[side];
    }
    for (int k = 0; k < piece.size(); k++)
        if (around.placeOf[piece.nodes[k]] < 0)
            insert(piece.nodes[k], places[k]);
    grown.dimension = std::max(grown.dimension, piece.dimension);
    grown.isSingular = grown.isSingular || piece.isSingular;
    grown.isRounded = grown.isRounded || piece.isRounded;
    grown.wrong.insert(grown.wrong.end(), piece.wrong.begin(), piece.wrong.end());
    return true;
}

PlacedNodes PieceGrowth::sorted() const {
    std::vector<int> order(grown.nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int i, int j) { return grown.nodes[i] < grown.nodes[j]; });
    PlacedNodes body{{}, {}, grown.dimension, grown.isSingular, grown.isRounded, grown.wrong};
    for (int k : order) {
        body.nodes.push_back(grown.nodes[k]);
        body.points.push_back(grown.points[k]);
    }
    return body;
}

} // namespace ConstraintPlugin
