// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidPieces.h"
#include "PieceGrowth.h"
#include "RigidBody.h"
#include "WideTriangle.h"

namespace ConstraintPlugin {

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

bool RigidPieces::grow(const PlacedNodes& seed, int own) {
    std::vector<int> excluded;
    for (int attempt = 0; attempt < 10; attempt++) {
        const PieceGrowth growth({graph, pieces, ownersOf, tolerance, placeOf}, seed, own, excluded);
        PlacedNodes body = growth.sorted();
        if (own >= 0 && body.size() == seed.size() && growth.takenPieces().empty())
            return false;
        if (body.dimension == 2 && isLineAndOneMore(body.nodes))
            return false;
        const WorstFit worst = fit(body);
        if (worst.misfit <= tolerance) {
            if (own >= 0)
                retire(own);
            for (int p : growth.takenPieces())
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

bool RigidPieces::add(const PlacedNodes& seed) {
    return !haveTogether(seed.nodes) && grow(seed);
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
