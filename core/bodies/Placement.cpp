// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Placement.h"
#include "SymmetricEigen.h"
#include "WideTriangle.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** Least squares of the relative differences by Gauss-Newton. Directions that no anchor tells stay as they are.
 *  @param normal  if not null: no step along it */
void refine(const std::vector<Anchor>& anchors, const Real3* normal, Real3& place) {
    constexpr double unknown = 1e-8; // a part of the largest eigenvalue
    for (int iteration = 0; iteration < 4; iteration++) {
        std::vector<double> A(9);
        Real3 g;
        for (const Anchor& anchor : anchors) {
            const Real3 d = place - anchor.position;
            const double r = norm(d);
            Real3 u = (1 / (r * anchor.length)) * d;
            if (normal != nullptr)
                u = u - dot(u, *normal) * *normal;
            const double x[3] = {u.x, u.y, u.z};
            for (int i = 0; i < 9; i++)
                A[i] += x[i / 3] * x[i % 3];
            g += (1 - r / anchor.length) * u;
        }
        const SymmetricEigen eigen = solveSymmetricEigen(3, A);
        for (int k = 0; k < 3; k++)
            if (eigen.values[k] > unknown * eigen.values[2]) {
                const Real3 axis{eigen.vectors[k][0], eigen.vectors[k][1], eigen.vectors[k][2]};
                place += (dot(axis, g) / eigen.values[k]) * axis;
            }
    }
}

} // namespace

double misfit(const std::vector<Anchor>& anchors, const Real3& place) {
    double largest = 0;
    for (const Anchor& a : anchors) {
        const double difference = std::abs(norm(place - a.position) / a.length - 1);
        largest = std::max(largest, std::isfinite(difference) ? difference : HUGE_VAL);
    }
    return largest;
}

Placement placeByAnchors(const std::vector<Anchor>& anchors, double tolerance) {
    const WideTriangle triangle((int) anchors.size(), [&](int i) { return anchors[i].position; });
    if (triangle.isOnALine())
        return {};
    // In the plane of a, b, c: 2 (r_b - r_a) . (x - r_a) = |b - a|^2 + d_a^2 - d_b^2, and likewise c.
    const Anchor &a = anchors[triangle.a], &b = anchors[triangle.b], &c = anchors[triangle.c];
    const Real3 u = b.position - a.position, v = c.position - a.position, n = cross(u, v), normal = (1 / norm(n)) * n;
    const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), det = dot(n, n), aa = a.length * a.length;
    const double du = (aa - b.length * b.length + uu) / 2, dv = (aa - c.length * c.length + vv) / 2;
    const Real3 foot = (du * vv - dv * uv) / det * u + (dv * uu - du * uv) / det * v;
    const double height = std::sqrt(std::max(0.0, aa - dot(foot, foot)));
    Real3 flat = a.position + foot, above = flat + height * normal, below = flat - height * normal;
    refine(anchors, &normal, flat);
    refine(anchors, nullptr, above);
    refine(anchors, nullptr, below);

    // A place in the plane of all anchors: both others are beside it by what the lengths do not tell.
    const double ofFlat = misfit(anchors, flat), ofAbove = misfit(anchors, above), ofBelow = misfit(anchors, below),
                 best = std::min(ofAbove, ofBelow), other = std::max(ofAbove, ofBelow);
    const bool areCoplanar = std::all_of(anchors.begin(), anchors.end(), [&](const Anchor& anchor) {
        return std::abs(dot(anchor.position - a.position, normal)) <= 1e-6 * triangle.longest;
    });
    if (ofFlat <= tolerance && (areCoplanar || best > 0.25 * ofFlat))
        return {Placement::Unique, true, flat};
    if (!(best <= tolerance))
        return {};
    const bool isEither = other <= tolerance || best > 0.25 * other,
               areSame = norm(above - below) <= tolerance * triangle.longest;
    return {isEither && !areSame ? Placement::TwoSided : Placement::Unique, false, ofAbove <= ofBelow ? above : below};
}

} // namespace ConstraintPlugin
