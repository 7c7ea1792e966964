// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SHAPE_FIT_H_
#define CONSTRAINTS_CORE_SHAPE_FIT_H_

#include "LengthGraph.h"
#include "Real3.h"
#include <vector>

namespace ConstraintPlugin {

/** A point held on the line through two others: x = (1 - weight) x_a + weight x_b. */
struct PointOnLine {
    int point, a, b;
    double weight;
};

/** Fit points to lengths in the least-squares sense of relative differences, by Gauss-Newton with conjugate gradients
 *  inside. Points on the x axis or in the plane z = 0 stay there.
 *  @param points  [n] in: close to the solution, out: the fit (nm)
 *  @param onLine  points that follow others; their lengths alone would not hold them against bending */
void fitShape(std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
              const std::vector<PointOnLine>& onLine = {});

/** Relative difference between the length that points have and the one they should have. */
double misfit(const std::vector<Real3>& points, const KnownLength& length);

/** Some known distances of a point to be placed. */
struct Anchor {
    Real3 position;
    double length; ///< nm
};

/** Place a point in the plane z = 0, or in space, by its distances from anchors that do not lie on one line, or in one
 *  plane, by linear least squares and Gauss-Newton.
 *  @return false if the anchors span too little */
bool placeByAnchors(const std::vector<Anchor>& anchors, int dimension, Real3& place);

/** The largest relative difference of a place's distances from what the anchors say. */
double misfit(const std::vector<Anchor>& anchors, const Real3& place);

/** Both places in the plane z = 0 at given distances from two points; one where they nearly coincide. */
std::vector<Real3> placesInPlane(const Anchor& a, const Anchor& b);

} // namespace ConstraintPlugin

#endif
