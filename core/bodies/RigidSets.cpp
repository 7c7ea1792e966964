// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidSets.h"
#include "BracedBodies.h"
#include "PieceSearch.h"
#include "RankAnalysis.h"
#include "SymmetricEigen.h"
#include "Tetrahedron.h"
#include "coordinates.h"
#include <numeric>
#include <set>

namespace ConstraintPlugin {

namespace {

/** The constraints that sets meet. */
void assignConstraints(const ConstraintSet& set, const std::vector<char>& mayReplace, double tolerance,
                       std::vector<RigidSet>& bodies) {
    std::vector<std::vector<int>> bodiesOf(set.numParticles());
    for (int b = 0; b < (int) bodies.size(); b++)
        for (int p : bodies[b].particles)
            bodiesOf[p].push_back(b);
    const auto toleranceOf = [&](const Constraint& c) { // lengths within the tolerance change an angle by more
        return c.kind == CoordinateKind::Angle ? 3 * tolerance : tolerance;
    };
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if ((!mayReplace.empty() && !mayReplace[k]) ||
            (c.kind != CoordinateKind::Distance && c.kind != CoordinateKind::Angle))
            continue;
        const int rarest = *std::min_element(c.particles.begin(), c.particles.end(),
                                             [&](int p, int q) { return bodiesOf[p].size() < bodiesOf[q].size(); });
        for (int b : bodiesOf[rarest])
            if (const auto value = valueInShape(c, bodies[b].particles, bodies[b].shape);
                value && std::abs(*value - c.target) <= toleranceOf(c) * set.scale(c))
                bodies[b].constraints.push_back(k);
    }
}

/** Whether a set has more lengths than it needs. */
bool isRedundant(const ConstraintSet& set, const RigidSet& body) {
    std::set<std::pair<int, int>> pairs; // that may move
    for (int k : body.constraints) {
        const Constraint& c = set.constraints[k];
        const auto [p, q] = std::minmax(c.particles.front(), c.particles.back());
        if (set.inverseMass[p] > 0 || set.inverseMass[q] > 0)
            pairs.insert({p, q});
    }
    const auto isAnchor = [&](int p) { return set.inverseMass[p] == 0; };
    const int anchors = (int) std::count_if(body.particles.begin(), body.particles.end(), isAnchor);
    constexpr int freedom[] = {6, 3, 1, 0};
    return (int) pairs.size() > 3 * ((int) body.particles.size() - anchors) - freedom[std::min(anchors, 3)];
}

/** Whether a linear body has only bonds and angles of pi: these are regular, because such an angle is two components of
 * the bend. */
bool isRegularRod(const ConstraintSet& set, const RigidSet& body) {
    const auto count = [&](CoordinateKind kind) {
        return std::count_if(body.constraints.begin(), body.constraints.end(),
                             [&](int k) { return set.constraints[k].kind == kind; });
    };
    const auto n = (std::ptrdiff_t) body.particles.size();
    return body.dimension == 1 && count(CoordinateKind::Distance) == n - 1 && count(CoordinateKind::Angle) == n - 2;
}

/** Whether a set is a tetrahedron of six distances that are independent of each other, because it is high enough. */
bool isRegularTetrahedron(const ConstraintSet& set, const RigidSet& body) {
    if (body.particles.size() != 4 || body.constraints.size() != 6)
        return false;
    std::set<std::pair<int, int>> pairs;
    for (int k : body.constraints)
        if (const Constraint& c = set.constraints[k]; c.kind == CoordinateKind::Distance)
            pairs.insert(std::minmax(c.particles[0], c.particles[1]));
    return pairs.size() == 6 && smallestHeight(body.shape.data()) > largestRoundedHeight;
}

/** Keep the sets that plain constraints cannot hold, and in their chains those of four particles or more, which share
 *  a hinge with one that is kept. @param[in,out] isKept  [bodies] */
void keepChains(const ConstraintSet& set, const std::vector<RigidSet>& bodies, std::vector<char>& isKept) {
    std::vector<std::vector<int>> bodiesOf(set.numParticles());
    std::vector<int> ends;
    for (int b = 0; b < (int) bodies.size(); b++) {
        for (int p : bodies[b].particles)
            bodiesOf[p].push_back(b);
        if (isKept[b])
            ends.push_back(b);
    }
    while (!ends.empty()) {
        std::vector<int> shared; // bodies, once for each particle
        for (int p : bodies[ends.back()].particles)
            shared.insert(shared.end(), bodiesOf[p].begin(), bodiesOf[p].end());
        ends.pop_back();
        std::sort(shared.begin(), shared.end());
        for (std::size_t i = 1; i < shared.size(); i++) {
            const int b = shared[i];
            if (b == shared[i - 1] && !isKept[b] && bodies[b].particles.size() > 3 && !isRegularRod(set, bodies[b])) {
                isKept[b] = 1;
                ends.push_back(b);
            }
        }
    }
}

/** Whether some nodes that lengths connect may have rigid pieces that are no plain triangles: bonds and waters, of
 * which there are many, have none. */
bool mayHavePieces(const LengthGraph& graph, const std::vector<int>& nodes, double tolerance) {
    if (nodes.size() != 3)
        return nodes.size() > 3;
    const auto between = [&](int i, int j) { return graph.find(nodes[i], nodes[j]); };
    const double lengths[] = {between(0, 1), between(0, 2), between(1, 2)};
    return std::all_of(lengths, lengths + 3, [](double length) { return length >= 0; }) &&
           isStraight(lengths[0], lengths[1], lengths[2], tolerance);
}

/** Pieces as sets, with their constraints, and which of them are to be bodies. */
struct Selection {
    std::vector<RigidSet> bodies;
    std::vector<char> isKept;
};

Selection select(const ConstraintSet& set, const std::vector<char>& mayReplace, double tolerance,
                 const std::vector<FoundPiece>& pieces) {
    Selection selection;
    for (const FoundPiece& found : pieces)
        selection.bodies.push_back(
            {found.piece.nodes, found.piece.points, found.piece.isRounded, found.piece.dimension, {}});
    assignConstraints(set, mayReplace, tolerance, selection.bodies);
    for (std::size_t b = 0; b < pieces.size(); b++) {
        const RigidSet& body = selection.bodies[b];
        const bool isRegular = isRegularRod(set, body) || isRegularTetrahedron(set, body),
                   isImmovable = std::all_of(body.particles.begin(), body.particles.end(),
                                             [&](int p) { return set.inverseMass[p] == 0; });
        selection.isKept.push_back(!isImmovable && !isRegular &&
                                   (pieces[b].piece.isSingular || isRedundant(set, body)));
    }
    keepChains(set, selection.bodies, selection.isKept);
    return selection;
}

/** Take rounded pieces that others brace back to their exact parts.
 *  @param[out] braced  their constraints are added to these
 *  @return whether there were any */
bool takeBracedBack(const ConstraintSet& set, const Selection& selection, std::vector<FoundPiece>& pieces,
                    std::vector<int>& braced) {
    std::vector<RigidSet> kept;
    std::vector<std::size_t> number;
    std::vector<char> isAsked;
    for (std::size_t b = 0; b < pieces.size(); b++)
        if (selection.isKept[b]) {
            kept.push_back(selection.bodies[b]);
            number.push_back(b);
            isAsked.push_back(selection.bodies[b].isRounded);
        }
    const std::vector<char> isBraced = findBraced(set, kept, isAsked);
    std::vector<FoundPiece> parts;
    for (std::size_t i = 0; i < kept.size(); i++)
        if (isBraced[i]) {
            braced.insert(braced.end(), kept[i].constraints.begin(), kept[i].constraints.end());
            for (const PlacedNodes& part : pieces[number[i]].exact)
                parts.push_back({part, {}});
            pieces[number[i]].piece.nodes.clear();
        }
    if (std::none_of(isBraced.begin(), isBraced.end(), [](char is) { return is; }))
        return false;
    pieces.erase(
        std::remove_if(pieces.begin(), pieces.end(), [](const FoundPiece& p) { return p.piece.nodes.empty(); }),
        pieces.end());
    pieces.insert(pieces.end(), parts.begin(), parts.end());
    return true;
}

/** Along their principal axes: the plane that fits them best is z = 0. */
std::vector<Real3> alongAxes(const std::vector<Real3>& places) {
    Real3 centre;
    for (const Real3& r : places)
        centre += (1.0 / (double) places.size()) * r;
    std::vector<double> moments(9);
    for (const Real3& r : places) {
        const double x[3] = {r.x - centre.x, r.y - centre.y, r.z - centre.z};
        for (int i = 0; i < 9; i++)
            moments[i] += x[i / 3] * x[i % 3];
    }
    const SymmetricEigen eigen = solveSymmetricEigen(3, moments);
    const auto axis = [&](int k) { return Real3{eigen.vectors[k][0], eigen.vectors[k][1], eigen.vectors[k][2]}; };
    const Real3 x = axis(2), y = axis(1), z = cross(x, y); // right-handed
    std::vector<Real3> shape;
    for (const Real3& r : places)
        shape.push_back({dot(x, r - centre), dot(y, r - centre), dot(z, r - centre)});
    return shape;
}

/** A part of a graph, and where its lengths were measured. */
class Measured {
public:
    Measured(const LengthGraph& graph, const MeasuredPositions& positions) : graph(graph), places(graph.size()) {
        for (int node = 0; node < graph.size(); node++)
            if (const auto found = positions.find(graph.particle[node]); found != positions.end())
                places[node] = found->second;
    }
    /** Whether all lengths among some nodes are those of the positions. */
    bool hasLengthsAmong(const std::vector<int>& nodes) const {
        constexpr double rounding = 1e-9; // of lengths that were computed
        if (!std::all_of(nodes.begin(), nodes.end(), [&](int node) { return places[node].has_value(); }))
            return false;
        const std::vector<KnownLength> lengths = lengthsAmong(graph, nodes);
        return std::all_of(lengths.begin(), lengths.end(), [&](const KnownLength& l) {
            return std::abs(norm(*places[nodes[l.i]] - *places[nodes[l.j]]) / l.length - 1) <= rounding;
        });
    }
    /** Give a piece that is not linear the shape that it has there. */
    void reshape(PlacedNodes& piece) const {
        constexpr double thickness = 1e-6; // nm, of what is planar
        if (piece.dimension == 1 || !hasLengthsAmong(piece.nodes))
            return;
        for (int i = 0; i < piece.size(); i++)
            piece.points[i] = *places[piece.nodes[i]];
        piece.points = alongAxes(piece.points);
        const auto isInPlane = [&](const Real3& r) { return std::abs(r.z) <= thickness; };
        if (std::all_of(piece.points.begin(), piece.points.end(), isInPlane))
            for (Real3& r : piece.points)
                r.z = 0;
    }

private:
    const LengthGraph& graph;
    std::vector<std::optional<Real3>> places;
};

/** All nodes of a graph. */
std::vector<int> nodesOf(const LengthGraph& graph) {
    std::vector<int> nodes(graph.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
}

} // namespace

std::optional<double> valueInShape(const Constraint& c, const std::vector<int>& particles,
                                   const std::vector<Real3>& shape) {
    Real3 r[3], bonds[3], G[3];
    for (int s = 0; s < c.size(); s++) {
        const auto at = std::lower_bound(particles.begin(), particles.end(), c.particles[s]);
        if (at == particles.end() || *at != c.particles[s])
            return {};
        r[s] = shape[at - particles.begin()];
        if (s > 0)
            bonds[s - 1] = r[s - 1] - r[s];
    }
    return coordinate(c.kind, bonds, G);
}

std::vector<RigidSet> findRigidSets(const ConstraintSet& set, double tolerance, const std::vector<char>& mayReplace,
                                    const MeasuredPositions& measured, std::vector<int>* braced) {
    tolerance = std::max(tolerance, flatnessBound);
    const LengthGraph graph = makeLengthGraph(set, mayReplace, tolerance);
    if (graph.size() == 0)
        return {};
    std::vector<FoundPiece> pieces;
    for (const std::vector<int>& component : graph.components()) {
        if (!mayHavePieces(graph, component, tolerance))
            continue;
        const LengthGraph part = graph.part(component);
        const Measured there(part, measured);
        const double bend = there.hasLengthsAmong(nodesOf(part)) ? std::max(tolerance, bendBound) : tolerance;
        for (FoundPiece& found : findPieces(part, tolerance, bend)) {
            const auto toParticles = [&](PlacedNodes& piece) {
                there.reshape(piece);
                for (int& node : piece.nodes)
                    node = part.particle[node];
            };
            toParticles(found.piece);
            std::for_each(found.exact.begin(), found.exact.end(), toParticles);
            pieces.push_back(std::move(found));
        }
    }
    std::vector<int> unused;
    Selection selection = select(set, mayReplace, tolerance, pieces);
    while (takeBracedBack(set, selection, pieces, braced != nullptr ? *braced : unused))
        selection = select(set, mayReplace, tolerance, pieces);
    std::vector<RigidSet> found;
    for (std::size_t b = 0; b < pieces.size(); b++)
        if (selection.isKept[b])
            found.push_back(std::move(selection.bodies[b]));
    std::sort(found.begin(), found.end(),
              [](const RigidSet& a, const RigidSet& b) { return a.particles < b.particles; });
    return found;
}

} // namespace ConstraintPlugin
