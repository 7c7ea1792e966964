// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Placement.h"
#include "RigidPieces.h"
#include "Tetrahedron.h"

namespace ConstraintPlugin {

namespace {

/** Corners of a triangle in the plane z = 0. @return false if it is nearly straight */
bool placeTriangle(double ab, double ac, double bc, Real3* points) {
    const double x = (ab * ab + ac * ac - bc * bc) / (2 * ab), square = ac * ac - x * x;
    points[0] = {};
    points[1] = {ab, 0, 0};
    points[2] = {x, square > 0 ? std::sqrt(square) : 0, 0};
    const double longest = std::max({ab, ac, bc});
    return ab * points[2].y > 0.02 * longest * longest;
}

/** The smallest height of a tetrahedron over one of its faces, relative to its longest edge. */
double steepness(const Real3* corners) {
    double longest = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            longest = std::max(longest, norm(corners[i] - corners[j]));
    return smallestHeight(corners) / longest;
}

} // namespace

void RigidPieces::growFromTetrahedra(double effort) {
    constexpr double steep = 0.1; // others are taken after these: rounded lengths hardly tell their heights
    const auto tryTriangle = [&](int a, int b, int c, double ab, double ac, double bc, bool isSteep) {
        Real3 points[4];
        if (effortLeft < 0 || !placeTriangle(ab, ac, bc, points) || haveTogether({a, b, c}))
            return;
        effortLeft -= graph.of(a).size();
        for (const LengthGraph::Neighbour& n : graph.of(a)) {
            const double nb = n.node == b || n.node == c ? -1 : graph.find(n.node, b),
                         nc = nb >= 0 ? graph.find(n.node, c) : -1;
            if (nc < 0)
                continue;
            const Placement placement =
                placeByAnchors({{points[0], n.length}, {points[1], nb}, {points[2], nc}}, slackBeforeFit * tolerance);
            points[3] = placement.point;
            if (placement.kind == Placement::None || (isSteep && !(steepness(points) > steep)))
                continue;
            PlacedNodes seed{{}, {}, placement.isInPlane ? 2 : 3, placement.isInPlane, placement.isInPlane};
            const int nodes[4] = {a, b, c, n.node};
            for (int k = 0; k < 4; k++)
                seed.insert(nodes[k], points[k]);
            if (!haveTogether(seed.nodes) && grow(seed))
                break;
        }
    };
    for (bool isSteep : {true, false}) {
        effortLeft = (long long) (effort * (20'000 + 300.0 * graph.size()));
        graph.visitTriangles(
            [&](int a, int b, int c, double ab, double ac, double bc) { tryTriangle(a, b, c, ab, ac, bc, isSteep); },
            [&](int a, int b) { return ownersOf[a].size() == 1 && ownersOf[b] == ownersOf[a] ? ownersOf[a][0] : -1; });
    }
}

} // namespace ConstraintPlugin
