// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PieceSearch.h"
#include "FlatRings.h"
#include "SymmetricEigen.h"

namespace ConstraintPlugin {

namespace {

/** Lengths of the graph and those between any two nodes of a line. */
LengthGraph completeLines(const LengthGraph& graph, const std::vector<PlacedNodes>& lines) {
    constexpr int longestComplete = 30; // of longer rods every node is joined to so many others
    std::vector<KnownLength> lengths = graph.lengths();
    for (const PlacedNodes& line : lines)
        for (int i = 0; i < line.size(); i++)
            for (int j = 0; j < std::min(i, longestComplete); j++)
                lengths.push_back({line.nodes[j], line.nodes[i], std::abs(line.points[i].x - line.points[j].x)});
    return LengthGraph(graph.particle, lengths);
}

/** Four nodes that are flat within rounding, but have all six lengths, keep their lengths: others may rely on them. */
void restoreHeight(const LengthGraph& graph, PlacedNodes& piece) {
    double square[4][4] = {};
    for (const KnownLength& l : lengthsAmong(graph, piece.nodes))
        square[l.i][l.j] = square[l.j][l.i] = l.length * l.length;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (square[i][j] == 0)
                return;
    // The corner at the largest angle is at the origin: edges u along x, v in the plane, w to the fourth.
    int order[4] = {0, 1, 2, 3};
    double largest = 0;
    for (int o = 0; o < 4; o++) {
        const int a = (o + 1) % 4, b = (o + 2) % 4;
        const double uv = (square[o][a] + square[o][b] - square[a][b]) / 2,
                     area = square[o][a] * square[o][b] - uv * uv;
        if (area > largest) {
            largest = area;
            const int found[4] = {o, a, b, (o + 3) % 4};
            std::copy(found, found + 4, order);
        }
    }
    const auto product = [&](int i, int j) {
        const int o = order[0];
        return (square[o][order[i]] + square[o][order[j]] - square[order[i]][order[j]]) / 2;
    };
    const double u = std::sqrt(product(1, 1)), vx = product(1, 2) / u, vy = std::sqrt(product(2, 2) - vx * vx),
                 wx = product(1, 3) / u, wy = (product(2, 3) - wx * vx) / vy,
                 height = product(3, 3) - wx * wx - wy * wy;
    if (!(height > 1e-12 * product(1, 1)))
        return;
    piece.points[order[0]] = {};
    piece.points[order[1]] = {u, 0, 0};
    piece.points[order[2]] = {vx, vy, 0};
    piece.points[order[3]] = {wx, wy, std::sqrt(height)};
}

/** Whether a flat shape meets the lengths of a piece, too. */
bool isNearlyFlat(const LengthGraph& graph, const PlacedNodes& piece, double tolerance) {
    Real3 centre;
    for (const Real3& r : piece.points)
        centre += (1.0 / piece.size()) * r;
    std::vector<double> moments(9);
    for (const Real3& r : piece.points) {
        const Real3 d = r - centre;
        const double x[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++)
            moments[i] += x[i / 3] * x[i % 3];
    }
    const SymmetricEigen axes = solveSymmetricEigen(3, moments);
    if (axes.values[0] > 0.01 * axes.values[1])
        return false;
    const auto along = [&](int k, const Real3& d) {
        return dot(Real3{axes.vectors[k][0], axes.vectors[k][1], axes.vectors[k][2]}, d);
    };
    PlacedNodes flat = piece;
    for (Real3& r : flat.points)
        r = {along(2, r - centre), along(1, r - centre), 0};
    const std::vector<KnownLength> lengths = lengthsAmong(graph, flat.nodes);
    fitShape(flat.points, lengths);
    return findWorstFit(lengths, flat).misfit <= tolerance;
}

/** Pieces whose shapes meet all lengths within a tolerance.
 *  @param known         that are there already
 *  @param straightness  tolerance of lines
 *  @param effort        as RigidPieces::growFromTetrahedra() */
std::vector<PlacedNodes> search(const LengthGraph& given, const std::vector<PlacedNodes>& known, double tolerance,
                                double straightness, double effort) {
    const std::vector<PlacedNodes> lines = findLines(given, straightness);
    const LengthGraph graph = lines.empty() ? given : completeLines(given, lines);
    RigidPieces pieces(graph, lines, tolerance);
    for (const PlacedNodes& piece : known)
        pieces.take(piece);
    pieces.growFromTetrahedra(effort);
    for (bool isNew = true; isNew;) {
        isNew = false;
        for (PlacedNodes& ring : findFlatRings(graph, pieces, tolerance))
            isNew = pieces.add(ring) || isNew;
    }
    pieces.finish();
    std::vector<PlacedNodes> found;
    for (const PlacedNodes& piece : pieces.all())
        if (piece.size() > 0)
            found.push_back(piece);
    for (PlacedNodes& piece : found)
        if (piece.dimension == 2 && piece.size() == 4)
            restoreHeight(graph, piece);
    return found;
}

} // namespace

std::vector<FoundPiece> findPieces(const LengthGraph& graph, double tolerance, double bend) {
    constexpr double rounding = 1e-9; // of lengths that were computed
    const double least = std::min(rounding, tolerance);
    std::vector<PlacedNodes> exact = search(graph, {}, least, least, 0.1);
    const auto isRegular = [](const PlacedNodes& piece) { return piece.dimension == 3 && piece.size() == 4; };
    exact.erase(std::remove_if(exact.begin(), exact.end(), isRegular), exact.end());
    std::vector<PlacedNodes> known;
    for (PlacedNodes& piece : exact) {
        piece.isRounded = false;
        // What may be not quite flat is found as a whole, in the second search.
        const bool isFlat = piece.dimension == 2 && bend > tolerance;
        if (!isFlat && (piece.dimension < 3 || !isNearlyFlat(graph, piece, tolerance)))
            known.push_back(piece);
    }
    std::vector<FoundPiece> found;
    for (PlacedNodes& piece : search(graph, known, bend, tolerance, 1)) {
        std::vector<PlacedNodes> parts;
        for (const PlacedNodes& part : exact)
            if (piece.isRounded &&
                std::includes(piece.nodes.begin(), piece.nodes.end(), part.nodes.begin(), part.nodes.end()))
                parts.push_back(part);
        // One in space that meets all lengths exactly was taken for flat in a part by chance.
        if (piece.isRounded && piece.dimension == 3 &&
            findWorstFit(lengthsAmong(graph, piece.nodes), piece).misfit <= rounding)
            for (const PlacedNodes& part : parts)
                found.push_back({part, {}});
        else
            found.push_back({std::move(piece), std::move(parts)});
    }
    return found;
}

} // namespace ConstraintPlugin
